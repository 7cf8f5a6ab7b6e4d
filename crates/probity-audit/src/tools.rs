//! Reading on a model's behalf: in this process, below the root, with the outputs of the commands
//! that the actions are named after.
//!
//! Every text that comes out of here may go to a provider. Paths in it are relative to the root, so
//! that nothing is told about the machine.

mod basic;
mod cut;
mod find;
mod glob;
mod grep;
mod list;
mod read;
pub(crate) mod request;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use probity_scope::{EntryKind, Metadata, Policy, Quota, Scope, ScopeError};

pub(crate) use self::cut::MOST_CHARS;
pub use self::cut::Reading;
use self::{read::LineRequest, request::Request};
use crate::{
    PermissionPrompt, ReadScope, Rules, secrets::Secrets, sources::ignored_files, text::shown_name,
};

/// What one model may read, and how it is shown.
#[derive(Debug)]
pub struct ReadTools {
    scope: Scope,
    permission: PermissionPrompt,
    options: ToolOptions,
    /// Relative to the root, as they are called.
    sources: Vec<String>,
    /// Where they are, links resolved.
    places: BTreeSet<PathBuf>,
    /// Absent where the user allowed sensitive files.
    secrets: Option<Secrets>,
}

#[derive(Clone, Copy, Debug)]
pub struct ToolOptions {
    /// Show line numbers in front of the lines of a file.
    pub numbered: bool,
    pub allow_sensitive: bool,
    pub allow_ignored: bool,
    pub rules: Rules,
}

/// The longest file that is searched; of a longer one, `read_file` still shows the beginning.
const MOST_BYTES: u64 = 16 << 20;

/// Why nothing can be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Root(#[from] ScopeError),
    #[error("cannot look for secrets")]
    Secrets(#[from] probity_secrets::DetectorError),
}

/// Why a request was refused. The text is for the model.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("Path does not exist or is inaccessible: {0}")]
    Missing(String),
    #[error("Path escapes project root and is not allowed: {0}")]
    Outside(String),
    #[error("Path is a sensitive file and is not allowed: {0}")]
    Sensitive(String),
    #[error("Path is ignored by git and is not allowed: {0}")]
    Ignored(String),
    #[error("Command '{0}' is not permitted by permission prompt")]
    Command(&'static str),
    #[error(
        "Request denied by strict read scope: directory listing and file discovery are not allowed"
    )]
    StrictListing,
    #[error("Request denied by strict read scope: only known source files can be accessed")]
    StrictNotAFile,
    #[error("Request denied by strict read scope: '{0}' is not an allowed source file")]
    StrictUnknown(String),
    #[error("Request denied by user confirmation: {0}")]
    Denied(String),
}

/// A path that was found below the root.
pub(crate) struct Target {
    /// Relative to the root, links resolved; empty for the root itself.
    pub(crate) path: PathBuf,
    pub(crate) metadata: Metadata,
}

impl Target {
    pub(crate) fn shown(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return ".".to_owned();
        }
        shown_name(&self.path.to_string_lossy())
    }
}

impl ReadTools {
    pub fn open(
        root: &Path,
        sources: &[String],
        permission: PermissionPrompt,
        options: ToolOptions,
    ) -> Result<Self, OpenError> {
        let policy = Policy {
            allow_sensitive: options.allow_sensitive,
            ignored: ignored_files(options.allow_ignored),
            max_file_bytes: MOST_BYTES,
            quota: Quota::UNLIMITED,
        };
        let scope = Scope::open(root, policy)?;
        let secrets = if options.allow_sensitive { None } else { Some(Secrets::new()?) };
        let places = sources.iter().filter_map(|source| scope.relative(Path::new(source)).ok());
        let places = places.collect();
        Ok(Self { scope, permission, options, sources: sources.to_vec(), places, secrets })
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Does what is asked, if it is allowed. `confirm` is asked in interactive mode, with the request
    /// in words and the path.
    pub fn execute(
        &self,
        request: &Request,
        confirm: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Reading, ToolError> {
        let command = request.command();
        if !self.permission.allowed_commands.iter().any(|allowed| allowed == command) {
            return Err(ToolError::Command(command));
        }
        let target = self.target(request.path())?;
        if self.permission.read_scope == ReadScope::Strict {
            self.strict(request, &target)?;
        }
        if self.permission.interactive_permissions {
            let summary = request.summary();
            if !confirm(&summary, &target.shown()) {
                return Err(ToolError::Denied(summary));
            }
        }
        // Files are starred out as a whole, before lines are chosen from them or their end is cut
        // off: half a token or one line of a key has no form by which it could be known.
        let secrets = self.secrets.as_ref();
        let (scope, sources) = (&self.scope, &self.places);
        let mut reading = match request {
            Request::ReadFile { offset, limit, .. } => {
                let ToolOptions { numbered, rules, .. } = self.options;
                let wanted =
                    LineRequest { offset: *offset, limit: *limit, numbered, rules, secrets };
                read::read_file(scope, &target, &wanted)
            }
            Request::Grep { pattern, context_lines, .. } => grep::grep(
                scope,
                &target,
                pattern,
                *context_lines,
                secrets,
                sources,
                self.options.rules,
            ),
            Request::ListDir { .. } => list::list_dir(scope, &target).into(),
            Request::FindFiles { glob, .. } => {
                find::find_files(scope, &target, glob.as_deref(), sources).into()
            }
        };
        if let Some(secrets) = secrets {
            reading.text = secrets.mask(&reading.text);
        }
        Ok(reading)
    }

    fn target(&self, path: &str) -> Result<Target, ToolError> {
        let given = || probity_text::one_line(path, 500);
        let asked = Path::new(self.real_name(path));
        let found = self
            .scope
            .relative(asked)
            .and_then(|path| Ok(Target { path, metadata: self.scope.metadata(asked)? }));
        found.map_err(|error| match error {
            ScopeError::Outside(_) => ToolError::Outside(given()),
            ScopeError::Sensitive(_) => ToolError::Sensitive(given()),
            ScopeError::Ignored(_) => ToolError::Ignored(given()),
            _ => ToolError::Missing(given()),
        })
    }

    /// A source whose name cannot be shown is asked for by the name under which it was.
    fn real_name<'a>(&'a self, path: &'a str) -> &'a str {
        let is_meant = |source: &&String| shown_name(source) == path;
        if path.contains('?') {
            self.sources.iter().find(is_meant).map_or(path, String::as_str)
        } else {
            path
        }
    }

    fn strict(&self, request: &Request, target: &Target) -> Result<(), ToolError> {
        if matches!(request, Request::ListDir { .. } | Request::FindFiles { .. }) {
            return Err(ToolError::StrictListing);
        }
        if target.metadata.kind != EntryKind::File {
            return Err(ToolError::StrictNotAFile);
        }
        // A source may have been found by the name of a link, and is then allowed by its own name.
        let is_allowed = self.permission.allowed_paths.iter().any(|allowed| {
            let allowed = Path::new(allowed);
            allowed == target.path
                || self.scope.relative(allowed).is_ok_and(|relative| relative == target.path)
        });
        if is_allowed { Ok(()) } else { Err(ToolError::StrictUnknown(target.shown())) }
    }
}
