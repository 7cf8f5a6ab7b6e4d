//! However a call ends, nothing of what it started is left.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use probity_sandbox::{Exit, Signal};

use crate::stage::{
    LITTER, SOON, Workspace, alive, backends, litter, nap, run, spawn, text, wait_alive,
};

#[test]
fn dropping_the_handle_ends_children_sessions_and_orphans() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let child = spawn(&backend, &workspace.shell(&format!("{} wait", litter(&nap)))).unwrap();
        wait_alive(&nap, LITTER);
        drop(child);
        assert_eq!(alive(&nap), 0, "{backend:?}");
    }
}

#[test]
fn a_panic_ends_them_too() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let spec = workspace.shell(&format!("{} wait", litter(&nap)));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _child = spawn(&backend, &spec).unwrap();
            wait_alive(&nap, LITTER);
            std::panic::resume_unwind(Box::new("thrown"));
        }));
        assert!(panicked.is_err());
        assert_eq!(alive(&nap), 0, "{backend:?}");
    }
}

#[test]
fn the_end_of_the_process_ends_what_it_left_behind() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let script = format!("{} read -r go; exit 3", litter(&nap));
        let mut child = spawn(&backend, &workspace.shell(&script)).unwrap();
        wait_alive(&nap, LITTER);
        drop(child.stdin.take());
        assert_eq!(child.wait(), Exit::Code(3), "{backend:?}");
        assert_eq!(alive(&nap), 0, "{backend:?}");
    }
}

#[test]
fn one_tree_ends_without_harm_to_another() {
    let workspace = Workspace::new();
    for backend in backends() {
        let (first, second) = (nap(), nap());
        let start = |nap: &str| {
            spawn(&backend, &workspace.shell(&format!("{} wait", litter(nap)))).unwrap()
        };
        let (ended, kept) = (start(&first), start(&second));
        wait_alive(&first, LITTER);
        wait_alive(&second, LITTER);
        drop(ended);
        assert_eq!((alive(&first), alive(&second)), (0, LITTER), "{backend:?}");
        assert_eq!(kept.wait_timeout(Duration::from_millis(50)), None);
        drop(kept);
        assert_eq!(alive(&second), 0, "{backend:?}");
    }
}

#[test]
fn time_runs_out_for_the_whole_tree() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let mut spec = workspace.shell(&format!("{} echo begun; wait", litter(&nap)));
        spec.limits.wall = Some(Duration::from_millis(600));
        let started = Instant::now();
        let (outcome, stdout) = text(&backend, &spec);
        assert_eq!((outcome.exit, stdout.as_str()), (Exit::Timeout, "begun\n"), "{backend:?}");
        assert!(started.elapsed() < SOON / 2);
        assert_eq!(alive(&nap), 0, "{backend:?}");
    }
}

#[test]
fn a_polite_process_ends_at_the_end_of_input_or_at_sigterm() {
    let workspace = Workspace::new();
    for backend in backends() {
        // The second one gets the signal once its time to notice the end of input is over.
        let trap = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done";
        for (script, code, grace) in
            [("echo ready; cat >/dev/null; exit 4", 4, 2 * SOON), (trap, 5, Duration::from_secs(4))]
        {
            let mut child = spawn(&backend, &workspace.shell(script)).unwrap();
            wait_for_line(&mut child);
            let started = Instant::now();
            let exit = child.shutdown(grace);
            assert_eq!(exit, Some(Exit::Code(code)), "{backend:?}: {script}");
            assert!(started.elapsed() < SOON, "{backend:?}: {script}");
        }
    }
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_after_the_grace() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let script = format!("trap '' TERM; sleep {nap} & echo ready; while :; do wait; done");
        let mut child = spawn(&backend, &workspace.shell(&script)).unwrap();
        wait_for_line(&mut child);
        child.signal(Signal::TERM);
        assert_eq!(child.wait_timeout(Duration::from_millis(200)), None, "{backend:?}");
        let exit = child.shutdown(Duration::from_millis(100)).unwrap();
        assert_eq!(exit.code(), 137, "{backend:?}: {exit:?}");
        assert_eq!(alive(&nap), 0, "{backend:?}");
    }
}

#[test]
fn a_flood_of_output_is_cut_and_one_of_errors_is_drained() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.shell("while :; do echo 0123456789; done");
        spec.limits.output = Some(100_000);
        let (outcome, stdout) = text(&backend, &spec);
        assert_eq!((outcome.exit, stdout.len()), (Exit::OutputLimit, 100_000), "{backend:?}");

        let flood = workspace.shell("head -c 3000000 /dev/zero >&2; echo tail >&2; echo out");
        let outcome = run(&backend, &flood, b"").unwrap();
        assert_eq!(outcome.exit, Exit::Code(0));
        assert_eq!(outcome.stdout, b"out\n");
        assert_eq!(outcome.stderr_bytes, 3_000_005, "{backend:?}");
        assert!(outcome.stderr_tail.ends_with(b"tail\n") && outcome.stderr_tail.len() <= 65_536);
    }
}

#[test]
fn exactly_as_much_output_as_allowed_is_no_flood() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.shell("printf 12345");
        spec.limits.output = Some(5);
        let (outcome, stdout) = text(&backend, &spec);
        assert_eq!((outcome.exit, stdout.as_str()), (Exit::Code(0), "12345"), "{backend:?}");
    }
}

#[test]
fn many_at_once_do_not_mix_and_leave_no_cgroup() {
    let workspace = Workspace::new();
    for backend in backends() {
        std::thread::scope(|threads| {
            for index in 0..30 {
                let (workspace, backend) = (&workspace, &backend);
                threads.spawn(move || {
                    let mut spec = workspace.shell(&format!("cat; exit {index}"));
                    spec.limits.pids = Some(50);
                    let outcome = run(backend, &spec, index.to_string().as_bytes()).unwrap();
                    let seen =
                        (outcome.exit, String::from_utf8_lossy(&outcome.stdout).into_owned());
                    assert_eq!(seen, (Exit::Code(index), index.to_string()), "{backend:?}");
                });
            }
        });
    }
    // Other tests have theirs at the same time: ours are those that stay.
    let own = format!("probity-{}-", std::process::id());
    let cgroups = || -> BTreeSet<OsString> {
        let Ok(entries) = fs::read_dir("/sys/fs/cgroup/pids") else { return BTreeSet::new() };
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(&own)).collect()
    };
    let first = cgroups();
    let started = Instant::now();
    while cgroups().intersection(&first).next().is_some() {
        assert!(started.elapsed() < 2 * SOON, "{:?}", cgroups());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A process that is not there yet hears no signal.
fn wait_for_line(child: &mut probity_sandbox::Child) {
    use std::io::Read;
    let mut line = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    assert_eq!(&line, b"ready\n");
}
