//! The names this binary answers to, as busybox does: by the last part of `argv[0]`.

use std::{ffi::OsStr, path::Path};

/// The tool whose command line, defaults, files, variables and exit codes are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Probity,
    Tally,
    Hadolint,
    Trix,
    Cai,
    AcpProxy,
    CiAgentReview,
}

impl Name {
    /// The names that stand for another tool, in the order in which they are listed.
    pub(crate) const OTHERS: [Self; 6] =
        [Self::Tally, Self::Hadolint, Self::Trix, Self::Cai, Self::AcpProxy, Self::CiAgentReview];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Probity => "probity",
            Self::Tally => "tally",
            Self::Hadolint => "hadolint",
            Self::Trix => "trix",
            Self::Cai => "cai",
            Self::AcpProxy => "acp-proxy",
            Self::CiAgentReview => "ci-agent-review",
        }
    }

    /// What the name gives its caller, for `probity names list`.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Probity => "this tool",
            Self::Tally => "Dockerfile linter: lint, check, lsp, version",
            Self::Hadolint => "Dockerfile linter with hadolint's flags and formats",
            Self::Trix => "project tool of Tx3: init, audit",
            Self::Cai => {
                "ContainAI: --acp, acp proxy, exec, doctor, gc, stop, status, trust, accept"
            }
            Self::AcpProxy => "ACP proxy for editors",
            Self::CiAgentReview => "CI review step, driven by the environment; gate",
        }
    }

    /// The name under which this process was called.
    pub(crate) fn called() -> Self {
        std::env::args_os().next().map_or(Self::Probity, |called| Self::from_argv0(&called))
    }

    /// The tool that `argv[0]` asks for; an unknown name is a copy of probity under a name of the
    /// user's own.
    pub(crate) fn from_argv0(called: &OsStr) -> Self {
        let stem = Path::new(called).file_name().and_then(OsStr::to_str).unwrap_or_default();
        let stem = stem.strip_suffix(".exe").unwrap_or(stem);
        Self::OTHERS.into_iter().find(|name| name.as_str() == stem).unwrap_or(Self::Probity)
    }

    /// The exit code of a wrong command line, which is the tool's own.
    pub(crate) fn usage_code(self, mistake: Mistake) -> u8 {
        match (self, mistake) {
            (Self::Hadolint | Self::Cai | Self::AcpProxy, _) => 1,
            // There the words that a flag takes are checked by the linter, the rest by the parser.
            (Self::Tally, Mistake::Other) => 1,
            (Self::Tally, Mistake::Word) => 2,
            (Self::Probity | Self::Trix | Self::CiAgentReview, _) => 2,
        }
    }
}

/// What is wrong with a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A value that is none of the words that its flag takes.
    Word,
    /// A flag or a command that does not exist, a value that is missing or no number.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_the_path_decides() {
        for (called, name) in [
            ("tally", Name::Tally),
            ("/usr/local/bin/ci-agent-review", Name::CiAgentReview),
            ("./acp-proxy.exe", Name::AcpProxy),
            ("probity", Name::Probity),
            ("probity-0.1", Name::Probity),
            ("tally/x", Name::Probity),
            ("", Name::Probity),
        ] {
            assert_eq!(Name::from_argv0(OsStr::new(called)), name, "{called}");
        }
    }
}
