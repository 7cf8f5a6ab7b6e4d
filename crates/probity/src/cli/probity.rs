//! The name `probity`: the whole tool.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use probity_report::Detail;

use crate::{
    cli::{
        acp, acp_setup, agent, audit,
        cai::{ExecArgs, exec_examples},
        check::{self, CheckArgs},
        color::ColorArgs,
        config, image, manual, matches, names, print_help, review, rules, words,
    },
    commands::{self, doctor::Runners},
    config::words::Sandbox,
    exit::Exit,
    logging::{self, Loudness},
    name::Name,
    screen,
};

/// AI agents check and fix your code, and nothing they say counts until it is proven.
#[derive(Debug, Parser)]
#[command(name = "probity", disable_help_subcommand = true)]
struct Probity {
    /// Print version; with --verbose also commit, features and target
    #[arg(short = 'V', long)]
    version: bool,
    #[command(flatten)]
    loudness: LoudnessArgs,
    #[command(flatten)]
    color: ColorArgs,
    #[command(subcommand)]
    command: Option<ProbityCommand>,
}

#[derive(Args, Debug)]
struct LoudnessArgs {
    /// Use verbose output (repeat for more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    verbose: u8,
    /// Print results and errors only: no summaries, warnings or progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum ProbityCommand {
    /// Lint Dockerfiles and fix them; ask an agent for fixes that no rule can make
    #[command(visible_alias = "lint", after_help = CHECK_EXAMPLES, args_override_self = true)]
    Check(Box<CheckArgs>),
    /// List the rules
    #[command(
        after_help = "Examples:\n  probity rules\n  probity rules --format json\n  probity rules test"
    )]
    Rules(rules::RulesArgs),
    /// Show the manual page of a rule
    #[command(
        after_help = "Examples:\n  probity explain buildkit/StageNameCasing\n  probity explain DL3008"
    )]
    Explain {
        /// The rule's name, with or without its namespace
        rule: String,
    },
    /// Serve an editor over the Language Server Protocol: findings, fixes, hovers, completion
    // Clients add `--stdio` to arguments that have it already.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  probity lsp\n  probity lsp --stdio\n\nEditors start this \
            command themselves; `probity explain RULE` prints the page that a hover shows."
    )]
    Lsp {
        /// Use standard input and output, which is the only transport
        #[arg(long)]
        stdio: bool,
    },
    /// Audit smart contracts and other code for vulnerabilities, with a model or offline
    #[command(after_help = audit::EXAMPLES)]
    Audit(Box<audit::ProbityAuditArgs>),
    /// Review a change with an agent; a defect counts only if a fix makes its failing test pass
    #[command(after_help = review::EXAMPLES)]
    Review(Box<review::ReviewArgs>),
    /// Serve an editor over the Agent Client Protocol and sandbox its agents
    #[command(after_help = acp::EXAMPLES)]
    Acp(acp_setup::ProbityAcpArgs),
    /// Run a command in a sandbox with this workspace but none of your other files
    #[command(after_help = exec_examples("probity"))]
    Exec(ExecArgs),
    /// Ask, list, record and replay agents
    #[command(after_help = agent::EXAMPLES)]
    Agent {
        #[command(subcommand)]
        command: agent::AgentCommand,
    },
    /// Compare images
    #[command(after_help = image::EXAMPLES)]
    Image {
        #[command(subcommand)]
        command: image::ImageCommand,
    },
    /// Write a commented probity.toml, and offer a pre-commit hook and a GitHub workflow
    #[command(after_help = "Examples:\n  probity init\n  probity init --yes --hook")]
    Init {
        /// Ask no questions
        #[arg(short, long)]
        yes: bool,
        /// Also write .pre-commit-config.yaml
        #[arg(long)]
        hook: bool,
        /// Also write .github/workflows/probity.yml
        #[arg(long)]
        workflow: bool,
    },
    /// Show which tools are missing on this machine, and how to install them
    ///
    /// Starts each test runner once, in the sandbox of reviews and without network: a test that
    /// passes and a test that fails.
    #[command(after_help = "Examples:\n  probity doctor\n  probity doctor --quick --json")]
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Do not start the test runners
        #[arg(long)]
        quick: bool,
    },
    /// Run five example jobs in a minute, without a key or a network
    #[command(after_help = "Examples:\n  probity demo\n  probity demo --keep")]
    Demo {
        /// Sandbox for the recorded agents and the tests; jobs for which none works are not shown
        #[arg(long, value_name = "KIND", default_value = "auto", value_parser = words::<Sandbox>())]
        sandbox: Sandbox,
        /// Keep the directory, so you can run every command by hand
        #[arg(long)]
        keep: bool,
        /// Play the editor of the last step: two sessions in the repositories below DIR
        #[arg(long, value_name = "DIR", hide = true, conflicts_with = "keep")]
        as_editor: Option<PathBuf>,
    },
    /// Install links such as `hadolint` and `tally` that start probity
    #[command(
        after_help = "Examples:\n  probity names list\n  probity names install --dir ~/.local/bin"
    )]
    Names {
        #[command(subcommand)]
        command: names::NamesCommand,
    },
    /// Show the effective settings, and where each value comes from
    #[command(after_help = config::EXAMPLES)]
    Config(config::ConfigArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  probity completions bash > /etc/bash_completion.d/probity"
    )]
    Completions {
        /// Shell that reads the completions
        shell: Shell,
    },
    /// Print the manual
    #[command(
        after_help = "Examples:\n  probity man | man -l -\n  probity man --dir share/man/man1"
    )]
    Man {
        /// Write one page for each command into this directory
        #[arg(long, value_name = "DIR", conflicts_with = "markdown")]
        dir: Option<PathBuf>,
        /// Print all commands as one Markdown page
        #[arg(long)]
        markdown: bool,
    },
}

const CHECK_EXAMPLES: &str = "Examples:
  probity check                              every Dockerfile below this directory
  probity check --fix                        apply safe fixes
  probity check --fix-unsafe --diff          show all fixes as a diff, and write nothing
  probity check --format sarif -o out.sarif  for a code scanning service
  probity check --select 'buildkit/*' .      only BuildKit's checks
  probity check --print-config Dockerfile    the effective settings here, and their origin
  cat Dockerfile | probity check -           standard input

Exit codes: 0 clean, 1 findings, 2 failure, 3 no files found, 4 only syntax findings.";

/// Commands in the groups in which the help page shows them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Check and fix", &["check", "lsp", "rules", "explain", "config", "image"]),
    ("Put agents to work", &["audit", "review", "acp", "exec", "agent"]),
    ("This installation", &["init", "doctor", "demo", "names", "completions", "man"]),
];

/// `help check` is `check --help`, and `version` is `--version`.
fn as_flags(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut args = args.peekable();
    let first = args.peek().and_then(|first| first.to_str()).unwrap_or_default();
    let (is_first_left_out, before, after) = match first {
        "help" => (true, None, Some("--help")),
        "version" => (true, Some("--version"), None),
        _ => (false, None, None),
    };
    let before = before.map(OsString::from).into_iter();
    before.chain(args.skip(usize::from(is_first_left_out))).chain(after.map(OsString::from))
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let found = matches(command(), as_flags(args))?;
    let probity = Probity::from_arg_matches(&found)?;
    let below = found.subcommand().map_or(&found, |(_, below)| below);
    let LoudnessArgs { verbose, quiet } = probity.loudness;
    screen::ask(probity.color.when());
    logging::start(Loudness { verbose, quiet });
    match probity.command {
        _ if probity.version => commands::version::run(verbose > 0),
        None => print_help(command()),
        Some(ProbityCommand::Check(args)) => {
            let detail = match (quiet, verbose) {
                (true, _) => Detail::Quiet,
                (false, 0) => Detail::Short,
                (false, _) => Detail::Full,
            };
            commands::check::run(&check::options(Name::Probity, *args, below, detail)?)
        }
        Some(ProbityCommand::Rules(args)) => rules::run(&args),
        Some(ProbityCommand::Explain { rule }) => commands::explain::run(&rule),
        Some(ProbityCommand::Image { command }) => image::run(command),
        Some(ProbityCommand::Names { command }) => names::run(command),
        Some(ProbityCommand::Config(args)) => config::run(args),
        Some(ProbityCommand::Completions { shell }) => {
            manual::completions(command(), "probity", shell)
        }
        Some(ProbityCommand::Man { dir, markdown }) => {
            manual::run(command(), dir.as_deref(), markdown)
        }
        Some(ProbityCommand::Lsp { .. }) => commands::lsp::run(Name::Probity),
        Some(ProbityCommand::Audit(args)) => audit::run(*args, below, quiet),
        Some(ProbityCommand::Review(args)) => review::run(*args, below, quiet),
        Some(ProbityCommand::Acp(args)) => acp_setup::run(args, quiet),
        Some(ProbityCommand::Exec(args)) => commands::exec::run(Name::Probity, args.into()),
        Some(ProbityCommand::Agent { command }) => agent::run(command),
        Some(ProbityCommand::Init { yes, hook, workflow }) => {
            commands::init::run(commands::init::Options { yes, hook, workflow })
        }
        Some(ProbityCommand::Doctor { json, quick }) => {
            let runners = if quick { Runners::Skip } else { Runners::Start };
            commands::doctor::run(json, runners)
        }
        Some(ProbityCommand::Demo { as_editor: Some(directory), sandbox, .. }) => {
            commands::demo::as_editor(&directory, sandbox)
        }
        Some(ProbityCommand::Demo { keep, sandbox, .. }) => commands::demo::run(keep, sandbox),
    }
}

/// The command line, with a help page that groups the commands by what one wants to do.
pub(super) fn command() -> Command {
    let command = Probity::command()
        .mut_subcommand("check", check::with_flags)
        .mut_subcommand("audit", audit::with_flags)
        .mut_subcommand("review", review::with_flags)
        .mut_args(|arg| match arg.get_id().as_str() {
            "color" | "no_color" => arg.global(true).help_heading("Global options"),
            _ => arg,
        });
    let page = help_page(&command);
    command.help_template(page)
}

fn help_page(command: &Command) -> String {
    use std::fmt::Write as _;

    let bold = anstyle::Style::new().bold().underline();
    let name = anstyle::Style::new().bold();
    let mut page = String::from("{about}\n\n{usage-heading} probity <COMMAND> [OPTIONS]\n");
    for (heading, names) in GROUPS {
        // Writing to a string cannot fail.
        _ = writeln!(page, "\n{bold}{heading}{bold:#}");
        for sub in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            _ = writeln!(page, "  {name}{:<13}{name:#} {about}", sub.get_name());
        }
    }
    _ = write!(
        page,
        "\n{bold}Options{bold:#}\n{{options}}\n\n{bold}Try{bold:#}\n  \
         probity check            lint every Dockerfile below this directory\n  \
         probity check --help     all its flags, with examples\n  \
         probity names list       the tools that probity can replace: tally, hadolint, trix, cai, …\n"
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_page_shows_every_command_once() {
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let built: Vec<&str> = shown.map(Command::get_name).collect();
        for name in &built {
            assert_eq!(listed.iter().filter(|n| n == &name).count(), 1, "{name}");
        }
        assert_eq!(listed.len(), built.len(), "a group names a command that does not exist");
    }

    #[test]
    fn every_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn every_argument_has_help() {
        let mut waiting = vec![command()];
        let mut silent = Vec::new();
        while let Some(mut command) = waiting.pop() {
            command.build();
            let visible = command.get_arguments().filter(|argument| !argument.is_hide_set());
            let mute = visible.filter(|argument| argument.get_help().is_none());
            silent.extend(
                mute.map(|argument| format!("{}: {}", command.get_name(), argument.get_id())),
            );
            waiting.extend(
                command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned(),
            );
        }
        assert_eq!(silent, Vec::<String>::new());
    }
}
