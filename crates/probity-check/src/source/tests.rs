//! Tests of reading on real files.

use std::{
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    process::Command,
};

use probity_finding::Severity;
use tempfile::TempDir;

use super::*;

/// What reading `name` in the tree comes to, as one line.
fn outcome(tree: &TempDir, name: &str, limits: Limits) -> String {
    line(read(&tree.path().join(name), tree.path(), limits))
}

fn line(read: Read) -> String {
    match read {
        Read::Text(source) => {
            let rules: Vec<&str> = source.findings.iter().map(|f| f.rule.as_ref()).collect();
            format!("{}: {:?} {rules:?}", source.shown, source.text)
        }
        Read::Problem(Unread { shown, finding }) => {
            assert_eq!((finding.severity, finding.span), (Severity::Error, None));
            format!("{shown}: {}: {}", finding.rule, finding.message)
        }
    }
}

#[test]
fn bytes_become_text_or_one_finding() {
    let tree = TempDir::new().unwrap();
    let cases: [(&[u8], &str); 11] = [
        (b"FROM a\r\n", r#""FROM a\r\n" []"#),
        (b"", r#""" []"#),
        (b"\xef\xbb\xbfFROM a", r#""\u{feff}FROM a" []"#),
        ("# grün\n".as_bytes(), r##""# grün\n" []"##),
        (
            b"FROM a\nRUN \0\n",
            "tally/binary-file: the file is binary: there is a NUL byte at offset 11 in line 2",
        ),
        (
            b"\xff\0",
            "tally/binary-file: the file is binary: there is a NUL byte at offset 1 in line 1",
        ),
        (b"FROM a\n\n# gr\xfcn\n", r##""FROM a\n\n# gr�n\n" ["tally/foreign-encoding"]"##),
        (b"FROM \xe2\x82", r#""FROM �" ["tally/foreign-encoding"]"#),
        (
            b"\xff\xfeF\0R\0",
            "tally/foreign-encoding: the file is UTF-16 (little endian), which no builder reads; \
             save it as UTF-8",
        ),
        (
            b"\xfe\xff\0F\0R",
            "tally/foreign-encoding: the file is UTF-16 (big endian), which no builder reads; \
             save it as UTF-8",
        ),
        (
            b"\xff\xfe\0\0F\0\0\0",
            "tally/foreign-encoding: the file is UTF-32 (little endian), which no builder reads; \
             save it as UTF-8",
        ),
    ];
    for (bytes, expected) in cases {
        fs::write(tree.path().join("Dockerfile"), bytes).unwrap();
        let from_file = outcome(&tree, "Dockerfile", Limits::new(0));
        assert_eq!(from_file, format!("Dockerfile: {expected}"));
        let from_stdin = line(read_stdin(bytes, None, tree.path(), Limits::new(0)));
        assert_eq!(from_stdin, format!("<stdin>: {expected}"));
    }
}

#[test]
fn what_is_no_readable_file_says_so_and_never_waits() {
    let tree = TempDir::new().unwrap();
    let at = |name: &str| tree.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(at("socket")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("/dev/null", at("device")).unwrap();
    symlink("fifo", at("link-to-fifo")).unwrap();
    fs::write(at("file"), "FROM a\n").unwrap();
    symlink("file", at("link")).unwrap();
    let special = |kind: &str| {
        format!(
            "tally/special-file: this is {kind}, and only regular files are read; use `-` to \
             check standard input"
        )
    };
    let cases: [(&str, &str); 11] = [
        ("folder", &special("a directory")),
        ("fifo", &special("a FIFO")),
        ("link-to-fifo", &special("a FIFO")),
        ("socket", &special("a socket")),
        ("/dev/null", &special("a device")),
        (
            "device",
            &format!(
                "tally/unreadable-file: the file leads to /dev/null, which is outside of {}; pass \
                 that file itself to check it",
                tree.path().canonicalize().unwrap().display()
            ),
        ),
        (
            "dangling",
            "tally/missing-file: the file is a link to something that does not exist; restore its \
             target",
        ),
        ("vanished", "tally/missing-file: the file does not exist"),
        (
            "loop",
            "tally/unreadable-file: the file cannot be read: Too many levels of symbolic links \
             (os error 40)",
        ),
        (
            "file/below",
            "tally/unreadable-file: the file cannot be read: Not a directory (os error 20)",
        ),
        ("link", r#""FROM a\n" []"#),
    ];
    for (name, expected) in cases {
        assert_eq!(outcome(&tree, name, Limits::new(0)), format!("{name}: {expected}"));
    }
}

/// Gives bytes without end and counts how many were taken.
struct Endless(u64);

impl io::Read for &mut Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'#');
        self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn limits_hold_for_files_and_for_standard_input() {
    let tree = TempDir::new().unwrap();
    let large = File::create(tree.path().join("large")).unwrap();
    large.set_len(65 * 1024 * 1024).unwrap();
    fs::write(tree.path().join("small"), "FROM abc\n").unwrap();
    let too_large = |size: &str, limit: &str| {
        format!(
            "tally/oversized-file: the file has {size} than the limit of {limit}; it was not \
             checked"
        )
    };
    let cases = [
        ("large", 0, too_large("68157440 bytes, more", "67108864")),
        ("large", u64::MAX, too_large("68157440 bytes, more", "67108864")),
        ("small", 8, too_large("9 bytes, more", "8")),
        ("small", 9, r#""FROM abc\n" []"#.to_owned()),
        // Its size is said to be 0, so only reading tells.
        ("/proc/self/status", 8, too_large("more bytes", "8")),
    ];
    for (name, limit, expected) in cases {
        assert_eq!(outcome(&tree, name, Limits::new(limit)), format!("{name}: {expected}"));
    }
    for (limit, taken) in [(1, 2), (102_400, 102_401)] {
        let mut endless = Endless(0);
        let name = Some(Path::new("ci/Dockerfile"));
        let read = read_stdin(&mut endless, name, tree.path(), Limits::new(limit));
        let expected = too_large("more bytes", &limit.to_string());
        assert_eq!(line(read), format!("ci/Dockerfile: {expected}"));
        assert_eq!(endless.0, taken);
    }
}

#[test]
fn an_executable_file_is_read_and_noted() {
    let tree = TempDir::new().unwrap();
    let path = tree.path().join("Dockerfile");
    fs::write(&path, "FROM a\n").unwrap();
    for (mode, rules) in [
        (0o644, "[]"),
        (0o755, "[\"tally/executable-file\"]"),
        (0o645, "[\"tally/executable-file\"]"),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let outcome = outcome(&tree, "Dockerfile", Limits::new(0));
        assert_eq!(outcome, format!("Dockerfile: \"FROM a\\n\" {rules}"), "{mode:o}");
    }
    let Read::Text(source) = read(&path, tree.path(), Limits::new(0)) else {
        panic!("the file can be read");
    };
    assert_eq!(source.path, path);
    assert_eq!(source.findings[0].severity, Severity::Style);
}

#[test]
fn paths_are_shown_from_the_working_directory() {
    let cases = [
        ("/w/Dockerfile", "Dockerfile"),
        ("/w/a/./b//Dockerfile", "a/b/Dockerfile"),
        ("/w/../x/Dockerfile", "../x/Dockerfile"),
        ("/world/Dockerfile", "/world/Dockerfile"),
        ("/Dockerfile", "/Dockerfile"),
    ];
    for (path, expected) in cases {
        assert_eq!(shown(Path::new(path), Path::new("/w")), expected, "{path}");
    }
}

#[test]
fn every_rule_is_listed_once_with_a_summary() {
    let names: Vec<&str> = problem::FILE_RULES.iter().map(|rule| rule.name).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(names.len(), distinct.len());
    for rule in problem::FILE_RULES {
        assert!(rule.name.starts_with("tally/") && !rule.summary.is_empty(), "{rule:?}");
    }
}
