//! What a hostile repository consists of. In all texts and paths `@ROOT@` is the directory of the whole
//! scene, `@HOME@` the home of the victim, `@REPO@` the repository, `@PORT@` a port of the victim's
//! machine where something listens, and `@NUMBER@` the number of a claim, since no two may have one test.

use serde_json::{Value, json};

/// The words of a review.
pub(super) const REVIEW: &str =
    "review --agent @AGENT@ --no-history --report-only --output @ROOT@/out";

/// A repository, its surroundings, and what its author wants.
#[derive(Default)]
pub(super) struct Hostile {
    pub(super) name: &'static str,
    pub(super) files: Vec<(String, String)>,
    /// Those that may be executed.
    pub(super) programs: Vec<(String, String)>,
    pub(super) links: Vec<(String, String)>,
    /// What is there of the victim's own, below the root: in the home, or in the repository where git
    /// ignores it.
    pub(super) beside: Vec<(String, String)>,
    /// Directories of the victim's below the root that are git repositories.
    pub(super) repositories: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    /// Before the other directories of `PATH`.
    pub(super) path: Vec<String>,
    pub(super) claims: Vec<Claim>,
    pub(super) commands: Vec<Command>,
    pub(super) rows: Vec<Row>,
    /// The compiled standard library of Go takes a minute, so that it is kept.
    pub(super) shares_caches: bool,
    /// Another way into the hole of a repository that is played always: `script/nightly` plays it too.
    pub(super) is_variant: bool,
}

/// One attack.
pub(super) struct Row {
    /// Of the issue that lists them.
    pub(super) point: u8,
    pub(super) name: String,
    pub(super) want: Want,
}

/// What an attack wants. Paths are below the home.
pub(super) enum Want {
    /// Something at a path where nothing was.
    Leaves(String),
    /// A file that is not what it was.
    Changes(String),
    /// The text of `secret/WORD` in a report or on the console.
    Says(String),
    /// A text on the console that whoever reads it would obey.
    Prints(String),
    /// A text in the reports that honest code does not lead to.
    Reports(String),
    /// A connection to what listens on the loopback.
    ReachesPort,
    /// A connection to `agent.sock` in the home.
    ReachesSocket,
}

/// What the victim does.
pub(super) enum Command {
    /// A review with the claims, which has to come to its end.
    Review,
    /// The words of a command line in the home.
    AtHome(&'static str),
    /// A session of an editor with the agent.
    Editor,
    /// A script that changes the repository and commits, as if the author had pushed it.
    Pull(&'static str),
    /// The words of a command line, whatever becomes of it. `@AGENT@` names the recorded agent.
    Words(String),
}

/// A claim of an agent that the repository has led astray.
#[derive(Clone)]
pub(super) struct Claim {
    pub(super) file: String,
    pub(super) test_file: Option<String>,
    pub(super) name: &'static str,
    pub(super) title: Option<&'static str>,
    pub(super) code: String,
    pub(super) fix: Option<String>,
}

impl Claim {
    pub(super) fn new(file: &str, test_file: &str, code: impl Into<String>) -> Self {
        let test_file = Some(test_file.to_owned()).filter(|file| !file.is_empty());
        Self {
            file: file.to_owned(),
            test_file,
            name: "claimed",
            title: None,
            code: code.into(),
            fix: None,
        }
    }

    pub(super) fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub(super) fn fixed(mut self, patch: impl Into<String>) -> Self {
        self.fix = Some(patch.into());
        self
    }

    pub(super) fn finding(&self, number: usize) -> Value {
        let title = self.title.map_or_else(|| format!("claim {number}"), str::to_owned);
        let mut finding = json!({
            "title": title, "description": "because", "file": self.file, "line": 2,
            "severity_hint": "high", "category": "correctness", "test_name": self.name,
            "test_code": self.code.replace("@NUMBER@", &number.to_string()),
        });
        if let Some(file) = &self.test_file {
            finding["test_file"] = json!(file);
        }
        if let Some(fix) = &self.fix {
            finding["fix_patch"] = json!(fix);
        }
        finding
    }
}

impl Hostile {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    pub(super) fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        self.files.push((path.to_owned(), text.into()));
        self
    }

    /// A shell script.
    pub(super) fn program(mut self, path: &str, script: impl Into<String>) -> Self {
        self.programs.push((path.to_owned(), format!("#!/bin/sh\n{}\n", script.into())));
        self
    }

    pub(super) fn link(mut self, path: &str, target: &str) -> Self {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    pub(super) fn beside(mut self, path: &str, text: impl Into<String>) -> Self {
        self.beside.push((path.to_owned(), text.into()));
        self
    }

    /// A git repository of the victim's, below the root.
    pub(super) fn own_repository(mut self, path: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| (format!("{path}/{name}"), (*text).to_owned()));
        self.beside.extend(files);
        self.repositories.push(path.to_owned());
        self
    }

    /// A tool of the victim's, in a directory of its own, that does what its name says with as little as
    /// the attack needs.
    pub(super) fn stand_in(mut self, name: &str, script: &str) -> Self {
        self.beside.push((format!("opt/{name}/bin/{name}"), format!("#!/bin/sh\n{script}\n")));
        self.path(&format!("@ROOT@/opt/{name}/bin"))
    }

    pub(super) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn path(mut self, directory: &str) -> Self {
        self.path.push(directory.to_owned());
        self
    }

    pub(super) fn claim(mut self, claim: Claim) -> Self {
        self.claims.push(claim);
        self
    }

    pub(super) fn review(mut self) -> Self {
        self.commands.push(Command::Review);
        self
    }

    pub(super) fn variant_if(mut self, is_variant: bool) -> Self {
        self.is_variant = is_variant;
        self
    }

    /// A review whose end does not matter: the machine may lack the tool.
    pub(super) fn review_anyhow(self) -> Self {
        self.command(REVIEW)
    }

    pub(super) fn command(mut self, words: &str) -> Self {
        self.commands.push(Command::Words(words.to_owned()));
        self
    }

    pub(super) fn row(mut self, point: u8, name: impl Into<String>, want: Want) -> Self {
        self.rows.push(Row { point, name: name.into(), want });
        self
    }
}

impl Want {
    /// What a program of the repository's leaves that runs on the host; [`mark`] is what it does.
    pub(super) fn runs(word: &str) -> Self {
        Self::Leaves(format!("ran/{word}"))
    }

    pub(super) fn leaves(path: &str) -> Self {
        Self::Leaves(path.to_owned())
    }

    pub(super) fn changes(path: &str) -> Self {
        Self::Changes(path.to_owned())
    }

    pub(super) fn prints(text: &str) -> Self {
        Self::Prints(text.to_owned())
    }

    pub(super) fn says(word: &str) -> Self {
        Self::Says(word.to_owned())
    }
}

/// The shell command by which a program shows that it ran on the host.
pub(super) fn mark(word: &str) -> String {
    format!("touch @HOME@/ran/{word} 2>/dev/null")
}
