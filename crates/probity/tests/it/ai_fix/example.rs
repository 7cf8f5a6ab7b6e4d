//! The example of the guide: the recorded agent beside it makes a good two-stage file of it.

use std::{fs, path::Path};

use crate::binary::{directory, probity};

fn example() -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/go");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    directory(&[
        ("examples/go/Dockerfile", &read("Dockerfile")),
        ("examples/go/.tally.toml", &read(".tally.toml")),
        ("examples/go/agent.ndjson", &read("agent.ndjson")),
        ("examples/go/bad.ndjson", &read("agent-without-entrypoint.ndjson")),
    ])
}

const ARGS: [&str; 6] = [
    "check",
    "--fix",
    "--fix-unsafe",
    "--fix-rule",
    "tally/prefer-multi-stage-build",
    "examples/go/Dockerfile",
];

#[test]
fn the_recorded_agent_makes_two_stages_of_it() {
    let dir = example();
    let output = probity().dir(&dir).args(ARGS).run().code(0);
    let text = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    assert_eq!(text.matches("\nFROM ").count(), 2, "{text}");
    assert!(text.contains("COPY --from=build /usr/local/bin/orders"), "{text}");
    assert!(text.contains("ENTRYPOINT [\"/usr/local/bin/orders\"]"), "{text}");
    assert!(output.stderr.contains(": applied; asked replay of agent.ndjson"), "{}", output.stderr);
}

#[test]
fn an_agent_that_drops_the_entrypoint_changes_nothing_and_the_reason_is_on_screen() {
    let dir = example();
    let before = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    let run = probity().dir(&dir).args(ARGS).env("TALLY_AI_AGENT", "replay:examples/go/bad.ndjson");
    let output = run.args(["--fail-level", "info"]).run().code(1);
    let after = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    assert_eq!(before, after);
    let says = "runtime-invariants: ENTRYPOINT of the final stage must stay as it was";
    assert!(output.stderr.contains(says), "{}", output.stderr);
    assert!(output.stdout.contains("tally/prefer-multi-stage-build"), "{}", output.stdout);
    // Each reason has a line of its own.
    let rounds = output.stderr.lines().filter_map(|line| line.strip_prefix("note:   "));
    let rounds: Vec<&str> = rounds.map(|line| line.split(" must ").next().unwrap()).collect();
    assert_eq!(
        rounds,
        [
            "round 1, validation-failed: runtime-invariants: ENTRYPOINT of the final stage",
            "round 2, validation-failed: runtime-invariants: ENTRYPOINT of the final stage",
        ]
    );
}

/// The commands of the section `Try it`, as a reader types them.
fn tutorial() -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ai-fixes.md");
    let text = fs::read_to_string(guide).unwrap().replace("\\\n", " ");
    let section = text.split("## Try it").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_tutorial_works_as_written_and_twice_in_a_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/go");
    let bad = fs::read_to_string(root.join("agent-without-entrypoint.ndjson")).unwrap();
    let dir = example();
    fs::write(dir.path().join("examples/go/agent-without-entrypoint.ndjson"), bad).unwrap();
    let before = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    let commands = tutorial();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let run = |line: &str| {
        let mut words = line.split_whitespace().peekable();
        let mut run = probity().dir(&dir);
        while let Some((name, value)) =
            words.next_if(|it| it.contains('=')).and_then(|it| it.split_once('='))
        {
            run = run.env(name, value);
        }
        assert_eq!(words.next(), Some("probity"), "{line}");
        run.args(words).run()
    };
    let mut rounds = Vec::new();
    for _ in 0..2 {
        let (good, bad) = (run(&commands[0]), run(&commands[1]));
        assert!(
            good.stdout.contains("+COPY --from=build /usr/local/bin/orders"),
            "{}",
            good.stdout
        );
        assert!(!bad.stdout.contains("\n+FROM "), "{}", bad.stdout);
        assert!(bad.stderr.contains("runtime-invariants: ENTRYPOINT"), "{}", bad.stderr);
        rounds.push((good.stdout, bad.stdout));
    }
    assert_eq!(rounds[0], rounds[1], "the second time differs");
    let after = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    assert_eq!(before, after);
}
