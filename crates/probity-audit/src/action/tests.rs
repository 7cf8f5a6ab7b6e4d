//! What models write, and what is made of it.

use super::*;

fn shown(text: &str) -> String {
    match parse(text, Expected::Findings) {
        Ok(Action::Read(request)) => format!("{request:?}"),
        Ok(Action::Final(object)) => format!("final {}", Value::Object(object)),
        Err(why) => format!("unusable: {why}"),
    }
}

#[test]
fn actions_are_read_from_json_fences_and_prose() {
    let read = r#"{"action":"read_file","path":"a.ak"}"#;
    for text in [
        read.to_owned(),
        format!("  {read}\n"),
        format!("```json\n{read}\n```"),
        format!("```\n{read}\n```"),
        format!("```json\n{read}"),
        format!("Let me look at it.\n\n{read}\n\nThen I will judge."),
        format!("I think {{so}}: {read}"),
        format!("{{}} {read}"),
        r#"{"action":" READ_FILE ","path":"a.ak"}"#.to_owned(),
    ] {
        assert_eq!(shown(&text), r#"ReadFile { path: "a.ak", offset: 1, limit: None }"#, "{text}");
    }
}

#[test]
fn missing_fields_have_their_defaults() {
    for (text, expected) in [
        (r#"{"action":"read_file"}"#, r#"ReadFile { path: ".", offset: 1, limit: None }"#),
        (r#"{"action":"grep"}"#, r#"Grep { pattern: "", path: ".", context_lines: 2 }"#),
        (
            r#"{"action":"grep","pattern":"x","path":"a","context_lines":"3"}"#,
            r#"Grep { pattern: "x", path: "a", context_lines: 3 }"#,
        ),
        (
            r#"{"action":"grep","pattern":"x","context_lines":99}"#,
            r#"Grep { pattern: "x", path: ".", context_lines: 20 }"#,
        ),
        (
            r#"{"action":"read_file","path":"a","offset":"7","limit":3}"#,
            r#"ReadFile { path: "a", offset: 7, limit: Some(3) }"#,
        ),
        (r#"{"action":"list_dir","path":null}"#, r#"ListDir { path: "." }"#),
        (
            r#"{"action":"find_files","glob":"*.ak"}"#,
            r#"FindFiles { path: ".", glob: Some("*.ak") }"#,
        ),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn findings_or_a_status_without_an_action_are_final() {
    for text in [r#"{"findings":[]}"#, r#"{"status":"completed"}"#, r#"{"status":"FAILED"}"#] {
        assert_eq!(shown(text), format!("final {text}"));
    }
}

#[test]
fn what_is_no_action_says_what_it_lacks() {
    for (text, why) in [
        ("", "there is no JSON object in the answer"),
        ("I am done.", "there is no JSON object in the answer"),
        ("[]", "there is no JSON object in the answer"),
        ("{}", "the object has no `action`, no `findings` and no `status`"),
        (r#"{"action":5}"#, "`action` is not a string"),
        (r#"{"action":"read_file","path":["a"]}"#, "`path` is not a string"),
        (r#"{"action":"grep","context_lines":-1}"#, "`context_lines` is not a number of lines"),
        (r#"{"action":"final","findings":"none"}"#, "`findings` is not a list"),
        (
            r#"{"action":"final"}"#,
            "the final answer has no `findings`, which may be an empty list, and no `status` such as `completed`",
        ),
        (
            r#"{"action":"final","status":"whatever","findings":null}"#,
            "the final answer has no `findings`, which may be an empty list, and no `status` such as `completed`",
        ),
        (
            r#"{"action":"final","status":"completed","vulnerabilities":[{"title":"t"}]}"#,
            "findings belong into `findings`, and not into `vulnerabilities`",
        ),
        (
            r#"{"action":"rm","path":"/"}"#,
            "'rm' is not an action; the actions are read_file, grep, list_dir, find_files and final",
        ),
    ] {
        assert_eq!(shown(text), format!("unusable: {why}"), "{text}");
    }
}

#[test]
fn the_last_action_counts_and_thoughts_do_not() {
    let read = r#"{"action":"read_file","path":"a.ak"}"#;
    let clean = r#"{"action":"final","status":"completed","findings":[]}"#;
    let found = r#"{"action":"final","status":"completed","findings":[{"title":"t"}]}"#;
    let reads = r#"ReadFile { path: "a.ak", offset: 1, limit: None }"#.to_owned();
    let two = "unusable: there are two different final answers; send the one that you mean";
    for (text, expected) in [
        (format!("I could say {clean}, but first: {read}"), reads.clone()),
        (format!("<think>{clean}</think>{read}"), reads.clone()),
        (format!("<think>maybe {found}</think>\n{clean}"), format!("final {clean}")),
        (format!("maybe {found}</think>\n{clean}"), format!("final {clean}")),
        (format!("<think>a</think>{read}<think>{clean}</think>"), reads.clone()),
        (format!("<think>{read}"), "unusable: there is no JSON object in the answer".to_owned()),
        (format!("{read}\n{found}"), format!("final {found}")),
        (format!("{found}\nIn short:\n{found}"), format!("final {found}")),
        (format!("{clean}\n{found}"), two.to_owned()),
        (format!("{found}\nSo:\n{clean}"), two.to_owned()),
    ] {
        assert_eq!(shown(&text), expected, "{text}");
    }
}

#[test]
fn the_usual_mistakes_are_named() {
    for (text, why) in [
        (r#"{"action":"read_file","path":"a.ak",}"#, "the JSON object has a comma before a `}`"),
        (
            r#"{"action":"final","findings":[{"title":"t"}, ]}"#,
            "the JSON object has a comma before a `]`",
        ),
        (
            r#"{"action":"final","findings":[{"title":"t"}"#,
            "the JSON object is not closed: `]}` is missing at its end",
        ),
        (
            r#"{"action":"read_file","path":"a.ak}"#,
            "the JSON object has a string without its closing quotation mark",
        ),
        ("{action: read_file}", "the text that looks like a JSON object is not valid JSON"),
        (
            r#"{"action":"read_file","file_path":"a.ak"}"#,
            "`file_path` is not an argument of read_file; it is called `path`",
        ),
        (
            r#"{"action":"grep","query":"x"}"#,
            "`query` is not an argument of grep; it is called `pattern`",
        ),
        (
            r#"{"tool_calls":[{"function":{"name":"read_file"}}]}"#,
            "`tool_calls` is not read here: write the action itself as the object, for example \
             {\"action\":\"read_file\",\"path\":\"relative/path.ak\"}",
        ),
    ] {
        assert_eq!(shown(text), format!("unusable: {why}"), "{text}");
    }
}

#[test]
fn a_text_of_braces_is_given_up_soon() {
    let braces = shown(&"{".repeat(100_000));
    assert!(braces.starts_with("unusable: the JSON object is not closed"), "{braces:.90}");
    assert!(braces.len() < 200, "{}", braces.len());
    let deep = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    assert_eq!(shown(&deep), "unusable: the text that looks like a JSON object is not valid JSON");
}
