//! The names of the instructions.

use std::fmt;

/// What an instruction is; `Unknown` for a name that BuildKit does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keyword {
    Add,
    Arg,
    Cmd,
    Copy,
    Entrypoint,
    Env,
    Expose,
    From,
    Healthcheck,
    Label,
    Maintainer,
    Onbuild,
    Run,
    Shell,
    Stopsignal,
    User,
    Volume,
    Workdir,
    Unknown,
}

/// Every known keyword with its upper-case name.
const NAMES: [(Keyword, &str); 18] = [
    (Keyword::Add, "ADD"),
    (Keyword::Arg, "ARG"),
    (Keyword::Cmd, "CMD"),
    (Keyword::Copy, "COPY"),
    (Keyword::Entrypoint, "ENTRYPOINT"),
    (Keyword::Env, "ENV"),
    (Keyword::Expose, "EXPOSE"),
    (Keyword::From, "FROM"),
    (Keyword::Healthcheck, "HEALTHCHECK"),
    (Keyword::Label, "LABEL"),
    (Keyword::Maintainer, "MAINTAINER"),
    (Keyword::Onbuild, "ONBUILD"),
    (Keyword::Run, "RUN"),
    (Keyword::Shell, "SHELL"),
    (Keyword::Stopsignal, "STOPSIGNAL"),
    (Keyword::User, "USER"),
    (Keyword::Volume, "VOLUME"),
    (Keyword::Workdir, "WORKDIR"),
];

impl Keyword {
    /// Reads a name in any case.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let known = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        known.map_or(Self::Unknown, |&(keyword, _)| keyword)
    }

    /// The upper-case name; `UNKNOWN` for what has none.
    #[must_use]
    pub fn name(self) -> &'static str {
        let known = NAMES.iter().find(|&&(keyword, _)| keyword == self);
        known.map_or("UNKNOWN", |&(_, name)| name)
    }

    /// The upper-case names of all known instructions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|&(_, name)| name)
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
