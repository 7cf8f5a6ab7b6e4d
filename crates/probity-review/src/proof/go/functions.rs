//! The functions of a Go source: where they begin and end, what they take and what they return.

use super::super::constant::closing;

/// A function of a file that begins a line, as those of the package do.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Byte offset behind the brace that opens it.
    pub(super) body: usize,
    /// Those that can be looked at.
    pub(super) parameters: Vec<String>,
    pub(super) results: Vec<String>,
}

/// The functions of a source whose comments and strings are blanked.
pub(super) fn functions(bare: &str) -> Vec<Function<'_>> {
    let bytes = bare.as_bytes();
    let mut found = Vec::new();
    let mut offset = 0;
    for (line, text) in (1..).zip(bare.split_inclusive('\n')) {
        if text.starts_with("func ")
            && let Some(function) = function(bare, bytes, offset, line)
        {
            found.push(function);
        }
        offset += text.len();
    }
    found
}

fn function<'a>(bare: &'a str, bytes: &[u8], start: usize, first: u32) -> Option<Function<'a>> {
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let mut at = skip(start + "func".len());
    if bytes.get(at) == Some(&b'(') {
        at = skip(closing(bytes, at)? + 1);
    }
    let rest = bare.get(at..)?;
    let end = rest.find(|end: char| !end.is_alphanumeric() && end != '_')?;
    let name = rest.get(..end).filter(|name| !name.is_empty())?;
    at = skip(at + end);
    if bytes.get(at) == Some(&b'[') {
        at = skip(closing(bytes, at)? + 1);
    }
    if bytes.get(at) != Some(&b'(') {
        return None;
    }
    let parameters = names(bare.get(at..=closing(bytes, at)?)?);
    at = closing(bytes, at)? + 1;
    let from = at;
    let open = loop {
        match bytes.get(at)? {
            b'(' | b'[' => at = closing(bytes, at)? + 1,
            b'{' => {
                let before = bare.get(from..at)?.trim_end();
                if ["interface", "struct"].iter().any(|word| before.ends_with(word)) {
                    at = closing(bytes, at)? + 1;
                } else {
                    break at;
                }
            }
            b'\n' | b';' | b'}' => return None,
            _ => at += 1,
        }
    };
    let close = closing(bytes, open)?;
    let lines = bare.get(start..close)?.bytes().filter(|byte| *byte == b'\n').count();
    let last = first.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    let results = types(bare.get(from..open)?.trim());
    Some(Function { name, first, last, body: open + 1, parameters, results })
}

/// The names in a list of parameters, if they have any.
fn names(list: &str) -> Vec<String> {
    let inner = list.trim_start_matches('(').trim_end_matches(')');
    let parts = parts(inner);
    if !parts.iter().any(|part| named(part).is_some()) {
        return Vec::new();
    }
    let name = |part: &String| part.split_whitespace().next().map(str::to_owned);
    parts.iter().filter_map(name).filter(|name| name != "_").collect()
}

/// The types of a list of results, named or not.
fn types(list: &str) -> Vec<String> {
    let Some(inner) = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')) else {
        return if list.is_empty() { Vec::new() } else { vec![list.to_owned()] };
    };
    let parts = parts(inner);
    if !parts.iter().any(|part| named(part).is_some()) {
        return parts;
    }
    let mut kinds: Vec<String> = Vec::new();
    let mut kind = String::new();
    for part in parts.iter().rev() {
        kind = named(part).unwrap_or(kind);
        kinds.push(kind.clone());
    }
    kinds.reverse();
    kinds
}

/// The type of a part that has a name before it.
fn named(part: &str) -> Option<String> {
    let (name, rest) = part.split_once(char::is_whitespace)?;
    let plain = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let keyword = ["chan", "func", "map", "struct", "interface"].contains(&name);
    (plain && !keyword).then(|| rest.trim().to_owned())
}

/// What is between the commas of a list.
fn parts(inner: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in inner.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match (character, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (_, Some(last)) => last.push(character),
            _ => {}
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::super::constant::without_text, functions, names, types};

    #[test]
    fn functions_are_found_with_their_results() {
        let source = "package a\n\nfunc A() {}\nfunc (s *S[T]) B(f func(int) error) (a, b int, err error) {\n\
            \treturn\n}\nfunc C[T any](x T) T { return x }\nfunc D() interface{ E() } {\n\treturn nil\n}\n\
            func F() (map[string]int, <-chan int, func(a int) string) {\n\treturn nil, nil, nil\n}\n\
            func G(x int)\nvar h = func() int { return 1 }\n";
        let bare = without_text(source);
        let found: Vec<_> = functions(&bare)
            .iter()
            .map(|it| format!("{} {}-{} {}", it.name, it.first, it.last, it.results.join("|")))
            .collect();
        assert_eq!(
            found,
            [
                "A 3-3 ",
                "B 4-6 int|int|error",
                "C 7-7 T",
                "D 8-10 interface{ E() }",
                "F 11-13 map[string]int|<-chan int|func(a int) string",
            ]
        );
        for (list, expected) in [
            ("(a, b int, c ...string)", "a|b|c"),
            ("(_ int, x []int)", "x"),
            ("(int)", ""),
            ("()", ""),
        ] {
            assert_eq!(names(list).join("|"), expected, "{list}");
        }
        for (list, expected) in
            [("", ""), ("error", "error"), ("(a int)", "int"), ("(A, B)", "A|B")]
        {
            assert_eq!(types(list).join("|"), expected, "{list}");
        }
    }
}
