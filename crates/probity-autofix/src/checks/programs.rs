//! The programs that the container starts: each has to be where the final stage looks for programs.

use std::collections::BTreeSet;

use probity_dockerfile::{Action, Arguments, CommandLine, Instruction, Keyword, Setting, Value};
use probity_shell::{Dialect, Invocation, Script};

use super::{
    Change, View,
    additions::ACCOUNTS,
    base_image::base,
    belongings::{command_words, covers, final_chain, is_within},
    commands,
    image_kind::ImageKind,
    moved::copied,
    search_path::{self, is_on_path},
    steps::absolute,
};

/// What every image with a shell has.
const USUAL: &[&str] = &[
    "sh", "bash", "cat", "cd", "echo", "env", "exec", "false", "ls", "sleep", "tail", "test",
    "true",
];

/// Languages, and the programs that their images bring.
const PROVIDED: &[(&str, &[&str])] = &[
    ("python", &["python", "python3", "pip"]),
    ("node", &["node", "npm", "npx", "yarn"]),
    ("ruby", &["ruby", "bundle", "gem", "rake"]),
    ("php", &["php", "php-fpm", "apache2-foreground"]),
    ("httpd", &["httpd-foreground"]),
    ("golang", &["go"]),
    ("rust", &["cargo"]),
    ("java", &["java"]),
    ("openjdk", &["java"]),
    ("temurin", &["java"]),
    ("corretto", &["java"]),
    ("tomcat", &["java", "catalina.sh"]),
    ("maven", &["java", "mvn"]),
    ("gradle", &["java", "gradle"]),
    ("aspnet", &["dotnet"]),
    ("runtime", &["dotnet"]),
    ("sdk", &["dotnet"]),
];

/// Commands whose words name users and groups.
const OWNERS: &[&str] = &["chown", "chgrp", "usermod", "setcap"];

/// Programs that package managers of languages put on the search path.
const OF_PACKAGES: &[&str] = &[
    "airflow",
    "alembic",
    "celery",
    "daphne",
    "flask",
    "gunicorn",
    "hypercorn",
    "mlflow",
    "pm2",
    "pnpm",
    "puma",
    "rackup",
    "sidekiq",
    "streamlit",
    "unicorn",
    "uvicorn",
    "uwsgi",
    "waitress-serve",
];

/// Programs that the container starts, and that nothing shows to be in the final stage.
pub(super) fn missing(change: &Change<'_>) -> BTreeSet<String> {
    let before = change.before;
    let started =
        bare_program(before).into_iter().chain(own_programs(before)).chain(called(before));
    started.filter(|program| !is_there(change, program)).collect()
}

/// Programs of packages that a shell or the health check of the container calls, or that its script gets
/// to start.
fn called(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let command = |setting| match &runtime.get(setting).first()?.entry.value {
        Value::Command(command) => Some(command),
        _ => None,
    };
    let health = match runtime.get(Setting::Healthcheck).first().map(|setting| &setting.entry.value)
    {
        Some(Value::Healthcheck(check)) => check.command.as_ref(),
        _ => None,
    };
    let lines = [command(Setting::Entrypoint), command(Setting::Cmd), health];
    let scripts = lines.into_iter().flatten();
    let scripts = scripts.map(|line| match line {
        CommandLine::Exec(words) => quoted(words),
        CommandLine::Shell { text, .. } => text.to_string(),
    });
    let mut names = Vec::new();
    for script in scripts {
        collect(&probity_shell::parse(&script, 0, Invocation::plain(Dialect::Bash)), &mut names);
    }
    let installed = commands::installed(view);
    names.retain(|name| OF_PACKAGES.contains(&name.as_str()) || installed.contains(name));
    names
}

/// The words as a script whose command has just these.
fn quoted(words: &[String]) -> String {
    let words = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    words.collect::<Vec<_>>().join(" ")
}

fn collect(script: &Script, names: &mut Vec<String>) {
    let calls = script.all_commands().iter().map(|command| command.effective());
    names.extend(calls.filter_map(|call| call.name().map(|name| name.into_owned())));
    script.inner().iter().for_each(|inner| collect(inner, names));
}

/// Programs that the original builds or copies, and that its health check or a script starts by name.
fn own_programs(view: &View<'_>) -> Vec<String> {
    let first = command_words(view).into_iter().filter_map(|word| word.into_iter().next());
    let is_bare = |program: &String| !program.is_empty() && !program.contains(['/', '$']);
    first.filter(is_bare).filter(|program| is_own(view, program)).collect()
}

/// Whether a build or a COPY of a file names a program.
fn is_own(view: &View<'_>, program: &str) -> bool {
    let builds =
        view.all_called().filter(|call| call.is_build() || call.is_any(&["cp", "mv", "install"]));
    let mut words = builds.flat_map(|build| &build.words);
    let copies = |instruction: &Instruction| match &instruction.arguments {
        Arguments::Transfer { destination: Some(place), .. } => {
            commands::last_part(&place.text) == program
        }
        _ => false,
    };
    words.any(|word| commands::last_part(word) == program)
        || view.file.instructions.iter().any(copies)
}

pub(super) fn words_of(command: &CommandLine) -> Vec<String> {
    match command {
        CommandLine::Exec(words) => words.clone(),
        CommandLine::Shell { text, .. } => {
            let words = text.split_whitespace();
            words.map(|word| word.trim_matches(['"', '\'', ';']).to_owned()).collect()
        }
    }
}

/// The program that is looked for in the search path.
pub(super) fn bare_program(view: &View<'_>) -> Option<String> {
    let runtime = view.facts.final_runtime();
    let first = runtime.get(Setting::Entrypoint).first().or(runtime.get(Setting::Cmd).first())?;
    let Value::Command(command) = &first.entry.value else { return None };
    let mut words = words_of(command).into_iter();
    let program = words.find(|word| word != "exec")?;
    let is_plain =
        program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (is_plain && !USUAL.contains(&program.as_str())).then_some(program)
}

/// Whether a program that only hands on signals starts one that is looked for in the search path.
pub(super) fn is_wrapped(view: &View<'_>) -> bool {
    const WRAPPERS: &[&str] = &["catatonit", "dumb-init", "tini"];
    let runtime = view.facts.final_runtime();
    let entries =
        [Setting::Entrypoint, Setting::Cmd].into_iter().flat_map(|setting| runtime.get(setting));
    let mut words = entries.flat_map(|entry| match &entry.entry.value {
        Value::Command(command) => words_of(command),
        _ => Vec::new(),
    });
    words.next().is_some_and(|word| WRAPPERS.contains(&commands::last_part(&word)))
        && words.find(|word| !word.starts_with('-')).is_some_and(|word| !word.contains('/'))
}

/// Whether the final stage has a program: by its image, by a copy, or by an install.
fn is_there(change: &Change<'_>, program: &str) -> bool {
    let (before, after) = (base(change.before), base(change.after));
    let provides = |image: &str| {
        let Some(kind) = ImageKind::of(image) else { return true };
        let is_variant = match program {
            "apache2-foreground" => kind.tag.contains("apache"),
            "php-fpm" => kind.tag.contains("fpm"),
            _ => true,
        };
        let name = &kind.name;
        let mut known = PROVIDED.iter().filter(|(image, _)| match *image {
            "runtime" => name == "runtime",
            image => name.contains(image),
        });
        is_variant
            && (known.any(|(_, programs)| programs.contains(&program)) || program.starts_with(name))
    };
    // What the original's image is not known to bring may come from anywhere in it.
    let is_images_own = before.as_deref().is_some_and(provides);
    let Some(after) = after else { return true };
    if provides(&after) {
        return true;
    }
    final_chain(change.after).into_iter().any(|index| {
        let Some(instruction) = change.after.file.instructions.get(index) else { return false };
        let copies = copied(change, index, instruction).is_some_and(|sources| {
            sources.iter().any(|source| {
                let source = source.trim_end_matches('/');
                let (directory, name) = source.rsplit_once('/').unwrap_or(("", source));
                let is_placed =
                    is_on_path(change.after, directory) && !is_named(instruction, source);
                (name == program && (is_placed || is_reached(change, index, instruction, program)))
                    || (!is_images_own && is_programs_place(change.after, source))
            })
        });
        let calls = change.after.facts.package_calls(&change.after.file, index);
        let installs = calls.iter().any(|call| {
            let is_library = |name: &String| {
                let usual = ["ca-certificates", "tzdata", "curl", "wget", "zlib1g"];
                name.starts_with("lib") || usual.contains(&name.as_str())
            };
            let is_more = !commands::names(call).iter().all(is_library);
            let is_named = commands::names(call).iter().any(|name| {
                let is_of_gettext = program == "envsubst" && name.starts_with("gettext");
                name.contains(program) || program.contains(name.as_str()) || is_of_gettext
            });
            let is_old = change.before.position(change.after.written_as(instruction)).is_some();
            call.action == Action::Install
                && (commands::is_language_manager(call.manager)
                    || is_named
                    || (is_more && is_old && !OF_PACKAGES.contains(&program)))
        });
        let mentions = change.after.called(index).iter().any(|called| {
            // An account, or the owner of a file, may have the name of the program.
            let is_account = called.is_any(ACCOUNTS) || called.is_any(OWNERS);
            !is_account
                && (called.name == program || called.words.iter().any(|word| names(word, program)))
        });
        let transfers = matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
            && instruction.flag_value("from").is_none()
            && puts_on_path(change.after, index, instruction, program);
        copies || mentions || (installs && !is_images_own) || transfers
    })
}

/// Whether a word of a command names a program: itself, a path to it, or a package with a version.
fn names(word: &str, program: &str) -> bool {
    let mut parts = word
        .split(|character: char| !character.is_ascii_alphanumeric() && !"_-.".contains(character));
    parts.any(|part| part == program)
}

/// Whether a COPY itself names a path as its source.
fn is_named(it: &Instruction, path: &str) -> bool {
    let Arguments::Transfer { sources, .. } = &it.arguments else { return false };
    sources.iter().any(|source| source.text.trim_end_matches('/') == path)
}

/// Whether a COPY of the build context may put a program on the search path.
fn puts_on_path(view: &View<'_>, index: usize, it: &Instruction, program: &str) -> bool {
    let directories =
        ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
    directories.iter().any(|directory| covers(view, index, it, &format!("{directory}/{program}")))
}

/// A directory on the search path, or one that may hold such a directory.
fn is_programs_place(view: &View<'_>, path: &str) -> bool {
    let below = ["", "/bin", "/sbin"];
    below.iter().any(|directory| is_on_path(view, &format!("{path}{directory}")))
        || search_path::named(view).iter().any(|directory| is_within(directory, path))
}

/// Whether a copied program ends up on the search path.
fn is_reached(change: &Change<'_>, index: usize, it: &Instruction, program: &str) -> bool {
    let Arguments::Transfer { destination: Some(destination), .. } = &it.arguments else {
        return false;
    };
    let state = change.after.facts.state(index);
    let workdir = state.and_then(|state| state.workdir.path.as_deref());
    let Some(target) = absolute(&destination.text, workdir.or(Some("/"))) else { return false };
    let directory = match target.strip_suffix('/') {
        Some(directory) => directory,
        None => target.strip_suffix(&format!("/{program}")).unwrap_or_default(),
    };
    is_on_path(change.after, directory)
}
