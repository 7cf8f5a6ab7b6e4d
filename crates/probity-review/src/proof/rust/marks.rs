//! Marks in the functions of a file, which say that they were called.

use super::super::{
    Evidence, Reach,
    constant::{closing, without_text},
    runner::Flagged,
};

/// Says that a function was left.
const LEFT: &str = "left";

/// Says that a function was left by a panic, if it is not counted how many were left.
const THROWN: &str = "thrown";

/// Functions on a stack that was used up, if it was the code that used it up: a test that calls
/// itself without end may die in the code as well, which is then on top alone.
const DEEP: usize = 8;

/// Before a function that can be evaluated while compiling, which cannot write a mark.
const CONSTANT: &str = "const ";

/// How a source is marked.
pub(super) struct Marking<'a> {
    /// Where the marks go, as the program sees it.
    pub(super) report: &'a str,
    /// Begins the names that are put into the code.
    pub(super) name: &'a str,
    /// What somebody else puts behind a mark, by offset.
    pub(super) behind: &'a [(usize, String)],
    /// Whether every call is told, and every return from one.
    pub(super) leaving: bool,
    /// Whether functions that can be evaluated while compiling become such as cannot.
    pub(super) constants: bool,
}

impl Marking<'_> {
    /// The source with a mark at the beginning of each function: it adds the function's first and
    /// last line to a file. None if there is no function.
    pub(super) fn mark(&self, source: &str) -> Option<String> {
        let Self { report, name, .. } = self;
        let bare = bare(source);
        let mut marked = String::with_capacity(source.len());
        let mut done = 0;
        for body in bodies(&bare) {
            match body.constant {
                Some(_) if !self.constants => continue,
                Some(at) => {
                    marked.push_str(source.get(done..at)?);
                    done = at + CONSTANT.len();
                }
                None => {}
            }
            marked.push_str(source.get(done..=body.open)?);
            let (first, last) = body.lines;
            let write = format!(
                "if let {name}::result::Result::Ok(mut file) = \
                 {name}::fs::OpenOptions::new().create(true).append(true).open({report:?})"
            );
            let shared = name.to_uppercase();
            let once = format!(
                "static {shared}_SEEN: {name}::sync::atomic::AtomicBool = \
                 {name}::sync::atomic::AtomicBool::new(false); \
                 if !{shared}_SEEN.swap(true, {name}::sync::atomic::Ordering::Relaxed)"
            );
            let once = if self.leaving { "" } else { once.as_str() };
            marked.push_str(&format!(
                " extern crate std as {name}; {{ {once} {{ {write} \
                 {{ {name}::mem::drop({name}::io::Write::write_all(&mut file, b\"{first}-{last}\\n\")); }} }} }} ",
            ));
            let kind = format!("{shared}Left");
            let (unless, word) = match self.leaving {
                true => (String::new(), LEFT),
                false => (format!("if {name}::thread::panicking()"), THROWN),
            };
            marked.push_str(&format!(
                "struct {kind}; impl {name}::ops::Drop for {kind} {{ fn drop(&mut self) {{ \
                 {unless} {{ {write} {{ {name}::mem::drop({name}::io::Write::write_all(&mut file, b\"{word}\\n\")); }} }} \
                 }} }} let _{name}_left = {kind}; ",
            ));
            done = body.open + 1;
            let more = self.behind.iter().filter(|(at, _)| *at == done);
            marked.extend(more.map(|(_, text)| text.as_str()));
        }
        marked.push_str(source.get(done..)?);
        (marked.len() > source.len()).then_some(marked)
    }
}

/// Whether there are functions that can be evaluated while compiling.
pub(super) fn has_constants(source: &str) -> bool {
    bodies(&bare(source)).iter().any(|body| body.constant.is_some())
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

/// The source with comments, strings and the signs of lifetimes blanked, byte for byte.
pub(super) fn bare(source: &str) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut rest = source.char_indices();
    while let Some((at, character)) = rest.next() {
        let behind = rest.as_str();
        let word = |it: char| it.is_alphanumeric() || it == '_';
        let end = behind.find(|it| !word(it)).unwrap_or(behind.len());
        let is_byte = source.get(..at).is_some_and(|before| before.ends_with('b'));
        let lifetime = character == '\''
            && !is_byte
            && behind.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && !behind.get(end..).is_some_and(|it| it.starts_with('\''));
        plain.push(if lifetime { ' ' } else { character });
    }
    without_text(&plain)
}

/// Whether a panic came out of a function.
pub(super) fn is_thrown(told: &str) -> bool {
    told.lines().any(|line| line == THROWN)
}

/// One function: byte offsets, and its first and last line.
pub(super) struct Body {
    pub(super) start: usize,
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) lines: (u32, u32),
    /// Where the word is that lets it be evaluated while compiling.
    pub(super) constant: Option<usize>,
}

/// The functions with a body.
pub(super) fn bodies(bare: &str) -> Vec<Body> {
    let mut found = Vec::new();
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = bare.as_bytes();
    for (start, _) in bare.match_indices("fn ") {
        if is_word(start.checked_sub(1).and_then(|before| bytes.get(before))) {
            continue;
        }
        let begin = bare.get(..start).and_then(|before| before.rfind(['\n', ';', '}', '{']));
        let line = bare.get(begin.map_or(0, |at| at + 1)..start).unwrap_or_default();
        let before = |at: usize| line.as_bytes().get(at.checked_sub(1)?);
        let constant = line
            .match_indices(CONSTANT)
            .find(|(at, _)| !is_word(before(*at)))
            .map(|(at, _)| start - line.len() + at);
        // A pointer to a function has no name.
        let named = is_word(bytes.get(start + 3));
        let Some(open) = opening(bytes, start).filter(|_| named) else { continue };
        let Some(close) = closing(bytes, open) else { continue };
        let line = |offset: usize| {
            let before = bare.get(..offset).unwrap_or_default();
            let lines = before.bytes().filter(|byte| *byte == b'\n').count();
            u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
        };
        found.push(Body { start, open, close, lines: (line(start), line(close)), constant });
    }
    found
}

/// The brace that begins the body, if the declaration has one.
pub(super) fn opening(bytes: &[u8], start: usize) -> Option<usize> {
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
    use super::{Marking, bare, died_inside, reach};
    use crate::proof::{Evidence, Reach, runner::Flagged};

    #[test]
    fn functions_with_a_body_that_runs_are_marked() {
        let source = "pub fn a(x: [u8; 2]) -> u8 {\n  \"fn b() {\";\n  0\n}\nconst fn c() {}\n\
            trait T { fn d(); fn e() {} }\ntype F = fn (u8);\n// fn g() {}\n";
        let marking = |leaving, constants| Marking {
            report: "/out",
            name: "z1",
            behind: &[],
            leaving,
            constants,
        };
        let plain = marking(false, false);
        let marked = plain.mark(source).unwrap();
        assert_eq!(marked.matches("extern crate").count(), 2, "{marked}");
        assert!(marked.contains("b\"1-4\\n\""), "{marked}");
        assert!(marked.contains("b\"6-6\\n\""), "{marked}");
        assert_eq!(plain.mark("struct A;"), None);
        assert_eq!(plain.mark("fn a("), None);
        assert_eq!(plain.mark("const fn a() {}"), None);
        let marked = marking(true, false).mark(source).unwrap();
        assert_eq!(marked.matches("b\"left\\n\"").count(), 2, "{marked}");
        let marked = marking(false, true).mark(source).unwrap();
        assert_eq!(marked.matches("extern crate").count(), 3, "{marked}");
        assert!(marked.contains("\nfn c() { "), "{marked}");
    }

    #[test]
    fn lifetimes_are_no_quotes() {
        for (source, expected) in [
            (
                "fn a<'a>(b: &'a str) { 'x'; b'y'; '\\''; '{' }",
                "fn a< a>(b: & a str) { 0  ; b0  ; 0   ; 0   }",
            ),
            ("\"don't\" 'a: loop {}", "0      a: loop {}"),
        ] {
            let found = bare(source);
            assert_eq!(
                found.split_whitespace().collect::<String>(),
                expected.split_whitespace().collect::<String>()
            );
            assert_eq!(found.len(), source.len(), "{source}");
        }
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
