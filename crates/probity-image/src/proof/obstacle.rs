//! Why an experiment went no further.

use std::{fmt, time::Duration};

use super::evidence::bytes;

/// Why an experiment went no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    NoEngine,
    Frontend {
        image: String,
    },
    MissingImage {
        image: String,
    },
    /// The engine may pull it, and could not.
    Unpulled {
        image: String,
        why: String,
    },
    /// `# syntax=` names a program that is not the one of the builder, and could fetch.
    ForeignFrontend {
        image: String,
    },
    /// An `ADD` that the builder itself would fetch, although the network is closed.
    RemoteSource {
        line: usize,
        source: String,
    },
    /// An `ADD` that might be one: only the build knows the value.
    UnknownSource {
        line: usize,
        source: String,
    },
    /// A trigger of a base image that the builder would obey.
    Trigger {
        image: String,
        trigger: String,
    },
    /// A trigger of a base image with flags, which could reach the machine.
    TriggerFlags {
        image: String,
        trigger: String,
    },
    /// The engine tells no triggers of this image, and they cannot be read in its storage.
    UnknownTriggers {
        image: String,
    },
    /// A flag of `RUN` that reaches the machine, with this engine's builder.
    RunFlag {
        line: usize,
        flag: String,
        engine: &'static str,
    },
    /// A build argument that the builder takes for itself.
    BuilderArgument {
        name: String,
    },
    BuildTimeout {
        limit: Duration,
    },
    MemoryLimit {
        limit: u64,
    },
    /// The original does not build here; without a network that is often the cause.
    OriginalFails {
        output: String,
        network: bool,
    },
    OriginalEndsBadly {
        state: String,
    },
    OriginalUnsteady,
    /// The engine builds images and cannot start them.
    CannotStart {
        engine: &'static str,
    },
    OriginalFailsCommand {
        output: String,
    },
    DiskLimit {
        needed: u64,
        limit: u64,
    },
    Engine {
        why: String,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEngine => {
                out.write_str("none of docker, podman and buildah answers on this machine")
            }
            Self::Frontend { image } => write!(
                out,
                "`# syntax={image}` needs a pull; set `ai.proof-pull = true` to allow it"
            ),
            Self::MissingImage { image } => write!(
                out,
                "the image {image} is not on this machine; pull it or set `ai.proof-pull = true`"
            ),
            Self::Unpulled { image, why } => {
                write!(out, "the image {image} could not be pulled: {why}")
            }
            Self::ForeignFrontend { image } => write!(
                out,
                "cannot be built here: `# syntax={image}` runs a program that can fetch anything; \
                 set `ai.proof-network = true` to allow it"
            ),
            Self::RemoteSource { line, source } => write!(
                out,
                "cannot be built here: line {line} fetches {source}; set \
                 `ai.proof-network = true` to allow it"
            ),
            Self::UnknownSource { line, source } => write!(
                out,
                "cannot be built here: line {line} may fetch {source}, whose value is not known; \
                 give it in `ai.proof-build-args`, or set `ai.proof-network = true`"
            ),
            Self::Trigger { image, trigger } => write!(
                out,
                "cannot be built here: the image {image} adds `ONBUILD {trigger}`, which may \
                 fetch; set `ai.proof-network = true` to allow it"
            ),
            Self::TriggerFlags { image, trigger } => write!(
                out,
                "cannot be built here: the image {image} adds `ONBUILD {trigger}`, with which a \
                 builder could give it more of this machine than a proof does"
            ),
            Self::UnknownTriggers { image } => write!(
                out,
                "cannot be built here: podman does not show whether the image {image} has `ONBUILD` \
                 triggers, and its storage cannot be read; use docker or buildah"
            ),
            Self::RunFlag { line, flag, engine } => write!(
                out,
                "cannot be built here: line {line} has `{flag}`, with which {engine} would give \
                 `RUN` more of this machine than a proof does"
            ),
            Self::BuilderArgument { name } => write!(
                out,
                "cannot be built here: the build argument {name} changes the builder; remove it \
                 from `ai.proof-build-args`"
            ),
            Self::MemoryLimit { limit } => write!(
                out,
                "the build was ended because it used more than the {} of memory that a proof allows",
                bytes(*limit)
            ),
            Self::BuildTimeout { limit } => write!(
                out,
                "the build took longer than {} seconds; `ai.proof-timeout` sets the limit",
                limit.as_secs()
            ),
            Self::OriginalFails { output, network } => {
                write!(out, "the original does not build here: {output}")?;
                if !network {
                    out.write_str("; set `ai.proof-network = true` if RUN needs the network")?;
                }
                Ok(())
            }
            Self::OriginalEndsBadly { state } => {
                write!(out, "a start proves nothing, because the original {state}")
            }
            Self::OriginalUnsteady => {
                out.write_str("a start proves nothing, because two starts of the original differ")
            }
            Self::CannotStart { engine } => {
                write!(out, "{engine} cannot start images; level `run` needs docker or podman")
            }
            Self::OriginalFailsCommand { output } => {
                write!(out, "`ai.proof-command` fails in the original: {output}")
            }
            Self::DiskLimit { needed, limit } => write!(
                out,
                "the files of both images need {}, more than the {} that `ai.proof-disk` allows",
                bytes(*needed),
                bytes(*limit)
            ),
            Self::Engine { why } => out.write_str(why),
        }
    }
}
