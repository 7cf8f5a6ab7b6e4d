//! Versions of packages that pip takes.

use probity_dockerfile::Manager;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `pip install` and `pipx install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// The rule ignores:
    ///
    /// - a range, such as `django>=5`;
    /// - a requirements file;
    /// - a local path;
    /// - a URL, which hadolint flags;
    /// - a word that is only a variable;
    /// - every package of a call with a constraints file (`-c`, `--constraint`).
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12
    /// RUN pip install django
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12
    /// RUN pip install django==5.0.6 -r requirements.txt
    /// ```
    Dl3013 {
        name: "hadolint/DL3013",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3013",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    packages::flag_unpinned(context, &[Manager::Pip, Manager::Pipx], "NAME==<version>", findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3013";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (pip3 install --no-cache-dir "x" y==1)
                                      ^^^ package x has no version; write x==<version>
RUN python3 -m pip install -U z
                              ^ package z has no version; write z==<version>
RUN pip3.12 install u
                    ^ package u has no version; write u==<version>
RUN <<EOF
if a; then pip install w; fi
                       ^ package w has no version; write w==<version>
EOF
RUN bash -c "pip install v"
                         ^ package v has no version; write v==<version>
"#,
        );
    }

    #[test]
    fn versions_files_and_mentions_are_silent() {
        for run in [
            r#"pip install x==1"#,
            r#"pip install "x>=1,<2""#,
            r#"pip install -r x"#,
            r#"pip install -c x y"#,
            r#"pip install --constraint=x y"#,
            r#"pip install --root-user-action ignore x==1"#,
            r#"pip install ."#,
            r#"pip install ./x.whl"#,
            r#"pip install git+https://x/y"#,
            r#"pip install $X"#,
            r#"pip install "x==$V""#,
            r#"echo pip install x"#,
            r#"pip uninstall x"#,
            r#"pip download x"#,
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
