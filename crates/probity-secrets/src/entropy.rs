//! How much variety there is in a value.

/// Shannon entropy in bits a byte, over the bytes of the value itself.
pub(crate) fn shannon(value: &[u8]) -> f64 {
    if value.is_empty() {
        return 0.0;
    }
    let mut counts = [0_u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

/// Whether the value is as varied as random text of its alphabet and length would be.
///
/// A short value cannot reach the entropy of its alphabet: sixteen random letters and digits have
/// about 3.8 bits a byte, thirty-two have 4.5. The floors lie below what random values reach and
/// above what words and repetitions do.
pub(crate) fn looks_random(value: &[u8]) -> bool {
    let entropy = shannon(value);
    // Marks between groups of digits do not make another alphabet.
    if value.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b':' | b'/')) {
        return value.len() >= 16 && entropy >= 2.8;
    }
    match value.len() {
        0..16 => false,
        16..20 => entropy >= 3.2,
        20..40 => entropy >= 3.5,
        _ => entropy >= 3.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_of_known_values() {
        for (value, expected) in [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)] {
            assert!((shannon(value.as_bytes()) - expected).abs() < 1e-9, "{value}");
        }
    }
}
