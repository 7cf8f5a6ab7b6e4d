//! Offsets, lines and columns agree in both directions, for any text.

use probity_finding::{LineIndex, Position, Span};
use proptest::prelude::*;

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

#[test]
fn every_offset_of_a_mixed_text_has_its_place() {
    // A byte order mark, CRLF, two-, three- and four-byte characters, a lone CR, no final newline.
    let text = "\u{feff}a\r\né€😀\nx\ry";
    let index = LineIndex::new(text);
    let cases = [
        // (text in front, line, byte column, UTF-16 column)
        ("", 0, 0, 0),
        ("\u{feff}", 0, 3, 1),
        ("\u{feff}a", 0, 4, 2),
        ("\u{feff}a\r", 0, 5, 3),
        ("\u{feff}a\r\n", 1, 0, 0),
        ("\u{feff}a\r\né", 1, 2, 1),
        ("\u{feff}a\r\né€", 1, 5, 2),
        ("\u{feff}a\r\né€😀", 1, 9, 4),
        ("\u{feff}a\r\né€😀\n", 2, 0, 0),
        ("\u{feff}a\r\né€😀\nx\r", 2, 2, 2),
        (text, 2, 3, 3),
    ];
    for (before, line, bytes, units) in cases {
        let offset = before.len();
        assert_eq!(index.position(offset), at(line, bytes), "{before:?}");
        assert_eq!(index.position_utf16(offset), at(line, units), "{before:?}");
        assert_eq!(index.offset(at(line, bytes)), offset, "{before:?}");
        assert_eq!(index.offset_utf16(at(line, units)), offset, "{before:?}");
    }
    assert_eq!(index.line_count(), 3);
    assert_eq!(index.line_text(0), "\u{feff}a");
    assert_eq!(index.line_text(1), "é€😀");
    assert_eq!(index.line_text(2), "x\ry");
    assert_eq!(index.line_text(3), "");
}

#[test]
fn half_a_surrogate_pair_means_its_character() {
    let index = LineIndex::new("a😀b");
    assert_eq!(index.offset_utf16(at(0, 1)), 1);
    assert_eq!(index.offset_utf16(at(0, 2)), 1);
    assert_eq!(index.offset_utf16(at(0, 3)), 5);
}

#[test]
fn what_lies_outside_moves_to_the_nearest_place_inside() {
    let index = LineIndex::new("ab\r\ncd\n");
    assert_eq!(index.offset(at(0, 99)), 3, "a column behind the end stays on its line");
    assert_eq!(index.offset_utf16(at(0, 99)), 3);
    assert_eq!(index.offset(at(99, 0)), 7);
    assert_eq!(index.offset_utf16(at(99, 5)), 7);
    assert_eq!(index.position(99), at(2, 0));
    assert_eq!(LineIndex::new("é").position(1), at(0, 0), "a torn character means its start");
    assert_eq!(LineIndex::new("").position(0), at(0, 0));
    assert_eq!(LineIndex::new("").line_span(0), Span::at(0));
}

proptest! {
    #[test]
    fn both_ways_agree_on_any_text(text in "[a\u{feff}é€😀\r\n]{0,40}") {
        let index = LineIndex::new(&text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            prop_assert_eq!(index.offset(index.position(offset)), offset);
            prop_assert_eq!(index.offset_utf16(index.position_utf16(offset)), offset);
        }
        let lines: Vec<&str> = (0..index.line_count()).map(|line| index.line_text(line)).collect();
        let expected: Vec<&str> =
            text.split('\n').enumerate().map(|(line, part)| {
                let ends = line + 1 < text.split('\n').count();
                if ends { part.strip_suffix('\r').unwrap_or(part) } else { part }
            }).collect();
        prop_assert_eq!(lines, expected);
    }

    #[test]
    fn any_position_is_answered(text in "[a😀\r\n]{0,20}", line in 0usize..30, column in 0usize..30) {
        let index = LineIndex::new(&text);
        prop_assert!(text.is_char_boundary(index.offset(at(line, column))));
        prop_assert!(text.is_char_boundary(index.offset_utf16(at(line, column))));
        let position = index.position(line * 31 + column);
        prop_assert!(position.line < index.line_count());
    }
}
