//! A target that is read and parsed, once for everybody who looks at it.

use std::{io, path::Path};

use probity_lint::{Detached, Parsed};

use crate::{
    job::{Job, Target},
    source::{self, Limits, Read, Source, Unread},
};

/// What became of opening a target.
#[derive(Debug)]
pub(crate) enum Opened {
    Text(Source, Box<Detached>),
    Problem(Unread),
}

impl Opened {
    pub(crate) fn of(job: &Job, directory: &Path) -> Self {
        let limits = Limits::new(job.options.max_file_size);
        let read = match &job.target {
            Target::File(path) | Target::Inline(path, _) => source::read(path, directory, limits),
            Target::Stdin(name) => {
                source::read_stdin(io::stdin().lock(), name.as_deref(), directory, limits)
            }
        };
        match read {
            Read::Text(source) => {
                tracing::trace!("parsing {}", source.shown);
                let parsed = Box::new(Parsed::of_shared(&source.text).detached());
                Self::Text(source, parsed)
            }
            Read::Problem(unread) => Self::Problem(unread),
        }
    }
}
