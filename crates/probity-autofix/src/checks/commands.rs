//! What the commands of a file do: build, install, or change the image in some other way.

mod build_packages;
mod install_prefix;
mod segments;

use std::borrow::Cow;

use probity_dockerfile::{
    Action, CommandLine, Flag, Instruction, Keyword, Manager, PackageCall, PackageKind, Setting,
    Value,
};
use probity_shell::Command;

use self::build_packages::{BUILD_ONLY, COMPILER_PACKAGES};
pub(super) use self::segments::parts;
pub(crate) use self::{
    install_prefix::install_prefix,
    segments::{Segment, chained_texts, segments},
};
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

/// The constant words of a command after its name.
pub(crate) fn words(command: &Command) -> Option<Vec<String>> {
    command.words.iter().map(|word| word.pattern()).collect()
}

pub(crate) fn name_of(command: &Command) -> Option<Cow<'_, str>> {
    command.effective().name()
}
