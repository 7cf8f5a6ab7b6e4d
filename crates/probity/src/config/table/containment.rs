//! `[containment]`: what contains commands and agents, and what they get.

use super::{NamedTables, optional, section};
use crate::config::{
    guard::{Guard, Usual},
    key::Key,
    kind::ValueKind,
    setting::Bytes,
    value::Sourced,
    words::{AgentProcess, EditorFiles, NetworkMode, Sandbox, Terminals},
};

section! {
    containment Containment {
        {
            /// Container image
            image: Option<String> = None, containai("image.name"), guard(Guard::Trusted);
            /// Sandbox of commands and agents
            runtime: Sandbox = Sandbox::Auto, kind(ValueKind::OneOf(&["auto", "bwrap", "docker", "podman", "landlock"])),
                containai("container.runtime"), guard(Guard::Trusted);
            /// Memory limit
            /// of all processes; without it half of the machine's
            memory: Option<Bytes> = None, containai("container.memory"),
                guard(Guard::Limit(Usual::Memory));
            /// Processors, such as 1.5; without it all but one
            cpus: Option<f64> = None, containai("container.cpus"), guard(Guard::Limit(Usual::Cpus));
            /// Processes and threads; without it 4096
            processes: Option<u64> = None, guard(Guard::Limit(Usual::Processes));
            /// Size of /tmp; without it 1 GiB
            tmp: Option<Bytes> = None, guard(Guard::Limit(Usual::Tmp));
            /// Size of /dev/shm; without it 1 GiB
            shm: Option<Bytes> = None, guard(Guard::Limit(Usual::Shm));
            /// Size of one file, with bubblewrap; without it 16 GiB
            file_size: Option<Bytes> = None, guard(Guard::Limit(Usual::File));
            /// Agent of `probity acp` if the command names none
            agent: Option<String> = None, containai("agent.default"), guard(Guard::IfUnset);
            /// Environment variables that sandboxed processes get, by name
            env: Vec<String> = Vec::new(), kind(ValueKind::Variables), containai("env.import"),
                guard(Guard::User);
            /// Login files that agents get, below the home directory
            logins: Vec<String> = Vec::new(), containai("import.additional_paths"),
                guard(Guard::User);
        }
        network Network {
            /// Network access: all of it, the hosts of a list, or none
            mode: NetworkMode = NetworkMode::Open, containai("network.mode"),
                guard(Guard::Tighten(&["none", "allowlist", "open"]));
            /// Hosts of the mode `allowlist`; a repository's list narrows yours
            allow: Vec<Sourced<String>> = Vec::new(), kind(ValueKind::Hosts), containai("network.allow"),
                appends(), guard(Guard::Narrow);
        }
        acp Acp {
            /// Which sessions of an editor share an agent process
            process: AgentProcess = AgentProcess::Session, containai("acp.process"),
                guard(Guard::User);
            /// Where the commands of an agent's terminals run
            terminals: Terminals = Terminals::None, containai("acp.terminals"), guard(Guard::User);
            /// Whether the editor reads and writes files for an agent
            fs: EditorFiles = EditorFiles::None, guard(Guard::User);
        }
    }
}

/// `[containment.agents.NAME]`: agents that the user adds, and what known ones get.
pub(super) const AGENTS: NamedTables = NamedTables {
    path: "containment.agents",
    tally: None,
    containai: Some("agents"),
    doc: "Agents by name: your own ones, and what known ones get",
    keys: AGENT_KEYS,
};

const AGENT_KEYS: &[Key] = &[
    optional("command", ValueKind::Argv, "Command that speaks the Agent Client Protocol")
        .containai("command"),
    optional("image", ValueKind::String, "Container image that has the agent").containai("image"),
    optional(
        "variables",
        ValueKind::Variables,
        "Environment variables that this agent gets, by name",
    ),
    optional(
        "logins",
        ValueKind::StringList,
        "Login files of this agent, below the home directory",
    ),
];
