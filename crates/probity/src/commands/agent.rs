//! `agent`: ask one, list them, record a conversation, play it again.

mod ask;
mod list;
pub(crate) mod record;
mod replay;

use crate::{cli::agent::AgentCommand, exit::Exit};

pub(crate) fn run(command: AgentCommand) -> anyhow::Result<Exit> {
    match command {
        AgentCommand::Ask(args) => ask::run(&args),
        AgentCommand::List(args) => list::run(&args),
        AgentCommand::Record(args) => record::run(&args),
        AgentCommand::Replay(args) => replay::run(&args),
    }
}
