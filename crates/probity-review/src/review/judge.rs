//! From the results of all claims to a review.

use probity_proof::Change;

use super::{
    Checkout, Failed, Reviewed, compare, fingerprint, follow::Today, ground::Ground,
    ids::EarlierIds, page::Page, question,
};
use crate::{
    Risk,
    claims::{ClaimedFinding, Claims, KnownIssue},
    classify::{Classified, Judged},
    output::{Dismissed, ProvenIssue, ReviewOutput, SCHEMA_VERSION, Status},
    proved::Proved,
    redact::Redactor,
    score::score,
    summary::in_words,
    unstarted,
    verdict::{dismiss, lines_digest},
    wording,
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
    let (nothing, unstarted) = (unstarted::none_began(&tried), unstarted::unstarted(&tried));
    let mut classified = Classified::default();
    for dropped in dropped {
        classified.discard(&dropped.finding, dropped.reason, redactor);
    }
    classify(&mut classified, findings, change, redactor);
    fingerprint::assign(&mut classified, &ground.scope);
    if nothing {
        return page.failed(Failed::nothing_started(unstarted, classified), Some(redactor));
    }
    let dismissed = earlier.as_ref().map_or_else(Vec::new, |earlier| earlier.dismissed.clone());
    let changes = earlier.map(|earlier| {
        let ids = EarlierIds::of(&earlier);
        // The issues are where their code is today already.
        let mut today = Today::new(&checkout.repo, "", &ground.names, &ground.scope);
        let is_reviewed = |path: &str| ground.is_known_reviewed(&settings, path);
        let mut changes =
            compare::against(earlier, known, &mut today, &mut classified, &is_reviewed, redactor);
        ids.keep(&mut classified, &mut changes);
        changes
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
    let mut output = ReviewOutput {
        schema_version: SCHEMA_VERSION.to_owned(),
        status: Status::Ok,
        error: None,
        unstarted,
        metadata: page.metadata,
        summary: String::new(),
        score,
        proven_issues: proven,
        dismissed: Vec::new(),
        observations,
        discarded,
        test_summary: summary,
        cost: page.cost,
        isolation: Some(page.isolation),
        changes,
        trend: Vec::new(),
        notes: page.notes,
    };
    output.summary = in_words(&output);
    keep_dismissed(&mut output, dismissed);
    Reviewed { output, tests }
}

/// What a person has dismissed stays so, whether or not the agent reports it again.
fn keep_dismissed(output: &mut ReviewOutput, dismissed: Vec<Dismissed>) {
    dismiss(output, |issue| {
        let same = |known: &&Dismissed| {
            known.issue.fingerprint == issue.fingerprint && known.lines == lines_digest(&issue.code)
        };
        let known = dismissed.iter().find(same)?;
        Some((known.verdict, known.by.clone(), known.reason.clone()))
    });
    for known in dismissed {
        let is_it = |issue: &ProvenIssue| issue.fingerprint == known.issue.fingerprint;
        let listed = output.dismissed.iter().map(|listed| &listed.issue);
        if !output.proven_issues.iter().chain(listed).any(is_it) {
            output.dismissed.push(known);
        }
    }
    output.summary = in_words(output);
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
