//! A whole stage copied over another.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY --from` of a whole file system to the root directory of a stage.
    ///
    /// The rule ignores a stage from `scratch`, because such a copy is a known way to squash an
    /// image.
    ///
    /// # Why it is bad
    ///
    /// The copy mixes the files of two systems, but keeps the package data of only one. The image
    /// then contains everything that the stages were meant to keep apart.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12 AS build
    /// FROM debian:12-slim
    /// COPY --from=build / /
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12 AS build
    /// FROM debian:12-slim
    /// COPY --from=build /usr/local /usr/local
    /// ```
    Dl3067 {
        name: "hadolint/DL3067",
        severity: Warning,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3067",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, copy) in context.each(Keyword::Copy) {
        let Arguments::Transfer { sources, destination: Some(to), .. } = &copy.arguments else {
            continue;
        };
        let stage = context.facts.stage_of(index);
        let is_scratch = stage.is_some_and(|stage| stage.base == probity_dockerfile::Base::Scratch);
        let is_whole = sources.iter().find(|source| is_root(&source.text));
        if let Some(source) = is_whole
            && copy.flag_value("from").is_some()
            && is_root(&to.text)
            && !is_scratch
        {
            let message = "do not copy an entire file system from another stage";
            findings.push(context.finding(source.span.to(to.span), message));
        }
    }
}

fn is_root(path: &str) -> bool {
    matches!(path.trim_matches(['"', '\'']), "/" | "/." | "/./" | "/*")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3067";
    const SAYS: &str = "do not copy an entire file system from another stage";

    #[test]
    fn source_and_destination_are_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a AS b
FROM c
COPY --from=b / /
              ^^^ {SAYS}
COPY --from=img:1 --chown=1 ["/.", "/"]
                             ^^^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn parts_and_scratch_are_silent() {
        check(
            RULE,
            "FROM a AS b\nFROM c\nCOPY --from=b / /x\nCOPY --from=b /x /\nCOPY / /\nFROM scratch\n\
             COPY --from=b / /\n",
        );
    }
}
