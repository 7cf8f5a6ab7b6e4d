//! Building an image from a text and a directory by the engine's own builder.
//!
//! `RUN` has no network, and nothing is pulled or fetched, unless the caller allows it. The builder's
//! layers are the user's: without them a build that needs the network would never succeed here. Its
//! cache mounts are not: `RUN` may write to them, and the user's own builds would trust what is there.

mod caches;
mod refusal;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use rustix::fs::{Mode, OFlags};

use self::caches::Caches;
use crate::{
    EngineKind, ImageError, Obstacle, Recipe, Workbench,
    engine::{BuildAnswer, BuildCall, Interrupt, last_lines},
    leftovers::unfinished,
};

/// Which of the images that a Dockerfile describes is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    pub arguments: Vec<(String, String)>,
    /// The stage to build; without one the last stage.
    pub target: Option<String>,
    pub platform: Option<String>,
}

#[derive(Debug, Clone)]
pub struct BuildOptions {
    pub context: PathBuf,
    /// `Dockerfile.dockerignore` or `.dockerignore`, whichever applies to the original.
    pub ignore_file: Option<PathBuf>,
    pub variant: Variant,
    pub network: bool,
    pub pull: bool,
    pub timeout: Duration,
    /// How many bytes of memory the commands of a build may use together.
    pub memory: u64,
}

impl BuildOptions {
    /// More memory than a build needs that is not a mistake.
    pub const MEMORY: u64 = 4 << 30;
}

/// How a build ended when the engine itself worked.
#[derive(Debug)]
pub(crate) enum Built {
    /// The image.
    Image(String),
    /// The last lines of the builder.
    Failed(String),
    Impossible(Obstacle),
}

const TAIL_LINES: usize = 12;
/// How often a build is repeated whose layers somebody else removes.
const RETRIES: usize = 3;

pub(crate) fn build(
    bench: &Workbench,
    name: &str,
    recipe: &Recipe,
    options: &BuildOptions,
    interrupt: Interrupt<'_>,
) -> Result<Built, ImageError> {
    if let Some(obstacle) = refusal::refusal(bench, recipe, options, interrupt)? {
        return Ok(Built::Impossible(obstacle));
    }
    let caches = Caches::new(&bench.engine)?;
    let file = written(bench, name, recipe, options)?;
    let id_file = bench.directory.path().join(format!("{name}.id"));
    let tag = format!("localhost/probity-proof:{}-{name}", bench.owner);
    let mut words = arguments(bench, options, &file, &id_file, &tag);
    words.extend(caches.argument());
    words.push(options.context.display().to_string());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let call = BuildCall {
        arguments: &words,
        variables: caches.variables(),
        limit: options.timeout,
        memory: options.memory,
    };
    let ask = || -> Result<BuildAnswer, ImageError> {
        let build = || bench.engine.build(&call, interrupt);
        let answer = bench.caching(build)?;
        bench.remember(layers(&String::from_utf8_lossy(&answer.output), Origin::Build));
        Ok(answer)
    };
    let mut answer = ask()?;
    for _ in 0..RETRIES {
        if !lost_a_layer(bench, &answer)? {
            break;
        }
        answer = ask()?;
    }
    caches.remove(&bench.engine)?;
    let exit = match answer.exit {
        Err(ImageError::Timeout { limit, .. }) => {
            return Ok(Built::Impossible(Obstacle::BuildTimeout { limit }));
        }
        Err(ImageError::MemoryLimit { limit }) => {
            return Ok(Built::Impossible(Obstacle::MemoryLimit { limit }));
        }
        exit => exit?,
    };
    if exit != Exit::Code(0) {
        return Ok(Built::Failed(last_lines(&answer.output, TAIL_LINES)));
    }
    if bench.engine.kind == EngineKind::Buildah {
        return Ok(Built::Image(bench.engine.describe(&tag, interrupt)?.id));
    }
    let id = fs::read_to_string(&id_file).map_err(ImageError::io("the builder's image id"))?;
    Ok(Built::Image(id.trim().to_owned()))
}

/// Whether a builder without BuildKit gave up because somebody else, such as the end of another proof,
/// removed a layer that it was using.
fn lost_a_layer(bench: &Workbench, answer: &BuildAnswer) -> Result<bool, ImageError> {
    if answer.exit.as_ref().is_ok_and(|exit| *exit != Exit::Code(0)) {
        let output = String::from_utf8_lossy(&answer.output);
        // Podman and buildah look at layers of others too.
        if output.contains("layer not known") {
            return Ok(true);
        }
        for id in layers(&output, Origin::Cache) {
            if bench.engine.tags(&id)?.is_none() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// An image that is there, or is pulled if that is allowed.
pub(crate) fn find(
    bench: &Workbench,
    image: &str,
    options: &BuildOptions,
    interrupt: Interrupt<'_>,
) -> Result<Built, ImageError> {
    if options.pull {
        bench.engine.must(&["pull", image], options.timeout, interrupt)?;
    }
    if bench.engine.has_image(image, interrupt)? {
        return Ok(Built::Image(image.to_owned()));
    }
    Ok(Built::Impossible(Obstacle::MissingImage { image: image.to_owned() }))
}

fn arguments(
    bench: &Workbench,
    options: &BuildOptions,
    file: &Path,
    id_file: &Path,
    tag: &str,
) -> Vec<String> {
    let shown = |path: &Path| path.display().to_string();
    let memory = format!("--memory={}", options.memory);
    let mut words = vec!["build".to_owned(), "--label".to_owned(), bench.label()];
    words.extend(["-t".to_owned(), tag.to_owned(), "-f".to_owned(), shown(file)]);
    // With this option buildah does not print the layers that it makes.
    if bench.engine.kind != EngineKind::Buildah {
        words.extend(["--iidfile".to_owned(), shown(id_file)]);
    }
    if !options.network {
        words.push("--network=none".to_owned());
    }
    match bench.engine.kind {
        EngineKind::Docker if bench.engine.has_buildx => {
            words.extend(["--load".to_owned(), "--progress=plain".to_owned()]);
        }
        EngineKind::Docker => words.extend(["--force-rm".to_owned(), memory]),
        EngineKind::Podman | EngineKind::Buildah => {
            let pull = match (options.pull, bench.engine.kind) {
                (false, _) => "--pull=never",
                (true, EngineKind::Buildah) => "--pull=false",
                (true, _) => "--pull=missing",
            };
            // The proxy's address may have a password in it.
            if !options.network {
                words.push("--http-proxy=false".to_owned());
            }
            // Podman keeps layers by default, buildah only with this flag.
            words.extend(["--layers".to_owned(), unfinished::mark(&bench.owner)]);
            // The other format has no HEALTHCHECK.
            for word in ["--format=docker", "--force-rm", pull, &memory] {
                words.push(word.to_owned());
            }
            if options.ignore_file.is_some() {
                words.push(format!("--ignorefile={}", shown(&beside(file))));
            }
        }
    }
    let Variant { arguments, target, platform } = &options.variant;
    for (name, value) in arguments {
        words.extend(["--build-arg".to_owned(), format!("{name}={value}")]);
    }
    words.extend(target.iter().map(|target| format!("--target={target}")));
    words.extend(platform.iter().map(|platform| format!("--platform={platform}")));
    words
}

/// Where a layer comes from that a builder without BuildKit prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Base,
    Cache,
    Build,
}

/// Ids of the layers of one origin.
fn layers(output: &str, wanted: Origin) -> Vec<String> {
    let mut ids = Vec::new();
    let mut origin = Origin::Build;
    for line in output.lines().map(str::trim) {
        if line.starts_with("Step ") || line.contains("STEP ") {
            origin = if line.contains(": FROM ") { Origin::Base } else { Origin::Build };
        }
        let Some(word) = line.strip_prefix("---> ").or_else(|| line.strip_prefix("--> ")) else {
            continue;
        };
        if word.starts_with("Using cache") {
            origin = Origin::Cache;
        }
        let is_id = word.len() >= 11 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id && origin == wanted {
            ids.push(word.to_owned());
        }
    }
    ids
}

/// The text as a file outside of the context, with its list of ignored files beside it.
fn written(
    bench: &Workbench,
    name: &str,
    recipe: &Recipe,
    options: &BuildOptions,
) -> Result<PathBuf, ImageError> {
    let file = bench.directory.path().join(format!("{name}.Dockerfile"));
    let write = |path: &Path, bytes: &[u8]| -> Result<(), ImageError> {
        fs::write(path, bytes).map_err(ImageError::io(path.display().to_string()))
    };
    write(&file, recipe.text.as_bytes())?;
    if let Some(ignore) = &options.ignore_file {
        let bytes = unlinked(ignore).map_err(ImageError::io(ignore.display().to_string()))?;
        write(&beside(&file), &bytes)?;
    }
    Ok(file)
}

/// Where builders look for the list of ignored files of a Dockerfile.
fn beside(file: &Path) -> PathBuf {
    file.with_extension("Dockerfile.dockerignore")
}

/// The bytes of a file of a repository; a link could lead to any file of the user's, and the builder
/// shows lines of this one when it complains.
fn unlinked(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_ignored_files_is_not_read_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "target").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(unlinked(&file).unwrap(), b"target");
        assert!(unlinked(&link).is_err());
        assert!(unlinked(directory.path()).is_err());
    }

    #[test]
    fn layers_are_told_apart_by_their_origin() {
        let docker = "Step 1/4 : FROM a AS b\n ---> 0123456789ab\nStep 2/4 : COPY . .\n \
                      ---> Using cache\n ---> 1123456789ab\nStep 3/4 : RUN x\n ---> Running in \
                      c23456789abc\n ---> 2123456789ab\nSuccessfully built 2123456789ab\n";
        assert_eq!(layers(docker, Origin::Build), ["2123456789ab"]);
        assert_eq!(layers(docker, Origin::Cache), ["1123456789ab"]);
        let podman = "[1/2] STEP 1/2: FROM a AS b\n[1/2] STEP 2/2: RUN x\n--> 0123456789a\n\
                      [2/2] STEP 1/3: FROM a\n[2/2] STEP 2/3: COPY x y\n--> Using cache \
                      1123456789abcdef\n--> 1123456789a\n[2/2] STEP 3/3: CMD z\n\
                      [2/2] COMMIT t\n--> 2123456789a\n";
        assert_eq!(layers(podman, Origin::Build), ["0123456789a", "2123456789a"]);
        assert_eq!(layers(podman, Origin::Cache), ["1123456789a"]);
    }
}
