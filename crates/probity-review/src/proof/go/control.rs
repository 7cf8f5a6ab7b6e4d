//! What a failing test of Go does when functions return something else, or panic.

use std::fs;

use super::{
    super::{
        Control, Outcome,
        alter::{Answer, Literals, Watch},
        runner::{Built, Placed, Trial},
        site::{Bench, Site},
        untrusted,
    },
    Go, arm,
};

/// Values of a function that are tried before it is known whether the test calls it.
const FIRST: usize = 4;

impl Go {
    pub(super) fn alter(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Control {
        let none = "the code cannot be made to return other values";
        let Some(armed) = placed.armed.as_ref().filter(|_| built.armed) else {
            return Control::Unavailable(none.to_owned());
        };
        let literals =
            Literals::of(&placed.source, &last.mark.text()).compared_first(&placed.source);
        let names: Vec<String> = armed.functions.iter().map(|it| it.name.clone()).collect();
        let mut watch = Watch::of(last).beside(&placed.source, &names, None);
        if placed.source.contains("recover()") {
            for (function, text) in armed.panics(&literals) {
                let words = format!("{}\u{1f}0\u{1f}{}\u{1f}{text}", function.id, arm::PANIC);
                let trial = self.trial(bench, site, placed, built, Some(&words));
                if trial.outcome == Outcome::Passed {
                    watch.saw(&function.name, Answer::Failure, trial.outcome, &trial.mark);
                    return watch.end(none);
                }
            }
        }
        // The first values are those that the test waits for, as a rule, so that nothing else has to
        // be found out.
        for function in &armed.functions {
            for plan in function.plans(&literals).iter().take(FIRST) {
                let words = format!("{}\u{1f}0\u{1f}{}", function.id, plan.join("\u{1f}"));
                let trial = self.trial(bench, site, placed, built, Some(&words));
                if trial.outcome == Outcome::Passed {
                    let value = plan.join(", ");
                    let answer = Answer::of(plan, &value);
                    watch.saw(&function.name, answer, trial.outcome, &trial.mark);
                    if !plan.is_empty() {
                        watch.tell(&function.name, &function.shown(plan));
                    }
                    return watch.end(none);
                }
            }
        }
        let mut called = Vec::new();
        for function in &armed.functions {
            let calls = self.calls(bench, site, placed, built, function.id, &mut watch);
            if let Some(last) = calls.last() {
                if calls.len() > 1 {
                    watch.is_incomplete();
                }
                let different = calls.iter().any(|call| call != last);
                called.push((function, different.then(|| last.clone())));
            }
        }
        // All calls first; then those that are like the last, since a test with several cases waits
        // for another value in each.
        for like_last in [false, true] {
            for (function, last) in &called {
                let call = match (like_last, last) {
                    (false, _) => "0",
                    (true, Some(last)) => last.as_str(),
                    (true, None) => continue,
                };
                for plan in function.plans(&literals) {
                    let words = format!("{}\u{1f}{call}\u{1f}{}", function.id, plan.join("\u{1f}"));
                    let trial = self.trial(bench, site, placed, built, Some(&words));
                    let value = plan.join(", ");
                    let answer = Answer::of(&plan, &value);
                    watch.saw(&function.name, answer, trial.outcome, &trial.mark);
                    if trial.outcome == Outcome::Passed && !plan.is_empty() {
                        watch.tell(&function.name, &function.shown(&plan));
                    }
                    if watch.is_over() {
                        return watch.end(none);
                    }
                }
            }
        }
        watch.end(none)
    }

    /// The arguments, by their sums, with which the test calls a function; and whether it complains
    /// as before.
    fn calls(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        function: usize,
        watch: &mut Watch,
    ) -> Vec<String> {
        fs::remove_file(site.out.join("calls")).ok();
        let seen = site.seen_out.join("calls");
        let plan = format!("{function}\u{1f}1\u{1f}{}", seen.display());
        let trial = self.trial(bench, site, placed, built, Some(&plan));
        watch.saw_same(trial.outcome, &trial.mark);
        let told = untrusted::read(&site.out, "calls").unwrap_or_default();
        told.lines().map(str::to_owned).collect()
    }
}
