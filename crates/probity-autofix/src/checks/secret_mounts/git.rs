//! Ways to hand Git a configuration that no layer keeps.

/// The command as it would be with `git config --global`, if it sets the same by variables or writes to a
/// file in memory.
pub(super) fn without_file(command: &str, passing: &[&str]) -> Option<String> {
    by_variables(command).or_else(|| in_memory(command, passing))
}

/// `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.A.insteadOf" GIT_CONFIG_VALUE_0="B" command`
fn by_variables(command: &str) -> Option<String> {
    let rest = command.strip_prefix("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=\"url.")?;
    let (address, rest) = rest.split_once(".insteadOf\" GIT_CONFIG_VALUE_0=\"")?;
    let (replaced, command) = rest.split_once("\" ")?;
    // The variables are those of one command alone.
    let is_one = !command.contains(['&', ';', '|']);
    is_one.then(|| {
        format!("git config --global url.\"{address}\".insteadOf \"{replaced}\" && {command}")
    })
}

/// `export GIT_CONFIG_GLOBAL=/run/x/config && git config …`, with a tmpfs at `/run/x`.
fn in_memory(command: &str, passing: &[&str]) -> Option<String> {
    let rest = command.strip_prefix("export GIT_CONFIG_GLOBAL=")?;
    let (path, command) = rest.split_once(" && ")?;
    let is_below = |directory: &&str| {
        path.strip_prefix(directory.trim_end_matches('/')).is_some_and(|it| it.starts_with('/'))
    };
    (passing.iter().any(is_below) && !path.contains("..")).then(|| command.to_owned())
}

#[cfg(test)]
mod tests {
    use super::without_file;

    #[test]
    fn only_configurations_that_no_layer_keeps_count() {
        let set = "git config --global url.\"https://x:$T@h/\".insteadOf \"https://h/\" && go mod download";
        let variables = "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=\"url.https://x:$T@h/.insteadOf\" \
                         GIT_CONFIG_VALUE_0=\"https://h/\" go mod download";
        let memory = |path: &str| format!("export GIT_CONFIG_GLOBAL={path} && {set}");
        assert_eq!(without_file(variables, &[]).as_deref(), Some(set));
        assert_eq!(without_file(&memory("/run/git/config"), &["/run/git"]).as_deref(), Some(set));
        assert_eq!(without_file(&memory("/root/config"), &["/run/git"]), None);
        assert_eq!(without_file(&memory("/run/git/../x"), &["/run/git"]), None);
        assert_eq!(without_file(&format!("{variables} && go build"), &[]), None);
        assert_eq!(without_file(set, &[]), None);
    }
}
