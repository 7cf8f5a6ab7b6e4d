//! The password in `scheme://user:password@host`.

use std::ops::Range;

use crate::{boundary, placeholder};

/// Longest user and password together.
const USERINFO: usize = 512;
/// Longest scheme, `postgresql+psycopg2` and the like.
const SCHEME: usize = 32;

/// The keyword ends in `://`. A password ends at the last `@` of the authority, because people
/// paste passwords that hold one unescaped.
pub(crate) fn password(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    if !has_scheme(text, hit.end.checked_sub(3)?) {
        return None;
    }
    let rest = text.get(hit.end..text.len().min(hit.end + USERINFO))?;
    let authority = rest.iter().position(|byte| ends_authority(*byte)).unwrap_or(rest.len());
    let userinfo = rest.get(..authority)?.iter().rposition(|byte| *byte == b'@')?;
    let colon = rest.get(..userinfo)?.iter().position(|byte| *byte == b':')?;
    let user = rest.get(..colon)?;
    let value = rest.get(colon + 1..userinfo)?;
    let stand_in = placeholder::in_password(value, user) || user_names_a_variable(user, value);
    (value.len() >= 3 && !stand_in).then_some(hit.end + colon + 1..hit.end + userinfo)
}

/// `scheme` at least two letters long before `at`: `C://` is a drive.
fn has_scheme(text: &[u8], at: usize) -> bool {
    let Some(head) = text.get(at.saturating_sub(SCHEME)..at) else { return false };
    let length = head
        .iter()
        .rev()
        .take_while(|byte| boundary::in_word(**byte) || matches!(byte, b'+' | b'-' | b'.'))
        .count();
    length >= 2
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

/// `USER:PASSWORD`, `username:pass`: names in a manual, not values. A user in capitals and a
/// password in capitals without a digit are names too.
fn user_names_a_variable(user: &[u8], value: &[u8]) -> bool {
    let shouted = |bytes: &[u8]| {
        !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
    };
    shouted(user) && shouted(value)
}
