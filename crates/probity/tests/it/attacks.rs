//! Attacks on the host by what a sandboxed agent leaves behind: each plants a program that leaves a
//! mark, the user goes on with the day, and no mark may be there.
//!
//! The same tables are first played without any protection, where every row that is not marked as
//! harmless does run: a row that could not hurt anybody would show nothing.

mod editor;
mod hostile;
mod review;
mod swap;
mod table;
mod victim;

use crate::{
    binary::{Run, probity},
    containers::server::{IMAGE, Server},
    whole_corpus::is_whole,
};
use editor::Editor;
use table::{ROWS, Row, Without};
use victim::Victim;

/// How a workspace is contained.
pub(crate) struct Place<'a> {
    kind: &'static str,
    server: Option<&'a Server>,
}

impl Place<'_> {
    const BUBBLEWRAP: Self = Place { kind: "bwrap", server: None };

    fn run(&self, victim: &Victim) -> Run {
        let run = victim.place(probity());
        let Some(server) = self.server else { return run };
        let first = server.client.parent().unwrap().display();
        run.env("PATH", &format!("{first}:{}", std::env::var("PATH").unwrap()))
    }

    /// Plants these rows in one session.
    fn plant<'b>(&self, victim: &Victim, rows: impl Iterator<Item = (usize, &'b Row)> + Clone) {
        let script: String =
            rows.clone().map(|(number, row)| victim.script(number, row.plant)).collect();
        let exec = ["exec", "--sandbox", self.kind, "--", "sh", "-c", &script];
        let output = self.run(victim).args(exec).run();
        for (number, row) in rows {
            let evil = victim.root().join(format!("evil-{number}.sh"));
            assert!(evil.exists(), "{} was never planted: {}", row.name, output.stderr);
        }
    }
}

fn numbered() -> impl Iterator<Item = (usize, &'static Row)> + Clone {
    ROWS.iter().enumerate().map(|(index, row)| (index + 1, row))
}

#[test]
fn without_protection_every_row_runs_on_the_host() {
    let (mut wrong, victim) = (Vec::new(), Victim::new());
    // This shows that the rows are attacks at all, so a sample does; `script/nightly` tries all.
    let step = if is_whole() { 1 } else { 6 };
    for (number, row) in numbered().step_by(step) {
        victim.reset();
        victim.host(&victim.script(number, row.plant), "work");
        victim.day();
        if victim.has_run(number) != (row.without == Without::Runs) {
            wrong.push(format!("{number}: {}", row.name));
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn nothing_planted_in_bubblewrap_runs_on_the_host() {
    let (mut ran, victim) = (Vec::new(), Victim::new());
    let rows: Vec<(usize, &Row)> = numbered().collect();
    // A few rows share a session and a day; `script/nightly` gives each its own.
    for rows in rows.chunks(if is_whole() { 1 } else { 8 }) {
        victim.reset();
        Place::BUBBLEWRAP.plant(&victim, rows.iter().copied());
        victim.day();
        for (number, row) in rows.iter().filter(|(number, _)| victim.has_run(*number)) {
            ran.push(format!("{number}: {} ({})", row.name, row.held.unwrap_or("ran before")));
        }
    }
    assert_eq!(ran, [] as [String; 0]);
}

#[test]
fn nothing_planted_in_docker_runs_on_the_host() {
    in_containers("docker", &Server::docker());
}

#[test]
fn nothing_planted_in_podman_runs_on_the_host() {
    in_containers("podman", &Server::podman());
}

/// All rows in one session, since a container for each would take minutes, and the editor's rows. A
/// row that holds leaves nothing behind that could hide another, so one hole shows in company too.
fn in_containers(kind: &'static str, server: &Server) {
    assert!(server.says(&["tag", IMAGE, "containai:latest"]).0);
    let place = Place { kind, server: Some(server) };
    let victim = Victim::new();
    place.plant(&victim, numbered());
    victim.day();
    let ran: Vec<&str> =
        numbered().filter(|(number, _)| victim.has_run(*number)).map(|(_, row)| row.name).collect();
    assert_eq!(ran, [] as [&str; 0]);
    Editor::new(&place).is_not_led_astray();
    server.remove_containers();
}

#[test]
fn an_obedient_editor_runs_nothing_for_an_agent_in_bubblewrap() {
    Editor::new(&Place::BUBBLEWRAP).is_not_led_astray();
}
