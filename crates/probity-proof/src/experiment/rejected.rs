//! The entry point of an exploit, made to reject everything.
//!
//! Nobody knows how a function says no, so the usual ways are tried one after the other: it throws, it
//! returns nothing, a false or empty value, or the answer of a server that forbids. None of these comes
//! from the test, so a test cannot bring the answer that it wants.

use probity_scope::HeldDirectory;

use super::altered::{GO_ERROR, GO_ERROR_TYPE, chosen, go_types, go_zero};
use crate::{
    claim::FlaggedLines,
    places::read_text,
    syntax::{Function, Grammar, Value, aiken, split},
};

/// The flagged file with a function in it that rejects everything.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) function: String,
    pub(super) text: String,
}

/// Every way to reject that is tried, the likeliest first.
pub(super) fn rejections(root: &HeldDirectory, flagged: &FlaggedLines) -> Vec<Rejection> {
    let Ok(source) = read_text(root, &flagged.file) else { return Vec::new() };
    if flagged.file.ends_with(".ak") {
        let rejected = aiken::rejecting(&source, flagged.first, flagged.last);
        let (function, texts) = rejected.unwrap_or_default();
        let rejection = |text| Rejection { function: function.clone(), text };
        return texts.into_iter().map(rejection).collect();
    }
    let Some(grammar) = Grammar::of(&flagged.file) else { return Vec::new() };
    let Some(parsed) = grammar.parse(&source) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, function) in chosen(&parsed, flagged) {
        for (rank, value) in answers(grammar, &function).into_iter().enumerate() {
            let mut text = grammar.with_value(&source, &function, &value);
            if text.contains(GO_ERROR) {
                text.push_str(GO_ERROR_TYPE);
            }
            found.push((rank, Rejection { function: name.clone(), text }));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, rejection)| rejection).collect()
}

fn answers(grammar: Grammar, function: &Function) -> Vec<Value> {
    let returned = |values: &[&str]| -> Vec<Value> {
        values.iter().map(|value| Value::Returned((*value).to_owned())).collect()
    };
    let thrown = |statement: &str| Value::Thrown(statement.to_owned());
    match grammar {
        Grammar::Python => {
            let mut values = vec![thrown("raise PermissionError(\"rejected\")")];
            values.extend(returned(&["None", "False", "[]", "\"\"", "{}", "403", "(403, \"\")"]));
            values
        }
        Grammar::Go => go(function),
        Grammar::Rust => rust(&function.result),
        Grammar::JavaScript | Grammar::TypeScript | Grammar::Tsx => {
            let mut values = vec![thrown("throw new Error(\"rejected\")")];
            values.extend(forbidden_by_response(function).map(Value::Thrown));
            values.push(Value::Nothing);
            values.extend(returned(&["null", "false", "[]", "\"\"", "403", "({ status: 403 })"]));
            values
        }
    }
}

/// A handler of the form `(request, response)` says no through its second parameter.
fn forbidden_by_response(function: &Function) -> Option<String> {
    let inner = function.parameters.trim().trim_start_matches('(').trim_end_matches(')');
    let parameters = split(inner);
    let response = parameters.get(1)?.split([':', '=']).next()?.trim();
    let is_name = !response.is_empty() && response.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| format!("{response}.statusCode = 403; {response}.end(); return"))
}

fn go(function: &Function) -> Vec<Value> {
    let types = go_types(&function.result);
    let mut values = Vec::new();
    if types.is_empty() {
        values.extend(forbidden_by_writer(&function.parameters).map(Value::Thrown));
        values.push(Value::Nothing);
    } else {
        let is_error = |kind: &&String| kind.as_str() == "error";
        let answer = |number: &str, error: &str| {
            let parts = types.iter().map(|kind| match kind.as_str() {
                "error" => error.to_owned(),
                "int" => number.to_owned(),
                other => go_zero(other),
            });
            Value::Returned(parts.collect::<Vec<_>>().join(", "))
        };
        if types.iter().any(|kind| is_error(&kind)) {
            values.push(answer("0", GO_ERROR));
        }
        if types.iter().any(|kind| kind == "int") {
            values.push(answer("403", "nil"));
        }
        values.push(answer("0", "nil"));
    }
    values.push(Value::Thrown("panic(\"rejected\")".to_owned()));
    values
}

/// A handler of `net/http` says no through its writer.
fn forbidden_by_writer(parameters: &str) -> Option<String> {
    let (before, _) = parameters.split_once(" http.ResponseWriter")?;
    let writer = before.rsplit(['(', ',', ' ']).next()?;
    let is_name = !writer.is_empty() && writer != "_";
    is_name.then(|| format!("http.Error({writer}, \"rejected\", http.StatusForbidden); return"))
}

fn rust(result: &str) -> Vec<Value> {
    let mut values = Vec::new();
    match result.trim() {
        "" => values.push(Value::Nothing),
        "bool" => values.push(Value::Returned("false".to_owned())),
        text if text.starts_with("Option<") => values.push(Value::Returned("None".to_owned())),
        text if text.starts_with("Result<") => {
            let error = "Err(From::from(\"rejected\"))";
            let typed = "Err(Default::default())";
            values.extend([error, typed].map(|value| Value::Returned(value.to_owned())));
        }
        _ => values.push(Value::Returned("Default::default()".to_owned())),
    }
    values.push(Value::Thrown("panic!(\"rejected\")".to_owned()));
    values
}

#[cfg(test)]
mod tests {
    use super::{Grammar, answers};

    #[test]
    fn an_entry_point_rejects_in_the_way_of_its_kind() {
        for (path, source, expected) in [
            (
                "a.go",
                "package a\n\nfunc Serve(w http.ResponseWriter, r *http.Request) {\n}\n",
                "{ http.Error(w, \"rejected\", http.StatusForbidden); return; \n}",
            ),
            (
                "a.go",
                "package a\n\nfunc Find(id string) (string, error) {\n\treturn id, nil\n}\n",
                "{ return *new(string), probityError{}; \n",
            ),
            ("a.go", "package a\n\nfunc Status(id string) int {\n\treturn 200\n}\n", "return 403;"),
            (
                "a.js",
                "export function serve(request, response) { response.end('x'); }\n",
                "{ response.statusCode = 403; response.end(); return;  response.end('x'); }",
            ),
            ("a.py", "def find(name):\n    return name\n", "raise PermissionError(\"rejected\")\n"),
            ("a.py", "def find(name):\n    return name\n", "return (403, \"\")\n"),
            ("a.rs", "fn f(a: u8) -> Option<u8> { Some(a) }\n", "{ return None;  Some(a) }"),
            ("a.rs", "fn f() -> Result<u8, E> { Ok(1) }\n", "Err(From::from(\"rejected\"))"),
        ] {
            let grammar = Grammar::of(path).unwrap();
            let function = grammar.parse(source).unwrap().functions().remove(0);
            let texts: Vec<String> = answers(grammar, &function)
                .iter()
                .map(|value| grammar.with_value(source, &function, value))
                .collect();
            assert!(texts.iter().any(|text| text.contains(expected)), "{texts:#?}");
        }
    }
}
