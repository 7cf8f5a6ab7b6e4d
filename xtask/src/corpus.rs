//! `cargo xtask eval` without an agent: what the checks of AI fixes accept by the text alone.
//!
//! The corpus and its judge are a test of the crate that owns the checks; this runs that test and
//! prints what it wrote between its marks.

use std::path::Path;

use crate::{Report, cargo, output};

pub(crate) fn run(root: &Path) -> Result<Report, String> {
    let mut test = cargo(root);
    test.args(["test", "--quiet", "--package", "probity-autofix", "--test", "it", "--"]);
    test.args(["--exact", "corpus::figures", "--nocapture"]);
    test.env("PROBITY_WHOLE_CORPUS", "1");
    let printed = output(test)?;
    let printed = String::from_utf8_lossy(&printed);
    let figures = printed.split_once("<<<\n").and_then(|(_, rest)| rest.split_once(">>>"));
    let (figures, _) = figures.ok_or("the test of the corpus printed no figures")?;
    Ok(Report { text: figures.to_owned(), clean: true })
}
