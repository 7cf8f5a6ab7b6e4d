//! A control without a run: a test whose failing statement stands alone fails whatever the code
//! does.
//!
//! Reach shows that a test runs the code, not that it looks at what comes out. Only what is
//! certain is called constant: a failure that no condition, no earlier return and no value of
//! anything can prevent. For Go, Rust and JavaScript, whose statements look alike enough; Python
//! has a parser of its own at hand.

/// Calls that fail whatever they are given, by their last word.
const FAILURES: [&str; 10] = [
    "Fatal",
    "Fatalf",
    "Error",
    "Errorf",
    "Fail",
    "FailNow",
    "panic",
    "unreachable",
    "todo",
    "fail",
];

/// Words that begin an assertion, which fails by what it is given.
const ASSERTIONS: [&str; 9] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "expect",
    "require",
    "ok",
    "equal",
    "strictEqual",
    "deepEqual",
];

/// Words that are values of their own.
const LITERALS: [&str; 7] = ["true", "false", "nil", "null", "undefined", "None", "t"];

/// Words by which a function may have been left before.
const LEAVING: [&str; 8] =
    ["return", "Skip", "Skipf", "SkipNow", "skip", "break", "continue", "goto"];

/// What stands before a pattern of JavaScript and before no division.
const BEFORE_PATTERN: [char; 11] = ['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', ';'];

/// Characters between the braces of a template.
const LONGEST_INTERPOLATION: usize = 4096;

/// The statement at this line, counted from one, if it fails whatever the code does. Only in the
/// test itself, which has this name, or is what `test` and `it` are given: what a helper does depends
/// on whether it is called.
pub(super) fn statement(source: &str, line: u32, name: Option<&str>) -> Option<String> {
    let bare = without_text(source);
    let start = offset(&bare, line)?;
    let before = bare.get(..start)?;
    let enclosing = blocks(before);
    let last = enclosing.last()?;
    let function = enclosing.iter().rev().find(|block| is_function(block.header))?;
    let is_test = match name {
        Some(name) => words(function.header).any(|word| word == name),
        None => words(function.header).next().is_some_and(|it| ["test", "it"].contains(&it)),
    };
    if !is_test {
        return None;
    }
    let since = before.get(function.start..)?;
    if words(since).any(|word| LEAVING.contains(&word)) || since.contains("?;") {
        return None;
    }
    let within = enclosing.iter().skip_while(|block| block.start <= function.start);
    let certain =
        within.clone().all(|block| is_constant_condition(block.header) || is_bare(before, block));
    // One block of a constant condition is enough only if all are.
    let stands_alone = last.start == function.start || certain;
    if !stands_alone {
        return None;
    }
    let mut from = start;
    loop {
        let rest = bare.get(from..)?;
        let statement = balanced(rest);
        if is_failure(statement) || is_literal_assertion(statement) {
            let text = source.get(from..from + statement.len())?.trim();
            return Some(text.chars().take(200).collect());
        }
        // Another on the same line runs as well, unless this one opens a block or leaves.
        let goes_on = rest.get(statement.len()..).is_some_and(|end| end.starts_with(';'));
        let leaves = words(statement).any(|word| LEAVING.contains(&word));
        // What stands before a condition belongs to it.
        let conditional = words(statement).next().is_some_and(decides);
        if !goes_on || leaves || conditional || statement.contains(['{', '}']) {
            return None;
        }
        let behind = rest.get(statement.len() + 1..)?;
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        from += statement.len() + 1 + blanks;
    }
}

/// An open brace before the place in question.
#[derive(Clone)]
struct Block<'a> {
    start: usize,
    header: &'a str,
}

fn blocks(before: &str) -> Vec<Block<'_>> {
    let mut open: Vec<Block<'_>> = Vec::new();
    for (start, character) in before.char_indices() {
        match character {
            '{' => {
                let line = before.get(..start).unwrap_or("");
                let from = line.rfind(['\n', ';', '}']).map_or(0, |at| at + 1);
                open.push(Block { start, header: line.get(from..).unwrap_or("").trim() });
            }
            '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}

fn is_function(header: &str) -> bool {
    let mut all = words(header);
    let first = all.next().unwrap_or("");
    ["func", "fn", "pub", "async", "function"].contains(&first)
        || (["test", "it"].contains(&first) && (header.ends_with("=>") || header.ends_with(')')))
}

/// A block that only groups: neither its own line nor the one before it has a word that decides
/// whether it runs, or when.
fn is_bare(before: &str, block: &Block<'_>) -> bool {
    let above = before.get(..block.start).unwrap_or_default().trim_end();
    let line = above.rsplit('\n').next().unwrap_or_default();
    block.header.is_empty() && line.ends_with([';', '}', '{', ')']) && !words(line).any(decides)
}

fn decides(word: &str) -> bool {
    let words = [
        "if", "else", "for", "while", "loop", "switch", "case", "default", "match", "select", "do",
        "try", "catch", "finally", "func", "fn", "function", "class", "struct", "impl", "mod",
        "test", "it", "describe", "unsafe", "async", "move",
    ];
    words.contains(&word)
}

fn is_constant_condition(header: &str) -> bool {
    let mut all = words(header);
    let head = all.next();
    head == Some("if") && all.all(is_literal) && !header.contains(';')
}

fn is_failure(statement: &str) -> bool {
    let path = statement.split(['(', '!']).next().unwrap_or("");
    let plain = |end: char| end.is_alphanumeric() || end == '_' || end == '.';
    if statement.starts_with("throw ") {
        return true;
    }
    let called = statement.get(path.len()..).is_some_and(|rest| rest.starts_with(['(', '!']));
    called
        && path.chars().all(plain)
        && path.rsplit('.').next().is_some_and(|last| FAILURES.contains(&last))
}

fn is_literal_assertion(statement: &str) -> bool {
    let Some(open) = statement.find('(') else { return false };
    let (head, rest) = statement.split_at(open);
    let asserts = words(head).any(|word| ASSERTIONS.contains(&word)) && !head.contains(['{', '}']);
    // Behind `expect(..)` come methods, which are no values. What is spread by three dots is one.
    let (mut previous, mut before) = (' ', ' ');
    let mut word = String::new();
    let mut free = true;
    for character in rest.chars().chain([' ']) {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            free &= (previous == '.' && before != '.') || is_literal(&word);
            word.clear();
            previous = ' ';
        }
        (before, previous) = (previous, character);
    }
    asserts && free
}

fn is_literal(word: &str) -> bool {
    LITERALS.contains(&word) || word.starts_with(|first: char| first.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|end: char| !end.is_alphanumeric() && end != '_').filter(|word| !word.is_empty())
}

/// From here to where the parentheses are closed again.
fn balanced(text: &str) -> &str {
    let mut depth = 0_i32;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '\n' | ';' if depth <= 0 => return text.get(..at).unwrap_or(text),
            _ => {}
        }
    }
    text
}

/// Where the words of a line begin.
fn offset(text: &str, line: u32) -> Option<usize> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let mut start = 0;
    for (number, words) in text.split_inclusive('\n').enumerate() {
        if number == index {
            return Some(start + words.len() - words.trim_start().len());
        }
        start += words.len();
    }
    None
}

/// The bracket that closes the one at a place, in a source without its text.
pub(super) fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The source with comments and the insides of strings blanked, byte for byte.
pub(super) fn without_text(source: &str) -> String {
    let mut bare = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    let blank = |bare: &mut String, character: char| {
        if character == '\n' {
            bare.push('\n');
        } else {
            bare.extend(std::iter::repeat_n(' ', character.len_utf8()));
        }
    };
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            ('/', Some('/')) => {
                bare.push(' ');
                while let Some(inner) = rest.next_if(|inner| *inner != '\n') {
                    blank(&mut bare, inner);
                }
            }
            ('/', Some('*')) => {
                bare.push(' ');
                let mut previous = ' ';
                for inner in rest.by_ref() {
                    blank(&mut bare, inner);
                    if previous == '*' && inner == '/' {
                        break;
                    }
                    previous = inner;
                }
            }
            ('"' | '`', _) => {
                bare.push('0');
                let mut escaped = false;
                while let Some(inner) = rest.next() {
                    let ends = inner == character && !escaped;
                    escaped = inner == '\\' && !escaped && character == '"';
                    if ends {
                        bare.push(' ');
                        break;
                    }
                    blank(&mut bare, inner);
                    if character == '`' && inner == '$' {
                        interpolated(&mut bare, &mut rest);
                    }
                }
            }
            // Of Rust; what is inside may hold quotes.
            ('r', Some('"' | '#'))
                if !bare.ends_with(|end: char| end.is_alphanumeric() || end == '_') =>
            {
                bare.push('r');
                raw(&mut bare, &mut rest, blank);
            }
            ('\'', _) => quoted(&mut bare, &mut rest, blank),
            ('/', _) if bare.trim_end().ends_with(BEFORE_PATTERN) => {
                pattern(&mut bare, &mut rest, blank);
            }
            (other, _) => bare.push(other),
        }
    }
    bare
}

/// `{…}` in a template of JavaScript, which is code, if it is that at all. Its braces become
/// parentheses, since they open no block.
fn interpolated(bare: &mut String, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if rest.peek() != Some(&'{') {
        return;
    }
    let ahead: String = rest.clone().skip(1).take(LONGEST_INTERPOLATION).collect();
    let mut depth = 1_i32;
    let mut quote = None;
    for (at, character) in ahead.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(character),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let inside = ahead.get(..at).unwrap_or_default();
            let code = format!("({})", without_text(inside));
            // Text of Go that looks like it must not close what it has not opened.
            if closing(code.as_bytes(), 0) != Some(code.len() - 1) {
                return;
            }
            bare.push_str(&code);
            rest.by_ref().take(inside.chars().count() + 2).for_each(drop);
            return;
        }
    }
}

/// `#"…"#` with as many signs at the end as at the beginning, if it is that at all.
fn raw(
    bare: &mut String,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    blank: impl Fn(&mut String, char),
) {
    let ahead: String = rest.clone().collect();
    let signs = ahead.len() - ahead.trim_start_matches('#').len();
    let Some(inner) = ahead.get(signs..).and_then(|quoted| quoted.strip_prefix('"')) else {
        return;
    };
    let end = format!("\"{}", "#".repeat(signs));
    let Some(length) = inner.find(&end) else { return };
    let whole = inner.get(..length).map_or(0, |inside| inside.chars().count());
    for character in rest.by_ref().take(signs + 1 + whole + end.len()) {
        blank(bare, character);
    }
}

/// `[^/]"/` of JavaScript, which may hold quotes; a slash divides what stands before it elsewhere.
fn pattern(
    bare: &mut String,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    blank: impl Fn(&mut String, char),
) {
    let line: String = rest.clone().take_while(|inner| *inner != '\n').collect();
    let (mut escaped, mut in_class) = (false, false);
    let end = line.chars().position(|inner| {
        let ends = inner == '/' && !escaped && !in_class;
        match inner {
            '[' if !escaped => in_class = true,
            ']' if !escaped => in_class = false,
            _ => {}
        }
        escaped = inner == '\\' && !escaped;
        ends
    });
    bare.push(if end.is_some() { '0' } else { '/' });
    for inner in rest.by_ref().take(end.map_or(0, |end| end + 1)) {
        blank(bare, inner);
    }
}

/// A string of JavaScript, a character of Go or Rust, or a lifetime, which has no end.
fn quoted(
    bare: &mut String,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    blank: impl Fn(&mut String, char),
) {
    let line: String = rest.clone().take_while(|inner| *inner != '\n').collect();
    let mut escaped = false;
    let end = line.chars().position(|inner| {
        let ends = inner == '\'' && !escaped;
        escaped = inner == '\\' && !escaped;
        ends
    });
    bare.push('0');
    let Some(end) = end else { return };
    for inner in rest.by_ref().take(end) {
        blank(bare, inner);
    }
    if rest.next().is_some() {
        bare.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::{statement, without_text};

    #[test]
    fn a_pattern_is_no_code_and_a_division_is_none() {
        for (source, expected) in [
            ("f(/[<>\"/]/g, 1)", "f(0       g, 1)"),
            ("a = b / c / d", "a = b / c / d"),
            ("a(b) / 2; x = /\\/\"/;", "a(b) / 2; x = 0    ;"),
            ("x = 1 // \"\n", "x = 1     \n"),
            ("f(/ \n\"a\")", "f(/ \n0  )"),
        ] {
            assert_eq!(without_text(source), expected, "{source}");
        }
    }

    /// The line in question is the one with the arrow, which is taken off.
    fn check(source: &str, name: Option<&str>, constant: bool) {
        let line = source.lines().position(|line| line.contains("<-")).unwrap() + 1;
        let source = source.replace("<-", "");
        let found = statement(&source, line.try_into().unwrap(), name);
        assert_eq!(found.is_some(), constant, "{source}{found:?}");
    }

    #[test]
    fn what_fails_alone_is_constant_and_what_depends_is_not() {
        let go =
            |body: &str| format!("package a\nfunc TestX(t *testing.T) {{\n\tF(1)\n{body}\n}}\n");
        for (body, constant) in [
            ("t.Fatal(\"if return {\") <-", true),
            ("t.Errorf(\"%v\", F(2)) <-", true),
            ("panic(1) <-", true),
            ("if true {\n t.Fatal(1) <-\n}", true),
            ("if 1 != 2 {\n t.Fatal(1) <-\n}", true),
            ("if F(1) != 2 {\n t.Fatal(1) <-\n}", false),
            ("if got := F(1); 1 == 1 {\n t.Fatal(1) <-\n}", false),
            ("if F(1) == 2 {\n return\n}\nt.Fatal(1) <-", false),
            ("if F(1) == 2 {\n t.Skip()\n}\nt.Fatal(1) <-", false),
            ("for _, c := range cases {\n t.Fatal(1) <-\n}", false),
            ("defer func() {\n if recover() == nil {\n t.Fatal(1) <-\n}\n}()", false),
            ("if _, ok := m[\"a\"]; ok { t.Error(\"x\") } <-", false),
            ("if x := 1; true { t.Error(\"x\") } <-", false),
            ("require.Equal(t, 1, 2) <-", true),
            ("require.Equal(t, 1, F(2)) <-", false),
            ("t.Run(\"x\", func(t *testing.T) {\n check(t, F(1)) <-\n})", false),
        ] {
            check(&go(body), Some("TestX"), constant);
        }
        let helper = "package a\nfunc fail(t *testing.T) {\n t.Fatal(1) <-\n}\n";
        check(helper, Some("TestX"), false);
        let rust = |body: &str| format!("#[test]\nfn x() {{\n    f(1);\n{body}\n}}\n");
        for (body, constant) in [
            ("panic!(\"no\"); <-", true),
            ("assert!(false); <-", true),
            ("assert_eq!(1, 2, \"{}\", 'x'); <-", true),
            ("assert_eq!(f(1), 2); <-", false),
            ("let y: &'static str = f(1);\nassert!(y == \"a\"); <-", false),
            ("if f(1) != 2 {\n panic!(); <-\n}", false),
            ("f(1)?;\npanic!(); <-", false),
        ] {
            check(&rust(body), Some("x"), constant);
        }
        let node = |body: &str| format!("test('x', () => {{\n  f(1);\n{body}\n}});\n");
        for (body, constant) in [
            ("assert.fail('no'); <-", true),
            ("f(1); assert.equal(1, 2); <-", true),
            ("if (f(1)) { g(); assert.fail('no'); } <-", false),
            ("{\n assert.fail('no'); <-\n}", true),
            ("if (f(1))\n{\n assert.fail('no'); <-\n}", false),
            ("throw new Error(`no`); <-", true),
            ("assert.strictEqual(1, 2); <-", true),
            ("expect(true).toBe(false); <-", true),
            ("expect(f(1)).toBe(false); <-", false),
            ("assert.deepEqual([...got], [1, 2]); <-", false),
            ("assert.deepEqual([...f(1)], [1, 2]); <-", false),
            ("assert.deepEqual([...[1]], [1, 2]); <-", true),
            ("assert.equal(`a${f('}')}b`, 'b'); <-", false),
            ("assert.equal(`a${1}b`, 'b'); <-", true),
            ("assert.equal(`a${`, 'b'); <-", true),
            ("assert.equal(`a${f)}`, 'b'); <-", true),
            ("if (f(1)) {\n assert.fail('no'); <-\n}", false),
        ] {
            check(&node(body), None, constant);
        }
    }

    #[test]
    fn nonsense_is_borne() {
        for source in ["", "}}}}{{{", "\"", "'", "/*", "`\u{fc}", "fn x() {\nassert!((y"] {
            for line in 0..4 {
                assert_eq!(statement(source, line, Some("x")), None, "{source}");
            }
        }
    }
}
