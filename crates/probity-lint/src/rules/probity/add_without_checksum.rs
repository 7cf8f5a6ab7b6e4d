//! Downloads by ADD that nobody verifies.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ADD` that downloads a file from `http://` or `https://` without `--checksum`.
    ///
    /// The rule ignores Git repositories, which are URLs that end in `.git`.
    ///
    /// # Why it is bad
    ///
    /// The image contains whatever the server sends. This can be another version, an error page, or
    /// a file that an attacker replaced. With `--checksum=sha256:…`, the build fails if the file
    /// differs from the expected one.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// ADD https://example.com/tool-1.2.tar.gz /tmp/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ADD --checksum=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef \
    ///     https://example.com/tool-1.2.tar.gz /tmp/
    /// ```
    AddWithoutChecksum {
        name: "probity/add-without-checksum",
        severity: Info,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each(Keyword::Add) {
        let Arguments::Transfer { sources, .. } = &instruction.arguments else { continue };
        if instruction.flag_value("checksum").is_some() {
            continue;
        }
        for source in sources.iter().filter(|source| is_download(&source.text)) {
            let message = "nothing verifies this download; add `--checksum=sha256:<digest>`";
            findings.push(context.finding(source.span, message));
        }
    }
}

fn is_download(source: &str) -> bool {
    let source = source.trim_matches(['"', '\'']);
    let address = source.split('#').next().unwrap_or_default();
    let is_web = ["http://", "https://"].iter().any(|scheme| source.starts_with(scheme));
    is_web && !address.ends_with(".git")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/add-without-checksum";

    #[test]
    fn the_address_is_underlined() {
        check(
            RULE,
            "\
FROM a
ADD --chmod=755 https://b/$V.bin /c
                ^^^^^^^^^^^^^^^^ nothing verifies this download; add `--checksum=sha256:<digest>`
",
        );
    }

    #[test]
    fn files_repositories_and_checksums_are_silent() {
        let digest = "0".repeat(64);
        check(RULE, "FROM a\nADD b.tar.gz /c\nADD https://d/e.git#v1 /f\nADD git@g:h.git /i\n");
        check(RULE, &format!("FROM a\nADD --checksum=sha256:{digest} https://b /c\n"));
    }
}
