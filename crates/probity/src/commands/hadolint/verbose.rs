//! `--verbose`: the configuration that holds, as hadolint prints it.

use std::{
    fmt::{Display, Write as _},
    path::Path,
};

use super::settings::Settings;
use crate::config::word::Word as _;

pub(super) fn describe(settings: &Settings, file: Option<&Path>) -> String {
    let used = match file {
        Some(path) => format!("Configuration file used: {}", path.display()),
        None => "No configuration was specified. Using default configuration".to_owned(),
    };
    let mut out = format!("{used:?}\nConfiguration:\n");
    switch(&mut out, "no fail", settings.no_fail);
    switch(&mut out, "no color", settings.no_color);
    list(&mut out, "output format", settings.chosen_formats.iter().map(|format| format.word()));
    line(&mut out, &format!("  failure threshold: {}", settings.threshold.word()));
    for (severity, rules) in &settings.overrides {
        list(
            &mut out,
            &format!("override {severity}"),
            rules.iter().map(|rule| format!("{rule:?}")),
        );
    }
    list(&mut out, "override ignore", settings.ignored.iter().map(|code| format!("{code:?}")));
    switch(&mut out, "strict labels", settings.strict_labels);
    let labels = settings.labels.iter().map(|(name, kind)| format!("{name}: {}", kind.word()));
    list(&mut out, "label schema", labels);
    switch(&mut out, "disable ignore pragma", settings.disable_ignore_pragma);
    list(
        &mut out,
        "allowed registries",
        settings.registries.iter().map(|registry| format!("- {registry}")),
    );
    out
}

fn switch(out: &mut String, name: &str, is_on: bool) {
    line(out, &format!("  {name}: {}", if is_on { "True" } else { "False" }));
}

fn list(out: &mut String, name: &str, items: impl Iterator<Item = impl Display>) {
    line(out, &format!("  {name}:"));
    let before = out.len();
    for item in items {
        line(out, &format!("    - {item}"));
    }
    if out.len() == before {
        line(out, "    none");
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    _ = writeln!(out, "{text}");
}
