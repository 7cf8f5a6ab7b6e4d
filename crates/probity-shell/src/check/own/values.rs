//! Values that do not mean what they seem to: a search path that finds nothing, numbers with a point.

use super::Findings;
use crate::{Assignment, Command, Word};

/// How numbers are compared.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

pub(super) fn command(command: &Command, findings: &mut Findings) {
    if command.words.is_empty() {
        command.assignments().iter().for_each(|assignment| search_path(assignment, findings));
    }
    if command.words.first().is_some_and(|name| name.text() == "[") {
        decimals(&command.words, findings);
    }
}

/// `PATH=/some/dir`, where nothing says that programs are looked for there.
fn search_path(assignment: &Assignment, findings: &mut Findings) {
    if assignment.append {
        return;
    }
    let Some(value) = &assignment.value else { return };
    let text: String = value.parts().iter().filter_map(|part| part.text()).collect();
    let is_list = text.contains(':') || text.contains("/bin") || text.contains("/sbin");
    let is_unknown = text.is_empty() && !value.parts().is_empty();
    if assignment.name == "PATH" && !is_list && !is_unknown {
        let message = "this is where programs are looked for; give the variable another name";
        findings.warning(2123, assignment.span, message);
    }
}

/// `[ "$x" -gt 1.5 ]`
fn decimals(words: &[Word], findings: &mut Findings) {
    for three in words.windows(3) {
        let [left, operator, right] = three else { continue };
        if !COMPARISONS.contains(&operator.text()) {
            continue;
        }
        if let Some(word) = [left, right].into_iter().find(|word| is_decimal(word)) {
            let message = "numbers with a point cannot be compared here; `bc` and `awk` can";
            findings.error(2072, word.span(), message);
        }
    }
}

fn is_decimal(word: &Word) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let literal = word.literal().unwrap_or_default();
    let whole = literal.strip_prefix('-').unwrap_or(&literal).split_once('.');
    whole.is_some_and(|(left, right)| is_number(left) && is_number(right))
}
