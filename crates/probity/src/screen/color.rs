//! Whether output is colored.
//!
//! `--color` decides first, then the usual variables, then whether the output is a terminal.

use std::env;

/// What `--color` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    pub(crate) fn is_colored(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => by_variables(|name| env::var(name).ok(), is_terminal),
        }
    }
}

/// The usual variables, the one that takes colors away first.
fn by_variables(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let is_on = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(|value| value != "0" && value != "false")
    };
    if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    if is_on("FORCE_COLOR") == Some(true) || is_on("CLICOLOR_FORCE") == Some(true) {
        return true;
    }
    let is_dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    is_terminal && !is_dumb && is_on("CLICOLOR") != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_decide_in_their_order() {
        // Variables, whether the output is a terminal, whether it is colored.
        let rows = [
            ("", true, true),
            ("", false, false),
            ("NO_COLOR=1", true, false),
            ("NO_COLOR=", true, true),
            ("FORCE_COLOR=1", false, true),
            ("FORCE_COLOR=", false, false),
            ("FORCE_COLOR=0", false, false),
            ("CLICOLOR_FORCE=1", false, true),
            ("CLICOLOR_FORCE=0", true, true),
            ("NO_COLOR=1 FORCE_COLOR=1", true, false),
            ("CLICOLOR=0", true, false),
            ("TERM=dumb", true, false),
        ];
        for (variables, is_terminal, expected) in rows {
            let variable = |name: &str| {
                let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
                pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
            };
            assert_eq!(by_variables(variable, is_terminal), expected, "{variables}");
        }
    }
}
