//! Files that an agent may read over the protocol, where somebody serves them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::wire::{response_error, response_result};
use crate::envelope::Id;

pub(super) const METHOD: &str = "fs/read_text_file";

/// No path of a file is longer.
const PATH_BYTES: usize = 4096;

const INVALID_PARAMS: i64 = -32602;
const RESOURCE_NOT_FOUND: i64 = -32002;

/// Decides what an agent may read. The thread that reads the agent's messages calls it, so the answer
/// must not depend on the agent.
pub trait ServeFiles: Send + Sync {
    /// The whole text of a file. The client cuts out the lines that the agent wants.
    fn read(&self, path: &str) -> Result<String, FileRefusal>;
}

/// What an agent is offered beside its prompts.
pub type Files = Arc<dyn ServeFiles>;

/// Why an agent does not get a file. The texts go to the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Refused(String),
}

#[derive(Deserialize)]
struct Params {
    path: String,
    /// From one.
    line: Option<u64>,
    limit: Option<u64>,
}

/// The answer to a request to read a file.
pub(super) fn answer(files: &dyn ServeFiles, id: &Id<'_>, params: Option<&str>) -> String {
    let params = params.and_then(|params| serde_json::from_str::<Params>(params).ok());
    let Some(Params { path, line, limit }) =
        params.filter(|params| params.path.len() <= PATH_BYTES)
    else {
        return response_error(id, INVALID_PARAMS, "a path of at most 4096 bytes is needed");
    };
    match files.read(&path) {
        Ok(text) => response_result(id, &json!({"content": lines(&text, line, limit)})),
        Err(refusal) => {
            let code = match refusal {
                FileRefusal::NotFound(_) => RESOURCE_NOT_FOUND,
                FileRefusal::Refused(_) => INVALID_PARAMS,
            };
            response_error(id, code, &refusal.to_string())
        }
    }
}

/// So many lines from this one on, with their ends.
fn lines(text: &str, line: Option<u64>, limit: Option<u64>) -> String {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let skipped = count(line.unwrap_or(1).saturating_sub(1));
    let taken = limit.map_or(usize::MAX, count);
    text.split_inclusive('\n').skip(skipped).take(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::{FileRefusal, Id, ServeFiles, answer};

    struct One;

    impl ServeFiles for One {
        fn read(&self, path: &str) -> Result<String, FileRefusal> {
            match path {
                "/a" => Ok("one\ntwo\nthree".to_owned()),
                "/b" => Err(FileRefusal::NotFound("no".to_owned())),
                _ => Err(FileRefusal::Refused("never".to_owned())),
            }
        }
    }

    #[test]
    fn the_wanted_lines_are_given_and_a_refusal_is_an_error() {
        let long = format!(r#"{{"path":"/{}"}}"#, "x".repeat(5000));
        for (params, expected) in [
            (r#"{"path":"/a"}"#, r#"{"content":"one\ntwo\nthree"}"#),
            (r#"{"path":"/a","line":2,"limit":1}"#, r#"{"content":"two\n"}"#),
            (r#"{"path":"/a","line":0,"limit":0}"#, r#"{"content":""}"#),
            (r#"{"path":"/a","line":9,"limit":null}"#, r#"{"content":""}"#),
            (r#"{"path":"/b"}"#, "-32002 no"),
            (r#"{"path":"/c"}"#, "-32602 never"),
            (r#"{"path":7}"#, "-32602 a path of at most 4096 bytes is needed"),
            (long.as_str(), "-32602 a path of at most 4096 bytes is needed"),
        ] {
            let reply = answer(&One, &Id::from(3), Some(params));
            let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
            assert_eq!(reply["id"], 3);
            let found = match reply.get("result") {
                Some(result) => result.to_string(),
                None => {
                    let error = &reply["error"];
                    format!("{} {}", error["code"], error["message"].as_str().unwrap())
                }
            };
            assert_eq!(found, expected, "{params}");
        }
    }
}
