//! Whether the code of a probe fails when its service does, and succeeds when it does not.

use super::{
    Language,
    tokens::{Syntax, Token},
};

/// Words in conditions that are true when the service is well.
const WELL: &[&str] = &["ok", "is_a", "HTTPSuccess", "success", "true"];

/// Handlers of errors; what follows them must not say that all is well.
const HANDLERS: &[&str] = &["catch", "err", "error", "e", "timeout"];

/// Words that end the condition of a statement.
const ENDS: &[&str] = &["process", "throw", "exit", "else"];

/// A verdict that a condition decides, or an error that nobody catches.
pub(super) fn is_told(language: &Language, tokens: &[Token]) -> bool {
    if claims_success(tokens) || swallows(tokens) {
        return false;
    }
    let says = |words: &[&str]| tokens.iter().any(|token| token.is_word(words));
    let verdicts = verdicts(language.syntax, tokens);
    if verdicts.contains(&Verdict::Inverted) {
        return false;
    }
    verdicts.contains(&Verdict::Right) || (language.raises)(&says)
}

/// `exit(0)` where no condition is asked before, or after an error.
fn claims_success(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        if !token.is_word(&["exit"]) {
            return false;
        }
        let open = usize::from(tokens.get(index + 1).is_some_and(|next| next.is_sign('(')));
        let value = tokens.get(index + 1 + open);
        let is_zero = value.is_some_and(|value| {
            *value == Token::Number("0".to_owned())
                || value.is_word(&["true"])
                || value.is_sign(')')
        }) || value.is_none();
        let behind = tokens.get(index + 2 + open);
        let is_constant = behind.is_none_or(|next| next.is_sign(')') || next.is_sign(';'));
        if !is_zero || !is_constant {
            return false;
        }
        let before = tokens.get(..index).unwrap_or_default();
        let near = before.get(before.len().saturating_sub(10)..).unwrap_or_default();
        let is_one_of = |earlier: &&Token, words: &[&str]| {
            earlier.is_word(words)
                || matches!(earlier, Token::Text(text) if words.contains(&text.as_str()))
        };
        let connected = ["connect"];
        let last = near.iter().rev().find(|earlier| {
            is_one_of(earlier, HANDLERS) || is_one_of(earlier, &connected)
        });
        if last.is_some_and(|last| is_one_of(&last, &connected)) {
            return false;
        }
        let handles = last.is_some();
        let asks = before.iter().any(|token| token.is_word(&["if", "unless", "or"]))
            || before.windows(2).any(|pair| {
                matches!(pair, [one, other] if one == other && (one.is_sign('&') || one.is_sign('|')))
            });
        handles || !asks
    })
}

/// A handler of errors that does nothing about them.
fn swallows(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let handles = token.is_word(&["catch"]) || *token == Token::Text("error".to_owned());
        let behind = tokens.get(index..).unwrap_or_default();
        handles && !has_failing_exit(behind.get(..12.min(behind.len())).unwrap_or_default())
    })
}

/// Whether an action begins with `exit(0)`.
fn succeeds(action: &[Token]) -> bool {
    let exit = action.iter().position(|token| token.is_word(&["exit", "throw", "raise", "abort"]));
    let Some(exit) = exit else { return false };
    let mut values = action.iter().skip(exit).take(3);
    values.any(|value| *value == Token::Number("0".to_owned()) || value.is_word(&["true"]))
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    Inverted,
}

impl Verdict {
    fn of(is_right: bool) -> Self {
        if is_right { Self::Right } else { Self::Inverted }
    }
}

/// How each exit follows from its condition.
fn verdicts(syntax: Syntax, tokens: &[Token]) -> Vec<Verdict> {
    let number = |index: usize| match tokens.get(index) {
        Some(Token::Number(number)) => Some(number.as_str()),
        _ => None,
    };
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        // `condition ? 0 : 1`
        if token.is_sign('?')
            && let (Some(first), Some(second)) = (number(index + 1), number(index + 3))
            && tokens.get(index + 2).is_some_and(|other| other.is_sign(':'))
        {
            let condition = clause(tokens.get(..index).unwrap_or_default());
            found.push(judged(is_well(condition), first, second));
        }
        // `0 if condition else 1`
        if syntax == Syntax::Python
            && token.is_word(&["if"])
            && let Some(first) = index.checked_sub(1).and_then(number)
            && let Some(length) =
                tokens.iter().skip(index).position(|other| other.is_word(&["else"]))
            && let Some(second) = number(index + length + 1)
        {
            let condition = tokens.get(index + 1..index + length).unwrap_or_default();
            found.push(judged(is_well(condition), first, second));
        }
        // `if (condition) process.exit(1)`, `assert condition`, `raise … unless condition`
        let is_statement = token.is_word(&["assert", "unless"])
            || (token.is_word(&["if"]) && syntax != Syntax::Python);
        if is_statement {
            let behind = tokens.get(index + 1..).unwrap_or_default();
            let end = behind.iter().position(|token| token.is_sign(';') || token.is_word(ENDS));
            let (condition, action) = behind.split_at(end.unwrap_or(behind.len()));
            let is_inverse = token.is_word(&["unless"]) != succeeds(action);
            let wants_well = token.is_word(&["assert"]) || is_inverse;
            if token.is_word(&["assert"]) || has_failing_exit(tokens) {
                found.push(Verdict::of(is_well(condition) == wants_well));
            }
        }
        // `exit(condition)`: true is 0 in Ruby and 1 in Python.
        if token.is_word(&["exit"]) && matches!(syntax, Syntax::Python | Syntax::Ruby) {
            let behind = tokens.get(index + 1..).unwrap_or_default();
            let end = behind.iter().position(|token| token.is_sign(';')).unwrap_or(behind.len());
            let condition = behind.get(..end).unwrap_or_default();
            let is_choice = condition.iter().any(|token| token.is_word(&["if", "unless", "else"]));
            if compares(condition) && !is_choice && !is_ternary(condition) {
                found.push(Verdict::of(is_well(condition) == (syntax == Syntax::Ruby)));
            }
        }
        // `fsockopen(…) or exit(1)`
        let is_or = token.is_word(&["or"])
            || (token.is_sign('|') && tokens.get(index + 1).is_some_and(|next| next.is_sign('|')));
        let behind = tokens.get(index + 1..).unwrap_or_default();
        let leads =
            behind.iter().take(5).any(|token| token.is_word(&["exit", "die", "abort", "raise"]));
        if is_or && leads && has_failing_exit(behind) {
            let condition = clause(tokens.get(..index).unwrap_or_default());
            found.push(Verdict::of(is_well(condition)));
        }
    }
    found
}

fn judged(is_well: bool, first: &str, second: &str) -> Verdict {
    let is_right = match (first, second) {
        ("0", "1") => is_well,
        ("1", "0") => !is_well,
        _ => false,
    };
    Verdict::of(is_right)
}

/// `exit(1)`, `abort`
fn has_failing_exit(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let open = usize::from(tokens.get(index + 1).is_some_and(|next| next.is_sign('(')));
        let value = tokens.get(index + 1 + open);
        token.is_word(&["abort", "raise", "throw"])
            || (token.is_word(&["exit", "die"])
                && value.is_some_and(|value| {
                    *value == Token::Number("1".to_owned()) || value.is_word(&["false"])
                }))
    })
}

/// The tokens of the expression that ends here: up to a bracket that is not closed, `=>`, `{` or `;`.
fn clause(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    let mut start = tokens.len();
    while let Some(index) = start.checked_sub(1) {
        let Some(token) = tokens.get(index) else { break };
        if token.is_sign(')') || token.is_sign(']') {
            depth += 1;
        } else if token.is_sign('(') || token.is_sign('[') {
            let Some(less) = depth.checked_sub(1) else { break };
            depth = less;
        }
        let is_arrow = token.is_sign('>')
            && index
                .checked_sub(1)
                .and_then(|place| tokens.get(place))
                .is_some_and(|before| before.is_sign('='));
        if depth == 0 && (is_arrow || token.is_sign(';') || token.is_sign('{')) {
            break;
        }
        start = index;
    }
    tokens.get(start..).unwrap_or_default()
}

/// Whether a condition is true when the service answers as it should.
fn is_well(condition: &[Token]) -> bool {
    let mut is_well = true;
    for (index, token) in condition.iter().enumerate() {
        let next = condition.get(index + 1);
        let before = index.checked_sub(1).and_then(|place| condition.get(place));
        let is_not = (token.is_sign('!')
            && !before.is_some_and(|before| before.is_word(&["exit"])))
            || token.is_word(&["not"]);
        // `=== false`, `is None`
        let is_nothing = token.is_word(&["false", "null", "nil", "None"]);
        // `>= 400`
        let is_equal = next.is_some_and(|next| next.is_sign('='));
        let bound = condition.get(index + 1 + usize::from(is_equal));
        let is_arrow = before.is_some_and(|before| before.is_sign('='));
        let is_bad = token.is_sign('>')
            && !is_arrow
            && matches!(bound, Some(Token::Number(it)) if it.parse::<u32>().is_ok_and(|it| it >= 299));
        if is_not || is_nothing || is_bad {
            is_well = !is_well;
        }
    }
    is_well
}

fn compares(condition: &[Token]) -> bool {
    let has_sign = condition.windows(2).any(|pair| {
        matches!(pair, [one, other] if other.is_sign('=') && (one.is_sign('=') || one.is_sign('!')))
    });
    has_sign || condition.iter().any(|token| token.is_word(WELL) || token.is_sign('<'))
}

fn is_ternary(condition: &[Token]) -> bool {
    condition.windows(3).any(|part| {
        matches!(part, [mark, Token::Number(_), colon] if mark.is_sign('?') && colon.is_sign(':'))
    })
}
