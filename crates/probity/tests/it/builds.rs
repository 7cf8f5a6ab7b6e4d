//! Compose and Bake files on the command line.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{named, probity};

const COMPOSE: &str = "\
services:
  api:
    build:
      context: api
      target: runtime
      args: {VERSION: '1', VERSON: '2'}
      additional_contexts: [base=../base]
  worker:
    build:
      context: api
      target: worker
  inline:
    build:
      dockerfile_inline: |
        FROM alpine:3.20
        # a comment
        RUN cd /srv
        MAINTAINER somebody
  database:
    image: postgres:16
";

const DOCKERFILE: &str = "\
FROM base AS runtime
ARG VERSION
COPY lost.txt /
FROM debian:12 AS worker
RUN true
FROM debian:12
CMD [\"true\"]
";

fn stage() -> TempDir {
    let stage = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("compose.yaml", COMPOSE),
        ("api/Dockerfile", DOCKERFILE),
        ("api/.dockerignore", "lost.txt\n"),
        ("web/Dockerfile", "FROM debian\n"),
        (
            "docker-bake.hcl",
            "target \"web\" {\n  context = \"web\"\n  target = \"final\"\n}\n\
             target \"gone\" {\n  dockerfile = \"missing\"\n}\n",
        ),
    ] {
        let path = stage.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    stage
}

/// File, line, column and rule of every finding.
fn findings(stdout: &str) -> Vec<(String, i64, i64, String)> {
    let report: Value = serde_json::from_str(stdout).unwrap();
    let mut found = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for violation in file["violations"].as_array().unwrap() {
            let start = &violation["location"]["start"];
            found.push((
                file["file"].as_str().unwrap().to_owned(),
                start["line"].as_i64().unwrap(),
                start["column"].as_i64().unwrap(),
                violation["rule"].as_str().unwrap().to_owned(),
            ));
        }
    }
    found
}

#[test]
fn each_dockerfile_is_checked_once_with_the_union_of_its_uses() {
    let stage = stage();
    let rules = "probity/unused-build-argument,probity/unknown-build-target,hadolint/DL3006,\
                 tally/no-unreachable-stages,buildkit/CopyIgnoredFile,hadolint/DL3003,\
                 buildkit/MaintainerDeprecated";
    let run = probity().args(["check", "compose.yaml", "--format", "json", "--select", rules]);
    let output = run.dir(stage.path()).run().code(1);
    let found = findings(&output.stdout);
    let expected = [
        // `base` is a context and `runtime` and `worker` are built, so nothing is said of them.
        ("api/Dockerfile", -1, -1, "probity/unused-build-argument"),
        ("api/Dockerfile", 3, 5, "buildkit/CopyIgnoredFile"),
        ("compose.yaml", 17, 12, "hadolint/DL3003"),
        ("compose.yaml", 18, 8, "buildkit/MaintainerDeprecated"),
    ];
    let expected =
        expected.map(|(file, line, column, rule)| (file.to_owned(), line, column, rule.to_owned()));
    assert_eq!(found, expected, "{}", output.stderr);
    // The same Dockerfile without the description.
    let run = probity().args(["check", "api/Dockerfile", "--format", "json", "--select", rules]);
    let output = run.dir(stage.path()).run().code(1);
    let rules: Vec<String> =
        findings(&output.stdout).into_iter().map(|(_, _, _, rule)| rule).collect();
    assert_eq!(
        rules,
        [
            "hadolint/DL3006",
            "tally/no-unreachable-stages",
            "buildkit/CopyIgnoredFile",
            "tally/no-unreachable-stages",
        ]
    );
}

/// Which line and which build each finding belongs to.
#[test]
fn arguments_and_targets_of_builds_decide_what_is_wrong() {
    let stage = tempfile::tempdir().unwrap();
    let dockerfile = "ARG BASE=node:22\nFROM --platform=$BUILDPLATFORM ${BASE} AS app\nCMD a\n\
                      FROM node:22 AS web\nCMD b\n";
    fs::write(stage.path().join("Dockerfile"), dockerfile).unwrap();
    let bake = |args: &str, target: &str| {
        format!("target \"{target}\" {{\n  target = \"{target}\"\n  args = {args}\n}}\n")
    };
    let check = |texts: [String; 2], file: &str| -> Vec<String> {
        fs::write(stage.path().join("docker-bake.hcl"), texts.concat()).unwrap();
        let rules = "hadolint/DL3007,probity/final-stage-on-build-platform";
        let run = probity().args(["check", file, "--format", "json", "--select", rules]);
        let output = run.dir(stage.path()).run();
        let report: Value = serde_json::from_str(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap();
        let found = files.iter().flat_map(|file| file["violations"].as_array().unwrap());
        found
            .map(|finding| {
                let message = finding["message"].as_str().unwrap();
                let build = message.rsplit_once(" (build: ").map_or("all)", |(_, build)| build);
                format!("{} {} {build}", finding["location"]["start"]["line"], finding["rule"])
            })
            .collect()
    };
    let none = || [String::new(), String::new()];
    assert_eq!(check(none(), "Dockerfile"), <[&str; 0]>::default());
    let both = || [bake("{BASE = \"node:latest\"}", "app"), bake("{}", "web")];
    assert_eq!(
        check(both(), "docker-bake.hcl"),
        ["2 \"probity/final-stage-on-build-platform\" app)", "2 \"hadolint/DL3007\" app)"]
    );
    // `web` does not build the stage of line 2, which has its default then.
    let one = || [bake("{BASE = \"node:latest\"}", "web"), String::new()];
    assert_eq!(check(one(), "docker-bake.hcl"), <[&str; 0]>::default());
}

#[test]
fn json_names_the_builds_of_a_file() {
    let stage = stage();
    let rules = "probity/unused-build-argument,hadolint/DL3003,hadolint/DL3006";
    let run = |args: &[&str]| -> Value {
        let run =
            probity().dir(stage.path()).args(["check", "--format", "json", "--select", rules]);
        serde_json::from_str(&run.args(args).run().stdout).unwrap()
    };
    let build =
        |kind: &str, file: &str, name: &str| json!({"kind": kind, "file": file, "name": name});
    let report = run(&["compose.yaml"]);
    let [api, inline] = [0, 1].map(|index| &report["files"][index]);
    let both = ["api", "worker"].map(|name| build("compose", "compose.yaml", name));
    assert_eq!(api["invocations"], json!(both));
    assert_eq!(api["violations"][0].get("invocation"), None, "two builds have it");
    let own = build("compose", "compose.yaml", "inline");
    assert_eq!(inline["violations"][0]["invocation"], own);
    assert_eq!(report["invocations_scanned"], 3);
    assert_eq!(report["summary"]["invocations"], 3, "as tally counts them");
    let report = run(&["docker-bake.hcl", "--target", "web"]);
    let own = build("bake", "docker-bake.hcl", "web");
    assert_eq!(report["files"][0]["violations"][0]["invocation"], own, "{report}");
    let report = run(&["web/Dockerfile"]);
    assert_eq!(
        (report.get("invocations_scanned"), report["files"][0].get("invocations")),
        (None, None)
    );
}

#[test]
fn inline_dockerfiles_are_never_edited() {
    let stage = stage();
    let run = probity().args(["check", "compose.yaml", "--fix-unsafe", "--service", "inline"]);
    run.dir(stage.path()).run();
    assert_eq!(fs::read_to_string(stage.path().join("compose.yaml")).unwrap(), COMPOSE);
}

#[test]
fn names_choose_builds() {
    let stage = stage();
    let select = ["--select", "probity/unknown-build-target", "--format", "json"];
    let run = probity().args(["check", "docker-bake.hcl", "--target", "web"]).args(select);
    let output = run.dir(stage.path()).run().code(1);
    assert_eq!(
        findings(&output.stdout),
        [("web/Dockerfile".to_owned(), -1, -1, "probity/unknown-build-target".to_owned())]
    );
    let run = probity().args(["check", "docker-bake.hcl", "--target", "wbe"]).args(select);
    let output = run.dir(stage.path()).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot use `docker-bake.hcl`: `wbe` is not one of its targets and groups (it has: gone, web)
      help: correct the file, or pass the Dockerfile that it builds
    ");
}

#[test]
fn a_missing_dockerfile_hides_no_other_build() {
    let stage = stage();
    let select = ["--select", "hadolint/DL3006", "--format", "json"];
    let run = probity().args(["check", "docker-bake.hcl"]).args(select);
    let output = run.dir(stage.path()).run().code(2);
    assert_eq!(
        findings(&output.stdout),
        [("web/Dockerfile".to_owned(), 1, 5, "hadolint/DL3006".to_owned())]
    );
    insta::assert_snapshot!(output.stderr, @"
    error: `docker-bake.hcl`: gone: the Dockerfile `missing` does not exist
      help: correct the `context` or the `dockerfile` of this build
    ");
}

#[test]
fn a_broken_description_says_where() {
    let stage = stage();
    fs::write(stage.path().join("compose.yaml"), "services:\n  a: {}\n  a: {}\n").unwrap();
    let run = probity().args(["check", "compose.yaml", "web/Dockerfile"]);
    let output = run.dir(stage.path()).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot use `compose.yaml`: line 3: duplicate mapping key: a
      help: correct the file, or pass the Dockerfile that it builds
    ");
    insta::assert_snapshot!(output.stdout, @"
    web/Dockerfile:1:6: warning: image debian has no version; write debian:<tag> [hadolint/DL3006]
    1 | FROM debian
      |      ^^^^^^

    1 finding in 1 of 1 file: 1 warning.
    Explain: `probity explain hadolint/DL3006`.
    ");
}

#[test]
fn tally_does_not_fix_by_a_description() {
    let stage = stage();
    let run = named("tally").args(["lint", "--fix", "compose.yaml"]);
    let output = run.dir(stage.path()).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: --fix cannot be used with a Compose or Bake file
      help: name the Dockerfiles instead
    ");
}

#[test]
fn names_of_builds_without_a_file_that_describes_them_are_warned_of() {
    let stage = stage();
    let run = probity().args(["check", "--service", "api", "--target", "web", "api/Dockerfile"]);
    let stderr = run.dir(stage.path()).run().stderr;
    insta::assert_snapshot!(stderr, @"
    warning: --service has no effect without a Compose file; pass one: `probity check compose.yaml --service api`
    warning: --target has no effect without a Bake file; pass one: `probity check docker-bake.hcl --target web`
    ");
    let run = probity().args(["check", "--service", "api", "compose.yaml"]);
    let stderr = run.dir(stage.path()).run().stderr;
    assert!(!stderr.contains("has no effect"), "{stderr}");
}

#[test]
fn a_description_without_builds_has_an_empty_report() {
    let stage = stage();
    let image = "services:\n  a:\n    image: b\n";
    fs::write(stage.path().join("compose.yaml"), image).unwrap();
    for run in [probity().args(["check"]), named("tally").args(["lint"])] {
        let output = run.args(["compose.yaml"]).dir(stage.path()).run().code(0);
        assert_eq!(output.stderr.matches("describes no build").count(), 1, "{}", output.stderr);
    }
    for format in ["json", "sarif", "gitlab", "sonarqube", "checkstyle", "junit", "codeclimate"] {
        let report = stage.path().join("report");
        fs::write(&report, "of an earlier run").unwrap();
        let run = probity().args(["check", "compose.yaml", "--format", format, "-o", "report"]);
        run.dir(stage.path()).run().code(0);
        let text = fs::read_to_string(&report).unwrap();
        match format {
            "checkstyle" | "junit" => {
                assert!(text.starts_with("<?xml") && text.trim_end().ends_with('>'), "{text}");
                assert!(!text.contains("<file") && !text.contains("<testcase"), "{text}");
            }
            "codeclimate" => assert_eq!(text, ""),
            _ => drop(serde_json::from_str::<Value>(&text).expect(format)),
        }
    }
    // The configuration beside the description says where the report goes.
    fs::write(stage.path().join("probity.toml"), "[check.output]\nformat = \"json\"\n").unwrap();
    let output = probity().args(["check", "compose.yaml"]).dir(stage.path()).run().code(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&report["files"], &report["files_scanned"]), (&json!([]), &json!(0)));
}

/// What a run does not look at is not fixed.
#[test]
fn a_baseline_keeps_findings_of_builds_that_are_not_checked() {
    let stage = tempfile::tempdir().unwrap();
    let inline = |service: &str| {
        format!(
            "  {service}:\n    build:\n      dockerfile_inline: |\n        FROM {service}:latest\n"
        )
    };
    let compose = format!("services:\n{}{}", inline("one"), inline("two"));
    let dockerfile = "ARG BASE=node:22\nFROM ${BASE}\n";
    let bake = "target \"a\" { args = { BASE = \"node:latest\" } }\n\
                target \"b\" {}\ntarget \"c\" { dockerfile = \"other\" }\n";
    for (path, text) in [
        ("Dockerfile", dockerfile),
        ("other", "FROM debian:latest\n"),
        ("compose.yaml", &compose),
        ("docker-bake.hcl", bake),
    ] {
        fs::write(stage.path().join(path), text).unwrap();
    }
    let check = |args: &[&str]| {
        let run = probity().args(["check", "--select", "hadolint/DL3007"]).args(args);
        run.dir(stage.path()).run().code(0);
        fs::read_to_string(stage.path().join("baseline")).unwrap()
    };
    let all = ["compose.yaml", "docker-bake.hcl"];
    let whole = check(&[&all[..], &["--write-baseline", "baseline"]].concat());
    assert_eq!(whole.matches("DL3007").count(), 3, "{whole}");
    for chosen in [["--target", "b"], ["--target", "c"], ["--service", "one"]] {
        let file = if chosen[0] == "--target" { "docker-bake.hcl" } else { "compose.yaml" };
        assert_eq!(check(&[&chosen[..], &[file, "--baseline", "baseline"]].concat()), whole);
    }
    // What the checked builds no longer have is still removed.
    fs::write(stage.path().join("other"), "FROM debian:12\n").unwrap();
    let left = check(&["docker-bake.hcl", "--target", "c", "--baseline", "baseline"]);
    assert_eq!(left.matches("DL3007").count(), 2, "{left}");
    fs::write(stage.path().join("docker-bake.hcl"), "target \"b\" {}\n").unwrap();
    let left = check(&["docker-bake.hcl", "--baseline", "baseline"]);
    assert_eq!(left.matches("DL3007").count(), 1, "{left}");
}

/// As `docker compose` and `docker buildx bake` read them without `--file`.
#[test]
fn override_files_beside_the_default_names_are_read() {
    let stage = tempfile::tempdir().unwrap();
    let latest = |tag: &str| format!("target \"a\" {{ args = {{ TAG = \"{tag}\" }} }}\n");
    for (path, text) in [
        ("Dockerfile", "ARG TAG=3\nFROM alpine:${TAG}\n"),
        ("compose.yaml", "services:\n  a:\n    build: {context: ., args: {TAG: '3'}}\n"),
        ("compose.override.yaml", "services:\n  a:\n    build: {args: {TAG: latest}}\n"),
        ("other.yaml", "services:\n  a:\n    build: {context: ., args: {TAG: '3'}}\n"),
        ("docker-bake.hcl", &latest("3")),
        ("docker-bake.override.hcl", &latest("latest")),
    ] {
        fs::write(stage.path().join(path), text).unwrap();
    }
    let check = |files: &[&str]| {
        let run = probity().args(["check", "--select", "hadolint/DL3007", "--format", "json"]);
        let output = run.args(files).dir(stage.path()).run();
        findings(&output.stdout).len()
    };
    assert_eq!(check(&["compose.yaml"]), 1);
    assert_eq!(check(&["compose.yaml", "compose.override.yaml"]), 1);
    assert_eq!(check(&["docker-bake.hcl"]), 1);
    assert_eq!(check(&["other.yaml"]), 0);
    fs::write(stage.path().join("compose.override.yaml"), "services: [").unwrap();
    let output = probity().args(["check", "compose.yaml"]).dir(stage.path()).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot use `compose.yaml`: `compose.override.yaml`: line 1: expected mapping start
      help: correct the file, or pass the Dockerfile that it builds
    ");
}
