//! A small repository in a temporary directory, and the tools that its tests need.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use probity_proof::{
    Base, Claim, CustomRunner, FixResult, Level, Outcome, ProofOptions, Verdict, WithoutFix,
    Workshop,
};
use probity_sandbox::Backend;
use tempfile::TempDir;

use crate::tools::options;

pub(crate) struct Stage {
    pub(crate) directory: TempDir,
    pub(crate) options: ProofOptions,
}

impl Stage {
    /// A repository with these files, committed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let stage = Self::bare(files);
        stage.git(&["init", "-q", "-b", "main"]);
        stage.commit();
        stage
    }

    /// A directory with these files, and no git at all.
    pub(crate) fn bare(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = options(directory.path());
        // The machine may be busy with other tests; those about time set their own.
        options.test_timeout = Duration::from_secs(60);
        options.pairs = ProofOptions::LEAST_PAIRS;
        let stage = Self { directory, options };
        for (path, text) in files {
            stage.write(path, text);
        }
        stage
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path()).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
        // It would go on in the background, and this process may adopt it.
        git.args(["-c", "maintenance.auto=false"]);
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn uncontained(mut self) -> Self {
        self.options.sandbox = Backend::None;
        self
    }

    /// Python tests run with a few lines that start in a twentieth of the time of pytest, for what is
    /// the same with every runner.
    pub(crate) fn quickly(mut self) -> Self {
        self.write("quick.py", QUICK);
        self.commit();
        let words = |more: &[&str]| -> Vec<String> {
            ["python3", "-IS", "quick.py"]
                .iter()
                .chain(more)
                .map(|word| (*word).to_owned())
                .collect()
        };
        let runner = CustomRunner::new("**/*.py", words(&["{file}", "{name}"]), "-").unwrap();
        self.options.runners = vec![runner.with_suite(words(&[])).unwrap()];
        self
    }

    /// Proves the claims, and shows that the repository is as it was.
    pub(crate) fn prove(&self, claims: &[Claim]) -> Vec<Verdict> {
        self.try_claims(claims, WithoutFix::Alter)
    }

    fn try_claims(&self, claims: &[Claim], without_fix: WithoutFix) -> Vec<Verdict> {
        let before = contents(self.path());
        let workshop = Workshop::prepare(self.options.clone(), &|_| {}).unwrap();
        assert_eq!(workshop.notes(), []);
        let verdicts = workshop.prove_all(claims, without_fix, &|_, _| {});
        assert_eq!(verdicts.len(), claims.len());
        assert!(contents(self.path()) == before, "the repository was touched");
        verdicts
    }

    /// Commits the repository with this text in a file, goes back to what it holds now, and makes
    /// that change the one under review.
    pub(crate) fn change(&mut self, file: &str, before: &str, added: &[(u32, u32)]) {
        let now = fs::read_to_string(self.path().join(file)).unwrap();
        self.write(file, before);
        let commit = self.commit();
        self.write(file, &now);
        self.commit();
        let added = [(file.to_owned(), added.to_vec())].into();
        self.options.base = Some(Base { commit, added });
    }

    /// Runs the tests of claims, and compares what became of each with what should.
    pub(crate) fn check_outcomes(&self, rows: &[(Claim, Outcome)]) -> Vec<Verdict> {
        let claims: Vec<Claim> = rows.iter().map(|(claim, _)| claim.clone()).collect();
        let verdicts = self.try_claims(&claims, WithoutFix::Leave);
        let mut wrong = Vec::new();
        for ((claim, expected), verdict) in rows.iter().zip(&verdicts) {
            let proven = verdict.proven && verdict.fix == FixResult::NotOffered;
            if verdict.outcome != *expected || proven {
                wrong.push(format!("{}, which should be {expected}: {verdict:#?}", claim.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        verdicts
    }

    /// Proves claims, and compares each level with what it should be.
    pub(crate) fn check_levels(&self, rows: &[(Claim, Level)]) -> Vec<Verdict> {
        let claims: Vec<Claim> = rows.iter().map(|(claim, _)| claim.clone()).collect();
        let verdicts = self.prove(&claims);
        let mut wrong = Vec::new();
        for ((claim, expected), verdict) in rows.iter().zip(&verdicts) {
            if verdict.level != *expected {
                wrong.push(format!("{}, which should be {expected}: {verdict:#?}", claim.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        verdicts
    }

    pub(crate) fn prove_one(&self, claim: &Claim) -> Verdict {
        self.prove(std::slice::from_ref(claim)).remove(0)
    }
}

/// Runs one test function, or those of all files of tests, and tells it as TAP.
const QUICK: &str = "\
import glob, os, sys

sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True


def tests_of(file):
    space = {'__name__': 'tests'}
    with open(file) as text:
        exec(compile(text.read(), file, 'exec'), space)
    return space


chosen = []
if len(sys.argv) > 1:
    chosen.append((sys.argv[2], tests_of(sys.argv[1])[sys.argv[2]]))
else:
    for file in sorted(glob.glob('**/test_*.py', recursive=True)):
        space = tests_of(file)
        chosen.extend((f'{file}::{name}', space[name]) for name in space if name.startswith('test_'))
code = 0
print(f'1..{len(chosen)}')
for number, (name, test) in enumerate(chosen, 1):
    try:
        test()
        print('ok', number, '-', name)
    except BaseException as error:
        code = 1
        print('not ok', number, '-', name)
        import traceback
        print('# ' + ''.join(traceback.format_exception(error)).replace('\\n', '\\n# '))
sys.exit(code)
";

/// A claim about the first line of a file.
pub(crate) fn claim(id: &str, file: &str, code: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        file: file.to_owned(),
        line: 1,
        test_code: code.to_owned(),
        ..Claim::default()
    }
}

/// The same claim for a test of this file, or of this name.
pub(crate) fn at(claim: Claim, path: &str) -> Claim {
    Claim { test_file: Some(path.to_owned()), ..claim }
}

pub(crate) fn named(claim: Claim, name: &str) -> Claim {
    Claim { test_name: Some(name.to_owned()), ..claim }
}

/// A unified diff that replaces one text by another, once, in a file.
pub(crate) fn fix(path: &str, source: &str, from: &str, to: &str) -> String {
    assert_eq!(source.matches(from).count(), 1, "{from:?} in {source}");
    let new = source.replace(from, to);
    let lines = |sign: char, text: &str| -> String {
        text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect()
    };
    let (old_lines, new_lines) = (source.lines().count(), new.lines().count());
    format!(
        "--- a/{path}\n+++ b/{path}\n@@ -1,{old_lines} +1,{new_lines} @@\n{}{}",
        lines('-', source),
        lines('+', &new)
    )
}

/// Every file with its bytes and modification time, `.git` included. Of installed packages, which are
/// many, the time has to do.
fn contents(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let packages = root.join("node_modules");
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                pending.push(path);
            } else if metadata.is_file() {
                let is_installed = path.starts_with(&packages);
                let bytes = if is_installed { Vec::new() } else { fs::read(&path).unwrap() };
                found.insert(path, (bytes, metadata.modified().unwrap()));
            }
        }
    }
    found
}

/// Whether a process with this word in its command line is alive.
pub(crate) fn is_running(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    })
}
