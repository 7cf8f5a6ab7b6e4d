//! Our own violent death: the test starts itself again as the parent, and kills that.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use probity_sandbox::{Backend, spawn};

use crate::stage::{LITTER, Workspace, bubblewrap, litter, nap, wait_alive};

/// Set in the process that plays the parent: what it shall start.
const ROLE: &str = "PROBITY_SANDBOX_TEST_NAP";

#[test]
fn killed_with_bubblewrap_children_we_leave_none() {
    parent_is_killed("killed_with_bubblewrap_children_we_leave_none", &bubblewrap(), 0);
}

#[test]
fn killed_with_uncontained_children_we_leave_none_that_can_be_reached() {
    // Where cgroups are not ours, those who left their session are out of reach.
    let reachable = fs::metadata("/sys/fs/cgroup/pids/tasks").is_ok() || is_root();
    let left = if reachable { 0 } else { LITTER - 1 };
    let name = "killed_with_uncontained_children_we_leave_none_that_can_be_reached";
    parent_is_killed(name, &Backend::None, left);
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
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    })
}
