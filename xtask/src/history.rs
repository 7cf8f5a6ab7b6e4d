//! `cargo xtask history`: reviews real bug fixes of public projects, and counts right verdicts.
//!
//! `eval/history` holds, for each project, the commits of its fixes and tests that strangers wrote for
//! them, without knowledge of the prover. The projects themselves are in a folder that the caller
//! names. A project that is not there is not measured, and with fewer than [`LEAST_PAIRS`] pairs the
//! run says nothing and fails.

mod cases;
mod checkout;
mod claims;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use self::{
    cases::{Pair, Project},
    checkout::Checkout,
    claims::{Kind, Wanted},
    table::Table,
};
use crate::Report;

/// With fewer a percentage means little.
const LEAST_PAIRS: usize = 60;

/// What is measured, with what.
pub(crate) struct Settings {
    /// The folder with the histories.
    pub(crate) clones: PathBuf,
    /// Where the commits are checked out.
    pub(crate) work: PathBuf,
    pub(crate) binary: PathBuf,
    /// Only this language.
    pub(crate) language: Option<String>,
    /// Only this half.
    pub(crate) half: Option<String>,
    /// Only projects whose name contains this.
    pub(crate) project: Option<String>,
}

pub(crate) fn run(root: &Path, settings: &Settings) -> Result<Report, String> {
    let mut table = Table::default();
    for project in cases::read(&root.join("eval/history"))? {
        if !settings.wants(&project) {
            continue;
        }
        let Some(history) = project.history(&settings.clones) else {
            table.absent(&project);
            continue;
        };
        for (number, pair) in project.pairs.iter().enumerate() {
            let name = format!("{}-{number}", project.name);
            let reviewed =
                review_pair(&project, pair, &history, &settings.work.join(&name), settings);
            let lines = match reviewed {
                Ok(verdicts) => verdicts
                    .into_iter()
                    .filter_map(|(kind, verdict)| table.add(&project, &name, kind, &verdict))
                    .collect(),
                Err(why) => vec![table.fail(&name, &why)],
            };
            // The run takes an hour, and may be cut off.
            progress(&format!("{name}: pair {}\n{}", table.pairs(), lines.concat()));
        }
    }
    let clean = table.pairs() >= LEAST_PAIRS && table.is_right();
    Ok(Report { text: table.text(LEAST_PAIRS), clean })
}

#[expect(clippy::print_stderr, reason = "the run takes an hour")]
fn progress(line: &str) {
    eprintln!("{line}");
}

impl Settings {
    fn wants(&self, project: &Project) -> bool {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        is(&self.language, &project.language)
            && is(&self.half, project.half())
            && self.project.as_ref().is_none_or(|part| project.name.contains(part.as_str()))
    }
}

/// Reviews the code before a fix and after it, and says what became of each claim.
fn review_pair(
    project: &Project,
    pair: &Pair,
    history: &Path,
    work: &Path,
    settings: &Settings,
) -> Result<Vec<(Kind, Value)>, String> {
    // What an earlier run left there is of other cases.
    if work.exists() {
        fs::remove_dir_all(work).map_err(|error| format!("{}: {error}", work.display()))?;
    }
    let before = Checkout::at(history, &format!("{}^", pair.fix), &work.join("before"))?;
    let after = Checkout::at(history, &pair.fix, &work.join("after"))?;
    before.install(project)?;
    after.install(project)?;
    let fix = before.change_to(&after, |path| project.is_production(path))?;
    let other = project.pairs.iter().find(|other| other.fix != pair.fix);
    let other = other.map(|other| after.fix_of(history, project, other)).transpose()?;
    let claims = claims::of(pair, project.comment(), &fix, other.as_deref());
    let changed_tests = before.changed_tests(&after, |path| project.is_production(path))?;
    let mut verdicts = Vec::new();
    for (checkout, name) in [(&before, "before"), (&after, "after")] {
        let wanted: Vec<&Wanted> = claims.iter().filter(|wanted| wanted.side == name).collect();
        let review =
            review(&checkout.root, &wanted, &work.join(format!("{name}-review")), settings)?;
        if let Some(unstarted) = review["unstarted"].as_array().and_then(|all| all.first()) {
            return Err(format!("no test could start: {unstarted}"));
        }
        for wanted in wanted {
            let verdict = wanted.verdict(&review);
            verdicts.push((wanted.kind(&verdict, &changed_tests), verdict));
        }
    }
    Ok(verdicts)
}

/// Runs `probity review` with these claims as the agent's answer.
fn review(
    repository: &Path,
    claims: &[&Wanted],
    output: &Path,
    settings: &Settings,
) -> Result<Value, String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(output).map_err(|error| failed(output, error))?;
    let answer = output.join("answer.json");
    let findings: Vec<&Value> = claims.iter().map(|wanted| &wanted.finding).collect();
    let text = serde_json::to_string(&findings).map_err(|error| error.to_string())?;
    fs::write(&answer, text).map_err(|error| failed(&answer, error))?;
    let page = output.join("review.json");
    let mut command = Command::new(&settings.binary);
    command
        .args(["review", "--report-only", "--no-history", "--quiet", "--agent"])
        .arg(format!("replay:{}", answer.display()))
        .arg("--output")
        .arg(output)
        .arg("--repo")
        .arg(repository)
        .stdin(Stdio::null());
    let ran = command.output().map_err(|error| failed(&settings.binary, error))?;
    let text = fs::read_to_string(&page).map_err(|error| {
        let said = String::from_utf8_lossy(&ran.stderr);
        format!("{}\n{}", failed(&page, error), said.trim_end())
    })?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", page.display()))
}
