//! What the commands of a file do: build, install, or change the image in some other way.

mod build_packages;
mod install_prefix;

use std::borrow::Cow;

use probity_dockerfile::{
    Action, CommandLine, Flag, Instruction, Keyword, Manager, PackageCall, PackageKind, Setting,
    Value,
};
use probity_shell::{BlockKind, Command, Joiner, Script};

use self::build_packages::{BUILD_ONLY, COMPILER_PACKAGES};
pub(crate) use self::install_prefix::install_prefix;
use super::{Change, View, base_image::base, image_kind::ImageKind};

/// How what a file builds depends on the image below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// It is linked with all that it needs.
    Static,
    /// It is machine code that needs libraries.
    Native,
    /// It is for the run time of a language.
    Portable,
}

/// Signs that a program is linked with all that it needs.
const STATIC: &[&str] =
    &["CGO_ENABLED=0", "CGO_ENABLED 0", "linux-musl", "+crt-static", "musl-tools"];

/// Whether flags make the linker include every library; `--disable-static` is about archives.
fn links_statically(text: &str) -> bool {
    let mut words =
        text.split(|character: char| character.is_whitespace() || "\"'=,;".contains(character));
    words.any(|word| matches!(word, "-static" | "--static" | "-static-pie"))
}

const NATIVE_TOOLS: &[&str] = &[
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "make",
    "cmake",
    "ninja",
    "meson",
    "go",
    "cargo",
    "rustc",
    "swift",
    "ghc",
    "stack",
    "cabal",
    "zig",
    "docker-php-ext-install",
    "pecl",
];

/// Programs that a stage needs which only makes pages for browsers.
pub(crate) const NODE_TOOLS: &[&str] =
    &["npm", "npx", "yarn", "pnpm", "corepack", "mkdir", "cp", "mv", "rm", "cd"];

/// Python packages that build and install others.
pub(crate) const PYTHON_TOOLS: &[&str] = &[
    "build",
    "cython",
    "hatch",
    "maturin",
    "pdm",
    "pip",
    "pipenv",
    "poetry",
    "setuptools",
    "uv",
    "virtualenv",
    "wheel",
];

/// How what a proposal builds depends on the image below it: pure Go may be linked statically, where
/// nothing shows that it uses C.
pub(crate) fn linkage_of(change: &Change<'_>) -> Linkage {
    let before = linkage(change.before);
    let language =
        base(change.before).and_then(|image| ImageKind::of(&image)).and_then(|kind| kind.language);
    let is_go = language == Some("go") && change.after.text.contains("CGO_ENABLED=0");
    match before {
        Linkage::Native if is_go && !change.before.uses_c() => Linkage::Static,
        before => before,
    }
}

/// [`View::uses_c`]
pub(super) fn shows_c(view: &View<'_>) -> bool {
    let is_of_c =
        |name: &String| name.ends_with("-dev") || COMPILER_PACKAGES.contains(&name.as_str());
    installed(view).iter().any(is_of_c)
        || ["sqlite", "CGO_ENABLED=1", "cgo"].iter().any(|sign| view.text.contains(sign))
}

pub(crate) fn linkage(view: &View<'_>) -> Linkage {
    let language =
        base(view).and_then(|image| ImageKind::of(&image)).and_then(|kind| kind.language);
    let compiles = matches!(language, Some("go" | "rust" | "c"))
        || view.all_called().any(|command| command.is_any(NATIVE_TOOLS))
        || installed(view).iter().any(|name| COMPILER_PACKAGES.contains(&name.as_str()));
    if !compiles {
        return Linkage::Portable;
    }
    // On Alpine, Rust links the C library statically by default.
    let kind = base(view).and_then(|image| ImageKind::of(&image));
    let is_rust_on_musl = kind.is_some_and(|kind| kind.language == Some("rust") && kind.is_musl());
    let is_dynamic = view.text.contains("-crt-static") && !view.text.contains("+crt-static");
    // `--static` of a program that is started is something else.
    let is_build = |instruction: &&Instruction| {
        matches!(instruction.keyword, Keyword::Run | Keyword::Env | Keyword::Arg)
    };
    let mut builds = view.file.instructions.iter().filter(is_build);
    let has_sign = STATIC.iter().any(|sign| view.text.contains(sign))
        || builds.any(|instruction| links_statically(instruction.body_text()))
        || is_rust_on_musl;
    if has_sign && !is_dynamic { Linkage::Static } else { Linkage::Native }
}

/// Whether `npm`, `pip` and the like put packages into the image.
pub(crate) fn installs_local_packages(view: &View<'_>) -> bool {
    calls(view).any(|(_, call)| call.action == Action::Install && is_language_manager(call.manager))
}

pub(crate) fn is_language_manager(manager: Manager) -> bool {
    matches!(manager, Manager::Pip | Manager::Npm | Manager::Yarn | Manager::Pnpm | Manager::Gem)
}

pub(crate) fn is_build_package(name: &str) -> bool {
    // `gcc-12`, `openjdk-17-jdk-headless`
    let plain = name.trim_end_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '-')
    });
    let is_jdk = name.contains("-jdk") || (name.starts_with("openjdk") && !name.contains("jre"));
    is_jdk
        || name.contains("-dev-")
        || name.ends_with("-dev")
        || name.ends_with("-devel")
        || name.ends_with("-static")
        || COMPILER_PACKAGES.contains(&plain)
        || BUILD_ONLY.contains(&plain)
        || BUILD_ONLY.contains(&name)
}

/// Whether a package is a compiler of C or C++, or brings one.
pub(crate) fn is_compiler(name: &str) -> bool {
    COMPILER_PACKAGES.contains(&name)
}

/// Every package call with the index of its instruction.
pub(crate) fn calls<'v>(view: &'v View<'_>) -> impl Iterator<Item = (usize, &'v PackageCall)> {
    let indices = 0..view.file.instructions.len();
    indices.flat_map(|index| {
        view.facts.package_calls(&view.file, index).iter().map(move |call| (index, call))
    })
}

/// The names of all packages that a file installs.
pub(crate) fn installed(view: &View<'_>) -> Vec<String> {
    calls(view).flat_map(|(_, call)| names(call)).collect()
}

/// The names of the packages of one call.
pub(crate) fn names(call: &PackageCall) -> Vec<String> {
    if call.action != Action::Install {
        return Vec::new();
    }
    let named = call.packages.iter().filter_map(|package| match &package.kind {
        PackageKind::Named { name, .. } => Some(name.clone()),
        _ => None,
    });
    named.collect()
}

/// One command as it is called: its name, and words that are constant.
pub(crate) struct Called {
    pub(crate) instruction: usize,
    pub(crate) name: String,
    pub(crate) words: Vec<String>,
}

impl Called {
    pub(crate) fn of(instruction: usize, command: &Command) -> Option<Self> {
        let call = command.effective();
        let name = call.name()?;
        let words = call.args().iter().filter_map(|word| word.pattern()).collect();
        Some(Self { instruction, name: last_part(&name).to_owned(), words })
    }

    pub(crate) fn is_any(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| {
            // `assets:precompile`, `build:web`
            word.split(':').any(|part| words.contains(&part)) || words.contains(&word.as_str())
        })
    }

    /// Whether it puts the results of a build below a prefix.
    pub(crate) fn installs_tree(&self) -> bool {
        self.is_any(&["make", "gmake", "bmake", "cmake", "ninja", "samu", "meson", "scons", "waf"])
            && self.words.iter().any(|word| matches!(word.as_str(), "install" | "--install"))
    }

    /// Whether it makes something of sources.
    pub(crate) fn is_build(&self) -> bool {
        match self.name.as_str() {
            "make" | "gmake" | "bmake" | "cmake" | "ninja" | "samu" | "meson" | "scons" | "waf"
            | "configure" | "gcc" | "g++" | "cc" | "c++" | "clang" | "rustc" | "javac" | "ghc"
            | "tsc" | "webpack" | "vite" | "esbuild" => true,
            "go" => self.says(&["build", "install", "generate"]),
            "cargo" | "dotnet" | "swift" | "stack" | "cabal" | "zig" => {
                self.says(&["build", "install", "publish"])
            }
            "mvn" | "mvnw" | "gradle" | "gradlew" | "docker-php-ext-install" | "pecl" => true,
            "npm" | "yarn" | "pnpm" | "bun" => self.says(&["build"]),
            "npx" => self.says(&["build", "esbuild", "rollup", "tsc", "tsup", "webpack"]),
            "bundle" | "rake" | "rails" => self.says(&["precompile"]),
            _ => false,
        }
    }
}

/// The directory that a flag of Node's package managers names.
pub(crate) fn prefix_of(words: &[&str]) -> Option<String> {
    const FLAGS: &[&str] = &["--prefix", "--cwd", "--dir", "-C"];
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let mut joined = joined.filter(|(flag, _)| FLAGS.contains(flag)).map(|(_, value)| value);
    let mut pairs = words.windows(2).filter_map(|pair| match pair {
        [flag, value] => FLAGS.contains(flag).then_some(*value),
        _ => None,
    });
    let value = joined.next().or_else(|| pairs.next())?;
    Some(value.trim_start_matches("./").trim_end_matches('/').to_owned())
}

/// [`View::called`]
pub(super) fn called(view: &View<'_>, index: usize) -> Vec<Called> {
    let is_run =
        |instruction: &probity_dockerfile::Instruction| instruction.keyword == Keyword::Run;
    if !view.file.instructions.get(index).is_some_and(is_run) {
        return Vec::new();
    }
    let scripts = view.facts.scripts(&view.file, index).iter();
    let commands = scripts.flat_map(|script| &script.commands);
    commands.filter_map(|command| Called::of(index, command)).collect()
}

/// Whether the container starts this program.
pub(crate) fn starts(view: &View<'_>, program: &str) -> bool {
    let runtime = view.facts.final_runtime();
    let mut entries =
        [Setting::Entrypoint, Setting::Cmd].into_iter().flat_map(|setting| runtime.get(setting));
    entries.any(|entry| match &entry.entry.value {
        Value::Command(CommandLine::Exec(words)) => {
            words.iter().any(|word| last_part(word) == program)
        }
        Value::Command(CommandLine::Shell { text, .. }) => {
            text.split_whitespace().any(|word| last_part(word) == program)
        }
        _ => false,
    })
}

/// Whether a name is always that of a directory.
pub(crate) fn is_directory(name: &str) -> bool {
    const NAMES: &[&str] = &[
        ".next",
        ".venv",
        "assets",
        "conf.d",
        "dist",
        "extensions",
        "locales",
        "migrations",
        "node_modules",
        "public",
        "share",
        "site-packages",
        "static",
        "templates",
        "vendor",
        "venv",
        "views",
    ];
    NAMES.contains(&name)
}

pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One pipeline of a RUN, with how it is written and which commands it has.
pub(crate) struct Segment {
    pub(crate) text: String,
    pub(crate) commands: Vec<Command>,
    /// Package calls in it.
    pub(crate) calls: Vec<PackageCall>,
    /// Where it runs, if the file tells.
    pub(crate) directory: Option<String>,
}

impl Segment {
    pub(crate) fn is_change_of_directory(&self) -> bool {
        self.commands.iter().any(|command| command.name().is_some_and(|name| name == "cd"))
    }
}

/// The parts of a RUN, if each works by itself: joined by `&&` alone, and none changes what the next
/// ones start with.
pub(crate) fn segments<'v>(view: &'v View<'_>, index: usize) -> Option<&'v [Segment]> {
    let parts = view.parts(index)?;
    let is_input = |flag: &Flag| !is_cache(flag) && !is_secret_mount(flag);
    let instruction = view.file.instructions.get(index)?;
    let moves = parts.iter().any(|part| part.is_change_of_directory());
    (!moves && !instruction.flags.iter().any(is_input)).then_some(parts)
}

/// [`View::parts`]
pub(super) fn parts(view: &View<'_>, index: usize) -> Option<Vec<Segment>> {
    const STATEFUL: &[&str] = &["export", "set", ".", "source", "umask", "pushd", "popd"];
    let instruction = view.file.instructions.get(index)?;
    let is_known = |flag: &Flag| is_cache(flag) || is_context_mount(flag) || is_secret_mount(flag);
    if !instruction.flags.iter().all(is_known) {
        return None;
    }
    // A part with a secret is another one than without.
    let secrets = instruction.flags.iter().filter(|flag| is_secret_mount(flag));
    let secrets: Vec<&str> = secrets.filter_map(|flag| flag.span.slice(view.text)).collect();
    let [script] = view.facts.scripts(&view.file, index) else { return None };
    let (block, inner) = script.blocks.split_first()?;
    if inner.iter().any(|block| block.kind != BlockKind::Substitution) {
        return None;
    }
    let is_plain = script.errors().is_empty() && script.opaque.is_none();
    // Where a script ends at the first failure, its lines are joined as by `&&`.
    let ends_early = script.commands.first().is_some_and(|command| {
        let words = words(command).unwrap_or_default();
        matches!(words.as_slice(), [set, flag, ..] if set == "set" && flag.starts_with('-') && flag.contains('e'))
    });
    if !instruction.heredocs().is_empty() && !ends_early {
        return None;
    }
    // Only installs of packages read this.
    let is_frontend = |command: &Command| {
        let words = words(command).unwrap_or_default();
        matches!(words.as_slice(), [export, set] if export == "export" && set.starts_with("DEBIAN_FRONTEND="))
    };
    let first = usize::from(ends_early);
    let skipped = first + usize::from(script.commands.get(first).is_some_and(is_frontend));
    let is_joined = |joiner: Joiner| match joiner {
        Joiner::First | Joiner::And => true,
        Joiner::Newline | Joiner::Semicolon => ends_early,
        Joiner::Or | Joiner::Background => false,
    };
    let is_chain = block
        .pipelines
        .iter()
        .all(|pipeline| is_joined(pipeline.joiner) && !pipeline.background && !pipeline.negated);
    let activates = |command: &Command| {
        let first = command.words.get(1).and_then(|word| word.pattern());
        first.is_some_and(|word| word.ends_with("/bin/activate"))
    };
    let is_stateful = script.commands.iter().skip(skipped).any(|command| {
        let is_named = command.name().is_some_and(|name| STATEFUL.contains(&name.as_ref()));
        command.words.is_empty() || (is_named && !activates(command))
    });
    if !is_plain || !is_chain || is_stateful || script.commands.is_empty() {
        return None;
    }
    let calls = view.facts.package_calls(&view.file, index);
    let state = view.facts.state(index);
    let mut directory = state.and_then(|state| state.workdir.path.as_deref().map(str::to_owned));
    let mut found = Vec::new();
    for number in skipped..block.pipelines.len() {
        let plain = segment(view, script, calls, number);
        let text = if secrets.is_empty() {
            plain.text
        } else {
            format!("{} {}", secrets.join(" "), plain.text)
        };
        let part = Segment { directory: directory.clone(), text, ..plain };
        if part.is_change_of_directory() {
            let [command] = part.commands.as_slice() else { return None };
            let words = words(command)?;
            let [_, target] = words.as_slice() else { return None };
            let from = directory.as_deref().or(Some("/"));
            directory = Some(super::steps::absolute(target, from)?);
        }
        found.push(part);
    }
    Some(found)
}

/// Parts of the places where tools keep what they downloaded or compiled.
const CACHES: &[&str] = &[
    "/.cargo/",
    "/.gradle",
    "/.ivy2",
    "/.m2",
    "/.npm",
    "/.nuget",
    "/.pnpm",
    "/.yarn",
    "/NuGet",
    "/apt",
    "/ccache",
    "/go/pkg",
    "/cache",
    "/.cache",
    "/cargo/git",
    "/gradle",
    "/maven",
    "/cargo/registry",
    "/composer",
    "/pkg/mod",
    "/target",
    "-cache",
    "/store",
];

/// A mount that leaves nothing in the image: a cache of tools, or what another stage has made.
pub(crate) fn is_cache(flag: &Flag) -> bool {
    let value = flag.value.as_ref().map(|value| value.text.as_str()).unwrap_or_default();
    let has = |start: &str| value.split(',').any(|part| part.starts_with(start));
    let target = value.split(',').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        matches!(name, "target" | "dst" | "destination").then_some(value)
    });
    let is_tools = target.is_some_and(|target| CACHES.iter().any(|cache| target.contains(cache)));
    flag.name.text.as_str() == "mount"
        && ((has("type=cache") && !has("from=") && is_tools) || (has("type=bind") && has("from=")))
}

/// A mount of files of the build context, which leaves nothing in the image either.
pub(crate) fn is_context_mount(flag: &Flag) -> bool {
    let value = flag.value.as_ref().map(|value| value.text.as_str()).unwrap_or_default();
    let has = |start: &str| value.split(',').any(|part| part.starts_with(start));
    let is_input = has("type=bind") && !has("from=");
    // Elsewhere it would hide what is there, and lose what the step writes.
    let is_fleeting = |part: &str| {
        let target = part.strip_prefix("target=").or_else(|| part.strip_prefix("dst="));
        target.is_some_and(|target| ["/tmp", "/var/tmp", "/run", "/root/.cache"].contains(&target))
    };
    let is_memory = has("type=tmpfs") && value.split(',').any(is_fleeting);
    flag.name.text.as_str() == "mount" && (is_input || is_memory)
}

/// A mount of a secret, which leaves nothing in the image unless the command stores it.
fn is_secret_mount(flag: &Flag) -> bool {
    let value = flag.value.as_ref().map(|value| value.text.as_str()).unwrap_or_default();
    flag.name.text.as_str() == "mount"
        && value.split(',').any(|part| matches!(part, "type=secret" | "type=ssh"))
}

fn segment(view: &View<'_>, script: &Script, calls: &[PackageCall], number: usize) -> Segment {
    let is_here =
        |command: &Command| command.place.block() == 0 && command.place.pipeline() == number;
    let commands = script.commands.iter().enumerate().filter(|(_, command)| is_here(command));
    let places: Vec<usize> = commands.clone().map(|(place, _)| place).collect();
    let span = script.blocks.first().and_then(|block| block.pipelines.get(number));
    let text = span.and_then(|pipeline| pipeline.span.slice(view.text)).unwrap_or_default();
    Segment {
        text: joined(text),
        commands: commands.map(|(_, command)| command.clone()).collect(),
        calls: calls.iter().filter(|call| places.contains(&call.command)).cloned().collect(),
        directory: None,
    }
}

/// A text without continued lines; spaces count within quotes alone.
fn joined(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    if text.contains(['"', '\'']) {
        text.trim().to_owned()
    } else {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The constant words of a command after its name.
pub(crate) fn words(command: &Command) -> Option<Vec<String>> {
    command.words.iter().map(|word| word.pattern()).collect()
}

pub(crate) fn name_of(command: &Command) -> Option<Cow<'_, str>> {
    command.effective().name()
}
