//! What hadolint's file says, in the words of the configuration of `check`.

use std::{path::Path, sync::Arc};

use probity_finding::Severity;
use probity_report as report;

use super::{Format, HadolintFile, Placed, Threshold};
use crate::config::{
    catalogue::{Catalogue, Known},
    error::Problem,
    key::{self, Typed},
    layer::Layer,
    setting::Setting,
    value::{Origin, Owner, Sourced, Value},
    words::FailLevel,
};

impl HadolintFile {
    /// The same as a layer. `no-color` has no key here, and `codacy` no format.
    pub(crate) fn layer(&self, catalogue: &Catalogue<'_>, path: &Path) -> (Layer, Vec<Problem>) {
        use key::check::output;

        let mut layer = Made { layer: Layer::default(), path: Arc::from(path) };
        let mut warnings = Vec::new();
        if let Some(threshold) = &self.failure_threshold {
            layer.set(&output::fail_level, threshold.line, &fail_level(threshold.value));
        }
        if let Some(Placed { value: true, line, .. }) = self.no_fail {
            layer.set(&output::fail_level, line, &FailLevel::None);
        }
        match self.format.as_ref().map(|format| (format, format_here(format.value))) {
            Some((format, Some(here))) => layer.set(&output::format, format.line, &here),
            Some((Placed { line, column, .. }, None)) => {
                let message = "`codacy` is a format of the name hadolint only".to_owned();
                warnings.push(Problem::new(path, *line, *column, message));
            }
            None => {}
        }
        if let Some(Placed { value: true, line, .. }) = self.disable_ignore_pragma {
            layer.set(&key::check::inline_directives::enabled, line, &false);
        }
        if let Some(first) = self.ignored.first() {
            let sourced = |name: &Placed<String>| Sourced {
                value: name.value.clone(),
                origin: layer.origin(first.line),
            };
            let names = self.ignored.iter().map(sourced).collect();
            layer.set(&key::check::rules::exclude, first.line, &names);
        }
        // Where several lists name a rule hadolint takes the most severe.
        let mut overrides: Vec<_> = self.overrides.iter().collect();
        overrides.sort_by_key(|(severity, _)| *severity);
        for (severity, rule) in overrides {
            layer.severity(catalogue, rule, *severity);
        }
        if let Some(first) = self.trusted_registries.first() {
            let names =
                self.trusted_registries.iter().map(|registry| registry.value.clone()).collect();
            layer.option("hadolint/DL3026", "trusted-registries", first.line, names);
        }
        self.label_options(&mut layer);
        (layer.layer, warnings)
    }

    fn label_options(&self, layer: &mut Made) {
        let Some(line) = self.labels.values().map(|kind| kind.line).min() else { return };
        let all: Vec<String> = self.labels.keys().cloned().collect();
        layer.option("hadolint/DL3049", "labels", line, all.clone());
        layer.option("hadolint/DL3051", "labels", line, all.clone());
        if self.strict_labels.as_ref().is_some_and(|strict| strict.value) {
            layer.option("hadolint/DL3050", "labels", line, all);
        }
        for (rule, labels) in self.labels_by_rule() {
            layer.option(rule, "labels", line, labels);
        }
    }

    /// The labels that each of the rules about values has to look at.
    fn labels_by_rule(&self) -> std::collections::BTreeMap<&'static str, Vec<String>> {
        let mut by_rule = std::collections::BTreeMap::<_, Vec<String>>::new();
        for (name, kind) in &self.labels {
            if let Some(rule) = kind.value.rule() {
                by_rule.entry(rule).or_default().push(name.clone());
            }
        }
        by_rule
    }
}

/// A layer in the making.
struct Made {
    layer: Layer,
    path: Arc<Path>,
}

impl Made {
    fn origin(&self, line: usize) -> Origin {
        Origin::File { path: Arc::clone(&self.path), line, owner: Owner::Repository }
    }

    fn set<T: Setting>(&mut self, key: &'static Typed<T>, line: usize, value: &T) {
        let origin = self.origin(line);
        self.layer.set(key, value, origin);
    }

    fn option(&mut self, rule: &str, option: &str, line: usize, names: Vec<String>) {
        let origin = self.origin(line);
        self.layer.insert_rule(rule, option, Value::List(names), origin);
    }

    fn severity(&mut self, catalogue: &Catalogue<'_>, rule: &Placed<String>, severity: Severity) {
        let codes = ["hadolint", "shellcheck"].map(|space| format!("{space}/{}", rule.value));
        let known = codes.iter().find_map(|code| match catalogue.find(code)? {
            Known::Here(rule) => Some(rule.name),
            Known::Elsewhere => None,
        });
        if let Some(name) = known {
            let value = Value::Text(severity.as_str().to_owned());
            let origin = self.origin(rule.line);
            self.layer.insert_rule(name, "severity", value, origin);
        }
    }
}

fn fail_level(threshold: Threshold) -> FailLevel {
    match threshold.least() {
        Severity::Error => FailLevel::Error,
        Severity::Warning => FailLevel::Warning,
        Severity::Info => FailLevel::Info,
        Severity::Style => FailLevel::Style,
    }
}

fn format_here(format: Format) -> Option<report::Format> {
    Some(match format {
        Format::Tty => report::Format::Text,
        Format::Json => report::Format::Json,
        Format::Checkstyle => report::Format::Checkstyle,
        Format::Codeclimate => report::Format::Codeclimate,
        Format::GitlabCodeclimate => report::Format::Gitlab,
        Format::Gnu => report::Format::Gnu,
        Format::Sonarqube => report::Format::Sonarqube,
        Format::Sarif => report::Format::Sarif,
        Format::Junit => report::Format::Junit,
        Format::Codacy => return None,
    })
}
