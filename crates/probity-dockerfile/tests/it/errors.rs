//! What is wrong, where, and what helps; and that one error hides no other.

use probity_dockerfile::parse;

/// Each error as `line code [text under it] message (help)`.
fn errors(text: &str) -> String {
    let file = parse(text);
    let describe = |error: &probity_dockerfile::SyntaxError| {
        let under = error.span.slice(text).unwrap().escape_debug().to_string();
        let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{} {:?} [{under}] {}{help}", error.line, error.code, error.message)
    };
    file.errors.iter().map(describe).collect::<Vec<_>>().join("\n")
}

#[test]
fn whole_files() {
    let all = ["", "# only a comment\n", "ARG a\n", "RUN x\n", "RUN x\nFROM a\nRUN y\n"];
    insta::assert_snapshot!(all.map(errors).join("\n"), @r#"
    1 NoInstructions [] file with no instructions
    1 NoInstructions [] file with no instructions
    1 NoStages [ARG] dockerfile contains no stages to build (begin with FROM)
    1 NoStages [RUN] dockerfile contains no stages to build (begin with FROM)
    1 InstructionBeforeFrom [RUN] no build stage in current context: RUN before FROM (only ARG may stand before the first FROM)
    "#);
}

#[test]
fn directives_and_names() {
    insta::assert_snapshot!(errors("# escape=x\n# syntax=a\n# syntax=b\nFORM a\nFROM a\nNOTHING\n"), @r#"
    1 InvalidEscapeDirective [x] invalid escape token "x" (use ` or \)
    3 DuplicateDirective [# syntax=b] only one syntax parser directive can be used
    4 UnknownInstruction [FORM] unknown instruction: FORM (did you mean FROM?)
    6 UnknownInstruction [NOTHING] unknown instruction: NOTHING
    "#);
}

#[test]
fn flags() {
    insta::assert_snapshot!(errors(
        "FROM --platfrom=x a\nCOPY --link=maybe --from --chown=1 --chown=2 a b\nRUN --network=foo --security=x y\nCMD --x y\nARG --free a\n"
    ), @r#"
    1 UnknownFlag [--platfrom=x] unknown flag: --platfrom (did you mean --platform?)
    2 InvalidFlagValue [maybe] expecting boolean value for flag --link, not: maybe
    2 MissingFlagValue [--from] missing a value on flag: --from
    2 DuplicateFlag [--chown=2] duplicate flag specified: --chown
    3 InvalidFlagValue [foo] invalid network mode "foo" (use default, none or host)
    3 InvalidFlagValue [x] security "x" is not valid (use sandbox or insecure)
    4 UnknownFlag [--x] unknown flag: --x
    "#);
}

#[test]
fn mounts() {
    insta::assert_snapshot!(errors(
        "FROM a\nRUN --mount=type=cahce --mount=type=cache,traget=/x --mount=from=$X --mount=uid=1 --mount=type=secret --mount=type=$T,uid=1 --mount=foo --mount=rw,ro=x y\n"
    ), @r#"
    2 InvalidMount [cahce] unsupported mount type "cahce" (did you mean cache?)
    2 InvalidMount [traget] unexpected key "traget" (did you mean target?)
    2 InvalidMount [$X] 'from' does not support variable expansion (define a stage with a different name instead)
    2 InvalidMount [uid=1] uid is not allowed for mounts of type bind
    2 InvalidMount [--mount=type=secret] invalid secret mount, one of id, source, target is required
    2 InvalidMount [foo] "foo" must be a key=value pair
    2 InvalidMount [x] invalid value for ro: "x"
    "#);
}

#[test]
fn argument_counts() {
    insta::assert_snapshot!(errors(
        "FROM a b\nFROM a AS 1st\nCOPY a\nADD [\"a\"]\nUSER\nEXPOSE\nVOLUME [\"\"]\nENV\nENV a\nENV a=b c =d\nLABEL\nARG =x\nSHELL sh -c\nSHELL []\nCMD [1, \"a\"]\n"
    ), @r#"
    1 WrongArgumentCount [a b] FROM requires either one or three arguments (write FROM image, or FROM image AS name)
    2 InvalidStageName [1st] invalid name for build stage: "1st" (begin with a letter and use letters, digits, '-', '_' and '.' only)
    3 WrongArgumentCount [a] COPY requires at least two arguments: sources and a destination
    4 WrongArgumentCount [[\"a\"]] ADD requires at least two arguments: sources and a destination
    5 MissingArguments [USER] USER requires exactly one argument
    6 MissingArguments [EXPOSE] EXPOSE requires at least one argument
    7 EmptyVolume [\"\"] VOLUME can not be an empty string
    8 MissingArguments [ENV] ENV requires at least one argument
    9 MissingValue [a] ENV must have two arguments (write ENV a=value)
    10 MissingEquals [c] cannot find = in "c", must be of the form name=value (quote a value that contains spaces)
    10 BlankName [=d] ENV names can not be blank
    11 MissingArguments [LABEL] LABEL requires at least one argument
    12 BlankName [=x] ARG names can not be blank
    13 NotJson [sh -c] SHELL requires the arguments to be in JSON form (write SHELL ["sh", "-c"])
    14 MissingArguments [[]] SHELL requires at least one argument
    15 NonStringJson [1] when using JSON array syntax, arrays must be comprised of strings only
    "#);
}

#[test]
fn one_mistake_is_one_error() {
    insta::assert_snapshot!(errors(
        "FROM a\nENV --foo=a\nSHELL [\"a\", 1]\nUSER --x\nENV --foo=a b\nCOPY --foo a\n"
    ), @r#"
    2 UnknownFlag [--foo=a] unknown flag: --foo
    3 NonStringJson [1] when using JSON array syntax, arrays must be comprised of strings only
    4 UnknownFlag [--x] unknown flag: --x
    5 UnknownFlag [--foo=a] unknown flag: --foo
    5 MissingValue [b] ENV must have two arguments (write ENV b=value)
    6 UnknownFlag [--foo] unknown flag: --foo (did you mean --from?)
    6 WrongArgumentCount [a] COPY requires at least two arguments: sources and a destination
    "#);
}

#[test]
fn healthchecks() {
    insta::assert_snapshot!(errors(
        "FROM a\nHEALTHCHECK\nHEALTHCHECK NONE x\nHEALTHCHECK CMD\nHEALTHCHECK FOO x\nHEALTHCHECK --interval=1 --timeout=1us --retries=-1 CMD x\n"
    ), @r#"
    2 MissingArguments [HEALTHCHECK] HEALTHCHECK requires at least one argument
    3 InvalidHealthcheck [NONE x] HEALTHCHECK NONE takes no arguments
    4 InvalidHealthcheck [CMD] missing command after HEALTHCHECK CMD
    5 InvalidHealthcheck [FOO] unknown type "FOO" in HEALTHCHECK (use CMD or NONE)
    6 InvalidDuration [1] duration "1" of --interval has no unit, write it like 30s or 1m30s
    6 InvalidDuration [1us] --timeout cannot be less than 1ms
    6 InvalidFlagValue [-1] --retries cannot be negative (-1)
    "#);
}

#[test]
fn triggers() {
    insta::assert_snapshot!(errors(
        "FROM a\nONBUILD\nONBUILD ONBUILD RUN x\nONBUILD FROM b\nONBUILD ENV a\nONBUILD RUN --later x\n"
    ), @r#"
    2 MissingArguments [ONBUILD] ONBUILD requires at least one argument
    3 InvalidOnbuild [ONBUILD] chaining ONBUILD via ONBUILD ONBUILD is not allowed
    4 InvalidOnbuild [FROM] FROM is not allowed as an ONBUILD trigger
    5 MissingValue [a] ENV must have two arguments (write ENV a=value)
    "#);
}

#[test]
fn ports_and_signals() {
    insta::assert_snapshot!(errors(
        "FROM a\nEXPOSE 80 80/TCP 1-3 $P 127.0.0.1:80:80 [::1]:1:1 http 99999 80/foo 9-1\nSTOPSIGNAL SIGTREM\nSTOPSIGNAL 9\nSTOPSIGNAL $S\n"
    ), @r#"
    2 InvalidPort [http] invalid port: "http"
    2 InvalidPort [99999] invalid port: "99999"
    2 InvalidPort [80/foo] invalid protocol "foo" in port "80/foo"
    2 InvalidPort [9-1] invalid port: "9-1"
    3 InvalidSignal [SIGTREM] invalid signal: SIGTREM (did you mean SIGTERM?)
    "#);
}

#[test]
fn heredocs() {
    let all = ["FROM a\nCOPY a <<EOF\nEOF\n", "FROM a\nFOO\nRUN <<A <<B\nx\n"];
    insta::assert_snapshot!(all.map(errors).join("\n"), @r#"
    2 HeredocDestination [<<EOF] COPY cannot accept a heredoc as a destination
    2 UnknownInstruction [FOO] unknown instruction: FOO (did you mean FROM?)
    3 UnterminatedHeredoc [<<A] unterminated heredoc (end it with a line that says A and nothing else)
    "#);
}

#[test]
fn a_line_may_be_65535_bytes_long() {
    let fits = format!("FROM a\nRUN {}\n", "x".repeat(65_531));
    assert_eq!(errors(&fits), "");
    let long = format!("FROM a\nRUN {}\nFOO\n", "x".repeat(65_532));
    let codes: Vec<String> = parse(&long)
        .errors
        .iter()
        .map(|error| format!("{:?} {}", error.code, error.line))
        .collect();
    assert_eq!(codes, ["LineTooLong 2", "UnknownInstruction 3"]);
}
