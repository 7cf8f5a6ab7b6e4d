//! From the results of all claims to a review.

use probity_proof::Change;

use super::{
    Checkout, Failed, Reviewed, compare, fingerprint, follow::Today, ground::Ground, page::Page,
    question,
};
use crate::{
    Risk,
    claims::{ClaimedFinding, Claims, KnownIssue},
    classify::{Classified, Judged},
    output::{ProvenIssue, ReviewOutput, SCHEMA_VERSION, Score, Status},
    proved::Proved,
    redact::Redactor,
    score::score,
    unstarted, wording,
};

/// The review of claims that all have their result.
pub(super) fn judged(
    checkout: &Checkout,
    ground: &Ground,
    claims: Claims,
    redactor: &Redactor,
) -> Reviewed {
    let mut page = Page::of(&claims);
    let change = ground.change.as_ref();
    let Claims { settings, findings, dropped, known, earlier, settled, .. } = claims;
    let mut results = settled.proved;
    let mut take = |id: &str| {
        let place = results.iter().position(|proved| proved.id == id)?;
        Some(results.swap_remove(place))
    };
    let findings: Vec<(ClaimedFinding, Option<Proved>)> = findings
        .into_iter()
        .map(|claimed| {
            let proved = claimed.id.as_deref().and_then(&mut take);
            (claimed, proved)
        })
        .collect();
    let known: Vec<(KnownIssue, Proved)> = known
        .into_iter()
        .filter_map(|known| {
            let proved = take(&known.id)?;
            Some((known, proved))
        })
        .collect();
    let of_findings = findings
        .iter()
        .filter_map(|(claimed, proved)| Some((&*claimed.finding.file, proved.as_ref()?)));
    let of_known = known.iter().map(|(known, proved)| (&*known.issue.file, proved));
    let tried: Vec<(&str, &Proved)> = of_findings.chain(of_known).collect();
    let (nothing, why) = (unstarted::lacks_every_runner(&tried), unstarted::notes(&tried));
    let mut classified = Classified::default();
    for dropped in dropped {
        classified.discard(&dropped.finding, dropped.reason, redactor);
    }
    classify(&mut classified, findings, change, redactor);
    fingerprint::assign(&mut classified, &ground.scope);
    if nothing {
        return page.failed(Failed::nothing_to_run_with(&why, classified), Some(redactor));
    }
    page.notes.extend(why);
    let changes = earlier.map(|earlier| {
        // The issues are where their code is today already.
        let mut today = Today::new(&checkout.repo, "", &ground.names, &ground.scope);
        let is_reviewed = |path: &str| ground.is_reviewed(&settings.config, path);
        compare::against(earlier, known, &mut today, &mut classified, &is_reviewed, redactor)
    });
    let mut prints = fingerprint::Prints::new(&ground.scope);
    for issue in &mut classified.proven {
        issue.code = redactor.text(&prints.lines(&issue.file, issue.line, issue.end_line));
    }
    for issue in classified.proven.iter_mut().filter(|issue| issue.introduced.is_none()) {
        // There was no such file to have the defect before.
        let is_new = change.is_some_and(|change| change.brings(&issue.file));
        issue.introduced = is_new.then_some(true);
    }
    let score = score(&classified.proven, &settings.config.weights, &settings.bar);
    let Classified { proven, observations, discarded, summary, tests } = classified;
    page.metadata.duration_seconds = page.milliseconds() / 1000;
    page.metadata.tests_generated = summary.total_generated;
    page.metadata.tests_failing = summary.failing;
    let unclear = changes.as_ref().map_or(0, |changes| changes.unclear.len());
    let output = ReviewOutput {
        schema_version: SCHEMA_VERSION.to_owned(),
        status: Status::Ok,
        error: None,
        metadata: page.metadata,
        summary: in_words(&proven, [observations.len(), discarded.len(), unclear], &score),
        score,
        proven_issues: proven,
        observations,
        discarded,
        test_summary: summary,
        cost: page.cost,
        isolation: Some(page.isolation),
        changes,
        notes: page.notes,
    };
    Reviewed { output, tests }
}

fn classify(
    classified: &mut Classified,
    findings: Vec<(ClaimedFinding, Option<Proved>)>,
    change: Option<&Change>,
    redactor: &Redactor,
) {
    let judged: Vec<Judged> = findings
        .into_iter()
        .map(|(ClaimedFinding { mut finding, .. }, mut proved)| {
            if let Some(fix) = proved.as_ref().and_then(|proved| proved.fix_patch.clone()) {
                finding.fix_patch = Some(fix);
            }
            let function = proved.as_ref().and_then(|proved| proved.passes_before_change.clone());
            let altered = function.zip(change);
            let altered =
                altered.and_then(|(name, change)| question::altered_description(&name, change));
            if let (Some(proved), Some(_)) = (&mut proved, &altered) {
                proved.proven = false;
            }
            let question = altered.map(|file| wording::question(&file));
            Judged { finding, proved, fingerprint: None, question }
        })
        .collect();
    let firsts: Vec<Option<usize>> =
        (0..judged.len()).map(|number| same_place(&judged, number)).collect();
    let titles: Vec<String> = judged.iter().map(|judged| judged.finding.title.clone()).collect();
    for (judged, first) in judged.into_iter().zip(firsts) {
        match first.and_then(|first| titles.get(first)) {
            Some(title) => classified.duplicate(judged, title, redactor),
            None => classified.add(judged, redactor),
        }
    }
}

/// The proven finding that this one repeats, and which weighs once: of the same line and category, and
/// fixed by the same change. A line may have two defects. The gravest stands for the others, and of
/// equals the first.
fn same_place(judged: &[Judged], number: usize) -> Option<usize> {
    let is_proven = |one: &Judged| one.proved.as_ref().is_some_and(|proved| proved.proven);
    let one = judged.get(number).filter(|one| is_proven(one))?;
    let place = |one: &Judged| (one.finding.file.clone(), one.finding.line, one.finding.category);
    let same = judged.iter().enumerate().filter(|(index, other)| {
        is_proven(other)
            && place(other) == place(one)
            && (*index == number || is_fixed_alike(other, one))
    });
    let rank = |risk: Risk| Risk::ALL.iter().position(|known| *known == risk);
    let first = same.min_by_key(|(_, other)| rank(other.finding.severity));
    first.map(|(index, _)| index).filter(|first| *first != number)
}

/// Whether the same fix makes both tests pass.
fn is_fixed_alike(one: &Judged, other: &Judged) -> bool {
    let words = |one: &Judged| one.finding.title.to_lowercase();
    let fix = |one: &Judged| one.finding.fix_patch.clone().filter(|fix| !fix.trim().is_empty());
    words(one) == words(other) || (fix(one).is_some() && fix(one) == fix(other))
}

fn in_words(
    proven: &[ProvenIssue],
    [observations, discarded, unclear]: [usize; 3],
    score: &Score,
) -> String {
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let by_risk: Vec<String> = Risk::ALL
        .into_iter()
        .map(|risk| (proven.iter().filter(|issue| issue.severity == risk).count(), risk))
        .filter(|(count, _)| *count > 0)
        .map(|(count, risk)| format!("{count} {risk}"))
        .collect();
    let proven = match proven.len() {
        0 => "nothing proven".to_owned(),
        count => format!("{} ({})", counted(count, "proven issue"), by_risk.join(", ")),
    };
    let unclear = match unclear {
        0 => String::new(),
        count => format!(", {count} from earlier reviews undecided"),
    };
    format!(
        "Score {} of {}: {proven}, {}, {discarded} discarded{unclear}; {} the threshold of {}{}.",
        score.value,
        score.max,
        counted(observations, "observation"),
        if score.value >= score.threshold { "reaches" } else { "misses" },
        score.threshold,
        if score.pass || score.value < score.threshold { "" } else { ", but has a critical issue" },
    )
}
