//! `.dockerignore` files, read and matched.

use proptest::prelude::*;

use super::{Dockerignore, DockerignoreErrorKind, clean_path};

fn read(text: &str) -> Dockerignore {
    let (dockerignore, errors) = Dockerignore::parse(text);
    assert_eq!(errors, [], "{text}");
    dockerignore
}

#[test]
fn lines_become_patterns() {
    let text = "\u{feff}# first\r\n/node_modules/\n\n  ./a//b/../c  \n # no comment\n! /keep \n\
                !!x\n/\n..\n../up\n/!back\n*.md\r\n.\n#last";
    let dockerignore = read(text);
    let patterns: Vec<(usize, bool, &str)> = dockerignore
        .patterns()
        .iter()
        .map(|pattern| (pattern.line(), pattern.is_exclusion(), pattern.text()))
        .collect();
    assert_eq!(
        patterns,
        [
            (2, false, "node_modules"),
            (4, false, "a/c"),
            (5, false, "# no comment"),
            (6, true, "keep"),
            (7, true, "!x"),
            (8, false, "/"),
            (9, false, ".."),
            (10, false, "../up"),
            (11, true, "back"),
            (12, false, "*.md"),
            (13, false, "."),
        ]
    );
    assert!(dockerignore.has_exclusions());
    assert!(!read("a\n#!b\n").has_exclusions());
    assert!(read("").patterns().is_empty());
}

#[test]
fn wrong_lines_are_reported_and_left_out() {
    let bad = |pattern: &str| DockerignoreErrorKind::BadPattern { pattern: pattern.to_owned() };
    let cases = [
        ("!", DockerignoreErrorKind::EmptyExclusion),
        ("!  ", DockerignoreErrorKind::EmptyExclusion),
        ("!/", DockerignoreErrorKind::EmptyExclusion),
        ("a[", bad("a[")),
        ("a[b", bad("a[b")),
        ("[]a]", bad("[]a]")),
        ("[^]", bad("[^]")),
        ("[-x]", bad("[-x]")),
        ("[x-]", bad("[x-]")),
        ("[z-a]", bad("[z-a]")),
        ("[a-b-c]", bad("[a-b-c]")),
        ("![", bad("[")),
        ("a\\", bad("a\\")),
        ("[\\", bad("[\\")),
    ];
    for (line, kind) in cases {
        let (dockerignore, errors) = Dockerignore::parse(&format!("ok\n{line}\nx\n"));
        assert_eq!(errors.len(), 1, "{line}");
        assert_eq!((errors[0].line, &errors[0].kind), (2, &kind), "{line}");
        assert!(dockerignore.matches("ok") && dockerignore.matches("x"), "{line}");
    }
}

#[test]
fn patterns_match_paths_and_what_lies_below() {
    // pattern, paths that it matches, paths that it does not
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("dir", &["dir", "dir/file", "dir/a/b", "dir/", "./dir", "x/../dir"], &["a/dir", "dirx"]),
        ("dir/", &["dir", "dir/file"], &["a/dir"]),
        ("a/b", &["a/b", "a/b/c"], &["a", "b", "x/a/b"]),
        ("*", &["a", "a/b", ".hidden"], &["."]),
        ("*.txt", &["a.txt", ".txt", "a.txt/b"], &["d/a.txt", "a.txtx"]),
        ("*/*.txt", &["d/a.txt"], &["a.txt", "d/e/a.txt"]),
        ("?", &["a", "é", "a/b"], &["ab"]),
        ("a?c", &["abc"], &["a/c", "ac"]),
        ("**", &["a", "a/b/c"], &["."]),
        ("**/", &["a", "a/b/c"], &[]),
        ("**/x", &["x", "a/x", "a/b/x", "a/x/b"], &["ax", "a/bx"]),
        ("**/x/y", &["x/y", "a/x/y/z"], &["x", "x/a/y"]),
        ("**x", &["x", "ax", "d/ax"], &["xa"]),
        ("**x*", &["x", "xa", "d/xa"], &["ax", "d/axa"]),
        ("**/*.rs", &["a.rs", "a/b.rs", "a/b/c.rs"], &["a.rsx"]),
        ("**/**/*.rs", &["a.rs", "a/b/c.rs"], &["a"]),
        ("a/**", &["a/b", "a/b/c"], &["a", "ab"]),
        ("a**", &["a", "ab", "a/b"], &["ba"]),
        ("a/**/z", &["a/z", "a/b/z", "a/b/c/z/d"], &["a", "a/bz", "az"]),
        ("a**/z", &["a/z", "ab/z", "az"], &["bz"]),
        ("a/*.txt**", &["a/b.txt", "a/b.txtx/y"], &["a/b"]),
        ("[a-c]x", &["ax", "cx/y"], &["dx", "x", "-x"]),
        ("[^a-c]x", &["dx", "-x"], &["ax"]),
        ("a[^b]c", &["axc", "a/c"], &["abc"]),
        ("[!a]", &["!", "a"], &["b"]),
        (r"[\]\-]", &["]", "-"], &["a", "\\"]),
        ("[abc]", &["a", "b", "c"], &["d", "ab"]),
        ("[а-я]", &["ж"], &["z"]),
        (r"a\*b", &["a*b"], &["axb"]),
        (r"a\[b", &["a[b"], &["ab"]),
        ("a]b", &["a]b"], &["ab"]),
        ("a.b", &["a.b"], &["axb"]),
        ("a+(b)|{c}$", &["a+(b)|{c}$"], &["aab"]),
        (r"foo\bar", &[], &["foobar", "foo/bar", r"foo\bar"]),
        ("/abs", &["abs"], &["/abs"]),
        (".", &[], &[".", "a"]),
    ];
    for (pattern, matching, others) in cases {
        let dockerignore = read(pattern);
        for path in *matching {
            assert!(dockerignore.matches(path), "{pattern} matches {path}");
        }
        for path in *others {
            assert!(!dockerignore.matches(path), "{pattern} does not match {path}");
        }
    }
}

#[test]
fn the_last_pattern_that_matches_decides() {
    let cases: &[(&[&str], &str, bool)] = &[
        (&["*.md", "!README.md"], "README.md", false),
        (&["*.md", "!README.md"], "NEWS.md", true),
        (&["!README.md", "*.md"], "README.md", true),
        (&["docs", "!docs/README.md"], "docs/README.md", false),
        (&["docs", "!docs/README.md"], "docs/a", true),
        (&["**", "!src"], "src/main.rs", false),
        (&["**", "!src", "src/*.tmp"], "src/x.tmp", true),
        (&["*", "!a", "a/b", "!a/b/c"], "a/b/c/d", false),
        (&["*", "!a", "a/b", "!a/b/c"], "a/b/d", true),
    ];
    for (lines, path, expected) in cases {
        assert_eq!(read(&lines.join("\n")).matches(path), *expected, "{lines:?} {path}");
    }
}

#[test]
fn copy_sources_are_judged_as_a_build_judges_them() {
    let cases = [
        ("Dockerfile", "Dockerfile", true),
        ("Dockerfile", "./Dockerfile", true),
        ("foo/", "foo/bar", true),
        ("foo", "bar", false),
        // An absolute source is not made relative before it is matched.
        ("foo", "/foo", false),
        ("*", "/foo", true),
        ("*", ".", true),
        ("*", "./", true),
        ("*", "/", true),
        ("**", ".", true),
        ("**/*", "/", true),
        (".*", ".", false),
        ("?", ".", false),
        (".", ".", false),
        ("*.md", "*.md", true),
        ("*.md\n!README.md", "NEWS.md", false),
        ("", ".", false),
    ];
    for (text, source, expected) in cases {
        assert_eq!(read(text).ignores_copy_source(source), expected, "{text:?} {source}");
    }
}

#[test]
fn paths_are_cleaned() {
    let cases = [
        ("", "."),
        (".", "."),
        ("./", "."),
        ("a/..", "."),
        ("/", "/"),
        ("//", "/"),
        ("/..", "/"),
        ("/../a", "/a"),
        ("..", ".."),
        ("../..", "../.."),
        ("../a/../..", "../.."),
        ("a//b/./c/", "a/b/c"),
        ("a/b/../../../c", "../c"),
        ("/a/", "/a"),
    ];
    for (path, expected) in cases {
        assert_eq!(clean_path(path), expected, "{path}");
    }
}

#[test]
fn many_stars_cost_no_more_than_the_lengths() {
    let deep = "a/".repeat(1500);
    for pattern in ["**/".repeat(2000) + "b", "**/a/".repeat(1000) + "b", "*a".repeat(500) + "b"] {
        assert!(!read(&pattern).matches(&deep));
    }
    assert!(!read("*").matches(&"a".repeat(5000)), "no file has so long a name");
}

proptest! {
    #[test]
    fn any_text_is_read_and_matched(text in "[\\[\\]*?!/\\\\a-c.#\n -]{0,40}", path in "[a-c][a-c/.*\\[]{0,19}") {
        let (dockerignore, errors) = Dockerignore::parse(&text);
        let lines = text.split('\n').count();
        prop_assert!(errors.iter().all(|error| (1..=lines).contains(&error.line)));
        let below = format!("{path}/x");
        // Without exceptions, what lies below an ignored path is ignored. Paths are relative to the
        // context, so none begins with a slash.
        if !dockerignore.has_exclusions() && dockerignore.matches(&path) {
            prop_assert!(dockerignore.matches(&below));
        }
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(path in "[a./]{0,20}") {
        let cleaned = clean_path(&path);
        prop_assert_eq!(clean_path(&cleaned), cleaned);
    }

    #[test]
    fn a_plain_path_matches_itself_only(path in "[a-c]{1,3}(/[a-c]{1,3}){0,3}", other in "[a-c]{1,3}(/[a-c]{1,3}){0,3}") {
        let below = other == path || other.starts_with(&format!("{path}/"));
        prop_assert_eq!(read(&path).matches(&other), below);
    }
}
