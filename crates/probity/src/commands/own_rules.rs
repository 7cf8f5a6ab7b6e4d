//! `rules test`, and the pages of rules that a configuration has.

use std::io::Write as _;

use probity_lint::{OwnRule, Pattern, WrongExample};
use probity_report::counts::plural;

use crate::{commands::check, config::Choice, exit::Exit, failure::Failure, streams};

/// Tries the examples of every rule of the configuration.
pub(crate) fn test(choice: Choice) -> anyhow::Result<Exit> {
    let rules = check::own_rules(choice)?;
    if rules.is_empty() {
        let way_out = "add a [[check.rule]] with name, message and when to probity.toml, for example when = 'commands.exists(c, c.name == \"sudo\")'";
        return Err(Failure::new("the configuration defines no rules", way_out).into());
    }
    let mut out = streams::stdout().lock();
    let mut wrong_examples = 0;
    for rule in &rules {
        let wrong = rule.wrong_examples();
        wrong_examples += wrong.len();
        let verdict = match (wrong.len(), rule.examples()) {
            (0, 0) => "no examples".to_owned(),
            (0, all) => format!("{} as expected", plural(all, "example")),
            (wrong, all) => format!("{wrong} of {} wrong", plural(all, "example")),
        };
        writeln!(out, "{}: {verdict}", rule.name())?;
        for example in wrong {
            writeln!(out, "{}", in_words(&example))?;
        }
    }
    Ok(if wrong_examples == 0 { Exit::Clean } else { Exit::Findings })
}

fn in_words(example: &WrongExample) -> String {
    let (what, texts) = match example {
        WrongExample::Silent(text) => ("the rule does not report this bad example:", vec![text]),
        WrongExample::Reported(text) => ("the rule reports this good example:", vec![text]),
        WrongExample::NotFixed(text, fixed) => {
            ("the rule still reports this bad example after its fix:", vec![text, fixed])
        }
    };
    let mut words = format!("  {what}");
    for line in texts.iter().flat_map(|text| text.lines()) {
        words.push_str(&format!("\n    {line}"));
    }
    words
}

/// The page of a rule of the configuration in force here.
pub(crate) fn page(wanted: &str) -> Option<String> {
    let rules = check::own_rules(Choice::Nearest).ok()?;
    let pattern = Pattern::new(wanted);
    rules.iter().find(|rule| pattern.matches(rule.name())).map(|rule| OwnRule::page(rule))
}
