//! Variables on their way into a container, whose values stand on no command line.

use std::{ffi::OsString, process::Command};

use crate::SpawnError;

/// Adds variables to an `exec`. The client takes the value of `-e NAME` from its own environment,
/// and it, its loader or its shell may obey any name. So every value travels under a name of ours;
/// which, and what it becomes inside, is returned in pairs.
pub(super) fn pass(
    command: &mut Command,
    variables: &[(OsString, OsString)],
) -> Result<Vec<OsString>, SpawnError> {
    let mut renamed = Vec::new();
    for (index, (name, value)) in variables.iter().enumerate() {
        // The shell inside reads the name as its own word.
        if !is_plain(name) {
            let why = format!("the variable {} cannot be passed on", name.display());
            return Err(SpawnError::Setup { backend: "container engine", why });
        }
        let alias = OsString::from(format!("PROBITY_VALUE_{index}"));
        command.arg("-e").arg(&alias).env(&alias, value);
        renamed.extend([name.clone(), alias]);
    }
    Ok(renamed)
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
        let given = [("TOKEN", "hidden"), ("DOCKER_HOST", "tcp://evil"), ("LD_PRELOAD", "/x")];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let renamed = pass(&mut command, &given).unwrap();
        let aliases = ["PROBITY_VALUE_0", "PROBITY_VALUE_1", "PROBITY_VALUE_2"];
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words, aliases.map(|alias| ["-e", alias]).concat());
        let pairs = ["TOKEN", aliases[0], "DOCKER_HOST", aliases[1], "LD_PRELOAD", aliases[2]];
        assert_eq!(renamed, pairs);
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, aliases);
        for bad in ["DOCKER_$(x)", "XDG_a b", "BASH_FUNC_x%%"] {
            assert!(pass(&mut command, &[(bad.into(), "".into())]).is_err(), "{bad}");
        }
    }
}
