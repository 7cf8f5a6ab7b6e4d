//! The variables that the rule finds, and those that it passes.

use crate::engine::harness::{check, run};

const RULE: &str = "buildkit/UndefinedVar";

#[test]
fn the_reference_is_underlined() {
    check(
        RULE,
        "\
FROM a
COPY $x \"b/${yy}\" /
     ^^ Usage of undefined variable '$x'
           ^^^^^ Usage of undefined variable '$yy'
ENV P=\"$PAHT\" \\
       ^^^^^ Usage of undefined variable '$PAHT' (did you mean $PATH?)
  # between
  Q=a$b$c$b R=$b
     ^^ Usage of undefined variable '$b'
       ^^ Usage of undefined variable '$c'
              ^^ Usage of undefined variable '$b'
LABEL a=${none:-default}
        ^^^^^^^^^^^^^^^^ Usage of undefined variable '$none'
USER ${PATH:+$user}
             ^^^^^ Usage of undefined variable '$user'
COPY --chown=$own <<-EOF /x
             ^^^^ Usage of undefined variable '$own'
\ttext '$here'
       ^^^^^ Usage of undefined variable '$here'
\tEOF
RUN --mount=type=cache,target=$cache go build $x
                              ^^^^^^ Usage of undefined variable '$cache'
",
    );
}

#[test]
fn what_comes_from_elsewhere_is_defined() {
    check(
        RULE,
        "\
ARG GLOBAL=1 LOST=$none
FROM a AS base
ARG GLOBAL BARE TARGETARCH
ENV FIRST=$GLOBAL$BARE$TARGETARCH PATH=/bin:$PATH
ONBUILD ENV LATE=$FIRST
FROM base AS next
ENV SECOND=$FIRST$BARE$LATE
FROM next
USER $SECOND
LABEL a='$single' b=\\$escaped c=\"\\$escaped\"
RUN echo $shell
CMD echo $shell
ENTRYPOINT [\"echo\", \"$shell\"]
HEALTHCHECK CMD echo $shell
EXPOSE $port
COPY <<\"EOF\" /x
$raw
EOF
ONBUILD USER $whoever
",
    );
}

#[test]
fn scopes_end_with_their_stage() {
    check(
        RULE,
        "\
ARG GLOBAL=1
FROM a AS base
ARG ONE=1
USER $GLOBAL
     ^^^^^^^ Usage of undefined variable '$GLOBAL'
FROM a
USER $ONE$TARGETPLATFORM
     ^^^^ Usage of undefined variable '$ONE'
         ^^^^^^^^^^^^^^^ Usage of undefined variable '$TARGETPLATFORM'
ENV A=1 B=$A
          ^^ Usage of undefined variable '$A'
",
    );
}

#[test]
fn a_trigger_is_judged_where_it_runs() {
    check(
        RULE,
        "\
FROM a AS base
ONBUILD ENV LATE=$KNOWN$unknown
                       ^^^^^^^^ Usage of undefined variable '$unknown'
ENV KNOWN=1
FROM base
FROM base
",
    );
}

#[test]
fn the_declaration_that_does_not_reach_is_pointed_at() {
    let related = |text: &str| {
        let found = run(RULE, text);
        found[0].related.first().map(|related| (related.span.start, related.message.clone()))
    };
    let outside = "declared here, outside the stage".to_owned();
    assert_eq!(related("ARG G=1\nFROM a\nUSER $G\n"), Some((4, outside)));
    let same = "defined here, by the same instruction".to_owned();
    assert_eq!(related("FROM a\nENV A=1 B=$A\n"), Some((11, same)));
    assert_eq!(related("FROM a\nUSER $TARGETARCH\n"), None);
}

#[test]
fn hadolint_knows_only_what_another_pair_defines() {
    for (env, expected) in [
        ("ENV A=1 B=$A", Some("hadolint/DL3044")),
        ("ENV B=$A A=1", Some("hadolint/DL3044")),
        ("ENV LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH", None),
        ("ENV PYTHONPATH \"${PYTHONPATH}:/app\"", None),
        ("ENV C=$C", None),
    ] {
        let found = run(RULE, &format!("FROM a\n{env}\n"));
        assert_eq!(
            found.iter().map(|finding| finding.alias).collect::<Vec<_>>(),
            [expected],
            "{env}"
        );
        let points = found[0].related.is_empty();
        assert_eq!(points, expected.is_none(), "{env}");
    }
}

/// What a base image sets is defined.
#[test]
fn variables_of_base_images_are_passed() {
    for text in [
        "FROM php:8.3-fpm\nCOPY php.ini $PHP_INI_DIR/\n",
        "FROM eclipse-temurin:21\nENV PATH=$JAVA_HOME/bin:$PATH\n",
        "FROM mcr.microsoft.com/dotnet/aspnet:8.0\nUSER $APP_UID\n",
        "FROM registry.example.com/base/python:3\nWORKDIR $APP_ROOT\n",
        "FROM bitnami/node:20 AS a\nFROM a\nWORKDIR $BITNAMI_ROOT_DIR\n",
    ] {
        assert_eq!(run(RULE, text), [], "{text}");
    }
    for text in [
        "FROM php:8.3-fpm\nCOPY a $JAVA_HOME/\n",
        "FROM debian:12\nCOPY a $PHP_INI_DIR/\n",
        "ARG V\nFROM example.com/base\nLABEL v=$V\n",
        "FROM example.com/base\nENV A=1 B=$A\n",
    ] {
        assert_eq!(run(RULE, text).len(), 1, "{text}");
    }
}
