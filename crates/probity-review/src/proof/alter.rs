//! A control with runs: what a failing test does when the code returns something else.
//!
//! Reach shows that a test runs the code, not that its verdict rests on it: a constant failure
//! behind a helper, a variable or a part of a test looks like any other. So functions that the
//! test may depend on are made to return other values, among them those that the test and its
//! complaint name, since one of them is what the test waits for. If it passes then, or complains
//! of something else, it depends on the code. If nothing that the code could return changes
//! anything, the failure is the test's own.

use super::{
    Control, Outcome,
    constant::without_text,
    runner::{Switch, Trial, Values},
};

/// Values of one kind that are tried for one result.
const MOST_OF_A_KIND: usize = 10;

/// Alterations of one claim. Each is one run of the test.
pub(super) const MOST_RUNS: usize = 32;

/// What a function without a result is made to do. If that changes nothing, nothing is shown: its
/// effects may be what the test looks at, and they were missing before.
pub(super) const NOTHING: &str = "without doing anything";

/// What is known after some alterations were tried.
#[derive(Debug, Default)]
pub(super) struct Watch {
    original: String,
    most: usize,
    /// Whether the complaint changes by itself, so that a change shows nothing.
    noisy: bool,
    runs: usize,
    tried: usize,
    found: Option<String>,
    changed: Option<String>,
    names: Vec<String>,
}

impl Watch {
    pub(super) fn of(last: &Trial) -> Self {
        Self { original: last.mark.clone(), most: MOST_RUNS, noisy: last.noisy, ..Self::default() }
    }

    pub(super) fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Takes in a run in which nothing was altered.
    pub(super) fn saw_same(&mut self, trial: &Trial) {
        self.noisy |= trial.outcome != Outcome::Failed || trial.mark != self.original;
    }

    /// Takes in one run, and says whether there is nothing more to find out.
    pub(super) fn saw(&mut self, function: &str, value: &str, trial: &Trial) -> bool {
        self.saw_mark(function, value, trial.outcome, &trial.mark)
    }

    pub(super) fn saw_mark(
        &mut self,
        function: &str,
        value: &str,
        outcome: Outcome,
        mark: &str,
    ) -> bool {
        if !self.names.iter().any(|name| name == function) {
            self.names.push(function.to_owned());
        }
        self.runs += 1;
        match outcome {
            Outcome::Passed => {
                let value: String = value.chars().take(80).collect();
                self.found = Some(format!("it passes if {function} returns {value}"));
            }
            Outcome::Failed => {
                self.tried += usize::from(value != NOTHING);
                if mark != self.original && self.changed.is_none() && !self.noisy {
                    self.changed = Some(format!("its failure changes with what {function} does"));
                }
            }
            // A process that died, or a test that skipped itself, says nothing either way.
            _ => {}
        }
        self.is_over()
    }

    pub(super) fn is_over(&self) -> bool {
        self.found.is_some() || self.runs >= self.most
    }

    pub(super) fn end(self, none: &str) -> Control {
        match (self.found.or(self.changed), self.tried) {
            (Some(how), _) => Control::Depends(how),
            (None, 0) => Control::Unavailable(none.to_owned()),
            (None, _) if self.noisy => {
                Control::Unavailable("its complaint is another each time".to_owned())
            }
            (None, _) => Control::Constant(self.names.join(", ")),
        }
    }
}

/// The literals of a test and of its complaint.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// As they are written, without what is between their digits for the eye.
    pub(super) numbers: Vec<String>,
    /// What is between the quotes, with escapes resolved where they are the usual ones.
    pub(super) strings: Vec<String>,
}

impl Literals {
    /// Those of the complaint first: what it names is what the test waits for.
    pub(super) fn of(test: &str, complaint: &str) -> Self {
        let mut literals = Self::default();
        literals.collect(complaint);
        literals.collect(test);
        for number in ["0", "1", "2", "7919", "-1", "3"] {
            push(&mut literals.numbers, number.to_owned());
        }
        for text in ["", "probity"] {
            push(&mut literals.strings, text.to_owned());
        }
        literals
    }

    fn collect(&mut self, text: &str) {
        let bare = without_text(text);
        let mut rest = text.char_indices().peekable();
        let mut previous = ' ';
        while let Some((at, character)) = rest.next() {
            let is_code = bare.as_bytes().get(at).is_some_and(|byte| !byte.is_ascii_whitespace());
            if is_code && matches!(character, '"' | '\'' | '`') {
                let mut inner = String::new();
                let mut closed = false;
                while let Some((_, next)) = rest.next() {
                    if next == character {
                        closed = true;
                        break;
                    }
                    if next == '\\' && character != '`' {
                        inner.extend(rest.next().map(|(_, escaped)| match escaped {
                            'n' => '\n',
                            't' => '\t',
                            other => other,
                        }));
                    } else {
                        inner.push(next);
                    }
                }
                if closed && inner.len() <= 400 {
                    push(&mut self.strings, inner);
                }
                previous = character;
                continue;
            }
            let begins = is_code && character.is_ascii_digit();
            if begins && !previous.is_alphanumeric() && previous != '_' {
                let mut number = String::from(character);
                while let Some((_, next)) =
                    rest.next_if(|(_, next)| next.is_ascii_alphanumeric() || "._".contains(*next))
                {
                    number.push(next);
                }
                let number = number.replace('_', "");
                let number = number.trim_end_matches('.');
                if previous == '-' {
                    push(&mut self.numbers, format!("-{number}"));
                }
                push(&mut self.numbers, number.to_owned());
            }
            previous = character;
        }
    }
}

impl Switch {
    /// The values that its results are given, one list for each run.
    pub(super) fn plans(&self, literals: &Literals) -> Vec<Vec<String>> {
        let mut plans = vec![Vec::new()];
        for values in self.results.iter().rev() {
            let values: Vec<String> = match values {
                Values::Number => literals.numbers.clone(),
                Values::Text => literals.strings.clone(),
                Values::Truth => ["true", "false"].map(str::to_owned).to_vec(),
                Values::Failure(names) => {
                    let named = names.iter().map(|name| format!("={name}"));
                    [String::new(), "probity".to_owned()].into_iter().chain(named).collect()
                }
                Values::Numbered(count) => (0..*count).map(|number| number.to_string()).collect(),
            };
            // The first result changes fastest: the last is a failure or a yes, as a rule.
            plans = plans
                .iter()
                .flat_map(|behind| {
                    values.iter().map(move |value| {
                        let mut plan = vec![value.clone()];
                        plan.extend(behind.iter().cloned());
                        plan
                    })
                })
                .take(MOST_RUNS)
                .collect();
        }
        plans
    }
}

fn push(list: &mut Vec<String>, value: String) {
    if list.len() < MOST_OF_A_KIND && !list.contains(&value) {
        list.push(value);
    }
}

/// Every word of a source outside of comments and strings.
pub(super) fn words(source: &str) -> std::collections::BTreeSet<String> {
    without_text(source)
        .split(|end: char| !end.is_alphanumeric() && end != '_' && end != '$')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Control, Literals, Outcome, Watch, words};

    #[test]
    fn literals_of_the_complaint_come_first_and_those_of_the_test_behind() {
        let test =
            "// 99 \"no\"\nif got := F2(-3, 1_000); got != 0x10 { t.Fatal(\"a\\\"b\", `raw`) }";
        let found = Literals::of(test, "got 4, want \"four\"");
        assert_eq!(found.numbers, ["4", "-3", "3", "1000", "0x10", "0", "1", "2", "7919", "-1"]);
        assert_eq!(found.strings, ["four", "a\"b", "raw", "", "probity"]);
        assert!(Literals::of("'", "\"").strings.contains(&String::new()));
    }

    #[test]
    fn words_are_those_of_the_code_alone() {
        let found = words("a.Bc(d$) // e\n\"f\"");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["0", "Bc", "a", "d$"]);
    }

    #[test]
    fn a_pass_is_the_end_and_a_change_is_enough() {
        use Outcome::{Failed, HarnessError, Passed};
        let watch = || Watch { original: "bad".to_owned(), most: 9, ..Watch::default() };
        let mut seen = watch();
        assert!(!seen.saw_mark("F", "1", Failed, "bad"));
        assert!(seen.saw_mark("F", "2", Passed, ""));
        assert_eq!(seen.end(""), Control::Depends("it passes if F returns 2".to_owned()));
        let mut seen = watch();
        assert!(!seen.saw_mark("F", "1", Failed, "other"));
        assert!(matches!(seen.end(""), Control::Depends(_)));
        let mut seen = watch();
        seen.saw_mark("F", "1", Failed, "bad");
        seen.saw_mark("G", "1", Failed, "bad");
        assert_eq!(seen.end(""), Control::Constant("F, G".to_owned()));
        let mut seen = watch();
        seen.saw_mark("F", "1", HarnessError, "");
        assert_eq!(seen.end("no"), Control::Unavailable("no".to_owned()));
    }
}
