//! Versions of packages that `apt-get install` takes.

use probity_dockerfile::{Action, Manager, PackageKind, Version};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages::Unpinned};

rule! {
    /// # What it does
    ///
    /// Flags packages without a version in `apt-get install`.
    ///
    /// probity reports all packages of one instruction as one finding, with a location for each
    /// package.
    ///
    /// A version in a variable counts as a version. The rule ignores:
    ///
    /// - a word that is only a variable;
    /// - a file, such as `./tool.deb`;
    /// - a package of a named release, such as `curl/bookworm`;
    /// - a package that the call removes, such as `vim-`.
    ///
    /// # Why it is bad
    ///
    /// The same file may install another version tomorrow. Nobody can then tell which versions were
    /// in the image that worked.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ARG CURL=7.88.1-10
    /// RUN apt-get update && apt-get install -y curl=$CURL ./tool.deb
    /// ```
    Dl3008 {
        name: "hadolint/DL3008",
        severity: Warning,
        category: Reproducibility,
        url: "https://github.com/hadolint/hadolint/wiki/DL3008",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let calls = context.package_calls(index).iter();
        let installs =
            calls.filter(|call| call.manager == Manager::AptGet && call.action == Action::Install);
        let mut open = Unpinned::default();
        for package in installs.flat_map(|call| &call.packages) {
            if let PackageKind::Named { name, version: Version::None } = &package.kind
                // `name-` removes a package while others are installed.
                && !name.ends_with('-')
            {
                open.add(package, name, "NAME=<version>");
            }
        }
        open.report(context, findings);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3008";

    #[test]
    fn the_one_package_of_many_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN set -e; \
    # the packages
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends \
      a=1.2 \
      "b=$V" \
      curl \
      ^^^^ package curl has no version; write curl=<version>
      git=1:2 && \
    rm -rf /var/lib/apt/lists/*
"#,
        );
    }

    #[test]
    fn quotes_subshells_heredocs_and_wrappers_hide_nothing() {
        check(
            RULE,
            r#"
FROM a
RUN (sudo apt-get -o A=b install "x") || true
                                 ^^^ package x has no version; write x=<version>
RUN <<END
if true; then
  apt-get install x
                  ^ package x has no version; write x=<version>
fi
END
RUN ["bash", "-c", "apt-get install x"]
                                    ^ package x has no version; write x=<version>
RUN true && sudo bash -eo pipefail -c "apt-get install -y a=1 \
    x"
    ^ package x has no version; write x=<version>
RUN [ "apt-get", "install", "-y", "x=1", "y" ]
                                          ^ package y has no version; write y=<version>
"#,
        );
    }

    #[test]
    fn what_only_mentions_it_is_silent() {
        check(
            RULE,
            "FROM a\nRUN echo apt-get install x && apt-get install $P ./y.deb z/sid w-\n\
             RUN apk add x && apt-get remove x\nCMD apt-get install x\n",
        );
    }
}
