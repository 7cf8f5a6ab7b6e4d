//! A small repository in a temporary directory, and the tools that its tests need.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use probity_review::{Claim, Outcome, ProofOptions, Verdict, Workshop};
use probity_sandbox::{Backend, probe};
use tempfile::TempDir;

pub(super) struct Stage {
    pub(super) directory: TempDir,
    pub(super) options: ProofOptions,
}

/// Name, body, flagged line, and what becomes of it.
pub(super) type Row = (&'static str, &'static str, u32, Outcome, bool);

impl Stage {
    /// A repository with these files, committed.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let stage = Self::bare(files);
        stage.git(&["init", "-q", "-b", "main"]);
        stage.commit();
        stage
    }

    /// A directory with these files, and no git at all.
    pub(super) fn bare(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = ProofOptions::new(directory.path(), contained());
        options.environment = environment();
        options.caches = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("proof-caches"));
        options.jobs = 2;
        // The machine may be busy with other tests; those about time set their own.
        options.test_timeout = Duration::from_secs(60);
        let stage = Self { directory, options };
        for (path, text) in files {
            stage.write(path, text);
        }
        stage
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let file = self.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(super) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path()).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn uncontained(mut self) -> Self {
        self.options.sandbox = Backend::None;
        self
    }

    /// Proves the claims, and shows that the repository is as it was.
    pub(super) fn prove(&self, claims: &[Claim]) -> Vec<Verdict> {
        let before = contents(self.path());
        let workshop = Workshop::prepare(self.options.clone(), &|_| {}).unwrap();
        assert_eq!(workshop.notes(), [""; 0]);
        let verdicts = workshop.prove_all(claims, &|_, _| {});
        assert_eq!(verdicts.len(), claims.len());
        assert!(contents(self.path()) == before, "the repository was touched");
        verdicts
    }

    /// Proves claims about a file that was right at the base and is wrong now, and gives what is
    /// known about where that came in.
    pub(super) fn prove_introduced(
        &mut self,
        file: &str,
        (wrong, right): (&str, &str),
        claim: &Claim,
    ) -> (Option<bool>, probity_review::Level) {
        let broken = fs::read_to_string(self.path().join(file)).unwrap();
        self.write(file, &broken.replace(wrong, right));
        let base = self.commit();
        self.write(file, &broken);
        self.commit();
        self.options.base = Some(base);
        let verdict = self.prove_one(claim);
        (verdict.introduced, verdict.level)
    }

    /// Proves a claim for each row, whose body `code` makes a test of, and names all that come out
    /// otherwise.
    pub(super) fn prove_table(&self, file: &str, code: &dyn Fn(&str) -> String, table: &[Row]) {
        let on = |(id, body, line, ..): &Row| Claim { line: *line, ..claim(id, file, &code(body)) };
        let claims: Vec<Claim> = table.iter().map(on).collect();
        let verdicts = self.prove(&claims);
        let mut wrong = Vec::new();
        for ((id, _, _, outcome, proven), verdict) in table.iter().zip(&verdicts) {
            if (verdict.outcome, verdict.proven) != (*outcome, *proven) {
                let told = (line(verdict), &verdict.output, &verdict.control, &verdict.reach);
                wrong.push(format!("{id}: {told:#?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    pub(super) fn prove_one(&self, claim: &Claim) -> Verdict {
        self.prove(std::slice::from_ref(claim)).remove(0)
    }
}

/// A claim about the first line of a file.
pub(super) fn claim(id: &str, file: &str, code: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        file: file.to_owned(),
        line: 1,
        test_code: code.to_owned(),
        ..Claim::default()
    }
}

/// The outcome, whether it is proven, and the reason, in one line for tables.
pub(super) fn line(verdict: &Verdict) -> String {
    let proven = if verdict.proven { "proven" } else { "not proven" };
    format!("{} {} {proven}: {}", verdict.outcome, verdict.level, verdict.reason)
}

pub(super) fn tools() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"))
        .unwrap_or_else(|error| panic!("run script/tools first: {error}"))
}

fn environment() -> Vec<(OsString, OsString)> {
    let mut path = tools().join("python/bin").into_os_string();
    path.push(":");
    path.push(env::var_os("PATH").unwrap());
    let mut environment: Vec<(OsString, OsString)> = ["HOME", "CARGO_HOME", "RUSTUP_HOME"]
        .into_iter()
        .filter_map(|name| Some((name.into(), env::var_os(name)?)))
        .collect();
    environment.push(("PATH".into(), path));
    environment.push(("ANTHROPIC_API_KEY".into(), "sk-a-secret-key".into()));
    environment.push(("DATABASE_URL".into(), "postgres://a-secret-key@db".into()));
    environment
}

fn contained() -> Backend {
    Backend::Bubblewrap { program: probe().bubblewrap.unwrap().program }
}

/// Every file with its bytes and modification time, `.git` included.
fn contents(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                pending.push(path);
            } else if metadata.is_file() {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, (bytes, metadata.modified().unwrap()));
            }
        }
    }
    found
}

/// Whether a process with this word in its command line is alive.
pub(super) fn is_running(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    })
}
