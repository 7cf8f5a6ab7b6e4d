//! What becomes of each finding after its test was run.
//!
//! | what the test did | what the finding becomes |
//! |---|---|
//! | failed, and an experiment shows that the code is at fault | a proven issue, with the agent's severity |
//! | passed | discarded: the concern was unfounded |
//! | did not compile | an observation: test could not compile |
//! | failed, and nothing shows that | an observation with the reason |
//! | could not be run, timed out, was flaky, skipped itself, did not run, was refused | an observation with the reason |
//! | was not there | an observation |

use probity_proof::Outcome;

use crate::{
    findings::AgentFinding,
    output::{Discarded, Observation, ProvenIssue, TestSummary},
    proved::Proved,
    redact::Redactor,
    tests_on_disk::{TestFile, file_name},
};

/// A finding with what its test showed; without a result it came without a test.
#[derive(Clone, Debug)]
pub struct Judged {
    pub finding: AgentFinding,
    pub proved: Option<Proved>,
    /// Set on what an earlier review has proven: it keeps its identity.
    pub fingerprint: Option<String>,
    /// What the author has to decide, if the change altered this behavior on purpose.
    pub question: Option<String>,
}

/// All findings, sorted into what counts, what is noted, and what is dropped.
#[derive(Clone, Debug, Default)]
pub struct Classified {
    pub proven: Vec<ProvenIssue>,
    pub observations: Vec<Observation>,
    pub discarded: Vec<Discarded>,
    pub summary: TestSummary,
    /// Every test, under the name that the review has for it.
    pub tests: Vec<TestFile>,
}

impl Classified {
    /// Adds one finding.
    pub fn add(&mut self, judged: Judged, redactor: &Redactor) {
        let Judged { finding, proved, fingerprint, question } = judged;
        let Some(proved) = proved else {
            let id = self.next_observation();
            let reason = "the agent wrote no test for it".to_owned();
            let mut observation = observation(id, &finding, reason, redactor);
            observation.fingerprint = fingerprint.unwrap_or_default();
            self.observations.push(observation);
            return;
        };
        self.summary.total_generated += 1;
        match proved.outcome {
            Outcome::Failed => self.summary.failing += 1,
            Outcome::Passed => self.summary.passing += 1,
            _ => self.summary.error += 1,
        }
        if proved.proven && proved.outcome == Outcome::Failed {
            let id = format!("ISS-{:03}", self.proven.len() + 1);
            let (test_file, proved) = self.keep(&id, &finding, proved, redactor);
            let mut issue = proven(id, &finding, &proved, redactor);
            issue.test_file = test_file;
            issue.fingerprint = fingerprint.unwrap_or_default();
            self.proven.push(issue);
        } else if proved.outcome == Outcome::Passed {
            let reason = "its test passes: the concern was unfounded".to_owned();
            self.drop_tried(&finding, proved, reason, redactor);
        } else {
            let id = self.next_observation();
            let (test_file, proved) = self.keep(&id, &finding, proved, redactor);
            let is_question = question.is_some();
            let reason = question.unwrap_or_else(|| proved.reason.clone());
            let mut observation = observation(id, &finding, reason, redactor);
            observation.question = is_question;
            observation.test_file = test_file;
            observation.test_name = proved.test_name;
            observation.test_output = proved.output;
            observation.proof = Some(proved.proof);
            observation.fingerprint = fingerprint.unwrap_or_default();
            self.observations.push(observation);
        }
    }

    /// Drops a finding whose test shows a defect that another finding has shown.
    pub fn duplicate(&mut self, judged: Judged, of: &str, redactor: &Redactor) {
        let Judged { finding, proved, .. } = judged;
        let reason = format!(
            "it is a duplicate: `{of}` is proven for the same line, and the same fix corrects both"
        );
        let Some(proved) = proved else { return self.discard(&finding, reason, redactor) };
        self.summary.total_generated += 1;
        self.summary.failing += 1;
        self.drop_tried(&finding, proved, reason, redactor);
    }

    fn drop_tried(
        &mut self,
        finding: &AgentFinding,
        proved: Proved,
        reason: String,
        redactor: &Redactor,
    ) {
        let id = format!("DIS-{:03}", self.discarded.len() + 1);
        let (test_file, proved) = self.keep(&id, finding, proved, redactor);
        let mut discarded = discarded(id, finding, reason, redactor);
        discarded.test_file = test_file;
        discarded.test_name = proved.test_name;
        discarded.test_output = proved.output;
        discarded.proof = Some(proved.proof);
        self.discarded.push(discarded);
    }

    /// Drops a finding without having run anything.
    pub fn discard(&mut self, finding: &AgentFinding, reason: String, redactor: &Redactor) {
        let id = format!("DIS-{:03}", self.discarded.len() + 1);
        self.discarded.push(discarded(id, finding, reason, redactor));
    }

    fn next_observation(&self) -> String {
        format!("OBS-{:03}", self.observations.len() + 1)
    }

    /// Keeps the test for the output directory, and says where it will be. What is said about its
    /// runs names it as the review does, and not as it was called where it ran.
    fn keep(
        &mut self,
        id: &str,
        finding: &AgentFinding,
        mut proved: Proved,
        redactor: &Redactor,
    ) -> (String, Proved) {
        let code = if proved.test_source.is_empty() {
            finding.test_code.clone().unwrap_or_default()
        } else {
            proved.test_source.clone()
        };
        let name = file_name(id, finding, &proved);
        let kept = format!("review/tests/{name}");
        let path = redactor.text(&proved.test_path);
        for text in [&mut proved.output, &mut proved.reason, &mut proved.proof.reason] {
            *text = renamed(text, &path, &kept);
        }
        self.tests.push(TestFile { name, text: redactor.without_keys(&code) });
        (kept, proved)
    }
}

/// A text that names a file as another: by its path, or by its name alone.
fn renamed(text: &str, path: &str, other: &str) -> String {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if path.is_empty() {
        return text.to_owned();
    }
    let pieces = text.split(path).map(|piece| piece.replace(&last(path), &last(other)));
    pieces.collect::<Vec<String>>().join(other)
}

fn proven(id: String, finding: &AgentFinding, proved: &Proved, redactor: &Redactor) -> ProvenIssue {
    let clean = |code: &Option<String>| code.clone().filter(|code| redactor.is_clean(code));
    let test_code = clean(&finding.test_code).or_else(|| proved.test_without_secrets.clone());
    ProvenIssue {
        id,
        severity: finding.severity,
        title: redactor.text(&finding.title),
        description: redactor.text(&finding.description),
        file: finding.file.clone(),
        line: finding.line,
        end_line: finding.end_line,
        test_file: String::new(),
        test_name: proved.test_name.clone(),
        test_output: proved.output.clone(),
        category: finding.category,
        fingerprint: String::new(),
        proof: Some(proved.proof.clone()),
        introduced: proved.introduced,
        standing: None,
        fix_patch: clean(&finding.fix_patch),
        test_code: test_code.unwrap_or_default(),
        test_path: proved.test_path.clone(),
        code: String::new(),
    }
}

fn observation(
    id: String,
    finding: &AgentFinding,
    reason: String,
    redactor: &Redactor,
) -> Observation {
    Observation {
        id,
        title: redactor.text(&finding.title),
        description: redactor.text(&finding.description),
        file: finding.file.clone(),
        line: finding.line,
        category: finding.category,
        severity: Some(finding.severity),
        reason: redactor.text(&reason),
        question: false,
        fingerprint: String::new(),
        test_file: String::new(),
        test_name: String::new(),
        test_output: String::new(),
        proof: None,
    }
}

fn discarded(id: String, finding: &AgentFinding, reason: String, redactor: &Redactor) -> Discarded {
    Discarded {
        id,
        title: redactor.text(&finding.title),
        file: redactor.text(&finding.file),
        line: (finding.line > 0).then_some(finding.line),
        reason: redactor.text(&reason),
        test_file: String::new(),
        test_name: String::new(),
        test_output: String::new(),
        proof: None,
    }
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_text_names_the_test_as_the_review_does() {
        for (text, path, other, says) in [
            (
                "a/zz_test.go:6: x (zz_test.go)",
                "a/zz_test.go",
                "review/tests/ISS-001_TestX_test.go",
                "review/tests/ISS-001_TestX_test.go:6: x (ISS-001_TestX_test.go)",
            ),
            // The new name may end with the old one.
            (
                "at FooTest.a(FooTest.java:5) in src/FooTest.java",
                "src/FooTest.java",
                "review/tests/ISS-001_FooTest.java",
                "at FooTest.a(ISS-001_FooTest.java:5) in review/tests/ISS-001_FooTest.java",
            ),
            ("nothing ran", "", "review/tests/OBS-001_x.py", "nothing ran"),
        ] {
            assert_eq!(renamed(text, path, other), says);
        }
    }
}
