//! Variables that a step of the original reads are set where the proposal runs it.

use std::collections::BTreeSet;

use probity_dockerfile::{
    Action, Arguments, Instruction, Keyword, Manager, PackageCall, VariableKind,
};

use super::{
    Change, Check, Issue, View,
    commands::{Called, Segment},
    steps::forms::stand_ins,
};

pub(crate) const VARIABLES_KEPT: Check = Check::new("variables-kept", variables_kept).heuristic();

/// Variables that decide what compilers and package managers make without being named; those that
/// end in `_` are beginnings. What only a run time reads is not among them.
const READ_BY_TOOLS: &[&str] = &[
    "BUNDLE_",
    "CARGO_",
    "CC",
    "CFLAGS",
    "CGO_",
    "CI",
    "CXX",
    "CXXFLAGS",
    "DJANGO_",
    "GOAMD64",
    "GOARCH",
    "GOARM",
    "GOBIN",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOOS",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "LDFLAGS",
    "MAVEN_ARGS",
    "MIX_ENV",
    "NEXT_",
    "NODE_OPTIONS",
    "NPM_CONFIG_",
    "NUXT_",
    "PUBLIC_",
    "RAILS_ENV",
    "REACT_APP_",
    "RUSTFLAGS",
    "SQLX_",
    "VITE_",
    "VUE_APP_",
];

/// Variables that decide from where, to where and how packages are installed.
const READ_BY_INSTALLS: &[&str] = &[
    "BUNDLE_BUILD_",
    "BUNDLE_DEPLOYMENT",
    "BUNDLE_FORCE_RUBY_PLATFORM",
    "BUNDLE_GEMFILE",
    "BUNDLE_PATH",
    "NPM_CONFIG_REGISTRY",
    "PIP_CONSTRAINT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "PIP_NO_BINARY",
    "PIP_PREFIX",
    "PIP_TARGET",
    "PLAYWRIGHT_BROWSERS_PATH",
    "POETRY_VIRTUALENVS_",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX_URL",
    "UV_PROJECT_ENVIRONMENT",
    "npm_config_",
];

/// Beginnings of variables that only the tools of one language read.
const OF_LANGUAGES: &[(&[&str], &[&str])] = &[
    (&["GO", "CGO_"], &["go"]),
    (&["CARGO_", "RUSTFLAGS", "SQLX_"], &["cargo", "rustc", "maturin", "pip", "uv"]),
    (&["MAVEN_ARGS", "JAVA_HOME"], &["mvn", "mvnw", "gradle", "gradlew", "javac"]),
    (
        &[
            "NEXT_",
            "NODE_OPTIONS",
            "NPM_CONFIG_",
            "NUXT_",
            "PUBLIC_",
            "REACT_APP_",
            "VITE_",
            "VUE_",
        ],
        &["npm", "npx", "yarn", "pnpm", "node", "bundle", "rails", "rake"],
    ),
    (&["BUNDLE_", "RAILS_ENV"], &["bundle", "rails", "rake", "npm", "yarn"]),
    (&["DJANGO_"], &["python", "python3", "pip"]),
];

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|entry| name == *entry || (entry.ends_with('_') && name.starts_with(entry)))
}

/// Whether a build with these commands may read a variable that it does not name.
fn is_read_by_tools(called: &[Called], name: &str) -> bool {
    let is_known = is_one_of(READ_BY_TOOLS, name);
    let language =
        OF_LANGUAGES.iter().find(|(names, _)| names.iter().any(|prefix| name.starts_with(prefix)));
    is_known
        && language.is_none_or(|(_, tools)| {
            called.iter().any(|call| call.is_any(tools) || !call.is_any(KNOWN_TOOLS))
        })
}

/// Tools of languages; anything else may call any of them.
const KNOWN_TOOLS: &[&str] = &[
    "cargo", "composer", "dotnet", "go", "gradle", "gradlew", "mvn", "mvnw", "npm", "npx", "php",
    "pip", "pnpm", "yarn",
];

fn variables_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (before, after) = (change.before, change.after);
    let unnamed = unnamed_arguments(before);
    let mut issues = Vec::new();
    for index in 0..after.file.instructions.len() {
        let Some(instruction) = after.file.instructions.get(index) else { continue };
        let unset = unset_in_same(check, change, index);
        if unset.is_some() || instruction.keyword != Keyword::Run {
            issues.extend(unset);
            continue;
        }
        let called = after.called(index);
        let is_build = called.iter().any(Called::is_build);
        let installs = called.iter().any(|call| {
            call.is_any(&[
                "bundle",
                "npm",
                "npx",
                "pip",
                "pip3",
                "playwright",
                "pnpm",
                "poetry",
                "uv",
                "yarn",
            ])
        });
        for part in after.parts(index).unwrap_or_default() {
            let Some(old) = place_of(change, part) else { continue };
            let now = after.facts.scope(index);
            let lost = before.facts.scope(old).variables().into_iter().find(|variable| {
                let name = variable.name.as_str();
                let is_named = names(&part.text, name);
                let is_read = match variable.kind {
                    VariableKind::Arg => is_named || (is_build && unnamed.contains(name)),
                    VariableKind::Env => {
                        is_named
                            || (is_build && is_read_by_tools(called, name))
                            || (installs && is_one_of(READ_BY_INSTALLS, name))
                    }
                    VariableKind::Predefined => false,
                };
                let is_given = || part.text.contains(&format!("{name}=")) && !is_named;
                let is_same = || now.get(name).is_some_and(|other| other.value == variable.value);
                is_read && !is_given() && !is_same() && name != "PATH"
            });
            if let Some(variable) = lost {
                let message = format!(
                    "this step of the original reads `{}`, which its stage does not set to the \
                     same value",
                    variable.name
                );
                issues.push(change.issue(check, &message).at(after, instruction.span));
            }
            if let Some(name) = loaded_too_early(change, index, old) {
                let message = format!(
                    "`{name}` names a file for this step, which ran without it in the original"
                );
                issues.push(change.issue(check, &message).at(after, instruction.span));
            }
            if installs_for_development(part)
                && is_production(after, index)
                && !is_production(before, old)
            {
                let message = "`NODE_ENV` is `production` here, unlike in the original, so this step \
                               leaves out the packages for development";
                issues.push(change.issue(check, message).at(after, instruction.span));
            }
        }
    }
    issues
}

/// A step as the original has it that names a variable which its new stage does not set to the same value.
fn unset_in_same(check: &Check, change: &Change<'_>, index: usize) -> Option<Issue> {
    let (before, after) = (change.before, change.after);
    let steps = [Keyword::Add, Keyword::Copy, Keyword::Run];
    let instruction = after.file.instructions.get(index)?;
    if !steps.contains(&instruction.keyword) {
        return None;
    }
    let text = after.written_as(instruction);
    let old = before.position(text)?;
    let now = after.facts.scope(index);
    let lost = before.facts.scope(old).variables().into_iter().find(|variable| {
        let name = variable.name.as_str();
        names(text, name) && now.get(name).is_none_or(|other| other.value != variable.value)
    })?;
    let message = format!(
        "this step of the original reads `{}`, which its stage does not set to the same value",
        lost.name
    );
    Some(change.issue(check, &message).at(after, instruction.span))
}

/// Whether a text has `$VARIABLE` or `${VARIABLE`, perhaps as the beginning of a longer name.
fn names(text: &str, variable: &str) -> bool {
    let mut rests = text.split('$').skip(1);
    rests.any(|rest| rest.strip_prefix('{').unwrap_or(rest).starts_with(variable))
}

/// Arguments that no instruction names, so that one has to guess which tool reads them.
fn unnamed_arguments<'v>(view: &'v View<'_>) -> BTreeSet<&'v str> {
    let arguments =
        view.file.instructions.iter().filter(|instruction| instruction.keyword == Keyword::Arg);
    let names_of = |instruction: &'v Instruction| match &instruction.arguments {
        Arguments::Pairs { pairs, .. } => pairs.iter().map(|pair| pair.key.text.as_str()).collect(),
        _ => Vec::new(),
    };
    let all = arguments.flat_map(names_of);
    all.filter(|name| *name != "DEBIAN_FRONTEND" && !names(view.text, name)).collect()
}

/// A variable that makes every program load a file, and that the step of the original did not have.
fn loaded_too_early(change: &Change<'_>, now: usize, old: usize) -> Option<&'static str> {
    const LOADERS: &[&str] =
        &["BASH_ENV", "JAVA_TOOL_OPTIONS", "LD_PRELOAD", "NODE_OPTIONS", "PYTHONHOME", "RUBYOPT"];
    let (now, old) = (change.after.facts.scope(now), change.before.facts.scope(old));
    LOADERS.iter().copied().find(|name| {
        let value =
            now.get(name).and_then(|variable| variable.value.as_deref()).unwrap_or_default();
        value.contains('/') && old.get(name).is_none()
    })
}

/// Whether a part installs packages of Node.js without saying which groups of them.
fn installs_for_development(part: &Segment) -> bool {
    let is_open = !["dev", "prod"].iter().any(|word| part.text.contains(word));
    let is_install = |call: &PackageCall| {
        matches!(call.manager, Manager::Npm | Manager::Yarn | Manager::Pnpm)
            && call.action == Action::Install
    };
    is_open && part.calls.iter().any(is_install)
}

fn is_production(view: &View<'_>, index: usize) -> bool {
    let scope = view.facts.scope(index);
    scope.get("NODE_ENV").is_some_and(|variable| variable.value.as_deref() == Some("production"))
}

/// The RUN of the original that has a part, perhaps with another place for its output.
fn place_of(change: &Change<'_>, part: &Segment) -> Option<usize> {
    let olds = change.before.forms();
    stand_ins(change.before, part).iter().filter_map(|text| olds.get(text)).min().copied()
}
