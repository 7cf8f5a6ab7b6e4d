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
    Framework, JavaScript, bound,
    events::{self, Event, Test, mark},
    failure, framework,
    switch::{self, Function},
    titles::{filter, find},
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
        let mut functions = bound(&source, placed);
        let timing = if functions.is_empty() { Timing::Within } else { Timing::BeforeImports };
        functions.extend(switch::wanted(&source, &placed.flagged, &alter::words(&placed.source)));
        if functions.is_empty() {
            return Err(NONE.to_owned());
        }
        site.write(path, &switch::armed(&source, &functions, &self.variable))?;
        let told = site.seen_out.join("calls").display().to_string();
        let telling = switch::telling(&told, &self.variable);
        let copies = |first: usize, beginnings: &[String]| {
            self.copies(bench, site, placed, &Copies { first, timing, beginnings })
        };
        let twice = copies(0, &[telling.clone(), telling.clone()])?;
        let is_other = |seen: &Seen| {
            seen.outcome == Outcome::Passed
                || (seen.outcome == Outcome::Failed
                    && last.noise < Noise::Places
                    && !seen.mark.is_at_lines_of(&last.mark))
        };
        // Two at the same time may be in each other's way.
        if twice.iter().any(is_other) && copies(0, &[telling])?.iter().any(is_other) {
            return Ok(Control::Unlike);
        }
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
            for (number, (plan, seen)) in some.iter().zip(copies(0, &texts)?).enumerate() {
                if seen.outcome == Outcome::Passed {
                    // The same again, but that it is about no function.
                    let inert = switch::plan(usize::MAX, plan.value, plan.like, &self.variable);
                    let passes = |seen: &Seen| seen.outcome == Outcome::Passed;
                    if copies(number, &[inert])?.iter().any(passes) {
                        return Ok(Control::Unlike);
                    }
                }
                let answer = match plan.value {
                    value if failures.iter().any(|it| it == value) => Answer::Failure,
                    value => Answer::Value(value),
                };
                watch.saw(plan.name, answer, seen.outcome, &seen.mark);
                if seen.outcome == Outcome::Passed {
                    if let Answer::Value(value) = answer {
                        watch.tell(plan.name, value.trim_matches(['(', ')']));
                    }
                    break;
                }
            }
        }
        Ok(watch.end(NONE))
    }

    /// Runs copies of the test, each behind its beginning.
    fn copies(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        copies: &Copies<'_>,
    ) -> Result<Vec<Seen>, String> {
        let (stem, ending) =
            placed.path.rsplit_once("/").map_or(("", placed.path.as_str()), |it| it);
        let (name, kind) = ending.split_once('.').unwrap_or((ending, "js"));
        let slash = if stem.is_empty() { "" } else { "/" };
        let mut paths = Vec::new();
        let imports = |line: &str| {
            line.strip_prefix("import").is_some_and(|it| it.starts_with([' ', '{', '*', '"', '\'']))
        };
        let early = copies.timing == Timing::BeforeImports && placed.source.lines().any(imports);
        let is_node = framework(&site.repo, &placed.directory) == Framework::Node;
        for (number, beginning) in (copies.first..).zip(copies.beginnings) {
            let path = format!("{stem}{slash}{name}c{number}.{kind}");
            if early {
                // Imports come before everything else, and in their order.
                let ending = kind.rsplit('.').next().unwrap_or(kind);
                let module = format!("{name}c{number}_begin");
                site.write(&format!("{stem}{slash}{module}.{ending}"), beginning)?;
                // Only node wants an ending; compilers of types may refuse it.
                let ending = if is_node { format!(".{ending}") } else { String::new() };
                let import = format!("import \"./{module}{ending}\"; ");
                site.write(&path, &format!("{import}{}", placed.source))?;
            } else {
                site.write(&path, &format!("{beginning}{}", placed.source))?;
            }
            paths.push(path);
        }
        let wanted = filter(&placed.name, &placed.source);
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

/// Copies of the test, and what each begins with.
struct Copies<'a> {
    /// The number of the first in its name.
    first: usize,
    timing: Timing,
    beginnings: &'a [String],
}

/// When the beginning of a copy has to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timing {
    Within,
    /// Before the modules that the test imports.
    BeforeImports,
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
