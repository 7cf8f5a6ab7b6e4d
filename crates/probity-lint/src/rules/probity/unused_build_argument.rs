//! Arguments of builds that the file does not declare.

use probity_finding::Finding;

use crate::engine::{
    context::Context,
    uses::{BuildUses, declared_arguments},
};

/// Arguments that BuildKit knows without a declaration.
const PREDEFINED: &[&str] =
    &["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY", "SOURCE_DATE_EPOCH"];

rule! {
    /// # What it does
    ///
    /// Flags a build argument in a Compose or Bake file that no `ARG` in the Dockerfile declares.
    ///
    /// If no such file uses the Dockerfile, the rule reports nothing. Proxy variables,
    /// `SOURCE_DATE_EPOCH` and arguments that begin with `BUILDKIT_` do not need a declaration.
    ///
    /// # Why it is bad
    ///
    /// BuildKit ignores the argument and prints a warning, so the build does not use its value.
    /// Often the name is misspelled, or someone removed the `ARG`.
    ///
    /// # Examples
    ///
    /// With `args: {VERSON: "1.2"}` in `compose.yaml`:
    ///
    /// ```dockerfile,needs-context
    /// FROM alpine:3.20
    /// ARG VERSION
    /// RUN echo "$VERSION"
    /// ```
    UnusedBuildArgument {
        name: "probity/unused-build-argument",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(uses) = context.uses else { return };
    let declared = declared_arguments(context.file);
    let is_unused = |name: &str| {
        let is_predefined = name.starts_with("BUILDKIT_")
            || PREDEFINED.iter().any(|known| known.eq_ignore_ascii_case(name));
        !is_predefined && !declared.contains(name)
    };
    for (name, builds) in uses.arguments(is_unused) {
        let builds = BuildUses::list(&builds);
        let message = format!("no ARG declares the argument `{name}` passed by {builds}");
        findings.push(context.finding_of_file(message));
    }
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::BuildValues;

    use crate::{BuildUse, BuildUses, engine::harness::run_with_uses};

    #[test]
    fn declared_and_predefined_arguments_are_silent() {
        let names = ["VERSION", "VERSON", "http_proxy", "BUILDKIT_INLINE_CACHE"];
        let arguments = names.iter().map(|name| ((*name).to_owned(), None)).collect();
        let values = BuildValues { arguments, ..BuildValues::default() };
        let build = |name: &str| BuildUse { name: name.to_owned(), values: values.clone() };
        let builds = ["api", "web"].map(build).into();
        let uses = BuildUses { builds, ..BuildUses::default() };
        let text = "FROM a\nARG VERSION OTHER=1\n";
        let found = run_with_uses("probity/unused-build-argument", text, &uses);
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["no ARG declares the argument `VERSON` passed by api, web"]);
    }
}
