//! Hiding secrets in what a report shows.

use std::ops::Range;

use probity_finding::{Finding, Fix};
use probity_secrets::{FindSecrets, Secret, SecretValues, mask_same_length};

/// The text and the findings as a report may show them; nothing where there is nothing to hide.
///
/// Excerpts lose the secret and keep their length, so that every span still fits. A fix that touches
/// or would write a secret is left out of the report: masked it would be wrong, and the fix itself is
/// still applied where fixing is asked for.
pub fn masked(
    hider: &Hider<'_>,
    text: &str,
    secrets: &[Secret],
    findings: &[Finding],
) -> Option<(String, Vec<Finding>)> {
    // A message may join what a continuation keeps apart in the text.
    let is_quoted = |finding: &Finding| hider.message(&finding.message) != finding.message;
    if secrets.is_empty() && !findings.iter().any(is_quoted) {
        return None;
    }
    let findings = findings.iter().map(|finding| hider.finding(finding.clone())).collect();
    Some((mask_same_length(text, secrets), findings))
}

/// Knows the secrets of one text.
#[expect(missing_debug_implementations, reason = "it would show the secrets")]
pub struct Hider<'a> {
    detector: &'a dyn FindSecrets,
    values: SecretValues,
    /// In the order of the text, none overlapping another.
    ranges: Vec<Range<usize>>,
}

impl<'a> Hider<'a> {
    /// Searches the text.
    pub fn of(detector: &'a dyn FindSecrets, text: &str) -> Self {
        Self::new(detector, text, &detector.find(text))
    }

    /// For a text that was searched already.
    #[must_use]
    pub fn new(detector: &'a dyn FindSecrets, text: &str, secrets: &[Secret]) -> Self {
        let ranges = secrets.iter().map(|secret| secret.range.clone()).collect();
        Self { detector, values: SecretValues::of(text, secrets), ranges }
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

    /// A message that may quote the text, without the secrets of either.
    #[must_use]
    pub fn message(&self, message: &str) -> String {
        let hidden = self.values.hide(message);
        mask_same_length(&hidden, &self.detector.find(&hidden))
    }

    /// Whether a fix neither touches nor writes a secret, however it would be quoted.
    fn is_clean(&self, fix: &Fix) -> bool {
        let is_plain = |text: &str| self.message(text) == text;
        is_plain(&fix.title)
            && fix.edits.iter().all(|edit| {
                let (start, end) = (edit.span.start, edit.span.end);
                let next = self.ranges.partition_point(|range| range.end <= start);
                let touches = self.ranges.get(next).is_some_and(|range| range.start < end);
                !touches && is_plain(&edit.text)
            })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use probity_finding::{Edit, Severity, Span};
    use probity_secrets::{Detector, Options};

    use super::*;
    use crate::searched::Searched;

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
        let (shown, findings) = masked_by(&detector, &text, &[finding]);
        assert!(!shown.contains(&token) && shown.len() == text.len());
        assert_eq!(findings[0].message, "*".repeat(token.len()));
        let left: Vec<&str> = findings[0].fixes.iter().map(|fix| fix.title.as_ref()).collect();
        assert_eq!(left, ["elsewhere"]);
        // Kept apart by a continuation in the text, joined in the message.
        let finding = Finding::new("a/b", Severity::Info, Span::at(0), format!("package {token}"));
        let torn = format!("RUN x {}\\\n{}", &token[..20], &token[20..]);
        let (_, findings) = masked_by(&detector, &torn, &[finding]);
        assert!(!findings[0].message.contains(&token), "{}", findings[0].message);
    }

    fn masked_by(
        detector: &dyn FindSecrets,
        text: &str,
        findings: &[Finding],
    ) -> (String, Vec<Finding>) {
        let secrets = detector.find(text);
        masked(&Hider::new(detector, text, &secrets), text, &secrets, findings).unwrap()
    }

    #[derive(Debug)]
    struct Counting(Detector, Mutex<Vec<usize>>);

    impl FindSecrets for Counting {
        fn find(&self, text: &str) -> Vec<Secret> {
            self.1.lock().unwrap().push(text.len());
            self.0.find(text)
        }
    }

    /// Only the messages are searched besides, and they are short.
    #[test]
    fn a_file_is_searched_once_however_many_findings_quote_it() {
        let token = ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6T", "uQe1Ab"].concat();
        let text = format!("FROM a\n{}", format!("ENV P={token}\n").repeat(50));
        let detector = Counting(Detector::new(&Options::default()).unwrap(), Mutex::default());
        let searched = Searched::new(&detector);
        let mut rules = probity_lint::RuleSet::default();
        rules.select(&[probity_lint::Pattern::new("*")]);
        let options = probity_lint::LintOptions {
            rules: &rules,
            uses: None,
            directives: probity_lint::DirectiveOptions::default(),
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: Some(&searched),
        };
        let findings = probity_lint::lint(&text, &options);
        assert!(
            findings.iter().filter(|finding| finding.rule == "tally/secrets-in-code").count() >= 50
        );
        let secrets = searched.find(&text);
        let hider = Hider::new(&detector, &text, &secrets);
        masked(&hider, &text, &secrets, &findings).unwrap();
        let whole = detector.1.lock().unwrap().iter().filter(|len| **len == text.len()).count();
        assert_eq!(whole, 1);
    }
}
