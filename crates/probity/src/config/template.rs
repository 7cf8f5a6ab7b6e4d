//! A `probity.toml` to begin with: every key that a repository may set, as a comment with its default.

use super::{
    guard::Guard,
    key::{Dialect, Key},
    table,
};

const HEAD: &str =
    "# Settings of probity for this repository. Every key is optional; values are the defaults.
# `probity config` shows the effective settings and where each value comes from.
# Keys that only a user may set, such as commands and API keys, belong in the user's own file.
";

/// Longer lines of help are wrapped.
const WIDTH: usize = 98;

/// The text of the file.
pub(crate) fn template() -> String {
    let mut out = HEAD.to_owned();
    let mut last_table = "";
    for (path, key) in keys() {
        let (table, name) = path.rsplit_once('.').unwrap_or(("", path));
        if table != last_table {
            out.push_str(&format!("\n[{table}]\n"));
            last_table = table;
        }
        out.push_str(&comment(key.doc()));
        match key.default_value() {
            Some(value) => out.push_str(&format!("# {name} = {value}\n")),
            None => out.push_str(&format!("# {name} = … (not set)\n")),
        }
    }
    out
}

/// The keys that a repository's file may set to some value, with their paths.
fn keys() -> impl Iterator<Item = (&'static str, &'static Key)> {
    let is_useful = |key: &&Key| {
        let is_users = matches!(key.guard, Guard::User | Guard::Trusted);
        key.in_file && !key.is_deprecated && !key.is_secret && !is_users
    };
    let own = table::keys().filter(is_useful);
    own.filter_map(|key| Some((key.path_in(Dialect::Probity)?, key)))
}

/// Help as lines of a comment.
fn comment(text: &str) -> String {
    let mut out = String::new();
    let mut line = "##".to_owned();
    for word in text.split_whitespace() {
        if line.len() + word.len() + 1 > WIDTH {
            out.push_str(&line);
            out.push('\n');
            "##".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::{keys, template};
    use crate::config::tests::own_file;

    #[test]
    fn the_template_is_a_file_that_sets_nothing_and_its_defaults_are_valid() {
        let text = template();
        assert!(
            own_file(&text).is_ok_and(|(layer, warnings)| {
                layer.settings.is_empty() && warnings.is_empty()
            })
        );
        let is_default = |line: &str| line.starts_with("# ") && !line.ends_with("(not set)");
        let set: Vec<&str> = text
            .lines()
            .skip(3)
            .filter(|line| !line.starts_with("##"))
            .map(|line| if is_default(line) { &line[2..] } else { line })
            .collect();
        let read = own_file(&set.join("\n"));
        let (layer, _) = read.unwrap();
        let expected = keys().filter(|(_, key)| key.default_value().is_some()).count();
        assert_eq!(layer.settings.len(), expected);
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    }
}
