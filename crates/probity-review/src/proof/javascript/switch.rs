//! Switches in JavaScript and TypeScript functions: a test that is told so makes them return other
//! values.
//!
//! The switches ask a function that the beginning of a test's file may define, so that many copies of
//! the test, each with a plan of its own, run in one process of a framework. What is added stays on
//! the line that opens the function, so that no line moves; and it is what every compiler of types
//! takes.

use std::collections::BTreeSet;

use super::super::{
    alter::Literals,
    constant::{closing, without_text},
    runner::Flagged,
};

/// Words before a parenthesis that call nothing and declare nothing.
const KEYWORDS: [&str; 16] = [
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "function",
    "return",
    "constructor",
    "with",
    "await",
    "super",
    "typeof",
    "new",
    "import",
    "of",
    "in",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    first: u32,
    last: u32,
    /// Byte offset at which something can be added.
    body: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Has its arguments under a name.
    Block,
    BlockOfArrow,
    Expression,
}

impl Function {
    /// A value at the top of a module, which begins at this offset.
    pub(super) fn of_binding(name: String, flagged: &Flagged, body: usize) -> Self {
        let Flagged { first, last, .. } = *flagged;
        Self { name, first, last, body, kind: Kind::Expression }
    }

    pub(super) fn is_at(&self, flagged: &Flagged) -> bool {
        flagged.holds(self.first, self.last)
    }

    /// Whether calls can be told apart by their arguments.
    pub(super) fn has_arguments(&self) -> bool {
        self.kind == Kind::Block
    }

    fn switch(&self, id: usize, variable: &str) -> String {
        let ask = format!("Reflect.get(globalThis, \"{variable}\")");
        match self.kind {
            Kind::Block => format!(
                " const {variable} = {ask}?.({id}, arguments); if ({variable}) return {variable}[0](); "
            ),
            Kind::BlockOfArrow => {
                format!(
                    " const {variable} = {ask}?.({id}); if ({variable}) return {variable}[0](); "
                )
            }
            Kind::Expression => format!(" {ask}?.({id}) ? {ask}({id})[0]() : "),
        }
    }
}

/// The source with a switch in each of these functions, which have their numbers for names.
pub(super) fn armed(source: &str, functions: &[Function], variable: &str) -> String {
    let mut numbered: Vec<(usize, &Function)> = functions.iter().enumerate().collect();
    numbered.sort_by_key(|(_, function)| function.body);
    let (mut text, mut done) = (String::with_capacity(source.len()), 0);
    for (id, function) in numbered {
        text.push_str(source.get(done..function.body).unwrap_or_default());
        text.push_str(&function.switch(id, variable));
        done = function.body;
    }
    text.push_str(source.get(done..).unwrap_or_default());
    text
}

/// Makes a function return an expression: always, or if its arguments are these, as JSON.
pub(super) fn plan(id: usize, value: &str, like: Option<&str>, variable: &str) -> String {
    let condition = like.map_or_else(String::new, |key| {
        format!(" && JSON.stringify([...arguments[1]]) === {}", serde_json::Value::from(key))
    });
    format!(
        "Reflect.set(globalThis, \"{variable}\", function () {{ return arguments[0] === {id}{condition} \
         ? [() => ({value})] : undefined; }}); "
    )
}

/// Makes all functions write down their calls: the number, and the arguments as JSON.
pub(super) fn telling(file: &str, variable: &str) -> String {
    let file = serde_json::Value::from(file);
    format!(
        "Reflect.set(globalThis, \"{variable}\", function () {{ let told = \"\"; try {{ told = \
         JSON.stringify([...(arguments[1] ?? [])]); }} catch {{ }} process.getBuiltinModule(\"fs\")\
         .appendFileSync({file}, arguments[0] + \" \" + told + \"\\n\"); }}); "
    )
}

/// The functions around the flagged lines first, then those that the test names.
pub(super) fn wanted(source: &str, flagged: &Flagged, named: &BTreeSet<String>) -> Vec<Function> {
    let mut ranked: Vec<(bool, Function)> = functions(source)
        .into_iter()
        .map(|function| (!function.is_at(flagged), function))
        .filter(|(elsewhere, function)| !elsewhere || named.contains(&function.name))
        .collect();
    ranked.sort_by_key(|(elsewhere, _)| *elsewhere);
    ranked.into_iter().map(|(_, function)| function).take(6).collect()
}

/// Expressions to return, what the test waits for first: these failures too, if it waits for one.
pub(super) fn values(
    literals: &Literals,
    expected: Option<&str>,
    failures: &[String],
    waits: bool,
) -> Vec<String> {
    let numbers = literals.numbers.iter().map(|number| format!("({number})"));
    let strings =
        literals.strings.iter().map(|text| serde_json::Value::from(text.as_str()).to_string());
    let usual = ["true", "undefined", "false", "({})", "[]", "null"].map(str::to_owned);
    let mut values: Vec<String> = expected.map(|it| format!("({it})")).into_iter().collect();
    values.extend(failures.iter().filter(|_| waits).cloned());
    values.extend(numbers.clone().take(5).chain(strings.clone().take(2)));
    values.extend(usual.iter().take(2).cloned().chain(failures.first().cloned()));
    values.extend(usual.iter().skip(2).cloned().chain(numbers).chain(strings));
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

pub(super) fn functions(source: &str) -> Vec<Function> {
    let bare = without_text(source);
    let bytes = bare.as_bytes();
    let mut found: Vec<Function> = Vec::new();
    for (open, _) in bare.match_indices('(') {
        let Some(close) = closing(bytes, open) else { continue };
        let Some((body, is_arrow)) = behind(&bare, close + 1) else { continue };
        let before = bare.get(..open).unwrap_or_default().trim_end();
        let Some(name) = name_of(before, is_arrow) else { continue };
        found.extend(function(&bare, name, open, body, is_arrow));
    }
    // An arrow with one parameter may go without parentheses.
    for (at, _) in bare.match_indices("=>") {
        let before = bare.get(..at).unwrap_or_default().trim_end();
        let parameter = last_word(before);
        let rest = before.get(..before.len() - parameter.len()).unwrap_or_default().trim_end();
        if parameter.is_empty() {
            continue;
        }
        if let (Some(name), Some((body, true))) = (name_of(rest, true), behind(&bare, at)) {
            found.extend(function(&bare, name, at, body, true));
        }
    }
    found.sort_by_key(|function| function.body);
    found.dedup_by_key(|function| function.body);
    found
}

fn function(bare: &str, name: &str, start: usize, body: usize, is_arrow: bool) -> Option<Function> {
    let line = |offset: usize| {
        let lines =
            bare.get(..offset).unwrap_or_default().bytes().filter(|it| *it == b'\n').count();
        u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
    };
    let rest = bare.get(body..)?;
    let block = rest.trim_start().starts_with('{');
    let open = body + rest.len() - rest.trim_start().len();
    let (body, last, kind) = match (block, is_arrow) {
        (true, _) => {
            let kind = if is_arrow { Kind::BlockOfArrow } else { Kind::Block };
            (open + 1, closing(bare.as_bytes(), open)?, kind)
        }
        (false, true) => {
            (body, open + rest.trim_start().find(['\n', ';']).unwrap_or(0), Kind::Expression)
        }
        (false, false) => return None,
    };
    Some(Function { name: name.to_owned(), first: line(start), last: line(last), body, kind })
}

/// Where the body begins behind a list of parameters, and whether an arrow leads to it.
fn behind(bare: &str, mut at: usize) -> Option<(usize, bool)> {
    let rest = bare.get(at..)?;
    let trimmed = rest.trim_start();
    at += rest.len() - trimmed.len();
    if trimmed.starts_with('{') {
        return Some((at, false));
    }
    if trimmed.starts_with("=>") {
        return Some((at + 2, true));
    }
    if !trimmed.starts_with(':') {
        return None;
    }
    // The type of the result, which may be in braces itself.
    let bytes = bare.as_bytes();
    at += 1;
    let mut begun = false;
    loop {
        match bytes.get(at)? {
            b'{' if begun => return Some((at, false)),
            b'=' if bytes.get(at + 1) == Some(&b'>') => return Some((at + 2, true)),
            b'{' | b'(' | b'[' => {
                at = closing(bytes, at)? + 1;
                begun = true;
            }
            b'<' => {
                let mut depth = 0_i32;
                loop {
                    match bytes.get(at)? {
                        b'<' => depth += 1,
                        b'>' => depth -= 1,
                        b';' => return None,
                        _ => {}
                    }
                    at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                begun = true;
            }
            b';' | b')' | b',' | b'}' => return None,
            byte => {
                begun |= !byte.is_ascii_whitespace();
                at += 1;
            }
        }
    }
}

/// The name that what follows is declared under.
fn name_of(before: &str, is_arrow: bool) -> Option<&str> {
    let word = last_word(before);
    let rest = before.get(..before.len() - word.len())?.trim_end();
    if is_arrow {
        // `NAME = (` or `NAME = async (` or `NAME: (`; the type of a variable may stand between.
        let assigned = if word == "async" { rest } else { before };
        let left = assigned.strip_suffix(['=', ':'])?.trim_end();
        let left = left.rsplit(['\n', ';', '{', ',']).next()?.trim();
        let left = left.split(':').next()?.trim();
        return Some(last_word(left)).filter(|name| !name.is_empty());
    }
    if word == "function" || (word.is_empty() && rest.ends_with('*')) {
        let left = rest.strip_suffix('=')?.trim_end();
        return Some(last_word(left)).filter(|name| !name.is_empty());
    }
    if word.is_empty()
        || KEYWORDS.contains(&word)
        || word.starts_with(|it: char| it.is_ascii_digit())
    {
        return None;
    }
    let previous = last_word(rest);
    let declared = ["function", "async", "get", "set", "static", "public", "private", "protected"];
    let begins = rest.is_empty()
        || rest.ends_with(['{', '}', ';', ',', '*', '/'])
        || !rest.ends_with(['.', '=', '(', '?', ':', '!', '&', '|', '+']) && previous.is_empty();
    (declared.contains(&previous) || begins).then_some(word)
}

fn last_word(text: &str) -> &str {
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$' || it == '#';
    let start = text.trim_end_matches(is_word).len();
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{armed, functions, plan, values};
    use crate::proof::alter::Literals;

    #[test]
    fn functions_of_every_shape_are_found() {
        let source = "export function a(x = {}) {\n  if (x) { b(x); }\n  return 'f() {';\n}\n\
            const c = (x) => x + 1;\nconst d = async x => { return x; };\n\
            export default class E {\n  constructor(x) { this.x = x; }\n  f(x) {\n    return x;\n  }\n\
            get g() { return 1; }\n  static async h() { return 1; }\n}\n\
            function* i() { yield 1; }\nconst j: (x: number) => number = (x) => x;\n\
            export function k(a: number): { b: number } {\n  return { b: a };\n}\n\
            function l(): Promise<Array<string>> { return m(() => 1); }\n\
            module.exports.n = function (x) { return x; };\nconst o = { p: (x) => x, q(x) { return x; } };\n";
        let found: Vec<String> = functions(source)
            .iter()
            .map(|it| format!("{} {}-{}", it.name, it.first, it.last))
            .collect();
        assert_eq!(
            found,
            [
                "a 1-4", "c 5-5", "d 6-6", "f 9-11", "g 12-12", "h 13-13", "i 15-15", "j 16-16",
                "j 16-16", "k 17-19", "l 20-20", "n 21-21", "p 22-22", "q 22-22"
            ]
        );
        let source = "const c = (x) => x + 1;\nfunction d(x) { return x; }\n";
        let found = functions(source);
        let text = armed(source, &found, "zz");
        let ask = "Reflect.get(globalThis, \"zz\")";
        assert_eq!(
            text,
            format!(
                "const c = (x) => {ask}?.(0) ? {ask}(0)[0]() :  x + 1;\n\
                 function d(x) {{ const zz = {ask}?.(1, arguments); if (zz) return zz[0]();  return x; }}\n"
            )
        );
        assert!(
            plan(1, "(2)", Some("[\"a\"]"), "zz").contains("=== \"[\\\"a\\\"]\" ? [() => ((2))]")
        );
    }

    #[test]
    fn nonsense_is_borne() {
        for source in ["", "(", "=>", "a(", "):{", "a=>", "x = (", "(): <"] {
            assert!(functions(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn what_is_expected_comes_first() {
        let failures = ["fail()", "fail(1)"].map(str::to_owned);
        let literals = Literals::of("assert(f('a') === 5)", "");
        let found = values(&literals, Some("[1]"), &failures, false);
        assert_eq!(found.first().unwrap(), "([1])");
        assert!(found.contains(&"(5)".to_owned()) && found.contains(&"\"a\"".to_owned()));
        assert!(found.contains(&failures[0]) && !found.contains(&failures[1]));
        let found = values(&literals, None, &failures, true);
        assert_eq!(found[..2], failures);
    }
}
