//! The state of an audit, as it is written to disk before the first skill and after each.
//!
//! Version "1" is read by other programs. What we add to it is optional, and left out when there is
//! nothing to say.

use probity_proof::ExploitLevel;
use serde::{Deserialize, Serialize};

use crate::{
    Exploitation, FileCoverage, PermissionPrompt, ProviderSpec, Reported, Risk, Skill,
    exploit::Attempt,
};

/// The only version there is.
pub(crate) const VERSION: &str = "1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub version: String,
    /// Relative to the project.
    pub source_files: Vec<String>,
    pub provider: ProviderSpec,
    pub permission_prompt: PermissionPrompt,
    /// In the order of the skills.
    pub iterations: Vec<Iteration>,
    /// Of the sources; a resumed run must not mix findings about different texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
    /// What all skills together have cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The sources that had to be read, if not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<Vec<String>>,
    /// Findings of the audit before this one; at the end, those that no skill reports again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous: Vec<Reported>,
}

/// What became of one skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    pub skill_id: String,
    /// `completed`, or what the model calls it; `failed`, `unread`, `max-steps` and
    /// `over-budget` are ours.
    pub status: String,
    pub findings: Vec<Finding>,
    pub next_prompt: Option<NextPrompt>,
    /// Why the skill was not finished. Only a skill without an error counts as done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Which lines of the sources were shown; absent if nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Vec<FileCoverage>>,
    /// Whether the answer is that of an earlier run, which this one did not pay for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub title: String,
    pub severity: Risk,
    pub summary: String,
    pub evidence: Vec<String>,
    pub recommendation: String,
    /// Relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Whether a quote of the evidence was found in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// The same in every run that finds the same thing on the same line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What became of the attempt to show that the finding is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refutation: Option<Refutation>,
    /// What an attacker gains, in the model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<String>,
    /// How likely an attack is, in the model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<Risk>,
    /// What became of the attempt to exploit the vulnerability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploit: Option<Exploitation>,
    /// An exploit that the model sent with its finding, not tried yet.
    #[serde(skip)]
    pub(crate) offered: Option<Attempt>,
}

impl Finding {
    /// A short name that stays the same as long as the finding is on the same line.
    #[must_use]
    pub fn id(&self) -> String {
        let print: String =
            self.fingerprint.iter().flat_map(|print| print.chars().take(8)).collect();
        format!("VULN-{print}")
    }

    /// How far the vulnerability is shown.
    #[must_use]
    pub fn level(&self) -> ExploitLevel {
        self.exploit.as_ref().map_or(ExploitLevel::Quoted, |exploit| exploit.level)
    }
}

/// The answer of a model that was asked to show that a finding is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refutation {
    pub verdict: Verdict,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The code shows that the finding is wrong.
    Refuted,
    /// The model could not show it.
    Upheld,
    /// The model does not know, or was not able to answer.
    Undecided,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuted => "refuted",
            Self::Upheld => "upheld",
            Self::Undecided => "undecided",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextPrompt {
    pub skill_id: String,
    pub text: String,
}

/// What was asked and what it took, where the provider counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl State {
    pub(crate) fn new(
        source_files: Vec<String>,
        provider: ProviderSpec,
        permission_prompt: PermissionPrompt,
        source_digest: Option<String>,
        changed_files: Option<Vec<String>>,
    ) -> Self {
        Self {
            version: VERSION.to_owned(),
            source_files,
            provider,
            permission_prompt,
            iterations: Vec::new(),
            source_digest,
            usage: None,
            changed_files,
            previous: Vec::new(),
        }
    }

    /// As it is written to disk: pretty, without a newline at the end.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    pub(crate) fn count_usage(&mut self) {
        let mut total = TokenUsage::default();
        let mut any = false;
        for usage in self.iterations.iter().filter_map(|iteration| iteration.usage) {
            total.add(&usage);
            any = true;
        }
        self.usage = any.then_some(total);
    }
}

impl Iteration {
    /// A skill that was answered without findings, at no cost; callers change what differs.
    pub(crate) fn of(skill: &Skill) -> Self {
        Self {
            skill_id: skill.id.clone(),
            status: "completed".to_owned(),
            findings: Vec::new(),
            next_prompt: None,
            error: None,
            skill_digest: Some(skill.digest.clone()),
            usage: None,
            coverage: None,
            cached: false,
        }
    }

    #[must_use]
    pub fn is_done(&self) -> bool {
        self.error.is_none()
    }
}

impl TokenUsage {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadScope;

    #[test]
    fn the_first_state_has_the_fields_of_version_1_in_their_order_and_no_other() {
        let provider =
            ProviderSpec { name: "scaffold".into(), model: None, notes: "no model".into() };
        let prompt = PermissionPrompt::new(ReadScope::Strict, false, false, &["a.ak".into()]);
        let mut prompt = prompt;
        prompt.scope_rules = vec!["rule".into()];
        let mut state = State::new(vec!["a.ak".into()], provider, prompt, None, None);
        state.iterations.push(Iteration {
            skill_id: "s-1".into(),
            status: "completed".into(),
            findings: vec![Finding {
                title: "t".into(),
                severity: Risk::High,
                summary: "s".into(),
                evidence: vec!["e".into()],
                recommendation: "r".into(),
                file: None,
                line: Some(42),
                verified: None,
                fingerprint: None,
                refutation: None,
                impact: None,
                likelihood: None,
                exploit: None,
                offered: None,
            }],
            next_prompt: None,
            error: None,
            skill_digest: None,
            usage: None,
            coverage: None,
            cached: false,
        });
        insta::assert_snapshot!(state.to_json().unwrap(), @r#"
        {
          "version": "1",
          "source_files": [
            "a.ak"
          ],
          "provider": {
            "name": "scaffold",
            "model": null,
            "notes": "no model"
          },
          "permission_prompt": {
            "shell": "bash",
            "allowed_commands": [
              "grep",
              "cat",
              "find",
              "ls"
            ],
            "scope_rules": [
              "rule"
            ],
            "read_scope": "strict",
            "interactive_permissions": false,
            "allowed_paths": [
              "a.ak"
            ]
          },
          "iterations": [
            {
              "skill_id": "s-1",
              "status": "completed",
              "findings": [
                {
                  "title": "t",
                  "severity": "high",
                  "summary": "s",
                  "evidence": [
                    "e"
                  ],
                  "recommendation": "r",
                  "line": 42
                }
              ],
              "next_prompt": null
            }
          ]
        }
        "#);
        let back: State = serde_json::from_str(&state.to_json().unwrap()).unwrap();
        assert_eq!(back, state);
    }
}
