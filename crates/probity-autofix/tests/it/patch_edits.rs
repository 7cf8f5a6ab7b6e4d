//! Differences as edits and as patches, on texts small enough to be read.

use probity_autofix::{PatchError, diff_of, minimal_edits};

#[test]
fn edits_are_as_small_as_the_change() {
    for (old, new, expected) in [
        ("a\nb\n", "a\nb\n", vec![]),
        // A line of its own is inserted or deleted whole.
        ("a\nc\n", "a\nb\nc\n", vec![(2, 2, "b\n")]),
        ("a\nb\nc\n", "a\nc\n", vec![(2, 4, "")]),
        // Within a line, only what differs.
        ("FROM alpine:3.19 AS x\n", "FROM alpine:3.20 AS x\n", vec![(14, 16, "20")]),
        ("RUN a\nRUN b\n", "RUN a x\nRUN c\n", vec![(5, 5, " x"), (10, 11, "c")]),
        ("aXa\n", "aa\n", vec![(1, 2, "")]),
        ("aa\n", "aaa\n", vec![(2, 2, "a")]),
        // No character is torn.
        ("grün\n", "grøn\n", vec![(2, 4, "ø")]),
        // One line that becomes two is replaced whole.
        ("a\nRUN b\nc\n", "a\nRUN x\nRUN y\nc\n", vec![(2, 8, "RUN x\nRUN y\n")]),
        // Line ends count.
        ("a\r\nb\n", "a\nb", vec![(1, 2, ""), (4, 5, "")]),
        ("", "a", vec![(0, 0, "a")]),
        ("a", "", vec![(0, 1, "")]),
        // Changes far apart are apart.
        ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", vec![(0, 1, "A"), (8, 9, "E")]),
    ] {
        let edits = minimal_edits(old, new);
        let found: Vec<(usize, usize, &str)> =
            edits.iter().map(|edit| (edit.span.start, edit.span.end, edit.text.as_str())).collect();
        assert_eq!(found, expected, "{old:?} to {new:?}");
    }
}

#[test]
fn a_whole_file_has_the_lines_of_its_difference() {
    let old = "FROM a\r\nRUN x\r\nCMD y";
    let patch = diff_of(old, "FROM a AS b\nRUN x\nFROM c\nCMD y\n").unwrap();
    assert_eq!(patch.added().collect::<Vec<_>>(), ["FROM a AS b", "FROM c"]);
    assert_eq!(patch.removed().collect::<Vec<_>>(), ["FROM a"]);
    let applied = patch.apply(old).unwrap();
    assert_eq!(applied.text, "FROM a AS b\r\nRUN x\r\nFROM c\r\nCMD y");
    assert_eq!((applied.added_lines, applied.removed_lines), (2, 1));
    assert_eq!((applied.recounted, applied.relocated), (false, vec![]));
}

#[test]
fn line_ends_alone_are_no_difference() {
    assert_eq!(diff_of("a\r\nb\r\n", "a\nb"), Err(PatchError::Empty));
}
