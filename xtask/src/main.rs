//! Project chores: what `HELP` lists.
//!
//! **Invariant:** depends on none of our crates. It reads the sources and runs the built binary, so
//! that it still works on a tree that does not compile.

mod corpus;
mod docs;
mod eval;
mod history;
mod tidy;

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

const HELP: &str = "\
Project chores.

Usage: cargo xtask COMMAND

Commands:
  tidy [--root DIR]            check what the compiler cannot: arrows between crates, manifests,
                               sources, paths quoted in documents, licences, bans, file lengths
  docs [--check] [--root DIR]  write the generated documents, or only say which are stale
  eval [--root DIR]            print how many good and harmful patches of the corpus the text checks
                               accept
  eval --agent REF [--binary FILE] [--root DIR]
                               score an agent on the files of eval/; {case} in REF is the case's
                               directory
  history --clones DIR [--language NAME] [--half tuning|reporting] [--project PART]
          [--work DIR] [--binary FILE] [--root DIR]
                               review real bug fixes of eval/history, of the projects whose
                               histories are in DIR, and count right verdicts
  help                         print this

Exit status: 0 clean, 1 something to do, 2 the command could not run.
";

/// What a command has to say, and whether all is well.
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) clean: bool,
}

#[expect(clippy::print_stderr, reason = "the one place that prints errors")]
fn main() -> ExitCode {
    let report = match run(env::args().skip(1).collect()) {
        Ok(report) => report,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::from(2);
        }
    };
    match io::stdout().write_all(report.text.as_bytes()) {
        // Whoever stops reading, as `head` does, has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("xtask: standard output: {error}");
            ExitCode::from(2)
        }
        _ if report.clean => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn run(mut arguments: Vec<String>) -> Result<Report, String> {
    if arguments.is_empty() {
        return Err(format!("which command?\n\n{HELP}"));
    }
    let command = arguments.remove(0);
    let mut arguments = Arguments { rest: arguments };
    match command.as_str() {
        "tidy" => {
            let root = arguments.root()?;
            arguments.finish()?;
            tidy::run(&root)
        }
        "docs" => {
            let root = arguments.root()?;
            let binary = arguments.value("--binary")?.map(PathBuf::from);
            let mode =
                if arguments.flag("--check") { docs::Mode::Check } else { docs::Mode::Write };
            arguments.finish()?;
            docs::run(&root, mode, binary)
        }
        "eval" => {
            let root = arguments.root()?;
            let binary = arguments.value("--binary")?.map(PathBuf::from);
            let agent = arguments.value("--agent")?;
            arguments.finish()?;
            match agent {
                Some(agent) => eval::run(&root, &agent, binary),
                None => corpus::run(&root),
            }
        }
        "history" => {
            let root = arguments.root()?;
            let clones = arguments.value("--clones")?.ok_or("`--clones` is missing")?;
            let binary = arguments.value("--binary")?.map(PathBuf::from);
            let work = arguments.value("--work")?.map(PathBuf::from);
            let settings = history::Settings {
                clones: clones.into(),
                work: work.unwrap_or_else(|| root.join("target/history")),
                binary: built(&root, binary)?,
                language: arguments.value("--language")?,
                half: arguments.value("--half")?,
                project: arguments.value("--project")?,
            };
            arguments.finish()?;
            history::run(&root, &settings)
        }
        "help" | "--help" | "-h" => Ok(Report { text: HELP.to_owned(), clean: true }),
        unknown => Err(format!("no command named `{unknown}`\n\n{HELP}")),
    }
}

/// The arguments that nobody has asked for yet.
struct Arguments {
    rest: Vec<String>,
}

impl Arguments {
    fn flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|argument| argument != name);
        self.rest.len() != before
    }

    fn value(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(position) = self.rest.iter().position(|argument| argument == name) else {
            return Ok(None);
        };
        if position + 1 >= self.rest.len() {
            return Err(format!("`{name}` needs a value"));
        }
        self.rest.remove(position);
        Ok(Some(self.rest.remove(position)))
    }

    /// The repository: what `--root` says, else the one whose xtask cargo is running. The path is
    /// asked for at run time, since one target directory may serve several checkouts.
    fn root(&mut self) -> Result<PathBuf, String> {
        let root = match self.value("--root")? {
            Some(root) => PathBuf::from(root),
            None => env::var_os("CARGO_MANIFEST_DIR")
                .map_or_else(|| PathBuf::from("."), |package| Path::new(&package).join("..")),
        };
        // Cargo answers with paths without links, and they are compared with this one.
        root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))
    }

    fn finish(self) -> Result<(), String> {
        match self.rest.first() {
            Some(argument) => Err(format!("unexpected argument `{argument}`\n\n{HELP}")),
            None => Ok(()),
        }
    }
}

/// The cargo that runs us, or the one on the path.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// The binary of these words, or the one that cargo builds; it is run from other directories.
pub(crate) fn built(root: &Path, binary: Option<PathBuf>) -> Result<PathBuf, String> {
    let Some(binary) = binary else {
        let mut build = cargo(root);
        build.args(["build", "--quiet", "--package", "probity"]);
        output(build)?;
        return Ok(root.join("target/debug/probity"));
    };
    binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))
}

/// Runs to the end and returns what was printed; an unsuccessful end is an error that quotes it.
pub(crate) fn output(mut command: Command) -> Result<Vec<u8>, String> {
    let described = format!("{command:?}");
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("{described}: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{described}: {}\n{}", output.status, said.trim_end()))
    }
}
