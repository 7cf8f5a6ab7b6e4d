//! Our own violent death: the test starts itself again as the parent, and kills that.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use probity_sandbox::{Backend, probe};

use crate::stage::{LITTER, Workspace, bubblewrap, end_sleepers, litter, nap, spawn, wait_alive};

/// Set in the process that plays the parent: what it shall start.
const ROLE: &str = "PROBITY_SANDBOX_TEST_NAP";

#[test]
fn killed_with_bubblewrap_children_we_leave_none() {
    parent_is_killed("killed_with_bubblewrap_children_we_leave_none", &bubblewrap(), 0);
}

#[test]
fn killed_with_landlock_children_we_leave_none() {
    parent_is_killed("killed_with_landlock_children_we_leave_none", &Backend::Landlock, 0);
}

#[test]
fn killed_with_uncontained_children_we_leave_none_that_can_be_reached() {
    let name = "killed_with_uncontained_children_we_leave_none_that_can_be_reached";
    parent_is_killed(name, &Backend::None, beyond_reach());
}

/// Those who left their session, where cgroups are not ours.
fn beyond_reach() -> usize {
    if probe().cgroups.is_ok() { 0 } else { LITTER - 1 }
}

/// Root has more means than others, and must not hide that theirs fail.
#[test]
fn as_an_ordinary_user_the_promises_are_kept_too() {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = place.path().join("it");
    fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    let mut tests = Command::new(&copy);
    tests.args([
        "death::killed",
        "ends::",
        "limits::",
        "conformance::",
        "containment::",
        "reach::",
        "escapes::",
    ]);
    tests.current_dir(place.path()).env("HOME", "/nonexistent");
    if probe().cgroups.is_ok() {
        tests.uid(65534).gid(65534);
    }
    let output = tests.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    for test in ["killed_with_bubblewrap_children", "killed_with_landlock_children"] {
        assert!(told.contains(&format!("{test}_we_leave_none ... ok")), "{told}");
    }
}

#[test]
fn a_child_does_not_die_with_the_thread_that_asked_for_it() {
    let workspace = Workspace::new();
    for backend in crate::stage::backends() {
        let nap = nap();
        let spec = workspace.spec(&["sleep", &nap]);
        let child = thread::spawn(move || spawn(&backend, &spec).unwrap()).join().unwrap();
        wait_alive(&nap, 1);
        assert_eq!(child.wait_timeout(Duration::from_millis(100)), None);
    }
}

fn parent_is_killed(test: &str, backend: &Backend, left: usize) {
    if let Ok(nap) = env::var(ROLE) {
        let workspace = Workspace::new();
        let _child = spawn(backend, &workspace.shell(&format!("{} wait", litter(&nap)))).unwrap();
        wait_alive(&nap, LITTER);
        std::io::stdout().write_all(b"\nstarted\n").unwrap();
        thread::sleep(Duration::from_secs(60));
        return;
    }
    let nap = nap();
    let mut parent = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("death::{test}"), "--nocapture"])
        .env(ROLE, &nap)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "started"), "the parent never started");
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_alive(&nap, left);
    end_sleepers(&nap);
}
