//! However a process in a container ends, nothing of it is left in there.

use std::{io::Read, time::Duration};

use probity_sandbox::{Child, Exit, Signal, spawn};

use super::scene::Scene;
use crate::stage::{LITTER, alive, litter, nap, wait_alive};

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
    let script = |nap: &str| format!("{} echo ready; read -r go", litter(nap));
    let mut children: Vec<Child> = naps.iter().map(|nap| ready(scene, &script(nap))).collect();
    for nap in &naps {
        wait_alive(nap, LITTER);
    }
    // The second of them: its number begins those of the eleventh and the twelfth.
    drop(children.remove(1));
    for (index, nap) in naps.iter().enumerate() {
        assert_eq!(alive(nap), if index == 1 { 0 } else { LITTER }, "{index}");
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
