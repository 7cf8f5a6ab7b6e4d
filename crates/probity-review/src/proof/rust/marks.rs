//! Marks in the functions of a file, which say that they were called.

use super::super::{
    Evidence, Reach,
    constant::{closing, without_text},
    runner::Flagged,
};

/// Says that a function was left.
const LEFT: &str = "left";

/// Functions on a stack that was used up, if it was the code that used it up: a test that calls
/// itself without end may die in the code as well, which is then on top alone.
const DEEP: usize = 8;

/// The source with a mark at the beginning of each function: it adds the function's first and
/// last line to a file. Behind some of them goes a text of somebody else's, by offset. None if there
/// is no function. Another mark may tell that a function was left.
pub(super) fn mark(
    source: &str,
    report: &str,
    behind: &[(usize, &str)],
    leaving: bool,
) -> Option<String> {
    let bare = without_text(source);
    let mut marked = String::with_capacity(source.len());
    let mut done = 0;
    for body in bodies(&bare) {
        marked.push_str(source.get(done..=body.open)?);
        let (first, last) = body.lines;
        marked.push_str(&format!(
            " {{ use ::std::io::Write as _; if let Ok(mut file) = ::std::fs::OpenOptions::new()\
             .create(true).append(true).open({report:?}) {{ \
             file.write_all(b\"{first}-{last}\\n\").ok(); }} }} ",
        ));
        if leaving {
            marked.push_str(&format!(
                "struct ZzLeft; impl Drop for ZzLeft {{ fn drop(&mut self) {{ use ::std::io::Write \
                 as _; if let Ok(mut file) = ::std::fs::OpenOptions::new().append(true)\
                 .open({report:?}) {{ file.write_all(b\"{LEFT}\\n\").ok(); }} }} }} \
                 let _zz_left = ZzLeft; ",
            ));
        }
        done = body.open + 1;
        let more = behind.iter().filter(|(at, _)| *at == done);
        marked.extend(more.map(|(_, text)| *text));
    }
    marked.push_str(source.get(done..)?);
    (done > 0).then_some(marked)
}

/// What the marks have told.
pub(super) fn reach(told: &str, flagged: &Flagged) -> Reach {
    let mut called = told.lines().filter_map(|line| {
        let (first, last) = line.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    });
    let mut reached = false;
    let lines = called.any(|(first, last)| {
        reached = true;
        flagged.holds(first, last)
    });
    if reached { Reach::Reached { by: Evidence::Coverage, lines } } else { Reach::NotReached }
}

/// Whether functions were entered and never left, by marks of both.
pub(super) fn died_inside(told: &str, output: &str) -> bool {
    let left = told.lines().filter(|line| *line == LEFT).count();
    let inside = told.lines().count().saturating_sub(left.saturating_mul(2));
    inside >= if output.contains("has overflowed its stack") { DEEP } else { 1 }
}

/// One function: byte offsets, and its first and last line.
pub(super) struct Body {
    pub(super) start: usize,
    pub(super) open: usize,
    pub(super) lines: (u32, u32),
}

/// The functions that can be marked: with a body, and not evaluated while compiling.
pub(super) fn bodies(bare: &str) -> Vec<Body> {
    let mut found = Vec::new();
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = bare.as_bytes();
    for (start, _) in bare.match_indices("fn ") {
        if is_word(start.checked_sub(1).and_then(|before| bytes.get(before))) {
            continue;
        }
        let line = bare.get(..start).and_then(|before| before.rsplit(['\n', ';', '}', '{']).next());
        let constant = line.is_some_and(|line| line.split_whitespace().any(|word| word == "const"));
        // A pointer to a function has no name.
        let named = is_word(bytes.get(start + 3));
        let Some(open) = opening(bytes, start).filter(|_| named && !constant) else { continue };
        let Some(close) = closing(bytes, open) else { continue };
        let line = |offset: usize| {
            let before = bare.get(..offset).unwrap_or_default();
            let lines = before.bytes().filter(|byte| *byte == b'\n').count();
            u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
        };
        found.push(Body { start, open, lines: (line(start), line(close)) });
    }
    found
}

/// The brace that begins the body, if the declaration has one.
fn opening(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(at),
            b';' | b'}' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{died_inside, mark, reach};
    use crate::proof::{Evidence, Reach, runner::Flagged};

    #[test]
    fn functions_with_a_body_that_runs_are_marked() {
        let source = "pub fn a(x: [u8; 2]) -> u8 {\n  \"fn b() {\";\n  0\n}\nconst fn c() {}\n\
            trait T { fn d(); fn e() {} }\ntype F = fn (u8);\n// fn g() {}\n";
        let marked = mark(source, "/out", &[], false).unwrap();
        assert_eq!(marked.matches("OpenOptions").count(), 2, "{marked}");
        assert!(marked.contains("b\"1-4\\n\""), "{marked}");
        assert!(marked.contains("b\"6-6\\n\""), "{marked}");
        assert_eq!(mark("struct A;", "/out", &[], false), None);
        assert_eq!(mark("fn a(", "/out", &[], false), None);
        let marked = mark(source, "/out", &[], true).unwrap();
        assert_eq!(marked.matches("let _zz_left").count(), 2, "{marked}");
    }

    #[test]
    fn a_process_dies_inside_of_what_it_has_not_left() {
        let overflow = "thread 'x' has overflowed its stack";
        for (told, output, inside) in [
            ("1-2\nleft\n", "", false),
            ("1-2\nleft\n3-4\n", "", true),
            ("1-2\nleft\n3-4\n", overflow, false),
            ("1-2\n1-2\n1-2\n1-2\n1-2\n1-2\n1-2\n1-2\n", overflow, true),
            ("", "", false),
        ] {
            assert_eq!(died_inside(told, output), inside, "{told:?}");
        }
    }

    #[test]
    fn marks_tell_what_was_called() {
        let flagged = Flagged { file: String::new(), first: 5, last: 5 };
        let reached = |lines| Reach::Reached { by: Evidence::Coverage, lines };
        for (told, expected) in [
            ("1-4\n4-6\n", reached(true)),
            ("1-4\n", reached(false)),
            ("", Reach::NotReached),
            ("nonsense\n", Reach::NotReached),
        ] {
            assert_eq!(reach(told, &flagged), expected, "{told:?}");
        }
    }
}
