//! What the top of a module binds: constants, the members of objects, and static members.
//!
//! An import runs these lines, whoever imports, so that having run says nothing. A test that names
//! what they bind may look at it, and the control tells whether it does: the value can be another.

use std::collections::BTreeSet;

use super::{
    super::{alter::words, constant::without_text, runner::Flagged},
    switch::Function,
};

/// Beginnings of what binds something, without `export`.
const BINDS: [&str; 3] = ["const ", "let ", "var "];

/// Words of a declaration that name nothing.
const DECLARING: [&str; 4] = ["export", "const", "let", "var"];

/// Those of one claim: members of large tables would use up all alterations.
const MOST: usize = 3;

/// What the flagged lines bind that the test names, the innermost first. None if a function has one
/// of these lines.
pub(super) fn bindings(
    source: &str,
    flagged: &Flagged,
    named: &BTreeSet<String>,
    functions: &[Function],
) -> Vec<Function> {
    if functions.iter().any(|function| function.is_at(flagged)) {
        return Vec::new();
    }
    let bare = without_text(source);
    let mut found = Vec::new();
    for statement in statements(&bare, flagged) {
        members(&bare, &statement, flagged, &mut found);
        declared(&bare, &statement, &mut found);
    }
    let required = |at: usize| {
        bare.get(at..).is_some_and(|behind| behind.trim_start().starts_with("require("))
    };
    found.retain(|(names, at)| names.iter().any(|it| named.contains(it)) && !required(*at));
    let binding = |(names, at): (Vec<String>, usize)| {
        let name = names.into_iter().find(|it| named.contains(it)).unwrap_or_default();
        Function::of_binding(name, flagged, at)
    };
    found.into_iter().map(binding).take(MOST).collect()
}

/// A part of the source that stands by itself.
struct Statement {
    start: usize,
    end: usize,
}

/// Those at the top of the module that have flagged lines.
fn statements(bare: &str, flagged: &Flagged) -> Vec<Statement> {
    let mut found: Vec<(Statement, u32, u32)> = Vec::new();
    let (mut depth, mut at) = (0_i32, 0);
    for (number, line) in (1_u32..).zip(bare.split_inclusive('\n')) {
        let begins = line.starts_with(|it: char| it.is_alphabetic() || "_$@".contains(it));
        match found.last_mut() {
            Some((last, _, until)) if depth > 0 || !begins => {
                last.end = at + line.len();
                *until = number;
            }
            _ if begins => {
                let statement = Statement { start: at, end: at + line.len() };
                found.push((statement, number, number));
            }
            _ => {}
        }
        depth += depth_of(line);
        at += line.len();
    }
    let flagged = |(_, first, last): &(Statement, u32, u32)| flagged.holds(*first, *last);
    found.into_iter().filter(flagged).map(|(statement, ..)| statement).collect()
}

fn depth_of(text: &str) -> i32 {
    let step = |it: u8| match it {
        b'(' | b'[' | b'{' => 1,
        b')' | b']' | b'}' => -1,
        _ => 0,
    };
    text.bytes().map(step).sum()
}

/// `NAME = …`, for each that the statement declares or assigns.
fn declared(bare: &str, statement: &Statement, found: &mut Vec<(Vec<String>, usize)>) {
    let text = bare.get(statement.start..statement.end).unwrap_or_default();
    let plain = text.strip_prefix("export ").unwrap_or(text);
    let declares = BINDS.iter().any(|begin| plain.starts_with(begin));
    if !declares && !plain.starts_with("module.exports") && !plain.starts_with("exports.") {
        return;
    }
    let bytes = text.as_bytes();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, byte) in bytes.iter().enumerate() {
        depth += depth_of(text.get(at..=at).unwrap_or_default());
        match byte {
            b',' if depth == 0 => from = at,
            b'=' if depth == 0 => {
                let previous = at.checked_sub(1).and_then(|it| bytes.get(it));
                let compares = matches!(bytes.get(at + 1), Some(b'=' | b'>'))
                    || matches!(previous, Some(b'=' | b'!' | b'<' | b'>'));
                let left = text.get(from..at).unwrap_or_default();
                if !compares {
                    // The type of a variable is none of its names.
                    let left = if left.contains('{') { left } else { before_type(left) };
                    let names = words(left).into_iter().filter(|it| !DECLARING.contains(&&**it));
                    found.push((names.collect(), statement.start + at + 1));
                    from = at;
                }
            }
            _ => {}
        }
    }
}

fn before_type(left: &str) -> &str {
    left.split(':').next().unwrap_or(left)
}

/// `NAME: …` in an object and `static NAME = …` in a class, on flagged lines.
fn members(
    bare: &str,
    statement: &Statement,
    flagged: &Flagged,
    found: &mut Vec<(Vec<String>, usize)>,
) {
    let text = bare.get(statement.start..statement.end).unwrap_or_default();
    let plain = text.strip_prefix("export ").unwrap_or(text);
    let plain = plain.strip_prefix("default ").unwrap_or(plain);
    let is_object = plain.starts_with('{')
        || plain.starts_with("module.exports")
        || plain.starts_with("exports.")
        || BINDS.iter().any(|begin| plain.starts_with(begin));
    let is_class = words(plain.split('{').next().unwrap_or_default()).contains("class");
    // Before that there may be a type, whose members are none.
    let values = if plain.starts_with('{') { 0 } else { text.find(" = ").unwrap_or(text.len()) };
    let mut at = statement.start;
    for line in text.split_inclusive('\n') {
        let before = bare.get(..at).unwrap_or_default();
        let number = before.bytes().filter(|it| *it == b'\n').count();
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        if flagged.holds(number, number) {
            if let Some(behind) = line.find("static ").filter(|_| is_class) {
                let member = line.get(behind + 7..).unwrap_or_default();
                if let Some((left, _)) = member.split_once('=').filter(|it| !it.0.contains('(')) {
                    let names = words(before_type(left)).into_iter().collect();
                    found.push((names, at + behind + 7 + left.len() + 1));
                }
            }
            for (colon, _) in line.match_indices(':').filter(|_| is_object) {
                let place = at + colon;
                let left = bare.get(statement.start..place).unwrap_or_default().trim_end();
                let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
                let rest = left.trim_end_matches(is_word);
                let key = left.get(rest.len()..).unwrap_or_default();
                let opens = rest.trim_end().ends_with(['{', ',']);
                if opens && !key.is_empty() && place > statement.start + values {
                    found.push((vec![key.to_owned()], place + 1));
                }
            }
        }
        at += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::bindings;
    use crate::proof::{
        alter::words,
        javascript::switch::{armed, functions},
        runner::Flagged,
    };

    const SOURCE: &str = "import { x } from 'y';
export const LIMIT: number = 10;
const rates: { [name: string]: number } = {
  low: 1,
  high: { deep: 2, more: [3] },
};
export const join = (a) => a;
export const A = 1, B = 2;
export class Box {
  static readonly SIZE: number = 3;
  static make() { return 1; }
}
module.exports = { LIMIT, rate: 0.2 };
exports.other = 4;
export default {
  retries: 3,
};
interface Shape { low: number }
const fs = require('fs');
const { one, two } = x();
";

    #[test]
    fn what_the_top_of_a_module_binds_is_found_and_can_be_another() {
        let table: &[(u32, &str, &str)] = &[
            (2, "LIMIT", "number = ? 10;"),
            (2, "other", ""),
            (4, "rates low", "low: ? 1|} = ? {"),
            (5, "deep", "deep: ? 2,"),
            (7, "join", ""),
            (8, "B", "B = ? 2;"),
            (10, "Box SIZE", "number = ? 3;"),
            (11, "make", ""),
            (13, "rate", "rate: ? 0.2 };"),
            (14, "other", "other = ? 4;"),
            (16, "retries", "retries: ? 3,"),
            (18, "low Shape", ""),
            (19, "fs", ""),
            (20, "two", "} = ? x();"),
            (1, "x", ""),
            (99, "x", ""),
        ];
        for (line, names, expected) in table {
            let flagged = Flagged { file: String::new(), first: *line, last: *line };
            let found = bindings(SOURCE, &flagged, &words(names), &functions(SOURCE));
            let ask = "Reflect.get(globalThis, \"zz\")";
            let mut text = armed(SOURCE, &found, "zz");
            for id in 0..found.len() {
                text = text.replace(&format!(" {ask}?.({id}) ? {ask}({id})[0]() : "), " ?");
            }
            for part in expected.split('|').filter(|it| !it.is_empty()) {
                assert!(text.contains(part), "{line} {names}: {text}");
            }
            let count = expected.split('|').filter(|it| !it.is_empty()).count();
            assert_eq!(found.len(), count, "{line} {names}: {text}");
        }
        for source in
            ["", "const", "export default {", "const {a:", "= :", "class { static =", "\u{fc}:"]
        {
            let flagged = Flagged { file: String::new(), first: 1, last: 1 };
            assert!(bindings(source, &flagged, &words("x"), &[]).is_empty(), "{source}");
        }
    }
}
