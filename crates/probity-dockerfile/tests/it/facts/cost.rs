//! Files that would be expensive if anything were copied or followed per instruction.

use std::fmt::Write as _;

use probity_dockerfile::{Facts, parse};

/// Enough to make copies per instruction, and values that grow, unbearable.
const LINES: usize = 20_000;

fn facts(head: &str, line: impl Fn(usize) -> String) -> Facts {
    let mut text = head.to_owned();
    for number in 0..LINES {
        writeln!(text, "{}", line(number)).unwrap();
    }
    let facts = Facts::of(&parse(&text));
    assert_eq!(facts.contract(), Facts::of(&parse(&text)).contract());
    facts
}

#[test]
fn many_variables_are_shared() {
    let facts = facts("FROM a\n", |number| format!("ENV v{number}=$v{}", number.wrapping_sub(1)));
    assert_eq!(facts.scope(LINES).get("v7").unwrap().instruction, Some(8));
    assert!(facts.scope(7).get("v7").is_none());
}

#[test]
fn values_that_grow_become_unknown() {
    let facts = facts("FROM scratch\nENV a=x\n", |_| "ENV a=$a$a".to_owned());
    assert_eq!(facts.scope(5).get("a").unwrap().value.as_deref(), Some("xxxxxxxx"));
    assert_eq!(facts.scope(LINES).get("a").unwrap().value, None);
}

#[test]
fn values_that_creep_become_unknown() {
    let facts = facts("FROM scratch\nENV a=x\n", |_| "ENV a=${a}x".to_owned());
    assert_eq!(facts.scope(LINES).get("a").unwrap().value, None);
}

#[test]
fn a_path_that_grows_is_given_up() {
    let facts = facts("FROM scratch\n", |_| "WORKDIR a".to_owned());
    assert_eq!(facts.state(3).unwrap().workdir.path.as_deref(), Some("/a/a"));
    assert_eq!(facts.state(LINES).unwrap().workdir.path, None);
}

#[test]
fn a_long_chain_of_stages_is_followed_once() {
    let facts = facts("FROM scratch AS s\nENV a=1\n", |number| match number % 2 {
        0 => "FROM s AS s".to_owned(),
        _ => format!("LABEL l{number}=$a"),
    });
    let last = facts.final_stage().unwrap();
    assert_eq!((last.index, last.root), (LINES / 2, 0));
    assert!(facts.graph().is_reachable(0) && facts.graph().cycles().is_empty());
    assert_eq!(facts.final_runtime().entries().len(), LINES / 2 + 1);
}
