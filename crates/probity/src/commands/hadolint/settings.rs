//! What holds for a run: flags over variables over the file over the defaults; lists are joined.
//!
//! hadolint lets a variable beat `--format` and its file beat the variable for the threshold. Here the
//! order is the one that everybody expects, and its manual describes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use probity_finding::Severity;

use super::{Options, codes};
use crate::{
    config::{
        self, FileReach,
        hadolint::{Format, HadolintFile, LabelType, Threshold},
        word::Word,
    },
    exit::Exit,
    failure::Failure,
};

/// A label and what its value has to be; nothing after it means any text.
pub(crate) fn label(text: &str) -> Result<(String, LabelType), UnknownFormat> {
    let (name, format) = text.split_once(':').unwrap_or((text, "text"));
    let kind = LabelType::from_word(format).ok_or_else(|| UnknownFormat(format.to_owned()))?;
    Ok((name.to_owned(), kind))
}

/// A word after a label that is not one of the formats.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a label format; valid formats: {formats}", formats = LabelType::NAMES.join(", "))]
pub(crate) struct UnknownFormat(String);

/// Everything that a run depends on, beside its files.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) no_fail: bool,
    pub(super) no_color: bool,
    pub(super) verbose: bool,
    pub(super) strict_labels: bool,
    pub(super) disable_ignore_pragma: bool,
    /// None when nobody chose one.
    pub(super) chosen_formats: Vec<Format>,
    pub(super) threshold: Threshold,
    /// From the most severe on.
    pub(super) overrides: [(Severity, Vec<String>); 4],
    pub(super) ignored: Vec<String>,
    pub(super) labels: BTreeMap<String, LabelType>,
    pub(super) registries: Vec<String>,
}

impl Settings {
    pub(super) fn new(
        args: &Options,
        variable: impl Fn(&str) -> Option<String>,
        file: &HadolintFile,
    ) -> Self {
        let is_on = |name: &str| {
            let value = variable(name).unwrap_or_default().to_ascii_lowercase();
            matches!(value.as_str(), "1" | "y" | "yes" | "true" | "on")
        };
        let items = |name: &str| -> Vec<String> {
            let value = variable(name).unwrap_or_default();
            value
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let said = |switch: &Option<_>| matches!(switch, Some(it) if is_true(it));
        let joined = |name: &str, flags: &[String], file: Vec<String>| {
            let mut all = items(name);
            for item in flags.iter().cloned().chain(file) {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
            all
        };
        let overrides = Severity::ALL.map(|severity| {
            let flags = match severity {
                Severity::Error => &args.error,
                Severity::Warning => &args.warning,
                Severity::Info => &args.info,
                Severity::Style => &args.style,
            };
            let of_file = file.overrides.iter().filter(|(level, _)| *level == severity);
            let of_file = of_file.map(|(_, rule)| rule.value.clone()).collect();
            let name = format!("HADOLINT_OVERRIDE_{}", severity.as_str().to_ascii_uppercase());
            (severity, joined(&name, flags, of_file))
        });
        let values = |list: &[_]| list.iter().map(text).collect();
        let mut labels: BTreeMap<String, LabelType> =
            file.labels.iter().map(|(name, kind)| (name.clone(), kind.value)).collect();
        for item in items("HADOLINT_REQUIRE_LABELS") {
            match label(&item) {
                Ok((name, kind)) => _ = labels.insert(name, kind),
                Err(reason) => tracing::warn!("HADOLINT_REQUIRE_LABELS: {reason}"),
            }
        }
        labels.extend(args.require_label.iter().cloned());
        let format = word("HADOLINT_FORMAT", &variable);
        let threshold = word("HADOLINT_FAILURE_THRESHOLD", &variable);
        Self {
            no_fail: args.no_fail || is_on("HADOLINT_NOFAIL") || said(&file.no_fail),
            no_color: args.no_color || is_on("NO_COLOR") || said(&file.no_color),
            verbose: args.verbose || is_on("HADOLINT_VERBOSE"),
            strict_labels: args.strict_labels
                || is_on("HADOLINT_STRICT_LABELS")
                || said(&file.strict_labels),
            disable_ignore_pragma: args.disable_ignore_pragma
                || is_on("HADOLINT_DISABLE_IGNORE_PRAGMA")
                || said(&file.disable_ignore_pragma),
            chosen_formats: if args.format.is_empty() {
                format.or(file.format.as_ref().map(|it| it.value)).into_iter().collect()
            } else {
                args.format.clone()
            },
            threshold: args
                .failure_threshold
                .or(threshold)
                .or(file.failure_threshold.as_ref().map(|it| it.value))
                .unwrap_or(Threshold::Info),
            overrides,
            ignored: joined("HADOLINT_IGNORE", &args.ignore, values(&file.ignored)),
            labels,
            registries: joined(
                "HADOLINT_TRUSTED_REGISTRIES",
                &args.trusted_registry,
                values(&file.trusted_registries),
            ),
        }
    }

    /// The formats of the reports, at least one.
    pub(super) fn formats(&self) -> &[Format] {
        match self.chosen_formats.as_slice() {
            [] => &[Format::Tty],
            chosen => chosen,
        }
    }

    /// What a code is reported as; nothing where it is not reported.
    pub(super) fn severity(&self, code: &str, own: Severity) -> Option<Severity> {
        if self.ignored.iter().any(|ignored| ignored == code) {
            return None;
        }
        let names = |(_, codes): &&(Severity, Vec<String>)| codes.iter().any(|other| other == code);
        match self.overrides.iter().find(names) {
            Some((severity, _)) => Some(*severity),
            None => (!codes::is_quiet(code)).then_some(own),
        }
    }
}

type Placed<T> = config::hadolint::Placed<T>;

fn is_true(switch: &Placed<bool>) -> bool {
    switch.value
}

fn text(item: &Placed<String>) -> String {
    item.value.clone()
}

/// A word out of a closed choice; hadolint takes no notice of others, and here they are said to be odd.
fn word<T: Word>(name: &str, variable: impl Fn(&str) -> Option<String>) -> Option<T> {
    let value = variable(name).filter(|value| !value.is_empty())?;
    let found = T::from_word(&value);
    if found.is_none() {
        tracing::warn!("{name}: `{value}` is not a value that it can have; it is passed over");
    }
    found
}

/// The file that holds for a run, and what it says.
#[derive(Debug, Default)]
pub(super) struct ChosenFile {
    pub(super) path: Option<PathBuf>,
    pub(super) said: HadolintFile,
}

/// Reads the file that was asked for, or the first that there is. As with hadolint a file with a wrong
/// value does not stop the run, though here it is said aloud.
pub(super) fn find(args: &Options, directory: &Path) -> anyhow::Result<ChosenFile> {
    let path = match &args.config {
        Some(path) => Some(path.clone()),
        None => places(directory).into_iter().find(|path| path.is_file()),
    };
    let Some(path) = path else { return Ok(ChosenFile::default()) };
    // The other places are the user's own.
    let is_found = args.config.is_none() && path.parent() == Some(directory);
    let reach = if is_found { FileReach::Found } else { FileReach::Named };
    let text = config::read_text(&path, &path, reach).map_err(|error| {
        Failure::new(error.to_string(), "name another file with --config").with_exit(Exit::Findings)
    })?;
    let said = match config::hadolint::read(&path, &text) {
        Ok((said, warnings)) => {
            for warning in warnings {
                tracing::warn!("{warning}");
            }
            said
        }
        Err(error) => {
            tracing::error!("{error}\nprobity uses the defaults instead of {}", path.display());
            HadolintFile::default()
        }
    };
    Ok(ChosenFile { path: Some(path), said })
}

/// Where a file may be, the first one first.
fn places(directory: &Path) -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(PathBuf::from);
    let settings = match set("XDG_CONFIG_HOME") {
        Some(settings) => Some(PathBuf::from(settings)),
        None => home.as_ref().map(|home| home.join(".config")),
    };
    let mut stems = vec![directory.join(".hadolint")];
    stems.extend(settings.map(|settings| settings.join("hadolint")));
    for name in [".hadolint/hadolint", ".hadolint/config", ".hadolint"] {
        stems.extend(home.as_ref().map(|home| home.join(name)));
    }
    let ends = |stem: PathBuf| {
        ["yaml", "yml"].map(|end| {
            let mut path = stem.clone().into_os_string();
            path.push(format!(".{end}"));
            PathBuf::from(path)
        })
    };
    stems.into_iter().flat_map(ends).collect()
}
