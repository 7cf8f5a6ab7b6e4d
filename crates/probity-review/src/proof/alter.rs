//! A control with runs: what a failing test does when the code returns something else.
//!
//! Reach shows that a test runs the code, not that its verdict rests on it: a constant failure
//! behind a helper, a variable or a part of a test looks like any other. So functions that the
//! test may depend on are made to return other values, among them those that the test and its
//! complaint name, since one of them is what the test waits for. If it passes then, or complains
//! of something else, it depends on the code. If nothing that the code could return changes
//! anything, the failure is the test's own.

mod literals;

pub(super) use self::literals::Literals;
use super::{Control, Outcome, constant::without_text, regard, runner::Trial, wanted::Wanted};

/// Alterations of one claim. Each is one run of the test.
pub(super) const MOST_RUNS: usize = 32;

/// Runs after which a change is enough, and nobody looks for a pass any more.
const ENOUGH: usize = 8;

/// Begins the words for a test that passes with something altered.
pub(super) const PASSES: &str = "it passes if ";

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

    /// Whether it complains at the same places, of the same kind of thing.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.is_at_lines_of(other)
    }

    pub(super) fn is_at_lines_of(&self, other: &Self) -> bool {
        self.lines().eq(other.lines())
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
                        format!("{PASSES}{function} returns {value}")
                    }
                    Answer::Failure => format!("{PASSES}{function} fails"),
                    Answer::Nothing => format!("{PASSES}{function} does nothing"),
                });
            }
            // What skips itself then has not come to its complaint because of the code.
            (Outcome::Skipped, Answer::Value(_)) => {
                self.changed = Some(format!("it skips itself by what {function} returns"));
            }
            (_, Answer::Value(_)) if changed == Some(true) && !self.unsteady => {
                self.changed = Some(format!("its failure changes with what {function} returns"));
            }
            (_, Answer::Nothing) if changed == Some(true) && !self.unsteady => {
                self.changed = Some(format!("its failure changes if {function} does nothing"));
            }
            (_, Answer::Value(_)) if changed.is_some() => self.tried += 1,
            // A process that died, or a test that skipped itself, says nothing either way.
            _ => {}
        }
    }

    /// Puts the value with which the test has just passed into words that a reader understands.
    pub(super) fn tell(&mut self, function: &str, value: &str) {
        let value: String = value.chars().take(80).collect();
        if let Some(found) = &mut self.found {
            *found = format!("{PASSES}{function} returns {value}");
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
