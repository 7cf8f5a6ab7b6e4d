//! Every flag, variable and key, each with what the program itself makes of it.

use super::{Case, findings};
use crate::binary::stable;

#[test]
fn flags_variables_and_keys_mean_the_same() {
    let args: &[&[&str]] = &[
        &[],
        &["--error", "DL3006", "--warning", "DL3015", "--info", "DL4000", "--style", "DL3008"],
        &["--style", "DL3006", "--error", "DL3006"],
        &["--ignore", "DL3006", "--error", "DL3006", "--ignore", "DL4000"],
        &["--ignore", "dl3006", "--ignore", "DL9999"],
        &["--info", "DL3057"],
        &["--info", "DL1001"],
        &["--trusted-registry", "example.com"],
        &["--trusted-registry", "docker.io"],
        &["--require-label", "maintainer:email", "--require-label", "other"],
        &["--require-label", "maintainer:url"],
        &["--require-label", "maintainer:text", "--strict-labels"],
        &["--strict-labels"],
        &["--disable-ignore-pragma"],
        &["--no-fail"],
        &["-t", "error"],
        &["--failure-threshold", "none"],
        &["-t", "error", "--info", "DL4000", "--info", "DL3004", "--ignore", "DL3048"],
        &["--verbose"],
        &["--file-path-in-report", "elsewhere"],
        &["--no-color"],
    ];
    let variables: &[&[(&str, &str)]] = &[
        &[("HADOLINT_NOFAIL", "1")],
        &[("HADOLINT_NOFAIL", "TRUE")],
        &[("HADOLINT_NOFAIL", "0")],
        &[("HADOLINT_VERBOSE", "on")],
        &[("HADOLINT_FAILURE_THRESHOLD", "error"), ("HADOLINT_IGNORE", "DL4000")],
        &[("HADOLINT_OVERRIDE_ERROR", "DL3006,DL3015"), ("HADOLINT_OVERRIDE_STYLE", "DL4000")],
        &[("HADOLINT_OVERRIDE_WARNING", "DL4000"), ("HADOLINT_OVERRIDE_INFO", "DL3006")],
        &[("HADOLINT_IGNORE", "DL3006,DL3008")],
        &[("HADOLINT_STRICT_LABELS", "yes"), ("HADOLINT_REQUIRE_LABELS", "maintainer:text,b:url")],
        &[("HADOLINT_DISABLE_IGNORE_PRAGMA", "y")],
        &[("HADOLINT_TRUSTED_REGISTRIES", "example.com,example.org")],
    ];
    let keys = [
        "",
        "ignored: [DL3006]\n",
        "ignored:\n  - DL3006\n  - DL4000\nfailure-threshold: error\n",
        "override:\n  error: [DL3006]\n  warning: [DL4000]\n  info: [DL3008]\n  style: [DL3015]\n",
        "label-schema:\n  maintainer: email\n  b: text\nstrict-labels: true\n",
        "trustedRegistries: [example.com]\n",
        "no-fail: true\n",
        "disable-ignore-pragma: true\n",
        "no-color: true\n",
        "no-such-key: 1\n",
        "ignored: DL3006\n",
    ];
    let json = ["-f", "json", "Dockerfile"];
    let with_json = |args: &[&'static str]| [args, &json].concat();
    let of_args = args.iter().map(|args| (with_json(args), &[][..], None));
    let of_variables = variables.iter().map(|env| (with_json(&[]), *env, None));
    let of_keys = keys.iter().map(|text| (with_json(&[]), &[][..], Some(*text)));
    let joined = (
        with_json(&["--ignore", "DL3015", "--error", "DL3008"]),
        &[("HADOLINT_IGNORE", "DL4000")][..],
        Some("ignored: [DL3006]\noverride: {style: [DL3008, DL3059]}\n"),
    );
    for (args, env, config) in of_args.chain(of_variables).chain(of_keys).chain([joined]) {
        let case = Case { args: &args, env, config };
        let dir = case.directory();
        let (ours, theirs) = (case.ours(dir.path()), case.theirs(dir.path()));
        let shown = format!("{args:?} {env:?} {config:?}\n{}", theirs.stderr);
        assert!(theirs.stdout.starts_with('['), "{shown}");
        let expected: Vec<_> = findings(&theirs.stdout)
            .into_iter()
            // The image does not know who root is otherwise either.
            .filter(|(_, code, ..)| code != "DL3066")
            .collect();
        assert_eq!(findings(&ours.stdout), expected, "{shown}");
        assert_eq!(ours.code, theirs.code, "{shown}");
        let is_verbose = args.contains(&"--verbose");
        assert!(!is_verbose || ours.stderr == theirs.stderr, "{}", ours.stderr);
    }
}

#[test]
fn the_stronger_source_wins() {
    let threshold = |args, env, config, code| {
        let case = Case { args, env, config };
        let dir = case.directory();
        let ours = case.ours(dir.path());
        assert_eq!(ours.code, Some(code), "{args:?} {env:?} {config:?} {}", ours.stderr);
        ours.stdout
    };
    let file = Some("failure-threshold: style\nformat: gnu\nignored: [DL4000, DL3048, DL3004]\n");
    let warnings = &[("HADOLINT_FAILURE_THRESHOLD", "error"), ("HADOLINT_FORMAT", "json")][..];
    insta::assert_snapshot!(threshold(&["Dockerfile"], &[], file, 1), @"
    hadolint:Dockerfile:1: DL3006 warning: Always tag the version of an image explicitly
    hadolint:Dockerfile:4: DL3014 warning: Use the `-y` switch to avoid manual input `apt-get -y install <package>`
    hadolint:Dockerfile:4: DL3015 info: Avoid additional packages by specifying `--no-install-recommends`
    hadolint:Dockerfile:4: DL3008 warning: Pin versions in apt get install. Instead of `apt-get install <package>` use `apt-get install <package>=<version>`
    hadolint:Dockerfile:5: DL3002 warning: Last USER should not be root
    hadolint:Dockerfile:8: DL3022 warning: `COPY --from` should reference a previously defined `FROM` alias
    ");
    insta::assert_snapshot!(threshold(&["Dockerfile"], warnings, file, 0), @r#"[{"code":"DL3006","column":6,"file":"Dockerfile","level":"warning","line":1,"message":"Always tag the version of an image explicitly"},{"code":"DL3014","column":13,"file":"Dockerfile","level":"warning","line":4,"message":"Use the `-y` switch to avoid manual input `apt-get -y install <package>`"},{"code":"DL3015","column":13,"file":"Dockerfile","level":"info","line":4,"message":"Avoid additional packages by specifying `--no-install-recommends`"},{"code":"DL3008","column":21,"file":"Dockerfile","level":"warning","line":4,"message":"Pin versions in apt get install. Instead of `apt-get install <package>` use `apt-get install <package>=<version>`"},{"code":"DL3002","column":6,"file":"Dockerfile","level":"warning","line":5,"message":"Last USER should not be root"},{"code":"DL3022","column":13,"file":"Dockerfile","level":"warning","line":8,"message":"`COPY --from` should reference a previously defined `FROM` alias"}]"#);
    let flags = &["-t", "info", "-f", "tty", "--no-color", "Dockerfile"][..];
    insta::assert_snapshot!(threshold(flags, warnings, file, 1), @"
    Dockerfile:1 DL3006 warning: Always tag the version of an image explicitly
    Dockerfile:4 DL3014 warning: Use the `-y` switch to avoid manual input `apt-get -y install <package>`
    Dockerfile:4 DL3015 info: Avoid additional packages by specifying `--no-install-recommends`
    Dockerfile:4 DL3008 warning: Pin versions in apt get install. Instead of `apt-get install <package>` use `apt-get install <package>=<version>`
    Dockerfile:5 DL3002 warning: Last USER should not be root
    Dockerfile:8 DL3022 warning: `COPY --from` should reference a previously defined `FROM` alias
    ");
}

#[test]
fn files_are_looked_for_where_hadolint_looks() {
    let case = Case { args: &["--no-color", "-V", "Dockerfile"], ..Case::default() };
    let dir = case.directory();
    let work = dir.path().join("work");
    let home = dir.path().join("home");
    let settings = dir.path().join("settings");
    for place in [&work, &home.join(".hadolint"), &settings] {
        std::fs::create_dir_all(place).unwrap();
    }
    std::fs::copy(dir.path().join("Dockerfile"), work.join("Dockerfile")).unwrap();
    let places = [
        work.join(".hadolint.yaml"),
        work.join(".hadolint.yml"),
        settings.join("hadolint.yaml"),
        settings.join("hadolint.yml"),
        home.join(".hadolint/hadolint.yaml"),
        home.join(".hadolint/config.yml"),
        home.join(".hadolint.yaml"),
        home.join(".hadolint.yml"),
    ];
    for place in &places {
        std::fs::write(place, "ignored: []\n").unwrap();
    }
    let env = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", settings.to_str().unwrap())];
    let case = Case { env: &env, ..case };
    for place in &places {
        let first = format!("\"Configuration file used: {}\"\n", place.display());
        for output in [case.ours(&work), case.theirs(&work)] {
            assert!(output.stderr.starts_with(&first), "{}", output.stderr);
        }
        std::fs::remove_file(place).unwrap();
    }
    insta::assert_snapshot!(case.ours(&work).stderr, @r#"
    "No configuration was specified. Using default configuration"
    Configuration:
      no fail: False
      no color: True
      output format:
        none
      failure threshold: info
      override error:
        none
      override warning:
        none
      override info:
        none
      override style:
        none
      override ignore:
        none
      strict labels: False
      label schema:
        none
      disable ignore pragma: False
      allowed registries:
        none
    "#);
}

#[test]
fn what_cannot_be_done_is_said_and_the_code_is_one() {
    let mut printed = Vec::new();
    for args in [
        &[][..],
        &["nothing.Dockerfile"],
        &["-c", "nothing.yaml", "clean.Dockerfile"],
        &["-f", "xml", "clean.Dockerfile"],
        &["-t", "fatal", "clean.Dockerfile"],
        &["--require-label", "a:number", "clean.Dockerfile"],
        &["-o", "nowhere/report", "clean.Dockerfile"],
    ] {
        let case = Case { args, ..Case::default() };
        let dir = case.directory();
        let ours = case.ours(dir.path()).code(1);
        printed.push(format!("{args:?}\n{}", ours.stderr));
        assert_eq!(case.theirs(dir.path()).code, Some(1), "{args:?}");
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    []
    error: Please provide a Dockerfile
      help: name a file, or `-`

    ["nothing.Dockerfile"]
    error: nothing.Dockerfile: the file does not exist

    ["-c", "nothing.yaml", "clean.Dockerfile"]
    error: nothing.yaml: cannot read the configuration: No such file or directory (os error 2)
      help: name another file with --config

    ["-f", "xml", "clean.Dockerfile"]
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: tty, json, checkstyle, codeclimate, gitlab_codeclimate, gnu, codacy, sonarqube, sarif, junit]

    For more information, try '--help'.

    ["-t", "fatal", "clean.Dockerfile"]
    error: invalid value 'fatal' for '--failure-threshold <THRESHOLD>'
      [possible values: error, warning, info, style, ignore, none]

    For more information, try '--help'.

    ["--require-label", "a:number", "clean.Dockerfile"]
    error: invalid value 'a:number' for '--require-label <NAME:FORMAT>': `number` is not a label format; valid formats: text, rfc3339, semver, url, hash, spdx, email

    For more information, try '--help'.

    ["-o", "nowhere/report", "clean.Dockerfile"]
    error: cannot write the report to nowhere/report
      cause: No such file or directory (os error 2)
      help: choose another place with --output
    "#);
    // One that is missing does not hide the others.
    let case = Case { args: &["nothing", "Dockerfile"], ..Case::default() };
    insta::assert_snapshot!(case.ours(case.directory().path()).code(1).stdout, @"
    Dockerfile:1 DL3006 \u{1b}[1m\u{1b}[93mwarning\u{1b}[0m: Always tag the version of an image explicitly
    Dockerfile:2 DL3048 \u{1b}[96mstyle\u{1b}[0m: Invalid label key.
    Dockerfile:3 DL4000 \u{1b}[1m\u{1b}[91merror\u{1b}[0m: MAINTAINER is deprecated
    Dockerfile:4 DL3014 \u{1b}[1m\u{1b}[93mwarning\u{1b}[0m: Use the `-y` switch to avoid manual input `apt-get -y install <package>`
    Dockerfile:4 DL3015 \u{1b}[92minfo\u{1b}[0m: Avoid additional packages by specifying `--no-install-recommends`
    Dockerfile:4 DL3008 \u{1b}[1m\u{1b}[93mwarning\u{1b}[0m: Pin versions in apt get install. Instead of `apt-get install <package>` use `apt-get install <package>=<version>`
    Dockerfile:5 DL3002 \u{1b}[1m\u{1b}[93mwarning\u{1b}[0m: Last USER should not be root
    Dockerfile:8 DL3022 \u{1b}[1m\u{1b}[93mwarning\u{1b}[0m: `COPY --from` should reference a previously defined `FROM` alias
    ");
    let wrong =
        Case { args: &["clean.Dockerfile"], config: Some("# x\nno-fail: 7\n"), ..Case::default() };
    let ours = wrong.ours(wrong.directory().path()).code(0);
    insta::assert_snapshot!(stable(&ours.stderr), @"
    error: [dir]/.hadolint.yaml:2:10: `no-fail` must be true or false
    probity uses the defaults instead of [dir]/.hadolint.yaml
    ");
}

#[test]
fn bytes_are_read_as_hadolint_reads_them() {
    let files: [(&str, &[u8]); 9] = [
        ("latin", b"FROM debian:12\nRUN echo caf\xe9\n"),
        ("stray", b"FROM debian\nRUN echo \xff\xfe x\n"),
        ("nul", b"FROM debian\nRUN echo \0 x\n"),
        ("program", b"\x7fELF\x02\x01\x01\0\0\0junk\0\x01\n"),
        ("wide", b"\xff\xfeF\0R\0O\0M\0 \0a\0\n\0"),
        ("wide-the-other-way", b"\xfe\xff\0F\0R\0O\0M\0 \0a\0\n"),
        ("marked", b"\xef\xbb\xbfFROM debian\n"),
        ("empty", b""),
        ("comment", b"# nothing\n"),
    ];
    for (name, bytes) in files {
        let case = Case { args: &["-f", "json", name], ..Case::default() };
        let dir = case.directory();
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let (ours, theirs) = (case.ours(dir.path()), case.theirs(dir.path()));
        let codes = |json: &str| -> Vec<(u64, String)> {
            findings(json).into_iter().map(|(line, code, ..)| (line, code)).collect()
        };
        assert_eq!(codes(&ours.stdout), codes(&theirs.stdout), "{name}: {}", ours.stderr);
        assert_eq!(ours.code, theirs.code, "{name}");
    }
}

#[test]
fn the_version_begins_as_theirs_does() {
    let case = Case { args: &["--version"], ..Case::default() };
    let dir = case.directory();
    let (ours, theirs) = (case.ours(dir.path()).code(0), case.theirs(dir.path()));
    assert!(ours.stdout.starts_with(theirs.stdout.trim_end()), "{}", ours.stdout);
}

#[test]
fn secrets_are_masked() {
    let token = ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6T", "uQe1Ab"].concat();
    let dir =
        crate::binary::directory(&[("Dockerfile", &format!("FROM a:1\nCOPY --{token} a b\n"))]);
    let case = Case { args: &["Dockerfile"], ..Case::default() };
    let ours = case.ours(dir.path()).code(1);
    assert!(ours.stdout.contains("***") && !ours.stdout.contains(&token), "{}", ours.stdout);
}

#[test]
fn check_takes_the_file_where_there_is_no_other() {
    let files = [
        ("a/.hadolint.yaml", "ignored: [DL3006]\noverride: {error: [DL3007]}\n"),
        ("a/b/Dockerfile", "FROM debian\nFROM debian:latest\n"),
    ];
    let dir = crate::binary::directory(&files);
    let run = |args: &[&str]| {
        crate::binary::probity().dir(dir.path()).args(["check", "--format", "gnu"]).args(args).run()
    };
    let ours = run(&["a/b/Dockerfile"]);
    assert!(!ours.stdout.contains("DL3006"), "{}", ours.stdout);
    insta::assert_snapshot!(ours.stdout, @"probity:a/b/Dockerfile:2:6: error: latest changes without notice; pin the version to a release tag [hadolint/DL3007]");
    std::fs::write(dir.path().join("tally.toml"), "").unwrap();
    insta::assert_snapshot!(run(&["a/b/Dockerfile"]).stdout, @"
    probity:a/b/Dockerfile:1:6: warning: image debian has no version; write debian:<tag> [hadolint/DL3006]
    probity:a/b/Dockerfile:2:6: warning: latest changes without notice; pin the version to a release tag [hadolint/DL3007]
    ");
    let chosen = run(&["--config", "a/.hadolint.yaml", "a/b/Dockerfile"]);
    assert!(!chosen.stdout.contains("DL3006"), "{}", chosen.stdout);
    std::fs::remove_file(dir.path().join("tally.toml")).unwrap();
    std::fs::write(dir.path().join("a/.hadolint.yaml"), "ignored: 5\n").unwrap();
    let wrong = run(&["a/b/Dockerfile"]).code(2);
    insta::assert_snapshot!(wrong.stderr, @"
    error: a/.hadolint.yaml:1:10: `ignored` must be a list of words
      1 | ignored: 5
        |          ^
      help: fix it; then `probity config` shows every key and its value
    ");
}
