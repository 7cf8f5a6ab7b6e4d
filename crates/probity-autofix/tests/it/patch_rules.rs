//! Each rule that a patch is read and applied by, shown on the smallest patch that meets it.

use probity_autofix::{ApplyFailure, LineKind, Patch, PatchError, Relocated};

const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

#[test]
fn names_of_the_file_are_accepted_and_others_are_not() {
    for (name, accepted) in [
        ("Dockerfile", true),
        ("a/Dockerfile", true),
        ("b/Dockerfile", true),
        ("./Dockerfile", true),
        ("images/web/Dockerfile", true),
        ("./images/web/Dockerfile", true),
        ("a/images/web/Dockerfile", true),
        ("c/Dockerfile", false),
        ("web/Dockerfile", false),
        ("Dockerfile.orig", false),
        ("dockerfile", false),
        ("a/a/Dockerfile", false),
    ] {
        let patch = format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-one\n+1\n");
        let names = Patch::parse(&patch, "./images/web/Dockerfile").map_err(|error| error.name());
        assert_eq!(names.is_ok(), accepted, "{name}: {names:?}");
        assert!(accepted || names == Err("patch_file_mismatch"), "{name}: {names:?}");
    }
}

#[test]
fn both_names_and_those_of_the_git_line_must_match() {
    let hunk = "@@ -1 +1 @@\n-one\n+1\n";
    for header in [
        "--- a/Dockerfile\n+++ b/Makefile\n",
        "--- a/Makefile\n+++ b/Dockerfile\n",
        "diff --git a/Makefile b/Makefile\n--- a/Dockerfile\n+++ b/Dockerfile\n",
        "diff --git a/Dockerfile b/Makefile\n--- a/Dockerfile\n+++ b/Dockerfile\n",
    ] {
        assert_eq!(refusal(&format!("{header}{hunk}")), "patch_file_mismatch", "{header}");
    }
    let odd = "diff --git a/my file b/my file\n--- a/my file\t\n+++ b/my file\t\n";
    Patch::parse(&format!("{odd}{hunk}"), "my file").unwrap();
    let quoted = "diff --git \"a/x\\ty\" \"b/x\\ty\"\n--- \"a/x\\ty\"\n+++ \"b/x\\ty\"\n";
    Patch::parse(&format!("{quoted}{hunk}"), "x\ty").unwrap();
}

#[test]
fn a_path_that_leaves_the_directory_is_told_from_a_mere_other_name() {
    for name in
        ["/etc/passwd", "../Dockerfile", "a/../Dockerfile", "a/x/../../y", "\"..\\\\Dockerfile\""]
    {
        let patch = format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-one\n+1\n");
        assert_eq!(refusal(&patch), "patch_path_escapes", "{name}");
    }
    let shown = Patch::parse(
        &format!("--- {0}\n+++ {0}\n@@ -1 +1 @@\n-one\n+1\n", "x".repeat(5000)),
        "Dockerfile",
    );
    assert!(shown.unwrap_err().to_string().len() < 300);
}

#[test]
fn whatever_is_not_a_change_of_lines_is_refused_by_name() {
    let hunk = "--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1 +1 @@\n-one\n+1\n";
    let git = "diff --git a/Dockerfile b/Dockerfile\n";
    for (patch, name) in [
        (String::new(), "patch_empty"),
        ("\n \n".to_owned(), "patch_empty"),
        (git.to_owned(), "patch_empty"),
        (format!("{git}new file mode 100644\n{hunk}"), "patch_creates_file"),
        (format!("{git}new file mode 100644\n"), "patch_creates_file"),
        ("--- /dev/null\n+++ b/Dockerfile\n@@ -0,0 +1 @@\n+x\n".to_owned(), "patch_creates_file"),
        (format!("{git}deleted file mode 100644\n{hunk}"), "patch_deletes_file"),
        ("--- a/Dockerfile\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n".to_owned(), "patch_deletes_file"),
        (format!("{git}rename from Dockerfile\nrename to D\n"), "patch_renames_file"),
        (format!("{git}copy from Dockerfile\ncopy to D\n{hunk}"), "patch_copies_file"),
        (format!("{git}old mode 100644\nnew mode 100755\n{hunk}"), "patch_changes_mode"),
        (format!("{git}GIT binary patch\nliteral 0\n"), "patch_binary"),
        ("Binary files a/Dockerfile and b/Dockerfile differ\n".to_owned(), "patch_binary"),
        (format!("{git}{hunk}{git}{hunk}"), "patch_several_files"),
        (format!("{hunk}{hunk}"), "patch_several_files"),
        (format!("{git}{hunk}{hunk}"), "patch_several_files"),
        (format!("{hunk}{git}old mode 100644\n"), "patch_several_files"),
        ("@@ -1 +1 @@\n-one\n+1\n".to_owned(), "patch_parse_failed"),
        ("--- a/Dockerfile\n@@ -1 +1 @@\n-one\n+1\n".to_owned(), "patch_parse_failed"),
        ("FROM scratch\n".to_owned(), "patch_parse_failed"),
    ] {
        assert_eq!(refusal(&patch), name, "{patch}");
    }
}

#[test]
fn hunk_headers_need_numbers_that_a_file_can_have() {
    for (header, name) in [
        ("@@ -1 +1 @@", ""),
        ("@@ -1,1 +1,1 @@ RUN x", ""),
        ("@@ -1 +1,10000001 @@", "patch_number_too_large"),
        ("@@ -10000001 +1 @@", "patch_number_too_large"),
        ("@@ -1,18446744073709551616 +1 @@", "patch_number_too_large"),
        ("@@ @@", "patch_parse_failed"),
        ("@@ -1 +1", "patch_parse_failed"),
        ("@@ -x +1 @@", "patch_parse_failed"),
        ("@@ -1,-1 +1 @@", "patch_parse_failed"),
        ("@@ -+1 +1 @@", "patch_parse_failed"),
        ("@@ -1, +1 @@", "patch_parse_failed"),
    ] {
        let patch = patch_of(&format!("{header}\n-one\n+1\n"));
        let error = Patch::parse(&patch, "Dockerfile").err();
        assert_eq!(error.as_ref().map_or("", PatchError::name), name, "{header}");
        assert_eq!(error.and_then(|error| error.patch_line()), (!name.is_empty()).then_some(3));
    }
}

#[test]
fn miscounted_hunks_are_counted_again() {
    let expected = "one\ntwo\nTHREE\nfour\nfive\nSIX\n";
    for (first, second, recounted) in [
        ("-2,3 +2,3", "-5,2 +5,2", false),
        ("-2,2 +2,3", "-5,2 +5,2", true),
        ("-2,9 +2,1", "-5,1 +5,9", true),
        ("-2 +2", "-5 +5", true),
        ("-2,0 +2,0", "-5,2 +5,2", true),
    ] {
        for gap in ["", "\n"] {
            let patch = patch_of(&format!(
                "@@ {first} @@\n two\n-three\n+THREE\n four\n{gap}@@ {second} @@\n five\n-six\n+SIX\n"
            ));
            let applied = Patch::parse(&patch, "Dockerfile").unwrap().apply(BASE).unwrap();
            assert_eq!(applied.text, expected, "{patch}");
            assert_eq!(applied.recounted, recounted, "{patch}");
            assert_eq!(applied.relocated, [], "{patch}");
            assert_eq!((applied.added_lines, applied.removed_lines), (2, 2));
        }
    }
}

#[test]
fn removed_and_added_lines_that_look_like_names_stay_lines() {
    let base = "-- a\nend\n";
    let right = patch_of("@@ -1,2 +1,2 @@\n--- a\n+++ b\n end\n");
    assert_eq!(applied(base, &right), "++ b\nend\n");
    let miscounted = patch_of("@@ -1,9 +1,9 @@\n--- a\n+++ b\n end\n");
    assert_eq!(applied(base, &miscounted), "++ b\nend\n");
    let behind_the_counts = patch_of("@@ -1 +1,0 @@\n-x\n--- a\n+++ b\n");
    assert_eq!(applied("x\n-- a\n", &behind_the_counts), "++ b\n");
}

#[test]
fn a_miscounted_hunk_does_not_swallow_the_next_section() {
    let patch = patch_of("@@ -1,9 +1,9 @@\n-one\n+1\n");
    assert_eq!(refusal(&format!("{patch}{patch}")), "patch_several_files");
    let git = "diff --git a/o b/o\n--- a/o\n+++ b/o\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(refusal(&format!("{patch}{git}")), "patch_several_files");
}

#[test]
fn empty_lines_are_context_within_a_hunk_and_nothing_behind_it() {
    let base = "one\n\ntwo\n";
    let within = patch_of("@@ -1,9 +1,9 @@\n one\n\n-two\n+2\n\n\n");
    assert_eq!(applied(base, &within), "one\n\n2\n");
    // The counts say that the last empty line is context, and so it has to be there.
    let counted = patch_of("@@ -1,4 +1,4 @@\n one\n\n-two\n+2\n\n");
    assert_eq!(failure(base, &counted), ApplyFailure::NotFound { line: 3 });
}

#[test]
fn no_line_of_a_hunk_is_left_out_in_silence() {
    // A context line without its blank ends the hunk, with changes behind it.
    let patch = patch_of("@@ -1,3 +1,3 @@\n one\ntwo\n-three\n+3\n");
    let error = Patch::parse(&patch, "Dockerfile").unwrap_err();
    assert_eq!((error.name(), error.patch_line()), ("patch_parse_failed", Some(5)));
    // A hunk behind prose.
    let patch = patch_of("@@ -1 +1 @@\n-one\n+1\nand then\n@@ -2 +2 @@\n-two\n+2\n");
    let error = Patch::parse(&patch, "Dockerfile").unwrap_err();
    assert_eq!((error.name(), error.patch_line()), ("patch_parse_failed", Some(7)));
    // Lines behind the counts, which are too low.
    let patch = patch_of("@@ -1 +1 @@\n-one\n+1\n\n+more\n");
    assert_eq!(failure(BASE, &patch), ApplyFailure::NotFound { line: 2 });
    // A hunk without lines.
    assert_eq!(refusal(&patch_of("@@ -1,0 +1,0 @@\n")), "patch_parse_failed");
}

#[test]
fn prose_and_a_signature_behind_the_last_hunk_are_not_part_of_it() {
    for tail in ["-- \n2.39.5\n", "-- \n2.39.5\n\n", "\nThat is all.\n- one bullet\n", "Done.\n"] {
        for header in ["@@ -1 +1 @@", "@@ -1,4 +1 @@"] {
            if header.contains(",4") && tail.contains("bullet") {
                // Nothing tells the bullet from a removed line once the counts are wrong.
                continue;
            }
            let patch = patch_of(&format!("{header}\n-one\n+1\n{tail}"));
            assert_eq!(applied(BASE, &patch), BASE.replace("one", "1"), "{patch}");
        }
    }
}

#[test]
fn the_stated_place_wins_over_others() {
    let base = "x\ny\nx\ny\nx\ny\n";
    assert_eq!(applied(base, &patch_of("@@ -3,2 +3,2 @@\n x\n-y\n+z\n")), "x\ny\nx\nz\nx\ny\n");
}

#[test]
fn elsewhere_only_a_single_place_will_do() {
    let patch = patch_of("@@ -1,2 +1,2 @@\n four\n-five\n+5\n");
    let applied = Patch::parse(&patch, "Dockerfile").unwrap().apply(BASE).unwrap();
    assert_eq!(applied.text, BASE.replace("five", "5"));
    assert_eq!(applied.relocated, [Relocated { hunk: 1, stated_line: 1, actual_line: 4 }]);

    let twice = "x\na\nb\na\nb\n";
    let patch = patch_of("@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    let expected = ApplyFailure::Ambiguous { line: 1, first: 2, second: 4 };
    assert_eq!(failure(twice, &patch), expected);
    // Places that overlap are two places as well.
    let patch = patch_of("@@ -1,2 +1,2 @@\n a\n-a\n+c\n");
    let expected = ApplyFailure::Ambiguous { line: 1, first: 2, second: 3 };
    assert_eq!(failure("x\na\na\na\n", &patch), expected);
}

#[test]
fn nothing_is_matched_loosely() {
    for line in [" two", "two ", "Two", "tw", "two\t", "twо"] {
        let patch = patch_of(&format!("@@ -1,2 +1,2 @@\n-one\n+1\n {line}\n"));
        assert_eq!(failure(BASE, &patch), ApplyFailure::NotFound { line: 2 }, "{line:?}");
    }
}

#[test]
fn hunks_come_in_order_and_apart() {
    let hunk = |line: usize, text: &str| format!("@@ -{line} +{line} @@\n-{text}\n+new\n");
    let backwards = patch_of(&(hunk(4, "four") + &hunk(2, "two")));
    assert_eq!(failure(BASE, &backwards), ApplyFailure::OutOfOrder { line: 2 });
    let same = patch_of(&(hunk(4, "four") + &hunk(4, "four")));
    assert_eq!(failure(BASE, &same), ApplyFailure::OutOfOrder { line: 4 });
    // Neighbours are apart, wrong numbers of the new file notwithstanding.
    let near = patch_of(&(hunk(4, "four") + "@@ -5 +1 @@\n-five\n+new\n"));
    assert_eq!(applied(BASE, &near), "one\ntwo\nthree\nnew\nnew\nsix\n");
}

#[test]
fn a_hunk_without_old_lines_goes_behind_the_line_it_names() {
    for (line, expected) in [
        (0, "new\none\ntwo\nthree\nfour\nfive\nsix\n"),
        (2, "one\ntwo\nnew\nthree\nfour\nfive\nsix\n"),
        (6, "one\ntwo\nthree\nfour\nfive\nsix\nnew\n"),
    ] {
        assert_eq!(applied(BASE, &patch_of(&format!("@@ -{line},0 +1 @@\n+new\n"))), expected);
    }
    let beyond = patch_of("@@ -7,0 +1 @@\n+new\n");
    assert_eq!(failure(BASE, &beyond), ApplyFailure::NotFound { line: 6 });
    // With a wrong count nobody knows whether line 2 is the one before or the one after.
    let unsure = Patch::parse(&patch_of("@@ -2,3 +2,4 @@\n+new\n"), "Dockerfile").unwrap_err();
    assert_eq!((unsure.name(), unsure.base_line()), ("patch_apply_failed", Some(2)));
    // The count of the new lines does not matter for that.
    assert_eq!(applied("a\n", &patch_of("@@ -1,0 +2,7 @@\n+b\n")), "a\nb\n");
}

#[test]
fn every_line_keeps_its_own_end_and_new_ones_take_their_neighbours() {
    let patch = patch_of("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+new\n c\n");
    for (base, expected) in [
        ("a\nb\nc\n", "a\nB\nnew\nc\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nnew\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\r\nB\nnew\nc\r\n"),
        ("a\nb\r\nc", "a\nB\r\nnew\r\nc"),
    ] {
        assert_eq!(applied(base, &patch), expected);
        // The sender's own line ends mean nothing.
        assert_eq!(applied(base, &patch.replace('\n', "\r\n")), expected);
    }
    // Only a line that takes another's place takes its end.
    let apart = patch_of("@@ -1,2 +1,2 @@\n-a\n b\n+new\n");
    assert_eq!(applied("a\r\nb\nc\n", &apart), "b\nnew\nc\n");
    let first = patch_of("@@ -1 +1,2 @@\n+new\n a\n");
    assert_eq!(applied("a\r\nb\n", &first), "new\r\na\r\nb\n");
    // A carriage return within a line is text.
    assert_eq!(applied("a\rb\n", &patch_of("@@ -1 +1 @@\n-a\rb\n+c\r\rd\n")), "c\r\rd\n");
}

#[test]
fn the_file_ends_as_it_did() {
    let marker = "\\ No newline at end of file\n";
    let patches = [
        patch_of("@@ -2 +2,2 @@\n b\n+c\n"),
        patch_of(&format!("@@ -2 +2,2 @@\n-b\n{marker}+b\n+c\n{marker}")),
        patch_of(&format!("@@ -2 +2,2 @@\n-b\n+b\n+c\n{marker}")),
    ];
    for patch in &patches {
        assert_eq!(applied("a\nb\n", patch), "a\nb\nc\n");
        assert_eq!(applied("a\nb", patch), "a\nb\nc");
        assert_eq!(applied("a\r\nb", patch), "a\r\nb\r\nc");
    }
    // The last line without an end gets one when it is no longer the last.
    assert_eq!(applied("b", &patch_of("@@ -1 +1,2 @@\n b\n+c\n")), "b\nc");
    assert_eq!(applied("a\nb", &patch_of("@@ -2 +1,0 @@\n-b\n")), "a");
    assert_eq!(applied("b", &patch_of("@@ -1 +1,3 @@\n-b\n+c\n+\n+\n")), "c");
    assert_eq!(applied("", &patch_of("@@ -0,0 +1 @@\n+b\n")), "b\n");
    assert_eq!(applied("b\n", &patch_of("@@ -1 +0,0 @@\n-b\n")), "");
    // Said to be the last line, a line is looked for at the end alone.
    let patch = patch_of(&format!("@@ -1 +1 @@\n-b\n{marker}+c\n{marker}"));
    assert_eq!(applied("b\na\nb\n", &patch), "b\na\nc\n");
    assert_eq!(failure("b\na\n", &patch), ApplyFailure::NotFound { line: 2 });
}

#[test]
fn a_patch_that_changes_nothing_is_empty() {
    for hunk in ["@@ -1 +1 @@\n one\n", "@@ -1 +1 @@\n-one\n+one\n"] {
        let patch = Patch::parse(&patch_of(hunk), "Dockerfile").unwrap();
        assert_eq!(patch.apply(BASE), Err(PatchError::Empty));
    }
    let newline = patch_of("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    let patch = Patch::parse(&newline, "Dockerfile").unwrap();
    assert_eq!(patch.apply("a"), Err(PatchError::Empty));
}

#[test]
fn checks_see_the_lines_without_signs() {
    let patch = patch_of("@@ -1,2 +1,3 @@\n-one\n+FROM x\n two\n++1\n");
    let patch = Patch::parse(&patch, "Dockerfile").unwrap();
    assert_eq!(patch.added().collect::<Vec<_>>(), ["FROM x", "+1"]);
    assert_eq!(patch.removed().collect::<Vec<_>>(), ["one"]);
    let context = patch.hunks()[0].lines.iter().find(|line| line.kind == LineKind::Context);
    assert_eq!(context.unwrap().text, "two");
}

#[test]
fn no_error_repeats_a_line_of_the_file() {
    let patch = patch_of("@@ -1,2 +1,2 @@\n hunter2\n-x\n+y\n");
    let error = Patch::parse(&patch, "Dockerfile").unwrap().apply("hunter2\nz\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "hunk 1 of the patch (its line 3) does not apply: line 2 of the file is not the line that \
         the patch expects there, and its lines occur nowhere else"
    );
}

fn patch_of(hunks: &str) -> String {
    format!("--- a/Dockerfile\n+++ b/Dockerfile\n{hunks}")
}

fn applied(base: &str, patch: &str) -> String {
    let applied = Patch::parse(patch, "Dockerfile").and_then(|patch| patch.apply(base));
    applied.unwrap_or_else(|error| panic!("{error}\n{patch}")).text
}

fn failure(base: &str, patch: &str) -> ApplyFailure {
    match Patch::parse(patch, "Dockerfile").and_then(|patch| patch.apply(base)) {
        Err(PatchError::ApplyFailed { failure, .. }) => failure,
        other => panic!("{other:?}\n{patch}"),
    }
}

fn refusal(patch: &str) -> &'static str {
    Patch::parse(patch, "Dockerfile").map_or_else(|error| error.name(), |_| "taken")
}
