//! Functions of a JavaScript or TypeScript source, made to return something else.
//!
//! Nothing is compiled ahead, so that each alteration is a text of its own. What is added stays on
//! the line that opens the function, so that no line moves.

use std::collections::BTreeSet;

use super::super::{alter::Literals, constant::without_text, runner::Flagged};

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

/// To which calls an alteration applies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Calls<'a> {
    All,
    /// To those with these arguments, as JSON.
    Like(&'a str),
}

impl Function {
    /// Whether calls can be told apart by their arguments.
    pub(super) fn has_arguments(&self) -> bool {
        self.kind == Kind::Block
    }

    /// The source in which it returns this expression.
    pub(super) fn returning(&self, source: &str, value: &str, calls: Calls<'_>) -> String {
        let condition = match calls {
            Calls::All => "true".to_owned(),
            Calls::Like(key) => {
                let key = serde_json::Value::from(key);
                format!("JSON.stringify([...arguments]) === {key}")
            }
        };
        self.with(
            source,
            &match self.kind {
                Kind::Expression => format!(" {condition} ? {value} : "),
                _ => format!(" if ({condition}) return {value}; "),
            },
        )
    }

    /// The source in which it writes down its arguments, one call a line.
    pub(super) fn telling(&self, source: &str, file: &str) -> String {
        let file = serde_json::Value::from(file);
        let arguments = match self.kind {
            Kind::Block => "JSON.stringify([...arguments])",
            _ => "0",
        };
        let tell = format!(
            "process.getBuiltinModule(\"fs\").appendFileSync({file}, {arguments} + \"\\n\")"
        );
        self.with(
            source,
            &match self.kind {
                Kind::Expression => format!(" {tell} || "),
                _ => format!(" {tell}; "),
            },
        )
    }

    fn with(&self, source: &str, added: &str) -> String {
        let (before, after) = source.split_at_checked(self.body).unwrap_or((source, ""));
        format!("{before}{added}{after}")
    }
}

/// The functions around the flagged lines first, then those that the test names.
pub(super) fn wanted(source: &str, flagged: &Flagged, named: &BTreeSet<String>) -> Vec<Function> {
    let mut ranked: Vec<(bool, Function)> = functions(source)
        .into_iter()
        .map(|function| (!flagged.holds(function.first, function.last), function))
        .filter(|(elsewhere, function)| !elsewhere || named.contains(&function.name))
        .collect();
    ranked.sort_by_key(|(elsewhere, _)| *elsewhere);
    ranked.into_iter().map(|(_, function)| function).take(6).collect()
}

/// Expressions to return, what the test waits for first.
pub(super) fn values(literals: &Literals, expected: Option<&str>) -> Vec<String> {
    let mut values: Vec<String> = expected.map(|it| format!("({it})")).into_iter().collect();
    let thrown = "(() => { throw new Error(\"probity\") })()";
    values.extend(["true", "undefined", thrown, "false", "({})", "[]", "null"].map(str::to_owned));
    values.extend(literals.numbers.iter().map(|number| format!("({number})")));
    values.extend(
        literals.strings.iter().map(|text| serde_json::Value::from(text.as_str()).to_string()),
    );
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

fn functions(source: &str) -> Vec<Function> {
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

fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Calls, functions, values};
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
                "k 17-19", "l 20-20", "n 21-21", "p 22-22", "q 22-22"
            ]
        );
        let one = functions("const c = (x) => x + 1;\nfunction d(x) { return x; }\n");
        assert_eq!(
            one[0].returning("const c = (x) => x + 1;", "(2)", Calls::All),
            "const c = (x) => true ? (2) :  x + 1;"
        );
        let source = "const c = (x) => x + 1;\nfunction d(x) { return x; }\n";
        let text = one[1].returning(source, "null", Calls::Like("[\"a\"]"));
        assert!(text.contains("{ if (JSON.stringify([...arguments]) === \"[\\\"a\\\"]\") return null;  return x; }"), "{text}");
    }

    #[test]
    fn nonsense_is_borne() {
        for source in ["", "(", "=>", "a(", "):{", "a=>", "x = (", "(): <"] {
            assert!(functions(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn what_is_expected_comes_first() {
        let found = values(&Literals::of("assert(f('a') === 5)", ""), Some("[1]"));
        assert_eq!(found.first().unwrap(), "([1])");
        assert!(found.contains(&"(5)".to_owned()) && found.contains(&"\"a\"".to_owned()));
    }
}
