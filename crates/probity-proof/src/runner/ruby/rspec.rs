//! RSpec, which writes JSON.

use std::path::PathBuf;

use serde::Deserialize;

use super::PROJECT;
use crate::{
    Claim, RunDetail,
    runner::{
        Trouble,
        capture::Ran,
        context::{Site, Task},
        files::{Asked, REPORT, Tool, only_title, tools_of, written},
        placement,
        report::{Report, State, TestReport},
    },
};

#[derive(Debug)]
pub(super) struct Rspec {
    pub(super) ruby: PathBuf,
    pub(super) program: PathBuf,
}

#[derive(Deserialize)]
struct Told {
    examples: Vec<Example>,
    summary: Summary,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    run_time: Option<f64>,
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    class: String,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Summary {
    /// Files that could not be loaded, for the most part.
    errors_outside_of_examples_count: u64,
}

impl Tool for Rspec {
    fn name(&self) -> &'static str {
        "rspec"
    }

    fn is_test(&self, name: &str) -> bool {
        name.ends_with("_spec.rb")
    }

    fn project_files(&self) -> &'static [&'static str] {
        PROJECT
    }

    fn test_directories(&self) -> &'static [&'static str] {
        &["spec"]
    }

    fn file_name(&self, claim: &Claim, number: &str) -> String {
        format!("zz_probity_{}{number}_spec.rb", placement::plain(&claim.id))
    }

    fn test_name(&self, claim: &Claim) -> Option<String> {
        only_title(&claim.test_code, &["it ", "it(", "specify ", "example "]).map(str::to_owned)
    }

    fn parse_command(&self) -> Option<Vec<String>> {
        Some(vec![self.ruby.display().to_string(), "-c".to_owned()])
    }

    /// An example is known by all that is around it, or by its own words.
    fn is_wanted(&self, test: &TestReport, name: &str) -> bool {
        let words = |text: &str| text.replace(" > ", " ");
        name.is_empty() || words(name) == test.name || test.name.ends_with(&format!(" {name}"))
    }

    fn empty_test(&self, _: &str) -> (&'static str, String) {
        ("starts", "RSpec.describe 'probity' do\n  it('starts') {}\nend\n".to_owned())
    }

    fn session(
        &self,
        site: &Site<'_>,
        mut task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        task.tools = tools_of(&self.program, &[]);
        task.arguments([&self.program]);
        task.arguments(["--no-color", "--order", "defined", "--format", "json", "--out"]);
        task.arguments([site.seen_scratch.join(REPORT)]);
        if let Some(name) = asked.test() {
            task.arguments(["--example", &name.replace(" > ", " ")]);
        }
        task.arguments(asked.files(site));
        let ran = site.run(&task)?;
        Ok((ran, written(site, read)))
    }
}

fn read(text: &str) -> Option<Report> {
    let told: Told = serde_json::from_str(text).ok()?;
    let mut report = Report::default();
    for example in told.examples {
        let state = match example.status.as_str() {
            "passed" => State::Passed,
            "pending" => State::Skipped,
            _ => State::Failed,
        };
        let exception = example.exception;
        report.tests.push(TestReport {
            seconds: example.run_time,
            kind: exception.as_ref().map(|exception| exception.class.clone()),
            message: exception.and_then(|exception| exception.message).unwrap_or_default(),
            ..TestReport::new(example.full_description, state)
        });
    }
    if told.summary.errors_outside_of_examples_count > 0 {
        report.without_end = Some(RunDetail::Unbuilt);
    }
    Some(report)
}
