//! However a process in a container ends, nothing of it is left in there.

use std::{
    io::Read,
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{Child, Exit, Signal, spawn};

use super::scene::Scene;
use crate::stage::{LITTER, SOON, alive, litter, nap, wait_alive};

pub(super) fn every_end(scene: &Scene<'_>) {
    for end in ["drop", "kill", "exit", "term"] {
        let nap = nap();
        let mut child = ready(scene, &format!("{} echo ready; read -r go; exit 3", litter(&nap)));
        wait_alive(&nap, LITTER);
        match end {
            "drop" => drop(child),
            "kill" => {
                child.kill().unwrap();
            }
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
}

pub(super) fn neighbours(scene: &Scene<'_>) {
    let naps: Vec<String> = (0..12).map(|_| nap()).collect();
    let script = |nap: &str| format!("env -i setsid sleep {nap} & echo ready; read -r go");
    let mut children: Vec<Child> = naps.iter().map(|nap| ready(scene, &script(nap))).collect();
    for nap in &naps {
        wait_alive(nap, 1);
    }
    // The second of them: its number begins those of the eleventh and the twelfth.
    drop(children.remove(1));
    for (index, nap) in naps.iter().enumerate() {
        assert_eq!(alive(nap), usize::from(index != 1), "{index}");
    }
    drop(children);
    assert_eq!(naps.iter().map(|nap| alive(nap)).sum::<usize>(), 0);
}

pub(super) fn deaf(scene: &Scene<'_>) {
    let nap = nap();
    let script = format!("trap '' TERM; sleep {nap} & echo ready; while :; do wait; sleep 1; done");
    let mut child = ready(scene, &script);
    child.signal(Signal::TERM);
    assert_eq!(child.wait_timeout(Duration::from_millis(300)), None);
    let exit = child.shutdown(Duration::from_millis(100)).unwrap();
    assert_eq!(exit.code(), 137, "{exit:?}");
    assert_eq!(alive(&nap), 0);
}

/// Whoever uses up all processes cannot keep us from ending them.
pub(super) fn bomb(scene: &Scene<'_>) {
    let nap = nap();
    let script = format!(
        "echo ready; i=0; while [ $i -lt 80 ]; do env -i setsid sleep {nap} & i=$((i+1)); done; wait"
    );
    let mut child = ready(scene, &script);
    let mut started = Instant::now();
    let mut tried_again = false;
    while alive(&nap) < 40 {
        // Podman sometimes has no process to spare at first; what is asked for is what follows.
        if started.elapsed() >= SOON && !tried_again {
            drop(child);
            child = ready(scene, &script);
            (started, tried_again) = (Instant::now(), true);
        }
        assert!(started.elapsed() < SOON, "only {} began", alive(&nap));
        thread::sleep(Duration::from_millis(20));
    }
    drop(child);
    assert_eq!(alive(&nap), 0);
    assert_eq!(scene.says("echo still").1, "still\n");
}

pub(super) fn timeout(scene: &Scene<'_>) {
    let nap = nap();
    let mut slow = scene.shell(&format!("{} sleep {nap}", litter(&nap)));
    slow.limits.wall = Some(Duration::from_secs(1));
    assert_eq!(scene.outcome(&slow).exit, Exit::Timeout);
    assert_eq!(alive(&nap), 0);
}

fn ready(scene: &Scene<'_>, script: &str) -> Child {
    let mut child = spawn(&scene.backend, &scene.shell(script)).unwrap();
    let mut line = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    assert_eq!(&line, b"ready\n");
    child
}
