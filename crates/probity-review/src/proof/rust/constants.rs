//! Constants and statics, which no mark and no switch can be in: what they hold is altered in
//! the source, and the test is compiled for each value.

use std::ops::Range;

use super::{
    super::{alter::Literals, runner::Flagged},
    marks::{bare, bodies},
    switch,
};

/// Values of one constant. Each is one build.
const MOST: usize = 5;

/// A constant or a static that the flagged lines declare, or a function that can be evaluated while
/// compiling, whose value is what is between its braces.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    kind: String,
    value: Range<usize>,
}

/// Those that are declared on the flagged lines.
pub(super) fn flagged(source: &str, flagged: &Flagged) -> Vec<Constant> {
    let bare = bare(source);
    let mut found = Vec::new();
    for word in ["const ", "static "] {
        for (start, _) in bare.match_indices(word) {
            let line = |offset: usize| {
                let lines = bare.bytes().take(offset).filter(|byte| *byte == b'\n').count();
                u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
            };
            let Some(constant) = declared(source, &bare, start, start + word.len()) else {
                continue;
            };
            if flagged.holds(line(start), line(constant.value.end)) {
                found.push(constant);
            }
        }
    }
    for body in bodies(&bare).iter().filter(|body| body.constant.is_some()) {
        let declared = switch::declared(source, &bare, body);
        if let Some((name, kind)) = declared.filter(|_| flagged.holds(body.lines.0, body.lines.1)) {
            let value = body.open + 1..body.close;
            found.push(Constant { name: name.to_owned(), kind: kind.to_owned(), value });
        }
    }
    found
}

/// `NAME: KIND = VALUE;` from an offset on.
fn declared(source: &str, bare: &str, start: usize, from: usize) -> Option<Constant> {
    // Among the parameters of a type it is something else.
    let before = bare.get(..start)?.trim_end();
    let begins = before.is_empty()
        || before.ends_with([';', '{', '}', ']', ')'])
        || before.ends_with("pub")
        || before.ends_with("default");
    if !begins {
        return None;
    }
    let rest = bare.get(from..)?;
    // Of `lazy_static` the second.
    let skipped =
        ["mut ", "ref "].iter().find(|it| rest.starts_with(**it)).map_or(0, |it| it.len());
    let rest = rest.get(skipped..)?;
    let from = from + skipped;
    let colon = rest.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    let name = rest.get(..colon)?;
    if name.is_empty() || name == "_" || !rest.get(colon..)?.trim_start().starts_with(':') {
        return None;
    }
    let mut depth = 0_i32;
    let mut equals = None;
    for (at, character) in rest.char_indices().skip_while(|(at, _)| *at <= colon) {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '=' if depth == 0 && equals.is_none() => equals = Some(at),
            ';' if depth == 0 => {
                let equals = equals?;
                let kind =
                    source.get(from + colon..from + equals)?.trim_start_matches([' ', ':']).trim();
                let value = from + equals + 1..from + at;
                return Some(Constant { name: name.to_owned(), kind: kind.to_owned(), value });
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

impl Constant {
    /// Whether one value is all it has, so that nothing else can be what the test waits for.
    pub(super) fn is_plain(&self) -> bool {
        self.is_number() || self.is_text() || ["bool", "char"].contains(&self.kind.as_str())
    }

    /// Sources in which it holds something else, and what that is.
    pub(super) fn others(&self, source: &str, literals: &Literals) -> Vec<(String, String)> {
        let Some(value) = source.get(self.value.clone()).map(str::trim) else {
            return Vec::new();
        };
        let text = |text: &String| format!("{text:?}");
        let kind = self.kind.as_str();
        let values: Vec<(String, String)> = if self.is_number() {
            let number = |number: &String| {
                let float = kind.starts_with('f') && number.parse::<i128>().is_ok();
                (number.clone(), if float { format!("{number}.0") } else { number.clone() })
            };
            let most = ("the most".to_owned(), format!("{kind}::MAX"));
            literals.numbers.iter().take(MOST - 1).map(number).chain([most]).collect()
        } else if self.is_text() {
            literals.strings.iter().take(MOST).map(|it| (it.clone(), text(it))).collect()
        } else if kind == "bool" {
            vec![("the opposite".to_owned(), format!("!{{{value}}}"))]
        } else if kind == "char" {
            let characters = literals.strings.iter().filter(|it| it.chars().count() == 1);
            characters
                .take(MOST)
                .map(|it| (it.clone(), format!("'{}'", it.escape_default())))
                .collect()
        } else {
            // Every literal inside, so that the one which the test looks at is among them.
            let all = |inside: Inside, new: &str| replaced(value, inside, new);
            let numbers = literals.numbers.iter().filter(|it| !it.starts_with('-')).take(MOST - 2);
            let numbers = numbers.filter_map(|it| Some((it.clone(), all(Inside::Numbers, it)?)));
            let texts = literals.strings.iter().take(MOST - 2);
            let texts = texts.filter_map(|it| Some((it.clone(), all(Inside::Texts, &text(it))?)));
            numbers.chain(texts).collect()
        };
        let whole = |(words, value): (String, String)| {
            let before = source.get(..self.value.start)?;
            let behind = source.get(self.value.end..)?;
            Some((words, format!("{before} {value}{behind}")))
        };
        values.into_iter().filter_map(whole).collect()
    }

    fn is_number(&self) -> bool {
        let sizes = ["8", "16", "32", "64", "128", "size"];
        let size = self.kind.strip_prefix(['i', 'u', 'f']);
        size.is_some_and(|size| sizes.contains(&size))
    }

    fn is_text(&self) -> bool {
        self.kind.starts_with('&') && self.kind.ends_with("str") && !self.kind.contains('[')
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Numbers,
    Texts,
}

/// An expression with every literal of a kind replaced; nothing if it has none.
fn replaced(value: &str, inside: Inside, new: &str) -> Option<String> {
    let bare = bare(value);
    let mut out = String::with_capacity(value.len());
    let mut characters = value.char_indices().peekable();
    let mut previous = ' ';
    let mut count = 0_usize;
    while let Some((at, character)) = characters.next() {
        let code = bare.get(at..).and_then(|it| it.chars().next()).unwrap_or(' ');
        let word = |it: char| it.is_alphanumeric() || it == '_';
        if character == '"' && code == '0' && inside == Inside::Texts && !word(previous) {
            let mut escaped = false;
            for (_, next) in characters.by_ref() {
                if next == '"' && !escaped {
                    break;
                }
                escaped = next == '\\' && !escaped;
            }
            out.push_str(new);
            count += 1;
        } else if code.is_ascii_digit()
            && character == code
            && inside == Inside::Numbers
            && !word(previous)
            && previous != '.'
        {
            let mut float = false;
            while let Some((_, next)) = characters.next_if(|(_, it)| word(*it) || *it == '.') {
                float |= next == '.';
            }
            out.push_str(new);
            out.push_str(if float && !new.contains('.') { ".0" } else { "" });
            count += 1;
        } else {
            out.push(character);
        }
        previous = character;
    }
    (count > 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{Flagged, Literals, flagged};

    #[test]
    fn constants_of_every_kind_get_other_values() {
        let source = "pub const A: u32 = 60 * 60;\npub(crate) static mut B: &'static str = \"a;b\";\n\
            impl X {\n    const C: [(&str, f64); 2] = [(\"a\", 1.5), (\"b\", 2.0)];\n}\n\
            fn d<const N: usize>() {}\nconst fn e() -> u8 { 3 }\nconst _: () = ();\nconst F: bool = A > 3;\n\
            static G: Duration = Duration::from_secs(30);\n";
        let literals = Literals::of("20; \"x\"", "");
        let values = |line: u32| -> Vec<String> {
            let lines = Flagged { file: String::new(), first: line, last: line };
            let found = flagged(source, &lines);
            let line = usize::try_from(line).unwrap() - 1;
            let others = found.iter().flat_map(|it| it.others(source, &literals));
            others.map(|(_, text)| text.lines().nth(line).unwrap().trim().to_owned()).collect()
        };
        let first = |line: u32| values(line).into_iter().next().unwrap_or_default();
        assert_eq!(first(1), "pub const A: u32 = 20;");
        assert_eq!(first(2), "pub(crate) static mut B: &'static str = \"x\";");
        let table = values(4);
        assert_eq!(table[0], "const C: [(&str, f64); 2] = [(\"a\", 20.0), (\"b\", 20.0)];");
        assert!(
            table.contains(&"const C: [(&str, f64); 2] = [(\"x\", 1.5), (\"x\", 2.0)];".to_owned())
        );
        for line in [6, 8] {
            assert_eq!(values(line), [""; 0], "{line}");
        }
        assert_eq!(first(7), "const fn e() -> u8 { 20}");
        assert_eq!(values(9), ["const F: bool = !{A > 3};"]);
        assert_eq!(first(10), "static G: Duration = Duration::from_secs(20);");
    }
}
