//! What an agent answered: no change, one block, or nothing that can be used.

use crate::answer::fence::Fenced;

mod fence;

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
    #[error("the answer contains both NO_CHANGE and a block")]
    NoChangeWithBlock,
    #[error("the block is not closed")]
    UnclosedBlock,
    #[error("the answer contains {count} blocks instead of one")]
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
///
/// Prose around a single block is tolerated, since agents introduce what they do. A diff outside of a
/// block is not taken: nothing tells where it ends and the prose begins, and the contract with the
/// agent asks for a block; the reason is its own, so that the retry can say what was wrong.
#[must_use]
pub fn parse_answer(text: &str, expect: Expect) -> Answer {
    read(text, expect).unwrap_or_else(Answer::Malformed)
}

const NO_CHANGE: &str = "NO_CHANGE";

fn read(text: &str, expect: Expect) -> Result<Answer, Malformed> {
    let trimmed = text.trim();
    if trimmed == NO_CHANGE {
        return Ok(Answer::NoChange);
    }
    if trimmed.is_empty() {
        return Err(Malformed::Empty);
    }
    let Fenced { mut blocks, prose, unclosed } = Fenced::new(text);
    if unclosed {
        return Err(Malformed::UnclosedBlock);
    }
    let says_no_change = prose.iter().any(|line| is_no_change(line));
    let Some(block) = blocks.pop() else {
        return Err(if says_no_change { Malformed::NoChangeWithProse } else { unfenced(&prose) });
    };
    if says_no_change || is_no_change(&block.content) {
        return Err(Malformed::NoChangeWithBlock);
    }
    if !blocks.is_empty() {
        return Err(Malformed::SeveralBlocks { count: blocks.len() + 1 });
    }
    if !expect.accepts(&block.label) {
        return Err(Malformed::WrongBlock { label: block.label, expected: expect.label() });
    }
    if block.content.trim().is_empty() {
        return Err(Malformed::EmptyBlock);
    }
    Ok(Answer::Block(block.content))
}

impl Expect {
    /// The label that the agent is asked to write.
    fn label(self) -> &'static str {
        match self {
            Self::Patch => "diff",
            Self::Dockerfile => "Dockerfile",
        }
    }

    /// Whether a block with this label can be what was asked for.
    ///
    /// A block without a label may be a patch, because whatever is no patch is refused when it is
    /// read. It is not taken for a whole file: any text at all would pass for one.
    fn accepts(self, label: &str) -> bool {
        let labels: &[&str] = match self {
            Self::Patch => &["", "diff", "patch", "udiff"],
            Self::Dockerfile => &["dockerfile", "docker", "containerfile"],
        };
        labels.iter().any(|known| label.eq_ignore_ascii_case(known))
    }
}

/// Whether a line is the word alone, be it in bold, in backticks or with a full stop.
fn is_no_change(line: &str) -> bool {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '.' | '"' | '\''))
        == NO_CHANGE
}

/// What an answer without a block is.
fn unfenced(lines: &[&str]) -> Malformed {
    let begins = |prefix: &str| lines.iter().any(|line| line.starts_with(prefix));
    if begins("diff --git ") || (begins("--- ") && begins("+++ ")) {
        return Malformed::BareDiff;
    }
    // A refusal says so at once; further on, the same words are part of an explanation.
    let text: String = lines.join(" ").chars().take(REFUSAL_WITHIN).collect();
    let text = text.to_lowercase().replace('\u{2019}', "'");
    if REFUSALS.iter().any(|phrase| text.contains(phrase)) {
        return Malformed::Refusal;
    }
    Malformed::Prose
}

/// How many characters at the beginning of an answer are searched for a refusal.
const REFUSAL_WITHIN: usize = 200;

const REFUSALS: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i will not",
    "i'm not able to",
    "i am not able to",
    "i'm unable to",
    "i am unable to",
    "i must decline",
    "i'm sorry",
    "i am sorry",
];
