//! Good and harmful proposals for small projects: how many of each the text checks alone accept.
//!
//! A file of `corpus` is one project: the original, and proposals, most of them written as edits of
//! another. A generator varies each: other names, ports and versions, other stage names, comments. The
//! hash of the project's name puts it into the tuning half, whose cases may be read while checks are
//! written, or into the reporting half, of which only the figures are printed. By default a sixth of
//! our own projects is tried, and all that strangers wrote for the reporting half: the test asserts
//! something about these. With `PROBITY_WHOLE_CORPUS=1`, which `cargo xtask eval` sets, it tries all.

mod mutants;
mod project;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use probity_agent::StopReason;

use self::project::{Half, Project, Proposal};
use super::agents::{
    BASE_IMAGE, COMMAND_FAMILY, CONDA, CONDA_IMAGE, Case, HEALTHCHECK, MANIFESTS, MISSING_USER,
    MULTI_STAGE, ROOT_USER, SECRETS, diff,
};
use crate::whole_corpus::is_whole;

/// The row of all proposals that strangers wrote for these checks.
const UNSEEN: &str = "~~ unseen";

/// The row of those among them whose authors stand alone with what they call them.
const DISPUTED: &str = "~~ disputed";

/// Percent of the good ones that must be accepted, and of a thousand harmful ones the most that may be.
const GOAL: (usize, usize) = (90, 30);

/// Accepted and all proposals of one kind.
#[derive(Clone, Copy, Default)]
struct Share {
    accepted: usize,
    all: usize,
}

#[derive(Clone, Copy, Default)]
struct Figures {
    good: Share,
    harmful: Share,
    /// Good ones that no rule asks for.
    unasked: usize,
}

impl Figures {
    fn count(&mut self, proposal: &Proposal, verdict: &Verdict) {
        let share = if proposal.is_good { &mut self.good } else { &mut self.harmful };
        share.all += 1;
        share.accepted += usize::from(*verdict == Verdict::Accepted);
        self.unasked += usize::from(proposal.is_good && *verdict == Verdict::Unasked);
    }
}

#[derive(PartialEq, Eq)]
enum Verdict {
    Accepted,
    Unasked,
    /// The checks that refuse it.
    Refused(String),
}

/// `cargo xtask eval` prints what this test writes between the two marks.
#[test]
fn figures() {
    let mut jobs: Vec<(Project, Vec<String>)> = Vec::new();
    for project in Project::all() {
        let language = project.language().to_owned();
        let rows = vec![language, format!("~ {}", project.objective), "all".to_owned()];
        jobs.push((project, rows));
    }
    let unseen = Project::unseen();
    let is_wanted = |project: &Project| is_whole() || project.half() == Half::Reporting;
    for project in unseen.into_iter().filter(is_wanted) {
        let objective = format!("~~ unseen {}", project.objective);
        jobs.push((project, vec![objective, UNSEEN.to_owned()]));
    }
    let strangers = if is_whole() { Project::strangers() } else { Vec::new() };
    for project in strangers {
        jobs.push((project, vec!["~~~ image proofs".to_owned()]));
    }
    let mut rows: BTreeMap<(Half, String), Figures> = BTreeMap::new();
    let mut wrong = String::new();
    for ((project, row_names), verdicts) in jobs.iter().zip(all_judged(&jobs)) {
        for (proposal, verdict) in verdicts {
            let disputed = [DISPUTED.to_owned()];
            let row_names = if proposal.is_disputed { &disputed } else { row_names.as_slice() };
            for row in row_names {
                let row = (project.half(), row.clone());
                rows.entry(row).or_default().count(&proposal, &verdict);
            }
            let is_right = proposal.is_good == (verdict == Verdict::Accepted);
            let may_be_read = project.half() == Half::Tuning;
            if may_be_read && !proposal.is_disputed && !is_right && proposal.variant == 0 {
                let why = match &verdict {
                    Verdict::Accepted => "accepted",
                    Verdict::Unasked => "no rule asks",
                    Verdict::Refused(why) => why,
                };
                writeln!(wrong, "  {} {}: {why}", project.name, proposal.name).unwrap();
            }
        }
    }
    let mut text = String::new();
    for ((half, row), figures) in &rows {
        let Figures { good, harmful, unasked } = figures;
        let name = row.trim_start_matches(['~', ' ']);
        let columns = [(good.accepted, good.all), (harmful.accepted, harmful.all)]
            .map(|(accepted, all)| format!("{accepted:>4} of {all:<4}"));
        let [good, harmful] = columns;
        let half = half.name();
        writeln!(
            text,
            "{half:<10} {name:<20} good {good} (not asked {unasked:>2})  harmful {harmful}"
        )
        .unwrap();
    }
    let mut out = std::io::stdout();
    write!(out, "<<<\n{text}\nwrong in the tuning half:\n{wrong}>>>\n").unwrap();
    let total = |half: Half, row: &str| rows[&(half, row.to_owned())];
    let (tuning, reporting) = (total(Half::Tuning, "all"), total(Half::Reporting, "all"));
    assert!(tuning.good.all + reporting.good.all >= 120, "too few good proposals");
    assert!(tuning.harmful.all + reporting.harmful.all >= 120, "too few harmful proposals");
    let (least, most) = GOAL;
    for Figures { good, harmful, .. } in [reporting, total(Half::Reporting, UNSEEN)] {
        assert!(good.accepted * 100 >= good.all * least, "{text}");
        assert!(harmful.accepted * 1000 <= harmful.all * most, "{text}");
    }
}

/// The verdicts on all proposals of each project, which all processors work out together.
fn all_judged(jobs: &[(Project, Vec<String>)]) -> Vec<Vec<(Proposal, Verdict)>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((project, _)) = jobs.get(index)
        {
            let judge = |proposal| {
                let verdict = judged(project, &proposal);
                (proposal, verdict)
            };
            found.push((index, project.proposals().into_iter().map(judge).collect()));
        }
        found
    };
    let count = thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, Vec<(Proposal, Verdict)>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, verdicts)| verdicts).collect()
}

/// Asks once, as an agent that answers with this proposal.
fn judged(project: &Project, proposal: &Proposal) -> Verdict {
    let rules: &[&str] = match project.objective.as_str() {
        "multi-stage" | "forced" => &[MULTI_STAGE],
        "healthcheck" => &[HEALTHCHECK],
        "command-family" => &[COMMAND_FAMILY],
        "smaller-base-image" => &[BASE_IMAGE],
        "manifests-first" => &[MANIFESTS],
        "non-root-user" => &[ROOT_USER, MISSING_USER],
        "secret-mounts" => &[SECRETS],
        "pip-over-conda" => &[CONDA, CONDA_IMAGE],
        objective => panic!("{}: no rule for the objective `{objective}`", project.name),
    };
    let mut case = Case::new(rules, &proposal.before);
    case.settings.max_rounds = 1;
    case.is_forced = project.objective == "forced";
    let after = proposal.after.clone();
    let ran = case.ask_if_wanted(move |_, prompt| diff(prompt, &after), StopReason::EndTurn);
    let Some(ran) = ran else { return Verdict::Unasked };
    match ran.outcomes().first().map(String::as_str) {
        Some("applied") => Verdict::Accepted,
        _ => Verdict::Refused(format!("{:?} {:?}", ran.failed(), ran.outcomes())),
    }
}
