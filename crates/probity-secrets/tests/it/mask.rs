//! Masked text has the shape of the original and none of its secrets.

use probity_secrets::{Confidence, Secret, mask_same_length};
use proptest::{collection::vec, prelude::*};

use crate::{
    detector, find,
    forge::{Dice, armour, token},
    ranges::in_their_places,
};

fn secret(start: usize, end: usize) -> Secret {
    Secret { kind: "k", name: "n", range: start..end, confidence: Confidence::High }
}

#[test]
fn a_private_key_keeps_its_lines() {
    let key = armour("EC PRIVATE KEY", 2, "\r\n", &mut Dice::new(1));
    let masked = mask_same_length(&key, &find(&key));
    let stars = "*".repeat(64);
    let lines: Vec<_> = masked.split("\r\n").skip(1).take(2).collect();
    assert_eq!(lines, [&stars, &stars]);
}

#[test]
fn nothing_is_left_to_find_in_masked_text() {
    let detector = detector();
    for (kind, text, secret) in in_their_places(&mut Dice::new(2)) {
        let masked = mask_same_length(&text, &detector.find(&text));
        assert!(!masked.contains(&secret), "{kind}");
        assert_eq!(detector.find(&masked), [], "{kind}: {masked}");
    }
}

#[test]
fn ranges_that_overlap_or_cut_characters_hide_too_much_rather_than_too_little() {
    for (text, secrets, expected) in [
        ("abcdef", vec![secret(1, 3), secret(2, 5)], "a****f"),
        ("aéb", vec![secret(2, 3)], "a**b"),
        ("abc", vec![secret(2, 99)], "ab*"),
        ("abc", vec![secret(50, 99)], "abc"),
        ("a\nb", vec![secret(0, 3)], "*\n*"),
    ] {
        assert_eq!(mask_same_length(text, &secrets), expected);
    }
}

#[test]
fn a_debug_print_of_what_was_found_has_no_value() {
    let value = token("ghp_ @a30 @crc", &mut Dice::new(4));
    assert!(!format!("{:?} {:?}", find(&value), detector()).contains(&value[4..]));
}

/// Where the lines end.
fn breaks(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(at, _)| at).collect()
}

proptest! {
    #[test]
    fn length_and_lines_stay(
        text in "(?s).{0,200}",
        spans in vec((0_usize..220, 0_usize..40), 0..6),
    ) {
        let secrets: Vec<_> =
            spans.iter().map(|(start, length)| secret(*start, start + length)).collect();
        let masked = mask_same_length(&text, &secrets);
        prop_assert_eq!(masked.len(), text.len());
        prop_assert_eq!(breaks(&masked), breaks(&text));
    }
}
