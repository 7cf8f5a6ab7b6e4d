//! The command line of the audit: the flags of its specification, and what `probity audit` adds.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use probity_seat::Sandbox;

use crate::{cli::sandbox, config::duration};

pub(crate) const DEFAULT_REPORT: &str = ".tx3/audit/vulnerabilities.md";
pub(crate) const DEFAULT_SKILLS: &str = "skills/vulnerabilities";

/// The providers of `probity audit`.
pub(crate) const PROVIDERS: &str =
    "Who is asked: scaffold (nobody), openai, anthropic, ollama, acp, command or replay";

/// The flags of the audit, shared by `trix audit` and `probity audit`.
#[derive(Args, Clone, Debug)]
pub(crate) struct AuditArgs {
    /// Where the state of the analysis is kept
    #[arg(long, value_name = "PATH", default_value = ".tx3/audit/state.json")]
    pub(crate) state_out: PathBuf,
    /// Where the report is written
    #[arg(long, value_name = "PATH", default_value = DEFAULT_REPORT)]
    pub(crate) report_out: PathBuf,
    /// The directory of vulnerability skills
    #[arg(long, value_name = "DIR", default_value = DEFAULT_SKILLS)]
    pub(crate) skills_dir: PathBuf,
    /// The analysis provider: scaffold, openai, anthropic or ollama
    #[arg(long, value_name = "NAME", default_value = "scaffold")]
    pub(crate) provider: String,
    /// The provider's endpoint, used as it is
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// The model to ask
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The variable that holds the API key
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// Show each step and the model's answers on stderr
    #[arg(long)]
    pub(crate) ai_logs: bool,
    /// What the model may read
    #[arg(long, value_name = "SCOPE", default_value = "workspace")]
    pub(crate) read_scope: Scope,
    /// Ask before each read
    #[arg(long)]
    pub(crate) interactive_permissions: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Scope {
    Workspace,
    Strict,
}

/// What `probity audit` has beside the flags of the specification.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProbityAuditArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[command(flatten)]
    pub(crate) audit: AuditArgs,
    #[command(flatten)]
    pub(crate) more: MoreArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Beyond trix")]
pub(crate) struct MoreArgs {
    /// The agent of --provider acp (a known NAME or a command), command (the same) or replay (a file)
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Sandbox for an agent that is a process; `auto` refuses if none is available
    #[arg(long, value_name = "KIND", default_value_t, value_parser = sandbox())]
    pub(crate) sandbox: Sandbox,
    /// Pass this variable of yours to the contained agent; may be repeated
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,
    /// Go on where the state ends: finished skills are not asked about again
    #[arg(long)]
    pub(crate) resume: bool,
    /// Skills at the same time
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) jobs: u16,
    /// Tokens of all skills together; nothing is asked any more when they are used up
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: Option<u64>,
    /// The most tokens of one answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// How long one answer may take, all attempts together
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Show line numbers to the model when it reads a file
    #[arg(long)]
    pub(crate) numbered_reads: bool,
    /// Let the model read .git, .env and keys
    #[arg(long)]
    pub(crate) allow_sensitive: bool,
    /// How the report is written
    #[arg(short, long, value_name = "FORMAT", default_value = "markdown")]
    pub(crate) format: Format,
    /// A state or an earlier report as JSON or SARIF; its findings are left out
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Exit with 1 if a verified finding is at least this severe
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Markdown,
    Json,
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List, show, check and write skills
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills that an audit would use here
    #[command(
        after_help = "Examples:\n  probity audit skills list\n  probity audit skills list --skills-dir my-skills"
    )]
    List {
        /// The directory of skills; without it, the embedded ones if there is none here
        #[arg(long, value_name = "DIR", default_value = DEFAULT_SKILLS)]
        skills_dir: PathBuf,
    },
    /// Show what a skill tells the model
    #[command(after_help = "Examples:\n  probity audit skills show strict-address-001")]
    Show {
        /// The skill's id
        id: String,
        /// The directory of skills
        #[arg(long, value_name = "DIR", default_value = DEFAULT_SKILLS)]
        skills_dir: PathBuf,
    },
    /// Check every skill of a directory, and say all that is wrong
    #[command(after_help = "Examples:\n  probity audit skills check skills/vulnerabilities")]
    Check {
        /// The directory of skills
        dir: PathBuf,
    },
    /// Write the beginning of a new skill
    #[command(after_help = "Examples:\n  probity audit skills new locked-value-004")]
    New {
        /// The skill's id, for example locked-value-004; it also names the file
        id: String,
        /// The directory it is written to
        #[arg(long, value_name = "DIR", default_value = DEFAULT_SKILLS)]
        skills_dir: PathBuf,
    },
}

pub(crate) const EXAMPLES: &str = "Examples:
  probity audit                                    the three skills, asking nobody
  probity audit --provider openai --jobs 3         with a key in OPENAI_API_KEY
  probity audit --provider ollama --model qwen3    a model on this machine
  probity audit --provider acp --agent gemini      a contained agent
  probity audit --provider openai --resume         go on after a failure
  probity audit --format sarif --fail-on high      for a pipeline
  probity audit skills check skills/vulnerabilities

Exit codes: 0 every skill is done, 1 an error or a finding at --fail-on, 2 wrong usage,
3 the report is written but a skill failed.";

/// The seed's flags alone, with everything else as it is without flags.
impl Default for MoreArgs {
    fn default() -> Self {
        Self {
            agent: None,
            sandbox: Sandbox::Auto,
            variables: Vec::new(),
            resume: false,
            jobs: 1,
            budget: None,
            max_tokens: None,
            timeout: Duration::from_secs(600),
            numbered_reads: false,
            allow_sensitive: false,
            format: Format::Markdown,
            baseline: None,
            fail_on: None,
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| "expected a time such as 90s, 1m30s or 500ms".to_owned())
}
