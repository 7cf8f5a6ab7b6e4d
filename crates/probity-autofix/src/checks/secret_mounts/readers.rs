//! The commands that read a secret variable, as far as the text shows.

use std::collections::BTreeSet;

use probity_dockerfile::{Keyword, TokenKind};

use super::{declared, run::is_word_in};
use crate::checks::{View, commands::Called, steps::written};

/// Words in the names of variables, and the package managers that read those.
const FAMILIES: &[(&[&str], &[&str])] = &[
    (&["npm", "node", "yarn", "pnpm"], &["npm", "yarn", "pnpm"]),
    (
        &["pip", "pypi", "poetry", "uv", "pipenv"],
        &["pip", "pip3", "poetry", "uv", "pipenv", "python", "python3"],
    ),
    (&["bundle", "bundler", "gem", "gems", "rubygems"], &["bundle", "gem"]),
    (&["composer", "packagist"], &["composer"]),
    (&["cargo"], &["cargo"]),
    (&["maven", "mvn"], &["mvn", "mvnw"]),
    (&["gradle"], &["gradle", "gradlew"]),
    (&["nuget"], &["dotnet", "nuget"]),
];

/// What package managers are called with when they download.
const DOWNLOADS: &[&str] = &[
    "add",
    "build",
    "ci",
    "create-project",
    "download",
    "fetch",
    "i",
    "install",
    "package",
    "publish",
    "require",
    "restore",
    "sync",
    "update",
];

/// Commands that read no variable unless their words name it.
const INERT: &[&str] = &[
    "addgroup",
    "adduser",
    "apk",
    "apt",
    "apt-get",
    "cat",
    "cd",
    "chmod",
    "chown",
    "conda",
    "cp",
    "curl",
    "dnf",
    "echo",
    "groupadd",
    "ldconfig",
    "ln",
    "mamba",
    "microdnf",
    "mkdir",
    "mv",
    "printf",
    "rm",
    "sed",
    "tar",
    "test",
    "touch",
    "true",
    "unzip",
    "update-ca-certificates",
    "useradd",
    "wget",
    "yum",
];

/// Words in the names of variables, and the programs other than package managers that read those by
/// themselves.
const PROGRAMS: &[(&[&str], &[&str])] = &[
    (&["aws"], &["aws", "s3cmd", "s5cmd", "sam", "cdk", "terraform", "packer"]),
    (&["arm", "az", "azure"], &["az", "azcopy", "terraform", "packer"]),
    (&["b2", "rclone"], &["rclone"]),
    (&["borg"], &["borg"]),
    (&["cloudflare", "wrangler"], &["wrangler"]),
    (&["gh", "github"], &["gh"]),
    (&["gitlab", "glab"], &["glab"]),
    (&["google", "gcloud", "cloudsdk"], &["gcloud", "gsutil", "bq", "terraform", "packer"]),
    (&["hf", "huggingface", "hugging"], &["huggingface-cli", "hf"]),
    (&["kaggle"], &["kaggle"]),
    (&["mc", "minio"], &["mc"]),
    (&["mysql", "mariadb"], &["mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump"]),
    (&["pgpassword"], &["psql", "pg_dump", "pg_dumpall", "pg_restore", "createdb", "dropdb"]),
    (&["restic"], &["restic"]),
    (&["rsync"], &["rsync"]),
    (&["sentry"], &["sentry-cli"]),
    (&["snyk"], &["snyk"]),
    (&["sonar"], &["sonar-scanner"]),
    (&["sshpass"], &["sshpass"]),
    (&["twine"], &["twine"]),
    (&["vault"], &["vault"]),
    (&["vercel"], &["vercel"]),
    (&["wandb"], &["wandb"]),
];

/// The RUNs of a file that need a secret: those that name it, and the downloads of the package manager
/// that it is for. Without such programs, any program may read it.
pub(super) fn of(view: &View<'_>, name: &str, moved: &BTreeSet<String>) -> Vec<usize> {
    let all = view.file.instructions.iter().enumerate();
    let seen: Vec<usize> = all
        .filter(|(_, instruction)| instruction.keyword == Keyword::Run)
        .filter(|(index, _)| view.facts.scope(*index).get(name).is_some())
        .map(|(index, _)| index)
        .collect();
    let names = |index: &usize| {
        let run = view.file.instructions.get(*index);
        run.is_some_and(|run| is_word_in(&written(view, run), name))
    };
    let downloads = |index: &usize| {
        let called = view.called(*index);
        called.iter().any(|call| is_download_for(view, call, name))
    };
    // Where one download gets it as an argument, the others would too.
    let is_argument = seen.iter().any(|index| is_argument_of_download(view, *index, name));
    let certain: Vec<usize> = seen
        .iter()
        .copied()
        .filter(|index| names(index) || (downloads(index) && !is_argument))
        .collect();
    // ENV hands it on under another name.
    let is_handed_on = declared(view).any(|(_, pair)| {
        let value = pair.value.as_ref().map(|it| it.text.as_str()).unwrap_or_default();
        pair.key.text != name && moved.contains(pair.key.text.as_str()) && is_word_in(value, name)
    });
    if !certain.is_empty() || is_handed_on {
        return certain;
    }
    let own = programs(name);
    let has_own =
        seen.iter().any(|index| view.called(*index).iter().any(|called| called.is_any(&own)));
    let may_read = |index: &usize| {
        let called = view.called(*index);
        // Beside its own programs, installs and programs that have variables of their own do not read it.
        let is_of_others = |call: &Called| has_own && !call.is_any(&own) && has_own_variables(call);
        called.is_empty() || called.iter().any(|call| !call.is_any(INERT) && !is_of_others(call))
    };
    seen.into_iter().filter(may_read).collect()
}

/// The secrets in the value that a file gives a variable.
pub(super) fn secrets_in<'n>(
    view: &View<'_>,
    variable: &str,
    names: &'n BTreeSet<String>,
) -> Vec<&'n String> {
    let value = declared(view).find_map(|(_, pair)| {
        let value = pair.value.as_ref().map(|it| it.text.to_string());
        value.filter(|_| pair.key.text == variable)
    });
    let value = value.unwrap_or_default();
    names.iter().filter(|name| *name != variable && is_word_in(&value, name)).collect()
}

/// Whether a variable is for downloads of packages, going by its name.
pub(super) fn is_for_packages(name: &str) -> bool {
    !tools(name).is_empty()
}

fn programs(name: &str) -> Vec<&'static str> {
    named(name, PROGRAMS)
}

/// Whether a command installs packages, or is a program whose variables are known.
fn has_own_variables(called: &Called) -> bool {
    let is_in = |rows: &[(&[&str], &[&str])]| rows.iter().any(|(_, all)| called.is_any(all));
    let installs =
        called.words.iter().any(|word| matches!(word.as_str(), "install" | "ci" | "add"));
    is_in(PROGRAMS) || (installs && is_in(FAMILIES))
}

fn tools(name: &str) -> Vec<&'static str> {
    named(name, FAMILIES)
}

/// What the words in the name of a variable stand for.
fn named(
    name: &str,
    rows: &'static [(&'static [&'static str], &'static [&'static str])],
) -> Vec<&'static str> {
    let parts: Vec<String> = name.split('_').map(str::to_ascii_lowercase).collect();
    let is_of = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    let families = rows.iter().filter(|(words, _)| is_of(words));
    families.flat_map(|(_, tools)| tools.iter().copied()).collect()
}

/// The package managers whose settings a comment quotes with the variable.
fn told_tools(view: &View<'_>, name: &str) -> Vec<&'static str> {
    const SETTINGS: &[(&str, &str)] = &[
        (".npmrc", "npm"),
        (".yarnrc", "npm"),
        ("pip.conf", "pip"),
        ("nuget.config", "nuget"),
        ("settings.xml", "maven"),
        ("gradle.properties", "gradle"),
        ("auth.json", "composer"),
    ];
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(view.text));
    let lines = comments.filter(|comment| is_word_in(comment, name)).map(str::to_lowercase);
    let families = lines.flat_map(|line| {
        let rows = SETTINGS.iter().filter(move |(file, _)| line.contains(file));
        rows.map(|(_, family)| *family)
    });
    families.flat_map(tools).collect()
}

/// Whether a download of the package manager that a variable is for names it among its own words.
fn is_argument_of_download(view: &View<'_>, index: usize, name: &str) -> bool {
    let mut commands =
        view.facts.scripts(&view.file, index).iter().flat_map(|script| &script.commands);
    commands.any(|command| {
        let called = Called::of(index, command);
        called.is_some_and(|call| is_download_for(view, &call, name))
            && command.words.iter().any(|word| is_word_in(word.text(), name))
    })
}

fn is_download_for(view: &View<'_>, called: &Called, name: &str) -> bool {
    let is_plain_yarn = called.name == "yarn" && called.words.is_empty();
    let says = called.words.iter().any(|word| DOWNLOADS.contains(&word.as_str()));
    // `npm run build` is a script of the project.
    let says = says && !called.words.iter().any(|word| word == "run");
    // Every goal may look for packages.
    let says = says || called.is_any(&["gradle", "gradlew", "mvn", "mvnw"]);
    let is_for = called.is_any(&tools(name)) || called.is_any(&told_tools(view, name));
    is_for && (says || is_plain_yarn)
}
