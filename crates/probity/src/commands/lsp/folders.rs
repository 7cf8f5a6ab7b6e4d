//! The configuration that holds in each workspace folder, read once and forgotten when it changes.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use probity_check::{EditorRules, OpenTexts};
use probity_lsp::ConfigFile;

use super::config_file;
use crate::{
    commands::check::{check_options, configs_of},
    config::{Choice, Configs, FileReach, Layer, Settings, read_text},
    manual::Manual,
    name::Name,
};

/// What was read, by the folder that it holds in.
pub(super) struct Folders {
    name: Name,
    read: HashMap<PathBuf, Folder>,
    /// The rules that each document had last: they hold while its configuration is broken.
    last_good: HashMap<PathBuf, Arc<DocumentRules>>,
}

struct Folder {
    configs: Configs<'static>,
    /// By the address of the settings.
    made: HashMap<usize, Arc<DocumentRules>>,
    found: HashMap<PathBuf, FolderSettings>,
}

/// What one configuration makes of documents.
pub(super) struct DocumentRules {
    pub(super) editor: EditorRules,
    pub(super) manual: Manual,
    /// Says which agent is asked.
    pub(super) config: Arc<Settings>,
}

impl DocumentRules {
    fn new(name: Name, config: &Arc<Settings>) -> anyhow::Result<Self> {
        let editor = EditorRules::new(check_options(name, config))?;
        Ok(Self { editor, manual: Manual::of(name), config: Arc::clone(config) })
    }
}

/// What holds for one document.
#[derive(Clone, Default)]
pub(super) struct FolderSettings {
    pub(super) rules: Option<Arc<DocumentRules>>,
    pub(super) config_files: Vec<ConfigFile>,
    stamps: Vec<Stamp>,
}

/// A file that was there, as it was.
type Stamp = (PathBuf, Option<SystemTime>, u64);

impl Folders {
    pub(super) fn new(name: Name) -> Self {
        Self { name, read: HashMap::new(), last_good: HashMap::new() }
    }

    pub(super) fn forget(&mut self) {
        self.read.clear();
    }

    pub(super) fn rules_for(
        &mut self,
        directory: &Path,
        path: &Path,
        open_texts: &OpenTexts,
    ) -> FolderSettings {
        let stamps = stamps(path);
        let known = self.read.get(directory).and_then(|folder| folder.found.get(path));
        match known {
            Some(found) if found.stamps == stamps => return found.clone(),
            // Editors without file watchers say nothing about files, so the files are asked.
            Some(_) => self.forget(),
            None => {}
        }
        let found = FolderSettings { stamps, ..self.find(directory, path, open_texts) };
        if let Some(folder) = self.read.get_mut(directory) {
            folder.found.insert(path.to_owned(), found.clone());
        }
        found
    }

    fn find(&mut self, directory: &Path, path: &Path, open_texts: &OpenTexts) -> FolderSettings {
        let name = self.name;
        if !self.read.contains_key(directory) {
            // A broken file of the user's own holds for nobody; the rest still works.
            let configs =
                configs_of(name, Choice::Nearest, Layer::default(), directory).or_else(|error| {
                    tracing::error!("{error:#}");
                    configs_of(name, Choice::None, Layer::default(), directory)
                });
            let Ok(configs) = configs else { return FolderSettings::default() };
            let configs = configs.with_open_texts(open_texts.clone());
            let folder = Folder { configs, made: HashMap::new(), found: HashMap::new() };
            self.read.insert(directory.to_owned(), folder);
        }
        let Some(folder) = self.read.get_mut(directory) else { return FolderSettings::default() };
        let files = folder.configs.files_for(path);
        let config_files = files.iter().map(|file| problems_of(file, open_texts)).collect();
        let settings = folder.configs.for_target(path).map_err(|error| {
            tracing::warn!("{error}");
        });
        for warning in folder.configs.take_warnings() {
            tracing::warn!("{warning}");
        }
        let made = settings.ok().and_then(|settings| folder.rules(name, settings));
        let rules = match made {
            Some(rules) => {
                self.last_good.insert(path.to_owned(), Arc::clone(&rules));
                Some(rules)
            }
            None => self.last_good.get(path).cloned().or_else(|| {
                let settings = folder.configs.without_file().ok()?;
                folder.rules(name, settings)
            }),
        };
        FolderSettings { rules, config_files, stamps: Vec::new() }
    }
}

impl Folder {
    fn rules(&mut self, name: Name, settings: Arc<Settings>) -> Option<Arc<DocumentRules>> {
        if let Some(rules) = self.made.get(&Arc::as_ptr(&settings).addr()) {
            return Some(Arc::clone(rules));
        }
        let rules = DocumentRules::new(name, &settings)
            .inspect_err(|error| tracing::error!("{error:#}"))
            .ok()?;
        let rules = Arc::new(rules);
        // The settings live as long as `configs`, so that their address means nothing else.
        self.made.insert(Arc::as_ptr(&settings).addr(), Arc::clone(&rules));
        Some(rules)
    }
}

fn problems_of(file: &Path, open_texts: &OpenTexts) -> ConfigFile {
    let problems = match open_texts.get(file) {
        Some(text) => config_file::problems(file, text),
        None => match read_text(file, file, FileReach::Found) {
            Ok(text) => config_file::problems(file, &text),
            Err(error) => config_file::of_error(&error),
        },
    };
    ConfigFile { path: file.to_owned(), problems }
}

/// The configuration files that there are from a document's directory upward.
fn stamps(path: &Path) -> Vec<Stamp> {
    let directories = path.parent().into_iter().flat_map(Path::ancestors);
    let files = directories
        .flat_map(|directory| config_file::NAMES.iter().map(|name| directory.join(name)));
    files
        .filter_map(|file| {
            let metadata = fs::symlink_metadata(&file).ok()?;
            Some((file, metadata.modified().ok(), metadata.len()))
        })
        .collect()
}
