//! Ways out: each is a row that first succeeds without a sandbox, with bait of ours, and is then held by
//! every sandbox. A row that a sandbox does not hold breaks a promise that it does not make.

mod rows;
mod scene;
mod variants;

use std::{fmt::Write as _, path::Path};

use probity_sandbox::{Backend, Mount, Network, PromiseName, keeps};

use crate::stage::{INSIDE, Workspace, kind_of, sandboxes, text};
use rows::{ROWS, Row};
use scene::Scene;
use variants::VARIANTS;

#[test]
fn every_way_out_works_without_a_sandbox_and_is_closed_in_each() {
    let scene = Scene::new();
    let mut wrong = Vec::new();
    let bare = answers(&Backend::None, &scene, Kept::No);
    for (row, answer) in rows().zip(&bare) {
        if !answer.escaped {
            wrong.push(format!("{}: does not work without a sandbox: {}", row.name, answer.why));
        }
    }
    let [bubblewrap, landlock] = sandboxes();
    // Landlock judges most calls only where the supervisor does not make them.
    let ways = [(bubblewrap, Kept::Yes), (landlock.clone(), Kept::Yes), (landlock, Kept::No)];
    for (backend, kept) in ways {
        let kind = kind_of(&backend);
        for (row, answer) in rows().zip(answers(&backend, &scene, kept)) {
            if kept == Kept::No && row.promise == Some(PromiseName::KeptParts) {
                continue;
            }
            let is_promised = row.promise.is_none_or(|promise| keeps(kind, promise));
            if answer.escaped == is_promised {
                let seen = if answer.escaped { "escaped" } else { answer.why.as_str() };
                wrong.push(format!("{}: {}: {seen}", row.name, kind.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(VARIANTS)
}

/// Whether a part of the workspace is read-only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

const PARTS: [&str; 6] = ["own", "removed", "renamed", "replaced", "linked", "exchanged"];

struct Answer {
    escaped: bool,
    why: String,
}

/// What became of each row. One that was never tried has no answer, and fails here.
fn answers(backend: &Backend, scene: &Scene, kept: Kept) -> Vec<Answer> {
    let workspace = Workspace::new();
    PARTS.iter().for_each(|name| workspace.write(&format!("kept/{name}"), "kept"));
    workspace.write("ways.py", &script(scene));
    let mut spec = workspace.spec(&["python3", "ways.py"]);
    if kept == Kept::Yes {
        let part = workspace.path.join("kept");
        for at in [Path::new(INSIDE), &workspace.path] {
            spec.mounts.push(Mount::read_only(&part, at.join("kept")));
        }
    }
    spec.network = Network::None;
    let (outcome, stdout) = text(backend, &spec);
    let told = String::from_utf8_lossy(&outcome.stderr_tail);
    let answers: Vec<Answer> = stdout
        .lines()
        .map(|line| {
            let (word, why) = line.split_once(' ').unwrap_or((line, ""));
            assert!(["escaped", "held"].contains(&word), "{backend:?}: {line}\n{told}");
            Answer { escaped: word == "escaped", why: why.to_owned() }
        })
        .collect();
    assert_eq!(answers.len(), rows().count(), "{backend:?}: {stdout}{told}");
    answers
}

/// Each row is a function, which fails if it is held. It runs in a process and a directory of its own.
fn script(scene: &Scene) -> String {
    let mut script = scene.preamble();
    for (number, row) in rows().enumerate() {
        // Writing to a string cannot fail.
        _ = writeln!(script, "def way{number}():");
        for line in row.script.trim_matches('\n').lines() {
            _ = writeln!(script, "    {line}");
        }
    }
    script.push_str(&RUN.replace("COUNT", &rows().count().to_string()));
    script
}

const RUN: &str = "
for number in range(COUNT):
    os.mkdir(f'way{number}')
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.chdir(f'way{number}')
        try:
            globals()[f'way{number}']()
            answer = 'escaped'
        except (OSError, Held) as error:
            answer = f'held {error}'
        except BaseException as error:
            answer = f'{type(error)} {error}'
        os.write(1, (answer.replace('\\n', ' ') + '\\n').encode())
        os._exit(0)
    os.waitpid(child, 0)
";
