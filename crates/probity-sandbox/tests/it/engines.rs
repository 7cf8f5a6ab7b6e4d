//! The contract in a container, on a docker server of the tests' own.
//!
//! One test, since the server is shared and starting it is what takes the time.

mod server;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use probity_sandbox::{
    Backend, Engine, Exit, Found, Kind, Limits, Mount, Signal, SpawnError, Spec, User, containers,
    has_image, remove_container, run, spawn,
};

use crate::stage::{INSIDE, LITTER, SOON, alive, end_sleepers, litter, nap, wait_alive};
use server::{Docker, IMAGE};

/// Set in the process that plays the parent: the client, the state, the workspace and the nap.
const ROLE: &str = "PROBITY_SANDBOX_TEST_ENGINE";

/// Starts what shall be left behind, and waits to be killed.
fn play_the_parent(role: &str) {
    let mut words = role.split('|');
    let mut next = || words.next().unwrap().to_owned();
    let (program, state, workspace, nap) = (next(), next(), PathBuf::from(next()), next());
    let engine = Engine {
        kind: Kind::Docker,
        program: program.into(),
        image: IMAGE.to_owned(),
        workspace: workspace.clone(),
        state: state.into(),
    };
    let script = format!("{} while :; do sleep 1; done", litter(&nap).replace("env -i ", ""));
    let mut spec = Spec::new(["sh", "-c", &script], INSIDE);
    spec.mounts = vec![Mount::read_write(&workspace, INSIDE)];
    let _child = spawn(&Backend::Engine(engine), &spec).unwrap();
    wait_alive(&nap, LITTER);
    std::io::stdout().write_all(b"\nstarted\n").unwrap();
    thread::sleep(Duration::from_secs(60));
}

fn parent_is_killed(docker: &Docker) {
    let place = tempfile::tempdir().unwrap();
    let nap = nap();
    let state = docker.place.path().join("state");
    let role = [docker.client.as_path(), &state, place.path()]
        .map(|path| path.display().to_string())
        .join("|");
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "engines::the_contract_holds_in_a_container", "--nocapture"])
        .env(ROLE, format!("{role}|{nap}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "started"), "the parent never started");
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_alive(&nap, 0);
}

#[test]
fn the_contract_holds_in_a_container() {
    if let Ok(role) = std::env::var(ROLE) {
        return play_the_parent(&role);
    }
    let docker = Docker::start();
    parent_is_killed(&docker);
    docker.remove_containers();
    let place = tempfile::tempdir().unwrap();
    let workspace = place.path().canonicalize().unwrap();
    let engine = docker.engine(&workspace);
    let backend = Backend::Engine(engine.clone());
    let spec = |script: &str| {
        let mut spec = Spec::new(["sh", "-c", script], INSIDE);
        spec.mounts =
            [Path::new(INSIDE), &workspace].map(|at| Mount::read_write(&workspace, at)).to_vec();
        spec.env = vec![("PATH".into(), "/bin".into()), ("SECRET".into(), "a b\nc".into())];
        spec.limits =
            Limits { wall: Some(3 * SOON), pids: Some(64), memory: Some(256 << 20), output: None };
        spec.user = User::OwnerOf(workspace.clone());
        spec
    };
    let text = |script: &str| {
        let outcome = run(&backend, &spec(script), b"input\n").unwrap();
        (outcome.exit.code(), String::from_utf8_lossy(&outcome.stdout).into_owned())
    };

    let found = Found { program: engine.program.clone(), version: String::new() };
    assert!(has_image(&found, IMAGE).is_ok() && has_image(&found, "absent:x").is_err());

    // Six at once make one container.
    thread::scope(|threads| {
        let starts: Vec<_> = (0..6).map(|_| threads.spawn(|| text("cat; exit 3"))).collect();
        for start in starts {
            assert_eq!(start.join().unwrap(), (3, "input\n".to_owned()));
        }
    });
    assert_eq!(docker.says(&["ps", "-aq"]).1.lines().count(), 1);

    for (script, code, output) in [
        ("printf %s \"$SECRET\"", 0, "a b\nc"),
        ("no-such-program", 127, ""),
        ("kill -s KILL $$", 137, ""),
        ("echo x > /x || echo refused", 0, "refused\n"),
        (
            "grep -E 'CapEff|NoNewPrivs' /proc/self/status",
            0,
            "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n",
        ),
        ("cat /proc/net/dev | grep -c eth", 1, "0\n"),
        ("echo made > made; pwd", 0, "/home/agent/workspace\n"),
    ] {
        assert_eq!(text(script), (code, output.to_owned()), "{script}");
    }
    assert_eq!(fs::read_to_string(workspace.join("made")).unwrap(), "made\n");
    let mut missing = spec("true");
    missing.argv = vec!["no-such-program".into()];
    assert_eq!(run(&backend, &missing, b"").unwrap().exit, Exit::Code(127));
    missing = spec("true");
    missing.cwd = "/no/such".into();
    let outcome = run(&backend, &missing, b"").unwrap();
    assert_eq!((outcome.exit, outcome.stdout.as_slice()), (Exit::Code(125), b"".as_slice()));

    let line = vec![b'x'; 1 << 20];
    assert!(run(&backend, &spec("cat"), &line).unwrap().stdout == line);

    // Whatever way it ends, nothing is left in the container.
    for end in ["drop", "exit", "term"] {
        let nap = nap();
        let script =
            format!("{} echo ready; read -r go; exit 3", litter(&nap).replace("env -i ", ""));
        let mut child = spawn(&backend, &spec(&script)).unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        wait_alive(&nap, LITTER);
        match end {
            "drop" => drop(child),
            "exit" => {
                drop(child.stdin.take());
                assert_eq!(child.wait(), Exit::Code(3));
            }
            _ => {
                child.signal(Signal::TERM);
                assert_eq!(child.wait().code(), 143);
            }
        }
        assert_eq!(alive(&nap), 0, "{end}");
    }

    // Time, and a container that is not ours.
    let nap = nap();
    let mut slow = spec(&format!("sleep {nap}"));
    slow.limits.wall = Some(Duration::from_secs(1));
    assert_eq!(run(&backend, &slow, b"").unwrap().exit, Exit::Timeout);
    assert_eq!(alive(&nap), 0);
    end_sleepers(&nap);

    let (_, name) = docker.says(&["ps", "-a", "--format", "{{.Names}}"]);
    docker.says(&["rm", "-f", &name]);
    assert!(
        docker.says(&["run", "-d", "--network=none", "--name", &name, IMAGE, "sleep", "100"]).0
    );
    let error = spawn(&backend, &spec("true")).unwrap_err();
    assert!(matches!(error, SpawnError::Foreign { .. }), "{error}");
    assert_eq!(error.exit_code(), 15);
    docker.says(&["rm", "-f", &name]);

    // Other settings mean another container.
    assert_eq!(text("echo one").1, "one\n");
    let before = docker.says(&["ps", "-q"]).1;
    let mut other = spec("echo two");
    other.limits.pids = Some(65);
    assert_eq!(run(&backend, &other, b"").unwrap().stdout, b"two\n");
    let after = docker.says(&["ps", "-q"]).1;
    assert!(before != after && after.lines().count() == 1, "{before} {after}");

    // What is there can be listed and taken away, by us only what is ours.
    docker.says(&["run", "-d", "--network=none", "--name", "theirs", IMAGE, "sleep", "100"]);
    let listed = containers(&found).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].running && listed[0].workspace == workspace, "{listed:?}");
    assert!(remove_container(&found, "theirs").is_err());
    remove_container(&found, &listed[0].name).unwrap();
    assert_eq!(docker.says(&["ps", "--format", "{{.Names}}"]).1, "theirs");
}
