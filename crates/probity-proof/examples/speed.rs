//! Compares proofs with the bare test runner, in time and in what both do.
//!
//! `speed [NAMES [CLAIMS]]` proves so many true claims one after the other. Then the bare runner makes the
//! same number of builds, each of changed code, and of separate runs; last, it runs all tests at once.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a program that cannot set its stage ends there and then"
)]

#[expect(dead_code, unused_imports, reason = "only the true claims are proven here")]
#[path = "../tests/it/corpus.rs"]
mod corpus;
#[path = "../tests/it/tools.rs"]
mod tools;

use std::{
    env, fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use corpus::{Case, ClaimKind, LANGUAGES, trial::repository};
use probity_proof::{Claim, PlacedTest, ProcessCounts, WithoutFix, Workshop};

/// How people run the tests of a repository of the corpora. `<path>` is a test's file, `<stem>` its name
/// without an ending, `<package>` its directory, `<program>` what was built of it.
struct Bare {
    name: &'static str,
    language: &'static str,
    layout: usize,
    all: &'static [&'static str],
    build: &'static [&'static str],
    run: &'static [&'static str],
    /// A comment for the end of a file.
    comment: &'static str,
    /// How many times longer 20 claims took than the bare runner in one go, before versions were
    /// built once.
    older: &'static str,
}

const JEST: &str = "node_modules/jest/bin/jest.js";

const BARE: [Bare; 5] = [
    Bare {
        name: "go",
        language: "go",
        layout: 1,
        all: &["go", "test", "-count=1", "./..."],
        build: &["go", "test", "-c", "-o", "<program>", "./<package>"],
        run: &["<program>"],
        comment: "//",
        older: "2.5",
    },
    Bare {
        name: "node:test",
        language: "javascript",
        layout: 0,
        all: &["node", "--test"],
        build: &[],
        // With `--test` it would be two processes.
        run: &["node", "<path>"],
        comment: "//",
        older: "15",
    },
    Bare {
        name: "pytest",
        language: "python",
        layout: 0,
        all: &["python3", "-m", "pytest", "-q"],
        build: &[],
        run: &["python3", "-m", "pytest", "-q", "<path>"],
        comment: "#",
        older: "85",
    },
    Bare {
        name: "rust",
        language: "rust",
        layout: 0,
        all: &["cargo", "test", "--offline", "--no-fail-fast"],
        build: &["cargo", "test", "--offline", "--no-run", "--test", "<stem>"],
        run: &["<program>"],
        comment: "//",
        older: "5.8",
    },
    Bare {
        name: "jest",
        language: "javascript",
        layout: 1,
        all: &["node", JEST],
        build: &[],
        run: &["node", JEST, "--runTestsByPath", "<path>"],
        comment: "//",
        older: "-",
    },
];

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |name: &str| {
        let names = words.first().map_or("all", String::as_str);
        names == "all" || names.split(',').any(|wanted| wanted == name)
    };
    let count = words.get(1).map_or(20, |count| count.parse().unwrap());
    let mut out = io::stdout();
    writeln!(
        out,
        "{count:2} claims  builds   runs  copies   proofs s    bare s   ratio   of CPU   in one go s   ratio   older"
    )?;
    for bare in BARE.iter().filter(|bare| is_wanted(bare.name)) {
        let language = LANGUAGES.into_iter().find(|known| known.name == bare.language).unwrap();
        let mut cases = language.cases();
        cases.retain(|case| case.kind == ClaimKind::Fixed && case.layout == bare.layout);
        let cases: Vec<&Case> = cases.iter().take(count).collect();
        let claims: Vec<Claim> = cases.iter().map(|case| case.claim.clone()).collect();
        let repository = repository(language, bare.layout, &cases);
        let mut options = tools::options(repository.path());
        options.jobs = 1;
        let workshop = Workshop::prepare(options, &|_| {}).unwrap();
        let mut verdicts = Vec::new();
        let proofs = Spent::by(|| {
            verdicts = workshop.prove_all(&claims, WithoutFix::Alter, &|_, _| {});
        });
        assert!(verdicts.iter().all(|verdict| verdict.proven), "{verdicts:#?}");
        let counts = workshop.process_counts();
        let tests = claims.iter().map(|claim| (claim, workshop.place(claim).unwrap())).collect();
        let (apart, together) = Rival { bare, root: repository.path(), tests }.measure(counts);
        let ProcessCounts { compilations, runs, copies } = counts;
        writeln!(
            out,
            "{:9} {compilations:7} {runs:6} {copies:7} {:10.1} {:9.1} {:7.2} {:8.2} {:13.1} {:7.1} {:>7}",
            bare.name,
            proofs.wall,
            apart.wall,
            proofs.wall / apart.wall,
            proofs.processor / apart.processor,
            together.wall,
            proofs.wall / together.wall,
            bare.older,
        )?;
    }
    Ok(())
}

/// Seconds that something took, by the clock and of the processor. The clock is wrong where others use the
/// machine too.
#[derive(Clone, Copy)]
struct Spent {
    wall: f64,
    processor: f64,
}

impl Spent {
    fn by(work: impl FnOnce()) -> Self {
        let (began, before) = (Instant::now(), processor());
        work();
        Self { wall: began.elapsed().as_secs_f64(), processor: processor() - before }
    }
}

/// Seconds of this process and all that it has waited for.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks =
        fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<f64>().unwrap());
    // The kernel shows hundredths of a second everywhere.
    ticks.sum::<f64>() / 100.0
}

/// The bare runner in a repository that has the tests of all claims.
struct Rival<'a> {
    bare: &'a Bare,
    root: &'a Path,
    tests: Vec<(&'a Claim, PlacedTest)>,
}

impl Rival<'_> {
    /// How long the same builds and runs take one by one, and all tests at once.
    fn measure(&self, counts: ProcessCounts) -> (Spent, Spent) {
        for (_, placed) in &self.tests {
            let file = self.root.join(&placed.path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &placed.source).unwrap();
        }
        // What the runner keeps from one time to the next is there, as it is for proofs.
        self.start(self.bare.all, 0);
        let warm =
            |number| if self.bare.build.is_empty() { None } else { Some(self.build(number)) };
        let programs: Vec<_> = (0..self.tests.len()).map(warm).collect();
        let compiled = if self.bare.build.is_empty() { 0 } else { counts.compilations };
        let apart = Spent::by(|| {
            for number in 0..compiled {
                self.change(number);
                self.build(number);
            }
            for number in 0..counts.runs {
                match &programs[number % programs.len()] {
                    Some(program) => self.start(&[program.to_str().unwrap()], number),
                    None => self.start(self.bare.run, number),
                };
            }
        });
        for number in 0..self.tests.len() {
            self.change(number);
        }
        (apart, Spent::by(|| drop(self.start(self.bare.all, 0))))
    }

    fn test(&self, number: usize) -> &(&Claim, PlacedTest) {
        &self.tests[number % self.tests.len()]
    }

    /// Adds a comment to the code of a claim, so that it has to be compiled again.
    fn change(&self, number: usize) {
        let file = self.root.join(&self.test(number).0.file);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, format!("{text}{} {number}\n", self.bare.comment)).unwrap();
    }

    /// Builds a test, and gives its program.
    fn build(&self, number: usize) -> PathBuf {
        let told = self.start(self.bare.build, number);
        let program = self.program(number);
        if self.bare.build.contains(&"<program>") {
            return program;
        }
        // Cargo says where it is.
        let (_, rest) = told.rsplit_once('(').unwrap_or_else(|| panic!("{told}"));
        self.root.join(rest.split(')').next().unwrap_or_default())
    }

    fn program(&self, number: usize) -> PathBuf {
        self.root.join(format!("program{}", number % self.tests.len()))
    }

    /// Runs a command to its end, and gives what it said of its work.
    fn start(&self, words: &[&str], number: usize) -> String {
        let (_, placed) = self.test(number);
        let path = Path::new(&placed.path);
        let text =
            |part: Option<&Path>| part.map(|part| part.display().to_string()).unwrap_or_default();
        let fill = |word: &&str| {
            word.replace("<path>", &placed.path)
                .replace("<stem>", &text(path.file_stem().map(Path::new)))
                .replace("<package>", &text(path.parent()))
                .replace("<program>", &self.program(number).display().to_string())
        };
        let words: Vec<String> = words.iter().map(fill).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.root).env_remove("CARGO_TARGET_DIR");
        command.envs(tools::options(self.root).environment);
        let ran = command.output().expect("the bare runner is installed");
        if env::var_os("VERBOSE").is_some() {
            eprintln!("{words:?} {:?}\n{}", ran.status, String::from_utf8_lossy(&ran.stdout));
        }
        String::from_utf8_lossy(&ran.stderr).into_owned()
    }
}
