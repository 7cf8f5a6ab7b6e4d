//! `explain`: the manual page of one rule.

use std::io::Write as _;

use probity_lint::Pattern;

use crate::{commands::rules, config::nearest, exit::Exit, failure::Failure};

pub(crate) fn run(wanted: &str) -> anyhow::Result<Exit> {
    let pattern = Pattern::new(wanted);
    let found = rules::all().find(|rule| {
        pattern.matches(rule.name) || rule.equals.iter().any(|other| pattern.matches(other))
    });
    let page = found.map(rules::page).or_else(|| {
        let (name, severity, about) = rules::built_in().find(|(name, ..)| pattern.matches(name))?;
        Some(rules::built_in_page(name, severity, about))
    });
    let Some(page) = page else {
        let listed = rules::all().flat_map(|rule| [rule.name, rule.bare_name()]);
        let names = listed.chain(rules::built_in().map(|(name, ..)| name));
        let hint = nearest(wanted, names).map_or_else(
            || "`probity rules` lists them all".to_owned(),
            |name| format!("did you mean `{name}`? `probity rules` lists them all"),
        );
        return Err(Failure::new(format!("there is no rule `{wanted}`"), hint).into());
    };
    std::io::stdout().lock().write_all(page.as_bytes())?;
    Ok(Exit::Clean)
}
