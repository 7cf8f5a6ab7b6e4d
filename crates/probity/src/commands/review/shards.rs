//! `review ask`, `review prove` and `review merge`: the steps of a review, on as many machines as
//! there are.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_report::counts::plural;
use probity_review::{
    Claims, ClaimsError, Event, NamedPart, Shard, StepError, read_claims, read_part,
};
use probity_scope::open_file;

use super::{
    Desk, Options, Seat, checkout, files, listen, progress::Progress, proving, runners,
    settings::Settings, shown,
};
use crate::{exit::Exit, failure::Failure, name::Name, output::OutputFile, streams};

/// What `ask` is told.
#[derive(Debug)]
pub(crate) struct AskCommand {
    pub(crate) options: Options,
    /// All parts of the round before, if the agent is asked for better fixes.
    pub(crate) parts: Vec<PathBuf>,
    /// Instead of `claims.json` in the output directory.
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct ProveCommand {
    pub(crate) options: Options,
    pub(crate) claims: PathBuf,
    pub(crate) shard: Shard,
    /// Instead of a name beside the claims file.
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct MergeCommand {
    pub(crate) options: Options,
    pub(crate) parts: Vec<PathBuf>,
}

/// Asks the agent, and writes what it claims.
pub(crate) fn ask(command: AskCommand) -> anyhow::Result<Exit> {
    let AskCommand { options, parts, out } = command;
    let settings = Settings::new(Name::Probity, options)?;
    let named = read_parts(&parts)?;
    let mut desk = Desk::prepare(&settings)?;
    let out = out.unwrap_or_else(|| settings.output.join("claims.json"));
    let out = files::named_file(&out, &settings.repo)?;
    if named.is_empty() {
        // If nothing is claimed today, nobody shall prove what was claimed yesterday.
        out.remove("name another file with --out")?;
    }
    let runners = runners::find(&settings, &mut desk.notes)?;
    let seat = Seat::find(&settings, &runners, &mut desk)?;
    let open = |copy: &Path| seat.place.open(copy, &settings);
    let options = seat.options(&settings, &open);
    let checkout = checkout(&settings)?;
    let progress = Progress::start(settings.quiet);
    let tell = |event: Event<'_>| progress.tell(event);
    let asked = if named.is_empty() {
        probity_review::ask(&checkout, &options, &tell).map_err(Asked::NoReview)
    } else {
        probity_review::ask_again(&checkout, &options, named, &tell).map_err(Asked::Step)
    };
    progress.end();
    let mut claims = match asked {
        Ok(claims) => claims,
        Err(Asked::Step(error)) => return Err(failure("the agent cannot be asked again", &error)),
        Err(Asked::NoReview(reviewed)) => {
            let review = desk.write(&settings, *reviewed)?;
            return shown(&settings, &review);
        }
    };
    claims.notes.append(&mut desk.notes);
    write_json(&out, &claims)?;
    say(&format!("{}: {}", out.called().display(), counted(&claims)))
}

/// Why there are no claims.
enum Asked {
    NoReview(Box<probity_review::Reviewed>),
    Step(StepError),
}

/// Proves the claims of one shard, and writes what they showed.
pub(crate) fn prove(command: ProveCommand) -> anyhow::Result<Exit> {
    let ProveCommand { options, claims: file, shard, out } = command;
    let settings = Settings::new(Name::Probity, options)?;
    let claims = read(&file, read_claims)?;
    let beside = || file.with_file_name(format!("part-{}-of-{}.json", shard.index, shard.of));
    let out = files::named_file(&out.unwrap_or_else(beside), &settings.repo)?;
    let checkout = checkout(&settings)?;
    let (cancel, stop) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
    listen(&cancel, &stop);
    let mut notes = Vec::new();
    let progress = Progress::start(settings.quiet);
    let runners = runners::find(&settings, &mut notes)?;
    let proving = proving(&settings, runners, &stop, progress.watch())?;
    let tell = |event: Event<'_>| progress.tell(event);
    let part = probity_review::prove(&checkout, &proving, &claims, shard, &tell);
    progress.end();
    let mut part = part.map_err(|error| {
        failure(&format!("the claims of {} cannot be proven here", file.display()), &error)
    })?;
    part.results.notes.append(&mut notes);
    write_json(&out, &part)?;
    let proved = &part.results.proved;
    let proven = proved.iter().filter(|proved| proved.proven).count();
    let (shown, count) = (out.called().display(), proved.len());
    let all = plural(claims.open().len(), "claim");
    say(&format!("{shown}: shard {shard} has {count} of {all}, {proven} proven"))
}

/// Judges the claims by all parts; writes, keeps and reports the review.
pub(crate) fn merge(command: MergeCommand) -> anyhow::Result<Exit> {
    let MergeCommand { options, parts } = command;
    let settings = Settings::new(Name::Probity, options)?;
    let named = read_parts(&parts)?;
    let unfixed = named.iter().any(|named| {
        let rounds = named.part.claims.settings.max_fix_rounds;
        named.part.claims.fix_rounds < rounds
            && named.part.results.proved.iter().any(|proved| proved.wants_fix)
    });
    let checkout = checkout(&settings)?;
    let progress = Progress::start(settings.quiet);
    let merged = probity_review::merge(&checkout, named, &|event: Event<'_>| progress.tell(event));
    progress.end();
    let merged = merged.map_err(|error| failure("the parts cannot be merged", &error))?;
    if unfixed {
        tracing::info!(
            "some claims fail and are not proven; `probity review ask --continue PART…` asks the \
             agent for better fixes"
        );
    }
    let review = Desk::prepare(&settings)?.write(&settings, merged)?;
    shown(&settings, &review)
}

fn counted(claims: &Claims) -> String {
    let (open, known) = (claims.open().len(), claims.known.len());
    let observed = claims.findings.iter().filter(|claimed| claimed.id.is_none()).count();
    format!(
        "{} to prove ({known} from earlier reviews), {} without a test, {} dropped",
        plural(open, "claim"),
        plural(observed, "finding"),
        claims.dropped.len()
    )
}

fn read_parts(paths: &[PathBuf]) -> anyhow::Result<Vec<NamedPart>> {
    let part = |path: &PathBuf| -> anyhow::Result<NamedPart> {
        Ok(NamedPart { name: path.display().to_string(), part: read(path, read_part)? })
    };
    paths.iter().map(part).collect()
}

fn read<T>(path: &Path, parse: fn(&str) -> Result<T, ClaimsError>) -> anyhow::Result<T> {
    let shown = path.display();
    let mut text = String::new();
    let file = open_file(path).with_context(|| {
        let help = "`probity review ask` writes claims, `probity review prove` writes parts";
        Failure::new(format!("cannot read {shown}"), help)
    })?;
    let cannot = |error: ClaimsError| failure(&format!("{shown} cannot be used"), &error.into());
    // The size is looked at first, so that no memory goes into a file that is something else.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    ClaimsError::check_size(size).map_err(cannot)?;
    let mut file = file.take(ClaimsError::MAX_BYTES + 1);
    file.read_to_string(&mut text).with_context(|| {
        Failure::new(format!("{shown} is not text"), "name a file that probity wrote")
    })?;
    parse(&text).map_err(cannot)
}

fn failure(what: &str, error: &StepError) -> anyhow::Error {
    Failure::new(format!("{what}: {error}"), error.help()).into()
}

fn write_json<T: serde::Serialize>(file: &OutputFile, value: &T) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    file.write(&text)
}

fn say(line: &str) -> anyhow::Result<Exit> {
    writeln!(streams::stdout().lock(), "{line}").context("cannot write the result")?;
    Ok(Exit::Clean)
}
