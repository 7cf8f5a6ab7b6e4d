//! Refuses HCL that is nested more deeply than anybody writes, before a recursive parser meets it.

/// Brackets and templates inside each other, and prefix operators in a row.
const DEEPEST: usize = 64;
/// Each conditional can be inside the one before it.
const MOST_CONDITIONALS: usize = 200;

/// Brackets and operators in comments and strings count too: the bounds are far from what people
/// write. Lines of dashes are what a comment may have.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let code = || text.lines().filter(|line| !line.trim_start().starts_with(['#', '/']));
    let (mut depth, mut operators, mut conditionals) = (0_usize, 0_usize, 0_usize);
    for byte in code().flat_map(str::bytes) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'?' => conditionals += 1,
            _ => {}
        }
        operators = match byte {
            b'!' | b'-' => operators + 1,
            b' ' | b'\t' => operators,
            _ => 0,
        };
        if depth > DEEPEST || operators > DEEPEST || conditionals > MOST_CONDITIONALS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hostile_text_is_too_deep() {
        for (text, too_deep) in [
            ("a = ".to_owned() + &"[".repeat(65), true),
            ("a = ".to_owned() + &"! ".repeat(65) + "true", true),
            ("a = ".to_owned() + &"true ? 1 : ".repeat(201) + "2", true),
            ("a = ".to_owned() + &"[1, 2], ".repeat(500), false),
            ("# ".to_owned() + &"-".repeat(500) + "\na = 1", false),
        ] {
            assert_eq!(is_too_deep(&text), too_deep, "{text}");
        }
    }
}
