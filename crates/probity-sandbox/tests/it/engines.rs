//! The contract in a container, on engines of the tests' own.
//!
//! One test for each engine, since it is shared by the rows, and starting it is what takes the time.

mod ends;
mod rows;
mod scene;
mod server;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use probity_sandbox::{Backend, BackendKind, Engine, Mount, Spec, spawn};

use crate::stage::{INSIDE, LITTER, litter, nap, wait_alive};
use scene::Scene;
use server::{IMAGE, Server};

#[test]
fn the_contract_holds_in_docker() {
    the_contract_holds("the_contract_holds_in_docker", Server::docker);
}

#[test]
fn the_contract_holds_in_podman() {
    the_contract_holds("the_contract_holds_in_podman", Server::podman);
}

type Row = (&'static str, fn(&Scene<'_>));

const ROWS: &[Row] = &[
    ("concurrent creation makes one container", rows::concurrent_creation),
    ("exit codes and output", rows::exits_and_output),
    ("words arrive as given", rows::words),
    ("environment", rows::environment),
    ("secrets are on no command line and in no label", rows::secrets),
    ("what cannot start", rows::what_cannot_start),
    ("directories through links", rows::linked_directories),
    ("long lines and the end of input", rows::long_lines),
    ("a conversation", rows::conversation),
    ("limits", rows::limits),
    ("a list of allowed hosts", rows::allowed_hosts),
    ("git in a repository and a worktree", rows::git),
    ("every way to end leaves nothing", ends::every_end),
    ("one session ends without harm to another", ends::neighbours),
    ("a process that ignores TERM", ends::deaf),
    ("a bomb of processes", ends::bomb),
    ("time runs out", ends::timeout),
    ("a foreign container is refused", rows::foreign),
    ("other settings make another container", rows::other_settings),
    ("a container that was stopped starts again", rows::stopped),
    ("what is ours is listed and removed", rows::stock),
];

fn the_contract_holds(test: &str, start: fn() -> Server) {
    if let Ok(role) = env::var(ROLE) {
        return play_the_parent(&role);
    }
    let server = start();
    parent_is_killed(test, &server);
    server.remove_containers();
    let scene = Scene::new(&server);
    for (name, row) in ROWS {
        let done = catch_unwind(AssertUnwindSafe(|| row(&scene)));
        assert!(done.is_ok(), "{name}: what failed stands above");
    }
}

/// Set in the process that plays the parent: the engine, the client, the state, the workspace and
/// the nap.
const ROLE: &str = "PROBITY_SANDBOX_TEST_ENGINE";

/// Starts what shall be left behind, and waits to be killed.
fn play_the_parent(role: &str) {
    let mut words = role.split('|');
    let mut next = || words.next().unwrap().to_owned();
    let kind = if next() == "docker" { BackendKind::Docker } else { BackendKind::Podman };
    let (program, state, workspace, nap) = (next(), next(), PathBuf::from(next()), next());
    let engine = Engine {
        kind,
        program: program.into(),
        image: IMAGE.to_owned(),
        workspace: workspace.clone(),
        state: state.into(),
    };
    let script = format!("{} while :; do sleep 1; done", litter(&nap));
    let mut spec = Spec::new(["sh", "-c", &script], INSIDE);
    spec.mounts = vec![Mount::read_write(&workspace, INSIDE)];
    let _child = spawn(&Backend::Engine(engine), &spec).unwrap();
    wait_alive(&nap, LITTER);
    std::io::stdout().write_all(b"\nstarted\n").unwrap();
    thread::sleep(Duration::from_secs(60));
}

fn parent_is_killed(test: &str, server: &Server) {
    let place = tempfile::tempdir().unwrap();
    let nap = nap();
    let engine = server.engine(place.path());
    let role = [&engine.program, &engine.state, &engine.workspace]
        .map(|path| path.display().to_string())
        .join("|");
    let mut parent = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("engines::{test}"), "--nocapture"])
        .env(ROLE, format!("{}|{role}|{nap}", engine.kind.name()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "started"), "the parent never started");
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_alive(&nap, 0);
}
