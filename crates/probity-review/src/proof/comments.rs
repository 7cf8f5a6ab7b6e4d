//! Whether two texts of a file hold the same code.
//!
//! A test that reads the source can be made to pass by a comment, which mends nothing.

/// Whether a change of this file changes nothing but comments and empty lines.
pub(super) fn is_same_code(path: &str, old: &str, new: &str) -> bool {
    let marks: &[&str] = match path.rsplit('.').next() {
        Some("py" | "pyi" | "toml" | "yml" | "yaml" | "sh") => &["#"],
        _ => &["//", "/*"],
    };
    code(old, marks) == code(new, marks)
}

/// The lines of a text that hold anything, without comments.
fn code(text: &str, marks: &[&str]) -> Vec<String> {
    let mut bare = String::with_capacity(text.len());
    let mut at = 0;
    let mut quote: Option<&str> = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let mut step = rest.chars().next().map_or(1, char::len_utf8);
        let mut kept = true;
        if let Some(open) = quote {
            if rest.starts_with('\\') {
                step += rest.chars().nth(1).map_or(0, char::len_utf8);
            } else if rest.starts_with(open) {
                step = open.len();
                quote = None;
            }
        } else if let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
            kept = false;
            step = match *mark {
                "/*" => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ => rest.find('\n').unwrap_or(rest.len()),
            };
        } else {
            let quotes = ["\"\"\"", "'''", "\"", "'", "`"];
            quote = quotes.into_iter().find(|open| rest.starts_with(open));
            // A lifetime opens nothing.
            let line = rest.lines().next().unwrap_or_default();
            quote = quote.filter(|open| *open != "'" || line.matches('\'').count() > 1);
            step = quote.map_or(step, str::len);
        }
        if kept {
            bare.push_str(rest.get(..step).unwrap_or_default());
        }
        at += step;
    }
    let lines = bare.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::is_same_code;

    #[test]
    fn only_code_makes_a_difference() {
        for (path, old, new, same) in [
            ("a.go", "x := 1\n", "x := 1 // FIXED\n", true),
            ("a.go", "x := 1\n", "/* a\n b */\n\nx := 1\n", true),
            ("a.go", "x := 1\n", "x := 2\n", false),
            ("a.go", "x := \"http://a\"\n", "x := \"http://b\"\n", false),
            ("a.js", "f(`//a`);\n", "f(`//b`);\n", false),
            ("a.js", "f('it\\'s // a');\n", "f('it\\'s // b');\n", false),
            ("a.rs", "fn a<'a>() {} // x\n", "fn a<'a>() {}\n", true),
            ("a.rs", "fn a<'a>() {}\nlet x = 1;\n", "fn a<'a>() {}\nlet x = 2;\n", false),
            ("a.py", "x = 7 // 2\n", "x = 7 // 3\n", false),
            ("a.py", "x = 1\n", "x = 1  # FIXED\n", true),
            ("a.py", "x = '#a'\n", "x = '#b'\n", false),
            ("a.py", "x = \"\"\"a\n#b\"\"\"\n", "x = \"\"\"a\n#c\"\"\"\n", false),
            ("a.py", "if a:\n  b\n", "if a:\n    b\n", false),
        ] {
            assert_eq!(is_same_code(path, old, new), same, "{old}{new}");
        }
    }
}
