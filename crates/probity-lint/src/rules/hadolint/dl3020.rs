//! ADD where COPY does.

use probity_dockerfile::{Arguments, Keyword, Word};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ADD` of local files that are not archives.
    ///
    /// `ADD` unpacks tar archives, but not zip files. The rule ignores:
    ///
    /// - Git repositories, which hadolint does not know;
    /// - URLs and heredocs;
    /// - names with a variable;
    /// - an `ADD` with `--checksum`, `--keep-git-dir` or `--unpack`.
    ///
    /// # Why it is bad
    ///
    /// `ADD` unpacks a source that looks like an archive and downloads a source that looks like a
    /// URL. `COPY` only copies files, as readers expect.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// ADD requirements.txt /usr/src/app/
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// COPY requirements.txt /usr/src/app/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ADD https://example.com/big.tar.xz /usr/src/things/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix replaces `ADD` with `COPY`. If a source is an archive without an archive
    /// file extension, the build no longer unpacks it. probity offers no fix if another source of
    /// the instruction needs `ADD`.
    Dl3020 {
        name: "hadolint/DL3020",
        severity: Error,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3020",
    }
}

const ARCHIVES: &[&str] = &[
    ".tar", ".gz", ".bz2", ".xz", ".tgz", ".tb2", ".tbz", ".tbz2", ".lz", ".lzma", ".tlz", ".txz",
    ".tpz", ".tZ", ".Z", ".zst", ".tzst",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, add) in context.each(Keyword::Add) {
        let Arguments::Transfer { sources, .. } = &add.arguments else { continue };
        let is_special = |source: &&Word| {
            let text = source.text.trim_matches(['"', '\'']);
            text.starts_with("<<") || needs_add(text)
        };
        let special = sources.iter().filter(is_special).count();
        // Only ADD knows these.
        let mut flags = ["checksum", "keep-git-dir", "unpack"].iter();
        if special == sources.len() || flags.any(|flag| add.flags_named(flag).next().is_some()) {
            continue;
        }
        if let Some(plain) = sources.iter().find(|source| special > 0 && !is_special(source)) {
            let message = format!("use COPY for {}; only the other sources need ADD", plain.text);
            findings.push(context.finding(plain.span, message));
            continue;
        }
        let message = "use COPY instead of ADD for files and folders";
        let fix = Fix::suggestion("use COPY", vec![Edit::replace(add.keyword_span(), "COPY")]);
        findings.push(context.finding(add.keyword_span(), message).with_fix(fix));
    }
}

/// An address, a repository, an archive, or something that only the build knows.
fn needs_add(source: &str) -> bool {
    source.contains("://")
        || source.starts_with("git@")
        || source.contains('$')
        || ARCHIVES.iter().any(|ending| source.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3020";
    const SAYS: &str = "use COPY instead of ADD for files and folders";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
ADD x y /z/
^^^ {SAYS}
add --chown=1 [\"a b\", \"/c\"]
^^^ {SAYS}
ADD x.tar y /z/
          ^ use COPY for y; only the other sources need ADD
ADD x.zip /z
^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn what_only_add_can_do_is_silent() {
        for add in [
            "x.tar.gz /y",
            "http://x/y /z",
            "git@h:x/y.git /z",
            "\"x.tgz\" /y",
            "$X /y",
            "--checksum=sha256:00 x /y",
            "<<EOF /x\nEOF",
        ] {
            check(RULE, &format!("FROM a\nADD {add}\n"));
        }
    }
}
