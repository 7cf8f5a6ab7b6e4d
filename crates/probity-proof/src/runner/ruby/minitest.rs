//! minitest, with a reporter of ours that writes down what happens as it happens.

use std::path::PathBuf;

use probity_sandbox::Exit;

use super::{PROJECT, load_path};
use crate::{
    Claim, RunDetail,
    runner::{
        Trouble,
        capture::Ran,
        context::{RunnerContext, Site, Task},
        files::{Asked, Tool, escaped, only_title, tools_of, word_after},
        placement,
        report::{Report, TestReport},
    },
};

const REPORTER: &str = "probity_minitest.rb";

/// What the reporter tells before any test.
const LOADED: &str = "(loaded)";

pub(super) fn add_reporter(context: &RunnerContext) -> Result<(), Trouble> {
    context.add_to_kit(REPORTER, include_str!("probity_minitest.rb"))
}

#[derive(Debug)]
pub(super) struct Minitest {
    pub(super) ruby: PathBuf,
}

impl Tool for Minitest {
    fn name(&self) -> &'static str {
        "minitest"
    }

    fn is_test(&self, name: &str) -> bool {
        name.ends_with("_test.rb") || name.starts_with("test_") && name.ends_with(".rb")
    }

    fn project_files(&self) -> &'static [&'static str] {
        PROJECT
    }

    fn test_directories(&self) -> &'static [&'static str] {
        &["test"]
    }

    fn file_name(&self, claim: &Claim, number: &str) -> String {
        format!("zz_probity_{}{number}_test.rb", placement::plain(&claim.id))
    }

    fn test_name(&self, claim: &Claim) -> Option<String> {
        let method = word_after(&claim.test_code, "def test_").map(|name| format!("test_{name}"));
        method.or_else(|| only_title(&claim.test_code, &["it ", "test "]).map(str::to_owned))
    }

    fn parse_command(&self) -> Option<Vec<String>> {
        Some(vec![self.ruby.display().to_string(), "-c".to_owned()])
    }

    /// `Class#test_name`, where a title has become a method with a number before it.
    fn is_wanted(&self, test: &TestReport, name: &str) -> bool {
        let bare = |name: &str| {
            let name = name.rsplit(['#', ':', '.']).next().unwrap_or(name);
            let name = name.strip_prefix("test_").unwrap_or(name);
            let name = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
            name.trim_start_matches('_').trim().replace(' ', "_")
        };
        name.is_empty() || bare(&test.name) == bare(name)
    }

    fn empty_test(&self, _: &str) -> (&'static str, String) {
        let source = "require 'minitest/autorun'\n\nclass ProbityStarts < Minitest::Test\n  \
                      def test_starts\n    pass\n  end\nend\n";
        ("test_starts", source.to_owned())
    }

    fn session(
        &self,
        site: &Site<'_>,
        mut task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        task.tools = tools_of(&self.ruby, &[]);
        task.arguments([&self.ruby]);
        task.arguments(load_path(site, &task.directory.clone(), &["lib", "test"]));
        task.arguments(["-r".into(), site.context.seen_kit().join(REPORTER)]);
        match asked {
            Asked::Test(_) => task.arguments(asked.files(site)),
            // One process for all: each file is required, and minitest runs at the end.
            Asked::Files(_) => {
                task.arguments([
                    "-e",
                    "ARGV.shift(ARGV.index('--')).each { |f| load f }; ARGV.shift",
                    "--",
                ]);
                task.arguments(asked.files(site));
                task.arguments(["--"]);
            }
        }
        if let Some(name) = asked.test() {
            let name = name.rsplit(['#', ':', '.']).next().unwrap_or(name).trim();
            let pattern = escaped(name).replace(' ', "[ _]");
            task.arguments(["-n".to_owned(), format!("/(\\A|_){pattern}\\z/")]);
        }
        let (ran, mut report) = site.run_reported(task)?;
        let told = report.tests.len();
        report.tests.retain(|test| test.name != LOADED);
        let is_loaded = report.tests.len() < told;
        if !is_loaded && matches!(ran.exit, Exit::Code(1)) {
            report.without_end.get_or_insert(RunDetail::Unbuilt);
        } else if is_loaded && report.tests.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
        }
        Ok((ran, report))
    }
}
