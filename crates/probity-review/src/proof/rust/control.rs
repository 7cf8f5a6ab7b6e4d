//! The control of a failing test: runs in which the code returns something else, or holds it.

use super::{
    super::{
        Control, Outcome,
        alter::{Answer, Literals, Watch},
        runner::{Placed, Switch, Trial},
        untrusted,
    },
    Case, Rust, marks, own, source, switch,
};

/// The flagged file as it was before switches were put into it, if they compile.
pub(super) const ARMED: &str = "armed";

/// What a control by constants has shown: one of these, and words of it.
pub(super) const BY_CONSTANT: &str = "constant";
pub(super) const DEPENDS: &str = "depends: ";
pub(super) const CONSTANT: &str = "constant: ";

const NONE: &str = "the code cannot be made to return other values";

impl Rust {
    /// What all controls together have shown.
    pub(super) fn controlled(&self, case: &Case<'_>) -> Control {
        let Case { site, placed, last, .. } = case;
        let told = untrusted::read(&site.out, &self.channel.name).unwrap_or_default();
        if last.crashed {
            let inside = marks::died_inside(&told, &last.output);
            return match inside && !source::ends_itself(&placed.source) {
                true => Control::Depends("the process ends in the code itself".to_owned()),
                false => Control::Unavailable("the process ends in the test".to_owned()),
            };
        }
        // The libraries of others are seen by their full paths. What a hook says is the test's.
        let of_code = last.mark.broken && !last.mark.kind.starts_with('/');
        if of_code && marks::is_thrown(&told) && !placed.source.contains("set_hook") {
            return Control::Depends("the failure comes out of the code itself".to_owned());
        }

        // Nothing of the test has run since it was written.
        let by_constant = untrusted::read(&site.out, BY_CONSTANT).unwrap_or_default();
        if let Some(how) = by_constant.strip_prefix(DEPENDS) {
            return Control::Depends(how.to_owned());
        }
        let control = match by_constant.strip_prefix(CONSTANT) {
            Some(names) => Control::Constant(names.to_owned()),
            None => self.alter(case),
        };
        let Control::Unavailable(_) = &control else { return control };
        let lines = last.mark.complaints.iter().flat_map(|(lines, _)| lines).copied().collect();
        let code = untrusted::read(&site.repo, &placed.flagged.file).unwrap_or_default();
        match own::looks_at_nothing(&placed.source, &lines, &code) {
            true => Control::Constant("the code".to_owned()),
            false => control,
        }
    }

    fn alter(&self, case: &Case<'_>) -> Control {
        let Case { site, placed, last, .. } = case;
        let Ok(source) = untrusted::read(&site.out, ARMED) else {
            return Control::Unavailable(NONE.to_owned());
        };
        let switches = self.switches(placed, &source);
        let names: Vec<String> = switches.iter().map(|(_, _, it)| it.name.clone()).collect();
        let mut watch = Watch::of(last).beside(&placed.source, &names, None);
        if !switch::are_all(&switches, &source, &placed.source) {
            watch.is_incomplete();
        }
        let plain = || self.again(case, None).0;
        let same = plain();
        // It passes because of the switches, which do nothing yet, or because it was run before.
        if same.outcome == Outcome::Passed {
            return Control::Constant(names.join(", "));
        }
        watch.saw_same(same.outcome, &same.mark);
        let literals = Literals::of(&placed.source, &last.mark.text());
        let found = |watch: Watch| match plain().outcome {
            Outcome::Passed => Control::Constant(names.join(", ")),
            _ => watch.end(NONE),
        };
        if ["should_panic", "catch_unwind"].iter().any(|it| placed.source.contains(it)) {
            for (_, _, function) in &switches {
                for text in literals.panics() {
                    let words = format!("{}{text}", switch::PANIC);
                    let plan = Some((function.id, words.as_str()));
                    let (trial, _) = self.again(case, plan);
                    if trial.outcome == Outcome::Passed {
                        watch.saw(&function.name, Answer::Failure, trial.outcome, &trial.mark);
                        return found(watch);
                    }
                }
            }
        }
        for (_, _, function) in &switches {
            for plan in function.plans(&literals) {
                let value = plan.join("");
                let words = Some((function.id, value.as_str()));
                let (trial, altered) = self.again(case, words);
                // Not called, or nothing could be made up.
                if altered == 0 {
                    if plan.is_empty() || value == "0" {
                        continue;
                    }
                    break;
                }
                if altered > 1 {
                    watch.is_incomplete();
                }
                let answer = Answer::of(&plan, &value);
                watch.saw(&function.name, answer, trial.outcome, &trial.mark);
                if trial.outcome == Outcome::Passed && !plan.is_empty() {
                    watch.tell(&function.name, &function.shown(&plan));
                }
                if watch.is_over() {
                    return found(watch);
                }
            }
        }
        watch.end(NONE)
    }

    /// Where switches go in a source, what they are, and what they can do.
    pub(super) fn switches(&self, placed: &Placed, source: &str) -> Vec<(usize, String, Switch)> {
        switch::switches(source, &placed.source, &placed.flagged, &self.channel)
    }

    /// The test once more.
    pub(super) fn again(&self, case: &Case<'_>, plan: Option<(usize, &str)>) -> (Trial, usize) {
        self.trial(case.bench, case.site, case.placed, case.built, plan)
    }
}
