//! `probity.toml`, the settings in force, and the way there from the files of other tools.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{directory, named, probity};

const DOCKERFILE: &str = "FROM ubuntu AS Bad\nMAINTAINER me\nRUN cd /tmp && sudo apt-get update\n\
                          RUN apt-get install -y curl\n# hadolint ignore=DL3025\nCMD echo hi\n";

/// The value of every setting in force, without where it comes from.
fn in_force(dir: &Path) -> BTreeMap<String, Value> {
    let output = probity().dir(dir).args(["config", "--format", "json"]).run().code(0);
    let page: Value = serde_json::from_str(&output.stdout).unwrap();
    let settings = page["settings"].as_object().unwrap().clone();
    settings.into_iter().map(|(key, said)| (key, said["value"].clone())).collect()
}

fn findings(dir: &Path) -> (Option<i32>, String) {
    let output = probity().dir(dir).args(["check"]).run();
    (output.code, output.stdout)
}

const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        "tally's output and rules",
        &[(
            ".tally.toml",
            "unsafe-fixes = true\n[output]\nformat = \"gnu\"\nfail-level = \"error\"\n[rules]\n\
             include = [\"hadolint/*\"]\nexclude = [\"DL3008\", \"buildkit/StageNameCasing\"]\n\
             [rules.tally.max-lines]\nmax = 2\nskip-comments = false\nseverity = \"error\"\n\
             [rules.hadolint.DL3006]\nexclude.paths = [\"x/**\"]\n[inline-directives]\n\
             require-reason = true\n",
        )],
    ),
    (
        "tally's AI settings",
        &[(
            "tally.toml",
            "[ai]\nenabled = false\nagent = \"claude\"\ntimeout = \"2m\"\nmax-rounds = 3\n\
             secrets-policy = \"deny\"\n[rules.tally.\"labels/prefer-grouped\"]\nmin-labels = 5\n",
        )],
    ),
    (
        "AI settings that a repository's probity.toml may not have",
        &[(
            ".tally.toml",
            "[output]\nformat = \"json\"\n[ai]\ncommand = [\"my-agent\"]\nsandbox = \"bwrap\"\n\
             timeout = \"9s\"\n[ai.agents.x]\ncommand = [\"y\"]\n",
        )],
    ),
    (
        "hadolint's file",
        &[(
            ".hadolint.yaml",
            "failure-threshold: error\nformat: json\nignored: [DL3006, DL3008]\noverride:\n  \
             error: [DL3003]\n  style: [DL4000]\ntrustedRegistries: [docker.io]\n\
             label-schema: {a: url, b: text}\nstrict-labels: true\ndisable-ignore-pragma: true\n",
        )],
    ),
    (
        "containment that only tightens",
        &[
            (
                ".containai/config.toml",
                "[network]\nmode = \"allowlist\"\nallow = [\"a.test\"]\n[container]\nmemory = \"1g\"\n\
                 cpus = 1.5\n[agent]\ndefault = \"gemini\"\n[ssh]\nx = 1\n",
            ),
            (".tally.toml", "[output]\nshow-source = false\n"),
        ],
    ),
];

#[test]
fn a_migrated_file_means_what_the_files_before_it_meant() {
    for (case, files) in CASES {
        let files: Vec<_> =
            files.iter().copied().chain([("Dockerfile", DOCKERFILE), (".git/HEAD", "x")]).collect();
        let dir = directory(&files);
        let (before, found) = (in_force(dir.path()), findings(dir.path()));
        let output = probity().dir(&dir).args(["config", "migrate"]).run().code(0);
        assert!(output.stdout.starts_with("wrote probity.toml from "), "{}", output.stdout);
        assert_eq!(in_force(dir.path()), before, "{case}");
        assert_eq!(findings(dir.path()), found, "{case}");
        if !output.stderr.contains("stay there") {
            // Then the other files are not needed any more.
            for (name, _) in
                files.iter().filter(|(name, _)| name.starts_with('.') && *name != ".git/HEAD")
            {
                fs::remove_file(dir.path().join(name)).unwrap();
            }
            assert_eq!(in_force(dir.path()), before, "{case}, alone");
            assert_eq!(findings(dir.path()), found, "{case}, alone");
        }
        let text = fs::read_to_string(dir.path().join("probity.toml")).unwrap();
        let again = probity().dir(&dir).args(["config", "migrate"]).run().code(2);
        let refusal = "error: probity.toml exists already\n  \
                       help: add --force to replace it, or name another with --output\n";
        assert_eq!(again.stderr, refusal, "{case}");
        assert_eq!(fs::read_to_string(dir.path().join("probity.toml")).unwrap(), text);
    }
}

#[test]
fn a_migration_says_what_it_leaves_and_why() {
    let dir = directory(&[
        (
            ".tally.toml",
            "[rules]\nexclude = [\"DL3006\", \"DL9999\"]\n[ai]\ncommand = [\"evil\"]\n",
        ),
        (".hadolint.yaml", "ignored: [DL3000]\n"),
        (".containai/config.toml", "[env]\nimport = [\"TOKEN\"]\n"),
        ("trix.toml", "x = 1\n"),
        ("review.yml", "x: 1\n"),
    ]);
    let output = probity().dir(&dir).args(["config", "migrate", "--dry-run"]).run().code(0);
    insta::assert_snapshot!(output.stdout, @r###"
[check.rules]
exclude = ["DL3006"]
"###);
    insta::assert_snapshot!(output.stderr, @r###"
warning: .hadolint.yaml: not read beside .tally.toml, as `check` reads only one of them
warning: .tally.toml:2: no rule has the name `DL9999`
warning: .tally.toml:4: `ai.command = ["evil"]` is not moved: a repository's file may not set this key; set it in your own configuration file
warning: .tally.toml: the settings of [ai] stay there, since a repository's probity.toml may not have all of them
warning: .containai/config.toml:2: `env.import = ["TOKEN"]` is not moved: a repository's file may not set this key; set it in your own configuration file
warning: .containai/config.toml: the settings of [containment] stay there, since a repository's probity.toml may not have all of them
warning: trix.toml: describes the project and has no settings; `probity audit` still reads it
warning: review.yml: has weights, categories and paths, which have no keys; pass it with `probity review --config review.yml`
"###);
    assert!(!dir.path().join("probity.toml").exists());
    let empty = directory(&[("Dockerfile", DOCKERFILE)]);
    let output = probity().dir(&empty).args(["config", "migrate"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: no file here has settings that probity.toml can contain
      help: run it in the directory of .tally.toml, tally.toml, .hadolint.yaml and .containai/config.toml
    ");
}

#[test]
fn the_users_own_file_may_have_what_a_repositorys_may_not() {
    let home = tempfile::tempdir().unwrap();
    let users = home.path().join("probity/probity.toml");
    let dir = directory(&[(
        ".tally.toml",
        "[ai]\ncommand = [\"mine\", \"--acp\"]\nsandbox = \"bwrap\"\n",
    )]);
    let migrate = probity().dir(&dir).env("XDG_CONFIG_HOME", home.path().to_str().unwrap()).args([
        "config",
        "migrate",
        "--output",
        users.to_str().unwrap(),
    ]);
    migrate.run().code(0);
    assert_eq!(
        fs::read_to_string(&users).unwrap(),
        "[ai]\ncommand = [\"mine\", \"--acp\"]\nsandbox = \"bwrap\"\n"
    );
    fs::remove_file(dir.path().join(".tally.toml")).unwrap();
    let shown = |run: crate::binary::Run| {
        let run = run.dir(&dir).env("XDG_CONFIG_HOME", home.path().to_str().unwrap());
        run.args(["check", "--print-config", "Dockerfile"]).run().code(0).stdout
    };
    let line = format!("sandbox = \"bwrap\"  # from {}:3", users.display());
    assert!(shown(probity()).lines().any(|shown| shown == line), "{}", shown(probity()));
}

/// A directory with a repository's file and a user's.
fn stage(repository: &str, user: &str) -> (TempDir, TempDir) {
    let dir = directory(&[("probity.toml", repository), ("Dockerfile", DOCKERFILE), ("a.ak", "x")]);
    (dir, directory(&[("probity/probity.toml", user)]))
}

#[test]
fn the_sections_reach_their_commands() {
    let (dir, home) = stage(
        "[check.output]\nformat = \"gnu\"\n[audit]\nreport-out = \"out/report.json\"\nformat = \
         \"json\"\nstate-out = \"out/state.json\"\n[review]\nmax-findings = 1\nagent = \"codex\"\n\
         output = \"there\"\n",
        "[review]\nagent = \"replay:findings.json\"\nhistory = false\n",
    );
    let run = || probity().dir(&dir).env("XDG_CONFIG_HOME", home.path().to_str().unwrap());
    let checked = run().args(["check"]).run().code(1);
    insta::assert_snapshot!(checked.stdout, @"
    probity:Dockerfile:1:6: warning: image ubuntu has no version; write ubuntu:<tag> [hadolint/DL3006]
    probity:Dockerfile:1:16: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]
    probity:Dockerfile:2:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    probity:Dockerfile:3:16: error: do not use sudo; switch with USER, or at run time with gosu [hadolint/DL3004]
    probity:Dockerfile:3:21: info: delete the apt-get lists after installing something: rm -rf /var/lib/apt/lists/* in the RUN that installs, with the update in it too [hadolint/DL3009]
    ");
    run().args(["audit", "--provider", "scaffold"]).run().code(3);
    let report = fs::read_to_string(dir.path().join("out/report.json")).unwrap();
    serde_json::from_str::<Value>(&report).unwrap();
    assert!(dir.path().join("out/state.json").exists());
    // Flags win over the file.
    let flags = ["--format", "markdown", "--report-out", "flag.md", "--provider", "scaffold"];
    run().args(["audit"]).args(flags).run().code(3);
    assert!(dir.path().join("flag.md").exists());
    let output = run().env("PROBITY_AUDIT__PROVIDER", "openai").args(["audit"]).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    error: Missing API key environment variable 'OPENAI_API_KEY'. Set it before running with --provider openai.
      help: export OPENAI_API_KEY=…, or name another variable with --api-key-env
    ");
    // A repository names an agent over the user's, but does not lower the number of findings.
    let shown = run().args(["config", "--format", "json"]).run().code(0);
    let page: Value = serde_json::from_str(&shown.stdout).unwrap();
    let said = |key: &str| {
        (page["settings"][key]["value"].clone(), page["settings"][key]["origin"].clone())
    };
    assert_eq!(said("review.agent"), ("codex".into(), "probity.toml:9".into()));
    assert_eq!(said("review.max-findings"), (50.into(), "default".into()));
    assert_eq!(said("review.output"), ("there".into(), "probity.toml:10".into()));
    assert_eq!(said("review.history").0, false);
    insta::assert_snapshot!(shown.stderr, @"warning: probity.toml:8: `review.max-findings = 1` is ignored: a repository's file may only tighten this key, which is 50 by default; set it with --max-findings, PROBITY_REVIEW__MAX_FINDINGS or in your own configuration file");
}

#[test]
fn a_repository_starts_no_program_of_its_own() {
    let evil = "[ai]\nenabled = true\ncommand = [\"sh\", \"-c\", \"touch pwned\"]\nsandbox = \
                \"none\"\nagent = \"acp:touch pwned\"\n[ai.agents.x]\ncommand = [\"touch\", \
                \"pwned\"]\n[audit]\nprovider = \"acp:touch pwned\"\n[review]\nagent = \
                \"cmd:touch pwned\"\n";
    let image = "FROM golang:1.22\nWORKDIR /src\nCOPY . .\nRUN apt-get update && apt-get install -y \
                 gcc make && make build\nCMD [\"/src/app\"]\n";
    let dir = directory(&[("probity.toml", evil), ("Dockerfile", image), ("a.ak", "x")]);
    let run = |args: &[&str]| probity().dir(&dir).args(args).run();
    let output = run(&["check", "--fix", "--fix-unsafe"]);
    insta::assert_snapshot!(output.stderr, @r#"
    warning: probity.toml:2: `ai.enabled = true` is ignored: a repository's file may only tighten this key, which is false by default; set it with --ai, PROBITY_AI__ENABLED or in your own configuration file
    warning: probity.toml:3: `ai.command = ["sh", "-c", "touch pwned"]` is ignored: a repository's file may not set this key; set it with --acp-command, PROBITY_AI__COMMAND or in your own configuration file
    warning: probity.toml:4: `ai.sandbox = "none"` is ignored: a repository's file may not set this key; set it with --ai-sandbox, PROBITY_AI__SANDBOX or in your own configuration file
    warning: probity.toml:5: `ai.agent = "acp:touch pwned"` is ignored: a repository's file may only name a known agent here; set it with PROBITY_AI__AGENT or in your own configuration file
    warning: probity.toml:7: [ai.agents.x] is ignored: a repository's file may not set it; set it in your own configuration file
    Fixed 1 issue in 1 file
    "#);
    run(&["audit"]).code(0);
    let output = run(&["review"]);
    insta::assert_snapshot!(output.stderr, @r#"
    warning: probity.toml:11: `review.agent = "cmd:touch pwned"` is ignored: a repository's file may only name a known agent here; set it with --agent, PROBITY_REVIEW__AGENT or in your own configuration file
    no review: no file to review: no file matches `include` (**/*.go, **/*.rs, **/*.py and 20 more), or `exclude` removes it
    help: check --paths or REVIEW_PATHS, and `include` and `exclude` in review.yml; `probity review -v` prints all patterns
    note: this is not a git repository, so the review has no commit
    "#);
    assert!(!dir.path().join("pwned").exists());
}

#[test]
fn other_names_never_read_probity_toml() {
    let (dir, _) = stage("[check.output]\nformat = \"gnu\"\nfail-level = \"none\"\n", "");
    let output = named("tally").dir(&dir).args(["lint"]).run().code(1);
    assert!(!output.stdout.starts_with("probity:"), "{}", output.stdout);
    let broken = directory(&[("probity.toml", "broken"), ("Dockerfile", DOCKERFILE)]);
    named("tally").dir(&broken).args(["lint"]).run().code(1);
    named("hadolint").dir(&broken).args(["Dockerfile"]).run().code(1);
    let output = probity().dir(&broken).args(["check"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: probity.toml:1:7: not valid TOML: key with no value, expected `=`
      1 | broken
        |       ^
      help: fix it; then `probity config` shows every key and its value
    ");
    let output = probity().dir(&broken).args(["audit"]).run();
    insta::assert_snapshot!(output.stderr, @"
    error: probity.toml:1:7: not valid TOML: key with no value, expected `=`
      1 | broken
        |       ^
      help: fix it; then `probity config` shows every key and its value
    ");
}

#[test]
fn the_schemas_are_the_committed_ones_and_take_the_example_of_the_guide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let schema = probity().args(["config", "schema"]).run().code(0).stdout;
    let committed = fs::read_to_string(root.join("docs/schema/probity.schema.json")).unwrap();
    assert_eq!(schema, committed, "run `cargo xtask docs`");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let guide = fs::read_to_string(root.join("docs/configuration.md")).unwrap();
    let example = guide.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let table: toml::Table = toml::from_str(example).unwrap();
    assert!(validator.is_valid(&serde_json::to_value(table).unwrap()), "{example}");
    let dir = directory(&[("probity.toml", example)]);
    probity().dir(&dir).args(["config"]).run().code(0);
}

/// Every variable sets a key that `probity.toml` accepts, or has the flag that it stands for.
#[test]
fn the_variables_page_lists_only_keys_and_flags_that_exist() {
    let schema = probity().args(["config", "schema"]).run().code(0).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let help = probity().args(["check", "--help"]).run().code(0).stdout;
    let page = probity().args(["config", "variables", "--markdown"]).run().code(0).stdout;
    let (settings, _) = page.split_once("## Other variables").unwrap();
    let mut flags = BTreeSet::new();
    for row in settings.lines().filter(|line| line.starts_with("| `")) {
        let setting = row.split('`').nth(3).unwrap();
        if setting.starts_with("--") {
            assert!(help.contains(&format!("{setting} ")), "{row}");
            flags.insert(setting);
            continue;
        }
        let pointer = setting.replace('.', "/properties/");
        assert!(schema.pointer(&format!("/properties/{pointer}")).is_some(), "{row}");
    }
    let expected = ["--context", "--exclude", "--fix", "--fix-level", "--fix-rule"];
    assert_eq!(flags.into_iter().collect::<Vec<_>>(), expected);
}

/// A link that a repository brings must not lead a report to another file of the user's.
#[test]
fn a_repositorys_report_is_not_written_through_a_link_or_into_git() {
    for (file, text) in [
        ("probity.toml", "[check.output]\npath = 'report'\n"),
        ("probity.toml", "[check.output]\npath = 'linked/report'\n"),
        ("probity.toml", "[check.output]\npath = '.git/hooks/pre-commit'\n"),
        ("probity.toml", "[check.output]\npath = '.GIT/config'\n"),
        (".tally.toml", "[output]\npath = 'report'\n"),
        (".tally.toml", "[output]\npath = 'linked/report'\n"),
    ] {
        let users = directory(&[("mine", "mine")]);
        let dir = directory(&[("Dockerfile", DOCKERFILE), (file, text), (".git/config", "")]);
        std::os::unix::fs::symlink(users.path().join("mine"), dir.path().join("report")).unwrap();
        std::os::unix::fs::symlink(users.path(), dir.path().join("linked")).unwrap();
        let output = probity().dir(&dir).args(["check"]).run();
        let left = fs::read_to_string(users.path().join("mine")).unwrap();
        assert_eq!(left, "mine", "{text}: {}", output.stderr);
        assert_eq!(fs::read_dir(users.path()).unwrap().count(), 1, "{text}");
        assert_eq!(fs::read_to_string(dir.path().join(".git/config")).unwrap(), "", "{text}");
        assert!(!dir.path().join(".git/hooks").exists(), "{text}");
        // Named by the user, a link is the user's own affair.
        probity().dir(&dir).args(["check", "--output", "report"]).run();
        assert_ne!(fs::read_to_string(users.path().join("mine")).unwrap(), "mine", "{text}");
    }
}

/// The default directory may be a link of the repository, too.
#[test]
fn a_review_is_not_written_through_a_link_of_the_repository() {
    let users = directory(&[("mine", "mine")]);
    let dir = directory(&[("main.go", "package main\n"), ("findings.json", "[]")]);
    std::os::unix::fs::symlink(users.path(), dir.path().join("review")).unwrap();
    let run = probity().dir(&dir).args(["review", "--agent", "replay:findings.json"]);
    let output = run.args(["--no-history"]).run();
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert_eq!(fs::read_dir(users.path()).unwrap().count(), 1, "{}", output.stderr);
}
