//! The same reading as BuildKit's, on cases whose reading by BuildKit itself is recorded.

use std::path::Path;

use probity_dockerfile::{
    Arguments, Command, Dockerfile, ErrorKind, Instruction, Keyword, Pair, Word, parse,
};
use serde_json::{Map, Value, json};

#[test]
fn reads_the_recorded_cases_as_buildkit_does() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let recorded = std::fs::read_to_string(cases.join("EXPECTED.buildkit.jsonl")).unwrap();
    let mut count = 0;
    for line in recorded.lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let name = expected["file"].as_str().unwrap();
        let text = std::fs::read_to_string(cases.join(name)).unwrap();
        assert_eq!(reading(name, &parse(&text)), expected, "{name}");
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn recorded_cases_have_errors_only_where_buildkit_rejects_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    for entry in std::fs::read_dir(cases).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("EXPECTED") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let codes: Vec<ErrorKind> = parse(&text).errors.iter().map(|error| error.code).collect();
        let expected = match name.as_str() {
            "08_invalid_instruction" => vec![ErrorKind::UnknownInstruction],
            "13_unterminated" => vec![ErrorKind::UnterminatedHeredoc],
            _ => Vec::new(),
        };
        assert_eq!(codes, expected, "{name}");
    }
}

/// The shape that the recorder wrote.
fn reading(name: &str, file: &Dockerfile<'_>) -> Value {
    if let Some(error) = file.errors.iter().find(|e| e.code == ErrorKind::UnterminatedHeredoc) {
        return json!({ "file": name, "error": error.message });
    }
    let nodes: Vec<Value> = file.instructions.iter().map(|node| node_reading(file, node)).collect();
    let warned = file.instructions.iter().filter(|node| !node.empty_continuations().is_empty());
    let warnings: Vec<String> = warned
        .map(|node| {
            format!("{}: Empty continuation line found in: {}", node.lines().1, node.line.text)
        })
        .collect();
    let mut reading = json!({ "file": name, "escape": file.escape.to_string(), "nodes": nodes });
    if !warnings.is_empty() {
        reading["warnings"] = json!(warnings);
    }
    reading
}

fn node_reading(file: &Dockerfile<'_>, node: &Instruction) -> Value {
    let mut reading = Map::new();
    let keyword = node.keyword_span().slice(file.text).unwrap().to_uppercase();
    reading.insert("keyword".to_owned(), json!(keyword));
    reading.insert("start_line".to_owned(), json!(node.lines().0));
    reading.insert("end_line".to_owned(), json!(node.lines().1));
    reading.insert("original".to_owned(), json!(node.line.text.as_str()));
    reading.insert("dump".to_owned(), json!(dump(file, node)));
    reading.insert("args".to_owned(), json!(arguments(node)));
    if is_json(node) {
        reading.insert("json_form".to_owned(), json!(true));
    }
    if !node.flags.is_empty() {
        reading.insert("flags".to_owned(), json!(flags(node)));
    }
    let comments: Vec<&str> =
        node.comments().iter().map(|comment| comment.text.slice(file.text).unwrap()).collect();
    if !comments.is_empty() {
        reading.insert("prev_comment".to_owned(), json!(comments));
    }
    let heredocs: Vec<Value> = node
        .heredocs()
        .iter()
        .map(|heredoc| {
            json!({
                "name": heredoc.name,
                "fd": heredoc.fd.unwrap_or(0),
                "expand": heredoc.expand,
                "chomp": heredoc.strip_tabs,
                "content": heredoc.body.slice(file.text).unwrap(),
            })
        })
        .collect();
    if !heredocs.is_empty() {
        reading.insert("heredocs".to_owned(), json!(heredocs));
    }
    Value::Object(reading)
}

fn flags(node: &Instruction) -> Vec<String> {
    let text =
        |value: &Option<Word>| value.as_ref().map_or(String::new(), |v| format!("={}", v.text));
    node.flags.iter().map(|flag| format!("--{}{}", flag.name.text, text(&flag.value))).collect()
}

fn is_json(node: &Instruction) -> bool {
    match &node.arguments {
        Arguments::Command(command) | Arguments::Healthcheck { command, .. } => {
            matches!(command, Command::Json { .. })
        }
        Arguments::Transfer { json, .. } | Arguments::Words { json, .. } => *json,
        _ => false,
    }
}

/// The arguments as BuildKit's nodes list them.
fn arguments(node: &Instruction) -> Vec<String> {
    let texts = |words: &[Word]| words.iter().map(|word| word.text.to_string()).collect::<Vec<_>>();
    let command = |command: &Command| match command {
        Command::Missing => Vec::new(),
        Command::Shell(word) => vec![word.text.to_string()],
        Command::Json { words, .. } => texts(words),
    };
    match &node.arguments {
        _ if node.keyword == Keyword::Unknown => vec![String::new()],
        Arguments::From { image, alias, surplus } => {
            let alias = alias.iter().flat_map(|alias| [alias.keyword.clone(), alias.name.clone()]);
            let words: Vec<Word> = image
                .as_deref()
                .cloned()
                .into_iter()
                .chain(alias)
                .chain(surplus.iter().cloned())
                .collect();
            texts(&words)
        }
        Arguments::Pairs { legacy, pairs } => {
            pairs.iter().flat_map(|pair| pair_arguments(node.keyword, *legacy, pair)).collect()
        }
        Arguments::Transfer { sources, destination, .. } => {
            let words: Vec<Word> = sources.iter().chain(destination.as_deref()).cloned().collect();
            texts(&words)
        }
        Arguments::Command(line) => command(line),
        Arguments::Healthcheck { kind, command: line } => {
            kind.iter().map(|kind| kind.text.to_string()).chain(command(line)).collect()
        }
        Arguments::Words { words, .. } => texts(words),
        Arguments::Text(word) => word.iter().map(|word| word.text.to_string()).collect(),
        Arguments::Onbuild(_) => vec![String::new()],
    }
}

fn pair_arguments(keyword: Keyword, legacy: bool, pair: &Pair) -> Vec<String> {
    let key = pair.key.text.to_string();
    let value = pair.value.as_ref().map(|value| value.text.to_string());
    if keyword == Keyword::Arg {
        return vec![value.map_or(key.clone(), |value| format!("{key}={value}"))];
    }
    let separator = if legacy { "" } else { "=" };
    vec![key, value.unwrap_or_default(), separator.to_owned()]
}

/// BuildKit's own way of printing a node.
fn dump(file: &Dockerfile<'_>, node: &Instruction) -> String {
    let mut parts = vec![node.keyword_span().slice(file.text).unwrap().to_lowercase()];
    if !node.flags.is_empty() {
        let flags: Vec<String> = flags(node).iter().map(|flag| format!("{flag:?}")).collect();
        parts.push(format!("[{}]", flags.join(" ")));
    }
    if let Arguments::Onbuild(Some(nested)) = &node.arguments {
        parts.push(format!("({})", dump(file, nested)));
        return parts.join(" ");
    }
    // Rust escapes a single quote in no string, and Go neither.
    parts.extend(arguments(node).iter().map(|argument| format!("{argument:?}")));
    parts.join(" ")
}
