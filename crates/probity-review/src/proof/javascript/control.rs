//! The control of a failing test: copies of it, each of which makes the code return something else.

use std::collections::BTreeMap;

use super::{
    super::{
        Control, Outcome,
        alter::{self, Answer, Literals, Mark, Noise, Watch},
        regard,
        runner::{Placed, Trial},
        site::{Bench, Site},
        untrusted,
    },
    Framework, JavaScript,
    events::{self, Event, Test, filter, find, mark},
    failure, framework,
    switch::{self, Function},
};

/// Copies that run together: one that passes makes those behind it needless.
const TOGETHER: usize = 14;

/// What is tried with a framework that takes a second to start.
const RUNS_OF_SLOW: usize = 28;

const NONE: &str = "the code cannot be made to return other values";

impl JavaScript {
    pub(super) fn alter(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        last: &Trial,
    ) -> Result<Control, String> {
        let path = &placed.flagged.file;
        let source = untrusted::read(&site.repo, path).map_err(|error| error.to_string())?;
        let functions = switch::wanted(&source, &placed.flagged, &alter::words(&placed.source));
        if functions.is_empty() {
            return Err(NONE.to_owned());
        }
        site.write(path, &switch::armed(&source, &functions, &self.variable))?;
        let told = site.seen_out.join("calls").display().to_string();
        let telling = switch::telling(&told, &self.variable);
        let twice = self.copies(bench, site, placed, &[telling.clone(), telling])?;
        let same = twice.first().ok_or(NONE)?;
        let original = Trial { mark: same.mark.clone(), noise: Noise::Nothing, ..last.clone() };
        if same.outcome != Outcome::Failed {
            return Err("the test does something else with switches in the code".to_owned());
        }
        let names: Vec<String> = functions.iter().map(|it| it.name.clone()).collect();
        let mut watch = Watch::of(&original).beside(&placed.source, &names, None);
        for seen in &twice {
            watch.saw_same(seen.outcome, &seen.mark);
        }
        if framework(&site.repo, &placed.directory) != Framework::Node {
            watch = watch.at_most(RUNS_OF_SLOW);
        }
        let literals = Literals::of(&placed.source, &same.mark.text());
        let failures = failure::expressions(&placed.source, &literals);
        let waits = regard::misses_failure(&same.mark.text()) || placed.source.contains("catch");
        let values = switch::values(&literals, same.expected.as_deref(), &failures, waits);
        let calls = untrusted::read(&site.out, "calls").unwrap_or_default();
        // Each of the two copies has told its own.
        let once = |id: usize| calls.lines().filter(|line| of_function(line, id)).count() <= 2;
        if !(0..functions.len()).all(once) {
            watch.is_incomplete();
        }
        let plans = plans(&functions, &calls, &values);
        for some in plans.chunks(TOGETHER) {
            if watch.is_over() {
                break;
            }
            let texts: Vec<String> = some
                .iter()
                .map(|plan| switch::plan(plan.id, plan.value, plan.like, &self.variable))
                .collect();
            for (plan, seen) in some.iter().zip(self.copies(bench, site, placed, &texts)?) {
                let answer = match plan.value {
                    value if failures.iter().any(|it| it == value) => Answer::Failure,
                    value => Answer::Value(value),
                };
                watch.saw(plan.name, answer, seen.outcome, &seen.mark);
            }
        }
        Ok(watch.end(NONE))
    }

    /// Runs copies of the test, each behind one of these beginnings.
    fn copies(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        beginnings: &[String],
    ) -> Result<Vec<Seen>, String> {
        let (stem, ending) =
            placed.path.rsplit_once("/").map_or(("", placed.path.as_str()), |it| it);
        let (name, kind) = ending.split_once('.').unwrap_or((ending, "js"));
        let slash = if stem.is_empty() { "" } else { "/" };
        let mut paths = Vec::new();
        for (number, beginning) in beginnings.iter().enumerate() {
            let path = format!("{stem}{slash}{name}c{number}.{kind}");
            site.write(&path, &format!("{beginning}{}", placed.source))?;
            paths.push(path);
        }
        let wanted = filter(&placed.name);
        let (_, events) = self.session(bench, site, placed, &paths, wanted.as_deref())?;
        let seen = |path: &String| {
            let file = site.seen_repo.join(path).display().to_string();
            // A file that cannot be loaded is a test of its own name.
            let own = |event: &Event| matches!(event, Event::Test(test) if test.file == file && !file.ends_with(&test.name));
            let events: Vec<Event> = events.iter().filter(|event| own(event)).cloned().collect();
            find(&events, &placed.name).map_or_else(Seen::default, |test| Seen::of(test, &file))
        };
        Ok(paths.iter().map(seen).collect())
    }
}

struct Seen {
    outcome: Outcome,
    mark: Mark,
    expected: Option<String>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { outcome: Outcome::NotRun, mark: Mark::default(), expected: None }
    }
}

impl Seen {
    fn of(test: &Test, file: &str) -> Self {
        let outcome = match test.state.as_str() {
            "passed" => Outcome::Passed,
            // Whatever it is that fails: the mark tells what it is worth.
            "failed" if events::failure(test, file).0 == Outcome::HarnessError && test.harness => {
                Outcome::HarnessError
            }
            "failed" => Outcome::Failed,
            _ => Outcome::Skipped,
        };
        Self { outcome, mark: mark(test, file), expected: test.error.expected.clone() }
    }
}

struct Plan<'a> {
    id: usize,
    name: &'a str,
    value: &'a str,
    like: Option<&'a str>,
}

fn of_function(line: &str, id: usize) -> bool {
    line.split_once(' ').is_some_and(|(number, _)| number.parse() == Ok(id))
}

/// Each value for all calls, and for those that are like the last, since a test with several cases
/// waits for another value in each.
fn plans<'a>(functions: &'a [Function], calls: &'a str, values: &'a [String]) -> Vec<Plan<'a>> {
    let mut called: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (id, arguments) in calls.lines().filter_map(|line| line.split_once(' ')) {
        if let Ok(id) = id.parse() {
            called.entry(id).or_default().push(arguments);
        }
    }
    let mut plans = Vec::new();
    for (id, function) in functions.iter().enumerate() {
        let Some(calls) = called.get(&id) else { continue };
        let last = calls.last().copied();
        let different = calls.iter().any(|call| Some(*call) != last) && function.has_arguments();
        for value in values {
            let name = function.name.as_str();
            plans.push(Plan { id, name, value, like: None });
            if different {
                plans.push(Plan { id, name, value, like: last });
            }
        }
    }
    plans
}
