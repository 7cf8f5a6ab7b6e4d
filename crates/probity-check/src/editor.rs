//! A text that an editor has open: checked and fixed by the code that checks and fixes files.

use std::{path::Path, sync::Arc};

use probity_finding::{Applicability, Finding};
use probity_lint::Parsed;

use crate::{
    AiFix, CheckError, CheckOptions, Effects, FileRules, FixChoice, FixHandling, Hider,
    IgnoreFiles, OpenTexts, RunOptions,
    effects::NoEffects,
    examine::{Checked, examine_source},
    job::{Configured, Job, Target},
    mask,
    shellcheck::ShellcheckProgram,
    source::{self, Limits, Read, Source},
};

/// The rules about spaces, newlines and continuations; none of them changes a word.
const LAYOUT_RULES: [&str; 7] = [
    "buildkit/NoEmptyContinuation",
    "tally/eol-last",
    "tally/newline-between-instructions",
    "tally/newline-per-chained-call",
    "tally/no-multi-spaces",
    "tally/no-multiple-empty-lines",
    "tally/no-trailing-spaces",
];

/// One open text.
#[derive(Clone, Copy, Debug)]
pub struct EditorText<'a> {
    pub path: &'a Path,
    /// Where `check` would be run.
    pub directory: &'a Path,
    pub text: &'a str,
    pub open_texts: &'a OpenTexts,
}

/// Which fixes an editor asks for.
#[derive(Clone, Copy, Debug)]
pub enum EditorFixes<'a> {
    Safe,
    Rule(&'a str),
    Layout,
}

/// What one configuration makes of a text.
#[derive(Debug)]
pub struct EditorRules {
    options: Arc<CheckOptions>,
    rules: Arc<FileRules>,
}

impl EditorRules {
    /// # Errors
    ///
    /// The same as of [`FileRules::new`].
    pub fn new(options: CheckOptions) -> Result<Self, CheckError> {
        let program = || ShellcheckProgram::find(options.rules.shellcheck_timeout);
        let mut rules = FileRules::new(&options, program)?;
        rules.set.remember_shell_findings();
        Ok(Self { options: Arc::new(options), rules: Arc::new(rules) })
    }

    #[must_use]
    pub fn is_ai_enabled(&self) -> bool {
        self.options.ai.is_enabled
    }

    /// The findings as a report shows them: without secrets.
    #[must_use]
    pub fn check(&self, text: &EditorText<'_>) -> Vec<Finding> {
        let source = match self.source(text) {
            Ok(source) => source,
            Err(finding) => return vec![*finding],
        };
        let checked = self.run(text, source, RunOptions::LOOK, Arc::new(NoEffects));
        let hider = Hider::new(&self.rules.secrets, &checked.text, &checked.secrets);
        let masked = mask::masked(&hider, &checked.text, &checked.secrets, &checked.findings);
        masked.map_or(checked.findings, |(_, findings)| findings)
    }

    /// The fixed text, where it is another.
    ///
    /// # Errors
    ///
    /// The same as of [`FileRules::new`].
    pub fn fix(
        &self,
        text: &EditorText<'_>,
        wanted: EditorFixes<'_>,
    ) -> Result<Option<String>, CheckError> {
        let (ceiling, only) = match wanted {
            EditorFixes::Safe => (Applicability::Safe, Vec::new()),
            EditorFixes::Rule(rule) => (Applicability::Unsafe, vec![rule.to_owned()]),
            EditorFixes::Layout => (Applicability::Safe, LAYOUT_RULES.map(str::to_owned).into()),
        };
        let mut options = self.with_fixes(FixChoice { ceiling, only });
        // Nobody waits for an agent or an image while typing.
        options.ai.is_enabled = false;
        options.ai.proves_rules = false;
        let other = Self::new(options)?;
        let Ok(source) = other.source(text) else { return Ok(None) };
        let run = RunOptions { fixes: FixHandling::Diff, ..RunOptions::LOOK };
        let checked = other.run(text, source, run, Arc::new(NoEffects));
        Ok((checked.text != text.text).then(|| checked.text.to_string()))
    }

    /// The text as an agent and the checks of its patch leave it, and what became of each question.
    ///
    /// # Errors
    ///
    /// Fails as [`FileRules::new`] does, or with the finding that says why there is no text.
    pub fn ask_agent(
        &self,
        text: &EditorText<'_>,
        rule: &str,
        effects: Arc<dyn Effects>,
    ) -> Result<(String, Vec<AiFix>), CheckError> {
        let only = vec![rule.to_owned()];
        let other = Self::new(self.with_fixes(FixChoice { ceiling: Applicability::Safe, only }))?;
        let source =
            other.source(text).map_err(|finding| CheckError::NoText(finding.message.clone()))?;
        let run =
            RunOptions { fixes: FixHandling::Diff, admits_ai_fixes: true, ..RunOptions::LOOK };
        let checked = other.run(text, source, run, effects);
        let asked = checked.fixing.map(|fixing| fixing.ai_fixes).unwrap_or_default();
        Ok((checked.text.to_string(), asked))
    }

    fn with_fixes(&self, fixes: FixChoice) -> CheckOptions {
        CheckOptions { fixes, ..CheckOptions::clone(&self.options) }
    }

    fn source(&self, text: &EditorText<'_>) -> Result<Source, Box<Finding>> {
        let limits = Limits::new(self.options.max_file_size);
        match source::of_editor(text.path, text.directory, text.text, limits) {
            Read::Text(source) => Ok(source),
            Read::Problem(unread) => Err(Box::new(unread.finding)),
        }
    }

    fn run(
        &self,
        text: &EditorText<'_>,
        source: Source,
        run: RunOptions,
        effects: Arc<dyn Effects>,
    ) -> Checked {
        let (options, rules) = (Arc::clone(&self.options), Arc::clone(&self.rules));
        let target = Target::File(text.path.to_owned());
        let job = Job::new(target, Configured { options, rules, effects });
        // A context that does not exist is an error of the command; here the rest still counts.
        let context = self.options.context.as_deref().filter(|context| context.is_dir());
        let files = IgnoreFiles::new(context).with_open_texts(text.open_texts.clone());
        let parsed = Parsed::of_shared(&source.text).detached();
        examine_source(&job, None, run, source, parsed, &files)
    }
}
