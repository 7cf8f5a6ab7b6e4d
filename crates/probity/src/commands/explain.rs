//! `explain`: the manual page of one rule.

use probity_lint::{AI_DETECTORS, Pattern, shell_code_about, shell_codes};
use probity_report::{Paint, Screen};

use crate::{
    commands::{own_rules, rules},
    config::nearest,
    exit::Exit,
    failure::Failure,
    screen,
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
        return Err(Failure::new(format!("unknown rule `{wanted}`"), hint).into());
    };
    let screen = screen::stdout();
    screen::print(&painted(&reflowed(&page, screen), screen))?;
    Ok(Exit::Clean)
}

/// The page with its paragraphs broken again, as wide as the screen. Code, lists and tables keep their lines.
fn reflowed(page: &str, screen: Screen) -> String {
    if screen.width.is_none() {
        return page.to_owned();
    }
    let mut text = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut is_code = false;
    for line in page.lines().chain([""]) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_prose = line.starts_with(|first: char| first.is_alphanumeric() || first == '`');
        if is_prose && !is_code && !is_fence {
            paragraph.push(line);
            continue;
        }
        if !paragraph.is_empty() {
            text.push_str(&screen.folded_after(0, &paragraph.join(" ")));
            text.push('\n');
            paragraph.clear();
        }
        text.push_str(line);
        text.push('\n');
    }
    // The line that ends the last paragraph is not one of the page.
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    text
}

/// The page with its headings in bold.
fn painted(page: &str, screen: Screen) -> String {
    let mut is_example = false;
    let lines = page.split_inclusive('\n').map(|line| {
        is_example ^= line.starts_with("```");
        match line.strip_suffix('\n') {
            Some(text) if text.starts_with('#') && !is_example => {
                format!("{}\n", screen.painted(Paint::Strong, text))
            }
            _ => line.to_owned(),
        }
    });
    lines.collect()
}

/// The page of a ShellCheck finding, which also has a page in ShellCheck's wiki.
fn shell_page(pattern: &Pattern) -> Option<String> {
    let named = |code: u32| format!("shellcheck/SC{code:04}");
    let code = shell_codes().find(|&code| pattern.matches(&named(code)))?;
    let name = named(code);
    let about = shell_code_about(code).map_or_else(String::new, |about| format!("{about}\n\n"));
    Some(format!(
        "# {name}\n\nA ShellCheck finding about the shell code of a `RUN` instruction. probity finds it \
         without the shellcheck program.\n\n## What it does\n\n{about}ShellCheck's own page: \
         <https://www.shellcheck.net/wiki/SC{code:04}>.\n\n`--ignore {name}` turns it off; \
         `--shellcheck off` turns off all ShellCheck findings.\n"
    ))
}
