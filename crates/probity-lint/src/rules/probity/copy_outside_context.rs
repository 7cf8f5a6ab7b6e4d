//! Copies of files that are not in the build context.

use probity_dockerfile::Arguments;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a source of `COPY` or `ADD` that begins with `../`.
    ///
    /// A copy from another stage or image starts at the root of that file system. The rule flags
    /// such a source as well if it begins with `../`.
    ///
    /// # Why it is bad
    ///
    /// A build can read only its context. BuildKit drops the `../` and looks for the rest of the
    /// path at the root of the context. The build fails, or it copies another file with the same
    /// name. Use the parent directory as the build context, or pass a second context with
    /// `--build-context`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY ../shared/config.yml /etc/app/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY --from=shared config.yml /etc/app/
    /// ```
    CopyOutsideContext {
        name: "probity/copy-outside-context",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each_nested() {
        let Arguments::Transfer { sources, .. } = &instruction.arguments else { continue };
        for source in sources {
            let path = source.text.trim_matches(['"', '\'']);
            let path = path.trim_start_matches("./");
            if path == ".." || path.starts_with("../") {
                let message = "this is outside the build context; BuildKit drops the `../`";
                findings.push(context.finding(source.span, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/copy-outside-context";
    const SAYS: &str = "this is outside the build context; BuildKit drops the `../`";

    #[test]
    fn the_source_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
COPY b ../c ./../d /e/
       ^^^^ {SAYS}
            ^^^^^^ {SAYS}
ONBUILD ADD .. /f
            ^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn other_paths_are_silent() {
        check(RULE, "FROM a\nCOPY b/../c ..d ...e/ ../f\nADD https://a/../b /c\nWORKDIR ../x\n");
    }
}
