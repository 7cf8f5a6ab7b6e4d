//! Archives that are copied and then unpacked.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Instruction, Keyword, Word};
use probity_finding::Finding;
use probity_shell::Call;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` of an archive that a later `RUN` of the stage unpacks.
    ///
    /// The archive is a tar archive or a file that ends with `.gz` or `.Z`. The rule knows `tar`,
    /// `bsdtar`, `gunzip`, `bunzip2`, `unxz`, `unlzma` and `uncompress`. It ignores `COPY --from`.
    ///
    /// # Why it is bad
    ///
    /// `ADD` unpacks local archives itself, so no layer contains the archive.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY app.tar.gz /tmp/app.tar.gz
    /// RUN tar -xzf /tmp/app.tar.gz -C /opt
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ADD app.tar.gz /opt
    /// ```
    Dl3010 {
        name: "hadolint/DL3010",
        severity: Info,
        category: BestPractice,
        url: "https://github.com/hadolint/hadolint/wiki/DL3010",
    }
}

/// What `ADD` unpacks.
const ARCHIVES: &[&str] =
    &[".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".Z", ".gz"];

const UNPACKERS: &[&str] = &["tar", "bsdtar", "gunzip", "bunzip2", "unxz", "unlzma", "uncompress"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        // From the end on, so that what is unpacked behind a COPY is known when the COPY is seen.
        let mut unpacked = HashSet::new();
        for index in stage.instructions.clone().rev() {
            let Some(instruction) = context.file.instructions.get(index) else { continue };
            for source in copied_archives(instruction, &unpacked) {
                let message = "ADD unpacks archives by itself; use it instead of COPY and tar";
                findings.push(context.finding(source.span, message));
            }
            unpacked.extend(unpacked_by(context, index));
        }
    }
}

/// The sources of a `COPY` that are among the paths that are unpacked later.
fn copied_archives<'i>(copy: &'i Instruction, unpacked: &HashSet<String>) -> Vec<&'i Word> {
    let Arguments::Transfer { sources, destination: Some(to), .. } = &copy.arguments else {
        return Vec::new();
    };
    if copy.keyword != Keyword::Copy || copy.flags_named("from").next().is_some() {
        return Vec::new();
    }
    let is_unpacked = |source: &&Word| {
        let path = with_slashes(&source.text);
        is_archive(&path) && is_among(&target(&path, &with_slashes(&to.text)), unpacked)
    };
    sources.iter().filter(is_unpacked).collect()
}

/// Whether a path is there as a whole, or its end as a relative one.
fn is_among(path: &str, unpacked: &HashSet<String>) -> bool {
    let ends = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
    let mut relative = ends.filter(|end| !end.starts_with('/'));
    unpacked.contains(path) || relative.any(|end| unpacked.contains(end))
}

/// A path of either system with `/` between its parts, and without quotes.
fn with_slashes(path: &str) -> String {
    path.trim_matches(['"', '\'']).replace(r"\\", "/").replace('\\', "/")
}

fn is_archive(path: &str) -> bool {
    ARCHIVES.iter().any(|ending| path.ends_with(ending))
}

/// Where the file comes to lie.
fn target(source: &str, destination: &str) -> String {
    if is_archive(destination) {
        return destination.to_owned();
    }
    let name = source.rsplit('/').next().unwrap_or(source);
    format!("{}/{name}", destination.trim_end_matches('/'))
}

/// The paths that the commands of an instruction unpack.
fn unpacked_by(context: &Context<'_>, instruction: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for command in context.scripts(instruction).iter().flat_map(|script| &script.commands) {
        let call = command.effective();
        if call.is_any(UNPACKERS) && extracts(&call) {
            paths.extend(call.args().iter().filter_map(|word| word.literal()).map(|path| {
                let path = with_slashes(path.strip_prefix("--file=").unwrap_or(&path));
                path.trim_start_matches("./").to_owned()
            }));
        }
    }
    paths
}

/// Whether tar is told to extract, as `-xf` or as `xf`; the other programs do nothing else.
fn extracts(call: &Call<'_>) -> bool {
    let bare = call.args().first().and_then(|word| word.literal());
    let is_letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    !call.is_any(&["tar", "bsdtar"])
        || call.has_flag(&["-x", "--extract", "--get"])
        || bare.is_some_and(|word| is_letters(&word) && word.contains('x'))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3010";
    const SAYS: &str = "ADD unpacks archives by itself; use it instead of COPY and tar";

    #[test]
    fn the_archive_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
COPY b c/x.tar.gz /y/
       ^^^^^^^^^^ {SAYS}
COPY d.tgz /e.tgz
     ^^^^^ {SAYS}
RUN (cd /y && tar -xzf "x.tar.gz") \
    && sudo tar --extract --file=/e.tgz
COPY "C:\\f\\g.tar.gz" "C:\\h\\"
     ^^^^^^^^^^^^^^^^^ {SAYS}
RUN tar xf "C:\\h\\g.tar.gz"
"#
            ),
        );
    }

    #[test]
    fn what_is_not_unpacked_here_is_silent() {
        for text in [
            "COPY x.tar /y\nRUN ls",
            "COPY x.tar /y/\nRUN tar -tf /y/x.tar && tar -cf /y/x.tar z && tar cf /y/x.tar z",
            "COPY x.zip /y/\nRUN unzip /y/x.zip",
            "COPY x.tar /y/\nRUN echo tar xf /y/x.tar",
            "COPY x.tar /y/\nRUN tar xf /z/x.tar",
            "COPY --from=b /x.tar /y/\nRUN tar xf /y/x.tar",
            "COPY x.tar /y/\nFROM b\nRUN tar xf /y/x.tar",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
