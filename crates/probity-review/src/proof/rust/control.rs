//! The control of a failing test: runs in which the code returns something else.

use std::fs;

use super::{
    super::{
        Control, Outcome,
        alter::{Answer, Literals, Watch},
        runner::{Built, Placed, Switch, Trial},
        site::{Bench, Site},
        untrusted,
    },
    Rust, switch,
};

/// The flagged file as it was before switches were put into it, if they compile.
pub(super) const ARMED: &str = "armed";

/// Left by a switch that has returned something.
const TRACE: &str = "altered";

impl Rust {
    pub(super) fn alter(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Control {
        let none = "the code cannot be made to return other values";
        let Ok(source) = untrusted::read(&site.out, ARMED) else {
            return Control::Unavailable(none.to_owned());
        };
        let switches = self.switches(site, placed, &source);
        let names: Vec<String> = switches.iter().map(|(_, _, it)| it.name.clone()).collect();
        let mut watch = Watch::of(last).beside(&placed.source, &names, None);
        watch.is_incomplete();
        let same = self.trial(bench, site, placed, built, None);
        watch.saw_same(same.outcome, &same.mark);
        let literals = Literals::of(&placed.source, &last.mark.text());
        let trace = site.out.join(TRACE);
        if ["should_panic", "catch_unwind"].iter().any(|it| placed.source.contains(it)) {
            for (_, _, function) in &switches {
                for text in literals.panics() {
                    let words = format!("{}\u{1f}{}{text}", function.id, switch::PANIC);
                    let trial = self.trial(bench, site, placed, built, Some(&words));
                    if trial.outcome == Outcome::Passed {
                        watch.saw(&function.name, Answer::Failure, trial.outcome, &trial.mark);
                        return watch.end(none);
                    }
                }
            }
        }
        for (_, _, function) in &switches {
            for plan in function.plans(&literals) {
                fs::remove_file(&trace).ok();
                let value = plan.join("");
                let words = format!("{}\u{1f}{value}", function.id);
                let trial = self.trial(bench, site, placed, built, Some(&words));
                // Not called, or nothing could be made up.
                if !trace.is_file() {
                    if plan.is_empty() || value == "0" {
                        continue;
                    }
                    break;
                }
                let answer = Answer::of(&plan, &value);
                watch.saw(&function.name, answer, trial.outcome, &trial.mark);
                if watch.is_over() {
                    return watch.end(none);
                }
            }
        }
        watch.end(none)
    }

    /// Where switches go in a source, what they are, and what they can do.
    pub(super) fn switches(
        &self,
        site: &Site,
        placed: &Placed,
        source: &str,
    ) -> Vec<(usize, String, Switch)> {
        let trace = site.seen_out.join(TRACE).display().to_string();
        switch::switches(source, &placed.source, &placed.flagged, &self.variable, &trace)
    }
}
