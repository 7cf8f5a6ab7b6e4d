//! The text report, as it looks.

use crate::report::{Format, Options, samples};

#[test]
fn findings_are_shown_with_their_source() {
    insta::assert_snapshot!(samples::report(Format::Text), @"");
}

#[test]
fn without_source_a_finding_is_a_line() {
    let options = Options { show_source: false, ..samples::OPTIONS };
    let report = samples::render(Format::Text, &options, &samples::files());
    insta::assert_snapshot!(report, @"");
}

#[test]
fn nothing_to_report_is_one_line() {
    let files = [("a", "FROM scratch\n", Vec::new())];
    let report = samples::render(Format::Text, &samples::OPTIONS, &files);
    insta::assert_snapshot!(report, @"");
}

#[test]
fn colour_adds_escape_sequences_and_nothing_else() {
    let options = Options { color: true, ..samples::OPTIONS };
    let colored = samples::render(Format::Text, &options, &samples::files());
    assert!(colored.contains('\x1b'));
    let plain = anstream::adapter::strip_str(&colored).to_string();
    assert_eq!(plain, samples::report(Format::Text));
}
