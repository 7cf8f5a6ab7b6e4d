//! Manifests first: dependencies are installed before the sources are copied, and nothing else changes.

use probity_dockerfile::{Arguments, Instruction, Keyword};

use super::{
    Change, Check, Explained, Issue, View,
    commands::{self, Called, last_part},
    steps::{pairs, written},
};

pub(crate) const MUST_COPY_MANIFESTS: Check =
    Check::new("patch/must-copy-manifests", must_copy_manifests);
pub(crate) const ONLY_COPIES_MOVE: Check = Check::new("only-copies-move", only_copies_move);
pub(crate) const MANIFESTS_COPIED: Check = Check::new("manifests-copied", manifests_copied);

/// Tools, the manifest that they read, and their lock file.
const TOOLS: &[(&str, &str, &str)] = &[
    ("npm", "package.json", "package-lock.json"),
    ("yarn", "package.json", "yarn.lock"),
    ("pnpm", "package.json", "pnpm-lock.yaml"),
    ("bundle", "Gemfile", "Gemfile.lock"),
    ("composer", "composer.json", "composer.lock"),
    ("go", "go.mod", "go.sum"),
    ("cargo", "Cargo.toml", "Cargo.lock"),
    ("poetry", "pyproject.toml", "poetry.lock"),
    ("uv", "pyproject.toml", "uv.lock"),
    ("pipenv", "Pipfile", "Pipfile.lock"),
    ("mix", "mix.exs", "mix.lock"),
    ("mvn", "pom.xml", "pom.xml"),
];

/// What the tools are called with to install dependencies.
const VERBS: &[&str] = &["ci", "install", "sync", "download", "fetch", "deps.get"];

const STEPS: &[Keyword] = &[
    Keyword::Run,
    Keyword::Copy,
    Keyword::Add,
    Keyword::Arg,
    Keyword::Env,
    Keyword::Workdir,
    Keyword::User,
    Keyword::Shell,
    Keyword::Onbuild,
];

fn must_copy_manifests(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if (0..change.after.file.instructions.len()).any(|index| is_new_manifest(change, index)) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not copy a manifest before the install")]
}

/// A new COPY of manifests alone, to the place that all sources are copied to.
fn is_new_manifest(change: &Change<'_>, index: usize) -> bool {
    let after = change.after;
    let Some(own) = pairs(after, index) else { return false };
    let is_old = (0..change.before.file.instructions.len())
        .filter_map(|old| pairs(change.before, old))
        .any(|old| old == own);
    let places: Vec<String> = (0..change.before.file.instructions.len())
        .filter_map(|old| pairs(change.before, old))
        .flatten()
        .filter(|(source, _)| is_all(source))
        .map(|(_, target)| target)
        .collect();
    let is_manifest = |(source, target): &(String, String)| {
        let name = last_part(source);
        let is_known = TOOLS.iter().any(|(_, manifest, lock)| name == *manifest || name == *lock)
            || name == "package*.json"
            || name == "npm-shrinkwrap.json"
            || (name.starts_with("requirements") && name.ends_with(".txt"));
        is_known && source.trim_start_matches("./") == name && places.contains(target)
    };
    !is_old && !own.is_empty() && own.iter().all(is_manifest)
}

fn is_all(source: &str) -> bool {
    matches!(source, "." | "./")
}

fn copies_all(instruction: &Instruction) -> bool {
    match &instruction.arguments {
        Arguments::Transfer { sources, .. } => {
            instruction.flag_value("from").is_none()
                && sources.iter().any(|source| is_all(source.text.as_str()))
        }
        _ => false,
    }
}

/// The copies that moved or came in, and `npm ci` in the place of `npm install`.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let (before, after) = (change.before, change.after);
    let texts = |view: &View<'_>| -> Vec<String> {
        view.file.instructions.iter().map(|it| written(view, it)).collect()
    };
    let (olds, news) = (texts(before), texts(after));
    let mut explained = Explained::default();
    for (index, (it, text)) in before.file.instructions.iter().zip(&olds).enumerate() {
        let is_moved = copies_all(it) && news.contains(text);
        let locked = text.replace("npm install", "npm ci");
        if is_moved || (locked != *text && news.contains(&locked)) {
            explained.before.insert(index);
        }
    }
    for (index, (it, text)) in after.file.instructions.iter().zip(&news).enumerate() {
        let is_moved = copies_all(it) && olds.contains(text);
        let was = text.replace("npm ci", "npm install");
        let is_locked = was != *text && olds.contains(&was) && !olds.contains(text);
        if is_moved || is_locked || is_new_manifest(change, index) {
            explained.after.insert(index);
        }
    }
    explained
}

/// The steps of a file without the copies that may move or come in.
fn fixed_steps(view: &View<'_>, is_loose: impl Fn(usize) -> bool) -> Vec<String> {
    let all = view.file.instructions.iter().enumerate();
    all.filter(|(index, it)| {
        let is_step = STEPS.contains(&it.keyword) || it.keyword == Keyword::From;
        is_step && !copies_all(it) && !is_loose(*index)
    })
    // `npm ci` in the place of `npm install` is what manifests are copied for.
    .map(|(_, it)| written(view, it).replace("npm install", "npm ci"))
    .collect()
}

fn only_copies_move(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (before, after) = (change.before, change.after);
    let others = &change.limits.explained;
    let old = fixed_steps(before, |index| others.before.contains(&index));
    let new =
        fixed_steps(after, |index| others.after.contains(&index) || is_new_manifest(change, index));
    let copies = |view: &View<'_>| -> Vec<String> {
        let all = view.file.instructions.iter().filter(|it| copies_all(it));
        all.map(|it| written(view, it)).collect()
    };
    let message = "only the copy of the sources may move after the install, and only copies of manifests \
                   may be added";
    if old != new || copies(before) != copies(after) {
        return vec![change.issue(check, message)];
    }
    // What ran after the sources were there still does, unless it installs dependencies.
    let missed = runs_without_sources(after).into_iter().find(|(_, index)| {
        let text = after.file.instructions.get(*index).map(|it| written(after, it));
        let had = |text: &String| {
            let text = text.replace("npm install", "npm ci");
            runs_without_sources(before)
                .iter()
                .any(|(old, _)| old.replace("npm install", "npm ci") == text)
        };
        let is_known = others.after.contains(index) || text.as_ref().is_some_and(had);
        !installs(after, *index) && !is_known
    });
    let Some((_, index)) = missed else { return Vec::new() };
    let issue = change.issue(check, "this command runs before the sources are copied");
    vec![match after.file.instructions.get(index) {
        Some(instruction) => issue.at(after, instruction.span),
        None => issue,
    }]
}

/// RUNs that no copy of all sources precedes in their stage, with their text.
fn runs_without_sources(view: &View<'_>) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for stage in view.facts.stages() {
        for index in stage.instructions.clone() {
            let Some(it) = view.file.instructions.get(index) else { continue };
            if copies_all(it) {
                break;
            }
            if it.keyword == Keyword::Run {
                found.push((written(view, it), index));
            }
        }
    }
    found
}

fn tool(called: &Called) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let is_install = called.words.iter().any(|word| VERBS.contains(&word.as_str()))
        || (called.name == "mvn" && called.words.iter().any(|it| it.starts_with("dependency:")));
    TOOLS.iter().find(|(name, ..)| *name == called.name && is_install)
}

fn pip_files(called: &Called) -> Vec<&str> {
    let is_pip = called.is_any(&["pip", "pip3"]);
    let after_flag = called.words.windows(2).filter(|pair| {
        matches!(pair, [flag, _] if is_pip && matches!(flag.as_str(), "-r" | "--requirement"))
    });
    after_flag.filter_map(|pair| pair.get(1)).map(String::as_str).collect()
}

/// Whether a RUN does nothing but install dependencies.
fn installs(view: &View<'_>, index: usize) -> bool {
    let called = commands::of_instruction(view, index);
    !called.is_empty() && called.iter().all(|it| tool(it).is_some() || !pip_files(it).is_empty())
}

/// An install finds its manifest, and its lock file where it insists on one.
fn manifests_copied(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let mut issues = Vec::new();
    for (_, index) in runs_without_sources(after) {
        let Some(stage) = after.facts.stage_of(index) else { continue };
        let copied: Vec<String> = (stage.instructions.start..index)
            .filter_map(|earlier| pairs(after, earlier))
            .flatten()
            .map(|(source, _)| last_part(&source).to_owned())
            .collect();
        let has = |name: &str| {
            let is_pattern = name.starts_with("package") && name.ends_with(".json");
            copied.iter().any(|it| it == name || (is_pattern && it == "package*.json"))
        };
        for called in commands::of_instruction(after, index) {
            let mut needed: Vec<&str> = pip_files(&called).into_iter().map(last_part).collect();
            if let Some((name, manifest, lock)) = tool(&called) {
                let insists =
                    called.words.iter().any(|it| it == "ci" || it.starts_with("--frozen"));
                let is_locked = insists || !matches!(*name, "npm" | "yarn" | "pnpm");
                needed.push(manifest);
                needed.extend(is_locked.then_some(*lock));
            }
            let is_new = !change.before.text.contains(&format!("COPY {}", needed.join(" ")));
            if let Some(missing) = needed.iter().find(|name| is_new && !has(name)) {
                let message = format!("`{}` runs without `{missing}`", called.name);
                issues.push(change.issue(check, &message));
            }
        }
    }
    issues
}
