//! Other values for the flagged function: those that the test itself names.
//!
//! A test that fails whatever the code does passes with none of them. One that passes with one of
//! them rests on what the function returns, which is what P2 says.

use probity_scope::HeldDirectory;

use crate::{
    claim::FlaggedLines,
    places::read_text,
    syntax::{Function, Grammar, Parsed, Value, split},
};

/// Each may be a compilation.
pub(super) const MOST: usize = 12;
/// So many chances want as many more pairs, so that a coin has none of them.
pub(super) const MORE_PAIRS: u32 = 3;
/// Functions around or in the flagged lines that are altered.
const MOST_FUNCTIONS: usize = 2;

/// A text of the flagged file in which a function returns something else.
#[derive(Debug)]
pub(super) struct Alteration {
    pub(super) function: String,
    pub(super) text: String,
}

pub(super) fn alterations(
    root: &HeldDirectory,
    flagged: &FlaggedLines,
    test: &str,
) -> Vec<Alteration> {
    let made = || {
        let grammar = Grammar::of(&flagged.file)?;
        let source = read_text(root, &flagged.file).ok()?;
        let parsed = grammar.parse(&source)?;
        let test = grammar.parse(test)?;
        let mut found = Vec::new();
        for (name, function) in chosen(&parsed, flagged) {
            for (rank, value) in values(grammar, &function, &test).into_iter().enumerate() {
                let mut text = grammar.with_value(&source, &function, &value);
                if text.contains(GO_ERROR) {
                    text.push_str(GO_ERROR_TYPE);
                }
                found.push((rank, Alteration { function: name.clone(), text }));
            }
        }
        // The likeliest values of each function come before the others of the first.
        found.sort_by_key(|(rank, _)| *rank);
        Some(found.into_iter().take(MOST).map(|(_, alteration)| alteration).collect())
    };
    made().unwrap_or_default()
}

/// The name of the innermost function of the flagged lines.
pub(super) fn function_name(root: &HeldDirectory, flagged: &FlaggedLines) -> Option<String> {
    let source = read_text(root, &flagged.file).ok()?;
    let parsed = Grammar::of(&flagged.file)?.parse(&source)?;
    chosen(&parsed, flagged).into_iter().next().map(|(name, _)| name)
}

/// The innermost functions of the flagged lines. One without a name goes by that of the function
/// that it is in.
pub(super) fn chosen(parsed: &Parsed<'_>, flagged: &FlaggedLines) -> Vec<(String, Function)> {
    let mut functions = parsed.functions();
    functions.retain(|function| flagged.overlap(function.first, function.last));
    functions.sort_by_key(|function| function.last - function.first);
    let names: Vec<String> = functions.iter().map(|function| function.name.clone()).collect();
    let named = functions.into_iter().enumerate().filter_map(|(place, function)| {
        let name = names.iter().skip(place).find(|name| !name.is_empty())?;
        Some((name.clone(), function))
    });
    named.take(MOST_FUNCTIONS).collect()
}

pub(super) const GO_ERROR: &str = "probityError{}";
pub(super) const GO_ERROR_TYPE: &str =
    "\n\ntype probityError struct{}\n\nfunc (probityError) Error() string { return \"probity\" }\n";

fn values(grammar: Grammar, function: &Function, test: &Parsed<'_>) -> Vec<Value> {
    // What a test expects comes behind what it gives.
    let mut literals = test.literals();
    literals.reverse();
    let mut composites = test.composites();
    composites.reverse();
    let expressions: Vec<String> = match grammar {
        Grammar::Go => go(&function.result, &literals, &composites),
        Grammar::Rust => {
            let compared = test.compared_in_macros();
            let wanted = compared.into_iter().filter(|text| !text.contains(&function.name));
            let written = wanted.flat_map(|text| as_result(text, &function.result));
            let own = rust(&function.result, &literals);
            unique(written.chain(own).chain(function.alike_parameters.iter().cloned()))
        }
        Grammar::Python => script(composites, literals, ["True", "False", "None"]),
        _ => script(composites, literals, ["true", "false", "null"]),
    };
    let mut values: Vec<Value> = expressions.into_iter().map(Value::Returned).collect();
    values.truncate(MOST - 2);
    let returns = !function.result.is_empty();
    if !returns || !matches!(grammar, Grammar::Go | Grammar::Rust) {
        values.push(Value::Nothing);
    }
    values.push(Value::Thrown(grammar.throwing().to_owned()));
    values
}

fn script(composites: Vec<String>, literals: Vec<String>, words: [&str; 3]) -> Vec<String> {
    let words = words.into_iter().map(str::to_owned);
    unique(composites.into_iter().take(4).chain(literals.into_iter().take(6)).chain(words))
}

fn unique(values: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Values for each result of a Go function; the others are as a call without trouble has them.
fn go(result: &str, literals: &[String], composites: &[String]) -> Vec<String> {
    let types = go_types(result);
    let usual: Vec<String> = types.iter().map(|kind| go_zero(kind)).collect();
    let places = types.iter().enumerate();
    unique(places.flat_map(|(place, kind)| {
        let usual = &usual;
        go_values(kind, literals, composites).into_iter().map(move |value| {
            let mut all = usual.clone();
            if let Some(slot) = all.get_mut(place) {
                *slot = value;
            }
            all.join(", ")
        })
    }))
}

/// `(n int, err error)` and `(int, error)` and `int` as their types.
pub(super) fn go_types(result: &str) -> Vec<String> {
    let inner = result.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else {
        return if result.trim().is_empty() { Vec::new() } else { vec![result.trim().to_owned()] };
    };
    let parts: Vec<&str> = split(inner);
    let named = parts.iter().any(|part| part.trim().contains(' ') && !part.contains("func"));
    let mut types: Vec<String> = Vec::new();
    for part in parts.iter().rev() {
        let part = part.trim();
        let kind = match part.split_once(' ') {
            Some((_, kind)) if named => kind.trim().to_owned(),
            // `a, b int`: the type is that of the next.
            None if named => types.last().cloned().unwrap_or_default(),
            _ => part.to_owned(),
        };
        types.push(kind);
    }
    types.reverse();
    types
}

pub(super) fn go_zero(kind: &str) -> String {
    format!("*new({kind})")
}

fn go_values(kind: &str, literals: &[String], composites: &[String]) -> Vec<String> {
    let is_number = |text: &&String| {
        text.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit())
    };
    let is_text = |text: &&String| text.starts_with(['"', '`']);
    match kind {
        "bool" => vec!["true".to_owned(), "false".to_owned()],
        "string" => literals.iter().filter(is_text).take(4).cloned().collect(),
        "error" => vec![GO_ERROR.to_owned(), "nil".to_owned()],
        "any" | "interface{}" => literals.iter().take(4).cloned().collect(),
        _ if is_go_number(kind) => literals.iter().filter(is_number).take(5).cloned().collect(),
        _ if kind.starts_with('*') => {
            let pointed = kind.trim_start_matches('*');
            let to = |value: String| {
                format!("func() *{pointed} {{ it := {pointed}({value}); return &it }}()")
            };
            let values = go_values(pointed, literals, composites).into_iter().map(to);
            values.chain(["nil".to_owned()]).collect()
        }
        _ => {
            // A test from outside names the package, which the code does not.
            let inside = |text: &String| {
                let bare = text.split_once('.').map_or(text.as_str(), |(_, bare)| bare);
                [text.as_str(), bare]
                    .into_iter()
                    .find(|text| text.starts_with(kind))
                    .map(str::to_owned)
            };
            let mut found: Vec<String> = composites.iter().filter_map(inside).take(4).collect();
            // A defined type may be a number or a text underneath.
            found.extend(literals.iter().filter(is_number).take(3).cloned());
            found.extend(literals.iter().filter(is_text).take(2).cloned());
            found.push(go_zero(kind));
            found
        }
    }
}

fn is_go_number(kind: &str) -> bool {
    let bare = kind.trim_end_matches(|end: char| end.is_ascii_digit());
    matches!(bare, "int" | "uint" | "float" | "byte" | "rune" | "uintptr")
}

/// What a test compares with, in the forms in which a function may have to return it.
fn as_result(wanted: &str, result: &str) -> Vec<String> {
    let mut forms = vec![wanted.to_owned()];
    if result.contains("Vec<") {
        forms.push(format!("{wanted}.into_iter().map(Into::into).collect()"));
    } else if result.contains("String") || result.contains("Box<") {
        forms.push(format!("{wanted}.into()"));
    }
    forms
}

fn rust(result: &str, literals: &[String]) -> Vec<String> {
    let result = result.trim().trim_start_matches("->").trim();
    let inner = |name: &str| {
        let rest = result.strip_prefix(name)?.trim_start();
        let rest = rest.strip_prefix('<')?.strip_suffix('>')?;
        split(rest).first().map(|first| first.trim().to_owned())
    };
    let last = result.rsplit("::").next().unwrap_or(result);
    if let Some(inner) = inner("Option") {
        let some = rust(&inner, literals).into_iter().map(|value| format!("Some({value})"));
        return std::iter::once("None".to_owned()).chain(some).collect();
    }
    if let Some(inner) = inner("Result") {
        let good = rust(&inner, literals).into_iter().map(|value| format!("Ok({value})"));
        return good.chain(["Err(Default::default())".to_owned()]).collect();
    }
    let is_number = |text: &&String| {
        text.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit())
    };
    let is_text = |text: &&String| text.starts_with('"');
    let numbers = || literals.iter().filter(is_number).take(5);
    let texts = || literals.iter().filter(is_text).take(4);
    match last {
        "bool" => vec!["true".to_owned(), "false".to_owned()],
        "f32" | "f64" => numbers().map(|text| format!("{text} as {last}")).collect(),
        "String" => texts().map(|text| format!("{text}.to_owned()")).collect(),
        "()" => vec!["()".to_owned()],
        _ if result.starts_with('&') && result.ends_with("str") => texts().cloned().collect(),
        _ if is_rust_number(last) => numbers().cloned().collect(),
        _ => vec!["Default::default()".to_owned()],
    }
}

fn is_rust_number(kind: &str) -> bool {
    let rest = kind.strip_prefix(['u', 'i']);
    rest.is_some_and(|rest| matches!(rest, "8" | "16" | "32" | "64" | "128" | "size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_what_a_function_returns() {
        let texts =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let literals = texts(&["\"b\"", "4", "true"]);
        assert_eq!(go("int", &literals, &[]), ["4"]);
        assert_eq!(
            go("(string, error)", &literals, &[]),
            ["\"b\", *new(error)", "*new(string), probityError{}", "*new(string), nil"]
        );
        assert_eq!(go_types("(a, b int, err error)"), ["int", "int", "error"]);
        assert_eq!(go_types("(map[string]int, func(int) error)").len(), 2);
        assert_eq!(go("", &literals, &[]), [""; 0]);
        let lists = texts(&["[]int{1}"]);
        assert_eq!(go("[]int", &[], &lists), ["[]int{1}", "*new([]int)"]);
        let boxes = texts(&["shop.Box{W: 1}"]);
        assert_eq!(go("Box", &[], &boxes), ["Box{W: 1}", "*new(Box)"]);
        let four = "func() *int { it := int(4); return &it }()";
        assert_eq!(go("*int", &literals, &[]), [four, "nil"]);
        assert_eq!(rust("Option<u8>", &literals), ["None", "Some(4)"]);
        assert_eq!(rust("Result<String, Error>", &literals)[0], "Ok(\"b\".to_owned())");
        assert_eq!(rust("&'static str", &literals), ["\"b\""]);
        assert_eq!(rust("f64", &literals), ["4 as f64"]);
    }
}
