//! Users that only the image knows.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `USER` that is a name instead of a UID.
    ///
    /// The rule ignores `root`, which always has the UID 0, and variables. hadolint flags both.
    ///
    /// # Why it is bad
    ///
    /// Kubernetes cannot tell whether a name is root. With `runAsNonRoot`, it does not start such a
    /// container, but it starts one whose UID is not 0.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// USER app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// USER 1000
    /// ```
    Dl3066 {
        name: "hadolint/DL3066",
        severity: Info,
        category: BestPractice,
        url: "https://github.com/hadolint/hadolint/wiki/DL3066",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, user) in context.each(Keyword::User) {
        let Arguments::Text(Some(word)) = &user.arguments else { continue };
        let text = word.text.trim_matches(['"', '\'']);
        let name = text.split(':').next().unwrap_or_default();
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && name != "root" && !name.contains('$') {
            let message = format!("user {name} is known to the image alone; use its number");
            findings.push(context.finding(word.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3066";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
FROM a
USER app:5
     ^^^^^ user app is known to the image alone; use its number
USER \"www\"
     ^^^^^ user www is known to the image alone; use its number
",
        );
    }

    #[test]
    fn numbers_root_and_variables_are_silent() {
        check(RULE, "FROM a\nUSER 5\nUSER 5:app\nUSER root\nUSER $U\nUSER \"1000\"\n");
    }
}
