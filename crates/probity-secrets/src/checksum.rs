//! CRC32 in base62, as GitHub and npm put it at the end of their tokens.

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 62⁶ is the first power above 2³².
const DIGITS: usize = 6;

/// Whether the last six bytes of `body` are the checksum of those before them.
pub(crate) fn ends_in_crc32_base62(body: &[u8]) -> bool {
    let Some(split) = body.len().checked_sub(DIGITS) else { return false };
    let (random, checksum) = body.split_at(split);
    checksum == base62(crc32(random))
}

/// The checksum of zlib and Ethernet. Bit by bit: it is run over a few hundred bytes at most.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xEDB8_8320;
            }
        }
    }
    !crc
}

fn base62(mut number: u32) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        if let Some(letter) = BASE62.get((number % 62) as usize) {
            *digit = *letter;
        }
        number /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_has_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_revoked_token_that_was_published_passes_and_a_changed_one_does_not() {
        let body = ["zQWBuTSOoRi4A9sp", "HcVY5ncnsDkxkJ", "0mLq17"].concat();
        assert!(ends_in_crc32_base62(body.as_bytes()));
        let changed = body.replace('z', "y");
        assert!(!ends_in_crc32_base62(changed.as_bytes()));
        assert!(!ends_in_crc32_base62(b"short"));
    }
}
