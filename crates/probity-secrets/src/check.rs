//! Judges a value whose format already fits: checksums, variety, stand-ins.

use crate::{Confidence, base64, checksum, entropy, placeholder};

/// Below this a value of a vendor's format is `ghp_aaaa…`, not a token.
const VARIED: f64 = 2.5;

/// A vendor's own format: enough unless it is a stand-in.
pub(crate) fn varied(value: &[u8]) -> Option<Confidence> {
    if placeholder::in_token(value) || entropy::shannon(value) < VARIED {
        return None;
    }
    let made_up = placeholder::is_sequence(value);
    Some(if made_up { Confidence::FormatOnly } else { Confidence::High })
}

/// A format that others have too, next to the vendor's name.
pub(crate) fn varied_in_context(value: &[u8]) -> Option<Confidence> {
    let stand_in = placeholder::in_token(value) || placeholder::is_sequence(value);
    let real = !stand_in && entropy::looks_random(value);
    real.then_some(Confidence::Medium)
}

/// A universally unique identifier, or another short value, that the vendor's name makes a secret.
pub(crate) fn in_context(value: &[u8]) -> Option<Confidence> {
    varied(value).map(|found| found.min(Confidence::Medium))
}

/// Prefix, random characters, checksum. A wrong checksum leaves a doubt only: lengths and the part
/// that is summed have changed before, and an invented token deserves a look too.
pub(crate) fn crc32_after_prefix(value: &[u8]) -> Option<Confidence> {
    let prefix = value.iter().position(|byte| *byte == b'_')? + 1;
    if checksum::ends_in_crc32_base62(value.get(prefix..)?) {
        return Some(Confidence::High);
    }
    in_context(value)
}

/// Amazon's ids are base32; others of the same length are suspicious at most.
pub(crate) fn amazon_key_id(value: &[u8]) -> Option<Confidence> {
    let base32 = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    let sure = value.iter().all(base32);
    if sure { varied(value) } else { in_context(value) }
}

/// Random base64 has capitals, small letters and digits; a path or a hash lacks one of them.
pub(crate) fn mixed_base64(value: &[u8]) -> Option<Confidence> {
    let mixed = value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_digit);
    if mixed { varied_in_context(value) } else { None }
}

/// Keys of OpenAI carry the word `OpenAI` in base64 in their middle, but not all always did.
pub(crate) fn openai(value: &[u8]) -> Option<Confidence> {
    let marked = value.windows(8).any(|window| window == b"T3BlbkFJ");
    if marked { varied(value) } else { in_context(value) }
}

/// Random bytes in hexadecimal digits, which no letter beyond F can vary.
pub(crate) fn hexadecimal(value: &[u8]) -> Option<Confidence> {
    (entropy::shannon(value) >= VARIED).then_some(Confidence::High)
}

/// As many words as a wallet has, none of which is one of the short words that hold prose together.
/// The list of BIP-39 leaves those out.
pub(crate) fn mnemonic(value: &[u8]) -> Option<Confidence> {
    const PROSE: &[&[u8]] = &[
        b"the", b"and", b"for", b"are", b"not", b"has", b"its", b"was", b"but", b"our", b"from",
        b"they", b"must", b"which", b"been", b"were", b"does", b"into", b"than", b"each",
    ];
    let words: Vec<&[u8]> =
        value.split(|byte| !byte.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
    let is_wallets = matches!(words.len(), 12 | 15 | 18 | 21 | 24)
        && !words.iter().any(|word| PROSE.contains(word));
    is_wallets.then_some(Confidence::High)
}

/// Base64 of `user:password`, as in a Basic header or in Docker's configuration.
pub(crate) fn credentials_in_base64(value: &[u8]) -> Option<Confidence> {
    let decoded = base64::decode(value)?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let printable = decoded.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    let password = decoded.get(colon + 1..)?;
    let real = printable && !placeholder::in_password(password, decoded.get(..colon)?);
    real.then_some(Confidence::Medium)
}

/// The value is a key by where it stands; the parser has looked at it.
pub(crate) fn found_by_parser(_: &[u8]) -> Option<Confidence> {
    Some(Confidence::High)
}

/// As [`found_by_parser`], where the parser had to judge.
pub(crate) fn judged_by_parser(_: &[u8]) -> Option<Confidence> {
    Some(Confidence::Medium)
}

/// As [`found_by_parser`], where the name of a variable was all that the parser had.
pub(crate) fn guessed_by_parser(_: &[u8]) -> Option<Confidence> {
    Some(Confidence::Low)
}
