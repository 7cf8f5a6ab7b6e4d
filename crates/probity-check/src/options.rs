//! What files are checked with. Whoever reads a configuration or a command line fills it in.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use probity_finding::{Applicability, Severity};
use probity_lint::{DirectiveOptions, FixMode, OptionValue, OwnRule, Preset};

/// What holds for the files of one configuration.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub rules: RuleOptions,
    pub directives: DirectiveOptions,
    /// In bytes; 0 means no limit but the hard one.
    pub max_file_size: u64,
    /// The build context, where one is named.
    pub context: Option<PathBuf>,
    /// From which severity on findings fail the run; none if nothing does.
    pub fail_from: Option<Severity>,
    pub slow_checks: SlowCheckOptions,
    pub fixes: FixChoice,
    pub ai: AiOptions,
}

/// Which rules run, and how.
#[derive(Clone, Debug)]
pub struct RuleOptions {
    pub start: RuleStart,
    /// Rules of the configuration's own.
    pub own: Vec<Arc<OwnRule>>,
    pub shellcheck: ShellcheckMode,
    /// For one run of an installed ShellCheck.
    pub shellcheck_timeout: Duration,
    /// Names and patterns of rules that a configuration adds.
    pub included: Vec<String>,
    /// Those that the command line wants, and no others besides.
    pub selected: Vec<String>,
    /// Names and patterns of rules that a configuration leaves out.
    pub excluded: Vec<String>,
    /// Those that the command line leaves out.
    pub ignored: Vec<String>,
    /// Settings of single rules, by full name.
    pub single: BTreeMap<String, SingleRule>,
    /// The secrets that may stand in a file.
    pub allowed_secrets: probity_secrets::Options,
    /// The same without what the repository allows: it must not decide what is sent to an agent.
    pub sendable_secrets: probity_secrets::Options,
}

/// The rules that run before anybody has said anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStart {
    Preset(Preset),
    /// As tally has them; what is left out there spares what is included.
    Tally,
}

/// The settings of one rule.
#[derive(Clone, Debug, Default)]
pub struct SingleRule {
    pub severity: Option<RuleSeverity>,
    /// When its fixes may be applied.
    pub fix: Option<FixMode>,
    /// Globs, relative to the working directory.
    pub exclude_paths: Vec<String>,
    /// Only what was set; defaults are the rule's own business.
    pub options: BTreeMap<String, OptionValue>,
}

/// What a configuration says about the severity of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSeverity {
    Off,
    Error,
    Warning,
    Info,
    Style,
}

impl RuleSeverity {
    /// The severity to report with; none when the rule is off.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Style => Some(Severity::Style),
        }
    }
}

/// Where ShellCheck's findings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellcheckMode {
    /// From this program itself, with no other one.
    Native,
    /// From an installed ShellCheck.
    Binary,
    Off,
}

/// Checks that ask a registry.
#[derive(Clone, Debug)]
pub struct SlowCheckOptions {
    pub mode: SlowChecksMode,
    /// For all of a run together.
    pub timeout: Duration,
    /// Files that already have an error are not looked up.
    pub fail_fast: bool,
    /// `registry=mirror`, or `mirror` for Docker Hub.
    pub mirrors: Vec<String>,
    /// Registries that are asked without TLS.
    pub insecure_registries: Vec<String>,
}

/// Whether checks that ask a registry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowChecksMode {
    /// On, except under continuous integration.
    Auto,
    On,
    Off,
}

/// Which fixes may be applied.
#[derive(Clone, Debug)]
pub struct FixChoice {
    /// The least safe ones.
    pub ceiling: Applicability,
    /// Only those of these rules; of all where it is empty.
    pub only: Vec<String>,
}

/// What agents are asked for.
#[derive(Clone, Copy, Debug)]
pub struct AiOptions {
    /// Whether an agent may propose fixes.
    pub is_enabled: bool,
    /// Whether an agent sees anything of the build context.
    pub sees_context: bool,
    /// Whether the unsafe fixes of rules are proven as those of agents are.
    pub proves_rules: bool,
    pub session: probity_autofix::Settings,
}

/// What one run does with every file.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    pub fixes: FixHandling,
    /// Agents' fixes are within the ceiling, whatever it is.
    pub admits_ai_fixes: bool,
    /// What would be sent to agents is shown, and nobody is asked.
    pub is_dry_run: bool,
    /// An agent is asked for problems.
    pub detects: bool,
}

impl RunOptions {
    /// Findings with their fixes, and nobody is asked.
    pub(crate) const LOOK: Self = Self {
        fixes: FixHandling::Offer,
        admits_ai_fixes: false,
        is_dry_run: false,
        detects: false,
    };
}

/// What happens to fixes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixHandling {
    /// They are shown in reports that can show them.
    Offer,
    /// They are applied, and the files are written.
    Write,
    /// They are shown as a diff.
    Diff,
}
