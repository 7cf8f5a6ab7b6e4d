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
    regard,
    runner::{Switch, Trial, Values},
    wanted::Wanted,
};

/// Values of one kind that are tried for one result.
const MOST_OF_A_KIND: usize = 10;

/// Panics that are tried for one function.
const MOST_PANICS: usize = 4;

/// Alterations of one claim. Each is one run of the test.
pub(super) const MOST_RUNS: usize = 32;

/// Runs after which a change is enough, and nobody looks for a pass any more.
const ENOUGH: usize = 8;

/// What a failing test complained of, without anything that changes from run to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Each with its lines in the test, the outermost first.
    pub(super) complaints: Vec<(Vec<u32>, String)>,
    /// Its class, where there are such.
    pub(super) kind: String,
    /// Whether it is no complaint, but something that broke on the way to one.
    pub(super) broken: bool,
}

impl Mark {
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.complaints.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }

    /// Whether the original complaints changed beyond what changes by itself, if this run has come to
    /// them at all: one that broke or stopped before them says nothing.
    fn changed(&self, original: &Self, noise: Noise) -> Option<bool> {
        if self.broken && self.kind != original.kind {
            return None;
        }
        let last = self.complaints.iter().map(|(lines, _)| lines).max();
        let first = original.complaints.iter().map(|(lines, _)| lines).min();
        if last < first {
            return None;
        }
        let of_original =
            |it: &&(Vec<u32>, String)| original.complaints.iter().any(|(lines, _)| *lines == it.0);
        let seen: Vec<_> = self.complaints.iter().filter(of_original).cloned().collect();
        let seen = Self { complaints: seen, ..self.clone() };
        let original = Self { kind: seen.kind.clone(), broken: seen.broken, ..original.clone() };
        Some(Noise::between(&seen, &original) > noise)
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.complaints.iter().map(|(lines, _)| lines)
    }

    /// Without numbers, such as times and addresses are.
    fn masked(&self) -> Vec<(&Vec<u32>, String)> {
        let mask = |text: &str| {
            let digit = |character: char| if character.is_ascii_digit() { '0' } else { character };
            let mut masked: Vec<char> = text.chars().map(digit).collect();
            masked.dedup_by(|next, previous| *next == '0' && *previous == '0');
            masked.into_iter().collect()
        };
        self.complaints.iter().map(|(lines, text)| (lines, mask(text))).collect()
    }
}

/// How far complaints of the same test differ from run to run. What differs that far by itself does
/// not show by differing that it depends on anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Noise {
    #[default]
    Nothing,
    Numbers,
    Words,
    Places,
}

impl Noise {
    pub(super) fn between(one: &Mark, other: &Mark) -> Self {
        if one == other {
            Self::Nothing
        } else if one.masked() == other.masked() {
            Self::Numbers
        } else if one.lines().eq(other.lines()) {
            Self::Words
        } else {
            Self::Places
        }
    }
}

/// What is known after some alterations were tried.
#[derive(Debug, Default)]
pub(super) struct Watch {
    original: Mark,
    most: usize,
    /// How far the complaint changes by itself.
    noise: Noise,
    /// Whether the test did something else although nothing was altered.
    unsteady: bool,
    /// Why no result may change anything, if that is so.
    beside: Option<String>,
    runs: usize,
    /// Runs that came as far as the original complaint.
    tried: usize,
    found: Option<String>,
    changed: Option<String>,
    names: Vec<String>,
    wanted: Wanted,
    /// Whether what the test wants may be made of the code and be right all the same.
    incomplete: bool,
}

/// What a function was made to do.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer<'a> {
    /// In words.
    Value(&'a str),
    /// A failure in place of a value ends the test by itself, unless the test waits for it.
    Failure,
    /// It has no result. If that changes nothing, nothing is shown: its effects may be what the
    /// test looks at, and they may have been missing before.
    Nothing,
}

impl<'a> Answer<'a> {
    /// What a plan stands for: a function without a result has none.
    pub(super) fn of(plan: &[String], words: &'a str) -> Self {
        if plan.is_empty() { Self::Nothing } else { Self::Value(words) }
    }
}

impl Watch {
    pub(super) fn of(last: &Trial) -> Self {
        Self { original: last.mark.clone(), most: MOST_RUNS, noise: last.noise, ..Self::default() }
    }

    /// Looks for what the test may look at beside results, before it is called constant. What the code
    /// holds is known of Python, whose blocks are known by their indentation.
    pub(super) fn beside(self, test: &str, functions: &[String], held: Option<&[String]>) -> Self {
        let lines = self.original.lines().flatten().copied().collect();
        let complaint = self.original.text();
        let indented = held.is_some();
        let held = held.unwrap_or_default();
        let beside = regard::beside_results(test, &complaint, &lines, functions, held, indented);
        Self { beside, ..self }
    }

    pub(super) fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Says that not everything was tried, or that a function is called more than once: what the
    /// test wants may be made of one call, and what it gets of another.
    pub(super) fn is_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Takes in a run in which nothing was altered.
    pub(super) fn saw_same(&mut self, outcome: Outcome, mark: &Mark) {
        self.unsteady |= outcome != Outcome::Failed;
        self.noise = self.noise.max(Noise::between(mark, &self.original));
    }

    /// Takes in a run in which something was.
    pub(super) fn saw(
        &mut self,
        function: &str,
        answer: Answer<'_>,
        outcome: Outcome,
        mark: &Mark,
    ) {
        if !self.names.iter().any(|name| name == function) {
            self.names.push(function.to_owned());
        }
        self.runs += 1;
        let failed = outcome == Outcome::Failed;
        let changed = failed.then(|| mark.changed(&self.original, self.noise)).flatten();
        if let (Some(_), Answer::Value(value)) = (changed, answer) {
            self.wanted.saw(value, &self.original, mark);
        }
        match (outcome, answer) {
            (Outcome::Passed, answer) => {
                self.found = Some(match answer {
                    Answer::Value(value) => {
                        let value: String = value.chars().take(80).collect();
                        format!("it passes if {function} returns {value}")
                    }
                    Answer::Failure => format!("it passes if {function} fails"),
                    Answer::Nothing => format!("it passes if {function} does nothing"),
                });
            }
            // What skips itself then has not come to its complaint because of the code.
            (Outcome::Skipped, Answer::Value(_)) => {
                self.changed = Some(format!("it skips itself by what {function} returns"));
            }
            (_, Answer::Value(_) | Answer::Nothing) if changed == Some(true) && !self.unsteady => {
                self.changed = Some(format!("its failure changes with what {function} returns"));
            }
            (_, Answer::Value(_)) if changed.is_some() => self.tried += 1,
            // A process that died, or a test that skipped itself, says nothing either way.
            _ => {}
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let is_plain = self.changed.is_some() && !self.wanted.is_suspect();
        let enough = if is_plain { ENOUGH } else { self.most };
        self.found.is_some() || self.runs >= enough.min(self.most)
    }

    pub(super) fn end(self, none: &str) -> Control {
        let complete = !self.incomplete
            && !self.unsteady
            && self.noise == Noise::Nothing
            && self.runs < self.most;
        if self.found.is_none() && complete && self.wanted.is_made_of_the_code() {
            return Control::Moving(self.names.join(", "));
        }
        match (self.found.or(self.changed), self.tried) {
            (Some(how), _) => Control::Depends(how),
            (None, 0) => Control::Unavailable(none.to_owned()),
            // It may be what the code returns already.
            (None, 1) => Control::Unavailable("only one other value could be made up".to_owned()),
            (None, _) if self.unsteady => {
                Control::Unavailable("it does something else each time".to_owned())
            }
            (None, _) => match self.beside {
                Some(why) => Control::Unavailable(why),
                None => Control::Constant(self.names.join(", ")),
            },
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
    pub(super) fn compared_first(mut self, test: &str) -> Self {
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
    pub(super) fn panics(&self) -> impl Iterator<Item = &str> {
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
    pub(super) fn plans(&self, literals: &Literals) -> Vec<Vec<String>> {
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
}

impl Values {
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
    use super::{Answer, Control, Literals, Mark, Outcome, Watch, words};

    #[test]
    fn literals_of_the_complaint_come_first_and_those_of_the_test_behind() {
        let test =
            "// 99 \"no\"\nif got := F2(-3, 1_000i64); got != 0x10 { t.Fatal(\"a\\\"b\", `raw`) }";
        let found = Literals::of(test, "got 4, want \"four\"");
        assert_eq!(found.numbers, ["4", "-3", "3", "1000", "0x10", "0", "1", "2", "7919", "-1"]);
        assert_eq!(found.strings, ["four", "a\"b", "raw", "", "probity"]);
        assert!(!Literals::of("", "at 10.1.1.1:80").numbers.contains(&"10.1.1.1".to_owned()));
        assert!(Literals::of("'", "\"").strings.contains(&String::new()));
    }

    #[test]
    fn what_the_test_compares_with_can_come_first() {
        let test = "if got := F(3, 1); got != 2 || x == \"b{\" {\n\tt.Fatal(\"a\")\n}";
        let found = Literals::of(test, "got 4").compared_first(test);
        assert_eq!(found.numbers.get(..4).unwrap(), ["2", "4", "3", "1"]);
        assert_eq!(found.strings.get(..2).unwrap(), ["b{", "a"]);
    }

    #[test]
    fn words_are_those_of_the_code_alone() {
        let found = words("a.Bc(d$) // e\n\"f\"");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["0", "Bc", "a", "d$"]);
    }

    #[test]
    fn only_what_comes_as_far_as_the_complaint_says_something() {
        use Outcome::{Failed, HarnessError, Passed};
        let mark = |line: u32, text: &str, kind: &str, broken: bool| Mark {
            complaints: vec![(vec![line], text.to_owned())],
            kind: kind.to_owned(),
            broken,
        };
        let constant = Control::Constant("F".to_owned());
        let unknown = Control::Unavailable("no".to_owned());
        let changes = Control::Depends("its failure changes with what F returns".to_owned());
        let table: [(Answer<'_>, Outcome, Mark, &Control); 9] = [
            (Answer::Value("1"), Failed, mark(5, "bad", "A", false), &constant),
            (Answer::Value("1"), Failed, mark(5, "worse", "A", false), &changes),
            (Answer::Value("1"), Failed, mark(6, "later", "A", false), &changes),
            (Answer::Value("1"), Failed, mark(4, "earlier", "A", false), &unknown),
            (Answer::Value("1"), Failed, mark(5, "no member", "T", true), &unknown),
            (Answer::Failure, Failed, mark(5, "thrown", "A", false), &unknown),
            (Answer::Nothing, Failed, mark(5, "bad", "A", false), &unknown),
            (Answer::Value("1"), HarnessError, Mark::default(), &unknown),
            (
                Answer::Failure,
                Passed,
                Mark::default(),
                &Control::Depends("it passes if F fails".to_owned()),
            ),
        ];
        for (answer, outcome, seen, expected) in table {
            let mut watch =
                Watch { original: mark(5, "bad", "A", false), most: 9, ..Watch::default() };
            watch.saw("F", answer, outcome, &seen);
            watch.saw("F", answer, outcome, &seen);
            assert_eq!(watch.end("no"), *expected, "{answer:?} {seen:?}");
        }
        let mut watch = Watch { original: mark(5, "1", "A", false), most: 9, ..Watch::default() };
        watch.saw_same(Failed, &mark(5, "2", "A", false));
        watch.saw("F", Answer::Value("1"), Failed, &mark(5, "3", "A", false));
        assert!(matches!(watch.end("no"), Control::Unavailable(_)));
    }

    #[test]
    fn what_changes_by_itself_shows_nothing_by_changing_and_is_no_way_out() {
        use Outcome::{Failed, Passed};
        let mark = |line: u32, text: &str| Mark {
            complaints: vec![(vec![line], text.to_owned())],
            ..Mark::default()
        };
        // What it says, what it says the second time, and what it says if something is altered.
        let table = [
            ((5, "took 1"), (5, "took 22"), Failed, (5, "took 333"), false),
            ((5, "took 1"), (5, "took 22"), Failed, (5, "took no time"), true),
            ((5, "a"), (5, "b"), Failed, (5, "c"), false),
            ((5, "a"), (5, "b"), Failed, (6, "c"), true),
            ((5, "a"), (6, "b"), Failed, (7, "c"), false),
            ((5, "a"), (6, "b"), Passed, (0, ""), true),
        ];
        for (first, second, outcome, altered, depends) in table {
            let original = mark(first.0, first.1);
            let mut watch = Watch { original, most: 9, ..Watch::default() };
            watch.saw_same(Failed, &mark(second.0, second.1));
            for value in ["1", "2"] {
                watch.saw("F", Answer::Value(value), outcome, &mark(altered.0, altered.1));
            }
            let found = watch.end("no");
            let expected = match depends {
                true => matches!(found, Control::Depends(_)),
                false => found == Control::Constant("F".to_owned()),
            };
            assert!(expected, "{first:?} {second:?} {altered:?}: {found:?}");
        }
    }
}
