//! What the container or a comment names: trees that `make install` puts below a prefix, and sources that
//! a program reads while it runs.

use probity_dockerfile::{Setting, TokenKind};

use super::{
    super::{
        Change, View,
        belongings::{covers, final_chain, is_within, text_of},
        commands::{self, Called, install_prefix, last_part},
        moved::copied,
        steps::absolute,
    },
    is_around, is_copied, runs_in_final,
};

/// Directories below a prefix that run time reads.
const PARTS: &[&str] = &["bin", "etc", "lib", "libexec", "sbin", "share"];

/// Places below the prefix of `make install` that the container or a comment on installing names.
pub(super) fn installed_tree(change: &Change<'_>) -> Vec<String> {
    let before = change.before;
    let Some(prefix) = installs_into(before) else { return Vec::new() };
    let runtime = before.facts.final_runtime();
    let values = runtime.entries().iter().map(|entry| entry.entry.to_string());
    let texts = values.collect::<Vec<String>>().join(" ");
    let mut places = places_below(&prefix, &texts);
    places.extend(told_below(before, &prefix));
    if builds_shared(before) {
        places.push(format!("{prefix}/lib"));
    }
    places.sort_unstable();
    places.dedup();
    let is_lost = |place: &String| !is_around(change, place) && !is_library_around(change, place);
    let mut missing: Vec<String> = places.into_iter().filter(is_lost).collect();
    let (programs, has_catalogues) = told_programs(before);
    missing.extend(programs.into_iter().filter_map(|name| {
        let mut places =
            ["bin", "sbin", "libexec"].iter().map(|it| format!("{prefix}/{it}/{name}"));
        let first = places.clone().next();
        places.all(|place| is_lost(&place)).then_some(first?)
    }));
    let catalogues = format!("{prefix}/share/locale");
    missing.extend((has_catalogues && is_lost(&catalogues)).then_some(catalogues));
    missing.iter().map(|it| format!("`{it}`")).collect()
}

/// The programs that a comment lists as installed, and whether it lists catalogues of messages: `# installs
/// tilesd, tiles-import and the message catalogues`.
fn told_programs(view: &View<'_>) -> (Vec<String>, bool) {
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(view.text));
    let lists =
        comments.filter_map(|comment| comment.split_once("installs ")).map(|(_, list)| list);
    let items: Vec<Vec<&str>> = lists
        .map(|list| {
            list.split([',', ';']).flat_map(|part| part.split(" and ")).map(str::trim).collect()
        })
        .collect();
    // Some item must be the program that is started: then the list is one of programs.
    let is_name = |item: &&str| {
        !item.is_empty()
            && item
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let lists = items.iter().filter(|list| list.iter().any(|item| commands::starts(view, item)));
    let items: Vec<&str> = lists.flatten().copied().collect();
    let has_catalogues =
        items.iter().any(|item| item.contains("catalog") || item.contains("translation"));
    let programs = items.into_iter().filter(|item| is_name(item)).map(str::to_owned);
    (programs.collect(), has_catalogues)
}

/// Places below a prefix that comments on installing name.
pub(in crate::checks) fn told_below(view: &View<'_>, prefix: &str) -> Vec<String> {
    const TELLS: &[&str] = &["becomes", "install", "prefix", "puts ", "ends up", "end up"];
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(view.text));
    let tells = comments.filter(|comment| {
        comment.contains(prefix) || TELLS.iter().any(|word| comment.contains(word))
    });
    places_below(prefix, &tells.collect::<Vec<&str>>().join(" "))
}

/// The words of a text that are places below a prefix, whole or beginning with one of its directories.
fn places_below(prefix: &str, text: &str) -> Vec<String> {
    let words = text
        .split(|character: char| character.is_whitespace() || "\"'`=:,;()[]".contains(character));
    let places = words.filter_map(|word| {
        let word = word.split('*').next()?.trim_end_matches(['/', '.']);
        if word.starts_with("lib") && word.contains(".so") && !word.contains('/') {
            return Some(format!("{prefix}/lib/{word}"));
        }
        let (first, rest) = word.split_once('/')?;
        if PARTS.contains(&first) && !rest.is_empty() {
            Some(format!("{prefix}/{word}"))
        } else {
            (is_within(word, prefix) && word != prefix).then(|| word.to_owned())
        }
    });
    places.collect()
}

/// Whether data beside the sources of a build reach the image by its install alone: the container works
/// elsewhere and names nothing of them, and the proposal takes more of the prefix than programs.
pub(super) fn is_installed(change: &Change<'_>, place: &str) -> bool {
    let before = change.before;
    let Some(prefix) = installs_into(before) else { return false };
    let sources = (0..before.file.instructions.len()).flat_map(|index| {
        let parts = before.parts(index).unwrap_or_default().iter();
        let installs = parts.filter(move |part| {
            let called = part.commands.iter().filter_map(|command| Called::of(index, command));
            called.into_iter().any(|call| call.installs_tree())
        });
        installs.filter_map(|part| part.directory.clone()).collect::<Vec<_>>()
    });
    let runtime = before.facts.final_runtime();
    let workdir =
        runtime.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let workdir = workdir.unwrap_or_else(|| "/".to_owned());
    let is_apart = |directory: &str| {
        directory.len() > 1
            && is_within(place, directory)
            && !is_within(&workdir, directory)
            && !is_within(&prefix, directory)
    };
    let mut sources = sources.map(|source| source.trim_end_matches('/').to_owned());
    let is_named = runtime.entries().iter().any(|entry| entry.entry.to_string().contains(place));
    let brings = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().map(|path| path.trim_end_matches('/')).any(|path| {
            let rest = path.strip_prefix(&*prefix).and_then(|rest| rest.strip_prefix('/'));
            let first = rest.and_then(|rest| rest.split('/').next());
            is_within(&prefix, path)
                || first.is_some_and(|first| matches!(first, "etc" | "share" | "libexec"))
        })
    });
    sources.any(|source| is_apart(&source)) && !is_named && brings
}

/// Words of comments that tell what a program reads while it runs.
const READ: &[&str] = &[
    "at run time",
    "at runtime",
    "at start",
    "from disk",
    "loads",
    "loaded",
    "not embedded",
    "reads",
    "read from",
    "served from",
    "serves",
    "while it runs",
];

/// Directories and files that a comment says the program reads, where the sources bring them.
pub(super) fn told_paths(change: &Change<'_>) -> Vec<String> {
    let before = change.before;
    let runtime = before.facts.final_runtime();
    let workdir =
        runtime.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let comments = before.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(before.text));
    let tells = comments.filter(|comment| READ.iter().any(|word| comment.contains(word)));
    let words = tells.flat_map(|comment| {
        comment.split(|character: char| character.is_whitespace() || "\"'`,;()".contains(character))
    });
    let paths = words.filter_map(|word| {
        let is_plain = word.contains('/') && !word.contains([':', '*', '$', '@', '<']);
        let path = absolute(word.trim_end_matches(['.', '/']), workdir.as_deref())?;
        let all = before.file.instructions.iter().enumerate();
        let is_source = all.clone().any(|(index, instruction)| {
            instruction.flag_value("from").is_none() && covers(before, index, instruction, &path)
        });
        (is_plain && path.len() > 1 && is_source).then_some(path)
    });
    paths.filter(|path| !is_around(change, path)).map(|it| format!("`{it}`")).collect()
}

/// Directories outside of the sources that a comment says a step writes to, and no later step reads.
pub(super) fn told_results(change: &Change<'_>) -> Vec<String> {
    const WRITES: &[&str] =
        &["writes to", "written to", "goes to", "go to", "lands in", "ends up in", "writes"];
    let before = change.before;
    let workdir = before.facts.final_runtime();
    let workdir =
        workdir.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let comments = before.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(before.text));
    let tells = comments.filter_map(|comment| {
        WRITES.iter().find_map(|word| comment.split_once(word)).map(|(_, rest)| rest)
    });
    let words: Vec<&str> = tells.filter_map(|rest| rest.split_whitespace().next()).collect();
    let plain = |word: &&str| word.trim_end_matches(['/', '.', ',', ';', ')']).to_owned();
    // `public/` and `public/site.css` are in the directory that the container works in.
    let near = words.iter().filter(|word| {
        let word = word.trim_end_matches([',', ';', ')', '.']);
        // `public/build` is a path below a copied directory, and `either/or` is not a path.
        let place = absolute(word, workdir.as_deref()).unwrap_or_default();
        let is_below = sources_of(before).iter().any(|source| is_within(&place, source));
        let is_path = word.contains('/') && !word.contains("://");
        word.ends_with('/') || (is_path && (last_part(word).contains('.') || is_below))
    });
    let near = near.map(plain).filter(|word| !word.starts_with(['/', '.', '$', '~']));
    let near: Vec<String> = near.filter_map(|word| absolute(&word, workdir.as_deref())).collect();
    let variables = before.facts.final_runtime();
    let value_of = |name: &str| {
        let mut variables = variables.get(Setting::Env).iter();
        variables
            .find(|variable| variable.entry.key == name)
            .and_then(|variable| text_of(&variable.entry.value))
    };
    let paths: Vec<String> =
        words.iter().map(plain).map(|word| value_of(&word).unwrap_or(word)).collect();
    // What a step writes beside sources, a later build takes along.
    let sources: Vec<&String> =
        before.all_pairs().map(|(_, target)| target).filter(|target| target.len() > 1).collect();
    let is_result = |path: &&String| {
        let is_source = sources.iter().any(|source| is_within(path, source));
        let is_apart = workdir.as_deref().is_none_or(|directory| !is_within(path, directory));
        let is_read =
            before.all_called().any(|call| call.words.iter().any(|word| is_within(word, path)));
        let fleeting = ["/tmp", "/var/tmp", "/root", "/var/log", "/dev", "/proc"];
        path.starts_with('/')
            && path.len() > 1
            && is_apart
            && !is_read
            && !is_source
            && !fleeting.iter().any(|directory| is_within(path, directory))
    };
    // The sources lack what a step makes of them.
    let is_made =
        |path: &&String| is_copied(change, path) || runs_in_final(change, Called::is_build);
    let has_none = |path: &&String| sources_of(before).iter().any(|source| is_within(path, source));
    let lost =
        near.iter().filter(|path| !is_around(change, path) || (has_none(path) && !is_made(path)));
    let results =
        paths.iter().filter(is_result).filter(|path| !is_around(change, path)).chain(lost);
    results.map(|it| format!("`{it}`")).collect()
}

/// The directories of the original that the build context fills by a name of their own.
fn sources_of(view: &View<'_>) -> Vec<String> {
    let pairs = view.all_pairs();
    let named = pairs.filter(|(source, _)| !matches!(source.as_str(), "." | "./" | "*"));
    named
        .map(|(_, target)| target)
        .filter(|target| target.matches('/').count() > 1)
        .cloned()
        .collect()
}

/// Directories that a comment tells of beside another one in the same output of a build, which alone comes
/// along: `# -> dist/server, dist/public`.
pub(super) fn told_outputs(change: &Change<'_>) -> Vec<String> {
    const OUTPUTS: &[&str] = &["build", "dist", "out"];
    let before = change.before;
    let runtime = before.facts.final_runtime();
    let workdir =
        runtime.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let comments = before.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(before.text));
    let missing = comments.flat_map(|comment| {
        let words = comment
            .split(|character: char| character.is_whitespace() || "\"'`,;()".contains(character));
        let outputs = words.filter(|word| {
            let parts = word.trim_end_matches(['.', '/']).split_once('/');
            parts.is_some_and(|(top, rest)| OUTPUTS.contains(&top) && !rest.contains(['*', '$']))
        });
        let places: Vec<String> = outputs
            .filter_map(|output| absolute(output.trim_end_matches(['.', '/']), workdir.as_deref()))
            .collect();
        let (there, missing): (Vec<String>, Vec<String>) =
            places.into_iter().partition(|place| is_around(change, place));
        if there.is_empty() { Vec::new() } else { missing }
    });
    missing.map(|it| format!("`{it}`")).collect()
}

/// A program of the packages for development that a comment tells of and the container starts, where the
/// proposal leaves these packages out.
pub(super) fn told_development(change: &Change<'_>) -> Option<String> {
    const OMITS: &[&str] =
        &["--omit=dev", "--prod", "--production", "--only=production", "--no-dev"];
    let before = change.before;
    let omits = |view: &View<'_>| {
        let mut all = view.all_called().flat_map(|call| &call.words);
        all.any(|word| OMITS.contains(&word.as_str()))
    };
    let comments = before.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let comments = comments.filter_map(|comment| comment.span.slice(before.text));
    let mut tells = comments.filter(|comment| {
        let lower = comment.to_lowercase();
        lower.contains("devdependenc") || lower.contains("dev dependenc")
    });
    let started = tells.find_map(|comment| {
        let mut words = comment
            .split(|character: char| !(character.is_ascii_alphanumeric() || character == '-'));
        words.find(|word| !word.is_empty() && commands::starts(before, word))
    })?;
    (omits(change.after) && !omits(before)).then(|| format!("`{started}`"))
}

/// The prefix below which a file installs what it builds.
fn installs_into(view: &View<'_>) -> Option<String> {
    let install = view.all_called().find(|call| call.installs_tree())?;
    let prefix = install_prefix(view, install.instruction);
    Some(prefix.unwrap_or_else(|| "/usr/local".to_owned()))
}

/// Whether a flag of the build asks for shared libraries.
fn builds_shared(view: &View<'_>) -> bool {
    const FLAGS: &[&str] = &["--disable-static", "--enable-shared", "-DBUILD_SHARED_LIBS=ON"];
    view.all_called().any(|call| call.words.iter().any(|word| FLAGS.contains(&word.as_str())))
}

/// Whether a COPY brings a library by a pattern, or by another number of its version.
fn is_library_around(change: &Change<'_>, path: &str) -> bool {
    let Some((stem, _)) = path.split_once(".so") else { return false };
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().any(|place| place.starts_with(stem))
    })
}
