//! Shell: bats, which writes TAP.

use super::{
    Runner, Trouble, Unavailable,
    capture::Ran,
    context::{Site, Task},
    files::{Asked, Files, Tool, escaped, only_title, tools_of},
    placement,
    report::{Report, ReportFault},
};
use crate::{Claim, RunDetail, workshop::Preparation};

/// Stands in bats' report for a file that it could not read.
const UNREADABLE: &str = "bats-gather-tests";

#[derive(Debug)]
pub(super) struct Bats {
    program: std::path::PathBuf,
}

impl Bats {
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        let program = context.tool("bats").ok_or(Unavailable::NotInstalled("bats"))?;
        Ok(Box::new(Files(Self { program })))
    }
}

impl Tool for Bats {
    fn name(&self) -> &'static str {
        "bats"
    }

    fn is_test(&self, name: &str) -> bool {
        name.ends_with(".bats")
    }

    fn project_files(&self) -> &'static [&'static str] {
        &[]
    }

    fn test_directories(&self) -> &'static [&'static str] {
        &[]
    }

    fn file_name(&self, claim: &Claim, number: &str) -> String {
        format!("zz_probity_{}{number}.bats", placement::plain(&claim.id))
    }

    fn test_name(&self, claim: &Claim) -> Option<String> {
        only_title(&claim.test_code, &["@test"]).map(str::to_owned)
    }

    fn empty_test(&self, _: &str) -> (&'static str, String) {
        ("starts", "@test \"starts\" {\n  :\n}\n".to_owned())
    }

    fn session(
        &self,
        site: &Site<'_>,
        mut task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        task.tools = tools_of(&self.program, &[]);
        task.arguments([&self.program]);
        task.arguments(["--tap"]);
        if let Some(name) = asked.test() {
            task.arguments(["--filter".to_owned(), format!("^{}$", escaped(name))]);
        }
        task.arguments(asked.files(site));
        let ran = site.run(&task)?;
        let text = String::from_utf8_lossy(&ran.stdout);
        let malformed =
            |why| Report::without(ReportFault::Malformed { path: "bats".to_owned(), why });
        let mut report = Report::of_tap(&text).unwrap_or_else(malformed);
        if report.tests.iter().any(|test| test.name.starts_with(UNREADABLE)) {
            report = Report { without_end: Some(RunDetail::Unbuilt), ..Report::default() };
        }
        Ok((ran, report))
    }
}
