//! Whether a test reads the text of the code instead of running it.
//!
//! Each of two versions gets, as a comment, the lines that only the other one has, and idle code where
//! compiled code can be read, too. Neither changes any behavior, so a test that ends otherwise has read
//! it.

use crate::syntax::Grammar;

/// Places in a line that are tried for a comment, each of which has to be parsed.
const MOST_PLACES: usize = 40;

/// A text with the lines that only another text has, as a comment where the two begin to differ, or
/// at its end if no comment can be there. None if nothing can be added without changing the code.
pub(super) fn inert(path: &str, text: &str, other: &str) -> Option<String> {
    let ours: Vec<&str> = text.split_inclusive('\n').collect();
    let theirs: Vec<&str> = other.split_inclusive('\n').collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let start = ours.iter().zip(&theirs).take_while(same).count();
    let (our_rest, their_rest) = (ours.get(start..)?, theirs.get(start..)?);
    let end = our_rest.iter().rev().zip(their_rest.iter().rev()).take_while(same).count();
    let added = their_rest.get(..their_rest.len() - end)?.concat();
    if added.trim().is_empty() {
        return None;
    }
    let Some(grammar) = Grammar::of(path) else { return with_plain_comment(path, text, &added) };
    let comment = comment(grammar, &added);
    let at: usize = ours.iter().take(start).map(|line| line.len()).sum();
    let (before, after) = text.split_at(at);
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    // A function that is one expression has no line of its own for a comment, and can be asked for
    // its text.
    let inside = inside_line(grammar, after, &added);
    let inside = inside.map(|after| format!("{before}{comment}{after}"));
    let around = [format!("{before}{comment}{after}"), format!("{text}{gap}{comment}")];
    let mut commented = inside.into_iter().chain(around);
    let commented = commented.find(|commented| grammar.is_same_code(text, commented))?;
    let last = commented.lines().count().saturating_sub(end).max(start + 1);
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let idle =
        grammar.parse(&commented)?.with_idle_code(&(number(start + 1)..=number(last)), &added);
    Some(idle.unwrap_or(commented))
}

/// A text of a language that has no grammar here, with other lines as comments at its end, where they
/// cannot be inside of something else.
fn with_plain_comment(path: &str, text: &str, lines: &str) -> Option<String> {
    let mark = match path.rsplit_once('.')?.1 {
        "bash" | "bats" | "pl" | "pm" | "php" | "rb" | "sh" => "#",
        "ak" | "c" | "cc" | "cpp" | "cs" | "cxx" | "h" | "hh" | "hpp" | "java" | "kt" | "scala"
        | "swift" => "//",
        _ => return None,
    };
    // What comes after these is data.
    let is_open = !text.trim_end().ends_with("?>") && !text.contains("\n__END__");
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    let comment: String =
        lines.lines().map(|line| format!("{mark} {}\n", line.trim_end_matches('\\'))).collect();
    is_open.then(|| format!("{text}{gap}{comment}"))
}

/// A text with one line of another as a comment inside its own first line, as near before the place
/// where the two differ as one can be.
fn inside_line(grammar: Grammar, text: &str, added: &str) -> Option<String> {
    let line = added.strip_suffix('\n').unwrap_or(added);
    if grammar == Grammar::Python || line.contains(['\n', '\r']) || line.contains("*/") {
        return None;
    }
    let own = text.lines().next()?;
    let indent = own.len() - own.trim_start().len();
    let alike = own.char_indices().zip(line.chars()).take_while(|((_, a), b)| a == b);
    let places: Vec<usize> = alike.map(|((at, _), _)| at).filter(|at| *at > indent).collect();
    let commented = |at: &usize| {
        let (before, after) = text.split_at(*at);
        format!("{before}/* {} */{after}", line.trim())
    };
    let nearest = places.iter().rev().take(MOST_PLACES).map(commented);
    nearest.into_iter().find(|commented| grammar.is_same_code(text, commented))
}

/// Lines as they are between the marks of a comment, if the language has such marks.
fn comment(grammar: Grammar, lines: &str) -> String {
    let mark = if grammar == Grammar::Python { "#" } else { "//" };
    let is_line_wise = mark == "#" || lines.contains("*/") || lines.contains("/*");
    if is_line_wise {
        return lines.lines().map(|line| format!("{mark} {line}\n")).collect();
    }
    let gap = if lines.ends_with('\n') { "" } else { "\n" };
    format!("/*\n{lines}{gap}*/\n")
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn only_a_comment_is_added_and_it_has_what_the_other_text_has() {
        for (path, text, other, expected) in [
            ("a.py", "x = 1\n", "x = 2\n", "# x = 2\nx = 1\n"),
            (
                "a.go",
                "package a\n\nvar x = 1\n",
                "package a\n\nvar x = 2\n",
                "package a\n\n/*\nvar x = 2\n*/\nvar x =/* var x = 2 */ 1\n",
            ),
            (
                "a.js",
                "const f = (a) => a.join(', ');\n",
                "const f = (a) => a.join(',');\n",
                "/*\nconst f = (a) => a.join(',');\n*/\nconst f = (a) => \
                    a.join(/* const f = (a) => a.join(','); */', ');\n",
            ),
            ("a.js", "f(1);\n", "/** b */\nf(1);\n", "// /** b */\nf(1);\n"),
            // Inside of a text a comment would be a part of it.
            ("a.js", "f(`\na\n`);\n", "f(`\nb\n`);\n", "f(`\na\n`);\n/*\nb\n*/\n"),
            ("a.py", "x = '''\na'''", "x = '''\nb'''", "x = '''\na'''\n# b'''\n"),
        ] {
            assert_eq!(inert(path, text, other).as_deref(), Some(expected), "{text}{other}");
        }
        // Compiled code has no comments.
        let (one, two) = ("def f():\n    return 1\n", "def f():\n    return 2\n");
        let found = inert("a.py", one, two).unwrap();
        assert!(found.starts_with("def f():\n#     return 2\n    []; []; "), "{found}");
        assert!(found.ends_with("; [2]\n    return 1\n"), "{found}");
        // What was only taken away leaves nothing to add.
        assert_eq!(inert("a.go", "package a\n\nvar x = 1\n", "package a\n"), None);
        let plain = Some("x = 1\n# x = 2\n".to_owned());
        assert_eq!(inert("a.rb", "x = 1\n", "x = 2\n"), plain);
        assert_eq!(inert("a.php", "<?php f(1) ?>\n", "<?php f(2) ?>\n"), None);
        assert_eq!(inert("a.unknown", "x = 1\n", "x = 2\n"), None);
    }
}
