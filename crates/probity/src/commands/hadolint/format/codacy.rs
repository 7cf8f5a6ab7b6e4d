//! Codacy's engine output: objects one behind the other, with nothing between them.

use std::io;

use serde::Serialize;

use super::Report;

pub(super) fn write(reports: &[Report]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for (filename, verdict) in Report::each(reports, None) {
        let item = Item {
            filename,
            line: verdict.place.line,
            message: &verdict.message,
            pattern_id: &verdict.code,
        };
        serde_json::to_writer(&mut out, &item)?;
    }
    Ok(out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    filename: &'a str,
    line: usize,
    message: &'a str,
    pattern_id: &'a str,
}
