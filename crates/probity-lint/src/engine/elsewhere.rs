//! Codes of hadolint and ShellCheck that no rule here has.
//!
//! A configuration or a directive that names one of them is no mistake; it is accepted with a warning.

use std::ops::Range;

/// hadolint's codes that no rule here has: what it cannot parse, and what it gave up.
const HADOLINT: &[u32] = &[1000, 3005, 3017, 3031, 3039, 4002];

/// The numbers that ShellCheck gives. It goes on with every version, so that the hundred in which it
/// has got counts as a whole.
const SHELLCHECK: &[Range<u32>] = &[1000..1200, 2000..2400, 3000..3100];

/// Whether hadolint or ShellCheck has a code of this name, which may go without its namespace.
#[must_use]
pub fn is_foreign_code(name: &str) -> bool {
    let number = |namespace: &str, letters: &str| {
        let digits = name.strip_prefix(namespace).unwrap_or(name).strip_prefix(letters)?;
        let is_number = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse::<u32>().ok() } else { None }
    };
    let is_hadolints = number("hadolint/", "DL").is_some_and(|code| HADOLINT.contains(&code));
    let is_shellchecks = number("shellcheck/", "SC")
        .is_some_and(|code| SHELLCHECK.iter().any(|numbers| numbers.contains(&code)));
    is_hadolints || is_shellchecks
}
