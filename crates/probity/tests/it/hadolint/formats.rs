//! The ten formats, each beside what the program itself writes; only columns and fingerprints differ.

use serde_json::Value;

use super::Case;

const FORMATS: [&str; 10] = [
    "tty",
    "json",
    "checkstyle",
    "codeclimate",
    "gitlab_codeclimate",
    "gnu",
    "codacy",
    "sonarqube",
    "sarif",
    "junit",
];

/// The image does not know who root is otherwise either, so that one is theirs alone.
const COMMON: [&str; 2] = ["--ignore", "DL3066"];

#[test]
fn every_format_has_the_same_shape() {
    for format in FORMATS {
        for file in
            [&["Dockerfile"][..], &["clean.Dockerfile"], &["clean.Dockerfile", "Dockerfile"]]
        {
            for more in [&[][..], &["--file-path-in-report", "a/b"], &["--no-color"]] {
                let args = [&COMMON, more, &["-f", format], file].concat();
                compare(format, &args);
            }
        }
        compare(format, &[&COMMON[..], &["-f", format, "--no-fail", "Dockerfile"]].concat());
    }
}

#[test]
fn several_formats_go_to_several_files() {
    let args = ["-f", "gnu", "-o", "one", "-f", "tty", "--no-color", "Dockerfile"];
    let args = [&COMMON[..], &args].concat();
    let case = Case { args: &args, ..Case::default() };
    let dir = case.directory();
    let mut written = Vec::new();
    for output in [case.ours(dir.path()), case.theirs(dir.path())] {
        let file = std::fs::read_to_string(dir.path().join("one")).unwrap();
        written.push((seen("gnu", &file), seen("tty", &output.stdout), output.code));
    }
    assert_eq!(written[0], written[1]);
}

/// The message is another, since another parser says it.
#[test]
fn a_file_that_cannot_be_parsed_has_the_same_shape() {
    for format in FORMATS {
        let case = Case { args: &["-f", format, "broken.Dockerfile"], ..Case::default() };
        let dir = case.directory();
        let (ours, theirs) = (case.ours(dir.path()), case.theirs(dir.path()));
        assert_eq!(ours.code, theirs.code, "{format}");
        let shape = |text: &str| match format {
            "checkstyle" | "junit" => tags(text),
            "tty" | "gnu" => {
                let line = text.lines().next().unwrap();
                vec![line.split(|c: char| c.is_ascii_digit()).next().unwrap().to_owned()]
            }
            _ => documents(text).iter().map(|value| keys(value).join(" ")).collect(),
        };
        assert_eq!(shape(&ours.stdout), shape(&theirs.stdout), "{format}");
    }
}

#[track_caller]
fn compare(format: &str, args: &[&str]) {
    let case = Case { args, ..Case::default() };
    let dir = case.directory();
    let (ours, theirs) = (case.ours(dir.path()), case.theirs(dir.path()));
    let (ours_seen, theirs_seen) = (seen(format, &ours.stdout), seen(format, &theirs.stdout));
    assert_eq!(ours_seen, theirs_seen, "{args:?}");
    assert_eq!(ours.code, theirs.code, "{args:?}");
}

/// What is to be the same, in one order: a program need not say things in the order of another.
fn seen(format: &str, text: &str) -> Vec<String> {
    let mut seen: Vec<String> = match format {
        "tty" | "gnu" => text.lines().map(str::to_owned).collect(),
        "checkstyle" | "junit" => elements(text),
        _ => documents(text).into_iter().flat_map(items).map(|item| item.to_string()).collect(),
    };
    seen.sort();
    seen
}

/// The documents of a report: one, or several ended by NUL or by nothing.
fn documents(text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for part in text.split('\0') {
        let stream = serde_json::Deserializer::from_str(part).into_iter::<Value>();
        all.extend(stream.map(Result::unwrap));
    }
    all
}

/// The parts of a document that have an order of their own, and the rest of it.
fn items(mut document: Value) -> Vec<Value> {
    strip(&mut document);
    let lists = ["/issues", "/runs/0/results"];
    let list = lists.iter().find_map(|at| document.pointer_mut(at).map(Value::take));
    match (list, document) {
        (Some(Value::Array(items)), rest) => items.into_iter().chain([rest]).collect(),
        (None, Value::Array(items)) => items,
        (_, rest) => vec![rest],
    }
}

/// Takes out what may differ.
fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if key.to_ascii_lowercase().ends_with("column") && value.is_u64() {
                    *value = Value::from(0);
                } else if key == "fingerprint" {
                    *value = Value::from(value.as_str().unwrap().len());
                }
                strip(value);
            }
        }
        _ => {}
    }
}

fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(keys).collect(),
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| [vec![key.clone()], keys(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

/// The elements of a report, each with what follows it, without columns, times and the choice that
/// writers of XML have.
fn elements(text: &str) -> Vec<String> {
    let text = text.replace("&gt;", ">").replace("&#39;", "'");
    let parts: Vec<&str> =
        text.split_inclusive("/>").flat_map(|part| part.split("</failure>")).collect();
    parts.iter().map(|part| without(&without(&without(part, "column"), "id"), "name")).collect()
}

/// The text without the value of an attribute if it has a digit in it.
fn without(text: &str, attribute: &str) -> String {
    let mark = format!(" {attribute}=\"");
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&mark) {
        let (value, behind) = after.split_once('"').unwrap();
        out.push_str(before);
        if !value.contains("2") && attribute != "column" {
            out.push_str(value);
        }
        rest = behind;
    }
    out + rest
}

/// The names of the tags and of their attributes.
fn tags(text: &str) -> Vec<String> {
    let opened = text.split('<').skip(1).map(|tag| tag.split('>').next().unwrap());
    opened
        .map(|tag| {
            let names = tag.split('"').step_by(2).map(|part| part.trim_matches([' ', '=']));
            names.collect::<Vec<_>>().join(" ")
        })
        .collect()
}
