//! PHP: PHPUnit, which writes JUnit's XML.

use std::path::PathBuf;

use probity_sandbox::Mount;

use super::{
    Runner, Trouble, Unavailable,
    capture::Ran,
    context::{Site, Task},
    files::{Asked, Files, REPORT, Tool, escaped, tools_of, word_after, written},
    placement,
    report::Report,
};
use crate::{Claim, host, workshop::Preparation};

#[derive(Debug)]
pub(super) struct PhpUnit {
    php: PathBuf,
    program: PathBuf,
    /// Packages that composer installed, which no repository tracks: a directory, and where it is.
    vendors: Vec<(PathBuf, PathBuf)>,
}

impl PhpUnit {
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        let php = context.tool("php").ok_or(Unavailable::NotInstalled("PHP"))?;
        let mut vendors = Vec::new();
        for directory in preparation.directories_with("composer.json") {
            let place = directory.join("vendor");
            if preparation.is_copied(&place) {
                continue;
            }
            vendors.extend(preparation.installed(&place).map(|installed| (place, installed)));
        }
        let own = vendors.iter().map(|(_, real)| real.join("bin/phpunit"));
        let own = own.into_iter().find(|program| host::is_file(program));
        let own = if context.is_sandboxed() { own } else { None };
        let program = own.or_else(|| context.tool("phpunit"));
        let program = program.ok_or(Unavailable::NotInstalled("PHPUnit"))?;
        Ok(Box::new(Files(Self { php, program, vendors })))
    }
}

impl Tool for PhpUnit {
    fn name(&self) -> &'static str {
        "phpunit"
    }

    fn is_test(&self, name: &str) -> bool {
        name.ends_with("Test.php")
    }

    fn project_files(&self) -> &'static [&'static str] {
        &["composer.json", "phpunit.xml", "phpunit.xml.dist"]
    }

    fn test_directories(&self) -> &'static [&'static str] {
        &["tests", "test"]
    }

    /// PHPUnit looks for a class of the file's name.
    fn file_name(&self, claim: &Claim, number: &str) -> String {
        let class = word_after(&claim.test_code, "class ").map(str::to_owned);
        let class = class.unwrap_or_else(|| format!("Probity{}Test", placement::plain(&claim.id)));
        if number.is_empty() { format!("{class}.php") } else { format!("zz{number}/{class}.php") }
    }

    fn test_name(&self, claim: &Claim) -> Option<String> {
        word_after(&claim.test_code, "function test").map(|name| format!("test{name}"))
    }

    fn parse_command(&self) -> Option<Vec<String>> {
        Some(vec![self.php.display().to_string(), "-l".to_owned()])
    }

    fn session(
        &self,
        site: &Site<'_>,
        mut task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        task.tools = tools_of(&self.php, &["/etc/php"]);
        task.tools.extend(tools_of(&self.program, &[]));
        if site.context.is_sandboxed() {
            for (place, real) in &self.vendors {
                site.copy.make_directory(place).map_err(|error| Trouble::at(real, &error))?;
                task.mounts.push(Mount::read_only(real, site.seen_repo.join(place)));
            }
        }
        task.arguments([&self.php, &self.program]);
        task.arguments(["--do-not-cache-result", "--no-interaction", "--colors=never"]);
        task.arguments(["--log-junit".into(), site.seen_scratch.join(REPORT)]);
        if let Some(name) = asked.test() {
            let name = name.rsplit([':', '.', '#', ' ']).next().unwrap_or(name);
            let pattern = escaped(name);
            task.arguments(["--filter".to_owned(), format!("/::{pattern}( with data set .*)?$/")]);
        }
        match asked {
            Asked::Test(_) => task.arguments(asked.files(site)),
            // It takes one file or one directory, and looks there for `*Test.php`.
            Asked::Files(_) => {
                task.arguments([site.seen_repo.join(task.directory.clone())]);
            }
        }
        let ran = site.run(&task)?;
        Ok((ran, written(site, |text| Report::of_junit(text.trim_start()).ok())))
    }
}
