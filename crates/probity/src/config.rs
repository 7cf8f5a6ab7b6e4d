//! The layered configuration: flags over variables over the repository's file over the user's own
//! file over defaults, every value with the place it came from.
//!
//! One table of keys ([`table`]) says what there is; the typed settings, the strict readers, the
//! environment, the flags, the JSON Schemas and the printed configuration all follow it. The
//! environment, the flags and the rules come in as values; only [`Configs`] reads files.

pub(crate) mod bad_value;
pub(crate) mod catalogue;
mod discovery;
pub(crate) mod duration;
mod environment;
pub(crate) mod error;
mod extends;
pub(crate) mod file;
pub(crate) mod guard;
pub(crate) mod hadolint;
pub(crate) mod key;
pub(crate) mod kind;
pub(crate) mod layer;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod nearest;
pub(crate) mod own_rules;
mod print;
mod read_text;
mod render;
pub(crate) mod runner;
pub(crate) mod schema;
pub(crate) mod secret_mounts;
pub(crate) mod setting;
pub(crate) mod settings;
pub(crate) mod table;
mod template;
pub(crate) mod value;
pub(crate) mod word;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_check::OpenTexts;

pub(crate) use self::{
    catalogue::{Catalogue, Oddity},
    error::ConfigError,
    key::Dialect,
    kind::ValueKind,
    layer::Layer,
    nearest::nearest,
    read_text::{FileReach, read_text},
    schema::schema,
    settings::{RuleSettings, Settings},
    template::template,
    value::{Origin, Owner, Sourced, Value},
};
use self::{discovery::Discovery, error::Problem, settings::resolve};
use crate::name::Name;

/// Which file a run takes.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The nearest to each target.
    Nearest,
    /// This one for all targets.
    This(PathBuf),
    None,
}

/// Answers which settings hold for a target. Every file is read once, however many targets it holds
/// for.
#[derive(Debug)]
pub(crate) struct Configs<'a> {
    catalogue: Catalogue<'a>,
    sections: &'static [&'static str],
    choice: Choice,
    /// `probity.toml`, which the names of other tools do not read.
    own_files: Option<Discovery>,
    tally_files: Discovery,
    /// For targets that have no tally file.
    hadolint_files: Discovery,
    current: PathBuf,
    defaults: Layer,
    user: Layer,
    users_files: Vec<Arc<Path>>,
    containai: Option<(PathBuf, guard::Trust)>,
    environment: Layer,
    flags: Layer,
    resolved: HashMap<Files, Result<Arc<Settings>, ConfigError>>,
    warnings: Vec<String>,
    /// Warnings about flags and variables would come again with every file.
    said: HashSet<String>,
    open_texts: OpenTexts,
}

/// The files that belong to a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Files {
    own: Option<Arc<Path>>,
    peers: Option<Arc<Path>>,
    /// Whether the repository's file of containai counts too.
    is_in_repository: bool,
}

const CONTAINMENT: &str = "containment";

/// The files of containai that a run reads, whether they exist or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContainaiFiles {
    pub(crate) users: Option<PathBuf>,
    pub(crate) repository: Option<(PathBuf, guard::Trust)>,
}

/// What a run brings along besides the files of a repository.
#[derive(Debug)]
pub(crate) struct Sources<'a, E> {
    pub(crate) catalogue: Catalogue<'a>,
    pub(crate) name: Name,
    /// The sections that the run uses: of others no file and no variable matters, as long as the
    /// file can be read.
    pub(crate) sections: &'static [&'static str],
    pub(crate) choice: Choice,
    /// The current directory.
    pub(crate) current: PathBuf,
    /// Defaults that differ from the table's.
    pub(crate) defaults: Layer,
    /// The user's own file, whether it exists or not.
    pub(crate) users_file: Option<PathBuf>,
    /// Read where a `probity.toml` of the same owner has no `[containment]`.
    pub(crate) containai: ContainaiFiles,
    /// All variables; those that set nothing are passed over.
    pub(crate) environment: E,
    pub(crate) flags: Layer,
}

impl<'a> Configs<'a> {
    pub(crate) fn new<E>(sources: Sources<'a, E>) -> Result<Self, ConfigError>
    where
        E: IntoIterator<Item = (OsString, OsString)>,
    {
        let Sources { catalogue, name, sections, choice, current, defaults, flags, .. } = sources;
        let reading = environment::Reading { catalogue: &catalogue, name, sections };
        let (environment, warnings) = reading.read(sources.environment)?;
        let look_for = |names| Discovery::new(current.clone(), names);
        let mut configs = Self {
            catalogue,
            sections,
            own_files: (name == Name::Probity).then(|| look_for(discovery::OWN_NAMES)),
            tally_files: look_for(discovery::TALLY_NAMES),
            hadolint_files: look_for(hadolint::FILE_NAMES),
            choice,
            current,
            defaults,
            user: Layer::default(),
            users_files: Vec::new(),
            containai: sources.containai.repository,
            environment,
            flags,
            resolved: HashMap::new(),
            warnings,
            said: HashSet::new(),
            open_texts: OpenTexts::default(),
        };
        configs.read_users_files(sources.users_file, sources.containai.users)?;
        Ok(configs)
    }

    /// A user has one file for everything, or containai's beside it.
    fn read_users_files(
        &mut self,
        own: Option<PathBuf>,
        containai: Option<PathBuf>,
    ) -> Result<(), ConfigError> {
        if matches!(self.choice, Choice::None) {
            return Ok(());
        }
        let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
        if let Some(path) = own.filter(is_there)
            && self.own_files.is_some()
        {
            let (layer, shown) = self.read_with_extended(&path, Owner::User)?;
            self.user = layer.only(self.sections);
            self.users_files.extend(shown);
        }
        if let Some(path) = containai.filter(is_there)
            && self.sections.contains(&CONTAINMENT)
            && !self.user.sections.contains(CONTAINMENT)
        {
            let (layer, shown) = self.read(&path, Dialect::Containai, Owner::User)?;
            self.user.settings.extend(layer.settings);
            self.user.tables.extend(layer.tables);
            self.users_files.push(shown);
        }
        Ok(())
    }

    /// The same with texts that count instead of the repository's files.
    pub(crate) fn with_open_texts(self, open_texts: OpenTexts) -> Self {
        Self { open_texts, ..self }
    }

    /// The settings of a target, which need not exist: standard input has a name too.
    pub(crate) fn for_target(&mut self, target: &Path) -> Result<Arc<Settings>, ConfigError> {
        let files = self.files(target);
        self.resolve(files)
    }

    /// The repository's files that are read for a target, with those that its own file extends.
    pub(crate) fn files_for(&mut self, target: &Path) -> Vec<PathBuf> {
        let files = self.files(target);
        let settings = self.resolve(files.clone());
        let Files { own, peers, .. } = files;
        let mut paths: Vec<PathBuf> =
            own.into_iter().chain(peers).map(|path| self.current.join(path)).collect();
        for path in settings.iter().flat_map(|settings| &settings.files) {
            let path = self.current.join(path);
            if !self.users_files.iter().any(|users| self.current.join(users) == path)
                && !paths.contains(&path)
            {
                paths.push(path);
            }
        }
        paths
    }

    fn files(&mut self, target: &Path) -> Files {
        match &self.choice {
            Choice::Nearest => Files {
                own: self.own_files.as_mut().and_then(|own| own.nearest(target)),
                peers: self
                    .tally_files
                    .nearest(target)
                    .or_else(|| self.hadolint_files.nearest(target)),
                is_in_repository: true,
            },
            Choice::This(path) => {
                let is_own = discovery::is_own(path, &self.current.join(path));
                let path = Some(Arc::from(path.as_path()));
                let (own, peers) =
                    if is_own && self.own_files.is_some() { (path, None) } else { (None, path) };
                Files { own, peers, is_in_repository: true }
            }
            Choice::None => Files::default(),
        }
    }

    /// What holds for a directory.
    pub(crate) fn for_directory(&mut self, directory: &Path) -> Result<Arc<Settings>, ConfigError> {
        // A target has the settings of the directory it is in.
        self.for_target(&directory.join(discovery::OWN_NAMES[0]))
    }

    /// What holds where no file is looked at, for what is decided before there is a target.
    pub(crate) fn without_file(&mut self) -> Result<Arc<Settings>, ConfigError> {
        self.resolve(Files::default())
    }

    /// What was odd so far, each said once; the caller prints it.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn resolve(&mut self, files: Files) -> Result<Arc<Settings>, ConfigError> {
        if let Some(resolved) = self.resolved.get(&files) {
            return resolved.clone();
        }
        let resolved = self.load(&files);
        self.resolved.insert(files, resolved.clone());
        resolved
    }

    fn load(&mut self, files: &Files) -> Result<Arc<Settings>, ConfigError> {
        let mut used = self.users_files.clone();
        let mut own = Layer::default();
        if let Some(path) = &files.own {
            own = self.read_repositorys(path, Dialect::Probity, guard::Trust::Never, &mut used)?;
        }
        let is_replaced = |section: &str| own.sections.contains(section);
        let mut containai = Layer::default();
        let is_there = |(path, _): &(PathBuf, _)| fs::symlink_metadata(path).is_ok();
        if let Some((path, trust)) = self.containai.clone().filter(is_there)
            && files.is_in_repository
            && self.sections.contains(&CONTAINMENT)
            && !is_replaced(CONTAINMENT)
        {
            containai = self.read_repositorys(&path, Dialect::Containai, trust, &mut used)?;
        }
        let mut peers = Layer::default();
        // Not even a mistake in a peer's file counts where all of it is replaced.
        if let Some(path) = &files.peers
            && ["check", "ai"]
                .iter()
                .any(|section| self.sections.contains(section) && !is_replaced(section))
        {
            let (layer, shown) = self.read(path, Dialect::Tally, Owner::Repository)?;
            peers = layer.without(&own.sections);
            self.restrict(&mut peers, Dialect::Tally, guard::Trust::OfTally);
            used.push(shown);
        }
        let layers =
            [&self.defaults, &self.user, &containai, &peers, &own, &self.environment, &self.flags];
        let (settings, warnings) = resolve(&layers, used);
        self.warn(warnings);
        Ok(Arc::new(settings))
    }

    /// What a repository's file says, as far as it may.
    fn read_repositorys(
        &mut self,
        path: &Path,
        dialect: Dialect,
        trust: guard::Trust,
        used: &mut Vec<Arc<Path>>,
    ) -> Result<Layer, ConfigError> {
        let (layer, shown) = if dialect == Dialect::Probity {
            self.read_with_extended(path, Owner::Repository)?
        } else {
            let (layer, shown) = self.read(path, dialect, Owner::Repository)?;
            (layer, vec![shown])
        };
        let mut layer = layer.only(self.sections);
        self.restrict(&mut layer, dialect, trust);
        used.extend(shown);
        Ok(layer)
    }

    /// Takes out what a repository may not say, and lets its paths begin at its file. Those of a file
    /// that the user named begin at the working directory.
    fn restrict(&mut self, layer: &mut Layer, dialect: Dialect, trust: guard::Trust) {
        let refused = guard::restrict(layer, &self.user, dialect, trust);
        self.warn(refused.iter().map(ToString::to_string));
        if !matches!(self.choice, Choice::This(_)) {
            guard::begin_at_files(layer);
        }
    }

    /// What a file says, and its path as messages show it. A file of hadolint is one by its ending.
    fn read(
        &mut self,
        path: &Path,
        dialect: Dialect,
        owner: Owner,
    ) -> Result<(Layer, Arc<Path>), ConfigError> {
        let shown = path.strip_prefix(&self.current).unwrap_or(path);
        let is_named = owner == Owner::User
            || matches!(&self.choice, Choice::This(named) if named.as_path() == path);
        let reach = if is_named { FileReach::Named } else { FileReach::Found };
        let place = self.current.join(path);
        let text = match self.open_texts.get(&place) {
            Some(text) => text.to_owned(),
            None => read_text(&place, shown, reach)?,
        };
        let (layer, warnings) = if dialect == Dialect::Tally && hadolint::is_hadolint_file(path) {
            let (said, mut warnings) = hadolint::read(shown, &text)?;
            let (layer, more) = said.layer(&self.catalogue, shown);
            warnings.extend(more);
            (layer, warnings)
        } else {
            let source = file::Source { dialect, owner, path: shown, text: &text };
            file::read(&self.catalogue, source)?
        };
        let shown = Arc::from(shown);
        self.warn(warnings.iter().map(Problem::to_string));
        Ok((layer, shown))
    }

    fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if self.said.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        }
    }
}

impl Sources<'static, env::VarsOs> {
    /// What this process was given; no file of containai is read.
    pub(crate) fn here(
        name: Name,
        sections: &'static [&'static str],
        current: &Path,
        flags: Layer,
    ) -> Self {
        Self {
            catalogue: Catalogue::shipped(),
            name,
            sections,
            choice: Choice::Nearest,
            current: current.to_owned(),
            defaults: Layer::default(),
            users_file: users_file(),
            containai: ContainaiFiles::default(),
            environment: env::vars_os(),
            flags,
        }
    }
}

/// The settings of one section in force for a directory; what is odd is said.
pub(crate) fn in_force(
    name: Name,
    sections: &'static [&'static str],
    directory: &Path,
    flags: Layer,
) -> Result<Arc<Settings>, ConfigError> {
    let current = env::current_dir().unwrap_or_default();
    let mut configs = Configs::new(Sources::here(name, sections, &current, flags))?;
    let settings = configs.for_directory(directory)?;
    for warning in configs.take_warnings() {
        tracing::warn!("{warning}");
    }
    Ok(settings)
}

/// The user's own file: `$XDG_CONFIG_HOME/probity/probity.toml`, or the same below `~/.config`.
pub(crate) fn users_file() -> Option<PathBuf> {
    Some(users_directory()?.join("probity/probity.toml"))
}

/// Where the user's configuration lies; a relative directory counts as unset, as XDG wants it.
pub(crate) fn users_directory() -> Option<PathBuf> {
    let absolute =
        |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))
}
