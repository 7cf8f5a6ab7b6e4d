//! Memory and processes: a tree takes no more than it was given.

use probity_sandbox::{Backend, Exit, LimitedBy, Limits, PromiseName, keeps, probe};

use crate::stage::{Workspace, alive, backends, bubblewrap, kind_of, nap, spawn, text, wait_alive};

#[test]
fn a_fork_bomb_is_capped() {
    let workspace = Workspace::new();
    for backend in backends() {
        let nap = nap();
        let script = format!("i=0; while [ $i -lt 200 ]; do sleep {nap} & i=$((i+1)); done; wait");
        let mut spec = workspace.shell(&script);
        spec.limits.pids = Some(40);
        let child = spawn(&backend, &spec).unwrap();
        let counts =
            backend != Backend::None && keeps(kind_of(&backend), PromiseName::ProcessesCounted);
        if !counts && probe().cgroups.is_err() {
            // There is no means that would not harm the user's other processes; it is said.
            assert_eq!(child.notes(), ["more than 40 processes are possible without a cgroup"]);
            continue;
        }
        assert_eq!(child.notes(), [] as [&str; 0], "not enforced here: {backend:?}");
        // A shell that cannot fork gives up, and its end is the end of all.
        child.wait();
        assert_eq!(alive(&nap), 0, "{backend:?}");

        let few = format!("i=0; while [ $i -lt 20 ]; do sleep {nap} & i=$((i+1)); done; wait");
        spec.argv = vec!["sh".into(), "-c".into(), few.into()];
        let child = spawn(&backend, &spec).unwrap();
        wait_alive(&nap, 20);
        drop(child);
    }
}

#[test]
fn a_busy_loop_gets_its_share_of_the_processor_or_it_is_said() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.shell(
            "start=$(date +%s%N); now=$start; while [ $((now - start)) -lt 700000000 ]; do \
             i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; now=$(date +%s%N); done; \
             echo $((now - start)); times",
        );
        spec.limits.cpus = Some(0.2);
        let (outcome, stdout) = text(&backend, &spec);
        if !outcome.notes.is_empty() {
            let said = "time of the processor is limited";
            assert!(outcome.notes.iter().any(|note| note.starts_with(said)), "{outcome:?}");
            continue;
        }
        // A busy machine can stretch the loop, so the time that passed is the measure.
        let passed = stdout.lines().next().unwrap().parse::<f64>().unwrap() / 1e9;
        let share = seconds_of(&stdout) / passed;
        assert!(share < 0.6, "{backend:?}: {share} of the processor: {stdout}");
    }
}

/// What `times` says of the shell and its children, user and system: four of `0m0.10s`.
fn seconds_of(output: &str) -> f64 {
    let words = output.lines().rev().take(2).flat_map(str::split_whitespace);
    words
        .map(|word| {
            let (minutes, seconds) = word.trim_end_matches('s').split_once('m').unwrap();
            minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
        })
        .sum()
}

#[test]
fn a_hog_of_memory_is_ended() {
    let workspace = Workspace::new();
    for backend in backends() {
        // `tail` keeps a line that does not end in memory.
        let mut spec = workspace.shell("head -c 400000000 /dev/zero | tail -n 1 | wc -c");
        spec.limits.memory = Some(64 << 20);
        let (outcome, stdout) = text(&backend, &spec);
        assert_ne!(stdout.trim(), "400000000", "{backend:?}: {outcome:?}");
        spec.argv =
            vec!["sh".into(), "-c".into(), "head -c 4000000 /dev/zero | tail -n 1 | wc -c".into()];
        let (outcome, stdout) = text(&backend, &spec);
        assert_eq!((outcome.exit, stdout.trim()), (Exit::Code(0), "4000000"), "{backend:?}");
    }
}

#[test]
fn places_in_memory_are_no_larger_than_they_may_be() {
    let workspace = Workspace::new();
    let mut spec = workspace.shell(
        "for place in /tmp /dev/shm; do head -c 40000000 /dev/zero > $place/big 2>/dev/null; \
         wc -c < $place/big; done",
    );
    spec.limits.tmp = Some(4 << 20);
    spec.limits.shm = Some(2 << 20);
    let (_, stdout) = text(&bubblewrap(), &spec);
    assert_eq!(stdout, "4194304\n2097152\n");
    let mut spec = workspace.shell("df -k /tmp /dev/shm | awk 'NR > 1 { print $2 }'");
    spec.limits = Limits::usual();
    let (_, stdout) = text(&bubblewrap(), &spec);
    assert_eq!(stdout, "1048576\n1048576\n");
}

/// A tmpfs of the sandbox's own, of half the memory, in which nothing has to be written.
#[test]
fn devices_work_and_no_room_is_left_beside_them() {
    let workspace = Workspace::new();
    let spec = workspace.shell(
        "echo x > /dev/null && head -c 4 /dev/urandom | wc -c && echo y > /dev/shm/y && \
         (head -c 1000 /dev/zero > /dev/room) 2>/dev/null || echo closed",
    );
    let (outcome, stdout) = text(&bubblewrap(), &spec);
    assert_eq!(stdout, "4\nclosed\n", "{outcome:?}");
}

#[test]
fn a_process_says_what_holds_its_limits() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.shell("true");
        spec.limits = Limits::usual();
        let child = spawn(&backend, &spec).unwrap();
        let expected = if probe().cgroups.is_ok() { LimitedBy::Cgroup } else { LimitedBy::Watch };
        assert_eq!(child.limited_by(), expected, "{backend:?}");
        child.wait();
    }
}

#[test]
fn a_file_grows_no_further_than_it_may() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.shell("head -c 3000000 /dev/zero > big; wc -c < big");
        spec.limits.file = Some(1 << 20);
        let (_, stdout) = text(&backend, &spec);
        assert_eq!(stdout.trim(), "1048576", "{backend:?}");
    }
}

/// In a place where the directories of cgroups cannot be written, as in most containers. Processes that are
/// each small are ended when they are too large together.
#[test]
fn without_a_cgroup_a_watch_ends_a_tree_that_takes_too_much_memory() {
    const ROLE: &str = "PROBITY_SANDBOX_TEST_NO_CGROUP";
    if std::env::var_os(ROLE).is_some() {
        assert!(probe().cgroups.is_err());
        let workspace = Workspace::new();
        let many = "import os, time\n\
                    for _ in range(8):\n    if not os.fork(): x = bytearray(40_000_000); time.sleep(30); os._exit(0)\n\
                    time.sleep(30); print('went on')\n";
        for backend in [Backend::None, Backend::Landlock] {
            let mut spec = workspace.spec(&["python3", "-c", many]);
            spec.limits.memory = Some(150 << 20);
            let child = spawn(&backend, &spec).unwrap();
            assert_eq!(child.limited_by(), LimitedBy::Watch, "{backend:?}");
            let note = "memory is limited for each process, and approximately for all together";
            assert!(child.notes()[0].starts_with(note), "{:?}", child.notes());
            let began = std::time::Instant::now();
            assert_eq!(child.wait(), Exit::Signal(9), "{backend:?}");
            assert!(began.elapsed() < std::time::Duration::from_secs(25), "{backend:?}");
            let few = many.replace("range(8)", "range(2)").replace("sleep(30)", "sleep(1)");
            spec.argv = ["python3", "-c", &few].map(Into::into).to_vec();
            assert_eq!(text(&backend, &spec).1, "went on\n", "{backend:?}");
        }
        return;
    }
    let Backend::Bubblewrap { program } = bubblewrap() else { unreachable!() };
    let output = std::process::Command::new(program)
        .args(["--dev-bind", "/", "/", "--ro-bind", "/sys", "/sys", "--"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "limits::without_a_cgroup_a_watch_ends_a_tree_that_takes_too_much_memory",
        ])
        .arg("--nocapture")
        .env(ROLE, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{failed}");
}
