//! Several sources for one file.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` with several sources whose destination does not end with a slash.
    ///
    /// The rule ignores `.` and `..`, which are always directories. It also ignores a destination
    /// whose last part contains a variable. hadolint flags both.
    ///
    /// # Why it is bad
    ///
    /// The build fails, because several files cannot become one file.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:20
    /// COPY package.json yarn.lock my_app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM node:20
    /// COPY package.json yarn.lock my_app/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:20
    /// COPY package.json yarn.lock my_app/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds a slash to the destination. The build fails without the slash, so
    /// the fix cannot change a working image. But the last name may have been meant as another
    /// source.
    Dl3021 {
        name: "hadolint/DL3021",
        severity: Error,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3021",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, copy) in context.each(Keyword::Copy) {
        let Arguments::Transfer { sources, destination: Some(to), json } = &copy.arguments else {
            continue;
        };
        let path = to.text.trim_matches(['"', '\'']);
        let is_directory = path.ends_with(['/', '\\', '}'])
            || matches!(path.rsplit('/').next(), Some("." | ".."))
            || path.rsplit('/').next().is_some_and(|last| last.contains('$'));
        if sources.len() > 1 && !is_directory {
            let message = format!("several sources need a directory as destination; write {path}/");
            let within = if to.text == path && !json { 0 } else { 1 };
            let edit = Edit::insert(to.span.end - within, "/");
            let fix = Fix::suggestion("add a slash", vec![edit]);
            findings.push(context.finding(to.span, message).with_fix(fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3021";

    #[test]
    fn the_destination_is_underlined() {
        check(
            RULE,
            r#"
FROM a
COPY a \
  b c
    ^ several sources need a directory as destination; write c/
COPY ["a", "b", "/x y"]
                ^^^^^^ several sources need a directory as destination; write /x y/
"#,
        );
    }

    #[test]
    fn directories_are_silent() {
        for copy in ["a b", "a b c/", "a b \"c/\"", "a b .", "a b /x/..", "a b $c"] {
            check(RULE, &format!("FROM a\nCOPY {copy}\n"));
        }
    }

    #[test]
    fn the_slash_goes_within_the_quotes() {
        fixes(
            RULE,
            &[
                ("COPY a b c", "COPY a b c/"),
                ("COPY a b \"c\"", "COPY a b \"c/\""),
                ("COPY [\"a\", \"b\", \"c d\"]", "COPY [\"a\", \"b\", \"c d/\"]"),
                ("COPY a \\\n  # why\n  b c", "COPY a \\\n  # why\n  b c/"),
                ("COPY a b $C", "COPY a b $C"),
            ],
        );
    }
}
