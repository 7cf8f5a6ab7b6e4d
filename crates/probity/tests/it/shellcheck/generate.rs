//! Shell texts from a grammar that is written down as data.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::oracle::random::Random;

/// The ways to write each name.
static GRAMMAR: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut ways = BTreeMap::<&str, Vec<&str>>::new();
    for (name, way) in include_str!("grammar.txt").lines().filter_map(|line| line.split_once(" = "))
    {
        ways.entry(name).or_default().push(way);
    }
    ways
});

/// How deep what is written may stand in what is written.
const DEPTH: usize = 5;

const SHELLS: [&str; 6] = ["sh", "sh", "bash", "bash", "dash", "ash"];

/// The shell and the text of a case.
pub(super) fn text(case: u64) -> (&'static str, String) {
    let mut random = Random::new(case);
    let shell = random.pick(&SHELLS);
    let mut text = String::new();
    expand("text", &mut random, DEPTH, &mut text);
    (shell, text)
}

fn expand(name: &str, random: &mut Random, depth: usize, out: &mut String) {
    let mut ways = GRAMMAR[name].clone();
    if depth == 0 {
        let own = format!("<{name}>");
        let flat: Vec<&str> = ways
            .iter()
            .copied()
            .filter(|way| !way.contains(&own) && !way.contains("<command>"))
            .collect();
        ways = if flat.is_empty() { ways } else { flat };
    }
    let mut rest = random.pick(&ways);
    while let Some(letter) = rest.chars().next() {
        let inner = rest.strip_prefix('<').and_then(|it| it.split_once('>'));
        if let Some((inner, behind)) = inner.filter(|(inner, _)| GRAMMAR.contains_key(inner)) {
            expand(inner, random, depth.saturating_sub(1), out);
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("\\n") {
            out.push('\n');
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("\\\\") {
            out.push('\\');
            rest = behind;
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
}
