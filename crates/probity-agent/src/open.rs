//! From the name of an agent to a conversation with it.

use crate::{
    AcpAgent, AcpTap, Agent, AgentError, AgentRef, AgentTable, Cause, CommandAgent, CommandOptions,
    Files, Phase, Seat,
};

/// How an agent that can do both is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Acp,
    CommandLine,
}

pub struct OpenOptions<'a> {
    pub table: &'a AgentTable,
    /// For an agent named by its name alone.
    pub interface: Interface,
    pub seat: Seat,
    pub command: CommandOptions,
    /// For agents that speak ACP, and recordings.
    pub tap: Option<AcpTap>,
    /// The same; paths are relative to the working directory of the session, and others are absolute.
    pub files: Option<Files>,
}

/// A new conversation. Nothing is started before the first turn.
pub fn open(reference: &AgentRef, options: OpenOptions<'_>) -> Result<Box<dyn Agent>, AgentError> {
    let name = reference.label();
    let OpenOptions { table, interface, seat, command, tap, files } = options;
    let refused = |cause: String, way_out: String| {
        Err(AgentError::new(&name, Phase::Preparing, Cause::BadOptions(cause), way_out))
    };
    let argv: Vec<String> = match reference {
        AgentRef::Replay(file) => {
            let agent = AcpAgent::recorded(&name, file, &command.system, tap);
            return Ok(Box::new(agent.serving(files)));
        }
        AgentRef::Command(argv) => {
            return Ok(Box::new(CommandAgent::any(&name, argv, command, seat)?));
        }
        AgentRef::Acp(argv) => argv.clone(),
        AgentRef::Program(path) => match table.of_program(path) {
            None => {
                let way_out = format!(
                    "the programs of these agents may be named by their paths: {}; any other is a \
                     command, acp:COMMAND or cmd:COMMAND",
                    table.names()
                );
                return refused("it is not the program of a known agent".to_owned(), way_out);
            }
            Some(agent) => match (interface, agent.command_line) {
                (Interface::CommandLine, Some(line)) => {
                    let agent = CommandAgent::known(&name, line, command, seat);
                    return Ok(Box::new(agent.started_as(path)));
                }
                (Interface::Acp, _) | (Interface::CommandLine, None) => {
                    let arguments = agent.acp.iter().skip(1).cloned();
                    [path.clone()].into_iter().chain(arguments).collect()
                }
            },
        },
        AgentRef::Known(known) => match table.get(known) {
            None => {
                let way_out = format!(
                    "known are {}; any other is named by its command, acp:COMMAND or cmd:COMMAND",
                    table.names()
                );
                return refused("no agent of this name is known".to_owned(), way_out);
            }
            Some(agent) => match (interface, agent.command_line) {
                (Interface::CommandLine, Some(line)) => {
                    return Ok(Box::new(CommandAgent::known(&name, line, command, seat)));
                }
                (Interface::Acp, _) | (Interface::CommandLine, None) => agent.acp.clone(),
            },
        },
    };
    if let Some(model) = &command.model {
        let cause = format!("the model `{model}` cannot be chosen over ACP");
        let way_out = "choose the model in the agent's own settings or command";
        return refused(cause, way_out.to_owned());
    }
    Ok(Box::new(AcpAgent::command(&name, &argv, seat, &command.system, tap).serving(files)))
}

impl std::fmt::Debug for OpenOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OpenOptions")
            .field("interface", &self.interface)
            .field("seat", &self.seat)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}
