//! A file name taken apart: what people and programs add to a name, its words, and its extension.

/// What editors, package managers and people put behind the name of an earlier copy.
const COPIES: &[&str] = &[
    "bak",
    "backup",
    "bk",
    "bkp",
    "bck",
    "copy",
    "del",
    "deleted",
    "disabled",
    "dpkg-bak",
    "dpkg-dist",
    "dpkg-new",
    "dpkg-old",
    "inactive",
    "new",
    "off",
    "old",
    "orig",
    "original",
    "prev",
    "previous",
    "rpmnew",
    "rpmorig",
    "rpmsave",
    "sav",
    "save",
    "saved",
    "temp",
    "tmp",
    "ucf-dist",
    "ucf-new",
    "ucf-old",
];

/// How one file is packed: what is in it has the name without this.
const PACKED: &[&str] = &["7z", "br", "bz2", "gz", "lz4", "xz", "zip", "zst"];

/// A file name without decorations, letter case aside.
#[derive(Debug)]
pub(super) struct Name {
    /// The name that an editor or a person decorated.
    pub(super) plain: String,
    /// Letters and digits between punctuation, or from one capital letter to the next.
    pub(super) words: Vec<String>,
    /// The last part after a dot, if the name has another part.
    pub(super) extension: Option<String>,
    pub(super) is_hidden: bool,
    /// It is a page of the manual, such as `git-credential.1.gz`.
    pub(super) is_manual: bool,
}

impl Name {
    /// The names that one may stand for: an editor's copy of `x` may be called `.x.swp`.
    pub(super) fn readings(given: &str) -> Vec<Self> {
        let plain = plain(given);
        let is_manual = is_manual(given);
        let mut readings = Vec::new();
        if plain.is_hidden_copy
            && let Some(visible) = plain.text.strip_prefix('.')
        {
            readings.push(Self::of(visible, is_manual));
        }
        readings.push(Self::of(&plain.text, is_manual));
        readings
    }

    fn of(plain: &str, is_manual: bool) -> Self {
        let is_hidden = plain.starts_with('.');
        let visible = plain.trim_start_matches('.');
        let extension = visible
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map(|(_, extension)| extension.to_lowercase());
        Self { plain: plain.to_lowercase(), words: words(visible), extension, is_hidden, is_manual }
    }

    /// The words without the extension, copies' marks and dates.
    pub(super) fn stem(&self) -> Vec<&str> {
        let all = self.words.len() - usize::from(self.extension.is_some() && self.words.len() > 1);
        let stem = self.words.iter().take(all).map(String::as_str);
        stem.filter(|word| !is_mark(word)).collect()
    }

    pub(super) fn has_extension(&self, known: &[&str]) -> bool {
        self.extension.as_deref().is_some_and(|extension| known.contains(&extension))
    }

    pub(super) fn has_word(&self, known: &[&str]) -> bool {
        self.words.iter().any(|word| known.contains(&word.as_str()))
    }
}

struct Plain {
    text: String,
    /// It is an editor's copy, which has a dot of its own before the name.
    is_hidden_copy: bool,
}

/// Takes decorations off both ends of a name until none is left.
fn plain(given: &str) -> Plain {
    let mut text = given;
    let mut is_hidden_copy = false;
    loop {
        let of_editor = editors_copy(text);
        let Some(shorter) = undecorated(text).or(of_editor) else { break };
        is_hidden_copy |= of_editor == Some(shorter);
        if shorter.is_empty() || shorter == "." {
            break;
        }
        text = shorter;
    }
    Plain { text: text.to_owned(), is_hidden_copy }
}

/// The file that Vim's `.x.swp` and Emacs's `.#x` belong to.
fn editors_copy(name: &str) -> Option<&str> {
    if let Some(name) = name.strip_prefix(".#") {
        return Some(name);
    }
    let (name, extension) = name.rsplit_once('.')?;
    matches!(extension.as_bytes(), [b's', b'w', b'a'..=b'z']).then_some(name)
}

/// The name without its last decoration.
fn undecorated(name: &str) -> Option<&str> {
    if let Some(inner) = name.strip_prefix('#').and_then(|name| name.strip_suffix('#')) {
        return Some(inner);
    }
    if let Some(name) = name.strip_suffix(['~', ' ', '-', '_']) {
        return Some(name);
    }
    // A copy's number: `x (1)`, `x (copy)`.
    if let Some((name, number)) = name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        return is_mark(&number.to_lowercase()).then_some(name);
    }
    let (name, last) = last_part(name)?;
    is_ending(&last.to_lowercase()).then_some(name)
}

/// The part behind the last separator. Package managers' endings contain one.
fn last_part(name: &str) -> Option<(&str, &str)> {
    let managers = ["dpkg-", "ucf-"].iter().find_map(|manager| {
        let at = name.rfind(manager)?;
        Some((name.get(..at)?.strip_suffix('.')?, name.get(at..)?))
    });
    managers.or_else(|| {
        let at = name.rfind(['.', '-', '_', ' ', '~'])?;
        Some((name.get(..at)?, name.get(at + 1..)?))
    })
}

fn is_ending(part: &str) -> bool {
    is_mark(part) || PACKED.contains(&part)
}

/// Whether a word tells one copy of a file from another: a mark, a number or a date.
fn is_mark(word: &str) -> bool {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let counted = word.trim_end_matches(|last: char| last.is_ascii_digit());
    // `20240105T120000Z`
    let is_time = word.len() >= 8
        && word.starts_with(|first: char| first.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || b"tz:+".contains(&byte));
    is_number || is_time || COPIES.contains(&word) || COPIES.contains(&counted)
}

/// Whether a name ends with a section of the manual.
fn is_manual(given: &str) -> bool {
    let page = given.strip_suffix(".gz").unwrap_or(given);
    let section = page.rsplit_once('.').map_or("", |(_, section)| section);
    matches!(section.as_bytes(), [b'1'..=b'8'] | [b'1'..=b'8', b'a'..=b'z', ..])
}

/// `serviceAccountKey` and `service-account_key` have the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        before = letter;
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn decorations_come_off() {
        for (given, plain) in [
            (".env.bak", ".env"),
            (".env~", ".env"),
            ("#.env#", ".env"),
            (".env.swp", ".env"),
            (".env.bak.2", ".env"),
            (".env (copy)", ".env"),
            (".env copy 2", ".env"),
            (".env.2024-01-05", ".env"),
            (".env.20240105T120000Z", ".env"),
            ("id_rsa.OLD", "id_rsa"),
            ("credentials.json.gz", "credentials.json"),
            ("passwd.dpkg-old", "passwd"),
            (".bak", ".bak"),
            ("old", "old"),
            ("~", "~"),
            ("v2", "v2"),
        ] {
            let readings = Name::readings(given);
            assert_eq!(readings.last().unwrap().plain, plain, "{given}");
        }
        assert_eq!(Name::readings(".secrets.yml.swp")[0].plain, "secrets.yml");
        assert_eq!(Name::readings(".#secrets.yml")[0].plain, "secrets.yml");
    }

    #[test]
    fn names_have_words_and_a_stem() {
        let name = |given: &str| Name::readings(given).pop().unwrap();
        assert_eq!(name("serviceAccountKey.json").words, ["service", "account", "key", "json"]);
        assert_eq!(name("service-account (1).json").stem(), ["service", "account"]);
        assert_eq!(name("db_password").stem(), ["db", "password"]);
        assert_eq!(name(".env").extension, None);
    }
}
