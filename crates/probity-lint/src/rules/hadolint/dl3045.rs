//! Relative destinations without a directory they are relative to.

use probity_dockerfile::{Arguments, Keyword, is_absolute};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` to a relative path in a stage without a `WORKDIR`.
    ///
    /// The rule accepts a `WORKDIR` in a stage that this stage is based on. It ignores:
    ///
    /// - stages from `scratch`, which always start in `/`;
    /// - paths that begin with a variable or a Windows drive letter;
    /// - with slow checks, base images that set a working directory other than `/`.
    ///
    /// # Why it is bad
    ///
    /// The files go to the working directory of the base image. A new version of that image may
    /// have another one.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY app bin/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// WORKDIR /opt
    /// COPY app bin/
    /// ```
    Dl3045 {
        name: "hadolint/DL3045",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3045",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, copy) in context.each(Keyword::Copy) {
        let Arguments::Transfer { destination: Some(to), .. } = &copy.arguments else { continue };
        let Some(stage) = context.facts.stage_of(index) else { continue };
        let Some(state) = context.facts.state(index) else { continue };
        let path = to.text.trim_matches(['"', '\'']);
        let is_open = path.starts_with('$') || is_absolute(path, stage.os) || has_drive(path);
        // A stage from scratch starts in the root, whatever changes.
        let is_settled = state.workdir.instruction.is_some()
            || state.workdir.path.is_some()
            || base_image::sets_workdir(context, index);
        if !is_open && !is_settled {
            let message = "the destination is relative and no WORKDIR is set";
            findings.push(context.finding(to.span, message));
        }
    }
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3045";
    const SAYS: &str = "the destination is relative and no WORKDIR is set";

    #[test]
    fn the_destination_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a AS b
COPY c "d"
       ^^^ {SAYS}
WORKDIR /x
COPY c d
FROM e
COPY ["c", "./d"]
           ^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn absolute_paths_and_set_directories_are_silent() {
        for text in [
            "FROM a\nCOPY b /c",
            "FROM a\nCOPY b $C/d",
            "FROM a\nCOPY b C:/d",
            "FROM a AS b\nWORKDIR /x\nFROM b\nCOPY c d",
            "FROM a\nWORKDIR x\nCOPY b c",
            "FROM scratch\nCOPY b c",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
