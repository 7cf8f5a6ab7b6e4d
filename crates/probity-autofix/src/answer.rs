//! What an agent answered: no change, one block, or nothing that can be used.

/// What kind of block the agent was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A unified diff.
    Patch,
    /// The whole file.
    Dockerfile,
}

/// What an agent's text means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    NoChange,
    /// The content of the one block, its lines ended by `\n`.
    Block(String),
    Malformed(Malformed),
}

/// Why an answer is neither `NO_CHANGE` nor one block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("the answer is empty")]
    Empty,
    #[error("the agent refused")]
    Refusal,
    #[error("the answer is prose without a block")]
    Prose,
    #[error("the answer is a diff outside of a fenced block")]
    BareDiff,
    #[error("the answer says more than NO_CHANGE")]
    NoChangeWithProse,
    #[error("the answer holds both NO_CHANGE and a block")]
    NoChangeWithBlock,
    #[error("the block is not closed")]
    UnclosedBlock,
    #[error("the answer holds {count} blocks instead of one")]
    SeveralBlocks { count: usize },
    #[error("the block is labelled {label:?}, not {expected:?}")]
    WrongBlock { label: String, expected: &'static str },
    #[error("the block is empty")]
    EmptyBlock,
}

impl Malformed {
    /// The name under which reports hear of it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Empty => "answer_empty",
            Self::Refusal => "answer_refusal",
            Self::Prose => "answer_prose",
            Self::BareDiff => "answer_bare_diff",
            Self::NoChangeWithProse => "answer_no_change_with_prose",
            Self::NoChangeWithBlock => "answer_no_change_with_block",
            Self::UnclosedBlock => "answer_unclosed_block",
            Self::SeveralBlocks { .. } => "answer_several_blocks",
            Self::WrongBlock { .. } => "answer_wrong_block",
            Self::EmptyBlock => "answer_empty_block",
        }
    }
}

/// Reads an agent's answer.
#[must_use]
pub fn parse_answer(_text: &str, _expect: Expect) -> Answer {
    Answer::NoChange
}
