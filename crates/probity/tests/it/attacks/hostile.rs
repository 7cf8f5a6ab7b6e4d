//! Attacks by a hostile repository: each row is something that its author wants of whoever reviews it,
//! and no row may get it from the real binary with its sandbox on.
//!
//! Each row was seen to succeed before its cure. `PROBITY_ATTACKED_BINARY` names another binary to
//! attack, and with `PROBITY_ATTACKS_SUCCEED=1` the tests list the rows that fail to succeed. Rows that
//! are another way into the same hole, or the same way with another runner, are played by
//! `script/nightly`.
//!
//! Points of that list without a row: 12 needs an editor (`lsp::vscode`), 17 an engine (`host_side` of
//! probity-image), the server of 18 a browser (`review::page::strangers`), and 19 is a text. Runners that
//! write and copy nothing on the host (bats, RSpec, minitest, CTest, custom commands) have a row for the
//! place of their program alone.

mod agents;
mod audit;
mod go;
mod java;
mod javascript;
mod output;
mod path;
mod php;
mod python;
mod rust;
mod settings;
mod stage;
mod table;
mod told;

use crate::whole_corpus::is_whole;
use stage::Stage;
use table::Hostile;

/// Whether each row should get what it wants, as it does from a binary without the cures.
fn attacks_succeed() -> bool {
    std::env::var_os("PROBITY_ATTACKS_SUCCEED").is_some()
}

/// Plays the attacks of some repositories, one after the other.
fn play(repositories: Vec<Hostile>) {
    let wanted = attacks_succeed();
    let mut wrong = Vec::new();
    for hostile in repositories.iter().filter(|hostile| !hostile.is_variant || is_whole()) {
        let stage = Stage::new(hostile);
        let told = stage.play();
        for row in &hostile.rows {
            let found = stage.found(&row.want, &told);
            let (point, repository, name) = (row.point, &hostile.name, &row.name);
            match found {
                Some(found) if !wanted => {
                    wrong.push(format!("point {point}, {repository}: {name}: {found}"));
                }
                None if wanted => {
                    wrong.push(format!(
                        "point {point}, {repository}: {name}: held\n{}",
                        told.short()
                    ));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn python() {
    play(python::repositories());
}

#[test]
fn javascript() {
    play(javascript::repositories());
}

#[test]
fn java() {
    play(java::repositories());
}

#[test]
fn go() {
    play(go::repositories());
}

#[test]
fn path() {
    play(path::repositories());
}

#[test]
fn php() {
    play(php::repositories());
}

#[test]
fn rust() {
    play(rust::repositories());
}

#[test]
fn audit() {
    play(audit::repositories());
}

#[test]
fn output() {
    play(output::repositories());
}

#[test]
fn settings() {
    play(settings::repositories());
}

#[test]
fn agents() {
    play(agents::repositories());
}

#[test]
fn the_table_has_a_row_for_each_point_of_the_list() {
    let repositories = [
        python::repositories(),
        javascript::repositories(),
        java::repositories(),
        go::repositories(),
        path::repositories(),
        php::repositories(),
        rust::repositories(),
        audit::repositories(),
        output::repositories(),
        settings::repositories(),
        agents::repositories(),
    ];
    let rows: Vec<&table::Row> = repositories.iter().flatten().flat_map(|one| &one.rows).collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    for point in 1..=18 {
        // Other tests attack these, as the head of this file says.
        let is_elsewhere = [12, 17].contains(&point);
        let has_row = rows.iter().any(|row| row.point == point);
        assert!(is_elsewhere || has_row, "point {point} has no row");
    }
}
