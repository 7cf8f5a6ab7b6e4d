//! Variables on their way into a container, whose values stand on no command line.

use std::{ffi::OsString, process::Command};

use crate::SpawnError;

/// Adds variables to an `exec`. The client takes the value of `-e NAME` from its own environment.
/// Where it would obey the variable itself, the value travels under another name; which, and what
/// it becomes inside, is returned in pairs.
pub(super) fn pass(
    command: &mut Command,
    variables: &[(OsString, OsString)],
) -> Result<Vec<OsString>, SpawnError> {
    let mut renamed = Vec::new();
    for (name, value) in variables {
        if !is_the_clients(name) {
            command.arg("-e").arg(name).env(name, value);
            continue;
        }
        // The shell inside reads the name as its own word.
        if !is_plain(name) {
            let why = format!("the variable {} cannot be passed on", name.display());
            return Err(SpawnError::Setup { backend: "container engine", why });
        }
        let alias = OsString::from(format!("PROBITY_VALUE_{}", renamed.len()));
        command.arg("-e").arg(&alias).env(&alias, value);
        renamed.extend([name.clone(), alias]);
    }
    Ok(renamed)
}

/// Variables by which the client finds its program, its configuration and its server.
fn is_the_clients(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let proxies = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"];
    matches!(name.as_ref(), "HOME" | "PATH" | "PWD" | "TMPDIR")
        || proxies.contains(&name.to_lowercase().as_str())
        || ["DOCKER_", "CONTAINER", "XDG_", "LD_", "BUILDKIT_", "PODMAN_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

fn is_plain(name: &OsString) -> bool {
    let bytes = name.as_encoded_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    bytes.iter().all(plain) && bytes.first().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::pass;

    #[test]
    fn no_value_is_on_the_command_line_and_the_client_obeys_none() {
        let mut command = Command::new("docker");
        let given = [("TOKEN", "hidden"), ("DOCKER_HOST", "tcp://evil"), ("PATH", "/x")];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let renamed = pass(&mut command, &given).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words, ["-e", "TOKEN", "-e", "PROBITY_VALUE_0", "-e", "PROBITY_VALUE_2"]);
        assert_eq!(renamed, ["DOCKER_HOST", "PROBITY_VALUE_0", "PATH", "PROBITY_VALUE_2"]);
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["PROBITY_VALUE_0", "PROBITY_VALUE_2", "TOKEN"]);
        for bad in ["DOCKER_$(x)", "XDG_a b"] {
            assert!(pass(&mut command, &[(bad.into(), "".into())]).is_err(), "{bad}");
        }
    }
}
