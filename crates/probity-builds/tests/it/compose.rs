//! Compose files.

use probity_builds::Format;

use super::{Given, overridden, shown};

#[track_caller]
fn check(text: &str, expected: &str) {
    check_with(text, &[], &Given::default(), expected);
}

#[track_caller]
fn check_with(text: &str, only: &[&str], given: &Given, expected: &str) {
    assert_eq!(shown(Format::Compose, text, only, given), expected);
}

#[test]
fn short_and_long_forms() {
    check(
        "\
services:
  api:
    build: ./api
  web:
    image: shop/web
    platform: linux/arm64
    build:
      context: web
      dockerfile: docker/Dockerfile.prod
      target: runtime
      args:
        VERSION: 1.10
        DEBUG: true
        FROM_ENVIRONMENT:
      additional_contexts:
        - shared=../shared
        - base=docker-image://debian:12
      platforms: [linux/amd64, linux/arm64]
  list:
    platform: linux/s390x
    build:
      context: .
      args: ['A=1', 'B']
  database:
    image: postgres:16
  nothing:
",
        "\
api: ./api/Dockerfile in ./api
list: Dockerfile in . A=1 B=? on linux/s390x
web: web/docker/Dockerfile.prod in web target runtime DEBUG=true FROM_ENVIRONMENT=? VERSION=1.1 \
on linux/amd64 on linux/arm64 with base->docker-image://debian:12 with shared->../shared",
    );
}

#[test]
fn anchors_merge_keys_and_extension_fields() {
    check(
        "\
x-build: &build
  context: .
  args: {A: '1'}
services:
  one:
    build: *build
  two:
    build:
      <<: *build
      dockerfile: Two
",
        "one: Dockerfile in . A=1\ntwo: Two in . A=1",
    );
}

#[test]
fn variables_come_from_outside() {
    let given = Given { variables: [("DIR", "services/api")].into(), ..Given::default() };
    check_with(
        "services:\n  api:\n    build:\n      context: ${DIR:-.}\n      target: ${STAGE:-final}\n",
        &[],
        &given,
        "api: services/api/Dockerfile in services/api target final",
    );
}

#[test]
fn services_extend_each_other() {
    check(
        "\
services:
  base:
    build: {context: app, args: {A: '1', B: '2'}}
  api:
    extends: base
    build: {args: {B: '3'}, target: api}
  worker:
    extends: {service: api}
  other:
    extends: {service: x, file: other.yaml}
    build: .
  round:
    extends: about
    build: .
  about:
    extends: round
  lost:
    extends: nowhere
    build: .
",
        "\
about: Dockerfile in .
api: app/Dockerfile in app target api A=1 B=3
base: app/Dockerfile in app A=1 B=2
lost: Dockerfile in .
other: Dockerfile in .
round: Dockerfile in .
worker: app/Dockerfile in app target api A=1 B=3
note: about: it extends services in a circle
note: lost: it extends `nowhere`, which does not exist
note: other: it extends `x`, which does not exist in `other.yaml`
note: round: it extends services in a circle",
    );
}

#[test]
fn services_of_other_files_are_extended() {
    let given = Given {
        files: [
            (
                "infra/base.yaml",
                "services:\n  app:\n    extends: below\n    build: {args: {A: '1'}}\n  below:\n    \
                 build: {context: src, dockerfile: D}\n  deep:\n    extends: {file: more/x.yaml, \
                 service: low}\n",
            ),
            ("infra/more/x.yaml", "services:\n  low:\n    build: {target: t}\n"),
        ]
        .into(),
        ..Given::default()
    };
    check_with(
        "\
services:
  a:
    extends: {file: infra/base.yaml, service: app}
    build: {args: {B: '2'}}
  b:
    extends: {file: ./infra/base.yaml, service: deep}
  c:
    extends: {file: infra/base.yaml, service: nobody}
    build: {args: {B: '2'}}
",
        &[],
        &given,
        "\
a: infra/src/D in infra/src A=1 B=2
b: ./infra/more/Dockerfile in ./infra/more target t
note: c: it extends `nobody`, which does not exist in `infra/base.yaml`",
    );
}

#[test]
fn arguments_without_a_value_are_those_of_the_environment() {
    let given = Given { variables: [("TAG", "3.20")].into(), ..Given::default() };
    check_with(
        "services:\n  a:\n    build: {context: ., args: [TAG, OTHER]}\n",
        &[],
        &given,
        "a: Dockerfile in . OTHER=? TAG=3.20",
    );
}

#[test]
fn includes_are_read_and_their_paths_are_their_own() {
    let given = Given {
        files: [
            (
                "infra/compose.yaml",
                "services:\n  proxy:\n    build: proxy\n  same:\n    build: .\n",
            ),
            ("broken.yaml", "services: ["),
        ]
        .into(),
        ..Given::default()
    };
    check_with(
        "include:\n  - infra/compose.yaml\n  - path: [broken.yaml]\n  - missing.yaml\nservices: {}\n",
        &[],
        &given,
        "\
proxy: infra/proxy/Dockerfile in infra/proxy
same: infra/Dockerfile in infra
note: the included file `broken.yaml` was left out: line 1: expected mapping start
note: the included file `missing.yaml` was left out: cannot be read",
    );
}

#[test]
fn inline_dockerfiles_keep_their_place() {
    check(
        "\
services:
  literal:
    build:
      dockerfile_inline: |
        FROM alpine:3
        RUN echo $$HOME

        CMD [\"sh\"]
  folded:
    build:
      dockerfile_inline: \"FROM alpine\\nUSER app\\n\"
",
        "\
folded: inline \"FROM alpine\\nUSER app\\n\" at 11 +0 whole in .
literal: inline \"FROM alpine:3\\nRUN echo $HOME\\n\\nCMD [\\\"sh\\\"]\\n\" at 5 +8 in .",
    );
}

#[test]
fn remote_contexts_are_told_apart() {
    check(
        "services:\n  a:\n    build: https://github.com/x/y.git#main\n  b:\n    build: git@github.com:x/y.git\n",
        "a: remote in https://github.com/x/y.git#main\nb: remote in git@github.com:x/y.git",
    );
}

#[test]
fn names_choose_services() {
    let text = "services:\n  a:\n    build: a\n  b:\n    build: b\n";
    check_with(text, &["b"], &Given::default(), "b: b/Dockerfile in b");
    check_with(
        text,
        &["c"],
        &Given::default(),
        "error: `c` is not one of its services (it has: a, b)",
    );
}

#[test]
fn wrong_files_say_where() {
    check("", "");
    check(
        "services:\n  a:\n    build: [x]\n",
        "error: line 3: invalid type: sequence, expected a build context, or a map with `context`",
    );
    check("services:\n  a: {}\n  a: {}\n", "error: line 3: duplicate mapping key: a");
}

#[test]
fn an_included_project_has_its_own_directory_and_variables() {
    let service = "services:\n  NAME:\n    build:\n      context: ctx\n      args: {TAG: \"${TAG}\", HOST: \"${HOST}\"}\n";
    let [plain, moved, filed]: [&'static str; 3] =
        ["plain", "moved", "filed"].map(|name| &*service.replace("NAME", name).leak());
    let given = Given {
        variables: [("HOST", "environment")].into(),
        files: [
            ("one/compose.yaml", plain),
            ("one/.env", "TAG=one\nHOST=file\n"),
            ("two/compose.yaml", moved),
            ("elsewhere/.env", "TAG=elsewhere\n"),
            ("three/compose.yaml", filed),
            ("three/.env", "TAG=unread\n"),
            ("a.env", "TAG=a\n"),
            ("b.env", "TAG='b'\n"),
        ]
        .into(),
        ..Given::default()
    };
    check_with(
        "\
include:
  - one/compose.yaml
  - path: two/compose.yaml
    project_directory: elsewhere
  - path: three/compose.yaml
    project_directory: .
    env_file: [a.env, b.env, missing.env]
",
        &[],
        &given,
        "\
filed: ctx/Dockerfile in ctx HOST=environment TAG=b
moved: elsewhere/ctx/Dockerfile in elsewhere/ctx HOST=environment TAG=elsewhere
plain: one/ctx/Dockerfile in one/ctx HOST=environment TAG=one
note: the `env_file` `missing.env` of an include cannot be read",
    );
}

#[test]
fn a_file_beside_it_wins() {
    let text = "\
services:
  a:
    build: {context: app, target: dev, args: {A: '1', B: '1'}}
  b:
    build:
      dockerfile_inline: |
        FROM alpine:3
";
    let beside = "\
services:
  a:
    build: {target: prod, args: {B: '2'}}
  b:
    platform: linux/arm64
  c:
    build: c
";
    assert_eq!(
        overridden(Format::Compose, text, &[(Format::Compose, beside)]),
        "\
a: app/Dockerfile in app target prod A=1 B=2
b: inline \"FROM alpine:3\\n\" at 7 +8 in . on linux/arm64
c: c/Dockerfile in c"
    );
    let inline = "services:\n  b:\n    build:\n      dockerfile_inline: FROM debian:12\n";
    let found = overridden(Format::Compose, text, &[(Format::Compose, inline)]);
    assert!(found.ends_with("b: inline \"FROM debian:12\" at 1 +0 whole in ."), "{found}");
}
