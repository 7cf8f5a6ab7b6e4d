//! Keys of clouds that are known by what stands near them.

use std::ops::Range;

use crate::boundary;

/// How far behind an access key id its secret may stand.
const NEAR: usize = 240;
const AMAZON_SECRET: usize = 40;
/// How far on either side of a signature the rest of its address is looked at.
const ADDRESS: usize = 400;

/// The keyword begins an access key id. The secret is the first run of exactly forty characters of
/// base64 behind it that is no hexadecimal number.
pub(crate) fn amazon_secret_behind_id(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = hit.start + 20;
    let id = text.get(hit.start..end)?;
    let is_id = id.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && boundary::before(text, hit.start)
        && boundary::after(text, end);
    if !is_id {
        return None;
    }
    let near = text.get(end..text.len().min(end + NEAR + AMAZON_SECRET + 1))?;
    let mut start = 0;
    while start < NEAR.min(near.len()) {
        let run = near.get(start..)?.iter().take_while(|byte| in_base64(**byte)).count();
        let value = near.get(start..start + run)?;
        let hexadecimal = value.iter().all(u8::is_ascii_hexdigit);
        if run == AMAZON_SECRET && !hexadecimal {
            return Some(end + start..end + start + run);
        }
        start += run + 1;
    }
    None
}

/// The keyword is `sig=`. It is a signature of Azure where the address has a version (`sv=`) and an
/// expiry (`se=`) too.
pub(crate) fn azure_signature(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(hit.end..text.len().min(hit.end + ADDRESS))?;
    let length = rest.iter().take_while(|byte| in_base64(**byte) || **byte == b'%').count();
    let with_padding = length + rest.get(length..)?.iter().take_while(|b| **b == b'=').count();
    if !(43..=80).contains(&with_padding) {
        return None;
    }
    let window = text.get(hit.start.saturating_sub(ADDRESS)..hit.end + rest.len())?;
    let has = |name: &[u8]| window.windows(name.len()).any(|found| found == name);
    (has(b"sv=") && has(b"se=")).then_some(hit.end..hit.end + with_padding)
}

fn in_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}
