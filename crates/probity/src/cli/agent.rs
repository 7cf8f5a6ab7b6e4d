//! The command line of `probity agent`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

use super::words;
use crate::{
    commands::{
        ListFormat,
        agent::{self, AskOptions},
    },
    config::{duration, words::Sandbox},
    exit::Exit,
};

pub(super) const EXAMPLES: &str = "Examples:
  probity agent list
  probity agent ask gemini \"What does EXPOSE do?\"
  probity agent record --output turn.ndjson -- gemini --acp
  probity agent replay turn.ndjson";

#[derive(Debug, Subcommand)]
pub(super) enum AgentCommand {
    /// Ask a sandboxed agent one question and print its answer
    #[command(after_help = ASK_EXAMPLES)]
    Ask(AskArgs),
    /// Print the Dockerfile of the image with all known agents, which sandboxed agents run in
    #[command(after_help = IMAGE_EXAMPLES)]
    Image,
    /// List the known agents, and the reasons why some do not start here
    #[command(after_help = "Examples:\n  probity agent list\n  probity agent list --format json")]
    List(ListArgs),
    /// Record the messages between an editor and an agent, without secrets
    #[command(after_help = RECORD_EXAMPLES)]
    Record(RecordArgs),
    /// Act as an ACP agent that plays a recording or a script
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
}

#[derive(Args, Debug)]
pub(super) struct AskArgs {
    /// NAME (see `probity agent list`), acp:COMMAND, cmd:COMMAND or replay:FILE
    agent: String,
    /// The question; `-` reads it from standard input
    prompt: String,
    /// How long the whole answer may take
    #[arg(long, value_name = "TIME", default_value = "90s", value_parser = time)]
    timeout: Duration,
    /// Sandbox for the agent; `auto` refuses to ask if none is available
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = words::<Sandbox>())]
    sandbox: Sandbox,
    /// Pass this variable to the sandboxed agent; may be repeated
    #[arg(long = "env", value_name = "NAME")]
    variables: Vec<String>,
    /// Format of the answer
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// How long an agent may take to start, and again to open a session
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = time)]
    timeout: Duration,
    /// How the list is written
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Args, Debug)]
pub(super) struct RecordArgs {
    /// The recording; it is FILE.partial until it is complete
    #[arg(short, long, value_name = "FILE", default_value = "recording.ndjson")]
    output: PathBuf,
    /// The agent's command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// A recording, or a script
    file: PathBuf,
    /// Fail when the client does not ask what was recorded, in the same order
    #[arg(long)]
    strict: bool,
    /// Give each request the next answer to its method; this is the default
    #[arg(long, conflicts_with = "strict")]
    lenient: bool,
}

const ASK_EXAMPLES: &str = "Examples:
  probity agent ask gemini --env GEMINI_API_KEY \"What does EXPOSE do?\"
  probity agent ask acp:'my-agent --acp' - < question.txt
  probity agent ask replay:turn.ndjson hello

Exit codes: 0 the agent answered, 2 it did not.";

const IMAGE_EXAMPLES: &str = "Examples:
  probity agent image | docker build -t containai:latest -
  probity agent image > Dockerfile.agents";

const RECORD_EXAMPLES: &str = "Examples:
  probity agent record -- gemini --acp
  probity agent record --output turn.ndjson -- codex-acp

Put it where your editor has the agent's command. It ends when the agent does, with its exit code.";

const REPLAY_EXAMPLES: &str = "Examples:
  probity agent replay turn.ndjson
  probity agent ask acp:'probity agent replay turn.ndjson' hello";

fn time(text: &str) -> Result<Duration, &'static str> {
    duration::parse(text).ok_or("expected a time such as 90s, 1m30s or 500ms")
}

pub(super) fn run(command: AgentCommand) -> anyhow::Result<Exit> {
    match command {
        AgentCommand::Ask(args) => agent::ask(&AskOptions {
            agent: args.agent,
            prompt: args.prompt,
            timeout: args.timeout,
            sandbox: args.sandbox,
            variables: args.variables,
            format: args.format,
        }),
        AgentCommand::Image => agent::image(),
        AgentCommand::List(args) => agent::list(args.timeout, args.format),
        AgentCommand::Record(args) => agent::record::run(&args.output, &args.command),
        AgentCommand::Replay(args) => agent::replay(&args.file, args.strict),
    }
}
