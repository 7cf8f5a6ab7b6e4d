//! Agents of this process: what they answer is derived from the prompt they got.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use probity_agent::{Agent, AgentError, Answer, Cancel, Limits, StopReason, Turn};
use probity_autofix::{
    Event, Expect, Member, Outcome, Proof, Request, Resolution, SecretsPolicy, Settings, resolve,
};
use probity_dockerfile::Setting;
use probity_finding::{Applicability, Fix, Objective, Severity, apply};
use probity_lint::{
    DirectiveOptions, FixMode, FixOptions, LintOptions, Pattern, RuleSet, agent_fixes,
};
use probity_secrets::{Detector, FindSecrets, Options};

pub(crate) const MULTI_STAGE: &str = "tally/prefer-multi-stage-build";
pub(crate) const HEALTHCHECK: &str = "hadolint/DL3057";
pub(crate) const COMMAND_FAMILY: &str = "hadolint/DL4001";
pub(crate) const MANIFESTS: &str = "probity/sources-before-dependencies";
pub(crate) const ROOT_USER: &str = "hadolint/DL3002";
pub(crate) const MISSING_USER: &str = "probity/missing-user";
pub(crate) const SECRETS: &str = "buildkit/SecretsUsedInArgOrEnv";
pub(crate) const CONDA: &str = "tally/gpu/prefer-uv-over-conda";
pub(crate) const CONDA_IMAGE: &str = "probity/conda-for-pypi-packages";
pub(crate) const BASE_IMAGE: &str = "tally/prefer-slim-base-image";

/// Made once, since it takes longer than most sessions.
static DETECTOR: LazyLock<Detector> = LazyLock::new(|| Detector::new(&Options::default()).unwrap());

/// A session to run: the file, the rules whose objectives count, and the settings.
pub(crate) struct Case<'c> {
    pub(crate) text: &'c str,
    pub(crate) rules: &'c [&'c str],
    pub(crate) settings: Settings,
    pub(crate) only: Vec<String>,
    /// Whether a conversion to several stages is wanted even if no rule speaks.
    pub(crate) is_forced: bool,
    /// Rules whose findings are errors.
    pub(crate) errors: &'c [&'c str],
    pub(crate) detector: Option<&'static Detector>,
    /// What the experiment says about each proposal in turn; afterwards it accepts.
    pub(crate) proofs: Vec<Proof>,
}

/// What a session left behind.
pub(crate) struct Ran {
    pub(crate) resolution: Resolution,
    /// The text with the edits in it.
    pub(crate) text: String,
    pub(crate) prompts: Vec<String>,
    /// The names of the issues of each refused proposal.
    pub(crate) refused: Vec<Vec<String>>,
}

impl<'c> Case<'c> {
    pub(crate) fn new(rules: &'c [&'c str], text: &'c str) -> Self {
        let settings = Settings {
            expect: Expect::Patch,
            secrets: SecretsPolicy::Deny,
            timeout: Duration::from_secs(60),
            max_input_bytes: 262_144,
            max_rounds: 2,
        };
        let detector = Some(&*DETECTOR);
        Self {
            text,
            rules,
            settings,
            only: Vec::new(),
            is_forced: false,
            errors: &[],
            detector,
            proofs: Vec::new(),
        }
    }

    /// Asks an agent that answers the n-th prompt, counted from one, with this.
    pub(crate) fn ask(self, answer: impl FnMut(usize, &str) -> String + Send + 'static) -> Ran {
        self.ask_as(answer, StopReason::EndTurn)
    }

    pub(crate) fn ask_as(
        self,
        answer: impl FnMut(usize, &str) -> String + Send + 'static,
        stop: StopReason,
    ) -> Ran {
        let text = self.text;
        let ran = self.ask_if_wanted(answer, stop);
        ran.unwrap_or_else(|| panic!("no rule has an objective for:\n{text}"))
    }

    /// The same, or nothing where no rule wants anything of the file.
    pub(crate) fn ask_if_wanted(
        self,
        answer: impl FnMut(usize, &str) -> String + Send + 'static,
        stop: StopReason,
    ) -> Option<Ran> {
        let mut rules = RuleSet::default();
        rules.include(&self.rules.iter().map(|rule| Pattern::new(*rule)).collect::<Vec<_>>());
        for rule in self.errors {
            rules.set_severity(rule, Some(Severity::Error));
        }
        let directives = DirectiveOptions {
            enabled: true,
            validate_rules: false,
            warn_unused: false,
            require_reason: false,
        };
        let secrets = self.detector.map(|detector| detector as &dyn FindSecrets);
        let lint = LintOptions {
            rules: &rules,
            uses: None,
            directives,
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets,
        };
        let modes: BTreeMap<String, FixMode> = BTreeMap::new();
        let fix = FixOptions {
            lint,
            ceiling: Applicability::Unsafe,
            only: &self.only,
            modes: &modes,
            excluded: &[],
            known: None,
        };
        let findings = probity_lint::lint(self.text, &lint);
        let mut members: Vec<Member> = agent_fixes(&findings, &fix, false)
            .into_iter()
            .filter(|(finding, _)| self.rules.contains(&finding.rule.as_ref()))
            .map(|(finding, fix)| Member {
                rule: finding.rule.to_string(),
                priority: fix.priority,
                objective: fix.objective.clone().unwrap(),
            })
            .collect();
        if self.is_forced && members.is_empty() {
            let (kind, score) = ("multi-stage", 1);
            let objective = Objective { kind, score, signals: Vec::new(), max_churn: None };
            members.push(Member { rule: MULTI_STAGE.to_owned(), priority: 150, objective });
        }
        if members.is_empty() {
            return None;
        }
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&prompts);
        let mut agent: Option<Box<dyn Agent>> =
            Some(Box::new(Local { answer: Box::new(answer), prompts: heard, stop }));
        let mut open = || Ok(agent.take().unwrap());
        let refused = Mutex::new(Vec::new());
        let watch = |event: Event<'_>| {
            if let Event::Refused { issues, .. } = event {
                let names: Vec<String> = issues.iter().map(|issue| issue.rule.clone()).collect();
                refused.lock().unwrap().push(names);
            }
        };
        let settings = self.settings;
        let request = Request {
            path: "app/Dockerfile",
            text: self.text,
            members: &members,
            fix,
            settings,
            context: None,
        };
        let mut proofs = self.proofs.into_iter();
        let mut prove = |_: &str, _: &[Setting]| proofs.next().unwrap_or(Proof::Accepted);
        let resolution = resolve(&request, &mut open, &Cancel::new(), &watch, &mut prove);
        let fix = Fix::risky("t", resolution.edits.clone());
        let text = apply(self.text, &[&fix]).text;
        let prompts = prompts.lock().unwrap().clone();
        Some(Ran { resolution, text, prompts, refused: refused.into_inner().unwrap() })
    }
}

impl Ran {
    /// The names of all checks that the first proposal fails, each once and in their order.
    pub(crate) fn failed(&self) -> Vec<String> {
        let mut names = self.refused.first().cloned().unwrap_or_default();
        names.dedup();
        names
    }

    /// The outcomes, each as reports put it.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        self.resolution.outcomes.iter().map(Outcome::to_string).collect()
    }
}

/// The number of the prompt, from one, and its text; what is answered.
type Answering = Box<dyn FnMut(usize, &str) -> String + Send>;

struct Local {
    answer: Answering,
    prompts: Arc<Mutex<Vec<String>>>,
    stop: StopReason,
}

impl Agent for Local {
    fn name(&self) -> &str {
        "local"
    }

    fn ask(&mut self, turn: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        let mut prompts = self.prompts.lock().unwrap();
        prompts.push(turn.prompt.clone());
        let text = (self.answer)(prompts.len(), &turn.prompt);
        let (usage, denied) = (None, vec!["fs/read_text_file /etc/passwd".to_owned()]);
        Ok(Answer { text, stop: self.stop.clone(), usage, denied, requests: 1 })
    }
}

/// The file that a prompt shows.
pub(crate) fn shown(prompt: &str) -> String {
    let open = prompt.lines().find(|line| line.ends_with("`Dockerfile")).unwrap();
    let fence = open.trim_end_matches("Dockerfile");
    let start = prompt.find(open).unwrap() + open.len() + 1;
    let end = prompt[start..].find(&format!("\n{fence}\n")).unwrap();
    prompt[start..=start + end].to_owned()
}

/// An answer that makes `new` of the file that a prompt shows.
pub(crate) fn diff(prompt: &str, new: &str) -> String {
    let old = shown(prompt);
    let patch = diffy::create_patch(&old, new).to_string();
    let hunks = patch.split_once("@@").map(|(_, hunks)| hunks).unwrap_or_default();
    let diff = format!("--- a/Dockerfile\n+++ b/Dockerfile\n@@{hunks}");
    format!("```diff\n{diff}```\n")
}

/// An answer that replaces one text by another in the file that a prompt shows.
pub(crate) fn replaced(prompt: &str, old: &str, new: &str) -> String {
    let file = shown(prompt);
    assert!(file.contains(old), "{old:?} is not in:\n{file}");
    diff(prompt, &file.replace(old, new))
}
