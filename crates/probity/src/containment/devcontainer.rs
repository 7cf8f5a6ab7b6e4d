//! A workspace's `devcontainer.json`: what of it a sandbox can honour, once the user trusts the file.
//!
//! The image, variables and mounts of places in the workspace are taken. Whatever would run on the
//! host, widen the sandbox or change its user is not, and is named.

use std::path::{Component, Path, PathBuf};

use probity_sandbox::{Mount, directory_root, is_dot_git};
use serde_json::Value;

use crate::jsonc::{self, SyntaxError};

/// What is honoured of a file, and what is not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Devcontainer {
    pub(super) image: Option<String>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) mounts: Vec<Mount>,
    /// For people.
    pub(super) ignored: Vec<String>,
}

/// Keys that say nothing about the container.
const SILENT: &[&str] =
    &["$schema", "name", "customizations", "image", "containerEnv", "mounts", "remoteUser"];

/// Directories inside that no mount may cover or be in.
const RESERVED: &[&str] = &[
    "/bin",
    "/dev",
    "/etc",
    "/home/agent/workspace",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
];

impl Devcontainer {
    pub(super) fn read(text: &str, root: &Path) -> Result<Self, SyntaxError> {
        let read = jsonc::parse(text)?.map(|node| node.value(text));
        let Some(Value::Object(read)) = read else {
            return Err(SyntaxError { at: 0, expected: "an object" });
        };
        let image = read.get("image").and_then(Value::as_str).map(str::to_owned);
        let mut found = Self { image, ..Self::default() };
        let variables = read.get("containerEnv").and_then(Value::as_object);
        for (name, value) in variables.into_iter().flatten() {
            match value.as_str().map(|value| expanded(value, root)) {
                Some(value) if is_variable(name) && !value.contains("${") => {
                    found.variables.push((name.clone(), value));
                }
                _ => found.ignored.push(format!(
                    "containerEnv.{name} needs a plain name and a value without variables of the \
                     host"
                )),
            }
        }
        let mounts = read.get("mounts").and_then(Value::as_array);
        for mount in mounts.into_iter().flatten() {
            match mounted(mount, root) {
                Ok(mounts) => found.mounts.extend(mounts),
                Err(why) => found.ignored.push(format!("the mount {mount}: {why}")),
            }
        }
        if let Some(user) = read.get("remoteUser").and_then(Value::as_str) {
            found
                .ignored
                .push(format!("remoteUser {user}: processes run as the owner of the workspace"));
        }
        let others = read.keys().filter(|key| !SILENT.contains(&key.as_str()));
        let others: Vec<&str> = others.map(String::as_str).collect();
        if !others.is_empty() {
            found.ignored.push(others.join(", "));
        }
        Ok(found)
    }
}

/// Why a mount is not made.
#[derive(Debug, thiserror::Error)]
enum NoMount {
    #[error("it is not `source=…,target=…,type=bind`")]
    Shape,
    #[error("its source is not in the workspace")]
    Outside,
    #[error("its source is in a git directory")]
    Git,
    #[error("its target is a directory of the sandbox's own")]
    Target,
    #[error("{0}")]
    Root(#[from] probity_sandbox::RootError),
}

fn mounted(mount: &Value, root: &Path) -> Result<Vec<Mount>, NoMount> {
    let field = |names: &[&str]| match mount {
        Value::String(text) => text.split(',').find_map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, "true"));
            names.contains(&name.trim()).then(|| value.trim().to_owned())
        }),
        Value::Object(members) => {
            names.iter().find_map(|name| Some(members.get(*name)?.as_str()?.to_owned()))
        }
        _ => None,
    };
    let source = field(&["source", "src"]).ok_or(NoMount::Shape)?;
    let target = field(&["target", "destination", "dst"]).ok_or(NoMount::Shape)?;
    if field(&["type"]).as_deref() != Some("bind") {
        return Err(NoMount::Shape);
    }
    let source = root.join(expanded(&source, root)).canonicalize().map_err(|_| NoMount::Outside)?;
    let below = source.strip_prefix(root).map_err(|_| NoMount::Outside)?;
    if below.components().any(|part| is_dot_git(part.as_os_str())) {
        return Err(NoMount::Git);
    }
    let target = PathBuf::from(expanded(&target, root));
    if !is_free(&target, root) {
        return Err(NoMount::Target);
    }
    if field(&["readonly", "ro"]).is_some_and(|word| word != "false") {
        return Ok(vec![Mount::read_only(source, target)]);
    }
    // With the protection of every repository in it, as where it is by its own name.
    Ok(directory_root(&source)?.mounts(&target))
}

/// Whether a place inside is nobody else's.
fn is_free(target: &Path, root: &Path) -> bool {
    let is_plain = target.is_absolute()
        && target
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let reserved = RESERVED.iter().map(Path::new).chain([root]);
    let mut taken = reserved.map(|place| target.starts_with(place) || place.starts_with(target));
    is_plain && !taken.any(|is_taken| is_taken) && target != Path::new("/tmp")
}

fn expanded(text: &str, root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    text.replace("${localWorkspaceFolder}", &root.to_string_lossy())
        .replace("${containerWorkspaceFolder}", "/home/agent/workspace")
        .replace("${localWorkspaceFolderBasename}", &name)
}

fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Devcontainer, Path};

    #[test]
    fn comments_and_trailing_commas_are_read_and_anything_but_an_object_is_not() {
        let read = |text: &str| Devcontainer::read(text, Path::new("/w"));
        let image = |text: &str| read(text).unwrap().image;
        assert_eq!(image("{\"image\": \"a // b\", // \"c\"\n}").as_deref(), Some("a // b"));
        assert_eq!(image("/* x */ {\"image\": \"a\",}").as_deref(), Some("a"));
        for text in ["", "// nothing", "[]", "{\"image\": 1 /* never ends", "{\"image\"}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_places_of_the_workspace_are_mounted_and_the_rest_is_named() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(root.join("cache")).unwrap();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::create_dir_all(place.path().join("outside")).unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        let mut reasons = Vec::new();
        for (mount, is_mounted) in [
            (r#""source=${localWorkspaceFolder}/cache,target=/cache,type=bind""#, true),
            (r#"{"source": "cache", "target": "/home/agent/.cache", "type": "bind"}"#, true),
            (r#""source=cache,target=/cache,type=bind,readonly""#, true),
            (r#""source=cache,target=/cache,type=volume""#, false),
            (r#""source=link,target=/cache,type=bind""#, false),
            (r#""source=../outside,target=/cache,type=bind""#, false),
            (r#""source=/etc,target=/cache,type=bind""#, false),
            (r#""source=${localEnv:HOME},target=/cache,type=bind""#, false),
            (r#""source=.git/hooks,target=/cache,type=bind""#, false),
            (r#""source=cache,target=/usr/bin,type=bind""#, false),
            (r#""source=cache,target=/,type=bind""#, false),
            (r#""source=cache,target=/home/agent,type=bind""#, false),
            (r#""source=cache,target=/a/../usr,type=bind""#, false),
            ("7", false),
        ] {
            let read = Devcontainer::read(&format!("{{\"mounts\": [{mount}]}}"), &root).unwrap();
            assert_eq!(!read.mounts.is_empty(), is_mounted, "{mount}: {read:?}");
            reasons.extend(read.ignored);
        }
        insta::assert_snapshot!(reasons.join("\n"), @r#"
        the mount "source=cache,target=/cache,type=volume": it is not `source=…,target=…,type=bind`
        the mount "source=link,target=/cache,type=bind": its source is not in the workspace
        the mount "source=../outside,target=/cache,type=bind": its source is not in the workspace
        the mount "source=/etc,target=/cache,type=bind": its source is not in the workspace
        the mount "source=${localEnv:HOME},target=/cache,type=bind": its source is not in the workspace
        the mount "source=.git/hooks,target=/cache,type=bind": its source is in a git directory
        the mount "source=cache,target=/usr/bin,type=bind": its target is a directory of the sandbox's own
        the mount "source=cache,target=/,type=bind": its target is a directory of the sandbox's own
        the mount "source=cache,target=/home/agent,type=bind": its target is a directory of the sandbox's own
        the mount "source=cache,target=/a/../usr,type=bind": its target is a directory of the sandbox's own
        the mount 7: it is not `source=…,target=…,type=bind`
        "#);
        let text = r#"{
            "name": "x", "image": "mine:1", "remoteUser": "node", "runArgs": ["--privileged"],
            "containerEnv": {"A": "${localWorkspaceFolder}", "B": "${localEnv:SECRET}", "C=D": ""},
            "postCreateCommand": "id",
        }"#;
        let read = Devcontainer::read(text, &root).unwrap();
        assert_eq!(read.image.as_deref(), Some("mine:1"));
        assert_eq!(read.variables, [("A".to_owned(), root.to_str().unwrap().to_owned())]);
        let ignored = read.ignored.join("\n");
        insta::assert_snapshot!(ignored, @"
        containerEnv.B needs a plain name and a value without variables of the host
        containerEnv.C=D needs a plain name and a value without variables of the host
        remoteUser node: processes run as the owner of the workspace
        runArgs, postCreateCommand
        ");
    }
}
