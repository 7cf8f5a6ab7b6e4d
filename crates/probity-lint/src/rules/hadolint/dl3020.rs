//! ADD where COPY does.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `ADD` of files that are neither archives nor fetched from elsewhere.
    ///
    /// Git repositories, which hadolint does not know, and names with a variable are left alone.
    ///
    /// # Why it is bad
    ///
    /// `ADD` unpacks what it takes for an archive and fetches what it takes for an address. `COPY`
    /// does what the reader expects.
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
    /// A suggestion: an archive under a name that does not say so would no longer be unpacked.
    Dl3020 {
        name: "hadolint/DL3020",
        severity: Error,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3020",
    }
}

const ARCHIVES: &[&str] = &[
    ".tar", ".gz", ".bz2", ".xz", ".zip", ".tgz", ".tb2", ".tbz", ".tbz2", ".lz", ".lzma", ".tlz",
    ".txz", ".tZ", ".Z", ".zst", ".tzst",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, add) in context.each(Keyword::Add) {
        let Arguments::Transfer { sources, .. } = &add.arguments else { continue };
        let names = || sources.iter().filter(|source| !source.text.starts_with("<<"));
        let needs_add = sources.is_empty()
            || names().any(|source| is_special(source.text.trim_matches(['"', '\''])))
            || names().count() < sources.len()
            // Only ADD knows these.
            || ["checksum", "keep-git-dir", "unpack"].iter().any(|it| add.flags_named(it).next().is_some());
        if needs_add {
            continue;
        }
        let message = "use COPY instead of ADD for files and folders";
        let fix = Fix::suggestion("use COPY", vec![Edit::replace(add.keyword_span, "COPY")]);
        findings.push(context.finding(add.keyword_span, message).with_fix(fix));
    }
}

/// An address, a repository, an archive, or something that only the build knows.
fn is_special(source: &str) -> bool {
    source.contains("://")
        || source.starts_with("git@")
        || source.contains('$')
        || ARCHIVES.iter().any(|ending| source.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
            "x.tar y /z/",
            "--checksum=sha256:00 x /y",
            "<<EOF /x\nEOF",
        ] {
            check(RULE, &format!("FROM a\nADD {add}\n"));
        }
    }
}
