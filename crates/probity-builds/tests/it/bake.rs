//! Bake files.

use probity_builds::Format;

use super::{Given, overridden, shown};

#[track_caller]
fn check(text: &str, expected: &str) {
    check_with(text, &[], &Given::default(), expected);
}

#[track_caller]
fn check_with(text: &str, only: &[&str], given: &Given, expected: &str) {
    assert_eq!(shown(Format::BakeHcl, text, only, given), expected);
}

const SHOP: &str = r#"
variable "TAG" { default = "1.0" }
variable "FULL" { default = "shop-${TAG}" }
registry = "example.com"
group "default" { targets = ["api", "web"] }
target "_common" {
  args = { TAG = TAG, LEVEL = 3 }
  platforms = ["linux/amd64"]
}
target "api" {
  inherits = ["_common"]
  context = "api"
  args = { LEVEL = 4, NAME = "${registry}/${FULL}" }
  contexts = { base = "target:web", src = "../src" }
}
target "web" {
  inherits = ["_common"]
  dockerfile = "web/Dockerfile"
  target = "final"
  platforms = ["linux/arm64"]
}
"#;

#[test]
fn targets_with_variables_and_inheritance() {
    check(
        SHOP,
        "\
api: api/Dockerfile in api LEVEL=4 NAME=example.com/shop-1.0 TAG=1.0 on linux/amd64 \
with base->target:web with src->../src
web: web/Dockerfile in . target final LEVEL=3 TAG=1.0 on linux/arm64",
    );
    let given = Given { variables: [("TAG", "2")].into(), ..Given::default() };
    check_with(
        SHOP,
        &["web"],
        &given,
        "web: web/Dockerfile in . target final LEVEL=3 TAG=2 on linux/arm64",
    );
}

#[test]
fn groups_and_names_choose() {
    let text = "group \"all\" { targets = [\"a\", \"more\"] }\ngroup \"more\" { targets = [\"b\", \"all\"] }\n\
                target \"a\" {}\ntarget \"b\" { dockerfile = \"B\" }\ntarget \"c\" {}\n";
    check_with(text, &["more"], &Given::default(), "a: Dockerfile in .\nb: B in .");
    check_with(
        text,
        &["d"],
        &Given::default(),
        "error: `d` is not one of its targets and groups (it has: a, b, c, all, more)",
    );
}

#[test]
fn a_matrix_makes_targets() {
    check(
        r#"
target "app" {
  name = "app-${item.name}-${replace_dots}"
  matrix = { item = [{ name = "one", port = 1 }, { name = "two", port = 2 }], replace_dots = ["a"] }
  args = { PORT = item.port }
  target = item.name
}
target "plain" {
  matrix = { version = ["1.0", "2"] }
  args = { V = version }
}
target "child" { inherits = ["plain-2"] }
"#,
        "\
app-one-a: Dockerfile in . target one PORT=1
app-two-a: Dockerfile in . target two PORT=2
child: Dockerfile in . V=2
plain-1-0: Dockerfile in . V=1.0
plain-2: Dockerfile in . V=2",
    );
}

#[test]
fn functions_give_one_note_and_hide_nothing_else() {
    check(
        r#"
function "mine" {
  params = [x]
  result = x
}
target "a" {
  dockerfile = "A"
  args = { NOW = timestamp(), NAME = upper("x"), FIXED = "1" }
}
target "b" { target = mine("x") }
"#,
        "\
a: A in . FIXED=1 NAME=? NOW=?
b: Dockerfile in .
note: values that call functions are left out: `mine`, `timestamp`, `upper`",
    );
}

/// A value that depends on a function is unknown, not empty, and a build whose Dockerfile is unknown
/// is not that of another Dockerfile.
#[test]
fn what_depends_on_a_function_is_unknown() {
    check(
        r#"
variable "D" { default = join("/", ["", "srv"]) }
variable "E" { default = "${D}/e" }
target "a" { args = { D = D, E = E, F = "${E}/f" } }
target "b" { context = format("%s", "b") }
target "c" { dockerfile = D }
target "d" {
  inherits = ["c"]
  context = "d"
}
target "e" { target = "" }
"#,
        "\
a: Dockerfile in . D=? E=? F=?
e: Dockerfile in .
note: values that call functions are left out: `format`, `join`
note: b: it is not checked, because its context or Dockerfile is unknown
note: d: it is not checked, because its context or Dockerfile is unknown",
    );
}

#[test]
fn wrong_references_are_notes() {
    check(
        r#"
target "a" { inherits = ["b"] }
target "b" { inherits = ["a"] }
group "g" { targets = ["a", "d", "c"] }
target "c" { inherits = ["nowhere"] }
target "d" { target = unknown_variable }
"#,
        "\
a: Dockerfile in .
c: Dockerfile in .
d: Dockerfile in .
note: d: a value is left out: undefined variable `unknown_variable`
note: a: it inherits in a circle: `a` inherits `b` inherits `a`
note: c: it inherits `nowhere`, which does not exist",
    );
}

#[test]
fn conditionals_and_inline_dockerfiles() {
    let text = "variable \"CI\" { default = \"\" }\ntarget \"a\" {\n  target = CI == \"\" ? \"dev\" : \"prod\"\n\
                  dockerfile-inline = <<EOF\nFROM scratch\nCOPY a /\nEOF\n}\n";
    check(text, "a: inline \"FROM scratch\\nCOPY a /\\n\" at 1 +0 whole in . target dev");
}

#[test]
fn json_has_the_same_meaning() {
    let text = r#"{"variable": {"TAG": {"default": "1"}}, "group": {"default": {"targets": ["a"]}},
      "target": {"a": {"context": "app", "args": {"V": "v${TAG}", "N": 3, "X": null}}, "_b": {}}}"#;
    assert_eq!(
        shown(Format::BakeJson, text, &[], &Given::default()),
        "a: app/Dockerfile in app N=3 V=v1 X=?"
    );
    assert_eq!(
        shown(Format::BakeJson, "{\n\"target\": }", &[], &Given::default()),
        "error: line 2: it is not valid JSON"
    );
}

#[test]
fn wrong_files_say_where() {
    let found = shown(Format::BakeHcl, "target \"a\" {\n  args = {\n", &[], &Given::default());
    assert!(found.starts_with("error: line "), "{found}");
}

/// As Bake does, by `type` or else by the default.
#[test]
fn variables_of_the_environment_have_types() {
    let text = r#"
variable "JOBS" {
  type = number
}
variable "FAST" { default = false }
variable "NAME" { default = "a" }
variable "LIST" { default = ["a"] }
target "a" {
  args = { NEXT = JOBS + 1, MODE = FAST ? "fast" : "slow", NAME = "${NAME}!", LIST = LIST }
}
"#;
    for (variables, expected) in [
        (
            vec![("JOBS", "4"), ("FAST", "true"), ("NAME", "7")],
            "a: Dockerfile in . LIST=? MODE=fast NAME=7! NEXT=5",
        ),
        (
            vec![("JOBS", "0.5"), ("FAST", "0")],
            "a: Dockerfile in . LIST=? MODE=slow NAME=a! NEXT=1.5",
        ),
        (
            vec![("JOBS", "many"), ("FAST", "yes"), ("LIST", "b,c")],
            "a: Dockerfile in . LIST=? MODE=? NAME=a! NEXT=?\n\
             note: FAST: its value in the environment is left out: it is not a boolean\n\
             note: JOBS: its value in the environment is left out: it is not a number\n\
             note: LIST: its value in the environment is left out: lists and maps cannot be read",
        ),
    ] {
        let given = Given { variables: variables.into_iter().collect(), ..Given::default() };
        check_with(text, &[], &given, expected);
    }
}

#[test]
fn blocks_of_one_target_merge() {
    check(
        r#"
target "a" {
  context = "one"
  args = { A = 1, "B" = 2 }
  contexts = { x = "x1" }
  platforms = ["linux/amd64"]
}
target "a" {
  context = "two"
  args = { B = 3, C = 4 }
  contexts = { y = "y1" }
  platforms = ["linux/arm64"]
}
"#,
        "a: two/Dockerfile in two A=1 B=3 C=4 on linux/arm64 with x->x1 with y->y1",
    );
}

#[test]
fn lists_of_blocks_in_json_are_blocks() {
    for text in [
        r#"{"variable": [{"T": {"default": "1"}}], "group": [{"default": [{"targets": ["a"]}]}],
            "target": [{"a": {"args": {"A": "${T}", "B": "2"}}}, {"a": {"args": {"B": "3"}}}]}"#,
        r#"[{"variable": {"T": {"default": "1"}}},
            {"target": {"a": [{"args": {"A": "${T}", "B": "2"}}, {"args": {"B": "3"}}]}}]"#,
    ] {
        let found = shown(Format::BakeJson, text, &[], &Given::default());
        assert_eq!(found, "a: Dockerfile in . A=1 B=3", "{text}");
    }
}

#[test]
fn files_beside_it_win() {
    let text = "variable \"T\" { default = \"1\" }\n\
                target \"a\" {\n  args = { A = T, B = \"1\" }\n  target = \"dev\"\n}\n";
    let json = r#"{"target": {"a": {"args": {"B": "2"}}, "b": {"dockerfile": "B"}}}"#;
    let hcl = "variable \"T\" { default = \"3\" }\ntarget \"a\" { target = \"prod\" }\n";
    assert_eq!(
        overridden(Format::BakeHcl, text, &[(Format::BakeJson, json), (Format::BakeHcl, hcl)]),
        "a: Dockerfile in . target prod A=3 B=2\nb: B in ."
    );
    assert_eq!(
        overridden(Format::BakeHcl, text, &[(Format::BakeJson, "{\n}}")]),
        "error: `override`: line 2: it is not valid JSON"
    );
}

#[test]
fn the_working_directory_is_that_of_the_file() {
    check(
        r#"
target "a" { context = "cwd://sub" }
target "b" {
  context = "cwd://"
  contexts = { x = "cwd://y" }
}
target "c" { context = "https://example.com/x.git" }
"#,
        "\
a: sub/Dockerfile in sub
b: Dockerfile in . with x->y
c: remote in https://example.com/x.git",
    );
}

#[test]
fn a_circle_of_bases_is_named() {
    check(
        r#"
target "a" { inherits = ["b"] }
target "b" { inherits = ["c"] }
target "c" { inherits = ["b"] }
group "g" { targets = ["a"] }
"#,
        "a: Dockerfile in .\nnote: a: it inherits in a circle: `b` inherits `c` inherits `b`",
    );
}
