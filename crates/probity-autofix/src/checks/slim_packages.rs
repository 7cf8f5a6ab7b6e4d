//! A smaller image and the packages of the full one that its stage still needs: installed by name, and
//! nothing else.

mod machine_code;

use std::collections::BTreeSet;

use probity_dockerfile::{Action, Keyword, Setting, TokenKind};

pub(crate) use self::machine_code::copies_machine_code;
use self::machine_code::has_native_code;
use super::{
    Change, Check, Explained, Issue, View,
    base_image::{base, is_bare},
    belongings::final_chain,
    commands::{self, Segment, segments, words},
    image_kind::ImageKind,
    kept_packages::is_twin,
    steps::written,
};

pub(crate) const ONLY_PACKAGES_ADDED: Check =
    Check::new("only-packages-added", only_packages_added);
pub(crate) const SLIM_NEEDS: Check = Check::new("slim-needs", slim_needs).heuristic();

/// Packages that full images have and small ones lack, and the words of a file that show a need.
struct Need {
    words: &'static [&'static str],
    packages: &'static [&'static str],
}

const NEEDS: &[Need] = &[
    Need { words: &["git"], packages: &["git"] },
    Need { words: &["curl"], packages: &["curl"] },
    Need { words: &["wget"], packages: &["wget"] },
    Need { words: &["ssh", "scp", "sftp", "openssh"], packages: &["openssh-client"] },
    Need { words: &["gpg", "gnupg"], packages: &["gnupg", "gpg"] },
    Need { words: &["unzip"], packages: &["unzip"] },
    Need { words: &["ps", "pkill", "pgrep", "procps"], packages: &["procps"] },
    Need { words: &["hg", "mercurial"], packages: &["mercurial"] },
    Need { words: &["svn", "subversion"], packages: &["subversion"] },
    Need {
        words: &["sqlite", "sqlite3", "libsqlite3"],
        packages: &["libsqlite3-0", "sqlite3", "sqlite-libs", "libsqlite3-dev", "sqlite"],
    },
    Need {
        words: &["pg", "libpq", "libpq5", "psycopg2", "psycopg"],
        packages: &["libpq5", "libpq", "libpq-dev", "postgresql-client", "postgresql-libs"],
    },
    Need {
        words: &["mysqlclient", "mysql2", "libmysqlclient", "libmariadb"],
        packages: &[
            "libmariadb3",
            "libmariadb-dev",
            "default-libmysqlclient-dev",
            "default-mysql-client",
            "mariadb-connector-c",
        ],
    },
    Need {
        words: &[
            "imagemagick",
            "rmagick",
            "wand",
            "magick",
            "minimagick",
            "mini_magick",
            "mogrify",
        ],
        packages: &["imagemagick", "libmagickwand-dev", "libmagickwand-6.q16-6"],
    },
    Need { words: &["libxml2"], packages: &["libxml2", "libxml2-dev"] },
    Need { words: &["libxslt"], packages: &["libxslt1.1", "libxslt1-dev", "libxslt"] },
    Need { words: &["libgomp", "openmp", "libgomp1"], packages: &["libgomp1", "libgomp"] },
    Need { words: &["libmagic"], packages: &["libmagic1", "libmagic", "file"] },
    Need { words: &["tzdata", "zoneinfo"], packages: &["tzdata"] },
];

/// Packages of full images that a small one may get back, beside those of needs and libraries.
const USUAL: &[&str] = &[
    "bzip2",
    "ca-certificates",
    "coreutils",
    "dirmngr",
    "file",
    "fontconfig",
    "g++",
    "gcc",
    "libc6-dev",
    "make",
    "build-essential",
    "musl-dev",
    "pkg-config",
    "build-base",
    "linux-headers",
    "netbase",
    "patch",
    "tini",
    "dumb-init",
    "xz-utils",
    "zip",
    "bash",
    "shadow",
    "libstdc++",
    "gcompat",
    "icu-libs",
    "default-mysql-client",
    "postgresql-client",
    "zlib1g",
];

/// Options of package managers that change their output and caches, but install the same packages.
pub(crate) const FLAGS: &[&str] = &[
    "-y",
    "-q",
    "-qq",
    "-yq",
    "-qy",
    "-yqq",
    "-qqy",
    "--yes",
    "--quiet",
    "--assume-yes",
    "--no-install-recommends",
    "--no-cache",
    "--auto-remove",
    "--autoremove",
    "--virtual",
];

/// RUNs that the proposal adds or that it wraps installs around.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let known: Vec<String> = change
        .before
        .file
        .instructions
        .iter()
        .map(|instruction| written(change.before, instruction))
        .collect();
    let is_new = |index: &usize| {
        let instruction = change.after.file.instructions.get(*index);
        instruction.is_some_and(|instruction| {
            instruction.keyword == Keyword::Run
                && !known.contains(&written(change.after, instruction))
        })
    };
    let adds_only = |index: &usize| {
        let had = commands::installed(change.before).into_iter().collect();
        segments(change.after, *index)
            .is_some_and(|parts| parts.iter().all(|part| is_package_step(part, &had)))
    };
    let mut explained = super::base_image::explained(change);
    explained.after.extend(final_chain(change.after).into_iter().filter(is_new).filter(adds_only));
    explained
}

/// The steps stay, in their order; installs of packages that the full image or the original has may come
/// between them, and those of the original are among them.
fn only_packages_added(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let others = &change.limits.explained;
    let installed = |view: &View<'_>| -> BTreeSet<String> {
        let calls = commands::calls(view).filter(|(index, _)| final_chain(view).contains(index));
        calls.flat_map(|(_, call)| commands::names(call)).collect()
    };
    let (had, has) = (installed(change.before), installed(change.after));
    let texts = |view: &View<'_>, skipped: &BTreeSet<usize>| -> Vec<(String, usize)> {
        let chain = final_chain(view);
        let runs = view.file.instructions.iter().enumerate();
        let runs = runs.filter(|(index, instruction)| {
            instruction.keyword == Keyword::Run && !skipped.contains(index)
        });
        runs.flat_map(|(index, instruction)| match segments(view, index) {
            Some(parts) => parts
                .iter()
                .filter(|part| !chain.contains(&index) || !is_package_step(part, &had))
                .map(|part| (part.text.clone(), index))
                .collect(),
            None => vec![(written(view, instruction), index)],
        })
        .collect()
    };
    let old = texts(change.before, &others.before);
    let new = texts(change.after, &others.after);
    let pair = old.iter().zip(&new).find(|((old, _), (new, _))| old != new);
    if let Some((_, index)) = pair.map(|(_, new)| new).or_else(|| new.get(old.len())) {
        let message = "beside the base image only an install of packages that the full image has may be \
                       added, by apt-get or apk and without other options";
        let issue = change.issue(check, message);
        return vec![match change.after.file.instructions.get(*index) {
            Some(instruction) => issue.at(change.after, instruction.span),
            None => issue,
        }];
    }
    if let Some((lost, _)) = old.get(new.len()) {
        let message = "this step of the original is changed, gone or out of order";
        return vec![change.issue(check, message).quoting(lost)];
    }
    // Distroless images bring these, and cannot install them.
    let is_bare = base(change.after).is_some_and(|image| is_bare(&image));
    let is_brought = |name: &&String| {
        is_bare && matches!(name.as_str(), "ca-certificates" | "netbase" | "tzdata")
    };
    let lost = had.iter().find(|name| !has.contains(*name) && !is_brought(name));
    lost.map(|name| {
        change.issue(check, &format!("the new file does not install the package {name}"))
    })
    .into_iter()
    .collect()
}

/// `apt-get update`, an install of known packages, their removal, and the removal of the lists.
fn is_package_step(part: &Segment, known: &BTreeSet<String>) -> bool {
    let [command] = part.commands.as_slice() else { return false };
    let assigns =
        command.assignments().iter().any(|assignment| assignment.name != "DEBIAN_FRONTEND");
    if assigns || !command.redirections().is_empty() || !command.effective().wrappers.is_empty() {
        return false;
    }
    if let Some(call) = part.calls.first() {
        let are_flags_known = call.flags.iter().all(|flag| FLAGS.contains(&flag.name.as_str()));
        let is_system = !commands::is_language_manager(call.manager);
        let is_known = match call.action {
            Action::Update | Action::Clean => true,
            Action::Install => {
                let names = commands::names(call);
                names.len() == call.packages.len()
                    && call.files.is_empty()
                    && call
                        .packages
                        .iter()
                        .all(|package| !package.text.contains(['/', '=', ':', '@']))
                    && names.iter().all(|name| known.contains(name) || is_of_full_image(name))
            }
            Action::Remove => {
                call.packages.iter().all(|package| commands::is_build_package(&package.text))
            }
            Action::Upgrade => false,
        };
        return are_flags_known && is_system && is_known;
    }
    let Some(words) = words(command) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["rm", "-rf" | "-r" | "-fr", paths @ ..] => paths.iter().all(|path| {
            let is_list = ["/var/lib/apt/lists", "/var/cache/apt", "/var/cache/apk"]
                .iter()
                .any(|list| path.starts_with(list));
            is_list && !path.contains("..")
        }),
        ["apt-get" | "apt", rest @ ..] => rest
            .iter()
            .all(|word| matches!(*word, "clean" | "autoremove" | "update") || FLAGS.contains(word)),
        ["update-ca-certificates"] | ["ldconfig"] => true,
        _ => false,
    }
}

pub(crate) fn is_of_full_image(name: &str) -> bool {
    let is_library = name.starts_with("lib") && !name.contains("pam") && !name.contains("nss");
    let is_need = NEEDS.iter().any(|need| need.packages.contains(&name));
    is_library || is_need || USUAL.contains(&name) || name.ends_with("-dev")
}

/// What comments, requirements and commands name, and packages of headers elsewhere, is in the image.
fn slim_needs(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let (Some(old), Some(new)) = (base(change.before), base(after)) else { return Vec::new() };
    if old == new {
        return Vec::new();
    }
    let kinds = (ImageKind::of(&old), ImageKind::of(&new));
    if let (Some(old_kind), Some(new_kind)) = &kinds
        && new_kind.is_musl()
        && !old_kind.is_musl()
        && has_native_code(change, new_kind)
    {
        let message = format!(
            "`{new}` has another C library than the image that the packages were built for; use a slim variant"
        );
        return vec![change.issue(check, &message)];
    }
    let chain = final_chain(after);
    let calls = || chain.iter().flat_map(|index| after.facts.package_calls(&after.file, *index));
    let removals =
        calls().filter(|call| call.action == Action::Remove).flat_map(|call| &call.packages);
    let removed: BTreeSet<&str> = removals.map(|package| package.text.as_str()).collect();
    let has: BTreeSet<String> =
        calls().flat_map(commands::names).filter(|name| !removed.contains(name.as_str())).collect();
    let told = told(change.before);
    let lost = NEEDS.iter().find(|need| {
        need.words.iter().any(|word| told.contains(*word))
            && !need.packages.iter().any(|package| has.contains(*package))
            && !kinds.1.as_ref().is_some_and(|kind| is_in_image(kind, need))
    });
    if let Some(need) = lost {
        let name = need.packages.first().copied().unwrap_or_default();
        let message = format!(
            "the file tells of `{}`, which the full image has and `{new}` lacks; install {name} in the \
             final stage",
            need.words.iter().find(|word| told.contains(**word)).copied().unwrap_or_default()
        );
        return vec![change.issue(check, &message)];
    }
    if let Some(place) = git_after_its_use(change, &told) {
        let message = "an install of packages fetches with git, which comes only after it";
        let instruction = after.file.instructions.get(place);
        let issue = change.issue(check, message);
        return vec![match instruction {
            Some(it) => issue.at(after, it.span),
            None => issue,
        }];
    }
    if let Some(tool) = without_certificates(change, &has, &told) {
        let message = format!(
            "`{new}` has no certificates, and {tool} without recommended packages brings none; install \
             ca-certificates too"
        );
        return vec![change.issue(check, &message)];
    }
    let headers = commands::calls(change.before)
        .filter(|(index, _)| !final_chain(change.before).contains(index))
        .flat_map(|(_, call)| commands::names(call))
        .filter(|name| name.starts_with("lib") && name.ends_with("-dev"));
    let missing = headers.into_iter().find(|name| {
        let is_usual =
            matches!(name.as_str(), "libc6-dev" | "libffi-dev" | "libssl-dev" | "libyaml-dev");
        !is_usual && !has.contains(name) && !has.iter().any(|other| is_twin(name, other))
    });
    let Some(missing) = missing else { return Vec::new() };
    let message = format!("what is built with {missing} needs its library in the final stage");
    vec![change.issue(check, &message)]
}

/// The install of language packages that comes before the install of git, where the file tells of packages
/// by git.
fn git_after_its_use(change: &Change<'_>, told: &BTreeSet<String>) -> Option<usize> {
    let after = change.after;
    let fetches = told.contains("git") && change.before.text.contains("git+");
    let chain = final_chain(after);
    let calls = || commands::calls(after).filter(|(index, _)| chain.contains(index));
    let git = calls().find(|(_, call)| commands::names(call).iter().any(|name| name == "git"))?;
    let first = calls().find(|(_, call)| {
        let mut texts = call.packages.iter().map(|package| package.text.as_str());
        let may_fetch = !call.files.is_empty()
            || call.packages.is_empty()
            || texts.any(|text| text.contains("git+"));
        call.action == Action::Install && commands::is_language_manager(call.manager) && may_fetch
    })?;
    (fetches && first.0 < git.0).then_some(first.0)
}

/// A program that asks others by TLS and is installed without the certificates that it reads.
fn without_certificates(
    change: &Change<'_>,
    has: &BTreeSet<String>,
    told: &BTreeSet<String>,
) -> Option<&'static str> {
    let after = change.after;
    let new = base(after).and_then(|image| ImageKind::of(&image))?;
    let lacks = new.is_system() || new.language == Some("node");
    // The container may hand Git an address.
    let runtime = after.facts.final_runtime();
    let clones = runtime.get(Setting::Env).iter().any(|setting| {
        let value = setting.entry.to_string();
        value.contains("https://") && value.trim_end_matches(['"', '/']).ends_with(".git")
    });
    let chain = final_chain(after);
    let downloads = after.all_called().any(|call| {
        chain.contains(&call.instruction)
            && call.is_any(&["git", "curl", "wget"])
            && call.words.iter().any(|word| word.starts_with("https://"))
    });
    let asks = told.contains("https") || clones || downloads;
    if !lacks || new.is_musl() || has.contains("ca-certificates") || !asks {
        return None;
    }
    let mut calls = commands::calls(after).filter(|(index, _)| chain.contains(index));
    calls.find_map(|(_, call)| {
        let names = commands::names(call);
        let is_alone = call.has_flag(&["--no-install-recommends"]);
        ["git", "curl", "wget"]
            .into_iter()
            .find(|tool| is_alone && names.iter().any(|name| name == tool))
    })
}

/// Whether a small image has it all the same.
fn is_in_image(kind: &ImageKind, need: &Need) -> bool {
    let has = |name: &str| need.packages.contains(&name);
    match kind.language {
        Some("python") => has("libsqlite3-0") || has("tzdata"),
        Some("ruby") => has("tzdata"),
        Some("php") => has("curl") || has("libsqlite3-0") || has("libxml2"),
        _ => false,
    }
}

/// What has SQLite built in, as the drivers of Go have.
const OWN_SQLITE: &[&str] =
    &["better-sqlite3", "bundles sqlite", "experimental-sqlite", "go build", "node:sqlite"];

/// The words of comments and of the commands of the final stage.
fn told(view: &View<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |text: &str| {
        found.extend(
            text.to_lowercase()
                .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
    };
    for token in view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        add(token.span.slice(view.text).unwrap_or_default());
    }
    for index in 0..view.file.instructions.len() {
        let calls = view.facts.package_calls(&view.file, index).iter();
        let own = calls.filter(|call| commands::is_language_manager(call.manager));
        own.flat_map(|call| &call.packages).for_each(|package| {
            // `psycopg2-binary` brings its library.
            if !package.text.contains("-binary") {
                add(package.text.split(['=', '<', '>', '[', '~']).next().unwrap_or_default());
            }
        });
    }
    for index in final_chain(view) {
        for called in view.called(index) {
            add(&called.name);
        }
        let instruction = view.file.instructions.get(index);
        let keywords = [Keyword::Cmd, Keyword::Entrypoint, Keyword::Healthcheck];
        if let Some(instruction) =
            instruction.filter(|instruction| keywords.contains(&instruction.keyword))
        {
            add(instruction.body_text());
        }
    }
    // What has its own library needs none of the image.
    let text = view.text.to_lowercase();
    if OWN_SQLITE.iter().any(|phrase| text.contains(phrase)) && !text.contains("libsqlite3") {
        found.retain(|word| !word.starts_with("sqlite"));
    }
    found
}
