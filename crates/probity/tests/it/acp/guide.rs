//! The snippets in the guide for editors are what their editors can read.

use std::{fs, path::Path};

#[test]
fn every_snippet_of_the_guide_is_sound() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors.md");
    let text = fs::read_to_string(guide).unwrap();
    let mut checked = Vec::new();
    let mut blocks = text.split("\n```").skip(1).step_by(2);
    for block in &mut blocks {
        let (language, code) = block.split_once('\n').unwrap();
        match language {
            "json" => {
                let value: serde_json::Value = serde_json::from_str(code).unwrap();
                let names =
                    [r#"["acp","claude"]"#, r#"["lsp","--stdio"]"#, "source.fixAll.probity"];
                assert!(names.iter().any(|name| value.to_string().contains(name)), "{code}");
            }
            "toml" => {
                toml::from_str::<toml::Table>(code).unwrap();
            }
            // Tables and strings only, so that balance is all there is to check.
            "lua" | "elisp" => {
                for (open, close) in [('{', '}'), ('(', ')')] {
                    let count = |which| code.chars().filter(|char| *char == which).count();
                    assert_eq!(count(open), count(close), "{code}");
                }
                assert!(code.contains("\"acp\"") || code.contains("\"lsp\""), "{code}");
            }
            "sh" => assert!(code.contains("probity") || code.contains("cai"), "{code}"),
            other => panic!("nobody checks {other}"),
        }
        checked.push(language.to_owned());
    }
    for language in ["elisp", "json", "lua", "toml"] {
        assert!(checked.iter().any(|seen| seen == language), "{language} is missing");
    }
}
