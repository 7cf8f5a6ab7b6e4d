//! The command lines of the runners that node runs, and what reads their reports.

use std::path::PathBuf;

use serde_json::Value;

use super::{
    Asked, JavaScript,
    framework::Framework,
    setup::{Setup, install_command},
};
use crate::runner::{
    Trouble,
    context::{REPORT, Site},
    report::{Report, tap::files::Marks},
};

/// The words of a command after the program, and how its report is read.
pub(super) struct Words {
    /// For node, before the program of a package.
    pub(super) node: Vec<String>,
    pub(super) own: Vec<String>,
    pub(super) format: Format,
}

/// What a reporter writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A line of JSON for each event.
    Lines,
    Tap(Marks),
    /// The same of files that run one by one, each with this command.
    TapOfEach(Marks),
}

impl Format {
    /// The report of a run, in which files are called by their paths in the repository.
    pub(super) fn read(self, site: &Site<'_>, setup: &Setup, text: &str) -> Report {
        let root = format!("{}/", site.seen_repo.display());
        match self {
            Self::Lines => Report::of_lines(text),
            Self::TapOfEach(marks) => Report::of_tap_files(text, marks, str::to_owned),
            Self::Tap(marks) => Report::of_tap_files(text, marks, |name| {
                let own = || setup.directory.join(name).display().to_string();
                name.strip_prefix(&root).map_or_else(own, str::to_owned)
            }),
        }
    }
}

/// The program of an installed package.
struct Installed {
    program: String,
    /// The first part of its version.
    version: u32,
}

impl JavaScript {
    pub(super) fn words(
        &self,
        site: &Site<'_>,
        setup: &Setup,
        asked: &Asked<'_>,
    ) -> Result<Words, Trouble> {
        let kit = |name: &str| site.context.seen_kit().join(name).display().to_string();
        let mut node = setup.invocation.node.clone();
        let installed = |package: &str| self.installed(site, setup, package);
        let mut own = setup.invocation.options.clone();
        let limit = site.context.test_timeout;
        let mut format = Format::Lines;
        match setup.framework {
            Framework::Node | Framework::Bun | Framework::Deno => {
                node.append(&mut own);
                node.extend(self.node_words(site, setup, asked));
            }
            Framework::Mocha => {
                let Installed { program, version } = installed("mocha")?;
                // Our own time limit ends a test, since mocha's would look like a failure.
                own.push("--timeout=0".to_owned());
                own.push(format!("--reporter={}", kit("probity_mocha.cjs")));
                let since = [(4, "--exit"), (6, "--no-bail"), (8, "--no-parallel")];
                let known = since.into_iter().filter(|(first, _)| version >= *first);
                own.extend(known.map(|(_, word)| word.to_owned()));
                own.extend(asked.filter().map(|filter| format!("--grep={filter}")));
                own.insert(0, program);
            }
            Framework::Jest | Framework::Vitest => {
                let package = setup.framework.package().unwrap_or_default();
                let program = installed(package)?.program;
                own = self.framework_words(site, setup, asked, own);
                own.insert(0, program);
            }
            Framework::Tap => {
                let Installed { program, version } = installed("tap")?;
                own.insert(0, program);
                let coverage: &[&str] = match version {
                    18.. => &["--disable-coverage", "--allow-empty-coverage"],
                    15..18 => &["--no-coverage", "--no-check-coverage"],
                    _ => &["--no-coverage"],
                };
                let last = ["--reporter=tap", "--timeout=0", "--no-bail"];
                own.extend(coverage.iter().chain(&last).map(|word| (*word).to_owned()));
                own.push(format!("--output-file={}", site.seen_scratch.join(REPORT).display()));
                format = Format::Tap(Marks::Points);
            }
            Framework::Tape => {
                // Its tests run without its program, which ends with the first file that does not load.
                installed("tape")?;
                node.append(&mut own);
                node.push(format!("--import={}", kit("probity_start.mjs")));
                format = Format::TapOfEach(Marks::Comments);
            }
            Framework::Ava => {
                own.insert(0, installed("ava")?.program);
                own.extend(["--tap".to_owned(), format!("--timeout={}s", limit.as_secs().max(1))]);
                format = Format::TapOfEach(Marks::Points);
            }
            Framework::Jasmine => {
                own.insert(0, installed("jasmine")?.program);
                own.push(format!("--helper={}", kit("probity_jasmine.cjs")));
                own.push("--random=false".to_owned());
                format = Format::TapOfEach(Marks::Points);
            }
        }
        Ok(Words { node, own, format })
    }

    fn node_words(&self, site: &Site<'_>, setup: &Setup, asked: &Asked<'_>) -> Vec<String> {
        let kit = site.context.seen_kit();
        let is_typed = |file: &String| file.ends_with("ts") || file.ends_with("tsx");
        let mut words = Vec::new();
        match asked {
            // A name that is put together out of several is no name to node; it is found among
            // those of all tests.
            Asked::Test(placed) if super::is_whole(placed) => {
                words.extend(asked.filter().map(|filter| format!("--test-name-pattern={filter}")));
            }
            Asked::Test(_) => {}
            Asked::Files { .. } => words.push("--test".to_owned()),
        }
        words.push(format!("--import={}", kit.join("probity_start.mjs").display()));
        words.push(format!("--test-reporter={}", kit.join("probity_node.mjs").display()));
        words.push("--test-reporter-destination=stdout".to_owned());
        let has_loader =
            setup.invocation.node.iter().chain(&setup.invocation.options).any(|word| {
                [
                    "--import",
                    "--loader",
                    "--experimental-loader",
                    "--require",
                    "-r",
                    "--experimental-strip-types",
                    "--experimental-transform-types",
                ]
                .iter()
                .any(|loader| word.starts_with(loader))
            });
        if asked.files().iter().any(is_typed) && !has_loader {
            let with_tsx = self.modules.has(&setup.directory, "tsx");
            words.push(
                if with_tsx { "--import=tsx" } else { "--experimental-strip-types" }.to_owned(),
            );
        }
        words
    }

    /// What vitest and jest are told, of which the words differ and the meaning does not.
    fn framework_words(
        &self,
        site: &Site<'_>,
        setup: &Setup,
        asked: &Asked<'_>,
        options: Vec<String>,
    ) -> Vec<String> {
        let related = matches!(asked, Asked::Files { related: true, .. });
        let kit = site.context.seen_kit();
        let cache = format!("--cacheDirectory={}", site.seen_scratch.join("jest").display());
        let (first, reporter, last): (&[&str], _, &[&str]) = match setup.framework {
            Framework::Jest => (
                &[
                    "--ci",
                    "--runInBand",
                    "--watchman=false",
                    "--coverage=false",
                    "--bail=0",
                    &cache,
                ],
                format!("--reporters={}", kit.join("probity_jest.cjs").display()),
                if related {
                    &["--passWithNoTests", "--findRelatedTests"]
                } else {
                    &["--runTestsByPath"]
                },
            ),
            _ => (
                if related {
                    &[
                        "related",
                        "--run",
                        "--passWithNoTests",
                        "--coverage.enabled=false",
                        "--bail=0",
                    ]
                } else {
                    &["run", "--coverage.enabled=false", "--bail=0"]
                },
                format!("--reporter={}", kit.join("probity_vitest.mjs").display()),
                &[],
            ),
        };
        let timeout = format!("--testTimeout={}", site.context.test_timeout.as_millis());
        let filter = asked.filter().map(|filter| format!("--testNamePattern={filter}"));
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let middle = [timeout, reporter].into_iter().chain(filter).collect();
        [own(first), options, middle, own(last)].concat()
    }

    /// The program that a package says it has.
    fn installed(
        &self,
        site: &Site<'_>,
        setup: &Setup,
        package: &str,
    ) -> Result<Installed, Trouble> {
        let missing = || Trouble::PackageMissing {
            package: package.to_owned(),
            install: install_command(site.repo(), &setup.directory, package),
        };
        let (directory, settings) =
            self.modules.package(&setup.directory, package).ok_or_else(missing)?;
        let program = match settings.get("bin") {
            Some(Value::String(file)) => Some(file.as_str()),
            Some(Value::Object(programs)) => {
                programs.get(package).or_else(|| programs.values().next()).and_then(Value::as_str)
            }
            _ => None,
        };
        let program = program.ok_or_else(missing)?.trim_start_matches("./");
        let version = settings.get("version").and_then(Value::as_str).unwrap_or_default();
        let version = version.split('.').next().and_then(|first| first.parse().ok()).unwrap_or(0);
        let program: PathBuf = site.seen_repo.join(directory).join(program);
        Ok(Installed { program: program.display().to_string(), version })
    }
}
