//! Cases for each rule of another tool, made from the templates in a file; the same in every run.

use std::{collections::HashSet, mem};

/// Shell commands, bodies and files of one rule that appear in every shape.
const SHAPED: usize = 2;

/// One file, and the rule that it was written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) rule: &'static str,
    pub(crate) text: String,
}

/// All cases of the templates, without repetitions.
pub(crate) fn cases(templates: &'static str) -> Vec<Case> {
    let mut shapes = Shapes::default();
    let mut cases = Vec::new();
    for section in templates.split("\n[").skip(1) {
        let (name, lines) = section.split_once("]\n").unwrap();
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        match name {
            "bodies" => shapes.bodies = lines,
            "files" => shapes.files = lines,
            "shapes" => shapes.commands = lines,
            rule => {
                let texts = shapes.of_rule(&lines);
                cases.extend(texts.into_iter().map(|text| Case { rule, text }));
            }
        }
    }
    let mut seen = HashSet::new();
    cases.retain(|case| seen.insert(case.text.clone()));
    cases
}

#[derive(Default)]
struct Shapes {
    bodies: Vec<&'static str>,
    files: Vec<&'static str>,
    commands: Vec<&'static str>,
}

impl Shapes {
    fn of_rule(&self, templates: &[&str]) -> Vec<String> {
        let of_kind = |kind: &str| -> Vec<String> {
            let split = templates.iter().filter_map(|line| line.split_once(' '));
            split
                .filter(|(own, _)| *own == kind)
                .flat_map(|(_, template)| expand(template))
                .collect()
        };
        let commands = of_kind("$");
        let turns = self.commands.iter().cycle();
        let mut bodies = of_kind(">");
        bodies.extend(commands.iter().map(|command| format!("RUN {command}")));
        // Each command has one shape of its own, and some have all.
        bodies.extend(
            commands.iter().zip(turns).filter_map(|(command, shape)| shaped(shape, command)),
        );
        bodies.extend(in_every(&self.commands, &commands));
        let mut files = in_every(&self.bodies, &of_kind(">"));
        files.extend(bodies.iter().map(|body| format!("FROM debian:12\\n{body}")));
        files.extend(in_every(&self.files, &of_kind(">>")));
        files.extend(of_kind(">>"));
        files.iter().map(|file| ended(&unescaped(file))).collect()
    }
}

/// Some of the cases, evenly spread, in every shape.
fn in_every(shapes: &[&str], cases: &[String]) -> Vec<String> {
    let step = cases.len().div_ceil(SHAPED).max(1);
    let some = cases.iter().step_by(step);
    some.flat_map(|case| shapes.iter().filter_map(|shape| shaped(shape, case))).collect()
}

/// A case in a shape, if it can be written so.
fn shaped(shape: &str, case: &str) -> Option<String> {
    let (first, rest) = case.split_once(' ').unwrap_or((case, ""));
    if shape.contains("@words") {
        // A list of words has no shell that would read operators and quotes.
        let words: Vec<String> =
            case.split_ascii_whitespace().map(|word| format!("\"{word}\"")).collect();
        return (!case.contains(['&', '|', ';', '<', '>', '(', '"', '\'', '\\', '$', '`']))
            .then(|| shape.replace("@words", &words.join(", ")));
    }
    let in_json = case.replace('\\', r"\\").replace('"', "\\\"");
    let parts = [("@json", in_json.as_str()), ("@first", first), ("@rest", rest)];
    let filled = parts.iter().fold(shape.to_owned(), |text, (mark, part)| text.replace(mark, part));
    Some(if filled == shape { shape.replace('@', case) } else { filled })
}

/// A template with each of its alternatives: `a{{b;;c}}` is `ab` and `ac`.
fn expand(template: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        // The last two braces of `${A}}}` end the alternatives.
        let braces = after.find("}}").unwrap();
        let end =
            braces + after[braces..].find(|char| char != '}').unwrap_or(after.len() - braces) - 2;
        let alternatives: Vec<&str> = after[..end].split(";;").collect();
        for text in mem::take(&mut texts) {
            texts.extend(
                alternatives.iter().map(|alternative| format!("{text}{before}{alternative}")),
            );
        }
        rest = &after[end + 2..];
    }
    texts.iter().map(|text| format!("{text}{rest}")).collect()
}

/// A file with one newline at its end, or with none behind `\c`.
fn ended(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    text.strip_suffix(r"\c").map_or_else(|| format!("{text}\n"), str::to_owned)
}

fn unescaped(text: &str) -> String {
    text.replace(r"\n", "\n").replace(r"\t", "\t")
}
