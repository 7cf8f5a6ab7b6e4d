//! Versions of packages that npm takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `npm install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule also checks `npm i` and `npm add`, which hadolint does not know. It ignores:
    ///
    /// - a range or a tag after the `@`;
    /// - a path, an archive or a URL;
    /// - a word that is only a variable.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// RUN npm install -g express
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// RUN npm install -g express@4.19.2
    /// ```
    Dl3016 {
        name: "hadolint/DL3016",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3016",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Npm], "NAME@<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3016";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a; npm install --global "@s/x" y@1
                            ^^^^^^ package @s/x has no version; write @s/x@<version>
RUN (npm i z)
           ^ package z has no version; write z@<version>
RUN <<EOF
npm add w
        ^ package w has no version; write w@<version>
EOF
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"npm install"#,
            r#"npm ci"#,
            r#"npm install x@1"#,
            r#"npm install @s/x@^1"#,
            r#"npm install ./x"#,
            r#"npm install x.tgz"#,
            r#"npm install https://a/b"#,
            r#"npm install $X"#,
            r#"npm install "x@$V""#,
            r#"echo npm install x"#,
            r#"npm run x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
