//! Downloads of yarn that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{context::Context, packages};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `yarn install` and leaves in the image what was downloaded for it.
    ///
    /// Removing the directory by hand is as good, and so is a cache or memory mount over it, which
    /// hadolint does not always see.
    ///
    /// # Why it is bad
    ///
    /// The downloads are of no use any more, and removing them in a later `RUN` gives nothing back.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN yarn install --frozen-lockfile
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN yarn install --frozen-lockfile && yarn cache clean
    /// ```
    Dl3060 {
        name: "hadolint/DL3060",
        severity: Info,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3060",
    }
}

const CACHES: &[&str] =
    &["/usr/local/share/.cache", "/root/.cache/yarn", "/usr/local/share/.cache/yarn"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "`yarn cache clean` is missing behind it";
    packages::flag_left_behind(context, &[Manager::Yarn], CACHES, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "hadolint/DL3060";

    #[test]
    fn the_last_call_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (yarn install) \
          ^^^^^^^^^^^^ `yarn cache clean` is missing behind it
    && b
"#,
        );
    }

    #[test]
    fn cleaned_and_mounted_ones_and_mentions_are_silent() {
        for run in [
            r#"yarn install && yarn cache clean"#,
            r#"yarn install && rm -rf /usr/local/share/.cache"#,
            r#"--mount=type=cache,target=/usr/local/share/.cache yarn install"#,
            r#"yarn build"#,
            r#"echo yarn install"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
