//! A unified diff that `patch` and `git apply` read.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The difference of two texts of one file, which is called `path`.
#[must_use]
pub fn unified_diff(path: &str, before: &str, after: &str) -> String {
    // Only a newline ends a line; a carriage return belongs to the line it stands in.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut text = format!("--- {}\n+++ {}\n", header("a", path), header("b", path));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    for group in group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |start: usize, end: usize| match end - start {
            // A range without lines is named by the line before it.
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        let removed = range(first.old_range().start, last.old_range().end);
        let added = range(first.new_range().start, last.new_range().end);
        // Writing to a string cannot fail.
        _ = writeln!(text, "@@ -{removed} +{added} @@");
        for op in &group {
            let (minus, plus) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                push(&mut text, ' ', old.get(minus).unwrap_or_default());
                continue;
            }
            push(&mut text, '-', old.get(minus).unwrap_or_default());
            push(&mut text, '+', new.get(plus).unwrap_or_default());
        }
    }
    text
}

fn push(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The name as git writes it: below `a` or `b`, quoted where a reader could misunderstand it.
fn header(side: &str, path: &str) -> String {
    let name = format!("{side}/{}", path.trim_start_matches('/'));
    if name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        let mut quoted = String::from("\"");
        for c in name.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                c if c.is_ascii_control() => _ = write!(quoted, "\\{:03o}", u32::from(c)),
                c => quoted.push(c),
            }
        }
        return quoted + "\"";
    }
    // A tab behind a name with blanks tells where it ends.
    if name.contains(' ') { name + "\t" } else { name }
}

#[cfg(test)]
mod tests {
    use super::{header, unified_diff};

    #[test]
    fn hunks_have_three_lines_around_them() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after =
            before.replace("\n2\n", "\n").replace("12\n", "12\r\nx\n").replace("20\n", "20");
        let visible = unified_diff("a b/Dockerfile", &before, &after);
        let visible = visible.replace('\r', "␍").replace('\t', "␉");
        insta::assert_snapshot!(visible, @r"
        --- a/a b/Dockerfile␉
        +++ b/a b/Dockerfile␉
        @@ -1,5 +1,4 @@
         1
        -2
         3
         4
         5
        @@ -9,7 +8,8 @@
         9
         10
         11
        -12
        +12␍
        +x
         13
         14
         15
        @@ -17,4 +17,4 @@
         17
         18
         19
        -20
        +20
        \ No newline at end of file
        ");
    }

    #[test]
    fn names_are_below_their_sides_and_quoted_where_needed() {
        for (path, expected) in [
            ("Dockerfile", "a/Dockerfile"),
            ("/x/Dockerfile", "a/x/Dockerfile"),
            ("a b", "a/a b\t"),
            ("a\"b\\c\td\n", "\"a/a\\\"b\\\\c\\td\\n\""),
            ("\u{1b}x", "\"a/\\033x\""),
            ("grün", "a/grün"),
        ] {
            assert_eq!(header("a", path), expected);
        }
    }
}
