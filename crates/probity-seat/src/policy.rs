//! The one table of policies: a row for each caller that starts a process in a sandbox.

use probity_sandbox::Preference;

/// Who wants a process started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// `agent ask`.
    Ask,
    /// `agent list`, which starts an agent to see whether it would work.
    List,
    /// `audit` with an agent as its provider.
    Audit,
    /// `review`.
    Review,
    /// `ci-agent-review`, whose environment is its configuration.
    Step,
    /// `check --fix-ai`.
    Fix,
    /// `acp`: the sessions of an editor.
    Editor,
    /// `acp --login`.
    Login,
    /// `acp`, which starts an agent to see what it can do.
    Introduction,
    /// `exec`: a command of the user's, which is no agent.
    Exec,
}

/// What a caller's process gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The sandboxes that `auto` tries, in this order.
    pub order: Preference,
    /// Whose configuration decides about the network and the limits.
    pub network: ConfiguredBy,
    pub directory: Directory,
    /// How an agent that can do both is spoken to.
    pub form: Form,
    pub variables: Variables,
    pub home: Home,
    /// The flag that chooses the sandbox, for messages.
    pub flag: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfiguredBy {
    /// The user's own file. A repository must not decide whether it is reviewed.
    User,
    /// The user's own file, tightened by the repository's.
    UserAndRepository,
}

/// The working directory inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directory {
    /// An empty one.
    Empty,
    /// The request's directory, read-only.
    ReadOnly,
    /// The request's directory.
    Writable,
    /// The workspace around the request's directory, at its own path too.
    Workspace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only the Agent Client Protocol.
    Acp,
    /// The protocol, or the command line if only that is installed.
    AcpFirst,
    /// Only the command line, for agents that have one.
    CommandLine,
    /// The command line, or the protocol if only that is installed.
    CommandLineFirst,
}

/// Which of the user's variables the process gets, beside those that the command line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// Those of the agent's own row that the user's configuration lists.
    Row,
    /// Those of the agent's own row that are set: listing them is the CI step's own business.
    RowIfSet,
    /// [`Self::Row`], and those listed ones that are no agent's key.
    RowAndShared,
    /// All that the user's configuration lists: a command of the user's is no agent.
    Listed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// One for each pair of workspace and agent; empty for an agent that has no row.
    Agent,
    /// One for each workspace.
    Workspace,
    /// A new one with the agent's logins, thrown away at the end: what the agent is shown may be
    /// anybody's, and must not decide how the next session begins.
    Run,
    /// An empty one that is thrown away.
    Scratch,
}

impl Caller {
    #[must_use]
    pub const fn policy(self) -> Policy {
        /// A question: nothing is shown, the answer is text.
        const QUESTION: Policy = Policy {
            order: Preference::BubblewrapFirst,
            network: ConfiguredBy::User,
            directory: Directory::Empty,
            form: Form::AcpFirst,
            variables: Variables::Row,
            home: Home::Agent,
            flag: "--sandbox",
        };
        /// What works in a workspace: one sandbox for each.
        const WORKSPACE: Policy = Policy {
            order: Preference::EngineFirst,
            network: ConfiguredBy::UserAndRepository,
            directory: Directory::Workspace,
            form: Form::Acp,
            variables: Variables::RowAndShared,
            ..QUESTION
        };
        match self {
            Self::Ask => QUESTION,
            Self::List => Policy { form: Form::Acp, ..QUESTION },
            Self::Audit => Policy { directory: Directory::ReadOnly, home: Home::Run, ..QUESTION },
            Self::Fix => Policy { home: Home::Run, flag: "--ai-sandbox", ..QUESTION },
            Self::Review => Policy {
                directory: Directory::Writable,
                form: Form::CommandLineFirst,
                home: Home::Run,
                ..QUESTION
            },
            Self::Step => Policy { variables: Variables::RowIfSet, ..Self::Review.policy() },
            Self::Editor | Self::Login => WORKSPACE,
            // As in a session, but with nothing of the user's to see.
            Self::Introduction => Policy {
                network: ConfiguredBy::User,
                directory: Directory::Empty,
                home: Home::Scratch,
                ..WORKSPACE
            },
            Self::Exec => {
                Policy { variables: Variables::Listed, home: Home::Workspace, ..WORKSPACE }
            }
        }
    }
}
