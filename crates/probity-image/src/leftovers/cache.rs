//! BuildKit's cache: the entries that the builds of a proof added to it, and their removal.
//!
//! Entries bear no label. Those of a build are the ones that are listed after it and not before it; what
//! was there before is the user's and stays. A build of somebody else at the same moment may lose
//! entries too, but none that an image or a running build uses.

use std::{collections::BTreeSet, thread, time::Duration};

use probity_sandbox::Exit;

use crate::{Engine, ImageError, engine::SOON};

/// How many ids one pattern has: a command line has a limit.
const AT_ONCE: usize = 500;
/// BuildKit goes on using the context for a moment after the client has ended.
const TRIES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);

const ALL: &str = "{{range .BuildCache}}{{.ID}} {{end}}";
/// Without those that are a layer of an image, such as the base: they need no space of their own.
const UNSHARED: &str = "{{range .BuildCache}}{{if eq .Shared \"false\"}}{{.ID}} {{end}}{{end}}";

/// The ids of all entries. Nothing if they cannot be known: without BuildKit, or if the engine takes
/// too long, since it measures images and volumes for this answer too.
pub(crate) fn entries(engine: &Engine) -> Result<Option<BTreeSet<String>>, ImageError> {
    if engine.has_buildkit { list(engine, ALL) } else { Ok(None) }
}

fn list(engine: &Engine, format: &str) -> Result<Option<BTreeSet<String>>, ImageError> {
    let words = ["system", "df", "-v", "--format", format];
    let listed = match engine.ask(&words, PATIENCE, &|| false) {
        Ok(listed) if listed.exit == Exit::Code(0) => listed.stdout,
        Ok(_) | Err(ImageError::Timeout { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    // A builder of buildx's own is not in this list; it bounds its cache by itself.
    let listed = String::from_utf8_lossy(&listed).into_owned();
    Ok(Some(listed.split_whitespace().map(str::to_owned).collect()))
}

/// Removes entries, but for those that others or an image rest on.
pub(crate) fn remove(engine: &Engine, mut ids: BTreeSet<String>) -> Result<(), ImageError> {
    for _ in 0..TRIES {
        if ids.is_empty() {
            break;
        }
        prune(engine, &ids)?;
        let Some(left) = list(engine, UNSHARED)? else { break };
        ids.retain(|id| left.contains(id));
        if !ids.is_empty() {
            thread::sleep(PAUSE);
        }
    }
    Ok(())
}

fn prune(engine: &Engine, ids: &BTreeSet<String>) -> Result<(), ImageError> {
    // The filter is a pattern, and anything but an id in it would match what is not ours.
    let is_plain = |id: &&str| id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let ids: Vec<&str> = ids.iter().map(String::as_str).filter(is_plain).collect();
    for some in ids.chunks(AT_ONCE) {
        let filter = format!("id=^({})$", some.join("|"));
        engine.ask(&["builder", "prune", "--force", "--filter", &filter], SOON, &|| false)?;
    }
    Ok(())
}
