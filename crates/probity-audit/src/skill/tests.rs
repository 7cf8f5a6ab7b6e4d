//! What is a skill and what is none.

use super::*;

const WHOLE: &str = "---\nid: a-1\nname: A\nseverity: HIGH\ndescription: d\nprompt_fragment: p\n\
                     examples:\n\t- one\n---\n\n# Instructions\n\nLook.\n";

fn with(line: &str, replacement: &str) -> String {
    assert!(WHOLE.contains(line), "{line}");
    WHOLE.replace(line, replacement)
}

#[test]
fn frontmatter_and_guidance_are_read() {
    let skill = Skill::parse("a.md", WHOLE).unwrap();
    assert_eq!((skill.id.as_str(), skill.name.as_str()), ("a-1", "A"));
    assert_eq!(skill.severity, Risk::High, "letter case is normalized");
    assert_eq!(skill.examples, ["one"], "tabs count as two blanks");
    assert_eq!(skill.guidance_markdown, "# Instructions\n\nLook.");
    assert_eq!(skill.confidence_hint, None);
    assert!(skill.tags.is_empty() && skill.references.is_empty());
}

#[test]
fn numbers_nulls_line_ends_and_marks_are_as_people_write_them() {
    let skill = Skill::parse("a.md", &with("id: a-1", "id: 12")).unwrap();
    assert_eq!(skill.id, "12");
    let skill = Skill::parse("a.md", &with("examples:\n\t- one", "examples:")).unwrap();
    assert!(skill.examples.is_empty());
    let windows = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    assert_eq!(Skill::parse("a.md", &windows).unwrap().id, "a-1");
}

#[test]
fn errors_name_the_file_and_the_field() {
    for (text, says) in [
        (
            String::new(),
            "Failed to parse frontmatter from vulnerability skill file a.md: Skill file is empty",
        ),
        ("# no\n".to_owned(), "skill file a.md: Missing frontmatter start delimiter `---`"),
        (format!("\n{WHOLE}"), "Missing frontmatter start delimiter `---`"),
        ("---\nid: a\n".to_owned(), "Missing frontmatter end delimiter `---`"),
        (
            with("severity: HIGH", "severity: urgent"),
            "Invalid `severity` value 'urgent' in vulnerability skill file a.md. Expected one of: low, medium, high, critical",
        ),
        (with("severity: HIGH", "severity: ''"), "Invalid `severity` value ''"),
        (
            with("id: a-1", "id: '  '"),
            "Field `id` must be non-empty in vulnerability skill file a.md",
        ),
        (with("name: A", "name: ''"), "Field `name` must be non-empty"),
        (with("description: d", "description: ''"), "Field `description` must be non-empty"),
        (
            with("prompt_fragment: p", "prompt_fragment: ''"),
            "Field `prompt_fragment` must be non-empty",
        ),
        (
            with("name: A", "name: A\nowner: me"),
            "Invalid YAML frontmatter in vulnerability skill file a.md",
        ),
        (with("name: A", "name: A\nowner: me"), "owner"),
        (with("name: A\n", ""), "name"),
        (with("name: A", "name: A\nid: b"), "id"),
        (with("name: A", "name: [A"), "Invalid YAML frontmatter"),
    ] {
        let error = Skill::parse("a.md", &text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\nlacks {says}");
    }
}

#[test]
fn a_wrong_severity_is_told_before_an_empty_field() {
    let text = with("severity: HIGH", "severity: x").replace("id: a-1", "id: ''");
    assert!(matches!(Skill::parse("a.md", &text), Err(SkillError::Severity { .. })));
}

#[test]
fn the_mini_prompt_has_its_sections_in_order_and_none_that_is_empty() {
    let text = with("examples:", "tags: [x, y]\nconfidence_hint: low\nexamples:");
    insta::assert_snapshot!(Skill::parse("a.md", &text).unwrap().mini_prompt(), @r"
    Skill ID: a-1
    Name: A
    Severity: high
    Description: d
    Prompt Fragment: p
    Tags: x, y
    Confidence Hint: low
    Examples:
    - one
    Guidance:
    # Instructions

    Look.
    ");
}
