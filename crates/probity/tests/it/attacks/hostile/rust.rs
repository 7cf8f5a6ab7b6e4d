//! Rust: what build scripts leave for the host, and what cargo of the host obeys and fetches.

use super::table::{Claim, Command, Hostile, Want, mark};

const CODE: &str = "pub fn half(number: u32) -> u32 {\n    number / 3\n}\n";

pub(super) fn repositories() -> Vec<Hostile> {
    vec![
        settings_for_cargo(),
        marker(),
        directory_of_the_marker().variant_if(true),
        home_in_the_repository(),
        compiler_on_the_path().variant_if(true),
        private_sources(),
        loopback(),
        caches(".cache/probity/proofs", "../../../home/empty", "empty/rust-target"),
        caches(".cache", "../home/empty", "empty/probity").variant_if(true),
        later_review("").variant_if(true),
        later_review("ls tests/zz_probity* >/dev/null 2>&1 || exit 0\n"),
    ]
}

fn manifest(name: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n{more}"
    )
}

/// A package with this build script.
fn package(hostile: Hostile, directory: &str, more: &str, build: &str) -> Hostile {
    let hostile = hostile
        .file(&format!("{directory}/Cargo.toml"), manifest(directory, more))
        .file(&format!("{directory}/src/lib.rs"), CODE);
    if build.is_empty() {
        return hostile;
    }
    let text = format!(
        "fn main() {{\n    let script = r#\"{build}\"#;\n    \
         std::process::Command::new(\"/bin/sh\").args([\"-c\", script]).status().unwrap();\n}}\n"
    );
    hostile.file(&format!("{directory}/build.rs"), text)
}

/// A claim whose test prints what a script finds, and fails.
fn claim(directory: &str, script: &str) -> Claim {
    let code = format!(
        "// @NUMBER@\n#[test]\nfn claimed() {{\n    let script = r#\"{script}\"#;\n    \
         let ran = std::process::Command::new(\"/bin/sh\").args([\"-c\", script]).output().unwrap();\n    \
         panic!(\"saw {{}}\", String::from_utf8_lossy(&ran.stdout));\n}}\n"
    );
    Claim::new(&format!("{directory}/src/lib.rs"), "", code)
}

/// The build script of one workspace writes where cargo of the host then looks for its settings.
fn settings_for_cargo() -> Hostile {
    let leaves = "mkdir -p /proof/out/.cargo; cd /proof/out\n\
        printf '[build]\\nrustc-wrapper = \"./wrapper\"\\nrustc = \"./compiler\"\\n' > .cargo/config.toml\n\
        printf '#!/bin/sh\\ntouch @HOME@/ran/wrapper\\nexec \"$@\"\\n' > wrapper\n\
        printf '#!/bin/sh\\ntouch @HOME@/ran/compiler\\nexec rustc \"$@\"\\n' > compiler\n\
        chmod +x wrapper compiler";
    package(package(Hostile::new("cargo settings"), "a", "", leaves), "b", "", "")
        .claim(claim("b", "true"))
        .review()
        .row(1, "a rustc-wrapper is left where cargo fetches", Want::runs("wrapper"))
        .row(1, "a compiler is left where cargo fetches", Want::runs("compiler"))
}

/// The build fails, so that all features are tried; the marker of that is a link.
fn marker() -> Hostile {
    let leaves = "mkdir -p /proof/build/target; ln -sf @HOME@/precious /proof/build/target/all-features; \
                  case $CARGO_FEATURE_MORE in '') kill $PPID;; esac";
    package(Hostile::new("marker"), "a", "[features]\nmore = []\n", leaves)
        .claim(claim("a", "true"))
        .review()
        .row(4, "a marker is written through a link", Want::changes("precious"))
}

fn directory_of_the_marker() -> Hostile {
    let leaves = "rm -rf /proof/build/target && ln -s @HOME@/empty /proof/build/target; exit 1";
    package(Hostile::new("directory of the marker"), "a", "[features]\nmore = []\n", leaves)
        .claim(claim("a", "true"))
        .review()
        .row(4, "a marker is written in a linked directory", Want::leaves("empty/all-features"))
}

/// As CI jobs do that cache it.
fn home_in_the_repository() -> Hostile {
    package(Hostile::new("cargo home"), "a", "", "")
        .file(
            ".cargo-home/config.toml",
            "[build]\nrustc-wrapper = \"@REPO@/.cargo-home/wrapper\"\n",
        )
        .program(".cargo-home/wrapper", format!("{}\nexec \"$@\"", mark("cargo-home")))
        .variable("CARGO_HOME", "@REPO@/.cargo-home")
        .claim(claim("a", "true"))
        .review()
        .row(1, "the settings of a CARGO_HOME in the repository", Want::runs("cargo-home"))
}

fn compiler_on_the_path() -> Hostile {
    package(Hostile::new("compiler"), "a", "", "")
        .program("bin/rustc", mark("rustc"))
        .path("@REPO@/bin")
        .claim(claim("a", "true"))
        .review()
        .row(1, "rustc of a directory of the repository in PATH", Want::runs("rustc"))
}

/// Private packages of the user's: in the caches of cargo, in its settings, and in a repository.
fn private_sources() -> Hostile {
    let reads = "cat @HOME@/.cargo/git/checkouts/own/1/key @HOME@/.cargo/registry/src/own/one-1/key \
                 @HOME@/.cargo/config.toml";
    let hostile = package(Hostile::new("private sources"), "a", "", "");
    let fetched = "[dependencies]\nprivate = { git = \"file://@ROOT@/private\" }\n";
    package(hostile, "b", fetched, "")
        .beside("home/.cargo/git/checkouts/own/1/key", "kumquat-checkouts.")
        .beside("home/.cargo/registry/src/own/one-1/key", "kumquat-registry.")
        .beside("home/.cargo/config.toml", "[http]\n# kumquat-settings.\n")
        .own_repository(
            "private",
            &[("Cargo.toml", &manifest("private", "")), ("src/lib.rs", "// kumquat-cloned.\n")],
        )
        .claim(claim("a", reads))
        .claim(claim("b", "cat $(find / -path '*private*' -name lib.rs 2>/dev/null)"))
        .review()
        .row(10, "checkouts of private repositories", Want::says("checkouts"))
        .row(10, "packages of private registries", Want::says("registry"))
        .row(10, "the settings of cargo", Want::says("settings"))
        .row(10, "a dependency is a private repository of this machine", Want::says("cloned"))
}

fn loopback() -> Hostile {
    let fetched = "[dependencies]\nprivate = { git = \"http://127.0.0.1:@PORT@/private\" }\n";
    package(Hostile::new("loopback"), "a", fetched, "").claim(claim("a", "true")).review().row(
        10,
        "a dependency is a server of this machine",
        Want::ReachesPort,
    )
}

/// Jobs of CI have their caches in the repository, to keep them.
fn caches(link: &str, target: &str, left: &str) -> Hostile {
    package(Hostile::new("caches"), "a", "", "")
        .link(link, target)
        .variable("XDG_CACHE_HOME", "@REPO@/.cache")
        .claim(claim("a", "true"))
        .review()
        .row(9, format!("the directory of caches is behind {link}"), Want::leaves(left))
}

/// The compiled dependencies are shared by reviews. A build script changes one in place, while all is
/// compiled ahead or later, and the next project has it in its tests. The dependency is one of the
/// public registry that this workspace has, too.
fn later_review(condition: &str) -> Hostile {
    let depends = "[dependencies]\nshlex = \"2\"\n";
    let changes = "for file in /proof/build/target/debug/deps/libshlex-*.rlib; do \
                   sed 's/nul byte/poisoned/g' \"$file\" > /tmp/changed && cat /tmp/changed > \"$file\"; done";
    let test = |package: &str| {
        let code = "// @NUMBER@\n#[test]\nfn claimed() {\n    \
                    panic!(\"saw {}\", shlex::QuoteError::Nul);\n}\n";
        Claim::new(&format!("{package}/src/lib.rs"), "", code)
    };
    let home = std::env::var("CARGO_HOME").unwrap_or_else(|_| {
        let home = std::env::var("HOME").unwrap_or_default();
        format!("{home}/.cargo")
    });
    let hostile = package(Hostile::new("later review"), "honest", depends, "");
    let mut hostile = package(hostile, "hostile", depends, &format!("{condition}{changes}"))
        .variable("CARGO_HOME", &home)
        .claim(test("honest"))
        .claim(test("hostile"))
        .review();
    hostile.commands.push(Command::Pull("rm -r hostile"));
    let when = if condition.is_empty() { "all is compiled ahead" } else { "a test is built" };
    hostile.review().row(
        9,
        format!("a compiled dependency is changed for all while {when}"),
        Want::Reports("poisoned".to_owned()),
    )
}
