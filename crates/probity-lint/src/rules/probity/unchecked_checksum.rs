//! Checksums that are printed and compared with nothing.

use probity_dockerfile::Keyword;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::downloads};

rule! {
    /// # What it does
    ///
    /// Flags a checksum command after a download that only prints the checksum.
    ///
    /// Examples are `sha256sum` and `md5sum` without `-c`, if nothing but the build log receives
    /// the output.
    ///
    /// # Why it is bad
    ///
    /// The command looks like a check, but it also succeeds if an attacker has replaced the file.
    /// Compare the checksum with a known one.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSLO https://example.com/tool.tgz && sha256sum tool.tgz && tar -xzf tool.tgz
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl -fsSLO https://example.com/tool.tgz \
    ///     && echo "<sha256>  tool.tgz" | sha256sum -c - \
    ///     && tar -xzf tool.tgz
    /// ```
    UncheckedChecksum {
        name: "probity/unchecked-checksum",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            let mut commands = script.commands.iter();
            if commands.by_ref().find(|command| downloads::is_download(command)).is_none() {
                continue;
            }
            let printed =
                commands.filter(|command| downloads::is_printed_checksum(script, command));
            findings.extend(printed.map(|command| {
                let message = "this prints the checksum but compares it with nothing; pass the \
                               expected one to `-c`";
                context.finding(command.span, message)
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unchecked-checksum";
    const SAYS: &str =
        "this prints the checksum but compares it with nothing; pass the expected one to `-c`";

    #[test]
    fn the_checksum_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN set -eux; wget -O b https://c; sha512sum b; tar xf b
                                   ^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn checksums_that_somebody_reads_are_silent() {
        for run in [
            "wget -O b https://c; echo 'd  b' | sha256sum -c -",
            "wget -O b https://c; sha256sum b > b.sha256",
            "wget -O b https://c; sha256sum b | grep d",
            "wget -O b https://c; [ \"$(sha256sum b)\" = d ]",
            "make && sha256sum out",
            "sha256sum b; wget -O b https://c",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
