//! PHP: PHPUnit, which writes JUnit's XML.

use std::{
    io,
    path::{Path, PathBuf},
};

use probity_scope::{CopiedLinks, HeldDirectory};

use super::{
    Runner, Trouble, Unavailable,
    capture::Ran,
    context::{Site, Task},
    files::{Asked, Files, REPORT, Tool, escaped, tools_of, word_after, written},
    placement,
    report::Report,
};
use crate::{Claim, host, mounts, workshop::Preparation};

/// Where composer puts PHPUnit, below its packages.
const PHPUNIT: &str = "bin/phpunit";

#[derive(Debug)]
pub(super) struct PhpUnit {
    php: PathBuf,
    program: Program,
    /// Packages that composer installed, which no repository tracks: a directory, and where it is.
    vendors: Vec<(PathBuf, PathBuf)>,
}

/// Where PHPUnit is.
#[derive(Debug)]
enum Program {
    /// Among the packages that composer installed, relative to the repository.
    Installed(PathBuf),
    Machine(PathBuf),
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
        // A link there may lead anywhere: what it leads to is not a package.
        let own = vendors.iter().find_map(|(place, vendor): &(PathBuf, PathBuf)| {
            let program = host::real_path(&vendor.join(PHPUNIT))?;
            (program.starts_with(vendor) && host::is_file(&program)).then(|| place.join(PHPUNIT))
        });
        let program = match own {
            Some(own) if context.is_sandboxed() => Program::Installed(own),
            _ => {
                let program = context.tool("phpunit");
                Program::Machine(program.ok_or(Unavailable::NotInstalled("PHPUnit"))?)
            }
        };
        Ok(Box::new(Files(Self { php, program, vendors })))
    }
}

fn copy(from: &Path, to: &HeldDirectory) -> io::Result<()> {
    to.copy_tree(&HeldDirectory::open(from)?, CopiedLinks::Kept, &|_, _| true)
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

    fn empty_test(&self, stem: &str) -> (&'static str, String) {
        let source = format!(
            "<?php\n\nfinal class {stem} extends \\PHPUnit\\Framework\\TestCase\n{{\n    \
             public function testStarts(): void\n    {{\n        \
             $this->assertTrue(true);\n    }}\n}}\n"
        );
        ("testStarts", source)
    }

    fn session(
        &self,
        site: &Site<'_>,
        mut task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        task.tools = tools_of(&self.php, &["/etc/php"]);
        let program = match &self.program {
            Program::Installed(program) => site.seen_repo.join(program),
            Program::Machine(program) => {
                task.tools.extend(tools_of(program, &[]));
                program.clone()
            }
        };
        for (place, real) in self.vendors.iter().filter(|_| site.context.is_sandboxed()) {
            let failed = |error: io::Error| Trouble::at(real, &error);
            if site.context.moves_paths() {
                site.copy.make_directory(place).map_err(failed)?;
                task.mounts.push(mounts::PACKAGES.read_only(real, site.seen_repo.join(place)));
            } else if site.repo().kind(place).is_none() {
                // Composer finds the classes of a project from where its packages really are.
                site.repo().ensure(place).and_then(|into| copy(real, &into)).map_err(failed)?;
            }
        }
        task.arguments([&self.php, &program]);
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
