//! What flagged lines declare outside of functions: nothing there is run, and a test may rest on it.

use super::{super::runner::Flagged, functions::functions};

/// The names of types, constants and variables that the flagged lines of a source belong to, if
/// no function does. Comments and strings of the source are blanked.
pub(super) fn declared(bare: &str, flagged: &Flagged) -> Vec<String> {
    if functions(bare).iter().any(|it| flagged.holds(it.first, it.last)) {
        return Vec::new();
    }
    let mut names = Vec::new();
    // The declaration that is open, whether it is a list of them, and its names so far.
    let mut grouped = false;
    let mut around: Vec<&str> = Vec::new();
    for (number, line) in (1..).zip(bare.lines()) {
        let mut words = line.split(|end: char| !end.is_alphanumeric() && end != '_');
        let begins = line.starts_with(|first: char| first.is_alphabetic());
        if begins {
            let keyword = words.next().unwrap_or_default();
            let is_declaration = ["type", "const", "var"].contains(&keyword);
            grouped = is_declaration && line.trim_end().ends_with('(');
            around = if is_declaration && !grouped { left(line, keyword) } else { Vec::new() };
        } else if grouped && line.starts_with('\t') && !line.starts_with("\t\t") {
            let first = words.find(|word| !word.is_empty());
            // A brace that closes has no name, and belongs to what it closes.
            if first.is_some() {
                around = left(line, "");
            }
        } else if line.starts_with(')') {
            around.clear();
            grouped = false;
        }
        if flagged.holds(number, number) && !line.trim().is_empty() {
            names.extend(around.iter().map(|name| (*name).to_owned()));
        }
        if line.starts_with('}') {
            around.clear();
        }
    }
    names.dedup();
    names
}

/// The names on the left of a declaration.
fn left<'a>(line: &'a str, keyword: &str) -> Vec<&'a str> {
    let rest = line.trim_start().strip_prefix(keyword).unwrap_or(line).trim_start();
    let list = rest.split('=').next().unwrap_or_default();
    let name = |part: &'a str| {
        let end = part.find(|end: char| !end.is_alphanumeric() && end != '_');
        part.get(..end.unwrap_or(part.len())).filter(|name| !name.is_empty())
    };
    list.split(',').map(str::trim_start).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::super::constant::without_text, Flagged, declared};

    #[test]
    fn lines_belong_to_what_they_declare() {
        let source = "package a

import \"time\"

type Paid struct {
	At int `json:\"paid\"`
}

const Limit, Other = 10, 20

var (
	table = map[string]int{
		\"a\": 1,
	}
	names []string
)

func F() {
	const inside = 1
}
";
        let bare = without_text(source);
        for (line, expected) in [
            (3, ""),
            (5, "Paid"),
            (6, "Paid"),
            (8, ""),
            (9, "Limit Other"),
            (12, "table"),
            (13, "table"),
            (14, "table"),
            (15, "names"),
            (19, ""),
        ] {
            let flagged = Flagged { file: String::new(), first: line, last: line };
            assert_eq!(declared(&bare, &flagged).join(" "), expected, "line {line}");
        }
    }
}
