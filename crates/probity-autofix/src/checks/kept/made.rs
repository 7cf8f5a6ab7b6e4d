//! What commands of the original leave in the image, by their words or without naming a place.

use probity_dockerfile::Keyword;
use probity_shell::Command;

use super::{
    super::{
        Change, View,
        belongings::{covers, final_chain, is_matched, is_within},
        commands::{self, Called, last_part},
        image_kind::ImageKind,
        kept_packages::comments_of,
        moved::{copied, moves},
        steps::{absolute, expanded, written},
    },
    build_inputs::is_for_builds,
    is_around, is_copied, is_held, runs_in_final,
};

/// Commands that leave something in the image by their arguments.
const MAKERS: &[&str] = &[
    "mkdir", "chown", "chmod", "ln", "touch", "cp", "mv", "install", "sed", "tee", "tar", "unzip",
    "setcap", "truncate",
];

/// Commands that change the image without naming a place.
const SETTERS: &[&str] = &[
    "a2dismod",
    "a2enmod",
    "a2ensite",
    "docker-php-ext-configure",
    "docker-php-ext-enable",
    "docker-php-ext-install",
    "keytool",
    "locale-gen",
    "pecl",
    "phpenmod",
    "update-alternatives",
];

/// Places that nobody misses.
const FLEETING: &[&str] =
    &["/tmp", "/var/tmp", "/var/cache", "/var/lib/apt", "/root/.cache", "/dev"];

/// What other commands make, where the final stage does not run them.
pub(super) fn made(change: &Change<'_>, kind: &ImageKind) -> Vec<String> {
    let (before, after) = (change.before, change.after);
    let chain = final_chain(after);
    let kept: Vec<&str> = chain
        .iter()
        .filter_map(|index| after.parts(*index))
        .flatten()
        .map(|part| part.text.as_str())
        .collect();
    let whole: Vec<String> = chain
        .iter()
        .filter_map(|index| after.file.instructions.get(*index))
        .map(|instruction| written(after, instruction))
        .collect();
    let mut missing = Vec::new();
    for (index, instruction) in before.file.instructions.iter().enumerate() {
        if instruction.keyword != Keyword::Run || whole.contains(&written(before, instruction)) {
            continue;
        }
        for part in before.parts(index).unwrap_or_default() {
            if kept.contains(&part.text.as_str()) {
                continue;
            }
            for command in &part.commands {
                let is_setter =
                    commands::name_of(command).is_some_and(|name| SETTERS.contains(&name.as_ref()));
                let is_lost = if is_setter {
                    !has_extensions(change, command)
                        && !has_trust_store(change, command)
                        && !has_modules(change, command)
                } else {
                    let directory = part.directory.as_deref();
                    targets(before, directory, index, command, kind).iter().any(|target| {
                        !is_around(change, target)
                            && !is_for_builds(change, target)
                            && !is_called_by_steps(before, target)
                            && !is_used_up(before, target)
                    }) || (is_script(kind) || has_mode(command) || packs(command))
                        && is_unaltered(change, directory, command)
                };
                if is_lost {
                    missing.push(format!("what `{}` does", part.text));
                }
            }
        }
    }
    missing
}

/// Whether a step wrote or changed a file that the final stage takes as it is in the build context.
fn is_unaltered(change: &Change<'_>, directory: Option<&str>, command: &Command) -> bool {
    let after = change.after;
    let name = commands::name_of(command).unwrap_or_default();
    let is_done = |path: &str| {
        runs_in_final(change, |call| {
            call.name == name && call.words.iter().any(|word| last_part(word) == last_part(path))
        })
    };
    let takes = |index: usize, path: &str| {
        let instruction = after.file.instructions.get(index);
        instruction.is_some_and(|instruction| {
            let is_mode = name == "chmod" && instruction.flag_value("chmod").is_some();
            instruction.flag_value("from").is_none()
                && !is_mode
                && covers(after, index, instruction, path)
        })
    };
    altered(directory, command).iter().any(|path| {
        let is_taken = final_chain(after).into_iter().any(|index| takes(index, path));
        is_taken && !is_copied(change, path) && !is_done(path)
    })
}

/// The files that a command writes by redirection or changes in their place.
fn altered(directory: Option<&str>, command: &Command) -> Vec<String> {
    let targets = command
        .redirections()
        .iter()
        .filter_map(|redirection| redirection.target.as_ref()?.pattern());
    let mut found: Vec<String> = targets.collect();
    let called = Called::of(0, command);
    let mut plain: Vec<String> = called
        .as_ref()
        .map(|call| call.words.iter().filter(|word| !word.starts_with('-')).cloned().collect())
        .unwrap_or_default();
    match called.as_ref().map(|call| call.name.as_str()) {
        Some("chmod") => found.extend(plain.into_iter().skip(1)),
        Some("sed") => found.extend(plain.pop()),
        Some("find") if packs(command) => found.extend(plain.into_iter().take(1)),
        Some("msgfmt" | "sass" | "pandoc") => {
            let words = called.as_ref().map(|call| call.words.clone()).unwrap_or_default();
            let output = words.iter().position(|word| word == "-o");
            found.extend(output.and_then(|place| words.get(place + 1)).cloned());
        }
        _ => {}
    }
    let paths = found.iter().filter_map(|path| absolute(path, directory));
    paths.filter(|path| !FLEETING.iter().any(|fleeting| is_within(path, fleeting))).collect()
}

/// Whether the store that `keytool` adds a certificate to comes along, or the final stage adds it too.
fn has_trust_store(change: &Change<'_>, command: &Command) -> bool {
    let is_keytool = commands::name_of(command).is_some_and(|name| name == "keytool");
    let words = Called::of(0, command).map(|call| call.words).unwrap_or_default();
    let store = words.iter().position(|word| word == "-keystore").and_then(|it| words.get(it + 1));
    let is_store = |place: &String| last_part(place) == "cacerts" || store == Some(place);
    let is_copied = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().any(is_store)
    });
    is_keytool && (is_copied || runs_in_final(change, |call| call.name == "keytool"))
}

/// Whether the directory that a command fills comes along: modules of Apache that are on, and locales.
fn has_modules(change: &Change<'_>, command: &Command) -> bool {
    let name = commands::name_of(command).unwrap_or_default();
    let directory = match name.as_ref() {
        "a2enmod" | "a2dismod" => "/etc/apache2/mods-enabled",
        "a2ensite" | "a2dissite" => "/etc/apache2/sites-enabled",
        "locale-gen" => "/usr/lib/locale",
        _ => return false,
    };
    is_copied(change, directory)
}

/// Whether extensions of PHP come along, and with them the files that load them.
fn has_extensions(change: &Change<'_>, command: &Command) -> bool {
    let Some(called) = Called::of(0, command) else { return false };
    if !called.name.starts_with("docker-php-ext") && !called.is_any(&["pecl", "phpenmod"]) {
        return false;
    }
    let names = called.words;
    let names: Vec<&String> = names.iter().filter(|name| !name.starts_with('-')).collect();
    let is_named = |words: &[String], name: &str| {
        let stem = name.split_once('-').map_or(name, |(stem, _)| stem);
        words.iter().any(|word| word == name || word == stem)
    };
    let are_enabled = runs_in_final(change, |call| {
        call.name == "docker-php-ext-enable"
            && names.iter().all(|name| *name == "install" || is_named(&call.words, name))
    });
    // `pecl install redis-6.0.2` makes `redis.so`.
    let names = names.iter().filter(|name| *name != &"install");
    let mut stems = names.map(|name| name.split_once('-').map_or(name.as_str(), |(stem, _)| stem));
    let are_loaded = stems.clone().count() > 0
        && stems.all(|stem| {
            let file = format!("/usr/local/etc/php/conf.d/docker-php-ext-{stem}.ini");
            is_copied_by_pattern(change, &file)
        });
    // They are in one directory, which has the name of PHP's interface.
    let extensions = "/usr/local/lib/php/extensions";
    let has_directory = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().any(|place| {
            let name =
                place.strip_prefix(extensions).and_then(|rest| rest.strip_prefix("/no-debug-"));
            name.is_some_and(|name| !name.trim_end_matches('/').contains('/'))
        })
    });
    (is_held(change, extensions) || has_directory)
        && (are_enabled || are_loaded || is_copied(change, "/usr/local/etc/php/conf.d"))
}

/// Whether a COPY from another stage brings a file, perhaps among others of a pattern.
fn is_copied_by_pattern(change: &Change<'_>, path: &str) -> bool {
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().any(|place| is_within(path, place) || is_matched(path, place))
    })
}

/// Whether programs of an image are read as they are written.
fn is_script(kind: &ImageKind) -> bool {
    matches!(kind.language, Some("python" | "node" | "ruby" | "php" | "perl"))
}

/// Whether a command makes a file executable.
fn has_mode(command: &Command) -> bool {
    commands::name_of(command).is_some_and(|name| name == "chmod")
}

/// Whether a command writes packed files beside those that it finds.
fn packs(command: &Command) -> bool {
    const PACKERS: &[&str] = &["brotli", "gzip", "zopfli", "zstd"];
    let called = Called::of(0, command);
    called.is_some_and(|call| {
        call.name == "find" && call.words.iter().any(|word| PACKERS.contains(&word.as_str()))
    })
}

/// The directories that a script fills because an option names them, as in
/// `python -m nltk.downloader -d /usr/share/nltk_data`.
fn filled(called: &Called) -> Vec<String> {
    const PLACES: &[&str] =
        &["/data", "/models", "/opt", "/srv", "/usr/local/share", "/usr/share", "/var/lib"];
    let is_other = |word: &str| matches!(word, "venv" | "pip" | "compileall" | "-c" | "-e" | "-r");
    let is_program = called.is_any(&["node", "npx", "perl", "php", "python", "python3", "ruby"]);
    if !is_program || called.words.iter().any(|word| is_other(word)) {
        return Vec::new();
    }
    let is_place = |word: &&String| {
        PLACES.iter().any(|place| is_within(word, place)) && !last_part(word).contains('.')
    };
    called.words.iter().filter(is_place).cloned().collect()
}

/// The file that `curl -o` or `wget -O` writes.
fn downloaded(called: &Called) -> Option<String> {
    let letter = match called.name.as_str() {
        "curl" => 'o',
        "wget" => 'O',
        _ => return None,
    };
    let is_flag = |word: &String| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.ends_with(letter)) || word == "--output"
    };
    let place = called.words.iter().position(is_flag)?;
    called.words.get(place + 1).cloned()
}

/// Whether a later step of the original takes a file away: it was unpacked, moved or removed.
fn is_used_up(before: &View<'_>, path: &str) -> bool {
    const USERS: &[&str] = &[
        "apt", "apt-get", "bash", "dpkg", "gunzip", "mv", "rm", "rpm", "sh", "tar", "unzip", "xz",
    ];
    before.all_called().any(|call| call.is_any(USERS) && call.words.iter().any(|word| word == path))
}

/// Whether a place is that of a program which steps of the original call, and nothing else names.
fn is_called_by_steps(before: &View<'_>, path: &str) -> bool {
    let name = last_part(path);
    let is_program = path.rsplit_once('/').is_some_and(|(directory, _)| directory.ends_with("bin"));
    let is_own = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let names = |text: &str| text.split(|character| !is_own(character)).any(|word| word == name);
    let mut others =
        before.file.instructions.iter().filter(|instruction| instruction.keyword != Keyword::Run);
    is_program
        && before.all_called().any(|call| call.name == name)
        && !others.any(|other| names(other.body_text()))
        && !names(&comments_of(before))
}

/// The places that a command changes, as far as its words tell.
fn targets(
    view: &View<'_>,
    workdir: Option<&str>,
    index: usize,
    command: &Command,
    kind: &ImageKind,
) -> Vec<String> {
    let written_to = command
        .redirections()
        .iter()
        .filter_map(|redirection| redirection.target.as_ref()?.pattern());
    let mut found: Vec<String> = written_to.filter(|path| path.starts_with('/')).collect();
    let Some(mut called) = Called::of(index, command) else { return found };
    let words = command.effective().args().iter();
    let words =
        words.map(|word| word.pattern().unwrap_or_else(|| expanded(view, index, word.text())));
    // The images of PHP set it.
    let words = words.map(|word| word.replace("$PHP_INI_DIR", "/usr/local/etc/php"));
    called.words = words.filter(|word| !word.contains('$')).collect();
    if called.is_any(MAKERS) {
        let words: Vec<&String> =
            called.words.iter().filter(|word| !word.starts_with('-')).collect();
        let is_last = called.is_any(&["cp", "mv", "install", "ln"]);
        // Several sources each have their place below the last word.
        if is_last && words.len() > 2 && words.last().is_some_and(|word| word.starts_with('/')) {
            found.extend(moves(&called.words, workdir).into_iter().map(|(_, to)| to));
        }
        let chosen: Vec<&String> =
            if is_last { words.last().copied().into_iter().collect() } else { words };
        let is_directory = called.name == "mkdir" && is_script(kind);
        let is_path = |word: &&&String| word.starts_with('/') || is_directory;
        found.extend(chosen.iter().filter(is_path).filter_map(|word| absolute(word, workdir)));
    }
    found.extend(downloaded(&called).filter(|path| path.starts_with('/')));
    found.extend(filled(&called));
    found.retain(|path| !FLEETING.iter().any(|fleeting| is_within(path, fleeting)));
    found.iter_mut().for_each(|path| path.truncate(path.trim_end_matches('/').len()));
    found
}
