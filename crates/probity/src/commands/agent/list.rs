//! `agent list`: the known agents, and whether each of them starts here.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use probity_acp::{Cause, Client, ClientError, ClientName};
use probity_agent::{AgentRef, CommandLine, KnownAgent};
use probity_sandbox::{SpawnError, spawn};
use probity_seat::{
    Caller, NamedBy, Occupant, Request, Sandbox, Seated, Seats, Terms, Unseated, find_program,
};
use probity_text::visible;
use serde_json::{Value, json};

use crate::{
    commands::{ListFormat, print_json},
    exit::Exit,
    screen,
    seats::seats,
};

/// How much of an agent's stderr is looked at for its last line.
const KEPT: usize = 4 << 10;

/// How much of what an agent says of itself is shown.
const MOST_CHARS: usize = 400;

/// What is known of one agent here.
struct Row {
    agent: KnownAgent,
    program: Option<PathBuf>,
    /// The command line, and where it is.
    command_line: Option<(&'static str, Option<PathBuf>)>,
    /// What it says of itself, or why it says nothing.
    starts: Result<Started, NotStarted>,
}

/// Why an agent does not start here.
#[derive(Debug, thiserror::Error)]
enum NotStarted {
    #[error("`{}` is not in your PATH{}", programs.join("`, `"), install_with(install))]
    NotInstalled { programs: Vec<String>, install: Vec<String> },
    #[error("not tried: {0}")]
    NotTried(Unseated),
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("it has no pipes")]
    NoPipes,
    #[error("{error}{}", if last.is_empty() { String::new() } else { format!(": {last}") })]
    NoSession {
        error: Box<ClientError>,
        /// The last line that it wrote to stderr.
        last: String,
    },
}

impl NotStarted {
    /// The reason for a person. It has the agent's own words, which may be as long as a line of the
    /// protocol.
    fn shown(&self) -> String {
        bounded(self.to_string())
    }
}

fn install_with(ways: &[String]) -> String {
    ways.iter().map(|way| format!("; install it with `{way}`")).collect()
}

/// An agent that has said who it is.
struct Started {
    says: String,
    /// Why it takes no questions before somebody logs in, and which logins it offers.
    needs_login: Option<String>,
}

pub(crate) fn run(timeout: Duration, format: ListFormat) -> anyhow::Result<Exit> {
    let (seats, terms) = seats(Caller::List)?;
    let rows: Vec<Row> = thread::scope(|threads| {
        let tried: Vec<_> = seats
            .table()
            .iter()
            .map(|agent| threads.spawn(|| row(agent, &seats, &terms, timeout)))
            .collect();
        // A thread that panicked has no row; none does.
        tried.into_iter().filter_map(|tried| tried.join().ok()).collect()
    });
    match format {
        ListFormat::Text => screen::print(&text(&rows))?,
        ListFormat::Json => {
            let page = json!({ "agents": rows.iter().map(page).collect::<Vec<_>>() });
            print_json(&page)?;
        }
    }
    Ok(Exit::Clean)
}

fn row(agent: &KnownAgent, seats: &Seats, terms: &Terms, patience: Duration) -> Row {
    let program = agent.acp.first().and_then(|program| find_program(program));
    let command_line = agent.command_line.map(CommandLine::program);
    let command_line = command_line.map(|name| (name, find_program(name)));
    let seated = seats.seat(&Request {
        caller: Caller::List,
        occupant: Occupant::Agent(&AgentRef::Known(agent.name.clone())),
        named_by: NamedBy::User,
        form: None,
        sandbox: Sandbox::Auto,
        directory: Path::new("/"),
        directories: &[],
        variables: &[],
        terms,
    });
    let starts = match seated {
        Ok(seated) => started(agent, &seated, patience),
        Err(Unseated::NotInstalled { programs, install, .. }) => {
            Err(NotStarted::NotInstalled { programs, install })
        }
        Err(other) => Err(NotStarted::NotTried(other)),
    };
    let starts = starts.map(Started::bounded);
    Row { agent: agent.clone(), program, command_line, starts }
}

/// Starts the agent, sandboxed, and lets it say who it is and whether it would work.
fn started(agent: &KnownAgent, seated: &Seated, patience: Duration) -> Result<Started, NotStarted> {
    let mut spec = seated.seat.spec.clone();
    // The client gives up first and says so; this is for what neither it nor we foresee.
    spec.limits.wall = Some(patience.saturating_mul(3));
    let cwd = spec.cwd.to_string_lossy().into_owned();
    let mut child = spawn(&seated.seat.backend, &spec)?;
    let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(NotStarted::NoPipes);
    };
    let complaints = child.stderr.take();
    let listener = thread::spawn(move || complaints.map(last_line).unwrap_or_default());
    let who = ClientName { name: "probity", version: env!("CARGO_PKG_VERSION") };
    let whole = probity_acp::Limits::within(patience.saturating_mul(2));
    let limits = probity_acp::Limits { start: patience, session: patience, ..whole };
    let started = Client::connect(output, input, who, limits, None).and_then(|mut client| {
        let info = client.agent();
        let name = info.name.as_deref().unwrap_or(&agent.name);
        let says = format!("{name} {}", info.version.as_deref().unwrap_or_default());
        let says = says.trim().to_owned();
        // Many agents say only now that nobody is logged in.
        match client.open_session(&cwd) {
            Ok(_) => Ok(Started { says, needs_login: None }),
            Err(error) if matches!(error.cause, Cause::LoginNeeded { .. }) => {
                let way = agent.log_in.iter().map(|command| format!("; log in with `{command}`"));
                let why = format!("{}{}", error.cause, way.collect::<String>());
                Ok(Started { says, needs_login: Some(why) })
            }
            Err(error) => Err(error),
        }
    });
    // When nothing of it is left its stderr has ended too, and the listener with it.
    child.kill();
    let last = listener.join().unwrap_or_default();
    started.map_err(|error| NotStarted::NoSession { error: Box::new(error), last })
}

impl Started {
    fn bounded(self) -> Self {
        Self { says: bounded(self.says), needs_login: self.needs_login.map(bounded) }
    }
}

/// The last line that says something, of the last few kilobytes.
fn last_line(mut stderr: File) -> String {
    let (mut kept, mut chunk) = (Vec::new(), vec![0; KEPT]);
    while let Ok(read @ 1..) = stderr.read(&mut chunk) {
        kept.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
    let text = String::from_utf8_lossy(&kept);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    bounded(last.trim().to_owned())
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.agent.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let (word, said) = match &row.starts {
            Ok(Started { says, needs_login: None }) => ("works", says.clone()),
            Ok(Started { needs_login: Some(why), .. }) => ("login", why.clone()),
            Err(why) => ("no", why.shown()),
        };
        let said = visible::line(&said);
        text.push_str(&format!("{:<width$}  {word:<5}  {said}\n", row.agent.name));
        if let Some((name, Some(path))) = &row.command_line
            && row.program.as_ref() != Some(path)
        {
            let path = path.display();
            text.push_str(&format!("{:<width$}         its command line `{name}` is {path}\n", ""));
        }
    }
    text
}

fn page(row: &Row) -> Value {
    let command_line =
        row.command_line.as_ref().map(|(name, path)| json!({"name": name, "program": path}));
    json!({
        "name": row.agent.name,
        "command": row.agent.acp,
        "program": row.program,
        "commandLine": command_line,
        "starts": row.starts.is_ok(),
        "says": row.starts.as_ref().ok().map(|started| &started.says),
        "needsLogin": row.starts.as_ref().ok().and_then(|started| started.needs_login.as_ref()),
        "why": row.starts.as_ref().err().map(NotStarted::shown),
        "install": row.agent.install,
        "logIn": row.agent.log_in,
        "variables": row.agent.variables,
        "logins": row.agent.logins,
    })
}
