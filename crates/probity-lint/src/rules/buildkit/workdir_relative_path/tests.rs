//! The paths that the rule finds, and those that it passes.

use crate::engine::harness::check;

const RULE: &str = "buildkit/WorkdirRelativePath";

#[test]
fn the_path_is_underlined() {
    check(
        RULE,
        "\
FROM a
WORKDIR app/src
        ^^^^^^^ Relative workdir \"app/src\" can have unexpected results if the base image changes
WORKDIR again
FROM b
WORKDIR \\
  # here
  \"my app\"
  ^^^^^^^^ Relative workdir \"my app\" can have unexpected results if the base image changes
FROM c
ENV DIR=sub
WORKDIR ${DIR}/x
        ^^^^^^^^ Relative workdir \"sub/x\" can have unexpected results if the base image changes
FROM d
WORKDIR sub/$UNKNOWN
        ^^^^^^^^^^^^ Relative workdir \"sub/$UNKNOWN\" can have unexpected results if the base image changes
FROM scratch
WORKDIR .
        ^ Relative workdir \".\" can have unexpected results if the base image changes
",
    );
}

#[test]
fn absolute_and_unknown_paths_pass() {
    check(
        RULE,
        "\
ARG ROOT=/srv
FROM a
WORKDIR /app
WORKDIR src
FROM b
ARG ROOT
WORKDIR $ROOT/x
FROM c
WORKDIR \"/my app\"
FROM d
WORKDIR $FROM_THE_IMAGE/x
FROM e
WORKDIR ${MISSING:-/default}
FROM f
ONBUILD WORKDIR somewhere
",
    );
}

#[test]
fn windows_has_drives_and_backslashes() {
    check(
        RULE,
        "\
# escape=`
FROM mcr.microsoft.com/windows/nanoserver:ltsc2022
WORKDIR \\app
FROM internal/windows-tools
WORKDIR C:\\app
FROM $UNKNOWN
WORKDIR C:/app
FROM alpine:3
WORKDIR c:/foo
        ^^^^^^ Relative workdir \"c:/foo\" can have unexpected results if the base image changes
FROM --platform=windows/amd64 a
WORKDIR C:app
        ^^^^^ Relative workdir \"C:app\" can have unexpected results if the base image changes
",
    );
    // The escape character is gone when the path is used.
    check(
        RULE,
        "\
FROM --platform=windows/amd64 a
WORKDIR C:\\app
        ^^^^^^ Relative workdir \"C:app\" can have unexpected results if the base image changes
",
    );
}

#[test]
fn stages_inherit() {
    check(
        RULE,
        "\
FROM a AS rooted
WORKDIR /app
FROM rooted AS next
WORKDIR src
FROM next
WORKDIR deeper
FROM a AS bare
FROM bare AS child
WORKDIR src
        ^^^ Relative workdir \"src\" can have unexpected results if the base image changes
FROM child
WORKDIR more
",
    );
}

#[test]
fn a_trigger_is_judged_where_it_runs() {
    check(
        RULE,
        "\
FROM a AS base
ONBUILD WORKDIR src
                ^^^ Relative workdir \"src\" can have unexpected results if the base image changes
FROM base
WORKDIR more
FROM a AS rooted
ONBUILD WORKDIR src
WORKDIR /app
FROM rooted
",
    );
}
