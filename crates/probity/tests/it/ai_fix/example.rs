//! The example of the guide: the recorded agent beside it makes a good two-stage file of it.

use std::{fs, path::Path};

use crate::binary::{directory, probity, stable};

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
    insta::assert_snapshot!(text, @r#"
    # syntax=docker/dockerfile:1

    # The orders service: one binary, one port.
    FROM golang:1.22 AS build

    WORKDIR /src

    COPY go.mod go.sum ./

    RUN --mount=type=cache,target=/go/pkg/mod go mod download

    COPY . .

    RUN --mount=type=cache,target=/go/pkg/mod \
        --mount=type=cache,target=/root/.cache/go-build \
        CGO_ENABLED=0 go build -trimpath -o /usr/local/bin/orders ./cmd/orders

    FROM gcr.io/distroless/static-debian12:nonroot

    WORKDIR /src

    COPY --from=build /usr/local/bin/orders /usr/local/bin/orders

    ENV ORDERS_LISTEN=:8080

    LABEL org.opencontainers.image.title="orders"

    EXPOSE 8080

    USER 65532:65532

    ENTRYPOINT ["/usr/local/bin/orders"]

    CMD ["serve"]
    "#);
    insta::assert_snapshot!(stable(&output.stderr), @"
    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-multi-stage-build (examples/go/Dockerfile:16): applied; asked replay of agent.ndjson, sandbox: none: a recording starts no process; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM gcr.io/distroless/static-debian12:nonroot
    note:       └── COPY build FROM golang:1.22
    note: AI fix of examples/go/Dockerfile: new image: gcr.io/distroless/static-debian12:nonroot
    ");
}

#[test]
fn an_agent_that_drops_the_entrypoint_changes_nothing_and_the_reason_is_on_screen() {
    let dir = example();
    let before = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    let run = probity().dir(&dir).args(ARGS).env("TALLY_AI_AGENT", "replay:examples/go/bad.ndjson");
    let output = run.args(["--fail-level", "info"]).run().code(1);
    let after = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    assert_eq!(before, after);
    insta::assert_snapshot!(output.stderr, @r#"
    Skipped 1 fix (1 resolve-error)
    note: AI fix tally/prefer-multi-stage-build (examples/go/Dockerfile:16): skipped (validation-failed); asked replay of bad.ndjson, sandbox: none: a recording starts no process: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    note:   round 1, validation-failed: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    note:   round 2, validation-failed: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    "#);
    insta::assert_snapshot!(output.stdout, @"
    examples/go/Dockerfile:16:19: info: This Dockerfile appears to build artifacts in a single stage; consider a multi-stage build to reduce final image size. [tally/prefer-multi-stage-build]
    16 |     CGO_ENABLED=0 go build -trimpath -o /usr/local/bin/orders ./cmd/orders
       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ AI AutoFix: convert to multi-stage build (--fix --fix-ai)

    1 finding in 1 of 1 file: 1 info.
    Explain: `probity explain tally/prefer-multi-stage-build`.
    ");
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
            words.next_if(|word| word.contains('=')).and_then(|word| word.split_once('='))
        {
            run = run.env(name, value);
        }
        assert_eq!(words.next(), Some("probity"), "{line}");
        run.args(words).run()
    };
    let mut rounds = Vec::new();
    for _ in 0..2 {
        let (good, bad) = (run(&commands[0]), run(&commands[1]));
        assert!(!bad.stdout.contains("\n+FROM "), "{}", bad.stdout);
        rounds.push((good.stdout, bad.stdout, bad.stderr));
    }
    assert_eq!(rounds[0], rounds[1], "the second time differs");
    insta::assert_snapshot!(rounds[0].0, @r#"
    --- a/examples/go/Dockerfile
    +++ b/examples/go/Dockerfile
    @@ -1,7 +1,7 @@
     # syntax=docker/dockerfile:1
     
     # The orders service: one binary, one port.
    -FROM golang:1.22
    +FROM golang:1.22 AS build
     
     WORKDIR /src
     
    @@ -15,6 +15,12 @@
         --mount=type=cache,target=/root/.cache/go-build \
         CGO_ENABLED=0 go build -trimpath -o /usr/local/bin/orders ./cmd/orders
     
    +FROM gcr.io/distroless/static-debian12:nonroot
    +
    +WORKDIR /src
    +
    +COPY --from=build /usr/local/bin/orders /usr/local/bin/orders
    +
     ENV ORDERS_LISTEN=:8080
     
     LABEL org.opencontainers.image.title="orders"
    "#);
    insta::assert_snapshot!(rounds[0].2, @r#"
    examples/go/Dockerfile:16:19: info: This Dockerfile appears to build artifacts in a single stage; consider a multi-stage build to reduce final image size. [tally/prefer-multi-stage-build]
    16 |     CGO_ENABLED=0 go build -trimpath -o /usr/local/bin/orders ./cmd/orders
       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ AI AutoFix: convert to multi-stage build (--fix --fix-ai)

    1 finding in 1 of 1 file: 1 info.
    Explain: `probity explain tally/prefer-multi-stage-build`.
    Skipped 1 fix (1 resolve-error)
    note: AI fix tally/prefer-multi-stage-build (examples/go/Dockerfile:16): skipped (validation-failed); asked replay of agent-without-entrypoint.ndjson, sandbox: none: a recording starts no process: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    note:   round 1, validation-failed: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    note:   round 2, validation-failed: runtime-invariants: ENTRYPOINT of the final stage must stay as it was: it was `ENTRYPOINT ["/usr/local/bin/orders"]`, and now is not set
    "#);
    let after = fs::read_to_string(dir.path().join("examples/go/Dockerfile")).unwrap();
    assert_eq!(before, after);
}
