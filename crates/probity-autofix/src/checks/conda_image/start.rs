//! What the container starts, as whom and with which variables, once conda's wrappers are gone.

use probity_dockerfile::{CommandLine, Runtime, Setting, Value};

use super::{
    has_own_user,
    script::{called, without_activation, without_run},
};
use crate::checks::{Change, Check, Issue, commands::last_part};

/// Variables that a Python image may add.
const ADDED: &[&str] = &[
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_CACHE_DIR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "UV_COMPILE_BYTECODE",
    "UV_LINK_MODE",
    "UV_NO_CACHE",
    "UV_SYSTEM_PYTHON",
    "VIRTUAL_ENV",
];

pub(super) fn starts_the_same(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = (change.before.facts.final_runtime(), change.after.facts.final_runtime());
    let mut issues = Vec::new();
    for setting in [Setting::Entrypoint, Setting::Cmd] {
        if command(&old, setting) != command(&new, setting) {
            let message = format!(
                "{} must stay as it was, without `conda run` and without the activation of an environment",
                setting.name()
            );
            issues.push(change.issue(check, &message));
        }
    }
    let probe = |runtime: &Runtime| {
        let entry = runtime.get(Setting::Healthcheck).first()?;
        match &entry.entry.value {
            Value::Healthcheck(it) => {
                Some((it.options.clone(), it.command.as_ref().and_then(plain_command)))
            }
            _ => None,
        }
    };
    if probe(&old) != probe(&new) {
        issues.push(change.issue(check, "HEALTHCHECK must stay as it was, without `conda run`"));
    }
    let shell = |runtime: &Runtime| {
        let entry = runtime.get(Setting::Shell).first();
        entry.map(|entry| entry.entry.value.clone()).filter(|value| !mentions_conda(value))
    };
    if shell(&new).is_some() && shell(&old) != shell(&new) {
        issues.push(change.issue(check, "SHELL must stay as it was, or go with conda"));
    }
    if let Some(name) = other_variable(&old, &new) {
        let message = format!("the variable {name} must stay as it was");
        issues.push(change.issue(check, &message));
    }
    if let Some(message) = other_user(change, &old, &new) {
        issues.push(change.issue(check, message));
    }
    issues
}

fn mentions_conda(value: &Value) -> bool {
    let text = format!("{value:?}");
    text.contains("conda") || text.contains("mamba")
}

/// The words that are started, and whether a shell reads them.
fn command(runtime: &Runtime, setting: Setting) -> Option<(bool, Vec<String>)> {
    let entry = runtime.get(setting).first()?;
    match &entry.entry.value {
        Value::Command(command) => plain_command(command),
        _ => None,
    }
}

fn plain_command(command: &CommandLine) -> Option<(bool, Vec<String>)> {
    let (words, script) = match command {
        CommandLine::Exec(words) => match words.as_slice() {
            [shell, flag, script] if is_shell(shell) && matches!(flag.as_str(), "-c" | "-lc") => {
                (Vec::new(), Some(script.clone()))
            }
            [shell, login, flag, script] if is_shell(shell) && login == "-l" && flag == "-c" => {
                (Vec::new(), Some(script.clone()))
            }
            words => (words.to_vec(), None),
        },
        CommandLine::Shell { text, .. } => (Vec::new(), Some(text.to_string())),
    };
    let (mut words, is_read) = match script {
        Some(script) => {
            let script = without_activation(&script).to_owned();
            let is_read = script.contains(['$', '|', ';', '&', '>', '<', '*', '`', '"', '\'', '(']);
            (script.split_whitespace().map(str::to_owned).collect(), is_read)
        }
        None => (words, false),
    };
    words.retain(|word| word != "/usr/local/bin/_entrypoint.sh");
    if words.first().is_some_and(|word| word == "exec") {
        words.remove(0);
    }
    if let Some(rest) = without_run(&words.join(" ")) {
        let kept = rest.split(' ').filter(|part| !part.is_empty()).count();
        words = words.split_off(words.len().saturating_sub(kept));
        // Words with spaces are one word of the list and several of the text.
        while words.join(" ") != rest && !words.is_empty() {
            words.remove(0);
        }
    }
    let mut words = called(&words);
    // The environment on PATH is the same as its directory before the name.
    if let Some(program) = words.first_mut()
        && program.starts_with('/')
        && program.contains("/bin/")
        && !program.starts_with("/bin/")
        && !program.starts_with("/usr/bin/")
    {
        *program = last_part(program).to_owned();
    }
    if words.first().is_some_and(|word| word == "python3") {
        words = called(&words);
    }
    (!words.is_empty()).then_some((is_read, words))
}

fn is_shell(word: &str) -> bool {
    matches!(last_part(word), "sh" | "bash")
}

/// A variable that is neither the same as before nor about conda or the new environment.
fn other_variable(old: &Runtime, new: &Runtime) -> Option<String> {
    let pairs = |runtime: &Runtime| -> Vec<(String, String)> {
        let entries = runtime.get(Setting::Env).iter();
        entries.map(|entry| (entry.entry.key.clone(), entry.entry.to_string())).collect()
    };
    let (olds, news) = (pairs(old), pairs(new));
    let is_conda = |(key, text): &(String, String)| {
        key.starts_with("CONDA_") || key.starts_with("MAMBA_") || text.contains("conda")
    };
    let lost = olds.iter().find(|pair| !news.contains(pair) && !is_conda(pair) && pair.0 != "PATH");
    let more = news.iter().find(|(key, text)| {
        !olds.contains(&(key.clone(), text.clone()))
            && key != "PATH"
            && !ADDED.contains(&key.as_str())
    });
    let path = |runtime: &Runtime| -> Vec<String> {
        let entry = runtime.get(Setting::Env).iter().find(|setting| setting.entry.key == "PATH");
        match entry.map(|entry| &entry.entry.value) {
            Some(Value::Text(text)) => text.pattern().split(':').map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let is = path(new);
    let is_kept =
        |part: &String| part.starts_with('$') || part.contains("conda") || is.contains(part);
    let has_base = is.is_empty() || is.iter().any(|part| part.starts_with('$'));
    let path = (!path(old).iter().all(is_kept) || !has_base).then(|| "PATH".to_owned());
    lost.or(more).map(|(key, _)| key.clone()).or(path)
}

/// The images of micromamba do not start as root, and the container must not begin to.
fn other_user(change: &Change<'_>, old: &Runtime, new: &Runtime) -> Option<&'static str> {
    let user = |runtime: &Runtime| -> Option<String> {
        let entry = runtime.get(Setting::User).first()?;
        match &entry.entry.value {
            Value::Text(text) => Some(text.pattern().to_owned()),
            _ => None,
        }
    };
    let (was, is) = (user(old), user(new));
    let is_root = |user: &str| matches!(user.split(':').next(), Some("root" | "0"));
    if !has_own_user(change) {
        return (was != is).then_some("USER must stay as it was");
    }
    let was_root = was.as_deref().is_some_and(is_root);
    let now_root = is.as_deref().is_none_or(is_root);
    (was_root != now_root)
        .then_some("the image of micromamba does not start as root: create a user and set USER")
}
