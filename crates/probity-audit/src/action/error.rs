//! Why an answer is not an action. The words are for the model, which gets one chance to correct it.

use probity_text::one_line;

use super::Expected;
use crate::exploit::BadExploit;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ActionError {
    #[error("there is no JSON object in the answer")]
    NoObject,
    #[error("the text that looks like a JSON object is not valid JSON")]
    NotJson,
    #[error("the JSON object has a comma before a `{0}`")]
    TrailingComma(char),
    #[error("the JSON object has a string without its closing quotation mark")]
    OpenString,
    #[error("the JSON object is not closed: `{0}` is missing at its end")]
    NotClosed(String),
    #[error("there are two different final answers; send the one that you mean")]
    TwoAnswers,
    #[error(
        "`{0}` is not read here: write the action itself as the object, for example \
         {{\"action\":\"read_file\",\"path\":\"relative/path.ak\"}}"
    )]
    ToolCall(&'static str),
    #[error("the object has no `action`, no `{}`", .0.keys().join("` and no `"))]
    NoAction(Expected),
    #[error(
        "'{}' is not an action; the actions are read_file, grep, list_dir, find_files and final",
        one_line(.0, MOST_CHARS)
    )]
    UnknownAction(String),
    #[error("`{0}` is not a string")]
    NotText(&'static str),
    #[error("`{0}` is not a number of lines")]
    NotCount(&'static str),
    #[error("`{given}` is not an argument of {action}; it is called `{name}`")]
    Misnamed { given: &'static str, action: String, name: &'static str },
    #[error("the final answer has no `verdict`, which is `refuted`, `upheld` or `undecided`")]
    NoVerdict,
    #[error("`findings` is not a list")]
    FindingsNotList,
    #[error("findings belong into `findings`, and not into `{}`", one_line(.0, MOST_CHARS))]
    FindingsElsewhere(String),
    #[error(
        "the final answer has no `findings`, which may be an empty list, and no `status` such as \
         `completed`"
    )]
    NoFindings,
    #[error(transparent)]
    Exploit(#[from] BadExploit),
}

/// How much of a model's own word is repeated to it.
const MOST_CHARS: usize = 60;
