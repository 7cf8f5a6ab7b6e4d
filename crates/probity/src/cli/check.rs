//! The flags of `check`, shared by `probity check` and `tally lint`.

use std::path::PathBuf;

use clap::{Args, Command, builder::PossibleValuesParser};
use probity_seat::Sandbox;

use crate::{
    config::{self, FailLevel, ShellcheckMode, SlowChecksMode},
    report::Format,
};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Files, directories, globs, or `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Configuration")]
    pub(crate) configuration: ConfigurationArgs,
    #[command(flatten, next_help_heading = "Rules")]
    pub(crate) rules: RuleArgs,
    #[command(flatten, next_help_heading = "Files")]
    pub(crate) files: FileArgs,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) output: OutputArgs,
    #[command(flatten, next_help_heading = "Fixes")]
    pub(crate) fixes: FixArgs,
    #[command(flatten, next_help_heading = "AI fixes")]
    pub(crate) ai: AiArgs,

    /// The ids of flags that were given as `--flag=false`, which only tally's command line can say.
    #[arg(skip)]
    pub(crate) denied: Vec<String>,
}

impl CheckArgs {
    /// What the command line says about a flag, which is nothing where it is not given.
    pub(crate) fn said(&self, id: &str, given: bool) -> Option<bool> {
        match given {
            true => Some(true),
            false => self.denied.iter().any(|denied| denied == id).then_some(false),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ConfigurationArgs {
    /// Use this file instead of the nearest .tally.toml or tally.toml
    #[arg(short = 'c', long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long)]
    pub(crate) no_config: bool,
    /// Show the effective configuration for FILE, and where each value comes from
    #[arg(long, value_name = "FILE")]
    pub(crate) print_config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct RuleArgs {
    /// Run only these rules: names, `namespace/*`, or `*`, divided by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// Never report these rules; wins over --select
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// List the rules that would run, and stop
    #[arg(long)]
    pub(crate) list_rules: bool,
    /// Most lines that a Dockerfile may have
    #[arg(short = 'l', long, value_name = "N")]
    pub(crate) max_lines: Option<u32>,
    /// Do not count blank lines for --max-lines
    #[arg(long)]
    pub(crate) skip_blank_lines: bool,
    /// Do not count comment lines for --max-lines
    #[arg(long)]
    pub(crate) skip_comments: bool,
    /// Take no notice of ignore directives in the files
    #[arg(long)]
    pub(crate) no_inline_directives: bool,
    /// Report directives that suppress nothing
    #[arg(long)]
    pub(crate) warn_unused_directives: bool,
    /// Report directives that give no reason
    #[arg(long)]
    pub(crate) require_reason: bool,
    /// Who checks the shell of RUN instructions: this program, an installed shellcheck, or nobody
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(ShellcheckMode::WORDS))]
    pub(crate) shellcheck: Option<String>,
    /// Whether rules may ask registries (`on` is not built yet)
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(SlowChecksMode::WORDS))]
    pub(crate) slow_checks: Option<String>,
    /// Time for all slow checks together (not built yet)
    #[arg(long, value_name = "DURATION")]
    pub(crate) slow_checks_timeout: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct FileArgs {
    /// Leave out files that match this glob
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// The build context, for rules that look into it
    #[arg(long, value_name = "DIR")]
    pub(crate) context: Option<PathBuf>,
    /// The name that standard input (`-`) goes by in reports and in the search for a configuration
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin_filename: Option<PathBuf>,
    /// Files to check at the same time; 0 is one for each processor
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// How findings are written
    #[arg(short = 'f', long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Where findings go: stdout (or `-`), stderr, or a file
    #[arg(short = 'o', long, value_name = "PATH")]
    pub(crate) output: Option<String>,
    /// Show the lines that a finding is about
    #[arg(long)]
    pub(crate) show_source: bool,
    /// Leave these lines out; wins over --show-source
    #[arg(long)]
    pub(crate) hide_source: bool,
    /// Show secrets that were found instead of stars
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// No colours, whatever the terminal can do
    #[arg(long)]
    pub(crate) no_color: bool,
    /// The least severity that makes the exit code 1
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(FailLevel::WORDS))]
    pub(crate) fail_level: Option<String>,
    /// Count findings by rule instead of listing them, as text or JSON
    #[arg(long)]
    pub(crate) statistics: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FixArgs {
    /// Apply safe fixes
    #[arg(long)]
    pub(crate) fix: bool,
    /// Apply suggestions and unsafe fixes too
    #[arg(long)]
    pub(crate) fix_unsafe: bool,
    /// Apply the fixes of these rules only
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) fix_rule: Vec<String>,
    /// Show what would be fixed as a diff and write nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Admit AI fixes, and no other unsafe ones
    #[arg(long)]
    pub(crate) fix_ai: bool,
}

#[derive(Args, Debug)]
pub(crate) struct AiArgs {
    /// Let an agent propose fixes; it may send the file to third parties
    #[arg(long)]
    pub(crate) ai: bool,
    /// The agent's command line; implies --ai
    #[arg(long, value_name = "COMMAND")]
    pub(crate) acp_command: Option<String>,
    /// Time for the AI fixes of one file
    #[arg(long, value_name = "DURATION")]
    pub(crate) ai_timeout: Option<String>,
    /// Most bytes of a prompt
    #[arg(long, value_name = "BYTES")]
    pub(crate) ai_max_input_bytes: Option<u64>,
    /// Deprecated: true means `ai.secrets-policy = "deny"`, false means `"allow"`
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = switch
    )]
    pub(crate) ai_redact_secrets: Option<bool>,
    /// What contains the agent
    #[arg(long, value_name = "SANDBOX", value_parser = PossibleValuesParser::new(Sandbox::WORDS))]
    pub(crate) ai_sandbox: Option<String>,
    /// Write prompts and answers to this file, without secrets
    #[arg(long, value_name = "FILE")]
    pub(crate) ai_trace: Option<PathBuf>,
    /// Show what would be sent, to whom and contained by what; ask no agent
    #[arg(long)]
    pub(crate) ai_dry_run: bool,
}

/// The flags whose defaults are those of a configuration's keys.
const CONFIGURED: &[(&str, &str)] = &[
    ("format", "output.format"),
    ("output", "output.path"),
    ("fail_level", "output.fail-level"),
    ("shellcheck", "shellcheck.mode"),
    ("ai_timeout", "ai.timeout"),
    ("ai_max_input_bytes", "ai.max-input-bytes"),
    ("ai_sandbox", "ai.sandbox"),
];

/// Tells the defaults that come from the table of keys, and not from the command line itself.
pub(crate) fn with_defaults(command: Command) -> Command {
    CONFIGURED.iter().fold(command, |command, (flag, key)| {
        command.mut_arg(flag, |arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let default = config::keys::find(key).and_then(|key| key.default).unwrap_or_default();
            arg.help(format!("{help} [default: {default}]"))
        })
    })
}

/// Reads a switch's value as tally does.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err("neither `true` nor `false`".to_owned()),
    }
}
