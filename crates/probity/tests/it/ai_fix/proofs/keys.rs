//! Every key `ai.proof*` does what it says: the engine's client writes down how it is called.

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt as _};

use super::*;

const UP: &str = "#!/bin/sh\necho up\nwhile :; do sleep 1; done\n";

/// A run with settings of `[ai]`, and its effect.
struct Row {
    settings: &'static str,
    /// What the image starts.
    app: &'static str,
    base: &'static str,
    /// None if no experiment was asked for.
    level: Option<&'static str>,
    builds: usize,
    /// Options of every build, and options of none.
    with: &'static [&'static str],
    without: &'static [&'static str],
    /// What the report has, besides.
    report: &'static str,
}

const PLAIN: Row = Row {
    settings: "",
    app: UP,
    base: "golang:1.22",
    level: Some("build"),
    builds: 2,
    with: &["--network=none"],
    // The proof's own name for its cache mounts is a build argument too.
    without: &["--platform", "--target", "--build-arg\0WORD", "--build-arg\0OTHER"],
    report: "",
};

const ABSENT: &str = "localhost:1/absent:1";
/// It fails long after the shorter watch, and long before the longer one.
const FAILS_LATE: &str = "#!/bin/sh\nsleep 8\nexit 3\n";

const ROWS: &[Row] = &[
    Row { settings: "proof = \"static\"", level: None, builds: 0, ..PLAIN },
    Row {
        settings: "proof = \"run\"\nproof-seconds = 1",
        app: FAILS_LATE,
        level: Some("run"),
        ..PLAIN
    },
    Row {
        settings: "proof = \"run\"\nproof-seconds = 60",
        app: FAILS_LATE,
        report: "the original ends with exit code 3",
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"\nproof-required = \"run\"",
        report: "`ai.proof-required = \\\"run\\\"`",
        ..PLAIN
    },
    Row {
        settings: "proof = \"run\"\nproof-seconds = 1\nproof-command = [\"cat\", \"/usr/local/bin/app\"]",
        level: Some("run"),
        report: "ai.proof-command succeeds in both",
        ..PLAIN
    },
    Row {
        settings: "proof = \"run\"\nproof-seconds = 1\nproof-command = [\"cat\", \"/absent\"]",
        report: "`ai.proof-command` fails in the original",
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"",
        base: ABSENT,
        level: Some("static"),
        builds: 0,
        report: "ai.proof-pull",
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"\nproof-pull = true",
        base: ABSENT,
        level: Some("static"),
        builds: 0,
        report: "could not be pulled",
        ..PLAIN
    },
    Row {
        // The engine of the tests has no network, and this build asks for one.
        settings: "proof = \"build\"\nproof-network = true",
        level: Some("static"),
        builds: 1,
        report: "network bridge not found",
        with: &[],
        without: &["--network"],
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"\nproof-timeout = \"1s\"",
        app: "slow",
        level: Some("static"),
        builds: 1,
        report: "took longer than 1 seconds; `ai.proof-timeout`",
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"\nproof-build-args = [\"WORD=a b\", \"OTHER=c\"]\n\
                   proof-target = \"app\"\nproof-platform = \"linux/amd64\"",
        with: &[
            "--build-arg\0WORD=a b\0",
            "--build-arg\0OTHER=c\0",
            "--target=app\0",
            "--platform=linux/amd64\0",
        ],
        without: &[],
        ..PLAIN
    },
    Row {
        settings: "proof = \"build\"\nproof-disk = \"1k\"",
        level: Some("static"),
        builds: 1,
        report: "`ai.proof-disk` allows",
        ..PLAIN
    },
];

#[test]
fn each_proof_key_is_honored() {
    let server = Server::docker();
    images(|words| server.says(words).0);
    let client = directory(&[]);
    for row in ROWS {
        let calls = client.path().join("calls");
        fs::write(&calls, "").unwrap();
        recorder(&server, client.path());
        let original = ONE_STAGE.replace("golang:1.22", &format!("{} AS app", row.base));
        let proposal = two_stages("debian:12-slim AS app").replace("golang:1.22", row.base);
        let stage = Stage::new(&original, &turn(&patch(&original, &proposal)));
        let files = [
            ("app.sh", if row.app == "slow" { UP } else { row.app }),
            (".dockerignore", "agent.ndjson\nDockerfile\nhome*\n"),
        ];
        fs::create_dir(stage.path().join("home")).unwrap();
        for (name, text) in files {
            fs::write(stage.path().join(name), text).unwrap();
            let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
            fs::File::open(stage.path().join(name)).unwrap().set_modified(hour).unwrap();
        }
        if row.app == "slow" {
            fs::write(stage.path().join("slow"), "").unwrap();
        }
        let path = format!("{}:{}", client.path().display(), std::env::var("PATH").unwrap());
        let run = stage.fix(MULTI_STAGE).env("PATH", &path);
        let run = run.env("XDG_CONFIG_HOME", stage.path().join("home").to_str().unwrap());
        let own = stage.path().join("home/probity");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("probity.toml"), format!("[ai]\n{}\n", row.settings)).unwrap();
        let output = run.run();

        let (settings, report) = (row.settings, outcome(&output).to_string());
        let proof = outcome(&output)["proof"]["level"].as_str().map(str::to_owned);
        assert_eq!(proof.as_deref(), row.level, "{settings}: {report} {}", output.stderr);
        assert!(report.contains(row.report), "{settings}: {report}");
        let calls = fs::read_to_string(&calls).unwrap();
        let builds: Vec<&str> = calls.lines().filter(|call| call.starts_with("build\0")).collect();
        assert_eq!(builds.len(), row.builds, "{settings}: {builds:?}");
        for build in builds {
            assert!(row.with.iter().all(|option| build.contains(option)), "{settings}: {build}");
            assert!(
                !row.without.iter().any(|option| build.contains(option)),
                "{settings}: {build}"
            );
        }
        wait_for("the build runs on", || !is_building());
    }
}

/// Every key has a row.
#[test]
fn the_rows_have_every_proof_key() {
    let shown = probity().args(["config", "--format", "json"]).run().code(0).stdout;
    let keys: BTreeSet<String> = shown
        .split(['"', ' ', '.'])
        .filter(|word| word.starts_with("proof"))
        .map(str::to_owned)
        .collect();
    let rows: BTreeSet<String> = ROWS
        .iter()
        .flat_map(|row| row.settings.lines())
        .filter_map(|line| line.split_once(" = ").map(|(key, _)| key.to_owned()))
        .collect();
    // These are keys of `[review]`.
    let others = ["proof-level"].map(str::to_owned);
    let missing: Vec<_> =
        keys.iter().filter(|key| !rows.contains(*key) && !others.contains(key)).collect();
    assert!(keys.len() > 10, "{keys:?}");
    assert!(missing.is_empty(), "{missing:?}");
}

/// A client that writes each call on a line, its words ended by a zero byte.
fn recorder(server: &Server, directory: &Path) {
    let client = directory.join("docker");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\0' \"$@\" >> '{0}/calls'\necho >> '{0}/calls'\n\
         exec '{1}' \"$@\"\n",
        directory.display(),
        server.client.display()
    );
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
}
