//! Which names a file system may take for `.git`.

use std::ffi::OsStr;

/// Whether some file system that git runs on finds `.git` under this name: other case, code points
/// that HFS+ ignores, trailing dots and blanks, streams and short names of NTFS. Too many are
/// better than too few: nobody needs such a name.
pub fn is_dot_git(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let folded: String = name.chars().filter(|letter| !is_ignored(*letter)).map(folded).collect();
    let stem = folded.split(':').next().unwrap_or_default();
    let stem = stem.trim_end_matches([' ', '.']);
    stem == ".git" || is_short_name(stem)
}

/// `git~1`, which NTFS makes of `.git`.
fn is_short_name(name: &str) -> bool {
    name.strip_prefix("git~").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_ignored(letter: char) -> bool {
    matches!(letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn folded(letter: char) -> char {
    match letter {
        'ı' | 'İ' => 'i',
        // Full-width forms, which compatible normal forms make plain.
        '\u{ff01}'..='\u{ff5e}' => {
            let plain = u32::from(letter).checked_sub(0xfee0).and_then(char::from_u32);
            plain.unwrap_or(letter).to_ascii_lowercase()
        }
        letter => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_dot_git;

    #[test]
    fn every_spelling_counts_and_neighbors_do_not() {
        for name in [
            ".git",
            ".GIT",
            ".gIt",
            ".git ",
            ".git.",
            ".git . .",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~12",
            "．ｇｉｔ",
            ".gİt",
        ] {
            assert!(is_dot_git(name.as_ref()), "{name:?}");
        }
        for name in ["git", ".gitignore", ".gitmodules", ".github", "x.git", ".gi", "git~", "git~x"]
        {
            assert!(!is_dot_git(name.as_ref()), "{name:?}");
        }
    }
}
