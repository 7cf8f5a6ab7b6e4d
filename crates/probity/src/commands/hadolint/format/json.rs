//! A list of findings, flat over all files.

use std::io;

use serde::Serialize;

use super::Report;

pub(super) fn write(reports: &[Report]) -> io::Result<Vec<u8>> {
    let items = Report::each(reports, None).map(|(file, verdict)| Item {
        code: &verdict.code,
        column: verdict.place.column,
        file,
        level: verdict.severity.as_str(),
        line: verdict.place.line,
        message: &verdict.message,
    });
    Ok(serde_json::to_vec(&items.collect::<Vec<_>>())?)
}

#[derive(Serialize)]
struct Item<'a> {
    code: &'a str,
    column: usize,
    file: &'a str,
    level: &'a str,
    line: usize,
    message: &'a str,
}
