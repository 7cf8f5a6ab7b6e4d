//! Passwords among the arguments of a command.

use std::ops::Range;

use crate::{boundary, placeholder};

/// How far from the option the command's name may stand.
const COMMAND: usize = 400;
/// Longest argument.
const ARGUMENT: usize = 256;

/// The keyword is `-u` or `--user`; the secret is what follows the colon of `user:password`.
pub(crate) fn curl_user(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let argument = argument(text, hit.end)?;
    let value = text.get(argument.clone())?;
    let colon = value.iter().position(|byte| *byte == b':')?;
    let found = password(text, argument.start + colon + 1..argument.end, value.get(..colon)?)?;
    is_option_of(text, &hit, &["curl", "http"]).then_some(found)
}

/// The keyword is `-p`; the secret is the argument, or what is glued to the option.
pub(crate) fn short_password(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let found = password(text, argument(text, hit.end)?, b"")?;
    let glued = text.get(hit.end).is_some_and(|next| !next.is_ascii_whitespace());
    let commands: &[&str] = if glued {
        &["mysql", "mysqldump", "mysqladmin", "mariadb", "sshpass"]
    } else {
        &["docker login", "podman login", "sshpass", "az login"]
    };
    is_option_of(text, &hit, commands).then_some(found)
}

/// The keyword is `chpasswd`, which reads `user:password` from what is piped into it.
pub(crate) fn piped_to_chpasswd(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let from = hit.start.saturating_sub(COMMAND);
    let head = text.get(from..hit.start)?;
    let pipe = head.iter().rposition(|byte| *byte == b'|')?;
    let piped = head.get(..pipe)?.trim_ascii_end();
    let piped = piped.strip_suffix(b"\"").or(piped.strip_suffix(b"'")).unwrap_or(piped);
    let word = piped
        .iter()
        .rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))
        .map_or(0, |at| at + 1);
    let colon = piped.get(word..)?.iter().position(|byte| *byte == b':')?;
    let user = piped.get(word..word + colon)?;
    password(text, from + word + colon + 1..from + piped.len(), user)
}

fn password(text: &[u8], range: Range<usize>, user: &[u8]) -> Option<Range<usize>> {
    let value = text.get(range.clone())?;
    let path = matches!(value, [b'/', b'/' | b'a'..=b'z', ..]);
    let real = value.len() >= 6 && !path && !placeholder::in_password(value, user);
    real.then_some(range)
}

/// The option stands alone, and one of the commands stands before it in the same command.
fn is_option_of(text: &[u8], hit: &Range<usize>, commands: &[&str]) -> bool {
    let Some(head) = text.get(hit.start.saturating_sub(COMMAND)..hit.start) else { return false };
    if !head.last().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'"') {
        return false;
    }
    let start = head
        .iter()
        .enumerate()
        .rposition(|(at, byte)| match byte {
            b';' | b'|' | b'&' => true,
            b'\n' => !matches!(head.get(..at), Some([.., b'\\'])),
            _ => false,
        })
        .map_or(0, |at| at + 1);
    let command = head.get(start..).unwrap_or_default();
    commands.iter().any(|name| {
        command.windows(name.len()).enumerate().any(|(at, window)| {
            window == name.as_bytes()
                && boundary::before(command, at)
                && boundary::after(command, at + name.len())
        })
    })
}

/// The argument at or behind `from`, without its quotes.
fn argument(text: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..text.len().min(from + ARGUMENT))?;
    let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'=')).count();
    let rest = rest.get(blank..)?;
    let (skipped, length) = match rest.first()? {
        quote @ (b'"' | b'\'') => (1, rest.get(1..)?.iter().position(|byte| byte == quote)?),
        _ => (0, rest.iter().position(|byte| ends_argument(*byte)).unwrap_or(rest.len())),
    };
    let start = from + blank + skipped;
    (length > 0).then_some(start..start + length)
}

fn ends_argument(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b';' | b'|' | b'&' | b'"' | b'\'' | b'`' | b')')
}
