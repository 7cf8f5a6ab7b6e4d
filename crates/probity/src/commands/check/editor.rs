//! A text that an editor has open: checked and fixed by the code that checks and fixes files.

use std::{path::Path, sync::Arc};

use probity_agent::Cancel;
use probity_check::{
    IgnoreFiles, OpenTexts,
    source::{self, Limits, Read, Source},
};
use probity_finding::Finding;
use probity_lint::Parsed;

use super::{
    ai::{AiRun, Progress},
    examine::{Checked, examine_source},
    fix::Way,
    job::{Job, Target, configs_of},
    mask::{self, Hider},
    settings::FileRules,
    shellcheck::ShellcheckProgram,
};
use crate::{
    config::{Choice, Configs, Layer, Settings, words::Proof},
    manual::Manual,
    name::Name,
    report::ai_fix::AiFix,
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
pub(crate) struct EditorText<'a> {
    pub(crate) path: &'a Path,
    /// Where `check` would be run.
    pub(crate) directory: &'a Path,
    pub(crate) text: &'a str,
    pub(crate) open_texts: &'a OpenTexts,
}

/// Which fixes an editor asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EditorFixes<'a> {
    Safe,
    Rule(&'a str),
    Layout,
}

/// What one configuration makes of a text.
pub(crate) struct EditorRules {
    name: Name,
    config: Arc<Settings>,
    rules: Arc<FileRules>,
    manual: Manual,
}

/// The settings of the files below a directory, as `check` without flags finds them.
pub(crate) fn editor_configs(
    name: Name,
    choice: Choice,
    directory: &Path,
) -> anyhow::Result<Configs<'static>> {
    configs_of(name, choice, Layer::default(), directory)
}

impl EditorRules {
    pub(crate) fn new(name: Name, config: Arc<Settings>) -> anyhow::Result<Self> {
        let mut rules = FileRules::new(name, &config, || ShellcheckProgram::find(&config))?;
        rules.set.remember_shell_findings();
        Ok(Self { name, config, rules: Arc::new(rules), manual: Manual::of(name) })
    }

    pub(crate) fn is_ai_enabled(&self) -> bool {
        self.config.ai.enabled
    }

    /// The findings as a report shows them: without secrets.
    pub(crate) fn check(&self, text: &EditorText<'_>) -> Vec<Finding> {
        let source = match self.source(text) {
            Ok(source) => source,
            Err(finding) => return vec![*finding],
        };
        let mut checked = self.run(text, source, Way::Offer, &AiRun::idle());
        checked.findings.iter_mut().for_each(|finding| self.manual.link(finding));
        let hider = Hider::new(&self.rules.secrets, &checked.text, &checked.secrets);
        let masked = mask::masked(&hider, &checked.text, &checked.secrets, &checked.findings);
        masked.map_or(checked.findings, |(_, findings)| findings)
    }

    /// The fixed text, where it is another.
    pub(crate) fn fix(
        &self,
        text: &EditorText<'_>,
        wanted: EditorFixes<'_>,
    ) -> anyhow::Result<Option<String>> {
        let mut config = Settings::clone(&self.config);
        config.check.unsafe_fixes = Some(matches!(wanted, EditorFixes::Rule(_)));
        config.check.fix_rule = match wanted {
            EditorFixes::Safe => Vec::new(),
            EditorFixes::Rule(rule) => vec![rule.to_owned()],
            EditorFixes::Layout => LAYOUT_RULES.map(str::to_owned).into(),
        };
        // Nobody waits for an image while typing.
        config.ai.enabled = false;
        config.ai.proof = Proof::Static;
        let other = Self::new(self.name, Arc::new(config))?;
        let Ok(source) = other.source(text) else { return Ok(None) };
        let checked = other.run(text, source, Way::Diff, &AiRun::idle());
        Ok((checked.text != text.text).then(|| checked.text.to_string()))
    }

    /// The text as an agent and the checks of its patch leave it, and what became of each question.
    pub(crate) fn ask_agent(
        &self,
        text: &EditorText<'_>,
        rule: &str,
        cancel: Cancel,
        progress: Progress,
    ) -> anyhow::Result<(String, Vec<AiFix>)> {
        let mut config = Settings::clone(&self.config);
        config.check.unsafe_fixes = Some(false);
        config.check.fix_rule = vec![rule.to_owned()];
        let other = Self::new(self.name, Arc::new(config))?;
        let source = other.source(text).map_err(|finding| anyhow::anyhow!(finding.message))?;
        let ai = AiRun::for_editor(cancel, progress)?;
        let checked = other.run(text, source, Way::Diff, &ai);
        let asked = checked.fixing.map(|fixing| fixing.ai_fixes).unwrap_or_default();
        Ok((checked.text.to_string(), asked))
    }

    fn source(&self, text: &EditorText<'_>) -> Result<Source, Box<Finding>> {
        let limits = Limits::new(self.config.check.file_validation.max_file_size);
        match source::of_editor(text.path, text.directory, text.text, limits) {
            Read::Text(source) => Ok(source),
            Read::Problem(unread) => Err(Box::new(unread.finding)),
        }
    }

    fn run(&self, text: &EditorText<'_>, source: Source, way: Way, ai: &AiRun) -> Checked {
        let target = Target::File(text.path.to_owned());
        let job = Job::new(target, Arc::clone(&self.config), Arc::clone(&self.rules));
        // A context that does not exist is an error of the command; here the rest still counts.
        let context = self.config.check.context.as_deref().filter(|context| context.is_dir());
        let files = IgnoreFiles::new(context).with_open_texts(text.open_texts.clone());
        let parsed = Parsed::of_shared(&source.text).detached();
        examine_source(&job, None, way, source, parsed, &files, ai)
    }
}
