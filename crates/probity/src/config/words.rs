//! The words of the choices that settings have, and the choices that only settings know.

use probity_agent::ChatKind;
use probity_audit::{ExploitLevel, ReadScope, Risk};
use probity_autofix::{Expect, SecretsPolicy};
pub(crate) use probity_check::{RuleSeverity, ShellcheckMode, SlowChecksMode};
use probity_finding::{Applicability, Severity};
pub(crate) use probity_image::Level as ProofLevel;
use probity_lint::{FixMode, Preset};
use probity_proof::Level;
use probity_report::{Format, review::ReviewFormat};
pub(crate) use probity_seat::Sandbox;

use super::word::words;

/// From which severity on findings make the run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailLevel {
    Error,
    Warning,
    Info,
    Style,
    None,
}

impl FailLevel {
    /// The least severity that fails; none when nothing does.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Style => Some(Severity::Style),
            Self::None => None,
        }
    }
}

/// From which severity on one proven issue makes a review fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailRisk {
    Low,
    Medium,
    High,
    Critical,
    None,
}

impl FailRisk {
    /// The least severity that fails; none if the score alone decides.
    pub(crate) fn least(self) -> Option<probity_review::Risk> {
        use probity_review::Risk;

        match self {
            Self::Low => Some(Risk::Low),
            Self::Medium => Some(Risk::Medium),
            Self::High => Some(Risk::High),
            Self::Critical => Some(Risk::Critical),
            Self::None => None,
        }
    }
}

/// How much of the build context an agent gets to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AiContext {
    None,
    Snapshot,
    ReadOnly,
}

/// How far the proof of a fix goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// As far as this machine can.
    Auto,
    Static,
    Build,
    Run,
}

/// How an audit's report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditFormat {
    Markdown,
    Json,
    Sarif,
    Html,
}

/// Which findings of an audit make the run fail: from a severity on, and from a level on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditFailOn {
    Low,
    Medium,
    High,
    Critical,
    Exploited,
    MediumExploited,
    HighExploited,
    CriticalExploited,
    Fixed,
    MediumFixed,
    HighFixed,
    CriticalFixed,
}

impl AuditFailOn {
    /// The least severity and the least level that fail.
    pub(crate) fn bar(self) -> (Risk, ExploitLevel) {
        let risk = match self {
            Self::Low | Self::Exploited | Self::Fixed => Risk::Low,
            Self::Medium | Self::MediumExploited | Self::MediumFixed => Risk::Medium,
            Self::High | Self::HighExploited | Self::HighFixed => Risk::High,
            Self::Critical | Self::CriticalExploited | Self::CriticalFixed => Risk::Critical,
        };
        let level = match self {
            Self::Low | Self::Medium | Self::High | Self::Critical => ExploitLevel::Quoted,
            Self::Exploited
            | Self::MediumExploited
            | Self::HighExploited
            | Self::CriticalExploited => ExploitLevel::Exploited,
            Self::Fixed | Self::MediumFixed | Self::HighFixed | Self::CriticalFixed => {
                ExploitLevel::ExploitedAndFixed
            }
        };
        (risk, level)
    }
}

/// What a contained process can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkMode {
    Open,
    /// Some hosts, through a proxy.
    Allowlist,
    None,
}

/// Which sessions of an editor have a process in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentProcess {
    Session,
    Workspace,
}

/// Who runs the commands for which a contained agent wants a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminals {
    /// Nobody: the agent runs them itself, contained.
    None,
    /// The editor, on the host and with all its rights.
    Editor,
}

/// Who reads and writes files for a sandboxed agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditorFiles {
    /// Nobody: the agent does it itself, sandboxed.
    None,
    /// The editor, which a link that changes at the right moment can lead out of the workspace.
    Editor,
}

words! {
    Format {
        Text = "text", Json = "json", Sarif = "sarif", GithubActions = "github-actions",
        Markdown = "markdown", Checkstyle = "checkstyle", Codeclimate = "codeclimate",
        Gitlab = "gitlab", Junit = "junit", Gnu = "gnu", Sonarqube = "sonarqube",
    }
    ReviewFormat {
        Text = "text", Json = "json", Markdown = "markdown", Html = "html", Sarif = "sarif", Junit = "junit",
        Gitlab = "gitlab", GithubActions = "github-actions",
    }
    FailLevel { Error = "error", Warning = "warning", Info = "info", Style = "style", None = "none" }
    FailRisk {
        Low = "low", Medium = "medium", High = "high", Critical = "critical", None = "none",
    }
    RuleSeverity {
        Off = "off", Error = "error", Warning = "warning", Info = "info", Style = "style",
    }
    Applicability { Safe = "safe", Suggestion = "suggestion", Unsafe = "unsafe" }
    Preset { Recommended = "recommended", Strict = "strict", All = "all" }
    ShellcheckMode { Native = "native", Binary = "binary", Off = "off" }
    Sandbox {
        Auto = "auto", Bubblewrap = "bwrap", Docker = "docker", Podman = "podman",
        Landlock = "landlock", None = "none",
    }
    ChatKind { OpenAi = "openai", Anthropic = "anthropic", Ollama = "ollama" }
    AiContext { None = "none", Snapshot = "snapshot", ReadOnly = "read-only" }
    Proof { Auto = "auto", Static = "static", Build = "build", Run = "run" }
    ProofLevel { Static = "static", Build = "build", Run = "run" }
    SlowChecksMode { Auto = "auto", On = "on", Off = "off" }
    FixMode {
        Never = "never", Explicit = "explicit", Always = "always", UnsafeOnly = "unsafe-only",
    }
    SecretsPolicy { Deny = "deny", Allow = "allow", Tokenize = "tokenize" }
    Expect { Patch = "patch", Dockerfile = "dockerfile" }
    ReadScope { Workspace = "workspace", Strict = "strict" }
    AuditFormat { Markdown = "markdown", Json = "json", Sarif = "sarif", Html = "html" }
    NetworkMode { Open = "open", Allowlist = "allowlist", None = "none" }
    AgentProcess { Session = "session", Workspace = "workspace" }
    Terminals { None = "none", Editor = "editor" }
    EditorFiles { None = "none", Editor = "editor" }
    Level { Fails = "P1", Depends = "P2", Flips = "P3" }
    AuditFailOn {
        Low = "low", Medium = "medium", High = "high", Critical = "critical",
        Exploited = "exploited", MediumExploited = "medium:exploited",
        HighExploited = "high:exploited", CriticalExploited = "critical:exploited",
        Fixed = "exploited-and-fixed", MediumFixed = "medium:exploited-and-fixed",
        HighFixed = "high:exploited-and-fixed", CriticalFixed = "critical:exploited-and-fixed",
    }
}
