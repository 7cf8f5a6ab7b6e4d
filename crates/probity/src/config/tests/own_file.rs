//! `probity.toml`: where it is found, what it replaces, and how strictly it is read.

use std::{fs, path::Path};

use super::own_file;
use crate::{
    config::{Choice, Settings, word::Word as _},
    name::Name,
};

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn settings(name: Name, root: &Path, target: &str, users: Option<&str>) -> (Settings, Vec<String>) {
    let users_file = users.map(|file| root.join(file));
    let mut configs = super::discovery::configs_of(name, root, Choice::Nearest, users_file);
    let settings = configs.for_target(Path::new(target)).unwrap();
    (settings.as_ref().clone(), configs.take_warnings())
}

#[test]
fn the_nearest_file_replaces_a_peers_file_section_by_section() {
    let tally = "output.format = 'json'\nai.timeout = '5s'\n[rules.tally.max-lines]\nmax = 3";
    for (own, name, format, seconds, has_rule) in [
        ("", Name::Probity, "json", 5, true),
        ("[check]", Name::Probity, "text", 5, false),
        ("check.output.format = 'gnu'", Name::Probity, "gnu", 5, false),
        ("[ai]", Name::Probity, "json", 90, true),
        ("ai.timeout = '7s'\n[check]", Name::Probity, "text", 7, false),
        ("[audit]", Name::Probity, "json", 5, true),
        ("check.output.format = 'gnu'", Name::Tally, "json", 5, true),
    ] {
        let root = tree(&[("probity.toml", own), ("a/.tally.toml", tally)]);
        let (settings, _) = settings(name, root.path(), "a/Dockerfile", None);
        assert_eq!(settings.check.output.format.word(), format, "{own} under {name:?}");
        assert_eq!(settings.ai.timeout.as_secs(), seconds, "{own} under {name:?}");
        assert_eq!(settings.rules.contains_key("tally/max-lines"), has_rule, "{own}");
    }
    // A mistake in a file that is replaced as a whole is nobody's business.
    let root = tree(&[("probity.toml", "[check]\n[ai]"), (".tally.toml", "broken")]);
    settings(Name::Probity, root.path(), "Dockerfile", None);
    let root = tree(&[("probity.toml", "[check]"), (".hadolint.yaml", "ignored: [DL3006]")]);
    let (replaced, _) = settings(Name::Probity, root.path(), "Dockerfile", None);
    assert!(replaced.check.rules.exclude.is_empty());
}

#[test]
fn files_are_found_upward_and_a_pyproject_needs_its_table() {
    let own = |format: &str| format!("check.output.format = '{format}'");
    let python = |format: &str| format!("[tool.probity.check.output]\nformat = '{format}'");
    let root = tree(&[
        ("probity.toml", &own("json")),
        ("pyproject.toml", &python("gnu")),
        ("a/pyproject.toml", "[project]\nname = 'x'"),
        ("a/b/pyproject.toml", &python("sarif")),
        ("c/pyproject.toml", "[tool.other]\nx = 1\nbroken"),
    ]);
    for (target, format) in
        [("x", "json"), ("a/x", "json"), ("a/b/x", "sarif"), ("a/b/c/x", "sarif"), ("c/x", "json")]
    {
        let (settings, _) = settings(Name::Probity, root.path(), target, None);
        assert_eq!(settings.check.output.format.word(), format, "{target}");
    }
    let root = tree(&[("pyproject.toml", "[tool.probity]\nchekc = 1")]);
    let mut configs =
        super::discovery::configs_of(Name::Probity, root.path(), Choice::Nearest, None);
    let error = configs.for_target(Path::new("x")).unwrap_err().to_string();
    assert_eq!(
        error,
        "pyproject.toml:2:1: unknown key `chekc` at the top; did you mean `check`? (valid keys: \
         check, ai, audit, review, containment)"
    );
}

#[test]
fn the_users_own_file_is_below_the_repositorys_and_may_say_everything() {
    let user = "[ai]\nsandbox = 'none'\nsecrets-policy = 'allow'\ntimeout = '5s'\n\
                command = ['mine']\n[check]\noutput.format = 'gnu'\n[review]\nthreshold = 2";
    let repository = "[ai]\ntimeout = '4s'\nsandbox = 'auto'\ncommand = ['evil']\n[review]\n\
                      threshold = 8";
    let root = tree(&[("user/probity.toml", user), ("work/probity.toml", repository)]);
    let (settings, warnings) =
        settings(Name::Probity, root.path(), "work/Dockerfile", Some("user/probity.toml"));
    assert_eq!(settings.ai.sandbox.word(), "none");
    assert_eq!(settings.ai.secrets_policy.word(), "allow");
    assert_eq!(settings.ai.timeout.as_secs(), 4);
    assert_eq!(settings.ai.command, Some(vec!["mine".to_owned()]));
    assert!(!settings.is_agent_of_repository, "the user's command is the user's");
    assert_eq!(settings.check.output.format.word(), "gnu");
    assert!((settings.review.threshold - 8.0).abs() < f64::EPSILON);
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    work/probity.toml:3: `ai.sandbox = "auto"` is ignored: a repository's file may not set this key; set it with --ai-sandbox, PROBITY_AI__SANDBOX or in your own configuration file
    work/probity.toml:4: `ai.command = ["evil"]` is ignored: a repository's file may not set this key; set it with --acp-command, PROBITY_AI__COMMAND or in your own configuration file
    "#);
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (text, expected) in [
        (
            "[chcek]\n",
            "probity.toml:1:2: unknown key `chcek` at the top; did you mean `check`? (valid keys: \
             check, ai, audit, review, containment)",
        ),
        (
            "[review]\ntreshold = 8\n",
            "probity.toml:2:1: unknown key `treshold` in [review]; did you mean `threshold`? (valid \
             keys: agent, model, profile, config, threshold, fail-on-critical, fail-on, paths, \
             diff-only, whole, base, database-url, history, report-only, budget, proof-level, \
             max-fix-rounds, suite-timeout, proof-timeout, runner, runners, max-findings, timeout, jobs, \
             sandbox, env, fetch-hosts, fetch-env, fetch-files, format, output)",
        ),
        (
            "[check.rules]\ninclude = [\n  'max-linse']\n",
            "probity.toml:3:3: `check.rules.include`: no rule has the name `max-linse`; did you mean \
             `max-lines`?",
        ),
        (
            "check.rules.exclude = ['hadolint/DL9999']\n",
            "probity.toml:1:24: `check.rules.exclude`: no rule has the name `hadolint/DL9999`; did \
             you mean `hadolint/DL4001`?",
        ),
        (
            "[check.rules.tally.max-linse]\nmax = 3\n",
            "probity.toml:1:20: unknown rule `tally/max-linse`; did you mean `max-lines`?",
        ),
        (
            "[check.rules.hadolint.DL9999]\nseverity = 'off'\n",
            "probity.toml:1:23: unknown rule `hadolint/DL9999`",
        ),
        (
            "output.format = 'json'\n",
            "probity.toml:1:1: unknown key `output` at the top; did you mean `review.output`? (valid \
             keys: check, ai, audit, review, containment)",
        ),
        (
            "[containment]\nnetwork.allow = ['a.test']\n",
            "probity.toml:2:1: `containment.network.allow` has a meaning only with \
             `containment.network.mode = \"allowlist\"`",
        ),
        (
            "[containment.agents.mine]\nvarables = ['A']\n",
            "probity.toml:2:1: unknown key `varables` in [containment.agents.mine]; did you mean \
             `variables`? (valid keys: command, image, variables, logins)",
        ),
    ] {
        assert_eq!(own_file(text).expect_err(text), expected, "{text}");
    }
}

#[test]
fn runners_are_tables_that_are_read_strictly() {
    let runner = "[[review.runner]]\nmatch = '**/*.kt'\ncommand = ['./gradlew', 'test', '--tests', '{name}']\n\
                  report = 'build/**/*.xml'\n";
    let root = tree(&[("user.toml", runner), ("probity.toml", &runner.replace("gradlew", "evil"))]);
    let (own, warnings) = settings(Name::Probity, root.path(), "x", Some("user.toml"));
    let runners = own.review.runner.read();
    assert_eq!(runners.iter().map(|runner| runner.files()).collect::<Vec<_>>(), ["**/*.kt"]);
    assert!(format!("{runners:?}").contains("gradlew"), "{runners:?}");
    assert_eq!(warnings, Vec::<String>::new());
    let errors = [
        ("'{name}'", "'all'"),
        ("match", "mtach"),
        ("'**/*.kt'", "'['"),
        ("report = 'build/**/*.xml'\n", ""),
        ("[[review.runner]]", "[review.runner]"),
    ]
    .map(|(from, to)| {
        let root = tree(&[("probity.toml", &runner.replacen(from, to, 1))]);
        let mut configs =
            super::discovery::configs_of(Name::Probity, root.path(), Choice::Nearest, None);
        configs.for_target(Path::new("x")).unwrap_err().to_string()
    });
    insta::assert_snapshot!(errors.join("\n"), @"
    probity.toml:1:1: `review.runner`: `command` must contain `{name}` or `{file}`, the name or the file of the test
    probity.toml:1:1: `review.runner`: unknown field `mtach`, expected one of `match`, `command`, `report`, `build`, `suite`
    probity.toml:1:1: `review.runner`: `[` is not a glob: unclosed character class; missing ']'
    probity.toml:1:1: `review.runner`: missing field `report`
    probity.toml:1:1: `review.runner` must be a list of tables, not a table
    ");
}
