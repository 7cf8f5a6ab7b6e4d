//! A reader of git's configuration files: bounded, and without asking git.
//!
//! It need not understand what git refuses: git stops at a file that is wrong, and runs nothing.

use std::{
    collections::BTreeSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::super::{absolute_variable, held::HeldTree};

/// Bytes of one file.
const MOST_BYTES: u64 = 1 << 20;

/// Files that one configuration may include.
const MOST_FILES: usize = 128;

/// One `key = value`, with the section it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// In lower case.
    pub(super) section: String,
    pub(super) subsection: Option<String>,
    /// In lower case.
    pub(super) key: String,
    pub(super) value: String,
}

/// Entries of a configuration and of all that it includes, whatever the conditions are.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) entries: Vec<Entry>,
    /// Files that are included, whether they exist or not.
    pub(super) included: Vec<PathBuf>,
}

impl Settings {
    /// Reads these files and what they include.
    pub(super) fn read(files: &[PathBuf]) -> Self {
        let mut settings = Self::default();
        let mut pending: Vec<PathBuf> = files.iter().rev().cloned().collect();
        let mut seen = BTreeSet::new();
        while let Some(file) = pending.pop() {
            if seen.len() > MOST_FILES || !seen.insert(file.clone()) {
                continue;
            }
            let Some(text) = text(&file) else { continue };
            let entries = parse(&text);
            for entry in entries.iter().filter(|entry| entry.is_include()) {
                let near = file.parent().unwrap_or(Path::new("/"));
                if let Some(path) = expanded(&entry.value, near) {
                    settings.included.push(path.clone());
                    pending.push(path);
                }
            }
            settings.entries.extend(entries);
        }
        settings
    }

    /// All values of a key without a subsection: which one counts may depend on the directory.
    pub(super) fn all<'a>(&'a self, section: &str, key: &str) -> impl Iterator<Item = &'a str> {
        let wanted = move |entry: &&Entry| {
            entry.section == section && entry.key == key && entry.subsection.is_none()
        };
        self.entries.iter().filter(wanted).map(|entry| entry.value.as_str())
    }
}

/// The files that git reads for every repository of this user.
pub(super) fn users_files() -> Vec<PathBuf> {
    let home = absolute_variable("HOME");
    let xdg = absolute_variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [
        Some(PathBuf::from("/etc/gitconfig")),
        xdg.map(|xdg| xdg.join("git/config")),
        home.map(|home| home.join(".gitconfig")),
    ];
    files.into_iter().flatten().collect()
}

/// Files of this user that say what git and this program run, beside git's configuration.
pub(super) fn users_other_files() -> Vec<PathBuf> {
    let home = absolute_variable("HOME");
    let xdg = absolute_variable("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
    let names = ["git/attributes", "probity/probity.toml", "containai/config.toml"];
    xdg.iter().flat_map(|xdg| names.map(|name| xdg.join(name))).collect()
}

/// Whether a path in a configuration means the same in every directory.
pub(super) fn is_absolute(value: &str) -> bool {
    value.starts_with('/') || value.starts_with("~/")
}

/// A path in a configuration: absolute, in the home directory, or relative to `near`.
pub(super) fn expanded(value: &str, near: &Path) -> Option<PathBuf> {
    if value.is_empty() {
        return None;
    }
    match value.strip_prefix("~/") {
        Some(rest) => Some(absolute_variable("HOME")?.join(rest)),
        None => Some(near.join(value)),
    }
}

impl Entry {
    fn is_include(&self) -> bool {
        matches!(self.section.as_str(), "include" | "includeif") && self.key == "path"
    }

    /// Whether git can be led to run a program, or to read another file, by neither the key nor its
    /// value. Whatever is not known to be harmless is not.
    pub(super) fn is_harmless(&self) -> bool {
        let keys: &[&str] = match (self.section.as_str(), &self.subsection) {
            ("core", None) => &[
                "repositoryformatversion",
                "bare",
                "filemode",
                "ignorecase",
                "precomposeunicode",
                "symlinks",
                "logallrefupdates",
                "autocrlf",
                "eol",
            ],
            ("extensions", None) => &["objectformat", "refstorage", "compatobjectformat"],
            ("user", None) => &["name", "email"],
            ("remote", Some(_)) => &["url", "pushurl", "fetch", "push", "prune", "tagopt"],
            ("branch", Some(_)) => {
                &["remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base"]
            }
            ("submodule", Some(_)) => &["url", "active", "branch", "ignore", "shallow"],
            _ => &[],
        };
        // `ext::command` is a transport, and what begins with a dash an option.
        let value = self.value.trim();
        keys.contains(&self.key.as_str())
            && !value.starts_with('-')
            && !value.contains("::")
            && !value.contains(char::is_control)
    }

    /// Whether git runs the value as a command.
    pub(super) fn is_command(&self) -> bool {
        let key = self.key.as_str();
        match self.section.as_str() {
            "alias" | "pager" => true,
            "core" => matches!(
                key,
                "fsmonitor" | "sshcommand" | "editor" | "pager" | "askpass" | "gitproxy"
            ),
            "diff" => matches!(key, "external" | "command" | "textconv"),
            "filter" => matches!(key, "clean" | "smudge" | "process"),
            "merge" => key == "driver",
            "gpg" => key == "program" || key == "defaultkeycommand",
            "credential" => key == "helper",
            "sequence" => key == "editor",
            "interactive" => key == "difffilter",
            "submodule" => key == "update",
            "uploadpack" => key == "packobjectshook",
            "hook" => key == "command",
            "trailer" | "sendemail" | "difftool" | "mergetool" | "browser" | "man" | "guitool" => {
                key.ends_with("cmd") || key == "command" || key == "path"
            }
            _ => false,
        }
    }

    /// As `git config` names it.
    pub(super) fn name(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        }
    }

    /// As git writes it.
    pub(super) fn written(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let section = match &self.subsection {
            Some(subsection) => format!("[{} \"{}\"]", self.section, quoted(subsection)),
            None => format!("[{}]", self.section),
        };
        format!("{section}\n\t{} = \"{}\"\n", self.key, quoted(&self.value))
    }
}

/// The text of a configuration, if it is a file of a sensible size.
pub(super) fn text(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The same of a file that a session may write.
pub(super) fn held_text(held: &HeldTree, path: &Path) -> Option<String> {
    let bytes = held.read(path, MOST_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn parse(text: &str) -> Vec<Entry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut letters = text.chars().peekable();
    let mut entries = Vec::new();
    let mut section = (String::new(), None);
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' => skip_line(&mut letters),
            '[' => section = header(&mut letters),
            letter if letter.is_ascii_alphanumeric() => {
                let mut key = String::from(letter);
                while let Some(more) =
                    letters.next_if(|next| next.is_ascii_alphanumeric() || *next == '-')
                {
                    key.push(more);
                }
                while letters.next_if(|next| matches!(next, ' ' | '\t' | '\r')).is_some() {}
                // A key without a value is a switch that is on.
                let value = match letters.next_if_eq(&'=') {
                    Some(_) => value(&mut letters),
                    None => {
                        skip_line(&mut letters);
                        "true".to_owned()
                    }
                };
                let (section, subsection) = section.clone();
                entries.push(Entry { section, subsection, key: key.to_ascii_lowercase(), value });
            }
            _ => {}
        }
    }
    entries
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_line(letters: &mut Letters<'_>) {
    while letters.next_if(|letter| *letter != '\n').is_some() {}
}

/// `core]`, `remote "origin"]`, and the older `remote.origin]`.
fn header(letters: &mut Letters<'_>) -> (String, Option<String>) {
    let mut section = String::new();
    while let Some(letter) =
        letters.next_if(|next| !next.is_whitespace() && !matches!(next, ']' | '"'))
    {
        section.push(letter);
    }
    let mut subsection = None;
    while letters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
    if letters.next_if_eq(&'"').is_some() {
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|next| !matches!(next, '"' | '\n')) {
            let escaped = if letter == '\\' { letters.next() } else { Some(letter) };
            name.extend(escaped);
        }
        letters.next_if_eq(&'"');
        subsection = Some(name);
    }
    while letters.next_if(|next| !matches!(next, ']' | '\n')).is_some() {}
    letters.next_if_eq(&']');
    let section = section.to_ascii_lowercase();
    match (section.split_once('.'), subsection) {
        (Some((section, older)), None) => (section.to_owned(), Some(older.to_owned())),
        (_, subsection) => (section, subsection),
    }
}

fn value(letters: &mut Letters<'_>) -> String {
    let mut value = String::new();
    // Blanks outside of quotes count only if something follows.
    let mut blanks = String::new();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        let meant = match letter {
            '\n' => break,
            '"' => {
                quoted = !quoted;
                value.push_str(&std::mem::take(&mut blanks));
                continue;
            }
            '#' | ';' if !quoted => {
                skip_line(letters);
                break;
            }
            '\\' => match letters.next() {
                Some('\n') | None => continue,
                Some('\r') if letters.next_if_eq(&'\n').is_some() => continue,
                Some('n') => '\n',
                Some('t') => '\t',
                Some('b') => '\u{8}',
                Some(other) => other,
            },
            letter if letter.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() {
                    blanks.push(letter);
                }
                continue;
            }
            letter => letter,
        };
        value.push_str(&std::mem::take(&mut blanks));
        value.push(meant);
    }
    value
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{Entry, parse};

    fn spelled(entry: &Entry) -> String {
        let subsection = entry.subsection.as_ref().map(|name| format!("{name}."));
        let subsection = subsection.unwrap_or_default();
        format!("{}.{subsection}{}\n{}", entry.section, entry.key, entry.value)
    }

    /// git itself is the judge.
    #[test]
    fn what_git_reads_is_read() {
        for text in [
            "[core]\n\thooksPath = .husky\n",
            "[CORE] HooksPath=.husky # comment\n",
            "[include]path=../x\n[includeIf \"gitdir:~/x/\"]\n path = \"a # b\" ; c\n",
            "[a \"b\\\"c\\\\d\"]\nk = v\n[x.Y]\nk-1 = 2\n",
            "[core]\nfsmonitor = \"touch \\\"x y\\\"\" ; false\nbare\n",
            "[alias]\nx = !sh -c \\\n  'a b' \\t c\n",
            "[core]\r\n\thooksPath = a\r\n; c\r\n[user]\r\nname =   two  words  \r\n",
            "\u{feff}[core]\nhooksPath = \"  lead\" trail\n",
            "[a]\nk = \"x\" \"y\"\nl = a\"b c\"d\nm =\nn = \"\"\n",
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            let output = Command::new("git")
                .args(["config", "--no-includes", "--null", "--list", "--file"])
                .arg(file.path())
                .output()
                .unwrap();
            let git: Vec<String> =
                String::from_utf8(output.stdout)
                    .unwrap()
                    .split_terminator('\0')
                    .map(|line| {
                        if line.contains('\n') { line.to_owned() } else { format!("{line}\ntrue") }
                    })
                    .collect();
            let ours: Vec<String> = parse(text).iter().map(spelled).collect();
            assert_eq!(ours, git, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = "[remote \"a\\\"b\\\\\"]\nurl = \"x \\\" \\\\ y\"\n[core]\nbare = false\n";
        let entries = parse(text);
        let written: String = entries.iter().map(Entry::written).collect();
        assert_eq!(parse(&written), entries);
    }

    #[test]
    fn only_what_is_known_to_be_harmless_is() {
        for (text, harmless) in [
            ("[core]\nbare = true", true),
            ("[core]\nfsmonitor = x", false),
            ("[core]\nworktree = /x", false),
            ("[remote \"o\"]\nurl = https://h/x", true),
            ("[remote \"o\"]\nurl = ext::sh -c x", false),
            ("[remote \"o\"]\nurl = --upload-pack=x", false),
            ("[remote \"o\"]\nuploadpack = x", false),
            ("[branch \"m\"]\nmerge = refs/heads/m", true),
            ("[branch \"m\"]\nmergeOptions = -s x", false),
            ("[submodule \"s\"]\nupdate = !x", false),
            ("[include]\npath = x", false),
            ("[alias]\nst = !x", false),
        ] {
            assert_eq!(parse(text).iter().all(Entry::is_harmless), harmless, "{text}");
        }
    }
}
