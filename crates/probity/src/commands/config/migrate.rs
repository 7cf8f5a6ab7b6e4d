//! `config migrate`: one `probity.toml` that says what the files of other tools say here.
//!
//! A section is carried over whole or stays where it is: what is in force is the same before and
//! after.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use atomic_write_file::AtomicWriteFile;

use crate::{
    config::{
        Catalogue, Dialect, FileReach, Layer, Oddity, Owner, Value,
        error::Problem,
        file::{self, Source},
        guard::{self, Refused},
        hadolint, key, read_text, table, users_file,
    },
    exit::Exit,
    failure::Failure,
    streams,
};

/// Where the file goes.
#[derive(Debug)]
pub(crate) struct MigrateOptions {
    pub(crate) output: PathBuf,
    /// Print the file and write nothing.
    pub(crate) dry_run: bool,
    /// Replace a file that exists.
    pub(crate) force: bool,
}

pub(crate) fn run(options: &MigrateOptions) -> anyhow::Result<Exit> {
    let here = env::current_dir().context("cannot tell the working directory")?;
    let output = here.join(&options.output);
    if fs::symlink_metadata(&output).is_ok() && !options.force && !options.dry_run {
        let what = format!("{} exists already", options.output.display());
        return Err(
            Failure::new(what, "add --force to replace it, or name another with --output").into()
        );
    }
    let owner =
        if users_file().is_some_and(|own| own == output) { Owner::User } else { Owner::Repository };
    let mut migration =
        Migration { owner, layer: Layer::default(), read: Vec::new(), left: Vec::new() };
    migration.check(&here)?;
    migration.containment(&here)?;
    migration.without_keys(&here);
    let Migration { layer, read, left, .. } = migration;
    let text = layer.to_own_file();
    for reason in &left {
        tracing::warn!("{reason}");
    }
    if text.is_empty() {
        let what = "no file here has settings that probity.toml can contain";
        let names = ".tally.toml, tally.toml, .hadolint.yaml and .containai/config.toml";
        return Err(Failure::new(what, format!("run it in the directory of {names}")).into());
    }
    if options.dry_run {
        streams::stdout().for_programs().write_all(text.as_bytes())?;
        return Ok(Exit::Clean);
    }
    write(&output, &text).with_context(|| {
        let what = format!("cannot write {}", options.output.display());
        Failure::new(what, "name another file with --output")
    })?;
    writeln!(streams::stdout(), "wrote {} from {}", options.output.display(), read.join(", "))?;
    Ok(Exit::Clean)
}

struct Migration {
    owner: Owner,
    layer: Layer,
    /// The files whose settings were carried over.
    read: Vec<String>,
    /// What was not, and why.
    left: Vec<String>,
}

impl Migration {
    /// Whose the files of this directory are.
    fn reach(&self) -> FileReach {
        match self.owner {
            Owner::User => FileReach::Named,
            Owner::Repository => FileReach::Found,
        }
    }

    /// What `check` reads here: tally's file, or else hadolint's.
    fn check(&mut self, here: &Path) -> anyhow::Result<()> {
        let catalogue = Catalogue::shipped();
        let present =
            |names: [&'static str; 2]| names.into_iter().filter(|name| here.join(name).exists());
        let mut found = present([".tally.toml", "tally.toml"]).chain(present(hadolint::FILE_NAMES));
        let Some(name) = found.next() else { return Ok(()) };
        self.left.extend(found.map(|other| {
            format!("{other}: not read beside {name}, as `check` reads only one of them")
        }));
        let path = Path::new(name);
        let text = read_text(&here.join(name), path, self.reach())?;
        let (layer, warnings) = if hadolint::is_hadolint_file(path) {
            let (said, mut warnings) = hadolint::read(path, &text)?;
            if let Some(no_color) = &said.no_color {
                let message = "`no-color` has no key; use --no-color or NO_COLOR".to_owned();
                let (line, column) = (no_color.line, no_color.column);
                warnings.push(Problem::new(path, line, column, message));
            }
            let (layer, more) = said.layer(&catalogue, path);
            warnings.extend(more);
            (layer, warnings)
        } else {
            let owner = self.owner;
            file::read(&catalogue, Source { dialect: Dialect::Tally, owner, path, text: &text })?
        };
        self.left.extend(warnings.iter().map(ToString::to_string));
        let layer = self.without_unknown_rules(&catalogue, layer);
        self.take(name, Dialect::Tally, layer);
        Ok(())
    }

    fn containment(&mut self, here: &Path) -> anyhow::Result<()> {
        let name = ".containai/config.toml";
        if !here.join(name).exists() {
            return Ok(());
        }
        let (path, owner) = (Path::new(name), self.owner);
        let text = read_text(&here.join(name), path, self.reach())?;
        let source = Source { dialect: Dialect::Containai, owner, path, text: &text };
        let (layer, warnings) = file::read(&Catalogue::shipped(), source)?;
        self.left.extend(warnings.iter().map(ToString::to_string));
        self.take(name, Dialect::Containai, layer);
        Ok(())
    }

    /// Files that probity goes on reading where they are named, and that hold no settings of it.
    fn without_keys(&mut self, here: &Path) {
        for (name, why) in [
            (
                "trix.toml",
                "describes the project and has no settings; `probity audit` still reads it",
            ),
            (
                "review.yml",
                "has weights, categories and paths, which have no keys; pass it with `probity review \
                 --config review.yml`",
            ),
        ] {
            if here.join(name).exists() {
                self.left.push(format!("{name}: {why}"));
            }
        }
    }

    /// A name that no tool has chooses nothing, and our own file does not take it.
    fn without_unknown_rules(&mut self, catalogue: &Catalogue<'_>, mut layer: Layer) -> Layer {
        let is_mistake = |name: &str| {
            matches!(catalogue.oddity(name), Some(Oddity::Unknown(_) | Oddity::Unassigned(_)))
        };
        for key in [&key::check::rules::include.key, &key::check::rules::exclude.key] {
            let Some(setting) = layer.settings.get_mut(key.path) else { continue };
            let Value::List(names) = &mut setting.value else { continue };
            let (wrong, right) = names.drain(..).partition(|name| is_mistake(name));
            *names = right;
            let origin = &setting.origin;
            let said = |name: String| format!("{origin}: no rule has the name `{name}`");
            self.left.extend(Vec::into_iter(wrong).map(said));
        }
        layer.rules.retain(|name, options| {
            let is_kept = !is_mistake(name);
            if let (false, Some(option)) = (is_kept, options.values().next()) {
                self.left.push(format!("{}: no rule has the name `{name}`", option.origin));
            }
            is_kept
        });
        layer
    }

    /// Takes the sections of a file that can be carried over whole.
    fn take(&mut self, name: &str, dialect: Dialect, layer: Layer) {
        let mut allowed = layer.clone();
        if self.owner == Owner::Repository {
            let trust = guard::Trust::Never;
            let refused = guard::restrict(&mut allowed, &Layer::default(), dialect, trust);
            let is_whole = |section: &str| {
                let count = |layer: &Layer| {
                    let settings = layer.settings.keys().copied();
                    let paths = settings.chain(layer.tables.keys().map(|(path, _)| *path));
                    paths.filter(|path| path.split('.').next() == Some(section)).count()
                };
                count(&allowed) == count(&layer)
            };
            let stays: BTreeSet<&'static str> =
                table::SECTIONS.iter().copied().filter(|section| !is_whole(section)).collect();
            let not_moved = |Refused { origin, what, why }: &Refused| {
                format!("{origin}: {what} is not moved: {why}")
            };
            self.left.extend(refused.iter().map(not_moved));
            for section in &stays {
                self.left.push(format!(
                    "{name}: the settings of [{section}] stay there, since a repository's \
                     probity.toml may not have all of them"
                ));
            }
            allowed = allowed.without(&stays);
        }
        let is_empty =
            allowed.settings.is_empty() && allowed.rules.is_empty() && allowed.tables.is_empty();
        if !is_empty {
            self.read.push(name.to_owned());
        }
        self.layer.settings.extend(allowed.settings);
        self.layer.rules.extend(allowed.rules);
        self.layer.tables.extend(allowed.tables);
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = AtomicWriteFile::open(path)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}
