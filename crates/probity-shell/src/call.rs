//! A command line as a rule asks about it: its name, its flags, its other arguments.

mod wrapper;

use std::borrow::Cow;

use probity_finding::Span;

use crate::Word;

/// The words of one program: its name and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'w> {
    /// The words before the name that were taken off: `sudo -u root`, `env A=b`.
    pub wrappers: &'w [Word],
    /// The name and the arguments.
    pub words: &'w [Word],
}

impl<'w> Call<'w> {
    pub(crate) fn of(words: &'w [Word]) -> Self {
        Self { wrappers: &[], words }
    }

    /// From the name to the last argument; none without a name.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        Some(self.words.first()?.span().to(self.words.last()?.span()))
    }

    #[must_use]
    pub fn name_word(&self) -> Option<&'w Word> {
        self.words.first()
    }

    /// The name without directories, where it is constant.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'w, str>> {
        let name = match self.name_word()?.literal()? {
            Cow::Borrowed(literal) => Cow::Borrowed(without_directories(literal)),
            Cow::Owned(literal) => Cow::Owned(without_directories(&literal).to_owned()),
        };
        (!name.is_empty()).then_some(name)
    }

    /// Whether the name, without directories, is one of these.
    #[must_use]
    pub fn is_any(&self, names: &[&str]) -> bool {
        self.name().is_some_and(|name| names.contains(&name.as_ref()))
    }

    /// The name as Windows understands it: in lower case, without directories, the module of a
    /// cmdlet, and the ending of a program. `C:\\tools\\Curl.exe` is `curl`.
    #[must_use]
    pub fn windows_name(&self) -> Option<String> {
        let name = self.name_word()?.literal()?.to_ascii_lowercase();
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let endings = [".exe", ".cmd", ".bat", ".com", ".ps1"];
        let bare = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        (!bare.is_empty()).then(|| bare.to_owned())
    }

    #[must_use]
    pub fn args(&self) -> &'w [Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The first argument that is no flag, where it is constant: the `install` of
    /// `apt-get -y install curl`.
    #[must_use]
    pub fn subcommand(&self, valued: &[&str]) -> Option<Cow<'w, str>> {
        let first: &'w Word = self.positional(valued).first()?;
        first.literal()
    }

    /// Whether one of these flags is given: `-y` also within `-yq`, `--yes` also as `--yes=true`.
    #[must_use]
    pub fn has_flag(&self, flags: &[&str]) -> bool {
        self.flag(flags).is_some()
    }

    /// The first word that gives one of these flags.
    #[must_use]
    pub fn flag(&self, flags: &[&str]) -> Option<&'w Word> {
        self.options().find(|word| {
            let text = word.prefix();
            flags.iter().any(|flag| gives(&text, flag))
        })
    }

    /// The value of the first of these flags: `--name=value` and `-nvalue` without the flag, or the
    /// word behind; none where it is not constant. The word is the one that the value stands in.
    #[must_use]
    pub fn flag_value(&self, flags: &[&str]) -> Option<(&'w Word, String)> {
        for word in self.options() {
            let text = word.prefix();
            for flag in flags {
                if text == *flag {
                    let end = word.span().end;
                    let value = self.args().iter().find(|value| value.span().start >= end)?;
                    return Some((value, value.pattern()?));
                }
                let rest = text.strip_prefix(flag);
                let value = rest.and_then(|rest| {
                    if flag.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
                });
                if let Some(value) = value {
                    word.literal()?;
                    return Some((word, value.to_owned()));
                }
            }
        }
        None
    }

    /// The arguments that are neither flags nor values of the flags named here (`-o`, `--option`);
    /// everything behind `--`. A word that begins with an expansion counts as one of them.
    #[must_use]
    pub fn positional(&self, valued: &[&str]) -> Vec<&'w Word> {
        let mut found = Vec::new();
        let mut words = self.args().iter();
        while let Some(word) = words.next() {
            let text = word.prefix();
            if text == "--" && word.parts().len() == 1 {
                found.extend(words);
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                found.push(word);
            } else if valued.iter().any(|flag| wants_next(&text, flag)) {
                words.next();
            }
        }
        found
    }

    /// The arguments up to `--` that begin with a dash.
    fn options(&self) -> impl Iterator<Item = &'w Word> + use<'w> {
        let words = self.args().iter().take_while(|word| !word.is("--"));
        words.filter(|word| word.prefix().starts_with('-'))
    }
}

fn without_directories(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether a word gives a flag.
fn gives(word: &str, flag: &str) -> bool {
    let Some(rest) = word.strip_prefix(flag) else { return has_letter(word, flag) };
    rest.is_empty() || rest.starts_with('=') || has_letter(word, flag)
}

/// Whether a word of single letters has this one: `-yq` has `-q`.
fn has_letter(word: &str, flag: &str) -> bool {
    let [b'-', letter] = flag.as_bytes() else { return false };
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    // What follows a letter that is no letter is a value: `-O2`, `-j4`, `-o=x`.
    letters.bytes().take_while(u8::is_ascii_alphabetic).any(|byte| byte == *letter)
}

/// Whether the value of a flag is the next word: the flag itself, or its letter as the last one.
fn wants_next(word: &str, flag: &str) -> bool {
    if word == flag {
        return true;
    }
    // `-c=foo` has its value already.
    let letters =
        word.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    match (flag.as_bytes(), letters) {
        ([b'-', letter], Some(letters)) => letters.as_bytes().last() == Some(letter),
        _ => false,
    }
}
