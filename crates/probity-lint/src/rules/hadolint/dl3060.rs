//! Downloads of yarn that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    context::Context,
    packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `yarn install` and leaves in the image what was downloaded for it.
    ///
    /// The cleaning has to come after the last install. Removing the directory by hand is as good, and so is a cache or memory mount over it, which
    /// hadolint does not always see. The rule leaves stages alone that only serve `COPY --from`.
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
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN yarn install --frozen-lockfile && yarn cache clean
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN yarn install --frozen-lockfile && yarn cache clean
    /// ```
    ///
    /// # Fix safety
    ///
    /// A suggestion: the packages are the same, and a later step downloads again what it wants. The
    /// cleaning comes last in the `RUN`, joined by `&&`, so that it neither hides a failure nor makes
    /// one. There is no fix where the end of the text is not the end of what runs: behind `exec` and
    /// `&`, with a here-document within the text, and in exec form.
    Dl3060 {
        name: "hadolint/DL3060",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3060",
    }
}

const CACHES: &[&str] =
    &["/usr/local/share/.cache", "/root/.cache/yarn", "/usr/local/share/.cache/yarn"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let message = "run `yarn cache clean` after installing, in the same `RUN`";
    let cleaning =
        Cleaning { managers: &[Manager::Yarn], directories: CACHES, subcommand: "cache clean" };
    packages::flag_left_behind(context, &cleaning, message, findings);
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3060";

    #[test]
    fn the_last_call_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (yarn install) \
          ^^^^^^^^^^^^ run `yarn cache clean` after installing, in the same `RUN`
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
            r#"yarn --version"#,
            r#"yarn -v && yarn --help"#,
            r#"corepack enable && yarn --cwd /a --version"#,
            r#"echo yarn install"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_cleaning_comes_last() {
        fixes(
            RULE,
            &[
                ("RUN yarn install && a", "RUN yarn install && a && yarn cache clean"),
                (
                    "RUN (yarn install) > '&' # a",
                    "RUN (yarn install) > '&' && yarn cache clean # a",
                ),
                (
                    "RUN a \\\n  # why\n  && yarn install \\\n  && b $X",
                    "RUN a \\\n  # why\n  && yarn install \\\n  && b $X \\\n  && yarn cache clean",
                ),
                (
                    "RUN <<EOF\nyarn install\na\nEOF",
                    "RUN <<EOF\nyarn install\na && yarn cache clean\nEOF",
                ),
                (
                    r#"RUN ["sh", "-c", "yarn install"]"#,
                    r#"RUN ["sh", "-c", "yarn install && yarn cache clean"]"#,
                ),
                ("RUN yarn install && exec a", "RUN yarn install && exec a"),
                ("RUN yarn install && a &", "RUN yarn install && a &"),
                ("RUN yarn install && cat <<EOF\na\nEOF", "RUN yarn install && cat <<EOF\na\nEOF"),
            ],
        );
    }
}
