//! `explain`: the manual page of one rule.

use std::io::Write as _;

use probity_lint::{AI_DETECTORS, Pattern, shell_code_about, shell_codes};

use crate::{
    commands::{own_rules, rules},
    config::nearest,
    exit::Exit,
    failure::Failure,
};

/// The page of the rule that a name means.
pub(crate) fn page(wanted: &str) -> Option<String> {
    let pattern = Pattern::new(wanted);
    let found = rules::all().find(|rule| {
        pattern.matches(rule.name) || rule.equals.iter().any(|other| pattern.matches(other))
    });
    let page = found.map(rules::page).or_else(|| {
        let (name, severity, about) = rules::built_in().find(|(name, ..)| pattern.matches(name))?;
        Some(rules::built_in_page(name, severity, about))
    });
    let detector = || AI_DETECTORS.iter().find(|detector| pattern.matches(detector.name));
    page.or_else(|| shell_page(&pattern)).or_else(|| detector().map(rules::detector_page))
}

pub(crate) fn run(wanted: &str) -> anyhow::Result<Exit> {
    let Some(page) = page(wanted).or_else(|| own_rules::page(wanted)) else {
        let listed = rules::all().flat_map(|rule| [rule.name, rule.bare_name()]);
        let names = listed
            .chain(rules::built_in().map(|(name, ..)| name))
            .chain(AI_DETECTORS.iter().map(|detector| detector.name));
        let hint = nearest(wanted, names).map_or_else(
            || "`probity rules` lists them all".to_owned(),
            |name| format!("did you mean `{name}`? `probity rules` lists them all"),
        );
        return Err(Failure::new(format!("there is no rule `{wanted}`"), hint).into());
    };
    std::io::stdout().lock().write_all(page.as_bytes())?;
    Ok(Exit::Clean)
}

/// The page of one of ShellCheck's findings, which has a manual of its own.
fn shell_page(pattern: &Pattern) -> Option<String> {
    let named = |code: u32| format!("shellcheck/SC{code:04}");
    let code = shell_codes().find(|&code| pattern.matches(&named(code)))?;
    let name = named(code);
    let about = shell_code_about(code).map_or_else(String::new, |about| format!("{about}\n\n"));
    Some(format!(
        "# {name}\n\nA finding of ShellCheck's, with its severity, made by this program itself in the \
         shell of RUN instructions.\n\n## What it does\n\n{about}ShellCheck's own page: \
         <https://www.shellcheck.net/wiki/SC{code:04}>.\n\n`--ignore {name}` switches it off, \
         `--shellcheck off` all of them.\n"
    ))
}
