//! The JSON report, key by key.

use crate::report::{Format, samples};

#[test]
fn the_shape_is_the_one_that_scripts_parse() {
    insta::assert_snapshot!(samples::report(Format::Json), @"");
}
