//! What the linter said of a text, kept for the next time: fixing looks at a file in rounds, and most
//! of its texts are the same in each.

use std::{
    collections::HashMap,
    mem,
    sync::{LazyLock, Mutex, PoisonError},
};

use shuck_linter::{AnalysisRequest, Diagnostic, ShellCheckCodeMap};

use crate::Dialect;

/// As much is kept; then all is forgotten, which costs no more than not having kept it.
const MOST_BYTES: usize = 4 << 20;

/// Longer texts are rare, and would push out all others.
const LONGEST: usize = 16 << 10;

static KNOWN: LazyLock<Mutex<Memo>> = LazyLock::new(Mutex::default);

/// The linter makes this table anew for each text where it is not given one, which takes longer than
/// most texts do.
static CODES: LazyLock<ShellCheckCodeMap> = LazyLock::new(ShellCheckCodeMap::default);

#[derive(Default)]
struct Memo {
    found: HashMap<(Dialect, String), Vec<Diagnostic>>,
    bytes: usize,
}

/// Lints with the table that is there already.
pub(crate) fn lint(request: AnalysisRequest<'_>) -> Vec<Diagnostic> {
    request.with_shellcheck_map(&CODES).lint()
}

/// What `look` finds in the text, or found when it saw the same text before: the text and the dialect
/// must decide all that it finds.
pub(crate) fn recall(
    dialect: Dialect,
    text: &str,
    look: impl FnOnce() -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if text.len() > LONGEST {
        return look();
    }
    let key = (dialect, text.to_owned());
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).found.get(&key).cloned();
    if let Some(known) = known {
        return known;
    }
    // Without the lock: other threads look at other texts meanwhile.
    let found = look();
    let bytes = text.len() + found.iter().map(size).sum::<usize>();
    if bytes <= LONGEST {
        let mut memo = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if memo.bytes + bytes > MOST_BYTES {
            *memo = Memo::default();
        }
        memo.bytes += bytes;
        memo.found.insert(key, found.clone());
    }
    found
}

fn size(found: &Diagnostic) -> usize {
    let edits = found.fix.iter().flat_map(|fix| fix.edits());
    let edits = edits.map(|edit| mem::size_of_val(edit) + edit.content().len());
    mem::size_of::<Diagnostic>() + found.message.len() + edits.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use shuck_linter::{LinterSettings, Rule};
    use shuck_parser::parser::Parser;

    use super::*;

    fn found() -> Vec<Diagnostic> {
        let (text, settings) = ("echo $x\n", LinterSettings::for_rules(Rule::iter()));
        let parsed = Parser::new(text).parse();
        lint(AnalysisRequest::from_parse_result(&parsed, text, &settings))
    }

    #[test]
    fn a_text_is_looked_at_once_for_each_dialect_and_what_is_kept_is_bounded() {
        let text = "memo of a test";
        let (some, nobody) = (found(), || -> Vec<Diagnostic> { panic!("it is known") });
        assert!(!some.is_empty());
        assert_eq!(recall(Dialect::Sh, text, || some.clone()), some);
        assert_eq!(recall(Dialect::Sh, text, nobody), some);
        assert_eq!(recall(Dialect::Bash, text, Vec::new), []);
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(recall(Dialect::Sh, &long, || some.clone()), some);
        assert_eq!(recall(Dialect::Sh, &long, Vec::new), []);
        for number in 0..400 {
            let text = format!("{number}{}", "y".repeat(LONGEST - 1024));
            recall(Dialect::Sh, &text, Vec::new);
        }
        assert!(KNOWN.lock().unwrap().bytes <= MOST_BYTES);
        assert_eq!(recall(Dialect::Sh, text, Vec::new), [], "it was forgotten");
    }
}
