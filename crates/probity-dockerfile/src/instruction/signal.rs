//! The names of signals that a container can be stopped with.

use crate::nearest::did_you_mean;

const NAMES: [&str; 35] = [
    "ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL",
    "PIPE", "POLL", "PROF", "PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP",
    "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ", "RTMIN",
];

/// Whether it is a number other than zero, or a name with or without `SIG`, in any case.
pub(super) fn is_known(text: &str) -> bool {
    if let Ok(number) = text.parse::<i64>() {
        return number != 0;
    }
    let upper = text.to_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    NAMES.contains(&name) || is_real_time(name)
}

/// `RTMIN+1` to `RTMIN+15`, `RTMAX-14` to `RTMAX`.
fn is_real_time(name: &str) -> bool {
    let offset = |prefix: &str, most: u8| {
        let digits = name.strip_prefix(prefix).filter(|digits| !digits.starts_with(['0', '+']));
        digits.and_then(|digits| digits.parse::<u8>().ok()).is_some_and(|offset| offset <= most)
    };
    name == "RTMAX" || offset("RTMIN+", 15) || offset("RTMAX-", 14)
}

/// A name that was probably meant.
pub(super) fn nearest(text: &str) -> Option<String> {
    let names: Vec<String> = NAMES.iter().map(|name| format!("SIG{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let upper = text.to_uppercase();
    let full = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
    did_you_mean(&full, &names)
}
