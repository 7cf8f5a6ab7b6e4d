//! The values that functions are made to return: those that the test and its complaint name first.

use super::MOST_RUNS;
use crate::proof::{
    constant::without_text,
    runner::{Switch, Values},
};

/// Values of one kind that are tried for one result.
const MOST_OF_A_KIND: usize = 10;

/// Panics that are tried for one function.
const MOST_PANICS: usize = 4;

/// The literals of a test and of its complaint.
#[derive(Debug, Default)]
pub(in crate::proof) struct Literals {
    /// As they are written, without what is between their digits for the eye.
    pub(in crate::proof) numbers: Vec<String>,
    /// What is between the quotes, with escapes resolved where they are the usual ones.
    pub(in crate::proof) strings: Vec<String>,
}

impl Literals {
    /// Those of the complaint first: what it names is what the test waits for.
    pub(in crate::proof) fn of(test: &str, complaint: &str) -> Self {
        let mut literals = Self::default();
        literals.collect(complaint);
        let told = (literals.numbers.len(), literals.strings.len());
        literals.collect(test);
        // What both name first of all.
        let mut own = Self::default();
        own.collect(test);
        if let Some(numbers) = literals.numbers.get_mut(..told.0) {
            numbers.sort_by_key(|number| !own.numbers.contains(number));
        }
        if let Some(strings) = literals.strings.get_mut(..told.1) {
            strings.sort_by_key(|text| !own.strings.contains(text));
        }
        for number in ["0", "1", "2", "7919", "-1", "3"] {
            push(&mut literals.numbers, number.to_owned());
        }
        for text in ["", "probity"] {
            push(&mut literals.strings, text.to_owned());
        }
        literals
    }

    /// With those first that the test compares something with: one of them is what it waits for.
    pub(in crate::proof) fn compared_first(mut self, test: &str) -> Self {
        let bare = without_text(test);
        let mut compared = Self::default();
        for (at, sign) in bare.match_indices("!=").chain(bare.match_indices("==")) {
            let behind = bare.get(at + sign.len()..).unwrap_or_default();
            let length = behind.find(['{', '\n', ')', '&', '|']).unwrap_or(behind.len());
            let from = at + sign.len();
            compared.collect(test.get(from..from + length).unwrap_or_default());
        }
        self.numbers.sort_by_key(|number| !compared.numbers.contains(number));
        self.strings.sort_by_key(|text| !compared.strings.contains(text));
        self
    }

    /// Words of a panic that a test may wait for.
    pub(in crate::proof) fn panics(&self) -> impl Iterator<Item = &str> {
        let named = self.strings.iter().map(String::as_str).filter(|it| !it.is_empty());
        named.take(MOST_PANICS).chain(["probity"])
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
                // Rust and JavaScript may write the kind of a number behind it.
                let plain = |it: char| it.is_ascii_digit() || ".eE".contains(it);
                let number = match number.starts_with("0x") || number.starts_with("0b") {
                    true => number.as_str(),
                    false => number.split(|it| !plain(it)).next().unwrap_or(&number),
                };
                let number = number.trim_end_matches('.');
                // Addresses and versions are none.
                if !number.starts_with('0') && number.parse::<f64>().is_err() {
                    previous = character;
                    continue;
                }
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
    pub(in crate::proof) fn plans(&self, literals: &Literals) -> Vec<Vec<String>> {
        let mut plans = vec![Vec::new()];
        for values in self.results.iter().rev() {
            let values = values.list(literals);
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

    /// The values of a plan in words.
    pub(in crate::proof) fn shown(&self, plan: &[String]) -> String {
        let shown = self.results.iter().zip(plan).map(|(values, value)| values.shown(value));
        shown.collect::<Vec<_>>().join(", ")
    }
}

impl Values {
    fn shown(&self, value: &str) -> String {
        match self {
            Self::Number | Self::Truth => value.to_owned(),
            Self::Text => format!("{value:?}"),
            Self::Failure(_) => match value.strip_prefix('=') {
                Some(name) => name.to_owned(),
                None if value.is_empty() => "nil".to_owned(),
                None => "an error".to_owned(),
            },
            Self::Numbered(_) if value == "0" => "its usual value".to_owned(),
            Self::Numbered(_) => "another value".to_owned(),
            Self::Optional(_) if value == "none" => "none".to_owned(),
            Self::Optional(values) => values.shown(value),
        }
    }

    fn list(&self, literals: &Literals) -> Vec<String> {
        match self {
            Self::Number => literals.numbers.clone(),
            Self::Text => literals.strings.clone(),
            Self::Truth => ["true", "false"].map(str::to_owned).to_vec(),
            Self::Failure(names) => {
                let named = names.iter().map(|name| format!("={name}"));
                [String::new(), "probity".to_owned()].into_iter().chain(named).collect()
            }
            Self::Numbered(count) => (0..*count).map(|number| number.to_string()).collect(),
            Self::Optional(values) => {
                let mut list = values.list(literals);
                list.insert(list.len().min(1), "none".to_owned());
                list
            }
        }
    }
}

fn push(list: &mut Vec<String>, value: String) {
    if list.len() < MOST_OF_A_KIND && !list.contains(&value) {
        list.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::{Switch, Values};

    #[test]
    fn values_are_told_as_they_are_written() {
        let failure = Values::Failure(vec!["ErrGone".to_owned()]);
        let optional = Values::Optional(Box::new(Values::Text));
        let results = vec![Values::Number, failure, optional, Values::Numbered(2)];
        let switch = Switch { id: 1, name: "F".to_owned(), results };
        for (plan, expected) in [
            (["4", "", "a", "0"], "4, nil, \"a\", its usual value"),
            (["4", "probity", "none", "1"], "4, an error, none, another value"),
            (["-1", "=ErrGone", "", "1"], "-1, ErrGone, \"\", another value"),
        ] {
            assert_eq!(switch.shown(&plan.map(str::to_owned)), expected);
        }
    }
}
