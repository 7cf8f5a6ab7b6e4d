//! probity inside of containers with the default settings of docker and podman, as root and as an ordinary
//! user, and with those of a "restricted" pod: bubblewrap cannot start there, and landlock holds.
//!
//! One test for each engine, since starting it is what takes the time.

use std::{fs, path::Path, process::Command};

use crate::{
    binary::directory,
    containers::server::{IMAGE, Server},
    review::{findings, repository},
};

#[test]
fn probity_works_inside_of_docker() {
    // Its profile lets nobody take over a socket.
    works_inside(&Server::docker(), "1");
}

#[test]
fn probity_works_inside_of_podman() {
    works_inside(&Server::podman(), "0");
}

/// What is added to `run`; nothing takes a protection away.
const CONTEXTS: [(&str, &[&str]); 3] = [
    ("root", &[]),
    ("user", &["--user", "4242:4242"]),
    (
        // The security context of this level: RuntimeDefault is what an engine does by itself.
        "restricted",
        &[
            "--user",
            "4242:4242",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--read-only",
        ],
    ),
];

/// Runs everything in one container, and says on a line of its own how each ended.
const SCRIPT: &str = r#"
export HOME=/scratch/home TMPDIR=/scratch/tmp PATH=/usr/local/bin:/usr/bin:/bin NO_COLOR=1
mkdir -p /scratch/home /scratch/tmp && cp -r /given/repo /scratch/repo
touch /scratch/outside; probity=/given/probity
git config --global --add safe.directory '*'
cd /scratch/repo
code() { echo "$1: $?"; }
$probity doctor --quick | head -n 1
# In a repository, whose configuration stays as it is.
$probity exec -- sh -c 'echo made > made && mkdir -p new/deep && echo x > new/deep/file && mv new moved &&
  git -c user.name=x -c user.email=x@y commit -q --allow-empty -m inside && git log --format=%s -n 1'; code exec
$probity exec -- sh -c 'echo evil > .git/hooks/pre-commit' 2>/dev/null; code hook
$probity exec -- sh -c 'echo evil >> .git/config' 2>/dev/null; code config
$probity exec -- sh -c 'cat /scratch/outside' 2>/dev/null; code outside
$probity exec -- sh -c 'echo > /scratch/outside' 2>/dev/null; code write
$probity exec -- sh -c 'cat /proc/1/environ' >/dev/null 2>&1; code environ
$probity exec -- sh -c 'kill -0 1' 2>/dev/null; code kill
$probity exec -- python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>/dev/null; code named
$probity exec -- python3 -c 'import socket; a, b = socket.socketpair(); a.send(b"x"); s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.create_connection(s.getsockname())'; code open
ls made moved/deep/file .git/hooks/pre-commit 2>/dev/null
$probity review --agent replay:/given/told --no-history --output /scratch/review >/scratch/said 2>&1; code review
grep '^Score' /scratch/said
cat /scratch/review/review.json | python3 -c 'import json, sys; page = json.load(sys.stdin); print(page["isolation"]["tests"].split(":")[0], [len(page[key]) for key in ("proven_issues", "observations", "discarded")])'
"#;

fn works_inside(server: &Server, named: &str) {
    let given = directory(&[]);
    let at = |name: &str| given.path().join(name);
    let repo = repository();
    copy(repo.path(), &at("repo"));
    fs::write(at("told"), findings().to_string()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_probity"), at("probity")).unwrap();
    let readable = Command::new("chmod").args(["-R", "a+rX"]).arg(given.path()).status().unwrap();
    assert!(readable.success());
    let mut wrong = Vec::new();
    for (name, more) in CONTEXTS {
        let share = format!("{}:/given:ro", given.path().display());
        let mut arguments =
            vec!["run", "--rm", "--network=none", "-v", "/usr:/usr:ro", "-v", &share];
        arguments.extend(["--tmpfs", "/scratch:mode=1777,exec"]);
        arguments.extend(more);
        arguments.extend([IMAGE, "sh", "-c", SCRIPT]);
        let output = Command::new(&server.client).args(&arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        if told != EXPECTED.replace("NAMED", named) {
            wrong.push(format!("{name}:\n{told}\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

const EXPECTED: &str = "\
Ready: landlock sandboxes agents and tests.
inside
exec: 0
hook: 2
config: 2
outside: 1
write: 2
environ: 1
kill: 1
named: NAMED
open: 0
made
moved/deep/file
review: 1
Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7, but 1 proven issue is high or above.
landlock [1, 1, 1]
";

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}
