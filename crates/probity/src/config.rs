//! The layered configuration of `check`: flags over `TALLY_*` variables over the nearest file over
//! defaults, every value with the place it came from.
//!
//! One table of keys ([`keys`]) says what there is; the strict reader, the environment, the JSON
//! Schema and the printed configuration all follow it. The environment, the flags and the rules come
//! in as values; only [`Configs`] reads files.

mod argv;
pub(crate) mod catalogue;
mod discovery;
pub(crate) mod duration;
pub(crate) mod effective;
mod environment;
pub(crate) mod error;
mod file;
pub(crate) mod hadolint;
pub(crate) mod keys;
pub(crate) mod kind;
pub(crate) mod layer;
pub(crate) mod nearest;
mod print;
pub(crate) mod schema;
pub(crate) mod value;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs,
    io::Read,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use self::{
    catalogue::{Catalogue, Oddity, OptionSchema, RuleSchema},
    effective::CheckConfig,
    error::ConfigError,
    kind::Kind,
    layer::Layer,
    nearest::nearest,
    schema::schema,
    value::{Origin, Sourced, Value},
    words::{FailLevel, FixMode, ShellcheckMode, SlowChecksMode},
};
use self::{
    discovery::Discovery,
    effective::resolve,
    error::{Problem, line_and_column},
};

/// Which file a run takes.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The nearest to each target.
    Nearest,
    /// This one for all targets.
    This(PathBuf),
    None,
}

/// Answers which configuration holds for a target. Every file is read once, however many targets
/// it holds for.
#[derive(Debug)]
pub(crate) struct Configs<'a> {
    catalogue: Catalogue<'a>,
    choice: Choice,
    discovery: Discovery,
    /// For targets that have no tally file.
    hadolint_files: Discovery,
    current: PathBuf,
    defaults: Layer,
    environment: Layer,
    flags: Layer,
    resolved: HashMap<Option<Arc<Path>>, Result<Arc<CheckConfig>, ConfigError>>,
    warnings: Vec<String>,
    /// Warnings about flags and variables would come again with every file.
    said: HashSet<String>,
}

/// What a run brings along besides files.
#[derive(Debug)]
pub(crate) struct Sources<'a, E> {
    pub(crate) catalogue: Catalogue<'a>,
    pub(crate) choice: Choice,
    /// The current directory.
    pub(crate) current: PathBuf,
    /// Defaults that differ from the table's, made by [`Layer::default_value`].
    pub(crate) defaults: Layer,
    /// All variables; those that do not begin with `TALLY_` are passed over.
    pub(crate) environment: E,
    pub(crate) flags: Layer,
}

impl<'a> Configs<'a> {
    pub(crate) fn new<E>(sources: Sources<'a, E>) -> Result<Self, ConfigError>
    where
        E: IntoIterator<Item = (OsString, OsString)>,
    {
        let Sources { catalogue, choice, current, defaults, environment, flags } = sources;
        let (environment, warnings) = environment::read(&catalogue, environment)?;
        let discovery = Discovery::new(current.clone(), discovery::FILE_NAMES);
        let hadolint_files = Discovery::new(current.clone(), hadolint::FILE_NAMES);
        let resolved = HashMap::new();
        Ok(Self {
            catalogue,
            choice,
            discovery,
            hadolint_files,
            current,
            defaults,
            environment,
            flags,
            resolved,
            warnings,
            said: HashSet::new(),
        })
    }

    /// The configuration of a target, which need not exist: standard input has a name too.
    pub(crate) fn for_target(&mut self, target: &Path) -> Result<Arc<CheckConfig>, ConfigError> {
        let file = match &self.choice {
            Choice::Nearest => {
                self.discovery.nearest(target).or_else(|| self.hadolint_files.nearest(target))
            }
            Choice::This(path) => Some(Arc::from(path.as_path())),
            Choice::None => None,
        };
        self.resolve(file)
    }

    /// What holds where no file is looked at, for what is decided before there is a target.
    pub(crate) fn without_file(&mut self) -> Result<Arc<CheckConfig>, ConfigError> {
        self.resolve(None)
    }

    /// What was odd so far, each said once; the caller prints it.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn resolve(&mut self, file: Option<Arc<Path>>) -> Result<Arc<CheckConfig>, ConfigError> {
        if let Some(resolved) = self.resolved.get(&file) {
            return resolved.clone();
        }
        let resolved = self.load(file.as_deref());
        self.resolved.insert(file, resolved.clone());
        resolved
    }

    fn load(&mut self, file: Option<&Path>) -> Result<Arc<CheckConfig>, ConfigError> {
        let shown = file.map(|path| path.strip_prefix(&self.current).unwrap_or(path));
        let mut layer = Layer::default();
        if let (Some(path), Some(shown)) = (file, shown) {
            let is_asked_for = matches!(self.choice, Choice::This(_));
            let text = read_text(&self.current.join(path), shown, is_asked_for)?;
            let (from_file, warnings) = match hadolint::is_hadolint_file(path) {
                true => {
                    let (said, mut warnings) = hadolint::read(shown, &text)?;
                    let (layer, more) = said.layer(&self.catalogue, shown);
                    warnings.extend(more);
                    (layer, warnings)
                }
                false => file::read(&self.catalogue, shown, &text)?,
            };
            self.warn(warnings.iter().map(Problem::to_string));
            layer = from_file;
        }
        let layers = [&self.defaults, &layer, &self.environment, &self.flags];
        let (config, warnings) = resolve(&layers, shown.map(Arc::from));
        self.warn(warnings);
        Ok(Arc::new(config))
    }

    fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if self.said.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        }
    }
}

/// No configuration is larger; what is, was not written by hand.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Reads a file that was found by its name, or asked for, in which case it may also be a pipe that is
/// open already: `/dev/stdin`, or what a shell makes of `<(…)`. A FIFO might never be written to.
pub(crate) fn read_text(
    path: &Path,
    shown: &Path,
    is_asked_for: bool,
) -> Result<String, ConfigError> {
    let shown = shown.to_path_buf();
    let unreadable = |error: std::io::Error| ConfigError::Unreadable {
        path: shown.clone(),
        reason: error.to_string(),
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(ConfigError::Directory { path: shown });
    }
    let is_open_already = path.starts_with("/dev") || path.starts_with("/proc");
    if metadata.file_type().is_fifo() && !is_open_already {
        return Err(ConfigError::Fifo { path: shown });
    }
    if !metadata.is_file() && !is_asked_for {
        return Err(ConfigError::Special { path: shown });
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ConfigError::TooLarge { path: shown, limit: LARGEST_FILE });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default());
        let (line, column) = line_and_column(&before, valid);
        let message = "not valid UTF-8".to_owned();
        ConfigError::Invalid { problems: vec![Problem { path: shown, line, column, message }] }
    })
}
