//! Hiding secrets in what a report shows.

use std::ops::Range;

use probity_finding::{Finding, Fix};
use probity_secrets::{Detector, Secret, mask_same_length};

/// The text and the findings as a report may show them; nothing where there is nothing to hide.
///
/// Excerpts lose the secret and keep their length, so that every span still fits. A fix that touches
/// or would write a secret is left out of the report: masked it would be wrong, and the fix itself is
/// still applied where fixing is asked for.
pub(super) fn masked(
    detector: &Detector,
    text: &str,
    findings: &[Finding],
) -> Option<(String, Vec<Finding>)> {
    let secrets = detector.find(text);
    let hider = Hider::new(detector, text, &secrets);
    // A message may join what a continuation keeps apart in the text.
    let is_quoted = |finding: &Finding| hider.message(&finding.message) != finding.message;
    if secrets.is_empty() && !findings.iter().any(is_quoted) {
        return None;
    }
    let findings = findings.iter().map(|finding| hider.finding(finding.clone())).collect();
    Some((mask_same_length(text, &secrets), findings))
}

/// A message that may quote the text, without the secrets of either.
pub(crate) fn masked_message(detector: &Detector, text: &str, message: &str) -> String {
    Hider::new(detector, text, &detector.find(text)).message(message)
}

/// Knows the secrets of one text.
struct Hider<'a> {
    detector: &'a Detector,
    /// In ASCII lower case, since messages change the case of what they quote; the longer first, so
    /// that a secret within another does not leave the rest of it standing.
    values: Vec<String>,
    ranges: Vec<Range<usize>>,
}

impl<'a> Hider<'a> {
    fn new(detector: &'a Detector, text: &str, secrets: &[Secret]) -> Self {
        let ranges: Vec<Range<usize>> = secrets.iter().map(|it| it.range.clone()).collect();
        let written = ranges.iter().filter_map(|range| text.get(range.clone()));
        let mut values: Vec<String> = written.map(str::to_ascii_lowercase).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { detector, values, ranges }
    }

    fn finding(&self, mut finding: Finding) -> Finding {
        finding.message = self.message(&finding.message);
        finding.detail = finding.detail.map(|detail| self.message(&detail));
        for related in &mut finding.related {
            related.message = self.message(&related.message);
        }
        for fix in &mut finding.fixes {
            for signal in fix.objective.iter_mut().flat_map(|objective| &mut objective.signals) {
                signal.evidence = self.message(&signal.evidence);
            }
        }
        finding.fixes.retain(|fix| self.is_clean(fix));
        finding
    }

    fn message(&self, message: &str) -> String {
        let mut hidden = message.to_owned();
        for value in &self.values {
            let lower = hidden.to_ascii_lowercase();
            // The bytes stand where they stood, so places in one are places in the other.
            for (start, _) in lower.match_indices(value.as_str()) {
                hidden.replace_range(start..start + value.len(), &"*".repeat(value.len()));
            }
        }
        mask_same_length(&hidden, &self.detector.find(&hidden))
    }

    /// Whether a fix neither touches nor writes a secret, however it would be quoted.
    fn is_clean(&self, fix: &Fix) -> bool {
        let is_plain = |text: &str| self.message(text) == text;
        is_plain(&fix.title)
            && fix.edits.iter().all(|edit| {
                let (start, end) = (edit.span.start, edit.span.end);
                let touches = self.ranges.iter().any(|it| start < it.end && it.start < end);
                !touches && is_plain(&edit.text)
            })
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::{Edit, Severity, Span};
    use probity_secrets::Options;

    use super::*;

    #[test]
    fn changed_case_joined_lines_and_requoted_fixes_betray_nothing() {
        let detector = Detector::new(&Options::default()).unwrap();
        let token = ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6T", "uQe1Ab"].concat();
        let text = format!("FROM a AS {token}\nENV P={token}\n");
        let at = text.find(&token).unwrap();
        let quoted = Edit::replace(Span::new(at, at + token.len()), "x\\\"y");
        let finding = Finding::new("a/b", Severity::Info, Span::at(at), token.to_uppercase())
            .with_fix(Fix::safe("requote", vec![quoted]))
            .with_fix(Fix::safe(format!("call it {}", token.to_lowercase()), Vec::new()))
            .with_fix(Fix::safe("elsewhere", vec![Edit::insert(0, "y")]));
        let (shown, findings) = masked(&detector, &text, &[finding]).unwrap();
        assert!(!shown.contains(&token) && shown.len() == text.len());
        assert_eq!(findings[0].message, "*".repeat(token.len()));
        let left: Vec<&str> = findings[0].fixes.iter().map(|fix| fix.title.as_ref()).collect();
        assert_eq!(left, ["elsewhere"]);
        // Kept apart by a continuation in the text, joined in the message.
        let finding = Finding::new("a/b", Severity::Info, Span::at(0), format!("package {token}"));
        let torn = format!("RUN x {}\\\n{}", &token[..20], &token[20..]);
        let (_, findings) = masked(&detector, &torn, &[finding]).unwrap();
        assert!(!findings[0].message.contains(&token), "{}", findings[0].message);
    }
}
