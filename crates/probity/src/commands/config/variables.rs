//! Every environment variable: those of keys, from the table of settings, and the others.

use std::{fmt::Write as _, io::Write as _};

use crate::{
    config::{key::Key, table},
    exit::Exit,
    name::Name,
    screen, streams,
};

pub(crate) fn run(markdown: bool) -> anyhow::Result<Exit> {
    if markdown {
        streams::stdout().for_programs().write_all(markdown_page().as_bytes())?;
    } else {
        screen::print(&list())?;
    }
    Ok(Exit::Clean)
}

/// Variables that set no key.
const OTHERS: &[(&str, &str)] = &[
    ("PROBITY_LOG", "Log filter, as tracing-subscriber reads it"),
    ("PROBITY_DOCS_URL", "URL of a documentation site, for links to rule pages"),
    ("COLUMNS", "Width of text output in columns [default: the width of the terminal]"),
    ("NO_COLOR", "Do not use colors if it is not empty"),
    ("FORCE_COLOR, CLICOLOR_FORCE", "Use colors even if the output is not a terminal"),
    ("CLICOLOR", "Do not use colors if it is 0"),
    ("XDG_CONFIG_HOME", "Directory of your own configuration files [default: ~/.config]"),
    (
        "XDG_STATE_HOME",
        "Directory of agent homes, sessions, trust and history [default: ~/.local/state]",
    ),
    ("XDG_CACHE_HOME", "Directory of caches of proofs and registries [default: ~/.cache]"),
    ("HOME", "Home directory, for the defaults above and for login files"),
    ("PATH", "Directories in which probity looks for agents, engines and test runners"),
    ("TMPDIR", "Directory of temporary copies"),
    (
        "TALLY_NO_INLINE_DIRECTIVES",
        "If true, the same as `check.inline-directives.enabled = false`",
    ),
    ("TALLY_RULES_RULE_OPTION", "Option of a rule, such as TALLY_RULES_MAX_LINES_MAX"),
    (
        "PROBITY_CHECK__RULES_RULE_OPTION",
        "Option of a rule, such as PROBITY_CHECK__RULES_MAX_LINES_MAX",
    ),
    ("HADOLINT_*", "Settings under the name hadolint, as hadolint documents them"),
    ("REPO_DIR", "Repository under the name ci-agent-review [default: repo]"),
    ("GITHUB_ACTIONS", "If `true`, a review prints annotations"),
    ("GITHUB_STEP_SUMMARY", "File to which a review appends its Markdown report"),
    ("CAI_ACP_TEST_MODE", "If 1, `acp` accepts any agent name and runs `NAME --acp`"),
    ("CAI_ACP_DIRECT_SPAWN", "If 1, `acp` starts agents without a container"),
    ("CAI_HOST_WORKSPACE", "probity sets it inside a sandbox: path of the workspace on the host"),
    ("CAI_NO_UPDATE_CHECK", "probity sets it to 1 for the agents of `acp`"),
    (
        "OPENAI_API_KEY, ANTHROPIC_API_KEY",
        "API key of the provider, unless `audit.api-key-env` names another variable",
    ),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "Proxy for requests to providers and registries"),
    (
        "CI",
        "If set, `--slow-checks=auto` asks no registry; variables of known CI services count, too",
    ),
    (
        "DOCKER_DEFAULT_PLATFORM",
        "Platform of builds, for `--slow-checks` [default: linux, this CPU]",
    ),
    ("DOCKER_CONFIG", "Directory of docker's login file [default: ~/.docker]"),
    ("REGISTRY_AUTH_FILE", "Login file of podman [default: $XDG_RUNTIME_DIR/containers/auth.json]"),
    (
        "SSL_CERT_FILE",
        "Certificates of a private authority, for requests to providers and registries",
    ),
];

/// The names under which a key's variables are read.
const NAMES: [Name; 2] = [Name::Probity, Name::CiAgentReview];

/// Each variable once, with the name of the tool where only that reads it.
fn variables(key: &Key) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &'static str)> = Vec::new();
    for name in NAMES {
        for variable in key.variables(name) {
            if all.iter().all(|(known, _)| *known != variable) {
                let only = if name == Name::Probity { "" } else { name.as_str() };
                all.push((variable, only));
            }
        }
    }
    all
}

/// The key in `probity.toml`, or the flag of a setting that no file may contain.
fn setting(key: &Key) -> String {
    match key.flag {
        Some(flag) if !key.in_file => format!("--{}", flag.long),
        _ => key.path.to_owned(),
    }
}

fn list() -> String {
    let mut page = String::new();
    for key in table::keys() {
        for (variable, only) in variables(key) {
            let only = if only.is_empty() { String::new() } else { format!(" (only {only})") };
            let (setting, doc) = (setting(key), key.doc());
            let default = key.default_text();
            let default =
                if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
            // Writing to a string cannot fail.
            _ = writeln!(page, "{variable:<52} {setting:<38}  {doc}{default}{only}");
        }
    }
    _ = writeln!(page);
    for (name, about) in OTHERS {
        _ = writeln!(page, "{name:<52} {:<38}  {about}", "");
    }
    page
}

fn markdown_page() -> String {
    let mut page = String::from(
        "# Environment variables\n\n<!-- Generated by `cargo xtask docs`; edit the table of settings \
         instead. -->\n\nA variable with an empty value counts as unset. Flags win over \
         variables, and variables win over files.\n",
    );
    for section in table::SECTIONS {
        _ = write!(
            page,
            "\n## `[{section}]`\n\n| variable | key or flag | default | meaning |\n|---|---|---|---|\n"
        );
        for key in table::keys().filter(|key| key.section() == *section) {
            for (variable, only) in variables(key) {
                let only = match only {
                    "" => String::new(),
                    only => format!(" (only under the name {only})"),
                };
                let default = match key.default_text() {
                    default if default.is_empty() => "none".to_owned(),
                    default => format!("`{default}`"),
                };
                let doc = key.doc().replace('|', "\\|");
                let setting = setting(key);
                _ = writeln!(page, "| `{variable}` | `{setting}` | {default} | {doc}{only} |");
            }
        }
    }
    page.push_str("\n## Other variables\n\n| variable | meaning |\n|---|---|\n");
    for (name, about) in OTHERS {
        let names = name.replace(", ", "`, `");
        _ = writeln!(page, "| `{names}` | {about} |");
    }
    page
}
