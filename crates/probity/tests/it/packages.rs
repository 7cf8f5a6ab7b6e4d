//! Packages: each is installed into an empty environment, without cargo and without a network beyond
//! loopback, and the program in it lints a file.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use serde_json::Value;

use crate::{
    containers::server::{IMAGE, Server},
    file_server::FileServer,
    review::root,
};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Packs the program that is tested, in the state that a release has it, and gives the directory.
fn pack(to: &Path) {
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join("probity");
    run(Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_probity")));
    run(Command::new(root("script/release"))
        .args(["--fast", "--binary"])
        .arg(&program)
        .arg("--to")
        .arg(to));
}

/// The packages, made once for all tests of a run: packing takes seconds. They hold the time of the last
/// commit and documents besides the program, so those of an earlier run may differ.
pub(crate) fn packed() -> PathBuf {
    let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{run}"));
    // The first test packs, and the others wait for it.
    let lock =
        fs::File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages.lock")).unwrap();
    lock.lock().unwrap();
    if !directory.exists() {
        remove_old_packages();
        let own = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        pack(&own.path().join("packages"));
        fs::rename(own.path().join("packages"), &directory).unwrap();
    }
    directory
}

/// Those that no run can still use.
fn remove_old_packages() {
    for entry in fs::read_dir(env!("CARGO_TARGET_TMPDIR")).unwrap().flatten() {
        let is_packages = entry.file_name().to_string_lossy().starts_with("packages-");
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_packages && age().is_some_and(|age| age > Duration::from_secs(6 * 3600)) {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

/// A command in an environment that has the system's programs and nothing else.
fn bare(program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home);
    command.current_dir(home);
    command
}

/// The installed program finds the one defect of a file.
fn lints(mut command: Command, home: &Path) {
    fs::write(home.join("Dockerfile"), "FROM debian:12\nRUN sudo true\n").unwrap();
    let output = command.args(["check", "--format", "gnu", "Dockerfile"]).output().unwrap();
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let finding =
        "error: do not use sudo; switch with USER, or at run time with gosu [hadolint/DL3004]";
    assert_eq!(found, format!("probity:Dockerfile:2:5: {finding}\n"));
}

#[test]
fn two_runs_pack_the_same_bytes_and_their_sums_are_right() {
    let (one, two) = (packed(), tempfile::tempdir().unwrap());
    pack(two.path());
    run(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&one));
    let sums = |directory: &Path| fs::read_to_string(directory.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&one), sums(two.path()));
    assert_eq!(sums(&one).lines().count(), 6);
}

#[test]
fn the_archive_has_program_completions_manual_and_bill_of_materials() {
    let home = tempfile::tempdir().unwrap();
    let name = format!("probity-{VERSION}-x86_64-unknown-linux-gnu");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(packed().join(format!("{name}.tar.gz")))
        .current_dir(&home));
    let inside = home.path().join(name);
    for file in ["LICENSE-MIT", "SECURITY.md", "man/man1/probity-check.1"] {
        assert!(fs::metadata(inside.join(file)).is_ok_and(|file| file.len() > 100), "{file}");
    }
    run(Command::new("bash").arg("-n").arg(inside.join("completions/probity.bash")));
    lints(bare(inside.join("probity"), home.path()), home.path());
    let bill = fs::read_to_string(inside.join("probity.cdx.json")).unwrap();
    let bill: Value = serde_json::from_str(&bill).unwrap();
    let names: Vec<&str> = bill["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|component| component["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"probity-lint") && names.contains(&"rustls"), "{names:?}");
    assert!(!names.contains(&"proptest") && !names.contains(&"insta"), "tests are not shipped");
}

#[test]
fn pip_installs_the_wheel_without_an_index() {
    let home = tempfile::tempdir().unwrap();
    let environment = home.path().join("environment");
    run(bare(root("target/tools/python/bin/python"), home.path())
        .args(["-m", "venv"])
        .arg(&environment));
    run(bare(environment.join("bin/pip"), home.path())
        .args(["install", "--no-index", "--quiet", "--find-links"])
        .arg(packed())
        .arg(format!("probity-cli=={VERSION}")));
    lints(bare(environment.join("bin/probity"), home.path()), home.path());
    run(bare(environment.join("bin/pip"), home.path()).args([
        "uninstall",
        "--quiet",
        "-y",
        "probity-cli",
    ]));
    assert!(!environment.join("bin/probity").exists());
}

#[test]
fn npm_installs_the_program_of_its_platform_and_says_when_it_is_missing() {
    let server = registry();
    let home = tempfile::tempdir().unwrap();
    let npm = |extra: &[&str]| {
        run(bare("npm", home.path())
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--silent",
                "--registry",
                &server.address(),
            ])
            .args(extra)
            .arg("probity"));
    };
    npm(&[]);
    let program = home.path().join("node_modules/.bin/probity");
    lints(bare(&program, home.path()), home.path());
    fs::remove_dir_all(home.path().join("node_modules")).unwrap();
    npm(&["--omit=optional"]);
    let output = bare(&program, home.path()).arg("check").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(
        said,
        format!(
            "probity: the package probity-linux-x64 is not installed. npm skips it with --omit=optional or \
             --no-optional, and there is none for platforms that probity does not support.\nInstall it with: \
             npm install probity-linux-x64@{VERSION}\n"
        )
    );
}

/// A registry with the two packages, as npm asks for them.
fn registry() -> FileServer {
    let server = FileServer::start();
    for name in ["probity", "probity-linux-x64"] {
        let file = format!("{name}-{VERSION}.tgz");
        let packed = packed().join("npm").join(&file);
        let manifest =
            run(Command::new("tar").args(["-xzOf"]).arg(&packed).arg("package/package.json"));
        let mut manifest: Value = serde_json::from_slice(&manifest.stdout).unwrap();
        manifest["dist"]["tarball"] = format!("{}/{file}", server.address()).into();
        let page = serde_json::json!({
            "name": name, "dist-tags": { "latest": VERSION }, "versions": { VERSION: manifest },
        });
        server.serve(&format!("/{name}"), page.to_string().into_bytes());
        server.serve(&format!("/{file}"), fs::read(packed).unwrap());
    }
    server
}

#[test]
fn dpkg_installs_the_package_into_an_empty_root() {
    let home = tempfile::tempdir().unwrap();
    let system = home.path().join("root");
    for directory in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        fs::create_dir_all(system.join(directory)).unwrap();
    }
    fs::write(system.join("var/lib/dpkg/status"), "").unwrap();
    let package = packed().join(format!("probity_{VERSION}_amd64.deb"));
    let mut dpkg = Command::new("dpkg");
    dpkg.args([
        "--force-not-root",
        "--force-depends",
        "--force-script-chrootless",
        "--log=/dev/null",
    ]);
    run(dpkg.arg(format!("--root={}", system.display())).arg("--install").arg(package));
    lints(bare(system.join("usr/bin/probity"), home.path()), home.path());
    for file in
        ["man/man1/probity.1.gz", "bash-completion/completions/probity", "doc/probity/copyright"]
    {
        assert!(system.join("usr/share").join(file).exists(), "{file}");
    }
}

/// The base image has no registry to come from: it is made of the libraries that the program needs.
#[test]
fn the_image_of_a_release_is_built_and_lints() {
    let server = Server::docker();
    let place = tempfile::tempdir().unwrap();
    let name = format!("probity-{VERSION}-x86_64-unknown-linux-gnu");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(packed().join(format!("{name}.tar.gz")))
        .current_dir(&place));
    let release = place.path().join(name);
    let base = place.path().join("base");
    let mut text = format!("FROM {IMAGE}\n");
    let needed = run(Command::new("ldd").arg(release.join("probity")));
    fs::create_dir(&base).unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    for library in needed.split_whitespace().filter(|word| word.starts_with('/')) {
        let file = Path::new(library).file_name().unwrap().to_str().unwrap();
        fs::copy(library, base.join(file)).unwrap();
        text += &format!("COPY {file} {library}\n");
    }
    fs::write(base.join("Dockerfile"), text).unwrap();
    let built = |tag: &str, file: &Path, context: &Path| {
        let words = ["build", "-q", "-t", tag, "-f"];
        let paths = [file.to_str().unwrap(), context.to_str().unwrap()];
        assert!(server.says(&[&words[..], &paths[..]].concat()).0, "{tag}");
    };
    built("debian:12-slim", &base.join("Dockerfile"), &base);
    built("probity", &root("deploy/Dockerfile.release"), &release);
    let work = place.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("Dockerfile"), "FROM debian:12\nRUN sudo true\n").unwrap();
    let mount = format!("{}:/work", work.display());
    let words = ["run", "--rm", "--network=none", "-v", &mount, "probity", "check", "Dockerfile"];
    let (is_clean, said) = server.says(&words);
    assert!(!is_clean && said.contains("DL3004"), "{said}");
}
