//! Projects as files, and the generator that varies their proposals.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::whole_corpus::is_whole;

/// Which cases a person may look at while writing checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Half {
    Tuning,
    Reporting,
}

impl Half {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::Reporting => "reporting",
        }
    }
}

/// One file: `# objective: NAME`, then sections that begin with `=== `.
///
/// `before` is the original. `good NAME` and `harmful NAME` are whole files, or with `of OTHER` edits of
/// another section: lines that begin with `- ` are found together and replaced by those with `+ ` that
/// follow. `vary` has a line `old = new` for each text that the second variant replaces.
pub(super) struct Project {
    pub(super) name: String,
    pub(super) objective: String,
    sections: Vec<Section>,
    /// The half, where the hash does not decide.
    known: Option<Half>,
}

struct Section {
    kind: String,
    name: String,
    text: String,
}

pub(super) struct Proposal {
    pub(super) name: String,
    pub(super) is_good: bool,
    /// Two judges who saw the task and the proposal, and not what its author called it, both
    /// contradicted the author.
    pub(super) is_disputed: bool,
    /// 0 as it is written, 1 varied.
    pub(super) variant: usize,
    pub(super) before: String,
    pub(super) after: String,
}

impl Project {
    /// Our own, or the sample of them.
    pub(super) fn all() -> Vec<Self> {
        let mut projects = Self::of_directory(&corpus());
        projects.retain(Self::is_sampled);
        projects
    }

    /// Whether it is in the sample, or all are wanted.
    fn is_sampled(&self) -> bool {
        is_whole() || (self.hash() >> 23).is_multiple_of(6)
    }

    /// Written for these checks by people who did not know them: `unseen` for tuning, `reported` for
    /// the report. Nobody who writes checks opens a file of the second. All of the second, which the test
    /// asserts something about, and a sample of the first.
    pub(super) fn unseen() -> Vec<Self> {
        let halves = [("unseen", Half::Tuning), ("reported", Half::Reporting)];
        let mut projects = Vec::new();
        for (directory, half) in halves {
            for mut project in Self::of_directory(&corpus().join(directory)) {
                project.known = Some(half);
                projects.push(project);
            }
        }
        projects.retain(|project| project.half() == Half::Reporting || project.is_sampled());
        projects
    }

    fn of_directory(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = entries
            .filter(|path| path.extension().is_some_and(|extension| extension == "case"))
            .collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// The patches that people without knowledge of these checks wrote for the proof of images: `blind`
    /// for tuning, `blind-second` for the report. Many do harm that only the files show, so that their
    /// figures are printed and nothing is asserted about them.
    pub(super) fn strangers() -> Vec<Self> {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../probity-image/tests/it/corpus");
        let mut projects = Vec::new();
        for (directory, half) in [("blind", Half::Tuning), ("blind-second", Half::Reporting)] {
            for entry in fs::read_dir(corpus.join(directory)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                let file = fs::read_to_string(&path).unwrap();
                let part = |head: &str| {
                    let rest = file.split(&format!("=== {head}\n")).nth(1).unwrap();
                    format!("{}\n", rest.split("\n=== ").next().unwrap().trim_end())
                };
                let kind = if name.starts_with("good") { "good" } else { "harmful" };
                let section = |kind: &str, text| Section {
                    kind: kind.to_owned(),
                    name: directory.to_owned(),
                    text,
                };
                let sections =
                    vec![section("before", part("before")), section(kind, part("after"))];
                projects.push(Self {
                    name,
                    objective: "forced".to_owned(),
                    sections,
                    known: Some(half),
                });
            }
        }
        projects.sort_by(|one, other| one.name.cmp(&other.name));
        projects
    }

    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file = fs::read_to_string(path).unwrap();
        let mut parts = file.split("\n=== ");
        let head = parts.next().unwrap();
        let objective = head.trim().strip_prefix("# objective: ").unwrap().to_owned();
        let mut sections: Vec<Section> = Vec::new();
        for part in parts {
            let (head, body) = part.split_once('\n').unwrap();
            let words: Vec<&str> = head.split_whitespace().collect();
            let section = match words.as_slice() {
                [kind, name, "of", base] => {
                    let base = sections.iter().find(|section| section.name == *base);
                    let base = base.unwrap_or_else(|| panic!("{path:?}: `{head}` has no base"));
                    let text = edited(&base.text, body, &format!("{path:?}: {head}"));
                    Section { kind: (*kind).to_owned(), name: (*name).to_owned(), text }
                }
                [kind, name] => Section {
                    kind: (*kind).to_owned(),
                    name: (*name).to_owned(),
                    text: format!("{}\n", body.trim_end()),
                },
                [name] => Section {
                    kind: (*name).to_owned(),
                    name: (*name).to_owned(),
                    text: format!("{}\n", body.trim_end()),
                },
                _ => panic!("{path:?}: `{head}` is not a section"),
            };
            sections.push(section);
        }
        Self { name, objective, sections, known: None }
    }

    pub(super) fn language(&self) -> &str {
        self.name.split('-').next().unwrap()
    }

    pub(super) fn half(&self) -> Half {
        if let Some(half) = self.known {
            return half;
        }
        // The last bits of short names differ less than those in the middle.
        if (self.hash() >> 17) & 1 == 0 { Half::Tuning } else { Half::Reporting }
    }

    /// FNV-1a of the name, so that nobody chooses.
    fn hash(&self) -> u64 {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }

    pub(super) fn proposals(&self) -> Vec<Proposal> {
        let text = |kind: &str| {
            let found = self.sections.iter().find(|section| section.kind == kind);
            found.map(|section| section.text.clone()).unwrap_or_default()
        };
        let (before, vary) = (text("before"), text("vary"));
        let disputed = fs::read_to_string(corpus().join("disputed.txt")).unwrap();
        let mut proposals = Vec::new();
        for section in &self.sections {
            let is_good = section.kind == "good";
            if !is_good && section.kind != "harmful" {
                continue;
            }
            let name = format!("{} {}", section.kind, section.name);
            let entry = format!("{} {name}", self.name);
            let is_disputed = disputed.lines().any(|line| line == entry);
            let plain = Proposal {
                name: name.clone(),
                is_good,
                is_disputed,
                variant: 0,
                before: before.clone(),
                after: section.text.clone(),
            };
            let varied = Proposal {
                name,
                is_good,
                is_disputed,
                variant: 1,
                before: renamed(&before, &vary),
                after: restyled(&renamed(&section.text, &vary), &renamed(&before, &vary)),
            };
            // What strangers wrote is taken as it is.
            if self.known.is_some() {
                proposals.push(plain);
            } else {
                proposals.extend([plain, varied]);
            }
        }
        proposals
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus")
}

fn edited(base: &str, body: &str, place: &str) -> String {
    let mut text = base.to_owned();
    let mut lines = body.lines().peekable();
    while lines.peek().is_some() {
        let mut take = |sign: &str| {
            let mut taken = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with(sign)) {
                taken.push_str(&line[sign.len()..]);
                taken.push('\n');
            }
            taken
        };
        let (old, new) = (take("- "), take("+ "));
        assert!(!old.is_empty(), "{place}: an edit without old lines");
        // The last one: what a proposal changes is mostly in its final stage.
        let start = match text.rfind(&format!("\n{old}")) {
            Some(start) => start + 1,
            None if text.starts_with(&old) => 0,
            None => panic!("{place}: not found:\n{old}"),
        };
        text.replace_range(start..start + old.len(), &new);
    }
    text
}

fn renamed(text: &str, vary: &str) -> String {
    vary.lines().fold(text.to_owned(), |text, line| {
        let (old, new) = line.split_once(" = ").unwrap();
        text.replace(old, new)
    })
}

/// Another stage name, and a comment before each stage that is not in the original.
fn restyled(text: &str, before: &str) -> String {
    let mut styled = String::new();
    let stages = text.lines().filter(|line| line.starts_with("FROM ")).count();
    for (number, line) in text.lines().enumerate() {
        let is_new = line.starts_with("FROM ") && !before.contains(line) && stages > 1;
        if is_new && number == 0 {
            styled.push_str("# Build stage\n");
        } else if is_new {
            styled.push_str("# Runtime stage: only what the program needs\n");
        }
        let line =
            line.replace(" AS build", " AS builder").replace("--from=build ", "--from=builder ");
        let line =
            if before.contains(" AS build") { line.replace("builder", "build") } else { line };
        styled.push_str(&line);
        styled.push('\n');
    }
    styled
}
