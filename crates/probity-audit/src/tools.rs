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

use std::path::{Path, PathBuf};

use probity_scope::{Kind, Metadata, Policy, Quota, Scope, ScopeError};

use self::request::Request;
use crate::{PermissionPrompt, ReadScope, secrets::Secrets};

/// What one model may read, and how it is shown.
#[derive(Debug)]
pub struct ReadTools {
    scope: Scope,
    permission: PermissionPrompt,
    numbered: bool,
    /// Absent where the user allowed sensitive files.
    secrets: Option<Secrets>,
}

#[derive(Clone, Copy, Debug)]
pub struct ToolOptions {
    /// Show line numbers in front of the lines of a file.
    pub numbered: bool,
    pub allow_sensitive: bool,
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
        self.path.to_string_lossy().into_owned()
    }
}

impl ReadTools {
    pub fn open(
        root: &Path,
        permission: PermissionPrompt,
        options: ToolOptions,
    ) -> Result<Self, OpenError> {
        let policy = Policy {
            allow_sensitive: options.allow_sensitive,
            max_file_bytes: MOST_BYTES,
            quota: Quota::UNLIMITED,
        };
        let scope = Scope::open(root, policy)?;
        let secrets = if options.allow_sensitive { None } else { Some(Secrets::new()?) };
        Ok(Self { scope, permission, numbered: options.numbered, secrets })
    }

    /// Does what is asked, if it is allowed. `confirm` is asked in interactive mode, with the request
    /// in words and the path.
    pub fn execute(
        &self,
        request: &Request,
        confirm: &dyn Fn(&str, &str) -> bool,
    ) -> Result<String, ToolError> {
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
        let text = match request {
            Request::ReadFile { .. } => {
                read::read_file(&self.scope, &target, self.numbered, secrets)
            }
            Request::Grep { pattern, context_lines, .. } => {
                grep::grep(&self.scope, &target, pattern, *context_lines, secrets)
            }
            Request::ListDir { .. } => list::list_dir(&self.scope, &target),
            Request::FindFiles { glob, .. } => {
                find::find_files(&self.scope, &target, glob.as_deref())
            }
        };
        Ok(match secrets {
            Some(secrets) => secrets.mask(&text),
            None => text,
        })
    }

    /// Whether a request that was carried out is about one of the sources, or about a directory that
    /// has one: what else is read says nothing about them.
    pub(crate) fn is_about(&self, request: &Request, sources: &[String]) -> bool {
        let Ok(target) = self.target(request.path()) else { return false };
        let is_meant = |source: &String| {
            let real = self.scope.relative(Path::new(source));
            real.is_ok_and(|real| real.starts_with(&target.path))
        };
        sources.is_empty() || sources.iter().any(is_meant)
    }

    fn target(&self, path: &str) -> Result<Target, ToolError> {
        let given = || crate::text::one_line(path, 500);
        let asked = Path::new(path);
        let found = self
            .scope
            .relative(asked)
            .and_then(|path| Ok(Target { path, metadata: self.scope.metadata(asked)? }));
        found.map_err(|error| match error {
            ScopeError::Outside(_) => ToolError::Outside(given()),
            ScopeError::Sensitive(_) => ToolError::Sensitive(given()),
            _ => ToolError::Missing(given()),
        })
    }

    fn strict(&self, request: &Request, target: &Target) -> Result<(), ToolError> {
        if matches!(request, Request::ListDir { .. } | Request::FindFiles { .. }) {
            return Err(ToolError::StrictListing);
        }
        if target.metadata.kind != Kind::File {
            return Err(ToolError::StrictNotAFile);
        }
        // A source may have been found by the name of a link, and is then allowed by its own name.
        let is_allowed = self.permission.allowed_paths.iter().any(|allowed| {
            let allowed = Path::new(allowed);
            allowed == target.path || self.scope.relative(allowed).is_ok_and(|it| it == target.path)
        });
        if is_allowed { Ok(()) } else { Err(ToolError::StrictUnknown(target.shown())) }
    }
}
