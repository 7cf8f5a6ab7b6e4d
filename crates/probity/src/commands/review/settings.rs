//! What a review is told, from flags or from the environment of a CI step.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_proof::{Ancestor, FetchOptions, Level, WithoutGuard, begun_from, default_branch};
use probity_report::review::ReviewFormat;
use probity_review::Bar;

use super::Options;
use crate::{
    config::{self, Layer, ValueKind, key, runner::Runners, setting::Setting, words::Sandbox},
    failure::Failure,
    name::Name,
    test_place,
};

/// A word for each choice, whoever made it.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) repo: PathBuf,
    pub(super) output: PathBuf,
    pub(super) config: Option<PathBuf>,
    pub(super) profile: String,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) bar: Bar,
    pub(super) paths: Vec<String>,
    pub(super) diff_base: Option<String>,
    /// What the change is compared with, whether or not only the change is reviewed.
    pub(super) base_ref: String,
    /// The branch that this one came from.
    pub(super) base: String,
    /// Whether only the change is reviewed because the branch has commits of its own.
    pub(super) is_guess: bool,
    pub(super) history: Keep,
    pub(super) report_only: bool,
    pub(super) budget: Option<f64>,
    /// Commands that run tests, as the user has them.
    pub(super) runner: Runners,
    /// The file that has them instead.
    pub(super) runners: Option<PathBuf>,
    pub(super) max_findings: usize,
    pub(super) proof_level: Option<Level>,
    pub(super) max_fix_rounds: u32,
    pub(super) suite_timeout: Duration,
    pub(super) proof_timeout: Option<Duration>,
    pub(super) timeout: Duration,
    pub(super) jobs: usize,
    /// What fetches of dependencies get.
    pub(super) fetch: Option<FetchOptions>,
    pub(super) sandbox: Sandbox,
    pub(super) variables: Variables,
    /// A CI step counts failing tests, also if no existing test guards their fixes.
    pub(super) without_guard: WithoutGuard,
    pub(super) format: ReviewFormat,
    pub(super) reports: Vec<(ReviewFormat, PathBuf)>,
    pub(super) quiet: bool,
    pub(super) since_last: bool,
}

/// The usual name of the branch that others begin from.
const MAIN: &str = "main";

/// What is reviewed.
struct Subject {
    diff_base: Option<String>,
    base: String,
    is_guess: bool,
}

impl Subject {
    /// The change, if somebody asks for it or the branch has commits of its own; otherwise the whole
    /// repository. A base that is named has to exist, whatever it is for.
    fn of(
        repo: &Path,
        named: Option<String>,
        diff_only: bool,
        whole: bool,
    ) -> anyhow::Result<Self> {
        if let Some(base) = &named {
            Ancestor::with(repo, base)
                .map_err(|error| Failure::new(error.to_string(), error.help()))?;
        }
        let own = if named.is_none() && !whole { begun_from(repo) } else { None };
        let is_guess = own.is_some() && !diff_only;
        let is_change = !whole && (diff_only || named.is_some() || own.is_some());
        let base = named.or(own).or_else(|| default_branch(repo));
        let base = base.unwrap_or_else(|| MAIN.to_owned());
        Ok(Self { diff_base: is_change.then(|| base.clone()), base, is_guess })
    }
}

/// Where reviews are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Nowhere,
    StateDirectory,
    /// An address, which may hold a password.
    Database(String),
}

/// Which variables of ours the agent gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variables {
    /// Those that the user names.
    Named(Vec<String>),
    /// Those of the agent's own: the environment of a CI step is its configuration.
    OfTheAgent,
}

impl Settings {
    /// Under the name `ci-agent-review` the environment alone says what to do.
    pub(super) fn new(name: Name, options: Options) -> anyhow::Result<Self> {
        let Options { repo, reports, quiet, since_last, flags } = options;
        let is_step = name == Name::CiAgentReview;
        let said = config::in_force(name, &["review"], &repo, flags)?.review.clone();
        let fetch = test_place::fetches(&said);
        let history = match said.database_url {
            _ if !said.history => Keep::Nowhere,
            Some(url) => Keep::Database(url),
            None if is_step => Keep::Nowhere,
            None => Keep::StateDirectory,
        };
        let subject = if is_step {
            let base = said.base.unwrap_or_else(|| MAIN.to_owned());
            Subject { diff_base: said.diff_only.then(|| base.clone()), base, is_guess: false }
        } else {
            Subject::of(&repo, said.base, said.diff_only, said.whole)?
        };
        // The optional input of the task; what lies in the repository is never taken for it.
        let usual = PathBuf::from("review-config/review.yml");
        let usual = (is_step && usual.is_file()).then_some(usual);
        Ok(Self {
            repo,
            output: said.output,
            config: said.config.or(usual),
            profile: said.profile,
            agent: said.agent,
            model: said.model,
            bar: Bar {
                threshold: said.threshold,
                fail_on_critical: said.fail_on_critical,
                // A CI step has the score, and one variable for critical issues.
                fail_on: if is_step { None } else { said.fail_on.least() },
            },
            paths: said.paths,
            diff_base: subject.diff_base,
            base: subject.base.trim_start_matches("origin/").to_owned(),
            base_ref: subject.base,
            is_guess: subject.is_guess,
            history,
            report_only: said.report_only,
            budget: said.budget,
            runner: said.runner,
            runners: said.runners,
            max_findings: said.max_findings,
            proof_level: said.proof_level,
            max_fix_rounds: said.max_fix_rounds,
            suite_timeout: said.suite_timeout,
            proof_timeout: said.proof_timeout,
            timeout: said.timeout,
            jobs: said.jobs,
            fetch,
            sandbox: said.sandbox,
            variables: if is_step { Variables::OfTheAgent } else { Variables::Named(said.env) },
            without_guard: if is_step { WithoutGuard::Count } else { WithoutGuard::Observe },
            format: said.format.unwrap_or_else(usual_format),
            reports,
            quiet,
            since_last,
        })
    }

    /// Values that must not appear in anything that a review leaves behind.
    pub(super) fn hidden(&self) -> Vec<String> {
        let mut hidden = secrets_of_environment();
        if let Variables::Named(names) = &self.variables {
            hidden.extend(names.iter().filter_map(|name| env::var(name).ok()));
        }
        if let Keep::Database(url) = &self.history {
            hidden.push(url.clone());
            let login = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
            let password = login.and_then(|(login, _)| login.split_once(':'));
            hidden.extend(password.map(|(_, password)| password.to_owned()));
        }
        hidden
    }
}

/// The values of variables that are named like secrets.
pub(super) fn secrets_of_environment() -> Vec<String> {
    let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    let secrets = env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.to_ascii_uppercase();
        let is_secret = words.iter().any(|word| name.contains(word));
        (is_secret).then(|| value.to_str().map(str::to_owned))?
    });
    secrets.collect()
}

/// Where a CI step leaves its review, which is known before anything else is.
pub(super) fn output_directory() -> PathBuf {
    text("OUTPUT_DIR").map_or_else(key::review::output.default, PathBuf::from)
}

/// Where a review goes, as far as the flags alone can tell.
pub(super) fn flagged_output(flags: &Layer) -> PathBuf {
    let said = flags.settings.get(key::review::output.key.path);
    let said = said.and_then(|setting| PathBuf::from_value(&setting.value));
    said.unwrap_or_else(key::review::output.default)
}

/// From SCORE_THRESHOLD and FAIL_ON_CRITICAL, else what else holds; 0 is something said.
pub(super) fn bar_or(otherwise: Bar) -> anyhow::Result<Bar> {
    let threshold = read::<f64>("SCORE_THRESHOLD", ValueKind::Score)?;
    let fail_on_critical = read::<bool>("FAIL_ON_CRITICAL", ValueKind::Bool)?;
    Ok(Bar {
        threshold: threshold.unwrap_or(otherwise.threshold),
        fail_on_critical: fail_on_critical.unwrap_or(otherwise.fail_on_critical),
        fail_on: otherwise.fail_on,
    })
}

/// A variable that says something.
pub(super) fn text(name: &str) -> Option<String> {
    let value = env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The value itself is not repeated: somebody may have put a key into the wrong variable.
fn read<T: Setting>(name: &str, kind: ValueKind) -> anyhow::Result<Option<T>> {
    let Some(text) = text(name) else { return Ok(None) };
    let value = kind.parse(&text).ok().as_ref().and_then(T::from_value);
    let value = value.ok_or_else(|| {
        let what = format!("{name} cannot be read: expected {}", kind.expected());
        Failure::new(what, "`--help` names every variable")
    })?;
    Ok(Some(value))
}

fn usual_format() -> ReviewFormat {
    match text("GITHUB_ACTIONS").as_deref() {
        Some("true") => ReviewFormat::GithubActions,
        _ => ReviewFormat::Text,
    }
}
