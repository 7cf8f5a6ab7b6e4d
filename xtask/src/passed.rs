//! `cargo xtask to-run` and `cargo xtask passed`: which test programs have nothing new to say.
//!
//! A test program that passed is not run again while nothing changed that it could notice: its own
//! bytes, the binary it calls, the files it may read, the tools, and the environment. What we cannot
//! see, such as clocks and certificates, is the reason why no result counts for longer than a day.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Report, output};

const LONGEST: Duration = Duration::from_hours(24);

/// What nextest lists, as far as it is needed here.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Listed {
    rust_build_meta: Build,
    rust_binaries: BTreeMap<String, TestProgram>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Build {
    target_directory: PathBuf,
    non_test_binaries: BTreeMap<String, Vec<Program>>,
}

#[derive(Deserialize)]
struct Program {
    path: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TestProgram {
    package_id: String,
    binary_path: PathBuf,
}

/// What a test program could notice, and when it was told to run with that or passed with it.
#[derive(Clone, Serialize, Deserialize)]
struct Run {
    inputs: String,
    seconds: u64,
}

type Runs = BTreeMap<String, Run>;

/// The filter for nextest that leaves out what passed. Remembers in `begun.json` what the others are
/// run with, since files may change while they run.
pub(crate) fn to_run(root: &Path, directory: &Path) -> Result<Report, String> {
    let listed = fs::read(directory.join("binaries.json"))
        .map_err(|error| format!("{}/binaries.json: {error}", directory.display()))?;
    let listed: Listed = serde_json::from_slice(&listed)
        .map_err(|error| format!("{}/binaries.json: {error}", directory.display()))?;
    let files = files(root)?;
    let surroundings = surroundings(root, &listed.rust_build_meta.target_directory)?;
    let passed = read(&directory.join("passed.json"));
    let now = now();
    let mut begun = Runs::new();
    let mut left_out = Vec::new();
    for (id, program) in &listed.rust_binaries {
        let inputs = inputs(program, &listed.rust_build_meta, &files, &surroundings)?;
        let known = passed.get(id).filter(|earlier| earlier.inputs == inputs);
        match known.map(|earlier| now.saturating_sub(earlier.seconds)) {
            Some(age) if age < LONGEST.as_secs() => left_out.push((id, age)),
            _ => {
                begun.insert(id.clone(), Run { inputs, seconds: now });
            }
        }
    }
    write(&directory.join("begun.json"), &begun)?;
    tell(&left_out)?;
    let names: Vec<String> = left_out.iter().map(|(id, _)| format!("binary_id(={id})")).collect();
    let filter =
        if names.is_empty() { "all()".to_owned() } else { format!("not ({})", names.join(" | ")) };
    Ok(Report { text: format!("{filter}\n"), clean: true })
}

/// Remembers the programs of which nextest's report says that every test passed.
pub(crate) fn passed(directory: &Path, report: &Path) -> Result<Report, String> {
    let report = match fs::read_to_string(report) {
        // Nothing was left to run, or the run was cut off.
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| format!("{}: {error}", report.display()))?,
    };
    let begun = read(&directory.join("begun.json"));
    let path = directory.join("passed.json");
    let mut passed = read(&path);
    for (id, run) in begun {
        if passed_whole(&report, &id) {
            passed.insert(id, run);
        } else {
            passed.remove(&id);
        }
    }
    write(&path, &passed)?;
    Ok(Report { text: String::new(), clean: true })
}

/// A program without a line in the report had no test to run, or was cut off before its first.
fn passed_whole(report: &str, id: &str) -> bool {
    let start = format!("<testsuite name=\"{id}\" ");
    let suite = report.lines().find(|line| line.trim_start().starts_with(&start));
    suite.is_some_and(|line| {
        [r#" skipped="0""#, r#" errors="0""#, r#" failures="0""#]
            .iter()
            .all(|none| line.contains(none))
    })
}

/// The hash of each file of the checkout that git does not ignore, and of its kind.
fn files(root: &Path) -> Result<BTreeMap<String, [u8; 32]>, String> {
    let mut list = Command::new("git");
    list.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = output(list)?;
    let mut files = BTreeMap::new();
    for path in list.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let path = String::from_utf8_lossy(path).into_owned();
        // A removed file is one that is not there.
        if let Ok(hash) = file(&root.join(&path)) {
            files.insert(path, hash);
        }
    }
    Ok(files)
}

fn file(path: &Path) -> io::Result<[u8; 32]> {
    let metadata = path.symlink_metadata()?;
    let content = if metadata.is_symlink() {
        fs::read_link(path)?.into_os_string().into_encoded_bytes()
    } else {
        fs::read(path)?
    };
    let mut hash = Sha256::new();
    hash.update([u8::from(metadata.is_symlink()), u8::from(metadata.mode() & 0o111 != 0)]);
    hash.update(content);
    Ok(hash.finalize().into())
}

fn inputs(
    program: &TestProgram,
    build: &Build,
    files: &BTreeMap<String, [u8; 32]>,
    surroundings: &str,
) -> Result<String, String> {
    let package = package(&program.package_id);
    let mut hash = Sha256::new();
    hash.update(surroundings);
    let called = build.non_test_binaries.get(&program.package_id).into_iter().flatten();
    let called = called.map(|program| build.target_directory.join(&program.path));
    for path in called.chain([program.binary_path.clone()]) {
        hash.update(file(&path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    // Built with the tests, if at all.
    for path in examples(package, files.keys()) {
        hash.update(file(&build.target_directory.join(path)).unwrap_or_default());
    }
    for (path, content) in files.iter().filter(|(path, _)| may_be_read(path, package)) {
        hash.update(path);
        hash.update([0]);
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where the examples of a package are built.
fn examples<'f>(
    package: &str,
    files: impl Iterator<Item = &'f String>,
) -> impl Iterator<Item = PathBuf> {
    let directory = format!("crates/{package}/examples/");
    files.filter_map(move |path| {
        let name = path.strip_prefix(&directory)?.strip_suffix(".rs")?;
        Some(Path::new("debug/examples").join(name.strip_suffix("/main").unwrap_or(name)))
    })
}

/// The directory's name in `path+file:///…/crates/probity-lint#0.2.0`.
fn package(id: &str) -> &str {
    let path = id.rsplit_once('#').map_or(id, |(path, _)| path);
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether tests of a package may read a file while they run. The sources of other crates are part
/// of programs, and prose is read by the tests of the binary alone; `cargo xtask tidy` sees to that.
fn may_be_read(path: &str, package: &str) -> bool {
    if package == "xtask" {
        return true;
    }
    if let Some(rest) = path.strip_prefix("crates/") {
        let own = rest.strip_prefix(package).is_some_and(|rest| rest.starts_with('/'));
        return own || !path.ends_with(".rs");
    }
    let is_prose = path.starts_with("docs/") || (!path.contains('/') && path.ends_with(".md"));
    (package == "probity" || !is_prose) && !path.starts_with("xtask/")
}

/// What is no file of the checkout: packages of the system, the compiler, the kernel, our tools, and
/// the variables that tests hand on.
fn surroundings(root: &Path, target: &Path) -> Result<String, String> {
    let mut compiler = Command::new("rustc");
    compiler.arg("-vV");
    let mut text = String::from_utf8_lossy(&output(compiler)?).into_owned();
    for path in ["/var/lib/dpkg/status", "/proc/sys/kernel/osrelease"] {
        let content = fs::read(path).unwrap_or_default();
        text.push_str(&format!("{path} {:x?}\n", Sha256::digest(content)));
    }
    for directory in [root.join("target/tools"), target.join("tools"), target.join("registry")] {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let mut entries: Vec<_> = entries
            .map(|entry| (entry.path(), entry.metadata().and_then(|data| data.modified()).ok()))
            .collect();
        entries.sort();
        text.push_str(&format!("{entries:?}\n"));
    }
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            ["PATH", "HOME", "USER"].contains(&&*name) || name.starts_with("PROBITY_")
        })
        .collect();
    variables.sort();
    text.push_str(&format!("{variables:?}\n"));
    Ok(text)
}

/// One line a program, on standard error: standard output is the filter.
fn tell(left_out: &[(&String, u64)]) -> Result<(), String> {
    let mut text = String::new();
    for (id, age) in left_out {
        text.push_str(&format!("{id} passed {} min ago, and nothing it reads changed\n", age / 60));
    }
    io::stderr().write_all(text.as_bytes()).map_err(|error| format!("standard error: {error}"))
}

/// What cannot be read was not written by this version: then nothing passed.
fn read(path: &Path) -> Runs {
    fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn write(path: &Path, runs: &Runs) -> Result<(), String> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let store = || {
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(&mut file, runs)?;
        file.persist(path)?;
        Ok::<(), io::Error>(())
    };
    store().map_err(|error| format!("{}: {error}", path.display()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
