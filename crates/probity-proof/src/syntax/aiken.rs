//! Aiken, as far as it is looked at without a grammar: the handlers and functions of a file, by their
//! braces.

/// A name, and the bytes between the braces of its body.
struct Block {
    name: String,
    start: usize,
    end: usize,
}

/// How a handler or a function rejects: whatever type it returns, it can fail.
const REJECTIONS: [&str; 2] = ["False", "fail"];

/// The name of the innermost handler or function of these lines, and the source with each way for it
/// to reject everything.
pub(crate) fn rejecting(source: &str, first: u32, last: u32) -> Option<(String, Vec<String>)> {
    let line_of = |at: usize| {
        let before = source.get(..at).unwrap_or_default();
        u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(1)
    };
    let mut blocks = blocks(source);
    blocks.retain(|block| line_of(block.start) <= last && line_of(block.end) >= first);
    let block = blocks.into_iter().min_by_key(|block| block.end - block.start)?;
    let (before, after) = (source.get(..block.start)?, source.get(block.end..)?);
    let texts = REJECTIONS.map(|rejection| format!("{before} {rejection} {after}"));
    Some((block.name, texts.to_vec()))
}

/// Handlers of validators and functions; a validator itself is none, nor are blocks inside of them.
fn blocks(source: &str) -> Vec<Block> {
    let mut open: Vec<(usize, Option<String>)> = Vec::new();
    let mut found = Vec::new();
    for (at, letter) in code(source) {
        match letter {
            '{' => open.push((at + 1, head(source.get(..at).unwrap_or_default()))),
            '}' => {
                if let Some((start, Some(name))) = open.pop() {
                    found.push(Block { name, start, end: at });
                }
            }
            _ => {}
        }
    }
    found
}

/// The letters that are neither in a comment nor in a text.
fn code(source: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    let mut letters = source.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let rest = source.get(at..).unwrap_or_default();
        if rest.starts_with("//") {
            while letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
        } else if letter == '"' {
            while let Some((_, letter)) = letters.next() {
                match letter {
                    '\\' => drop(letters.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else {
            found.push((at, letter));
        }
    }
    found
}

/// The name of what a brace opens, if parameters come before it: `fn name(…) -> Bool` or `spend(…)`.
fn head(before: &str) -> Option<String> {
    let before = before.trim_end();
    let (before, _) = match before.rsplit_once("->") {
        // A type has no brace and no parenthesis that is not closed.
        Some((head, kind)) if !kind.contains(['{', '}', '=']) => (head.trim_end(), kind),
        _ => (before, ""),
    };
    let inner = before.strip_suffix(')')?;
    let mut depth = 1_usize;
    let opened = inner.char_indices().rev().find(|(_, letter)| {
        match letter {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let (name, words) = {
        let head = inner.get(..opened?.0)?.trim_end();
        let name: String =
            head.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let name: String = name.chars().rev().collect();
        let words = head.get(..head.len() - name.len()).unwrap_or_default().trim_end();
        (name, words.rsplit([' ', '\n', '{', '}']).next().unwrap_or_default())
    };
    let is_control = matches!(name.as_str(), "" | "if" | "when" | "and" | "or" | "validator");
    (!is_control && !matches!(words, "validator" | "test" | "if" | "when")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::rejecting;

    const SWAP: &str = "use cardano/transaction.{Transaction}\n\nvalidator swap(price: Int) {\n  \
        // never {\n  spend(datum: Option<Datum>, _r: Data, _o: Data, self: Transaction) {\n    \
        expect Some(datum) = datum\n    when datum.kind is {\n      Sell -> pays(self, \"}\")\n      \
        Cancel -> True\n    }\n  }\n\n  else(_) {\n    fail\n  }\n}\n\nfn pays(self: Transaction, to: \
        ByteArray) -> Bool {\n  True\n}\n";

    #[test]
    fn the_handler_or_function_of_the_lines_says_false_or_fails() {
        for (line, name, expected) in [
            (8, "spend", "self: Transaction) { False }\n\n  else(_) {"),
            (6, "spend", "self: Transaction) { False }\n\n  else(_) {"),
            (19, "pays", "-> Bool { False }\n"),
        ] {
            let (found, texts) = rejecting(SWAP, line, line).unwrap();
            assert_eq!(found, name);
            assert!(texts[0].contains(expected), "{}", texts[0]);
            assert_eq!(texts[1], texts[0].replace("{ False }", "{ fail }"));
        }
        assert_eq!(rejecting(SWAP, 1, 1), None);
        assert_eq!(rejecting("fn f(", 1, 1), None);
    }
}
