//! The command line of the audit: the flags of its specification, and what `probity audit` adds.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Subcommand};

use super::flags;
use crate::{
    commands::audit::{self, Options, skills, verify},
    config::{key::Key, table::audit::DEFAULT_SKILLS},
    exit::Exit,
    name::Name,
};

/// The run flags of `trix audit` and `probity audit`.
#[derive(Args, Debug)]
pub(super) struct AuditArgs {
    /// Show each step and the model's answers on stderr
    #[arg(long)]
    ai_logs: bool,
}

/// What `probity audit` has beside the flags of the specification.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ProbityAuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    #[command(flatten)]
    audit: AuditArgs,
    #[command(flatten, next_help_heading = "More options")]
    more: MoreArgs,
}

#[derive(Args, Debug)]
struct MoreArgs {
    /// Continue an interrupted audit: finished skills do not run again
    #[arg(long)]
    resume: bool,
    /// Hide the findings in this file: a state, or an earlier JSON or SARIF report
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Report findings even if a `probity-ignore` comment in the sources accepts them
    #[arg(long)]
    no_ignores: bool,
    /// Ask the model again, in a new conversation, to show that each finding is wrong
    #[arg(long)]
    refute: bool,
    /// Ask the model for an exploit, a control test and a fix for each finding, and run them on copies
    #[arg(long)]
    prove: bool,
    /// Audit only sources that changed since the merge base with REF; the model may read the others
    #[arg(long, value_name = "REF")]
    changed: Option<String>,
    /// Do not use or keep answers of earlier runs
    #[arg(long)]
    no_cache: bool,
}

/// Adds the flags of settings that `probity audit` has.
pub(super) fn with_flags(command: Command) -> Command {
    flags::with_flags(command, Name::Probity, is_of_audit)
}

/// Adds those of `trix audit`.
pub(super) fn with_trix_flags(command: Command) -> Command {
    flags::with_flags(command, Name::Trix, is_of_trix)
}

fn is_of_audit(key: &Key) -> bool {
    key.section() == "audit"
}

fn is_of_trix(key: &Key) -> bool {
    is_of_audit(key) && key.is_in_trix
}

pub(super) fn run(
    args: ProbityAuditArgs,
    matches: &ArgMatches,
    quiet: bool,
) -> anyhow::Result<Exit> {
    match args.command {
        Some(AuditCommand::Skills { command: SkillsCommand::List { skills_dir } }) => {
            skills::list(&skills_dir)
        }
        Some(AuditCommand::Skills { command: SkillsCommand::Show { id, skills_dir } }) => {
            skills::show(&id, &skills_dir)
        }
        Some(AuditCommand::Skills { command: SkillsCommand::Check { dir } }) => skills::check(&dir),
        Some(AuditCommand::Skills { command: SkillsCommand::New { id, skills_dir } }) => {
            skills::new(&id, &skills_dir)
        }
        Some(AuditCommand::Verify(args)) => {
            let VerifyArgs { report, report_out } = args;
            verify::run(&verify::Options { report, report_out, quiet })
        }
        None => audit::run(Options {
            name: Name::Probity,
            profile: None,
            ai_logs: args.audit.ai_logs,
            resume: args.more.resume,
            baseline: args.more.baseline,
            heeds_ignores: !args.more.no_ignores,
            refute: args.more.refute,
            prove: args.more.prove,
            changed: args.more.changed,
            has_cache: !args.more.no_cache,
            quiet,
            flags: flags::layer(matches, is_of_audit)?,
        }),
    }
}

/// The audit under the name `trix`, which needs a project that has this profile.
pub(super) fn run_as_trix(
    profile: String,
    args: &AuditArgs,
    matches: &ArgMatches,
) -> anyhow::Result<Exit> {
    audit::run(Options {
        name: Name::Trix,
        profile: Some(profile),
        ai_logs: args.ai_logs,
        resume: false,
        baseline: None,
        heeds_ignores: true,
        refute: false,
        prove: false,
        changed: None,
        has_cache: false,
        quiet: false,
        flags: flags::layer(matches, is_of_trix)?,
    })
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// Report as JSON, which `probity audit --prove --format json` writes
    report: PathBuf,
    /// Also write a report with the status of each finding: FILE.md, FILE.json, FILE.sarif or
    /// FILE.html
    #[arg(long, value_name = "FILE")]
    report_out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Run the exploits of a report again on today's code, without a model
    #[command(
        after_help = "Examples:\n  probity audit verify vulnerabilities.json\n  probity audit verify vulnerabilities.json --report-out today.html\n\nExit codes: 0 every exploit fails or is accepted, 1 an exploit still succeeds, 2 wrong usage, 3 an exploit no longer runs."
    )]
    Verify(VerifyArgs),
    /// List, show, check and write skills
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum SkillsCommand {
    /// List the skills that an audit would use here
    #[command(
        after_help = "Examples:\n  probity audit skills list\n  probity audit skills list --skills-dir my-skills"
    )]
    List {
        /// Directory of skills, builtin:full or builtin:web; several are combined
        #[arg(long, value_name = "DIR", value_delimiter = ',', default_value = DEFAULT_SKILLS)]
        skills_dir: Vec<String>,
    },
    /// Show what a skill tells the model
    #[command(
        after_help = "Examples:\n  probity audit skills show double-satisfaction-004 --skills-dir builtin:full"
    )]
    Show {
        /// The skill's id
        id: String,
        /// Directory of skills, builtin:full or builtin:web; several are combined
        #[arg(long, value_name = "DIR", value_delimiter = ',', default_value = DEFAULT_SKILLS)]
        skills_dir: Vec<String>,
    },
    /// Check every skill of a directory and list all mistakes
    #[command(after_help = "Examples:\n  probity audit skills check skills/vulnerabilities")]
    Check {
        /// The directory of skills
        dir: PathBuf,
    },
    /// Create a new skill from a template
    #[command(after_help = "Examples:\n  probity audit skills new locked-value-004")]
    New {
        /// The skill's id, for example locked-value-004; it also names the file
        id: String,
        /// The directory it is written to
        #[arg(long, value_name = "DIR", default_value = DEFAULT_SKILLS)]
        skills_dir: PathBuf,
    },
}

pub(super) const EXAMPLES: &str = "Examples:
  probity audit                                    offline detectors over *.ak files
  probity audit --provider openai --jobs 3         with a key in OPENAI_API_KEY
  probity audit --provider ollama --model qwen3    a model on this machine
  probity audit --provider acp --agent gemini      a sandboxed agent
  probity audit --provider openai --skills-dir builtin:full --format sarif --fail-on high
      for CI
  probity audit --provider openai --include 'src/**/*.py' --skills-dir builtin:web
      Python instead of Aiken
  probity audit --provider openai --resume         continue after a failure
  probity audit --provider openai --changed main --refute
      a branch, with a second opinion
  probity audit --provider openai --include 'src/**/*.py' --skills-dir builtin:web --prove
      prove findings with exploits
  probity audit verify vulnerabilities.json        run the exploits of a report again
  probity audit skills check skills/vulnerabilities
      check your own skills

Exit codes: 0 all skills finished, 1 an error, or a finding that reaches --fail-on, 2 wrong usage or no \
provider, 3 probity wrote the report, but a skill did not finish or was not checked.";
