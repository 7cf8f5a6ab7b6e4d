//! The flags of `check`, shared by `probity check` and `tally lint`.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command};
use probity_check::builds::ChosenBuilds;
use probity_report::Detail;

use super::flags;
use crate::{
    commands::check::Options,
    config::{
        Catalogue, Choice, ConfigError, Layer, Origin, Value,
        key::{self, Key},
        words::{AiContext, SlowChecksMode},
    },
    failure::Failure,
    name::Name,
};

/// The flags that are about a run and not about settings.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Dockerfiles, directories, globs, Compose or Bake files, or `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Configuration")]
    configuration: ConfigurationArgs,
    #[command(flatten, next_help_heading = "Rules")]
    rules: RuleArgs,
    #[command(flatten, next_help_heading = "Files")]
    files: FileArgs,
    #[command(flatten, next_help_heading = "Output")]
    output: OutputArgs,
    #[command(flatten, next_help_heading = "Fixes")]
    fixes: FixArgs,
    #[command(flatten, next_help_heading = "AI fixes")]
    ai: AiArgs,
}

#[derive(Args, Debug)]
struct ConfigurationArgs {
    /// Use this file instead of the nearest one
    #[arg(short = 'c', long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long)]
    no_config: bool,
    /// Show the effective settings for FILE, and where each value comes from
    #[arg(long, value_name = "FILE")]
    print_config: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct RuleArgs {
    /// List the rules that would run, and stop
    #[arg(long)]
    list_rules: bool,
    /// Maximum number of lines in a Dockerfile
    #[arg(short = 'l', long, value_name = "N", allow_negative_numbers = true, value_parser = crate::cli::whole::<u32>)]
    max_lines: Option<u32>,
    /// Do not count blank lines for --max-lines
    #[arg(long)]
    skip_blank_lines: bool,
    /// Do not count comment lines for --max-lines
    #[arg(long)]
    skip_comments: bool,
}

#[derive(Args, Debug)]
struct FileArgs {
    /// Report and fix only findings on lines that changed since the merge base with REF
    #[arg(long, value_name = "REF")]
    changed: Option<String>,
    /// Write all findings to FILE for --baseline, and report nothing
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Check again when a file or a configuration changes
    #[arg(long)]
    watch: bool,
    /// File name for standard input (`-`), for reports and for the search for a configuration file
    #[arg(long, value_name = "PATH")]
    stdin_filename: Option<PathBuf>,
    /// Check only this target or group of a Bake file
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Check only this service of a Compose file
    #[arg(long, value_name = "NAME")]
    service: Vec<String>,
    /// Number of files to check at the same time; 0 means one for each processor
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = crate::cli::whole::<usize>)]
    jobs: usize,
}

#[derive(Args, Debug)]
struct OutputArgs {
    /// Show detected secrets instead of asterisks
    #[arg(long)]
    show_secrets: bool,
    /// Count findings by rule instead of listing them, as text or JSON
    #[arg(long)]
    statistics: bool,
}

#[derive(Args, Debug)]
struct FixArgs {
    /// Show the fixes as a diff and write nothing
    #[arg(long)]
    diff: bool,
    /// Write the digest of each base image (`image:tag@sha256:…`) and apply no other fix
    #[arg(long)]
    pin: bool,
    /// Show renewed digests of pinned base images as a diff; with --fix, write them
    #[arg(long)]
    update_pins: bool,
    /// With --fix or --diff: apply AI fixes, but no other unsafe fixes
    #[arg(long)]
    fix_ai: bool,
}

#[derive(Args, Debug)]
struct AiArgs {
    /// Write prompts and answers to this file, without secrets
    #[arg(long, value_name = "FILE")]
    ai_trace: Option<PathBuf>,
    /// Show what would be sent, to whom and in which sandbox; ask no agent
    #[arg(long)]
    ai_dry_run: bool,
    /// Ask the agent for problems that no rule finds, and report them as `ai/NAME`
    #[arg(long)]
    ai_detect: bool,
    /// Let the agent read files of the build context over ACP, as `ai.context = "read-only"` does
    #[arg(long)]
    ai_allow_fs: bool,
}

/// Adds the flags of settings.
pub(super) fn with_flags(command: Command) -> Command {
    flags::with_flags(command, Name::Probity, is_of_check)
}

/// The same under the name tally, which has no presets.
pub(super) fn with_tally_flags(command: Command) -> Command {
    flags::with_flags(command, Name::Tally, |key| is_of_check(key) && key.is_in_tally())
}

fn is_of_check(key: &Key) -> bool {
    matches!(key.section(), "check" | "ai")
}

/// What a command line asks for.
pub(super) fn options(
    name: Name,
    args: CheckArgs,
    matches: &ArgMatches,
    detail: Detail,
) -> anyhow::Result<Options> {
    let ConfigurationArgs { config, no_config, print_config } = args.configuration;
    let choice = match (config, no_config) {
        (Some(_), true) => {
            let what = "--config and --no-config cannot be used together";
            return Err(Failure::new(what, "give one of them").into());
        }
        (None, true) => Choice::None,
        (config, false) => config.map_or(Choice::Nearest, Choice::This),
    };
    let mut flags = layer(&args.rules, matches)?;
    if args.ai.ai_allow_fs {
        let origin = Origin::Flag { name: "--ai-allow-fs".to_owned() };
        flags.set(&key::ai::context, &AiContext::ReadOnly, origin);
    }
    // Whoever asks for new digests beside others gets both in one way.
    let is_writing = args.fixes.pin || flags.settings.contains_key(key::check::fix.key.path);
    pin_layer(&mut flags, &args.fixes)?;
    Ok(Options {
        name,
        paths: args.paths,
        choice,
        print_config,
        list_rules: args.rules.list_rules,
        stdin_filename: args.files.stdin_filename,
        changed: args.files.changed,
        write_baseline: args.files.write_baseline,
        watch: args.files.watch,
        builds: ChosenBuilds { targets: args.files.target, services: args.files.service },
        jobs: args.files.jobs,
        show_secrets: args.output.show_secrets,
        statistics: args.output.statistics,
        detail,
        diff: args.fixes.diff || (args.fixes.update_pins && !is_writing),
        is_pinning: args.fixes.pin || args.fixes.update_pins,
        fix_ai: args.fixes.fix_ai,
        ai_trace: args.ai.ai_trace,
        ai_dry_run: args.ai.ai_dry_run,
        ai_detect: args.ai.ai_detect,
        flags,
    })
}

/// `tally analyze`: what it stands for is asked for by a flag of its own.
pub(super) fn analyzing(options: Options) -> anyhow::Result<Options> {
    let enabled = options.flags.settings.get(key::ai::enabled.key.path);
    let is_asked = enabled.is_some_and(|setting| setting.value == Value::Bool(true));
    if !is_asked {
        let way_out = "add --ai, or use `tally lint` to run the rules alone";
        return Err(Failure::new("analyze asks an AI agent, and --ai is missing", way_out).into());
    }
    Ok(Options { ai_detect: true, ..options })
}

/// What `--pin` and `--update-pins` stand for: look-ups, and the fixes of the rules about digests.
fn pin_layer(layer: &mut Layer, fixes: &FixArgs) -> Result<(), ConfigError> {
    let rules = [
        (fixes.pin, "--pin", "probity/from-without-digest"),
        (fixes.update_pins, "--update-pins", "probity/outdated-digest"),
    ];
    let asked: Vec<_> = rules.into_iter().filter(|(is_asked, ..)| *is_asked).collect();
    let Some((_, flag, _)) = asked.first() else { return Ok(()) };
    let origin = || Origin::Flag { name: (*flag).to_owned() };
    // A severity enables a rule in every preset.
    for (_, flag, rule) in &asked {
        layer.flag_rule(&Catalogue::shipped(), flag, (rule, "severity"), "info")?;
    }
    let rules = asked.iter().map(|(_, _, rule)| (*rule).to_owned()).collect();
    layer.set(&key::check::fix, &true, origin());
    layer.set(&key::check::fix_rule, &rules, origin());
    layer.set(&key::check::slow_checks::mode, &SlowChecksMode::On, origin());
    // Another base is more than a safe fix; no other rule is admitted.
    layer.set(&key::check::unsafe_fixes, &Some(true), origin());
    Ok(())
}

fn layer(rules: &RuleArgs, matches: &ArgMatches) -> Result<Layer, ConfigError> {
    let mut layer = flags::layer(matches, is_of_check)?;
    let says_nothing = !layer.settings.contains_key(key::ai::enabled.key.path);
    if layer.settings.contains_key(key::ai::command.key.path) && says_nothing {
        // Whoever names an agent wants it asked, unless the same command line says no.
        let origin = Origin::Flag { name: "--acp-command".to_owned() };
        layer.set(&key::ai::enabled, &true, origin);
    }
    let switch = |id: &str| flags::switch_given(matches, id).map(|is_on| is_on.to_string());
    let max_lines = [
        ("--max-lines", "max", rules.max_lines.map(|lines| lines.to_string())),
        ("--skip-blank-lines", "skip-blank-lines", switch("skip_blank_lines")),
        ("--skip-comments", "skip-comments", switch("skip_comments")),
    ];
    for (flag, option, value) in max_lines {
        if let Some(value) = value {
            let rule = ("tally/max-lines", option);
            layer.flag_rule(&Catalogue::shipped(), flag, rule, &value)?;
        }
    }
    Ok(layer)
}

/// Reads a switch's value as tally does.
pub(crate) fn switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(false),
        _ => Err("neither `true` nor `false`"),
    }
}
