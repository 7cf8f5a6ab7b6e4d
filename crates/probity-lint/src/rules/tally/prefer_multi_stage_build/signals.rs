//! What gives a build away: packages, build commands, downloads.
//!
//! Each compiler, header package, build step or download weighs enough for the rule to speak.

use std::borrow::Cow;

use probity_dockerfile::{Action, Keyword, Manager, PackageCall, PackageKind};
use probity_finding::Signal;
use probity_shell::{Call, Command, Script};

use crate::engine::context::Context;

/// A sign and what it weighs.
pub(super) struct Scored {
    pub(super) signal: Signal,
    pub(super) score: u32,
}

impl Scored {
    /// Whether something is made here, which is more than being installed.
    pub(super) fn is_build(&self) -> bool {
        self.signal.kind != INSTALL && self.score >= ENOUGH
    }
}

/// What is enough by itself with the default `min-score`.
const ENOUGH: u32 = 4;
const WEAK: u32 = 2;
const MOST_OF_PACKAGES: u32 = 6;

pub(super) fn find(context: &Context<'_>) -> Vec<Scored> {
    let mut found = Vec::new();
    for (index, _) in context.each(Keyword::Run) {
        // `apt-get purge`, `apk del .build-deps`: the tools leave with the same layer.
        if context.package_calls(index).iter().any(|call| call.action == Action::Remove) {
            continue;
        }
        for call in context.package_calls(index) {
            found.extend(packages(context, call));
        }
        for script in context.scripts(index) {
            for command in &script.commands {
                found.extend(build_step(context, command));
                found.extend(download(context, script, command));
            }
        }
    }
    if found.iter().any(|scored| scored.signal.kind == INSTALL && scored.score >= ENOUGH) {
        found.extend(native_addons(context));
    }
    found.sort_by_key(|scored| scored.signal.span);
    found
}

const INSTALL: &str = "package_install";

/// Where a compiler is installed, `pip install` and `npm ci` are what it is for.
fn native_addons(context: &Context<'_>) -> Vec<Scored> {
    let calls = context.each(Keyword::Run).flat_map(|(index, _)| context.package_calls(index));
    let managers = [Manager::Pip, Manager::Npm, Manager::Yarn, Manager::Pnpm, Manager::Gem];
    calls
        .filter(|call| call.action == Action::Install && managers.contains(&call.manager))
        .map(|call| Scored {
            signal: Signal {
                kind: "build_step",
                tool: call.name_span.slice(context.file.text).map(str::to_owned),
                packages: Vec::new(),
                evidence: context.quoted(call.span),
                span: call.span,
            },
            score: WEAK,
        })
        .collect()
}

fn packages(context: &Context<'_>, call: &PackageCall) -> Option<Scored> {
    if call.action != Action::Install {
        return None;
    }
    let names: Vec<String> = call
        .packages
        .iter()
        .filter_map(|package| match &package.kind {
            PackageKind::Named { name, .. } => Some(name.clone()),
            _ => None,
        })
        .filter(|name| is_build_package(name) || name == "git")
        .collect();
    let score = |name: &String| match name.as_str() {
        "git" => 1,
        name if WEAK_PACKAGES.contains(&name) => WEAK,
        _ => ENOUGH,
    };
    let strongest = names.iter().map(score).max().unwrap_or_default();
    let others = u32::try_from(names.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let score = strongest.saturating_add(others).min(MOST_OF_PACKAGES);
    let tool = call.name_span.slice(context.file.text).map(str::to_owned);
    (score > 0).then(|| Scored {
        signal: Signal {
            kind: INSTALL,
            tool,
            packages: names,
            evidence: context.quoted(call.span),
            span: call.span,
        },
        score,
    })
}

/// Packages that scripts and programs also call at run time.
const WEAK_PACKAGES: &[&str] = &["binutils", "bison", "flex", "m4", "patch", "swig"];

fn is_build_package(name: &str) -> bool {
    const TOOLS: &[&str] = &[
        "autoconf",
        "automake",
        "base-devel",
        "binutils",
        "bison",
        "build-base",
        "build-essential",
        "cargo",
        "clang",
        "cmake",
        "cpp",
        "flex",
        "g++",
        "gcc",
        "gcc-c++",
        "go",
        "golang",
        "golang-go",
        "gradle",
        "libc-dev",
        "libtool",
        "llvm",
        "m4",
        "make",
        "maven",
        "meson",
        "musl-dev",
        "nasm",
        "ninja",
        "ninja-build",
        "openssl-dev",
        "patch",
        "pkg-config",
        "pkgconf",
        "pkgconfig",
        "python3-dev",
        "rust",
        "rustc",
        "swig",
        "yasm",
    ];
    TOOLS.contains(&name) || name.ends_with("-dev") || name.ends_with("-devel")
}

fn build_step(context: &Context<'_>, command: &Command) -> Option<Scored> {
    let call = command.effective();
    let name = call.name()?;
    let is_build = match name.as_ref() {
        "make" | "gmake" | "cmake" | "ninja" | "meson" | "configure" => {
            !call.has_flag(&["--version", "-v", "--help"])
        }
        "npm" | "npx" | "yarn" | "pnpm" | "bun" | "bunx" => runs_build_script(&call),
        "bundle" | "bundler" => matches!(call.subcommand(&[]).as_deref(), None | Some("install")),
        "composer" | "composer.phar" | "php" => installs_by_composer(&name, &call),
        _ => compiles(&name, &call),
    };
    if !is_build {
        return None;
    }
    let span = call.span()?;
    Some(Scored {
        signal: Signal {
            kind: "build_step",
            tool: Some(name.into_owned()),
            packages: Vec::new(),
            evidence: context.quoted(span),
            span,
        },
        score: ENOUGH,
    })
}

/// `composer install`, `php composer.phar install`
fn installs_by_composer(name: &str, call: &Call<'_>) -> bool {
    let words = call.positional(&["-d", "--working-dir"]);
    let mut words = words.iter().filter_map(|word| word.literal());
    let is_composer =
        name != "php" || words.next().is_some_and(|word| word.ends_with("composer.phar"));
    is_composer && words.next().is_some_and(|word| word == "install" || word == "update")
}

/// `npm run build`, `yarn build`, `yarn workspace web build`, `npx tsc`, `npx ng build`
fn runs_build_script(call: &Call<'_>) -> bool {
    const COMPILERS: &[&str] = &["esbuild", "rollup", "tsc", "tsup", "webpack"];
    const BUNDLERS: &[&str] = &["astro", "ng", "nest", "next", "nuxt", "nx", "turbo", "vite"];
    let words =
        call.positional(&["--prefix", "--cwd", "-C", "--filter", "-F", "--workspace", "-w"]);
    let words: Vec<Cow<'_, str>> = words.iter().filter_map(|word| word.literal()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let words = match words.as_slice() {
        ["workspace", _, rest @ ..] => rest,
        ["exec" | "dlx", rest @ ..] | rest => rest,
    };
    let words = match words {
        ["run" | "run-script", rest @ ..] | rest => rest,
    };
    match words {
        [tool, rest @ ..] if BUNDLERS.contains(tool) => rest.contains(&"build"),
        [script, ..] => {
            *script == "build" || script.starts_with("build:") || COMPILERS.contains(script)
        }
        [] => false,
    }
}

/// A compiler's front end with a subcommand that makes something to keep.
fn compiles(name: &str, call: &Call<'_>) -> bool {
    let verbs: &[&str] = match name {
        "go" => &["build", "install"],
        "cargo" => &["build", "install", "b"],
        "dotnet" => &["build", "publish"],
        "mvn" | "mvnw" => &["package", "install", "verify", "deploy"],
        "gradle" | "gradlew" => &[
            "assemble",
            "bootJar",
            "bootWar",
            "build",
            "distTar",
            "distZip",
            "installDist",
            "jar",
            "quarkusBuild",
            "shadowJar",
            "war",
        ],
        "swift" | "stack" | "cabal" | "zig" | "dart" => &["build", "install", "compile"],
        "mix" => &["release"],
        "msbuild" | "gcc" | "g++" | "clang" | "rustc" | "javac" | "ghc" | "cc" | "c++" => {
            return !call.args().is_empty() && !call.has_flag(&["--version"]);
        }
        _ => return false,
    };
    // Maven and Gradle take several, and `gradle :app:build` names the project before it.
    call.positional(&[]).iter().filter_map(|word| word.literal()).any(|word| {
        let verb = word.rsplit(':').next().unwrap_or_default();
        verbs.contains(&verb)
    })
}

/// `curl … | tar x`, `curl … | sh`, or a download of an archive that a later command unpacks.
fn download(context: &Context<'_>, script: &Script, command: &Command) -> Option<Scored> {
    let call = command.effective();
    if !call.is_any(&["curl", "wget"]) {
        return None;
    }
    let is_consumer = |other: &Command| {
        let call = other.effective();
        call.is_any(&["tar", "unzip", "bsdtar"]) || is_shell_on_input(&call)
    };
    let later = script.commands.iter().filter(|other| other.span.start > command.span.start);
    let is_used = if script.is_piped(command) {
        later.clone().any(|other| {
            other.place.block() == command.place.block()
                && other.place.pipeline() == command.place.pipeline()
                && is_consumer(other)
        })
    } else {
        false
    };
    let is_archive = call.args().iter().any(|word| {
        // The address may begin with a variable; how it ends is what counts.
        let end = word.parts().last().and_then(|part| part.text()).unwrap_or_default();
        [".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip"]
            .iter()
            .any(|suffix| end.ends_with(suffix))
    });
    let is_unpacked = is_archive && later.clone().any(is_consumer);
    let span = call.span()?;
    (is_used || is_unpacked).then(|| Scored {
        signal: Signal {
            kind: "download_install",
            tool: call.name().map(Cow::into_owned),
            packages: Vec::new(),
            evidence: context.quoted(span),
            span,
        },
        score: ENOUGH,
    })
}

/// `sh`, `bash -s -- x`: the script comes through the pipe.
fn is_shell_on_input(call: &Call<'_>) -> bool {
    let is_shell = call.is_any(&["sh", "bash", "ash", "dash", "zsh"]);
    is_shell && (call.has_flag(&["-s"]) || call.positional(&["-o"]).is_empty())
}
