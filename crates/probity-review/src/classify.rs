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

use probity_proof::{BrokenTest, FixResult, Level, Outcome, SuiteRun, Verdict};

use crate::{
    findings::AgentFinding,
    output::{Discarded, Observation, Proof, ProofFix, ProofRun, ProvenIssue, TestSummary},
    redact::Redactor,
    tests_on_disk::{TestFile, file_name},
    wording,
};

/// Longest test output that a report carries for one finding.
const OUTPUT_BYTES: usize = 16 << 10;

/// A finding with what its test showed; no verdict means that it came without a test.
#[derive(Clone, Debug)]
pub struct Judged {
    pub finding: AgentFinding,
    pub verdict: Option<Verdict>,
    /// Set on what an earlier review has proven: it keeps its identity.
    pub fingerprint: Option<String>,
    /// The test without the secrets in it, if it proves the same.
    pub stand_in: Option<String>,
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
        let Judged { finding, verdict, fingerprint, stand_in, question } = judged;
        let Some(verdict) = verdict else {
            let id = self.next_observation();
            let reason = "the agent wrote no test for it".to_owned();
            let mut observation = observation(id, &finding, reason, redactor);
            observation.fingerprint = fingerprint.unwrap_or_default();
            self.observations.push(observation);
            return;
        };
        self.summary.total_generated += 1;
        match verdict.outcome {
            Outcome::Failed => self.summary.failing += 1,
            Outcome::Passed => self.summary.passing += 1,
            _ => self.summary.error += 1,
        }
        if verdict.proven && verdict.outcome == Outcome::Failed {
            let id = format!("ISS-{:03}", self.proven.len() + 1);
            let test_file = self.keep(&id, &finding, &verdict, redactor);
            let mut issue = proven(id, &finding, &verdict, redactor);
            issue.test_file = test_file;
            if let Some(code) = stand_in.filter(|_| issue.test_code.is_empty()) {
                issue.test_code = code;
            }
            issue.fingerprint = fingerprint.unwrap_or_default();
            self.proven.push(issue);
        } else if verdict.outcome == Outcome::Passed {
            let reason = "its test passes: the concern was unfounded".to_owned();
            self.drop_tried(&finding, &verdict, reason, redactor);
        } else {
            let id = self.next_observation();
            let test_file = self.keep(&id, &finding, &verdict, redactor);
            let is_question = question.is_some();
            let reason = question.unwrap_or_else(|| wording::clause(&verdict));
            let mut observation = observation(id, &finding, reason, redactor);
            observation.question = is_question;
            observation.test_file = test_file;
            observation.test_name = verdict.test_name.clone();
            observation.test_output = output(&verdict, redactor);
            observation.proof = Some(proof(&verdict, redactor));
            observation.fingerprint = fingerprint.unwrap_or_default();
            self.observations.push(observation);
        }
    }

    /// Drops a finding whose test shows a defect that another finding has shown.
    pub fn duplicate(&mut self, judged: Judged, of: &str, redactor: &Redactor) {
        let Judged { finding, verdict, .. } = judged;
        let reason = format!(
            "it is a duplicate: `{of}` is proven for the same line, and the same mends both"
        );
        let Some(verdict) = verdict else { return self.discard(&finding, reason, redactor) };
        self.summary.total_generated += 1;
        self.summary.failing += 1;
        self.drop_tried(&finding, &verdict, reason, redactor);
    }

    fn drop_tried(
        &mut self,
        finding: &AgentFinding,
        verdict: &Verdict,
        reason: String,
        redactor: &Redactor,
    ) {
        let id = format!("DIS-{:03}", self.discarded.len() + 1);
        let test_file = self.keep(&id, finding, verdict, redactor);
        let mut discarded = discarded(id, finding, reason, redactor);
        discarded.test_file = test_file;
        discarded.test_name = verdict.test_name.clone();
        discarded.test_output = output(verdict, redactor);
        discarded.proof = Some(proof(verdict, redactor));
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

    /// Keeps the test for the output directory, and says where it will be.
    fn keep(
        &mut self,
        id: &str,
        finding: &AgentFinding,
        verdict: &Verdict,
        redactor: &Redactor,
    ) -> String {
        let code = match verdict.test_source.is_empty() {
            true => finding.test_code.clone().unwrap_or_default(),
            false => verdict.test_source.clone(),
        };
        let name = file_name(id, finding, verdict);
        self.tests.push(TestFile { name: name.clone(), text: redactor.without_keys(&code) });
        format!("review/tests/{name}")
    }
}

fn proven(
    id: String,
    finding: &AgentFinding,
    verdict: &Verdict,
    redactor: &Redactor,
) -> ProvenIssue {
    let clean = |code: &Option<String>| code.clone().filter(|code| redactor.is_clean(code));
    ProvenIssue {
        id,
        severity: finding.severity,
        title: redactor.text(&finding.title),
        description: redactor.text(&finding.description),
        file: finding.file.clone(),
        line: finding.line,
        end_line: finding.end_line,
        test_file: String::new(),
        test_name: verdict.test_name.clone(),
        test_output: output(verdict, redactor),
        category: finding.category,
        fingerprint: String::new(),
        proof: Some(proof(verdict, redactor)),
        introduced: verdict.introduced,
        standing: None,
        fix_patch: clean(&finding.fix_patch),
        test_code: clean(&finding.test_code).unwrap_or_default(),
        test_path: verdict.test_path.clone(),
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

fn proof(verdict: &Verdict, redactor: &Redactor) -> Proof {
    Proof {
        level: verdict.level.name().to_owned(),
        outcome: verdict.outcome.name().to_owned(),
        reason: redactor.text(&wording::reason(verdict)),
        runner: verdict.runner.unwrap_or("none").to_owned(),
        runs: verdict.runs.iter().map(run).collect(),
        pairs: verdict.pairs,
        reached: (verdict.level >= Level::Depends).then_some(true),
        control: verdict.altered.clone().unwrap_or_default(),
        flips_with_fix: flips_with_fix(&verdict.fix),
        fix: wording::fix_word(&verdict.fix).map(|word| fix(word, &verdict.fix, redactor)),
    }
}

fn flips_with_fix(fix: &FixResult) -> Option<bool> {
    match fix {
        FixResult::NotOffered | FixResult::NotJudged | FixResult::Refused(_) => None,
        FixResult::Flips(_) | FixResult::Breaks(_) => Some(true),
        FixResult::DoesNotFlip(_) | FixResult::Slow | FixResult::Flaky => Some(false),
    }
}

fn fix(word: &str, fix: &FixResult, redactor: &Redactor) -> ProofFix {
    let tests_passed = match fix {
        FixResult::Flips(SuiteRun::Complete { passed } | SuiteRun::Partial { passed }) => {
            Some(*passed as u64)
        }
        FixResult::Flips(SuiteRun::Empty) => Some(0),
        _ => None,
    };
    let tests_broken = match fix {
        FixResult::Breaks(tests) => tests
            .iter()
            .map(|test| match test {
                BrokenTest::Named(name) => redactor.text(name),
                BrokenTest::Build => "(build)".to_owned(),
            })
            .collect(),
        _ => Vec::new(),
    };
    let reason = redactor.text(&wording::fix_sentence(fix));
    ProofFix { result: word.to_owned(), reason, tests_passed, tests_broken }
}

fn run(run: &probity_proof::Run) -> ProofRun {
    ProofRun {
        outcome: run.outcome.name().to_owned(),
        milliseconds: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

fn output(verdict: &Verdict, redactor: &Redactor) -> String {
    crate::clean::capped(&redactor.text(&verdict.output), OUTPUT_BYTES)
}
