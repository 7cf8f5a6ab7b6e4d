//! Commands that install dependencies: what they read, and how they may be split around the sources.

use crate::checks::{View, commands::Called};

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
    ("mvnw", "pom.xml", "pom.xml"),
    ("gradle", "*.gradle*", "*.gradle*"),
    ("gradlew", "*.gradle*", "*.gradle*"),
    ("dotnet", "*.??proj", "*.??proj"),
];

/// Files that choose the version of a language for people's machines, and the tool that writes one into each
/// new project.
const VERSION_FILES: &[(&str, &str)] = &[
    (".node-version", ""),
    (".nvmrc", ""),
    (".python-version", "uv"),
    (".ruby-version", "rails"),
    (".tool-versions", ""),
];

/// Whether a file is the lock file of a tool that the original neither calls nor speaks of, or a file of
/// versions or of a workspace: nothing shows that it is there, and a COPY of it may fail.
pub(super) fn is_invented(view: &View<'_>, name: &str) -> bool {
    if view.text.contains(name) || name.contains('*') {
        return false;
    }
    // The original mentions its workspace or its own gem; a patch that adds one invented it.
    let is_rare = name.ends_with(".gemspec") || name.starts_with("go.work");
    let is_told = ["gemspec", "workspace", "go.work"].iter().any(|word| view.text.contains(word));
    if is_rare && !is_told {
        return true;
    }
    let calls = |tool: &str| view.all_called().any(|call| call.name == tool);
    if let Some((_, tool)) = VERSION_FILES.iter().find(|(file, _)| *file == name) {
        let text = view.text.to_lowercase();
        let mut words = text.split(|character: char| !character.is_ascii_alphanumeric());
        return tool.is_empty() || !words.any(|word| word == *tool);
    }
    // `pom.xml` is that of `mvn` and of `mvnw`.
    let mut tools = TOOLS.iter().filter(|(.., lock)| *lock == name).map(|(tool, ..)| *tool);
    match tools.next() {
        Some(tool) => !calls(tool) && !tools.any(calls),
        // pip has no lock file of its own, so its users name theirs as they like.
        None => {
            let is_known = matches!(name, "bun.lock" | "symfony.lock");
            name.ends_with(".lock") && !name.starts_with("requirements") && !is_known
        }
    }
}

/// What the tools are called with to install dependencies.
const VERBS: &[&str] = &["ci", "install", "sync", "download", "fetch", "deps.get", "restore"];

/// Options that leave to a later command what needs the sources.
const DEFERRING: &[&str] = &[
    "--no-root",
    "--no-install-project",
    "--no-install-workspace",
    "--no-scripts",
    "--no-autoloader",
];

/// The tool, its manifest and its lock file, if a command does nothing but install dependencies.
pub(super) fn tool(called: &Called) -> Option<(&'static str, &'static str, &'static str)> {
    let says = |word: &str| called.words.iter().any(|it| it == word);
    let is_install = match called.name.as_str() {
        "mvn" | "mvnw" => called.words.iter().any(|word| word.starts_with("dependency:")),
        "gradle" | "gradlew" => says("dependencies"),
        "go" => says("download"),
        "cargo" => says("fetch"),
        "dotnet" => says("restore"),
        "yarn" if called.words.iter().all(|word| word.starts_with('-')) => true,
        _ => VERBS.iter().any(|verb| says(verb)),
    };
    let is_global = says("-g") || says("--global");
    TOOLS.iter().find(|(name, ..)| *name == called.name && is_install && !is_global).copied()
}

/// The requirement and constraint files that pip is given.
pub(super) fn pip_files(called: &Called) -> Vec<&str> {
    let is_pip =
        called.is_any(&["pip", "pip3", "uv"]) || called.words.iter().any(|word| word == "pip");
    let flags = ["-r", "--requirement", "-c", "--constraint"];
    let after_flag = called
        .words
        .windows(2)
        .filter(|pair| matches!(pair, [flag, _] if is_pip && flags.contains(&flag.as_str())));
    let joined = called.words.iter().filter_map(|word| word.split_once('='));
    let joined = joined.filter(|(flag, _)| is_pip && flags.contains(flag)).map(|(_, file)| file);
    after_flag.filter_map(|pair| pair.get(1)).map(String::as_str).chain(joined).collect()
}

/// The paths that an install has to find, relative to the sources.
pub(super) fn needed(called: &Called) -> Vec<String> {
    let files: Vec<String> =
        pip_files(called).iter().map(|file| file.trim_start_matches("./").to_owned()).collect();
    if !files.is_empty() {
        return files;
    }
    let Some((name, manifest, lock)) = tool(called) else { return Vec::new() };
    if name == "dotnet" {
        let project =
            called.words.iter().find(|word| word.ends_with("proj") || word.contains(".sln"));
        return vec![
            project.map_or(manifest.to_owned(), |path| path.trim_start_matches("./").to_owned()),
        ];
    }
    let directory = directory(called);
    let at = |file: &str| match directory.as_deref() {
        Some(directory) => format!("{directory}/{file}"),
        None => file.to_owned(),
    };
    let mut needed = vec![at(manifest), at(lock)];
    match name {
        "mvnw" => needed.extend(["mvnw".to_owned(), ".mvn".to_owned()]),
        "gradlew" => needed.extend(["gradlew".to_owned(), "gradle".to_owned()]),
        _ => {}
    }
    needed
}

/// The directory that a flag of a tool names.
fn directory(called: &Called) -> Option<String> {
    let flags =
        ["--prefix", "-C", "--dir", "--cwd", "-d", "--working-dir", "--directory", "--project"];
    let mut words = called.words.iter();
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        if flags.contains(&flag) {
            let value = if value.is_empty() { words.next()?.as_str() } else { value };
            return Some(value.trim_start_matches("./").trim_end_matches('/').to_owned());
        }
    }
    None
}

/// Whether a command installs dependencies without a look at the sources.
pub(super) fn is_independent(called: &Called) -> bool {
    let says = |words: &[&str]| called.words.iter().any(|word| words.contains(&word.as_str()));
    if !pip_files(called).is_empty() {
        // `.` and `-e .` are the sources.
        return !says(&[".", "-e", "--editable"]);
    }
    let Some((name, ..)) = tool(called) else { return false };
    match name {
        "poetry" => says(&["--no-root"]),
        "uv" => says(&["--no-install-project", "--no-install-workspace"]),
        "composer" => says(&["--no-autoloader"]) || !says(OPTIMIZED),
        _ => true,
    }
}

/// Options that change what is printed or how things are downloaded.
const QUIET: &[&str] =
    &["--no-interaction", "-n", "--no-progress", "--prefer-dist", "--no-ansi", "-q", "--quiet"];

const OPTIMIZED: &[&str] =
    &["-o", "--optimize-autoloader", "-a", "--classmap-authoritative", "--optimize"];

/// Whether a command reads nothing of the sources: packages of the system, tools, accounts.
pub(super) fn is_of_the_system(called: &Called) -> bool {
    let says = |words: &[&str]| called.words.iter().any(|word| words.contains(&word.as_str()));
    // `npm cache clean --force`, `pip cache purge`
    let verb = called.words.first().map(String::as_str);
    if called.is_any(&["npm", "yarn", "pnpm", "pip", "composer", "uv"])
        && matches!(verb, Some("cache" | "store" | "clear-cache" | "clearcache"))
    {
        return true;
    }
    match called.name.as_str() {
        "apt-get" | "apt" | "apk" | "dnf" | "yum" | "microdnf" => !called
            .words
            .iter()
            .any(|word| word.starts_with("./") || word.ends_with(".deb") || word.ends_with(".apk")),
        "npm" => says(&["-g", "--global"]),
        // They only ask the system, mostly for an option of another command: `--jobs "$(nproc)"`.
        "arch" | "date" | "getconf" | "hostname" | "id" | "nproc" | "uname" | "whoami" => true,
        "dpkg" => says(&["--print-architecture"]),
        "corepack"
        | "useradd"
        | "groupadd"
        | "adduser"
        | "addgroup"
        | "docker-php-ext-install"
        | "docker-php-ext-configure"
        | "docker-php-ext-enable"
        | "pecl"
        | "a2enmod" => true,
        "rm" => {
            let places = [
                "/var/",
                "/root/",
                "/tmp/",
                "/usr/local/bundle/",
                "node_modules/.cache",
                "vendor/bundle/",
            ];
            let is_cache = |word: &String| places.iter().any(|place| word.starts_with(place));
            called.words.iter().all(|word| word.starts_with('-') || is_cache(word))
        }
        "mkdir" => called.words.iter().all(|word| word.starts_with('-') || word.starts_with('/')),
        "gem" => says(&["install"]),
        "bundle" | "composer" | "npm-config" | "poetry" | "pnpm" | "yarn" => says(&["config"]),
        "pip" | "pip3" => {
            let names = called.words.iter().filter(|word| !word.starts_with('-'));
            pip_files(called).is_empty()
                && names.skip(1).all(|name| !name.contains('/') && name != ".")
        }
        _ => false,
    }
}

/// A command as two files can be compared by: what pip keeps of its downloads is part of no result.
pub(super) fn plain(text: &str) -> String {
    if text.contains("pip") {
        text.split(' ').filter(|part| *part != "--no-cache-dir").collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    }
}

/// Whether a command is the original one, and at most insists on the lock file that is copied with it.
pub(super) fn is_locked(old: &str, new: &str) -> bool {
    const INSISTS: &[&str] = &["--frozen-lockfile", "--frozen", "--locked", "--immutable"];
    let added = |part: &&str| INSISTS.contains(part) && !old.split(' ').any(|word| word == *part);
    let rest: Vec<&str> = new.split(' ').filter(|part| !added(part)).collect();
    new == old.replace("npm install", "npm ci") || rest.join(" ") == old
}

/// The command without the options that leave something to a later one; nothing where it has none.
pub(super) fn complete(text: &str) -> Option<String> {
    let words = text.split(' ').filter(|word| !DEFERRING.contains(word));
    let complete = words.collect::<Vec<_>>().join(" ");
    (complete != text).then_some(complete)
}

/// Whether a later command does what an install left out: the whole install, or the part.
pub(super) fn is_completed(early: &str, later: &[&str]) -> bool {
    let Some(whole) = complete(early) else { return true };
    let is_whole = later.contains(&whole.as_str());
    let says = |start: &str| later.iter().any(|text| text.starts_with(start));
    let is_composer = early.starts_with("composer");
    is_whole
        || (early.contains("--no-root") && says("poetry install --only-root"))
        || (is_composer && (says("composer dump-autoload") || says("composer dumpautoload")))
}

/// Whether a command is the original one but for what it leaves to a later command.
pub(super) fn is_first_half(old: &str, new: &str) -> bool {
    complete(new).is_some_and(|whole| is_locked(old, &whole))
}

/// `composer dump-autoload` and the like: what completes an install once the sources are there.
pub(super) fn completes(text: &str) -> bool {
    let mut words = text.split(' ');
    let verb = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_known = |word: &str| {
        OPTIMIZED.contains(&word)
            || matches!(
                word,
                "--no-dev"
                    | "--no-interaction"
                    | "--no-scripts"
                    | "-n"
                    | "--strict-psr"
                    | "-q"
                    | "--quiet"
            )
    };
    match verb {
        ("composer", "dump-autoload" | "dumpautoload") => words.all(is_known),
        ("composer", "run-script" | "run") => words
            .all(|word| word.starts_with("post-") || word == "--no-dev" || QUIET.contains(&word)),
        ("poetry", "install") => words.clone().any(|word| word == "--only-root"),
        _ => false,
    }
}

/// Options that choose neither the packages nor their versions.
fn is_choice(word: &str) -> bool {
    !QUIET.contains(&word) && !OPTIMIZED.contains(&word) && !DEFERRING.contains(&word)
}

/// Whether an early install does a part of a later one: the same packages, with deferring options.
pub(super) fn is_part_of(early: &str, whole: &str) -> bool {
    let start = |text: &str| text.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_known = |word: &str| {
        whole.split(' ').any(|part| part == word)
            || DEFERRING.contains(&word)
            || QUIET.contains(&word)
    };
    let is_install = VERBS.iter().any(|verb| early.split(' ').nth(1) == Some(verb));
    let mut chosen = whole.split(' ').filter(|part| is_choice(part));
    is_install
        && start(early) == start(whole)
        && early.split(' ').all(is_known)
        && chosen.all(|word| early.split(' ').any(|part| part == word))
}

/// Whether `composer dump-autoload` makes the class map that the install was asked for.
pub(super) fn is_as_optimized(old: &str, dump: &str) -> bool {
    let is_optimized = |text: &str| text.split(' ').any(|part| OPTIMIZED.contains(&part));
    !old.starts_with("composer install") || !is_optimized(old) || is_optimized(dump)
}

/// Whether an install of composer is the original but for what it leaves to `dump-autoload`.
pub(super) fn is_split_composer(old: &str, new: &str) -> bool {
    let plain = |text: &str| -> Vec<String> {
        let words = text.split(' ');
        let kept = words.filter(|word| {
            !DEFERRING.contains(word) && !OPTIMIZED.contains(word) && !QUIET.contains(word)
        });
        kept.map(str::to_owned).collect()
    };
    let is_deferred = new.contains("--no-autoloader") || new.contains("--no-scripts");
    old.starts_with("composer install") && is_deferred && plain(old) == plain(new)
}

/// `dotnet publish` that need not restore again.
pub(super) fn is_restored(old: &str, new: &str) -> bool {
    let plain: Vec<&str> = new.split(' ').filter(|part| *part != "--no-restore").collect();
    old.starts_with("dotnet ") && new != old && plain.join(" ") == old
}

/// Downloads that change no result, whether they run once or twice.
pub(super) fn is_download(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        ["go", "mod", "download" | "verify"]
        | ["go", "mod", "download", "-x"]
        | ["cargo", "fetch"]
        | ["cargo", "fetch", "--locked"] => true,
        ["mvn" | "./mvnw", rest @ ..] => {
            let is_flag = |word: &&str| {
                matches!(*word, "-B" | "-q" | "-ntp" | "--batch-mode" | "--no-transfer-progress")
            };
            let goals: Vec<&&str> = rest.iter().filter(|word| !is_flag(word)).collect();
            matches!(goals.as_slice(), [goal] if matches!(**goal, "dependency:go-offline" | "dependency:resolve" | "dependency:resolve-plugins"))
        }
        ["gradle" | "./gradlew", "dependencies"]
        | ["gradle" | "./gradlew", "dependencies", "--no-daemon"] => true,
        _ => false,
    }
}

/// Sources that cargo wants to see before it fetches; the copy of the sources overwrites them.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.replace(['"', '\''], "");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["mkdir", rest @ ..] => matches!(rest, ["src"] | ["-p", "src"]),
        ["rm", "-rf" | "-r", "src"] => true,
        ["touch", rest @ ..] => !rest.is_empty() && rest.iter().all(|file| is_source(file)),
        ["echo" | "printf", "fn", rest @ ..] => {
            matches!(rest, ["main()", "{}", ">", file] | ["main(){}", ">", file] if is_source(file))
        }
        _ => false,
    }
}

fn is_source(file: &str) -> bool {
    matches!(file, "src/main.rs" | "src/lib.rs")
}
