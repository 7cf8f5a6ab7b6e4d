//! What is in force when an instruction runs: shell, user, working directory.

use std::sync::Arc;

use probity_finding::Span;

use crate::{
    Dockerfile, TokenKind,
    facts::{stages::Os, text::Text},
};

/// Longer paths than any system takes are not followed, so that relative ones cannot add up.
const MAX_PATH: usize = 4096;

/// What the instructions before have left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub shell: Arc<Shell>,
    /// The last USER; none where the base decides.
    pub user: Option<Arc<Text>>,
    pub workdir: Workdir,
}

/// The shell that runs commands in shell form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// The words before the command. A pragma gives the name of the shell alone.
    pub argv: Vec<String>,
    pub source: ShellSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellSource {
    /// That of the operating system.
    Default,
    /// SHELL, by the index of the instruction.
    Instruction(usize),
    /// `# hadolint shell=…` or `# tally shell=…`, by the place of the comment. It tells what the
    /// shell is and does not change the build.
    Pragma(Span),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workdir {
    /// The absolute path, where it is known: a relative one needs a known path below it.
    pub path: Option<Arc<str>>,
    /// The last WORKDIR of the stage or of the stages it is based on.
    pub instruction: Option<usize>,
}

impl State {
    /// At the start of a stage that is not based on another.
    pub(super) fn initial(os: Os, scratch: bool) -> Self {
        let shell = Shell { argv: default_shell(os), source: ShellSource::Default };
        let path = scratch.then(|| Arc::from("/"));
        Self { shell: Arc::new(shell), user: None, workdir: Workdir { path, instruction: None } }
    }
}

impl Shell {
    /// The name of the program in lower case, without directories and `.exe`.
    #[must_use]
    pub fn name(&self) -> String {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        name.strip_suffix(".exe").unwrap_or(&name).to_owned()
    }
}

impl Workdir {
    pub(super) fn then(&self, path: &Text, os: Os, instruction: usize) -> Self {
        let path = path.value.as_deref().and_then(|path| match os {
            Os::Linux => resolve(self.path.as_deref(), path),
            Os::Windows => is_absolute(path, os).then(|| Arc::from(path)),
        });
        Self { path, instruction: Some(instruction) }
    }
}

/// Whether a path does not depend on the directory it is used in.
#[must_use]
pub fn is_absolute(path: &str, os: Os) -> bool {
    match os {
        Os::Linux => path.starts_with('/'),
        Os::Windows => {
            let drive = path.as_bytes().get(1) == Some(&b':');
            path.starts_with(['/', '\\'])
                || (drive && path.get(2..).is_some_and(|rest| rest.starts_with(['/', '\\'])))
        }
    }
}

pub(super) fn default_shell(os: Os) -> Vec<String> {
    let words: &[&str] = match os {
        Os::Linux => &["/bin/sh", "-c"],
        Os::Windows => &["cmd", "/S", "/C"],
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A comment that names the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pragma {
    pub(super) span: Span,
    pub(super) shell: String,
}

/// The pragmas between instructions, in the order of the source.
pub(super) fn pragmas(dockerfile: &Dockerfile<'_>) -> Vec<Pragma> {
    let mut found = Vec::new();
    let mut instructions = dockerfile.instructions.iter().peekable();
    for token in dockerfile.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        while instructions.next_if(|next| next.span.end <= token.span.start).is_some() {}
        let inside = instructions.peek().is_some_and(|next| next.span.encloses(token.span));
        let text = token.span.slice(dockerfile.text).unwrap_or_default();
        if let Some(shell) = pragma_shell(text)
            && !inside
        {
            found.push(Pragma { span: token.span, shell: shell.to_owned() });
        }
    }
    found
}

fn pragma_shell(comment: &str) -> Option<&str> {
    let text = comment.strip_prefix('#')?.trim_start();
    let (tool, rest) = text.split_once(|character: char| character.is_ascii_whitespace())?;
    let (key, value) = rest.split_once('=')?;
    let known = ["hadolint", "tally"].iter().any(|known| known.eq_ignore_ascii_case(tool));
    let ours = known && key.trim().eq_ignore_ascii_case("shell");
    let value = value.trim_start();
    let end = value.find(|it: char| it.is_whitespace() || it == ';' || it == '#');
    let value = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
    (ours && !value.is_empty()).then_some(value)
}

/// Joins and cleans paths as a build does.
fn resolve(below: Option<&str>, path: &str) -> Option<Arc<str>> {
    let below = if path.starts_with('/') { "" } else { below? };
    if below.len() + path.len() > MAX_PATH {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in below.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(Arc::from(format!("/{}", parts.join("/"))))
}
