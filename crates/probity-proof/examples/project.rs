//! Compares proofs in a real Python project with one plain run of its tests, by the time of the
//! processor: with and without a map of the tests from an earlier review.
//!
//! `project DIRECTORY PYTHON` copies a project, adds a function that is wrong to the end of its modules,
//! and proves one claim and ten of them. Tests run with that interpreter.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program that cannot set its stage ends there and then"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use probity_proof::{Claim, ProofOptions, Verdict, WithoutFix, Workshop};
use probity_sandbox::{Backend, probe};

/// What is added to a module, and what is right.
const WRONG: &str = "\n\ndef probity_half(number):\n    return number / 3\n";

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [directory, python] = &words[..] else { panic!("project DIRECTORY PYTHON") };
    let place = tempfile::tempdir().unwrap();
    let repo = place.path().join("repo");
    let copied = Command::new("cp").arg("-a").arg(directory).arg(&repo).status().unwrap();
    assert!(copied.success());
    let claims = claims(&repo);
    let (plain, _) = spent(|| run_plain(&repo, Path::new(python)));
    println!("plain run: {plain:.1} s of CPU, {} modules", claims.len());
    for count in [1, 10] {
        let caches = place.path().join(format!("caches-{count}"));
        for map in ["cold", "warm"] {
            let wanted: Vec<Claim> = claims.iter().take(count).cloned().collect();
            let began = Instant::now();
            let (processor, (verdicts, runs)) =
                spent(|| prove(&repo, &caches, Path::new(python), &wanted));
            let proven = verdicts.iter().filter(|verdict| verdict.proven).count();
            println!(
                "{count:2} claims, {map} map: {:4.1} times a plain run, {processor:.1} s of CPU, {:.0} s, \
                 {runs} runs, {proven} proven",
                processor / plain,
                began.elapsed().as_secs_f64(),
            );
            for verdict in verdicts.iter().filter(|verdict| !verdict.proven) {
                println!("{:?} {:?}", verdict.why, verdict.fix);
            }
        }
    }
}

/// One claim for each module, the largest first.
fn claims(repo: &Path) -> Vec<Claim> {
    let mut modules = Vec::new();
    let mut pending = vec![repo.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_own =
                !["test", ".", "doc", "example", "bench", "setup", "conftest", "__", "task", "nox"]
                    .iter()
                    .any(|other| name.starts_with(other));
            if path.is_dir() && is_own {
                pending.push(path);
            } else if is_own
                && name.ends_with(".py")
                && path.parent().unwrap().join("__init__.py").is_file()
            {
                modules.push((fs::metadata(&path).unwrap().len(), path));
            }
        }
    }
    modules.sort();
    modules.into_iter().rev().take(10).map(|(_, path)| claim(repo, &path)).collect()
}

fn claim(repo: &Path, module: &Path) -> Claim {
    let path = module.strip_prefix(repo).unwrap().display().to_string();
    let text = fs::read_to_string(module).unwrap();
    let old = format!("{}{WRONG}", text.trim_end());
    fs::write(module, &old).unwrap();
    let dotted = path.trim_end_matches(".py").replace('/', ".");
    let name = dotted.strip_prefix("src.").unwrap_or(&dotted);
    let line = u32::try_from(old.lines().count()).unwrap();
    let lines: Vec<&str> = old.lines().collect();
    let [.., before, wrong] = &lines[..] else { panic!("{path}") };
    Claim {
        id: path.replace(['/', '.'], ""),
        file: path.clone(),
        line,
        test_code: format!(
            "from {name} import probity_half\n\n\ndef test_half():\n    assert probity_half(4) == 2\n"
        ),
        fix_patch: Some(format!(
            "--- a/{path}\n+++ b/{path}\n@@ -{},2 +{},2 @@\n {before}\n-{wrong}\n+    return number / 2\n",
            line - 1,
            line - 1,
        )),
        ..Claim::default()
    }
}

fn run_plain(repo: &Path, python: &Path) {
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]);
    command.arg("--continue-on-collection-errors").current_dir(repo);
    command.env("PYTHONPATH", format!("{0}/src:{0}", repo.display()));
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap();
}

fn prove(repo: &Path, caches: &Path, python: &Path, claims: &[Claim]) -> (Vec<Verdict>, usize) {
    let backend = Backend::Bubblewrap { program: probe().bubblewrap.unwrap().program };
    let mut options = ProofOptions::new(repo, backend);
    let path = format!("{}:/usr/bin:/bin", python.parent().unwrap().display());
    options.environment =
        vec![("PATH".into(), path.into()), ("HOME".into(), "/nonexistent".into())];
    options.caches = Some(PathBuf::from(caches));
    options.jobs = 1;
    let workshop = Workshop::prepare(options, &|_| {}).unwrap();
    let verdicts = workshop.prove_all(claims, WithoutFix::Leave, &|_, _| {});
    (verdicts, workshop.process_counts().runs)
}

/// Seconds of the processor that something took, with all processes that were waited for.
fn spent<Made>(work: impl FnOnce() -> Made) -> (f64, Made) {
    let before = processor();
    let made = work();
    (processor() - before, made)
}

fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks =
        fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<f64>().unwrap());
    // The kernel shows hundredths of a second everywhere.
    ticks.sum::<f64>() / 100.0
}
