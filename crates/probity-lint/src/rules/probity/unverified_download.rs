//! Programs and archives that nothing verifies after their download.

use probity_dockerfile::{Instruction, Keyword, Stage};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::downloads};

rule! {
    /// # What it does
    ///
    /// Flags a `curl` or `wget` download that a `RUN` unpacks, installs or runs without
    /// verification.
    ///
    /// If any `RUN` in the stage verifies something, the rule ignores the whole stage. These
    /// commands count as verification:
    ///
    /// - checksum checks, such as `sha256sum -c`;
    /// - signature checks, such as `gpg --verify`, `cosign verify` and `minisign -V`;
    /// - other commands that mention a checksum or a hash.
    ///
    /// The rule ignores files that the `RUN` does not unpack, install or run, such as keys and
    /// configuration files. `probity/unverified-script` reports scripts piped into a shell, and
    /// `probity/add-without-checksum` reports `ADD`.
    ///
    /// # Why it is bad
    ///
    /// If an attacker replaces the file on the server, the image contains the attacker's program,
    /// and the build does not notice. The build may also miss a download that stops early.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSLo tool.tgz https://example.com/tool-1.2.tgz && tar -xzf tool.tgz -C /opt
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl -fsSLo tool.tgz https://example.com/tool-1.2.tgz \
    ///     && echo "<sha256>  tool.tgz" | sha256sum -c - \
    ///     && tar -xzf tool.tgz -C /opt
    /// ```
    UnverifiedDownload {
        name: "probity/unverified-download",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        if verifies_something(context, stage) {
            continue;
        }
        for index in runs_of(context, stage) {
            for script in context.scripts(index) {
                let used = script.commands.iter().filter(|command| {
                    downloads::is_download(command) && downloads::is_used(script, command)
                });
                findings.extend(used.map(|command| {
                    let message = "nothing verifies this download; compare its checksum with a known \
                                   one (`sha256sum -c`) before using it";
                    context.finding(command.span, message)
                }));
            }
        }
    }
}

/// The `RUN` instructions of a stage.
fn runs_of(context: &Context<'_>, stage: &Stage) -> impl Iterator<Item = usize> {
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    stage
        .instructions
        .clone()
        .filter(move |&index| context.file.instructions.get(index).is_some_and(is_run))
}

fn verifies_something(context: &Context<'_>, stage: &Stage) -> bool {
    let mut scripts = runs_of(context, stage).flat_map(|index| context.scripts(index));
    scripts.any(downloads::may_verify)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unverified-download";
    const SAYS: &str = "nothing verifies this download; compare its checksum with a known one \
                        (`sha256sum -c`) before using it";

    #[test]
    fn the_download_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN wget -qO- https://c | tar xz
    ^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN set -eux; curl -fsSL -o \"/tmp/$x.zip\" \"https://c/$x.zip\"; unzip -q \"/tmp/$x.zip\"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN curl -LO https://c/d.deb && dpkg -i d.deb
    ^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN wget -O /usr/bin/e https://c/e && chmod 0755 /usr/bin/e
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN wget https://c/f.sh; sha256sum f.sh; sh ./f.sh
    ^^^^^^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn verified_and_other_downloads_are_silent() {
        for text in [
            "RUN curl -o a https://b && echo 'c  a' | sha256sum -c - && tar xf a",
            "RUN curl -o a https://b && gpg --batch --verify a.asc a && tar xf a",
            "RUN curl -o a https://b && [ \"$(sha256sum a)\" = \"c\" ] && tar xf a",
            "RUN curl -o a https://b && sha256sum a | grep c && tar xf a",
            "RUN curl -o a https://b && php -r \"exit(hash_file('sha384', 'a') === 'c' ? 0 : 1);\" && php a",
            "RUN curl -o a https://b && tar xf a\nRUN sha512sum --check sums",
            "RUN curl -fsSL https://b/key.asc -o /etc/apt/keyrings/b.asc && chmod a+r /etc/apt/keyrings/b.asc",
            "RUN curl -fsSL https://b | gpg --dearmor -o c",
            "RUN curl -o /etc/a.conf https://b",
            "RUN curl https://a | sh",
            "RUN curl -o a https://b && chmod 644 a && tar xf c",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
