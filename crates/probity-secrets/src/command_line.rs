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

/// The keyword is `--password-stdin`; the secret is what `echo` or `printf` pipes into it, or what
/// follows `<<<`.
pub(crate) fn piped_to_login(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(hit.end..text.len().min(hit.end + COMMAND))?;
    let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'|' | b'&' | b';'));
    let rest = rest.get(..line.unwrap_or(rest.len()))?;
    if let Some(here) = rest.windows(3).position(|window| window == b"<<<") {
        return password(text, argument(text, hit.end + here + 3)?, b"");
    }
    let from = hit.start.saturating_sub(COMMAND);
    let head = text.get(from..hit.start)?;
    let pipe = head.iter().rposition(|byte| *byte == b'|')?;
    let piped = head.get(..pipe)?;
    let echo = [b"echo ".as_slice(), b"printf "]
        .iter()
        .filter_map(|name| {
            let at = piped.windows(name.len()).rposition(|window| window == *name)?;
            Some(at + name.len())
        })
        .max()?;
    // Options and the format of printf come before what is said.
    let mut at = from + echo;
    loop {
        let found = argument(text, at)?;
        let word = text.get(found.clone())?;
        if found.end > from + pipe {
            return None;
        }
        if !word.starts_with(b"-") && !word.contains(&b'%') {
            return password(text, found, b"");
        }
        let is_quoted = matches!(text.get(found.end), Some(b'"' | b'\''));
        at = found.end + usize::from(is_quoted);
    }
}

/// The keyword is `htpasswd`; with `-b` the password is the last of its arguments.
pub(crate) fn htpasswd(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let (mut at, mut in_batch, mut to_output, mut given) = (hit.end, false, false, 0);
    let mut user = Range::default();
    loop {
        let found = argument(text, at)?;
        let word = text.get(found.clone())?;
        if text.get(at..found.start)?.iter().any(|byte| !b" \t\"'".contains(byte)) {
            return None;
        }
        if let [b'-', letters @ ..] = word {
            in_batch |= letters.contains(&b'b');
            to_output |= letters.contains(&b'n');
        } else {
            given += 1;
            if given == if to_output { 2 } else { 3 } {
                let user = text.get(user)?;
                return if in_batch { password(text, found, user) } else { None };
            }
            user = found.clone();
        }
        let is_quoted = matches!(text.get(found.end), Some(b'"' | b'\''));
        at = found.end + usize::from(is_quoted);
    }
}

/// The keyword is `--requirepass` or `--masterauth` of Redis, also among the words of a JSON array.
pub(crate) fn redis_password(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(hit.end..)?;
    let between = match rest {
        [b'"', rest @ ..] => {
            let comma = rest.iter().take_while(|byte| matches!(byte, b',' | b' ' | b'\t')).count();
            1 + comma
        }
        _ => 0,
    };
    password(text, argument(text, hit.end + between)?, b"")
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
