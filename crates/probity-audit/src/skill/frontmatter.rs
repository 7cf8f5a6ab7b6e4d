//! The YAML between two lines of `---`, and what is wrong when there is none.

const DELIMITER: &str = "---";

/// The frontmatter, with tabs made blanks, and what stands below it.
pub(super) fn split(text: &str) -> Result<(String, &str), &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err("Skill file is empty");
    }
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim() != DELIMITER {
        return Err("Missing frontmatter start delimiter `---`");
    }
    let start = first.len();
    let mut at = start;
    for line in lines {
        if line.trim() == DELIMITER {
            let yaml = text.get(start..at).unwrap_or_default();
            let body = text.get(at + line.len()..).unwrap_or_default();
            // People indent lists with tabs, which YAML forbids.
            return Ok((yaml.replace('\t', "  "), body));
        }
        at += line.len();
    }
    Err("Missing frontmatter end delimiter `---`")
}

/// The first line of what the YAML parser says, without the picture that follows it.
pub(super) fn explained(message: &str) -> String {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}
