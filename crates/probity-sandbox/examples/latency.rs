//! How long it takes to start `true`: alone, in bubblewrap, under Landlock, and in a container that runs, each by
//! ourselves and by the tool's own command line. `script/bench exec` runs this.
//!
//! Arguments: a number of rounds, and optionally a client of docker, its image and a container of
//! it to compare with.

use std::{
    env,
    error::Error,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use probity_sandbox::{
    Backend, BackendKind, Engine, Mount, Preference, Spec, choose_here, look_for, run,
};

type Measured = Result<(), Box<dyn Error>>;

fn main() -> Measured {
    let mut arguments = env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(20), |rounds| rounds.parse())?;
    let place = env::temp_dir().canonicalize()?;
    let spec = || {
        let mut spec = Spec::new(["true"], "/home/agent/workspace");
        spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        spec.mounts = vec![Mount::read_write(&place, "/home/agent/workspace")];
        spec
    };
    measure("true, by itself", rounds, || plain("true", &[]))?;
    let bwrap = look_for(BackendKind::Bubblewrap)?.program;
    let minimal = ["--unshare-all", "--ro-bind", "/", "/", "true"];
    measure("bwrap's own, with the root of the host", rounds, || {
        plain(&bwrap.display().to_string(), &minimal)
    })?;
    let backend = Backend::Bubblewrap { program: bwrap.clone() };
    measure("bubblewrap by us", rounds, || ended(&backend, &spec()))?;
    measure("choosing bubblewrap, when it is asked for", rounds, || {
        let choice = choose_here(Preference::Only(BackendKind::Bubblewrap), &|_, _| Ok(()));
        choice.chosen.map(drop).ok_or_else(|| choice.reasons.join("; ").into())
    })?;
    // Directories are where they are there.
    let at_its_place = || {
        let mut spec = spec();
        spec.cwd.clone_from(&place);
        spec.mounts = vec![Mount::read_write(&place, &place)];
        spec
    };
    measure("landlock by us", rounds, || ended(&Backend::Landlock, &at_its_place()))?;
    let (Some(client), Some(image), Some(other)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Ok(());
    };
    measure("exec of the engine's own", rounds, || {
        plain(&client, &["exec", "-i", &other, "true"])
    })?;
    let state = tempfile::tempdir()?;
    let engine = Engine {
        kind: BackendKind::Docker,
        program: PathBuf::from(&client),
        image,
        workspace: state.path().canonicalize()?,
        state: state.path().to_owned(),
    };
    let backend = Backend::Engine(engine);
    // The first makes the container.
    ended(&backend, &spec())?;
    measure("exec by us, in a container that runs", rounds, || ended(&backend, &spec()))
}

fn plain(program: &str, arguments: &[&str]) -> Measured {
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{program}: {status}").into()) }
}

fn ended(backend: &Backend, spec: &Spec) -> Measured {
    let outcome = run(backend, spec, b"")?;
    let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    if outcome.exit.code() == 0 {
        Ok(())
    } else {
        Err(format!("{:?}: {told}", outcome.exit).into())
    }
}

fn measure(what: &str, rounds: usize, mut once: impl FnMut() -> Measured) -> Measured {
    let mut taken = Vec::new();
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        once()?;
        taken.push(begun.elapsed());
    }
    taken.sort();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let (least, middle) = (milliseconds(taken.first()), milliseconds(taken.get(taken.len() / 2)));
    writeln!(std::io::stdout(), "{what:44}{least:10.1}{middle:10.1}")?;
    Ok(())
}
