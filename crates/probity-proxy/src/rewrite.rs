//! The fields that hold paths, and how they are rewritten.
//!
//! Only fields that the protocol says are paths are touched. What an agent says in prose keeps the
//! names that the agent knows.

use probity_acp::{Envelope, Splice, find};

use crate::{
    Workspace,
    literal::{quoted, text},
    workspace::Access,
};

/// Where an editor names files to an agent.
const INWARD: &[&str] = &[
    "params.cwd",
    "params.mcpServers.*.command",
    "params.mcpServers.*.args.*",
    // As a list of names and values, and as a map.
    "params.mcpServers.*.env.*.value",
    "params.mcpServers.*.env.*",
    "params.prompt.*.uri",
    "params.prompt.*.resource.uri",
];

/// Where an agent names files to an editor.
const OUTWARD: &[&str] = &[
    "params.cwd",
    "params.path",
    "params.update.locations.*.path",
    "params.update.content.uri",
    // The object in an embedded resource, and the things in a tool call's content.
    "params.update.content.*.uri",
    "params.update.content.*.path",
    "params.update.content.*.content.uri",
    "params.update.content.*.content.resource.uri",
    "params.toolCall.locations.*.path",
    "params.toolCall.content.*.path",
    "params.toolCall.content.*.content.uri",
    "params.toolCall.content.*.content.resource.uri",
    "result.sessions.*.cwd",
    "result.sessions.*.additionalDirectories.*",
];

/// From the editor's names to the agent's.
pub(crate) fn inward(splice: &mut Splice<'_>, message: &str, workspace: &Workspace) {
    if !workspace.directories.is_empty() || message.contains("additionalDirectories") {
        splice.replace("params.additionalDirectories.*", |raw| {
            Some(quoted(&workspace.directory_inside(&text(raw)?)?))
        });
    }
    let detour = || ["//", "/./", "/../", "%"].iter().any(|odd| message.contains(odd));
    let mentioned = workspace.mentioned().is_none_or(|roots| {
        roots.iter().any(|root| message.contains(root)) || escaped(message) || detour()
    });
    if !mentioned {
        return;
    }
    splice.replace_any(INWARD, |raw| Some(quoted(&workspace.inside(&text(raw)?)?)));
}

/// From the agent's names to the editor's.
pub(crate) fn outward(splice: &mut Splice<'_>, message: &str, workspace: &Workspace) {
    if !message.contains(workspace.seen_in_text()) && !escaped(message) {
        return;
    }
    splice.replace_any(OUTWARD, |raw| Some(quoted(&workspace.outside(&text(raw)?)?)));
}

/// Whether a path may be spelled in another way than it is written here.
fn escaped(message: &str) -> bool {
    message.as_bytes().contains(&b'\\') && (message.contains("\\/") || message.contains("\\u"))
}

/// Why an editor is not asked to touch a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Outside {
    #[error("what has no path is not in the workspace")]
    NoPath,
    #[error("{0} is not in the workspace")]
    Path(String),
}

/// Checks and rewrites what an agent wants the editor to touch.
///
/// A key that comes twice must be harmless both times: nobody knows which the editor takes.
pub(crate) fn confine(
    splice: &mut Splice<'_>,
    message: &Envelope<'_>,
    method: &str,
    workspace: &Workspace,
) -> Result<(), Outside> {
    let (field, access) = match method {
        "fs/read_text_file" => ("params.path", Access::Read),
        // What a method of a later version does to the file is not known.
        method if method.starts_with("fs/") => ("params.path", Access::Write),
        "terminal/create" => ("params.cwd", Access::Read),
        _ => return Ok(()),
    };
    let named = find(message, field);
    if named.is_empty() && access_needs_path(method) {
        return Err(Outside::NoPath);
    }
    for raw in named {
        // A directory that is not given is the session's.
        if raw == "null" && !access_needs_path(method) {
            continue;
        }
        let path = text(raw).ok_or_else(|| Outside::Path(raw.to_owned()))?;
        let host = workspace.confined(&path, access);
        let host = host.ok_or_else(|| Outside::Path(path.clone().into_owned()))?;
        splice.replace(field, |other| (other == raw && *path != *host).then(|| quoted(&host)));
    }
    Ok(())
}

fn access_needs_path(method: &str) -> bool {
    method.starts_with("fs/")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use probity_acp::{Envelope, Splice};

    use super::{inward, outward};
    use crate::Workspace;

    fn both(message: &str) -> (String, String) {
        let workspace = Workspace::new(PathBuf::from("/w/r"), PathBuf::from("/w/r"));
        let envelope = Envelope::parse(message).unwrap();
        let mut inwards = Splice::new(&envelope);
        inward(&mut inwards, message, &workspace);
        let mut outwards = Splice::new(&envelope);
        outward(&mut outwards, message, &workspace);
        (inwards.finish().into_owned(), outwards.finish().into_owned())
    }

    #[test]
    fn servers_are_translated_in_both_shapes() {
        for (params, expected) in [
            (
                r#"{"cwd":"/w/r/sub","mcpServers":[{"name":"/w/r","command":"/w/r/bin/s","args":["--root","/w/r","/w/rx"],"env":[{"name":"HOME","value":"/w/r"}]}]}"#,
                r#"{"cwd":"/home/agent/workspace/sub","mcpServers":[{"name":"/w/r","command":"/home/agent/workspace/bin/s","args":["--root","/home/agent/workspace","/w/rx"],"env":[{"name":"HOME","value":"/home/agent/workspace"}]}]}"#,
            ),
            (
                r#"{"mcpServers":{"s":{"command":"npx","args":["file:\/\/\/w\/r\/a"],"env":{"P":"/w/r/x"}}},"n":1e2}"#,
                r#"{"mcpServers":{"s":{"command":"npx","args":["file:///home/agent/workspace/a"],"env":{"P":"/home/agent/workspace/x"}}},"n":1e2}"#,
            ),
        ] {
            let message = format!(r#"{{"method":"session/new","params":{params}}}"#);
            let expected = format!(r#"{{"method":"session/new","params":{expected}}}"#);
            assert_eq!(both(&message).0, expected);
        }
    }

    #[test]
    fn updates_come_back_with_the_hosts_paths_and_prose_untouched() {
        let message = r#"{"method":"session/update","params":{"update":{"title":"/home/agent/workspace/a","locations":[{"path":"/home/agent/workspace/a"}],"content":[{"type":"diff","path":"/home/agent/workspace/a","newText":"/home/agent/workspace/a"},{"type":"content","content":{"type":"resource_link","uri":"file:///home/agent/workspace/a"}}]}}}"#;
        let expected = r#"{"method":"session/update","params":{"update":{"title":"/home/agent/workspace/a","locations":[{"path":"/w/r/a"}],"content":[{"type":"diff","path":"/w/r/a","newText":"/home/agent/workspace/a"},{"type":"content","content":{"type":"resource_link","uri":"file:///w/r/a"}}]}}}"#;
        assert_eq!(both(message).1, expected);
        let chunk = r#"{"method":"session/update","params":{"update":{"content":{"type":"resource","resource":{"uri":"file:///home/agent/workspace/a","text":""}}}}}"#;
        insta::assert_snapshot!(both(chunk).1, @r#"{"method":"session/update","params":{"update":{"content":{"type":"resource","resource":{"uri":"file:///w/r/a","text":""}}}}}"#);
    }
}
