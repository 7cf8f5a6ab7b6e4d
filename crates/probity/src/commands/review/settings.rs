//! What a review is told, from flags or from the environment of a CI step.

use std::{env, path::PathBuf, time::Duration};

use probity_review::Bar;
use probity_seat::Sandbox;

use crate::{
    cli::review::{RunArgs, threshold},
    failure::Failure,
    report::review::ReviewFormat,
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
    pub(super) history: Keep,
    pub(super) report_only: bool,
    pub(super) budget: Option<f64>,
    pub(super) max_findings: usize,
    pub(super) timeout: Duration,
    pub(super) jobs: usize,
    pub(super) sandbox: Sandbox,
    pub(super) variables: Variables,
    pub(super) format: ReviewFormat,
    pub(super) reports: Vec<(ReviewFormat, PathBuf)>,
    pub(super) quiet: bool,
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
    pub(super) fn from_flags(args: RunArgs, quiet: bool) -> anyhow::Result<Self> {
        let history = match (args.database_url.or_else(|| text("DATABASE_URL")), args.no_history) {
            (_, true) => Keep::Nowhere,
            (Some(url), false) => Keep::Database(url),
            (None, false) => Keep::StateDirectory,
        };
        Ok(Self {
            repo: args.repo,
            output: args.output,
            config: args.config,
            profile: args.profile,
            agent: args.agent,
            model: args.model,
            bar: Bar { threshold: args.threshold, fail_on_critical: args.fail_on_critical },
            paths: globs(&args.paths.join(",")),
            diff_base: args.diff_only.then_some(args.base),
            history,
            report_only: args.report_only,
            budget: args.budget,
            max_findings: args.max_findings,
            timeout: args.timeout,
            jobs: args.jobs,
            sandbox: args.sandbox,
            variables: Variables::Named(args.variables),
            format: args.format.unwrap_or_else(usual_format),
            reports: args.reports,
            quiet,
        })
    }

    pub(super) fn from_environment() -> anyhow::Result<Self> {
        let or = |name: &str, usual: &str| text(name).unwrap_or_else(|| usual.to_owned());
        // The optional input of the task; what lies in the repository is never taken for it.
        let usual = PathBuf::from("review-config/review.yml");
        let config = text("REVIEW_CONFIG").map(PathBuf::from);
        let config = config.or_else(|| usual.is_file().then_some(usual));
        let base = or("BASE_REF", "main");
        Ok(Self {
            repo: or("REPO_DIR", "repo").into(),
            output: output_directory(),
            config,
            profile: or("REVIEW_PROFILE", "default"),
            agent: or("AGENT_CLI", "claude"),
            model: text("AGENT_MODEL"),
            bar: bar_or(Bar::DEFAULT)?,
            paths: globs(&or("REVIEW_PATHS", "")),
            diff_base: yes_or_no("REVIEW_DIFF_ONLY")?.unwrap_or(false).then_some(base),
            history: text("DATABASE_URL").map_or(Keep::Nowhere, Keep::Database),
            report_only: yes_or_no("REVIEW_REPORT_ONLY")?.unwrap_or(false),
            budget: None,
            max_findings: 50,
            timeout: Duration::from_secs(600),
            jobs: 0,
            sandbox: Sandbox::Auto,
            variables: Variables::OfTheAgent,
            format: usual_format(),
            reports: Vec::new(),
            quiet: false,
        })
    }

    /// Values that must not appear in anything that a review leaves behind.
    pub(super) fn hidden(&self) -> Vec<String> {
        let mut hidden: Vec<String> = env::vars_os()
            .filter_map(|(name, value)| {
                let name = name.to_str()?.to_ascii_uppercase();
                let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
                let secret = words.iter().any(|word| name.contains(word));
                let named = match &self.variables {
                    Variables::Named(names) => {
                        names.iter().any(|it| it.eq_ignore_ascii_case(&name))
                    }
                    Variables::OfTheAgent => false,
                };
                (secret || named).then(|| value.to_str().map(str::to_owned))?
            })
            .collect();
        if let Keep::Database(url) = &self.history {
            hidden.push(url.clone());
            let login = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
            let password = login.and_then(|(login, _)| login.split_once(':'));
            hidden.extend(password.map(|(_, password)| password.to_owned()));
        }
        hidden
    }
}

/// Where a CI step leaves its review, which is known before anything else is.
pub(super) fn output_directory() -> PathBuf {
    text("OUTPUT_DIR").unwrap_or_else(|| "review".to_owned()).into()
}

/// From SCORE_THRESHOLD and FAIL_ON_CRITICAL, else what else holds; 0 is something said.
pub(super) fn bar_or(otherwise: Bar) -> anyhow::Result<Bar> {
    let wanted = match text("SCORE_THRESHOLD") {
        None => otherwise.threshold,
        Some(value) => threshold(&value).map_err(|expected| wrong("SCORE_THRESHOLD", &expected))?,
    };
    let fail_on_critical = yes_or_no("FAIL_ON_CRITICAL")?.unwrap_or(otherwise.fail_on_critical);
    Ok(Bar { threshold: wanted, fail_on_critical })
}

/// A variable that says something.
pub(super) fn text(name: &str) -> Option<String> {
    let value = env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn yes_or_no(name: &str) -> anyhow::Result<Option<bool>> {
    let Some(value) = text(name) else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(Some(true)),
        "false" | "0" | "no" | "off" => Ok(Some(false)),
        _ => Err(wrong(name, "expected true or false").into()),
    }
}

/// The value itself is not repeated: somebody may have put a key into the wrong variable.
fn wrong(name: &str, expected: &str) -> Failure {
    Failure::new(format!("{name} cannot be read: {expected}"), "`--help` names every variable")
}

/// By commas or lines.
fn globs(text: &str) -> Vec<String> {
    let globs = text.split([',', '\n']).map(str::trim).filter(|glob| !glob.is_empty());
    globs.map(str::to_owned).collect()
}

fn usual_format() -> ReviewFormat {
    match text("GITHUB_ACTIONS").as_deref() {
        Some("true") => ReviewFormat::GithubActions,
        _ => ReviewFormat::Text,
    }
}
