//! A short difference of two texts: what lies between their common head and their common tail.
//!
//! It is a hint at what changed, not a patch; `git diff` shows the rest after the files are written.

/// Lines shown of each side.
const SHOWN: usize = 8;

/// The differing middle, old lines with `-` and new ones with `+`.
pub(crate) fn short(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let old_middle = old.get(head..).unwrap_or_default();
    let new_middle = new.get(head..).unwrap_or_default();
    let tail = old_middle.iter().rev().zip(new_middle.iter().rev()).take_while(same).count();
    let mut text = format!("  @@ line {} @@\n", head + 1);
    push(&mut text, '-', old_middle, tail);
    push(&mut text, '+', new_middle, tail);
    text
}

fn push(text: &mut String, sign: char, middle: &[&str], tail: usize) {
    let differing = middle.len().saturating_sub(tail);
    for line in middle.iter().take(differing.min(SHOWN)) {
        text.push_str(&format!("  {sign}{}\n", line.trim_end_matches('\n')));
        if !line.ends_with('\n') {
            text.push_str("  \\ no newline at the end\n");
        }
    }
    if differing > SHOWN {
        text.push_str(&format!("  {sign}… and {} more lines\n", differing - SHOWN));
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn the_middle_is_shown() {
        let cases = [
            ("a\nb\nc\n", "a\nx\nc\n", "  @@ line 2 @@\n  -b\n  +x\n"),
            ("a\nc\n", "a\nb\nc\n", "  @@ line 2 @@\n  +b\n"),
            ("a\na\n", "a\n", "  @@ line 2 @@\n  -a\n"),
            ("a\n", "a", "  @@ line 1 @@\n  -a\n  +a\n  \\ no newline at the end\n"),
            ("", "a\n", "  @@ line 1 @@\n  +a\n"),
        ];
        for (old, new, expected) in cases {
            assert_eq!(short(old, new), expected, "{old:?} {new:?}");
        }
        let long = "x\n".repeat(20);
        assert!(short("", &long).ends_with("  +… and 12 more lines\n"));
    }
}
