//! Hiding secrets in what a report shows.

use std::collections::BTreeSet;

use probity_finding::Finding;
use probity_secrets::{Detector, mask_same_length};

/// The text and the findings as a report may show them; nothing where there is nothing to hide.
///
/// Excerpts lose the secret and keep their length, so that every span still fits. A fix whose edits
/// would write a secret is left out of the report: masked it would be wrong, and the fix itself is
/// still applied where fixing is asked for.
pub(super) fn masked(
    detector: &Detector,
    text: &str,
    findings: &[Finding],
) -> Option<(String, Vec<Finding>)> {
    let secrets = detector.find(text);
    if secrets.is_empty() {
        return None;
    }
    let values: BTreeSet<&str> =
        secrets.iter().filter_map(|secret| text.get(secret.range.clone())).collect();
    // The longer first, so that a secret within another does not leave the rest of it standing.
    let mut values: Vec<&str> = values.into_iter().collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let findings = findings.iter().map(|finding| hide(finding.clone(), &values)).collect();
    Some((mask_same_length(text, &secrets), findings))
}

/// A message that may quote the text, without the secrets of either.
pub(super) fn masked_message(detector: &Detector, text: &str, message: &str) -> String {
    let secrets = detector.find(text);
    let mut values: Vec<&str> =
        secrets.iter().filter_map(|secret| text.get(secret.range.clone())).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let message = replaced(message, &values);
    mask_same_length(&message, &detector.find(&message))
}

fn hide(mut finding: Finding, values: &[&str]) -> Finding {
    finding.message = replaced(&finding.message, values);
    finding.detail = finding.detail.map(|detail| replaced(&detail, values));
    for related in &mut finding.related {
        related.message = replaced(&related.message, values);
    }
    for fix in &mut finding.fixes {
        for signal in fix.objective.iter_mut().flat_map(|objective| &mut objective.signals) {
            signal.evidence = replaced(&signal.evidence, values);
        }
    }
    finding.fixes.retain(|fix| {
        let is_clean = |text: &str| values.iter().all(|value| !text.contains(value));
        is_clean(&fix.title) && fix.edits.iter().all(|edit| is_clean(&edit.text))
    });
    finding
}

fn replaced(text: &str, values: &[&str]) -> String {
    values.iter().fold(text.to_owned(), |text, value| match text.contains(value) {
        true => text.replace(value, &"*".repeat(value.len())),
        false => text,
    })
}
