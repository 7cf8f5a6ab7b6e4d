//! What the language server asks of this program.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::Context as _;
use probity_check::{EditorFixes, EditorText, discover};
use probity_lint::{META_RULES, RULES};
use probity_lsp::{
    AiAnswer, AiRequest, AiWatch, ConfigProblem, DocumentKind, Host, Report, RuleName, Subject,
};

use super::{agent, config_file, folders::Folders};
use crate::{commands::explain, name::Name};

/// The program as an editor's server sees it.
pub(super) struct EditorHost {
    folders: Mutex<Folders>,
    /// Where documents without a workspace folder are checked.
    current: PathBuf,
}

impl EditorHost {
    pub(super) fn new(name: Name) -> anyhow::Result<Self> {
        let current = std::env::current_dir().context("cannot tell the working directory")?;
        Ok(Self { folders: Mutex::new(Folders::new(name)), current })
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory<'s>(&'s self, subject: &Subject<'s>) -> &'s Path {
        subject.folder.unwrap_or(&self.current)
    }
}

impl Host for EditorHost {
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn kind(&self, path: &Path, language: &str) -> DocumentKind {
        if config_file::dialect(path).is_some() {
            return DocumentKind::Config;
        }
        let is_named =
            ["dockerfile", "containerfile"].iter().any(|name| language.eq_ignore_ascii_case(name));
        if is_named || discover::is_dockerfile_name(path) {
            DocumentKind::Dockerfile
        } else {
            DocumentKind::Other
        }
    }

    fn check(&self, subject: &Subject<'_>) -> Report {
        let directory = self.directory(subject);
        // The lock is not held while the text is checked.
        let found = self.folders().rules_for(directory, subject.path, subject.open_texts);
        let Some(rules) = found.rules else {
            return Report { config_files: found.config_files, ..Report::default() };
        };
        let (path, text) = (subject.path, subject.text);
        let text = EditorText { path, directory, text, open_texts: subject.open_texts };
        let mut findings = rules.editor.check(&text);
        findings.iter_mut().for_each(|finding| rules.manual.link(finding));
        Report {
            findings,
            is_ai_enabled: rules.editor.is_ai_enabled(),
            config_files: found.config_files,
        }
    }

    fn fix(&self, subject: &Subject<'_>, wanted: EditorFixes<'_>) -> Option<String> {
        let directory = self.directory(subject);
        let rules = self.folders().rules_for(directory, subject.path, subject.open_texts).rules?;
        let (path, text) = (subject.path, subject.text);
        let text = EditorText { path, directory, text, open_texts: subject.open_texts };
        rules.editor.fix(&text, wanted).map_err(anyhow::Error::from).unwrap_or_else(|error| {
            tracing::error!("{}: cannot be fixed: {error:#}", path.display());
            None
        })
    }

    fn config_problems(&self, path: &Path, text: &str) -> Vec<ConfigProblem> {
        config_file::problems(path, text)
    }

    fn config_schema(&self, path: &Path) -> Option<serde_json::Value> {
        config_file::schema(path)
    }

    fn reload(&self) {
        self.folders().forget();
    }

    fn explain(&self, rule: &str) -> Option<String> {
        explain::page(rule)
    }

    fn rules(&self) -> Vec<RuleName> {
        let listed = RULES.iter().map(|rule| {
            let metadata = rule.metadata();
            RuleName { name: metadata.name.to_owned(), about: metadata.summary() }
        });
        let meta = META_RULES
            .iter()
            .map(|(name, about)| RuleName { name: (*name).to_owned(), about: (*about).to_owned() });
        listed.chain(meta).collect()
    }

    fn is_running(&self, process: i32) -> bool {
        let Some(process) = rustix::process::Pid::from_raw(process) else { return true };
        // Whoever may not be asked exists.
        !matches!(rustix::process::test_kill_process(process), Err(rustix::io::Errno::SRCH))
    }

    fn ai_fix(
        &self,
        subject: &Subject<'_>,
        wanted: AiRequest<'_>,
        watch: &dyn AiWatch,
    ) -> AiAnswer {
        let directory = self.directory(subject);
        let rules = self.folders().rules_for(directory, subject.path, subject.open_texts).rules;
        let Some(rules) = rules else {
            return AiAnswer::Unchanged { reason: "the configuration cannot be read".to_owned() };
        };
        let (path, text) = (subject.path, subject.text);
        let text = EditorText { path, directory, text, open_texts: subject.open_texts };
        agent::ask(&rules, &text, wanted.rule, watch)
    }
}
