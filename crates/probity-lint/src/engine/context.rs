//! What a rule gets to see: the file, the facts about it, and the rule's own settings.

use std::{borrow::Cow, collections::BTreeMap};

use probity_dockerfile::{
    Arguments, Base, Dockerfile, Dockerignore, Facts, Instruction, Keyword, PackageCall, Stage,
    Text,
};
use probity_finding::{Finding, Fix, Objective, Span};
use probity_secrets::FindSecrets;
use probity_shell::Script;

use crate::{
    BaseImages, BuildUses, ContextFiles, LintOptions,
    engine::{
        rule::{MAX_CHURN, Metadata, OptionValue, SecretMount},
        ruleset::RuleChoice,
    },
};

/// Longer evidence would not be read, and goes into a prompt.
const LONGEST_EVIDENCE: usize = 120;

/// One rule's view of one file.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) file: &'a Dockerfile<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) uses: Option<&'a BuildUses>,
    pub(crate) dockerignore: Option<&'a Dockerignore>,
    pub(crate) context_files: Option<&'a ContextFiles>,
    pub(crate) base_images: Option<&'a BaseImages>,
    pub(crate) secrets: Option<&'a dyn FindSecrets>,
    metadata: &'static Metadata,
    choice: &'a RuleChoice,
    reads_defaults: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        file: &'a Dockerfile<'a>,
        facts: &'a Facts,
        options: &LintOptions<'a>,
        metadata: &'static Metadata,
        choice: &'a RuleChoice,
    ) -> Self {
        let LintOptions { uses, dockerignore, context_files, base_images, secrets, .. } = *options;
        Self {
            file,
            facts,
            uses,
            dockerignore,
            context_files,
            base_images,
            secrets,
            metadata,
            choice,
            reads_defaults: options.rules.reads_defaults(),
        }
    }

    /// The value that a rule may judge: that of any build, or of the build that the facts are about.
    /// Other programs do not look at defaults, so their names do not either.
    pub(crate) fn value<'t>(&self, text: &'t Text) -> Option<&'t str> {
        if self.reads_defaults { text.value.as_deref() } else { text.constant_value() }
    }

    /// Whether rules look behind variables that hadolint takes as they are written.
    pub(crate) fn reads_variables(&self) -> bool {
        self.reads_defaults || self.uses.is_some()
    }

    /// The instructions of one kind with their indices, without those behind `ONBUILD`.
    pub(crate) fn each(
        &self,
        keyword: Keyword,
    ) -> impl Iterator<Item = (usize, &'a Instruction)> + use<'a> {
        let all = self.file.instructions.iter().enumerate();
        all.filter(move |(_, instruction)| instruction.keyword == keyword)
    }

    /// The `RUN` instructions with their indices, those behind `ONBUILD` included.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &'a Instruction)> + use<'a> {
        self.each_nested().filter(|(_, instruction)| instruction.keyword == Keyword::Run)
    }

    /// The instruction of this index, or the one behind its `ONBUILD`.
    pub(crate) fn innermost(&self, index: usize) -> Option<&'a Instruction> {
        let instruction = self.file.instructions.get(index)?;
        match &instruction.arguments {
            Arguments::Onbuild(nested) => nested.as_deref(),
            _ => Some(instruction),
        }
    }

    /// Every instruction with its index; one behind `ONBUILD` follows its `ONBUILD`, with the same
    /// index.
    pub(crate) fn each_nested(&self) -> impl Iterator<Item = (usize, &'a Instruction)> + use<'a> {
        self.file.instructions.iter().enumerate().flat_map(|(index, instruction)| {
            let nested = match &instruction.arguments {
                Arguments::Onbuild(nested) => nested.as_deref(),
                _ => None,
            };
            std::iter::once((index, instruction)).chain(nested.map(|nested| (index, nested)))
        })
    }

    /// Whether an instruction is an `ONBUILD`, which runs in images that are built with this one.
    pub(crate) fn is_trigger(&self, index: usize) -> bool {
        self.file
            .instructions
            .get(index)
            .is_some_and(|instruction| instruction.keyword == Keyword::Onbuild)
    }

    /// A stage and the stages that it is based on, from the top down.
    pub(crate) fn with_bases<'s>(
        &self,
        stage: &'s Stage,
    ) -> impl Iterator<Item = &'s Stage> + use<'s, 'a>
    where
        'a: 's,
    {
        let stages = self.facts.stages();
        std::iter::successors(Some(stage), move |stage| match stage.base {
            Base::Stage(base) => stages.get(base),
            _ => None,
        })
    }

    /// The shell texts of an instruction.
    pub(crate) fn scripts(&self, instruction: usize) -> &'a [Script] {
        self.facts.scripts(self.file, instruction)
    }

    /// The calls of package managers in an instruction.
    pub(crate) fn package_calls(&self, instruction: usize) -> &'a [PackageCall] {
        self.facts.package_calls(self.file, instruction)
    }

    /// The same in any shell, PowerShell and cmd included; their commands are those of
    /// [`Script::all_commands`].
    pub(crate) fn all_package_calls(&self, instruction: usize) -> Vec<Cow<'a, PackageCall>> {
        let of_windows = self.facts.windows_package_calls(self.file, instruction);
        let calls = self.package_calls(instruction).iter().map(Cow::Borrowed);
        calls.chain(of_windows.into_iter().map(Cow::Owned)).collect()
    }

    /// A finding of this rule at `span`, with the severity in force.
    pub(crate) fn finding(&self, span: Span, message: impl Into<String>) -> Finding {
        self.completed(Finding::new(self.metadata.name, self.choice.severity, span, message))
    }

    /// A finding about the file as a whole.
    pub(crate) fn finding_of_file(&self, message: impl Into<String>) -> Finding {
        self.completed(Finding::of_file(self.metadata.name, self.choice.severity, message))
    }

    /// Whether a build gives this name to an additional context. Such a name is not an image.
    pub(crate) fn is_build_context(&self, name: &str) -> bool {
        self.facts.is_build_context(name)
    }

    fn completed(&self, mut finding: Finding) -> Finding {
        // A rule that is several elsewhere says itself which one it means.
        if let [alias] = self.metadata.equals {
            finding.alias = Some(alias);
        }
        match self.metadata.url {
            Some(url) => finding.with_docs(url),
            None => finding,
        }
    }

    /// The text itself on one line, as short as evidence can be quoted.
    pub(crate) fn quoted(&self, span: Span) -> String {
        let text = span.slice(self.file.text).unwrap_or_default().replace('\\', " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(LONGEST_EVIDENCE) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
            None => line,
        }
    }

    /// An integer option; zero where the rule declares no such option.
    pub(crate) fn integer(&self, name: &str) -> i64 {
        match self.option(name) {
            Some(OptionValue::Integer(value)) => *value,
            _ => self.default(name).and_then(|text| text.parse().ok()).unwrap_or_default(),
        }
    }

    /// How much of the file an agent may change, by the option of that name; 0 means all of it.
    pub(crate) fn max_churn(&self) -> Option<u32> {
        u32::try_from(self.integer(MAX_CHURN)).ok().filter(|&percent| percent > 0)
    }

    /// A fix that an agent proposes, for an objective without signals.
    pub(crate) fn fix_by_agent(
        &self,
        kind: &'static str,
        title: &'static str,
        priority: i32,
    ) -> Fix {
        let max_churn = self.max_churn();
        let objective = Objective { kind, score: 1, signals: Vec::new(), max_churn };
        Fix::by_agent(title, priority, objective)
    }

    /// A switch; false where the rule declares no such option.
    pub(crate) fn boolean(&self, name: &str) -> bool {
        match self.option(name) {
            Some(OptionValue::Boolean(value)) => *value,
            _ => self.default(name) == Some("true"),
        }
    }

    /// A word out of a closed choice; empty where the rule declares no such option.
    pub(crate) fn word(&self, name: &str) -> &str {
        match self.option(name) {
            Some(OptionValue::Text(word)) => word,
            _ => self.default(name).unwrap_or_default(),
        }
    }

    /// A list; empty where the rule declares no such option.
    pub(crate) fn list(&self, name: &str) -> &[String] {
        match self.option(name) {
            Some(OptionValue::TextList(values)) => values,
            _ => &[],
        }
    }

    /// Secrets; none where the rule declares no such option.
    pub(crate) fn secret_mounts(&self, name: &str) -> &[SecretMount] {
        match self.option(name) {
            Some(OptionValue::SecretMounts(mounts)) => mounts,
            _ => &[],
        }
    }

    fn option(&self, name: &str) -> Option<&OptionValue> {
        let options: &BTreeMap<String, OptionValue> = &self.choice.options;
        options.get(name)
    }

    fn default(&self, name: &str) -> Option<&'static str> {
        self.metadata.options.iter().find(|spec| spec.name == name).map(|spec| spec.default)
    }
}
