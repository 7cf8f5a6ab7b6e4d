//! Whether a stage makes what a COPY takes from it.

use probity_dockerfile::{Arguments, Base, Instruction, Keyword};

use super::{
    super::{
        Change, View,
        belongings::is_within,
        commands::{self, Called},
        image_kind::{ImageKind, agree},
        steps::{absolute, chain_of},
    },
    stage_of,
};

/// Places that images bring themselves, or that tools write to without being told.
const BROUGHT: &[&str] = &[
    "/bin",
    "/etc/group",
    "/etc/passwd",
    "/etc/ssl",
    "/go",
    "/home",
    "/lib",
    "/lib64",
    "/opt/java",
    "/root",
    "/sbin",
    "/tmp",
    "/usr",
    "/var",
];

/// Names of directories that only builds make.
const OUTPUTS: &[&str] = &["dist", "out", ".next", ".output", ".nuxt"];

/// Whether a stage does more than install packages and copy a part of the sources.
fn may_build(view: &View<'_>, stage: usize) -> bool {
    let chain = chain_of(view, stage);
    let only_installs = |call: &Called| {
        let installs =
            call.words.iter().any(|word| matches!(word.as_str(), "ci" | "install" | "add"));
        let is_manager = call.is_any(&["npm", "yarn", "pnpm", "apt-get", "apk", "pip", "corepack"]);
        let is_usual = call.is_any(&[
            "mkdir", "chown", "chmod", "rm", "useradd", "groupadd", "adduser", "addgroup",
        ]);
        is_usual
            || (is_manager && (installs || call.words.iter().any(|word| word == "update")))
            || call.name == "corepack"
    };
    let copies_all = |instruction: &Instruction| match &instruction.arguments {
        Arguments::Transfer { sources, .. } => sources.iter().any(|source| {
            let source = source.text.trim_end_matches('/');
            matches!(source, "." | "" | "*") || OUTPUTS.contains(&commands::last_part(source))
        }),
        _ => false,
    };
    chain.into_iter().any(|index| {
        let called = view.called(index);
        let instruction = view.file.instructions.get(index);
        called.iter().any(|call| !only_installs(call)) || instruction.is_some_and(copies_all)
    })
}

/// Whether an instruction of a stage, or of one below it, may make what is copied from it.
pub(super) fn is_made(view: &View<'_>, it: &Instruction, source: &str) -> bool {
    let Some(stage) = stage_of(view, it) else { return true };
    if is_of_other_python(view, stage, source) {
        return false;
    }
    let source = source.split('*').next().unwrap_or_default().trim_end_matches('/');
    if is_never_installed(view, stage, source) {
        return false;
    }
    if is_staged_elsewhere(view, stage, source) || is_moved_away(view, stage, source) {
        return false;
    }
    // A comment may tell where a tool writes to.
    let mut comments = view.text.lines().filter(|line| line.trim_start().starts_with('#'));
    if comments.any(|line| {
        line.split_whitespace()
            .any(|word| is_within(word.trim_end_matches(['/', '.', ',']), source))
    }) {
        return true;
    }
    if view.transfers().iter().any(|(_, to)| is_within(source, to)) {
        return true;
    }
    if BROUGHT.iter().any(|place| is_within(source, place)) || source.contains('$') {
        return true;
    }
    if OUTPUTS.contains(&commands::last_part(source)) && !may_build(view, stage) {
        return false;
    }
    chain_of(view, stage).into_iter().any(|index| {
        let Some(step) = view.file.instructions.get(index) else { return false };
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let workdir = workdir.unwrap_or_default().trim_end_matches('/');
        match step.keyword {
            Keyword::Run => {
                let heredocs =
                    step.heredocs().iter().map(|heredoc| heredoc.content(view.text).into_owned());
                let mut texts = std::iter::once(step.body_text().to_string()).chain(heredocs);
                let is_named = texts.any(|text| names_output(&text, source));
                is_named || (workdir.len() > 1 && is_within(source, workdir))
            }
            Keyword::Copy | Keyword::Add => {
                let Arguments::Transfer { destination: Some(place), .. } = &step.arguments else {
                    return false;
                };
                let place = absolute(&place.text, Some(workdir)).unwrap_or_default();
                let place = place.trim_end_matches('/');
                place.len() > 1 && (is_within(source, place) || is_within(place, source))
            }
            Keyword::Workdir => {
                workdir.len() > 1 && (is_within(workdir, source) || is_within(source, workdir))
            }
            // A tool may write where a variable tells it to.
            Keyword::Env | Keyword::Arg => {
                names_output(&step.body_text().replace('=', " "), source)
            }
            _ => false,
        }
    })
}

/// Whether a command of the original puts something at a place that is copied, and the stage which it is
/// copied from has no such command.
pub(super) fn is_no_longer_made(change: &Change<'_>, it: &Instruction, source: &str) -> bool {
    let (before, after) = (change.before, change.after);
    let Some(stage) = stage_of(after, it) else { return false };
    let source = source.split('*').next().unwrap_or_default().trim_end_matches('/');
    let chain = chain_of(after, stage);
    let texts: Vec<String> = chain
        .iter()
        .filter_map(|index| after.file.instructions.get(*index))
        .map(|instruction| instruction.body_text().to_string())
        .collect();
    let is_named = |place: &str| {
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        let is_program = ["bin", "sbin"].iter().any(|end| parent.ends_with(end));
        let near = format!("/{}", commands::last_part(parent));
        texts.iter().any(|text| {
            // A variable or a directory of its own may stand for the beginning.
            text.contains(place)
                || (is_program && text.contains(parent))
                || (text.contains(name) && text.contains(&near))
                || (text.contains(name) && text.contains('$'))
        })
    };
    let olds = before.transfers().iter().map(|(_, to)| to);
    let mut olds = olds.filter(|to| source.len() > 1 && is_within(to, source));
    let is_built = olds.clone().any(|to| after.transfers().iter().any(|(_, now)| now == to));
    !is_built && olds.any(|to| !is_named(to.trim_end_matches('/')))
}

/// Whether a place is one that only installers make, and the stage calls none of them.
fn is_never_installed(view: &View<'_>, stage: usize, source: &str) -> bool {
    const MAKERS: &[&str] = &[
        "bun",
        "conda",
        "mamba",
        "npm",
        "pipenv",
        "pipx",
        "pnpm",
        "poetry",
        "uv",
        "virtualenv",
        "yarn",
    ];
    let name = commands::last_part(source);
    let is_environment = view.text.contains(&format!("{source}/bin:")) && name.contains("venv");
    if name != "node_modules" && !is_environment {
        return false;
    }
    let chain = chain_of(view, stage);
    let installs = chain.iter().any(|index| {
        let called = view.called(*index);
        called.iter().any(|call| {
            call.is_any(MAKERS)
                || call.words.iter().any(|word| word.contains("venv") || word.contains(name))
        })
    });
    // Another stage or the context may bring the place whole.
    let copies = chain.iter().any(|index| {
        let instruction = view.file.instructions.get(*index);
        instruction.is_some_and(|instruction| {
            matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
                && (instruction.flag_value("from").is_some()
                    || instruction.body_text().contains(name))
        })
    });
    !installs && !copies
}

/// Whether a program is taken from where it runs, though the stage installs it below a staging directory.
fn is_staged_elsewhere(view: &View<'_>, stage: usize, source: &str) -> bool {
    let called: Vec<&Called> =
        chain_of(view, stage).into_iter().flat_map(|index| view.called(index)).collect();
    let staged = called.iter().filter(|call| call.installs_tree()).find_map(|call| {
        call.words.iter().find_map(|word| word.strip_prefix("DESTDIR=").map(str::to_owned))
    });
    let names_it =
        |call: &&Called| call.words.iter().any(|word| word.trim_end_matches('/') == source);
    staged.is_some_and(|directory| {
        !is_within(source, directory.trim_end_matches('/'))
            && commands::starts(view, commands::last_part(source))
            && !called.iter().any(names_it)
    })
}

/// Whether a step has moved a file elsewhere.
fn is_moved_away(view: &View<'_>, stage: usize, source: &str) -> bool {
    chain_of(view, stage).into_iter().any(|index| {
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let called = view.called(index);
        called.iter().filter(|call| call.name == "mv").any(|call| {
            let paths: Vec<&String> =
                call.words.iter().filter(|word| !word.starts_with('-')).collect();
            let sources = paths.split_last().map(|(_, sources)| sources).unwrap_or_default();
            sources.iter().any(|path| absolute(path, workdir).as_deref() == Some(source))
        })
    })
}

/// Whether a path is of another version of Python than the image of a stage has.
fn is_of_other_python(view: &View<'_>, stage: usize, source: &str) -> bool {
    let stages = view.facts.stages();
    let root = stages.get(stage).and_then(|stage| stages.get(stage.root)).map(|stage| &stage.base);
    let Some(Base::Image(image)) = root else { return false };
    let version = ImageKind::of(image)
        .filter(|kind| kind.language == Some("python"))
        .and_then(|kind| kind.version);
    let named = source.split("/lib/python").nth(1).and_then(|part| part.split('/').next());
    version
        .zip(named)
        .is_some_and(|(version, named)| named.contains('.') && !agree(&version, named))
}

/// Whether a script names a path, two directories of it, or the directory that a tool writes to.
fn names_output(text: &str, source: &str) -> bool {
    const OUTPUTS: &[&str] = &["-B", "--root", "--wheel-dir", "-w"];
    let mut parts = source.split('/').filter(|part| !part.is_empty());
    let top = format!("/{}", parts.next().unwrap_or_default());
    let second = parts.next().map(|part| format!("{top}/{part}")).unwrap_or(top);
    let words: Vec<&str> =
        text.split(|character: char| character.is_whitespace() || character == '"').collect();
    let is_output = |pair: &[&str]| match pair {
        [flag, value] => {
            let staged = value.strip_prefix("DESTDIR=");
            let place = staged.or(OUTPUTS.contains(flag).then_some(*value)).unwrap_or_default();
            place.len() > 1 && is_within(source, place.trim_end_matches('/'))
        }
        _ => false,
    };
    let staged = words.first().and_then(|word| word.strip_prefix("DESTDIR="));
    let is_staged = staged.is_some_and(|place| place.len() > 1 && is_within(source, place));
    // `--sysconfdir=/etc`
    let is_option = words.iter().filter(|word| word.starts_with("--")).any(|word| {
        let place = word.split_once('=').map(|(_, place)| place.trim_end_matches('/'));
        place.is_some_and(|place| {
            place.starts_with('/') && place.len() > 1 && is_within(source, place)
        })
    });
    text.contains(&second) || is_staged || is_option || words.windows(2).any(is_output)
}
