//! What the flags, the variables and the configuration mean for fixes.

use std::fs;

use super::{check, text_of};
use crate::binary::{directory, named, probity};

const SAFE: &str = "FROM alpine:3.20 as Build\n\nMAINTAINER me\n";
const SAFELY_FIXED: &str = "FROM alpine:3.20 AS build\n\nMAINTAINER me\n";
const ALL_FIXED: &str =
    "FROM alpine:3.20 AS build\n\nLABEL org.opencontainers.image.authors=\"me\"\n";

#[test]
fn safe_fixes_are_applied_and_the_rest_is_reported_where_it_is_now() {
    let text = "\n\nFROM alpine:3.20 as Build\nMAINTAINER me\n";
    let (dir, output) = check(text, &["--fix", "--preset", "all"]);
    assert_eq!(text_of(&dir), SAFELY_FIXED);
    assert_eq!(output.code, Some(1));
    insta::assert_snapshot!(output.stdout, @"probity:Dockerfile:3:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]");
    insta::assert_snapshot!(output.stderr, @r"
    Fixed 4 issues in 1 file
    Skipped 1 fix (1 safety)
    help: --fix-unsafe applies suggestions and unsafe fixes too
    ");
    let again = probity().dir(&dir).args(["check", "--fix", "--format", "gnu"]).run().code(1);
    assert_eq!(text_of(&dir), SAFELY_FIXED, "a second run changes nothing");
    assert!(!again.stderr.contains("Fixed"), "{}", again.stderr);
}

#[test]
fn who_decides_which_fixes_are_applied() {
    let never = "[rules.buildkit.StageNameCasing]\nfix = \"never\"\n";
    let explicit = "[rules.buildkit.StageNameCasing]\nfix = \"explicit\"\n";
    let unsafe_only = "[rules.buildkit.StageNameCasing]\nfix = \"unsafe-only\"\n";
    let excluded = "[rules.buildkit.StageNameCasing]\nexclude.paths = [\"Dockerfile\"]\n";
    let as_only = "FROM alpine:3.20 AS Build\n\nMAINTAINER me\n";
    let name_only = "FROM alpine:3.20 as build\n\nMAINTAINER me\n";
    type Case<'c> = (&'c str, &'c [&'c str], &'c [(&'c str, &'c str)], &'c str);
    let cases: &[Case<'_>] = &[
        ("", &[], &[], SAFE),
        ("", &["--fix"], &[], SAFELY_FIXED),
        ("", &[], &[("TALLY_FIX", "true")], SAFELY_FIXED),
        ("", &["--fix", "--fix-unsafe"], &[], ALL_FIXED),
        ("", &["--fix"], &[("TALLY_FIX_UNSAFE", "1")], ALL_FIXED),
        ("", &["--fix"], &[("TALLY_UNSAFE_FIXES", "1")], ALL_FIXED),
        ("unsafe-fixes = true\n", &["--fix"], &[], ALL_FIXED),
        ("unsafe-fixes = true\n", &["--fix"], &[("TALLY_UNSAFE_FIXES", "0")], SAFELY_FIXED),
        ("unsafe-fixes = true\n", &[], &[], SAFE),
        ("", &["--fix-unsafe"], &[], SAFE),
        ("", &["--fix", "--fix-rule", "buildkit/FromAsCasing"], &[], as_only),
        ("", &["--fix", "--fix-rule", "StageNameCasing"], &[], name_only),
        ("", &["--fix"], &[("TALLY_FIX_RULE", "buildkit/FromAsCasing")], as_only),
        ("", &["--fix", "--fix-rule", "nothing"], &[], SAFE),
        ("", &["--fix", "--ignore", "StageNameCasing"], &[], as_only),
        ("", &["--fix", "--select", "StageNameCasing"], &[], name_only),
        (never, &["--fix", "--fix-rule", "StageNameCasing"], &[], SAFE),
        (explicit, &["--fix"], &[], as_only),
        (explicit, &["--fix", "--fix-rule", "StageNameCasing"], &[], name_only),
        (unsafe_only, &["--fix"], &[], as_only),
        (unsafe_only, &["--fix", "--fix-unsafe"], &[], ALL_FIXED),
        (excluded, &["--fix"], &[], as_only),
    ];
    for (config, args, variables, expected) in cases {
        let dir = directory(&[("Dockerfile", SAFE), ("tally.toml", config)]);
        let mut run = probity().dir(&dir).args(["check"]).args(*args);
        for (name, value) in *variables {
            run = run.env(name, value);
        }
        let output = run.run();
        let case = format!("{config} {args:?} {variables:?}\n{}", output.stderr);
        assert_eq!(text_of(&dir), *expected, "{case}");
        assert!(matches!(output.code, Some(0 | 1)), "{case}");
    }
}

#[test]
fn a_fix_that_the_configuration_holds_back_says_so_and_names_the_way_out() {
    let config = "[rules.hadolint.DL3057]\nfix = \"explicit\"\n";
    let dir = directory(&[("Dockerfile", "FROM nginx:1.27\n"), ("tally.toml", config)]);
    let args = ["check", "--select", "hadolint/DL3057", "--fix", "--format", "gnu"];
    for more in [&[][..], &["--fix-ai", "--acp-command", "/bin/false"]] {
        let output = probity().dir(&dir).args(args).args(more).run();
        let expected = "Skipped 1 fix (1 fix-mode)\nnote: skipped 1 fix of hadolint/DL3057: the \
                        configuration says `fix = \"explicit\"`; pass `--fix-rule hadolint/DL3057`\n";
        assert_eq!(output.stderr, expected);
    }
}

#[test]
fn a_directive_keeps_a_fix_away() {
    let text = "# tally ignore=StageNameCasing;reason=public\nFROM a:1 AS Build\n";
    let (dir, output) = check(text, &["--fix"]);
    assert_eq!((text_of(&dir).as_str(), output.code), (text, Some(0)));
}

#[test]
fn flags_without_effect_and_unknown_rules_are_told() {
    let (_, output) = check(SAFE, &["--fix-unsafe", "--fix-rule", "x"]);
    insta::assert_snapshot!(output.stderr, @"
    warning: --fix-unsafe has no effect without --fix or --diff
    warning: --fix-rule has no effect without --fix or --diff
    warning: --fix-rule x: no rule here has that name
    ");
}

#[test]
fn a_diff_is_shown_and_nothing_is_written() {
    let (dir, output) = check(SAFE, &["--diff"]);
    assert_eq!((text_of(&dir).as_str(), output.code), (SAFE, Some(1)));
    insta::assert_snapshot!(output.stdout, @r"
    --- a/Dockerfile
    +++ b/Dockerfile
    @@ -1,3 +1,3 @@
    -FROM alpine:3.20 as Build
    +FROM alpine:3.20 AS build
     
     MAINTAINER me
    ");
    insta::assert_snapshot!(output.stderr, @r"
    probity:Dockerfile:3:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    Would fix 2 issues in 1 file
    note: line numbers in the report refer to the file after the diff
    Skipped 1 fix (1 safety)
    help: --fix-unsafe applies suggestions and unsafe fixes too
    ");
    let (dir, output) = check(SAFE, &["--diff", "--fix", "--fix-unsafe", "--fail-level", "none"]);
    assert_eq!((text_of(&dir).as_str(), output.code), (SAFE, Some(1)), "something would change");
    insta::assert_snapshot!(output.stdout, @r#"
    --- a/Dockerfile
    +++ b/Dockerfile
    @@ -1,3 +1,3 @@
    -FROM alpine:3.20 as Build
    +FROM alpine:3.20 AS build
     
    -MAINTAINER me
    +LABEL org.opencontainers.image.authors="me"
    "#);
    let (_, output) = check("FROM alpine:3.20\n", &["--diff"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.code), ("", "", Some(0)));
}

#[test]
fn standard_input_comes_back_fixed_on_standard_output() {
    let run = |input: &str, args: &[&str]| {
        probity().args(["check", "--format", "gnu", "-"]).args(args).input(input).run()
    };
    let output = run(SAFE, &["--fix"]).code(1);
    assert_eq!(output.stdout, SAFELY_FIXED);
    insta::assert_snapshot!(output.stderr, @"
    probity:<stdin>:3:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    Fixed 2 issues in 1 file
    Skipped 1 fix (1 safety)
    help: --fix-unsafe applies suggestions and unsafe fixes too
    ");
    // What needs no fix comes back as it is, so that a filter never empties a buffer.
    assert_eq!(run("FROM alpine:3.20\n", &["--fix"]).code(0).stdout, "FROM alpine:3.20\n");
    assert_eq!(run("FORM a\n", &["--fix"]).code(4).stdout, "FORM a\n");
    let diff = run(SAFE, &["--diff", "--stdin-filename", "x/Dockerfile"]).code(1).stdout;
    insta::assert_snapshot!(diff, @"
    --- a/x/Dockerfile
    +++ b/x/Dockerfile
    @@ -1,3 +1,3 @@
    -FROM alpine:3.20 as Build
    +FROM alpine:3.20 AS build
     
     MAINTAINER me
    ");
    // Without --fix it is the report that goes to standard output.
    insta::assert_snapshot!(run(SAFE, &[]).stdout, @"
    probity:<stdin>:1:18: warning: 'as' and 'FROM' keywords' casing do not match [buildkit/FromAsCasing]
    probity:<stdin>:1:21: warning: Stage name 'Build' should be lowercase [buildkit/StageNameCasing]
    probity:<stdin>:3:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    ");
}

#[test]
fn rules_that_quarrel_are_named_and_the_file_is_left_in_peace() {
    let config = "[rules.tally.newline-between-instructions]\nmode = \"always\"\n\
                  [rules.tally.no-multiple-empty-lines]\nmax = 0\n";
    let text = "FROM alpine:3.20 AS Build\nUSER nobody\n";
    let dir = directory(&[("Dockerfile", text), ("tally.toml", config)]);
    let output = probity().dir(&dir).args(["check", "--fix", "--format", "gnu"]).run().code(0);
    assert_eq!(text_of(&dir), text.replace("Build", "build"));
    insta::assert_snapshot!(output.stderr, @"
    Fixed 1 issue in 1 file
    Skipped 2 fixes (2 cycle)
    note: skipped fix tally/newline-between-instructions (Dockerfile): cycle: tally/newline-between-instructions and tally/no-multiple-empty-lines undo each other's work
    note: skipped fix tally/no-multiple-empty-lines (Dockerfile): cycle: tally/newline-between-instructions and tally/no-multiple-empty-lines undo each other's work
    ");
}

#[test]
fn tally_fixes_too_and_quiet_says_nothing() {
    let dir = directory(&[("Dockerfile", SAFE)]);
    let args = ["lint", "--fix", "--fix-unsafe", "--fail-level", "warning"];
    named("tally").dir(&dir).args(args).run().code(0);
    assert_eq!(text_of(&dir), ALL_FIXED);
    fs::write(dir.path().join("Dockerfile"), SAFE).unwrap();
    let output =
        probity().dir(&dir).args(["--quiet", "check", "--fix", "--select", "FromAsCasing"]).run();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}
