//! Downloads of yarn that stay.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::packages::{self, Cleaning},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs with `yarn` and leaves the downloads in the image.
    ///
    /// The rule checks `yarn`, `yarn install`, `yarn add`, `yarn global add` and `yarn upgrade`.
    /// The cleanup must come after the last installation in the same `RUN`. You can run
    /// `yarn cache clean`, or remove the cache directory (`/usr/local/share/.cache`,
    /// `/usr/local/share/.cache/yarn` or `/root/.cache/yarn`) with `rm`. A cache or tmpfs mount
    /// over that directory also works. hadolint does not always recognize removals and mounts. The
    /// rule ignores stages that only serve `COPY --from`.
    ///
    /// # Why it is bad
    ///
    /// After the installation the image does not need the downloads. Removing them in a later `RUN`
    /// does not make the image smaller.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// RUN yarn install --frozen-lockfile
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM node:22
    /// RUN yarn install --frozen-lockfile && yarn cache clean
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// RUN yarn install --frozen-lockfile && yarn cache clean
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix appends `&& yarn cache clean` to the `RUN`. The packages are the same,
    /// and a later step downloads again what it needs. The cleanup runs only if the command before
    /// it succeeds, so it does not hide or cause a failure.
    ///
    /// probity offers no fix if:
    ///
    /// - the user is not root, or the `RUN` uses `sudo` or a similar program;
    /// - the script ends with `exec`, `exit`, `return` or a background command (`&`);
    /// - a command in the script reads a here-document;
    /// - the script has a syntax error;
    /// - the `RUN` is in exec form and does not start a shell.
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
    use crate::engine::harness::{check, fixes};

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
