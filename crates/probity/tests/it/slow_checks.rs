//! `--slow-checks`, `--pin` and `--update-pins` against a real registry with TLS and a password.

#[path = "../../../probity-registry/tests/it/server.rs"]
mod server;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::json;
use tempfile::TempDir;

use self::server::{PASSWORD, Registry, USER};
use crate::binary::{Output, Run, directory, named, probity};

/// A registry, and the home of a user who is logged in there by a helper program.
struct Place {
    registry: Registry,
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        let registry = Registry::start();
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir_all(home.path().join(".docker")).unwrap();
        fs::create_dir(&bin).unwrap();
        let login = json!({"credHelpers": {registry.host.as_str(): "probe"}});
        fs::write(home.path().join(".docker/config.json"), login.to_string()).unwrap();
        // It answers for this registry alone, as a key ring would.
        let answer = json!({"Username": USER, "Secret": PASSWORD});
        let script = format!(
            "#!/bin/sh\nread -r server\n[ \"$1 $server\" = 'get {}' ] || exit 1\necho '{answer}'\n",
            registry.host
        );
        let helper = bin.join("docker-credential-probe");
        fs::write(&helper, script).unwrap();
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
        Self { registry, home }
    }

    fn file(&self, text: &str) -> TempDir {
        directory(&[("Dockerfile", &text.replace("REG", &self.registry.host))])
    }

    /// As this user: the output names the registry `REG`.
    fn run(&self, run: Run, dir: &TempDir, args: &[&str]) -> Output {
        let search = format!("{}:/usr/bin:/bin", self.home.path().join("bin").display());
        let mut output = run
            .dir(dir)
            .env("HOME", self.home.path().to_str().unwrap())
            .env("PATH", &search)
            .env("SSL_CERT_FILE", self.registry.authority().to_str().unwrap())
            .env("DOCKER_DEFAULT_PLATFORM", "linux/amd64")
            .args(["check"])
            .args(args)
            .run();
        output.stdout = output.stdout.replace(&self.registry.host, "REG");
        output.stderr = output.stderr.replace(&self.registry.host, "REG");
        output
    }

    fn check(&self, dir: &TempDir, args: &[&str]) -> Output {
        let args = [&["--slow-checks=on", "--format", "gnu"], args].concat();
        self.run(probity(), dir, &args)
    }
}

fn dockerfile(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("Dockerfile")).unwrap()
}

#[test]
fn platforms_missing_tags_and_inherited_settings_are_known() {
    let place = Place::new();
    let config = json!({
        "User": "app", "Env": ["KNOWN=1"], "Healthcheck": {"Test": ["CMD", "true"]},
        "Shell": ["/bin/bash", "-o", "pipefail", "-c"], "WorkingDir": "/srv",
    });
    place.registry.push("base:1", &[("linux/amd64", config)]);
    place.registry.push("arm:1", &[("linux/arm64", json!({}))]);
    let rules = [
        "buildkit/InvalidBaseImagePlatform",
        "buildkit/UndefinedVar",
        "hadolint/DL3045",
        "hadolint/DL3057",
        "hadolint/DL4006",
        "probity/nonexistent-image",
    ];
    let select = rules.join(",");
    let dir = place.file(
        "FROM REG/arm:1 AS a\nFROM REG/gone:1 AS b\nFROM REG/base:1\nCOPY $KNOWN x\n\
         ENV A=$UNKNOWN\nRUN a | b\n",
    );
    let fail_fast = [("PROBITY_CHECK__SLOW_CHECKS_FAIL_FAST", "false")];
    let run = |mode: &str| {
        let run = fail_fast.iter().fold(probity(), |run, (name, value)| run.env(name, value));
        place.run(run, &dir, &["--format", "gnu", "--select", &select, mode])
    };
    let codes = |output: &Output| -> Vec<String> {
        let word = |line: &str| {
            let rule = rules.iter().find(|rule| line.contains(*rule)).unwrap();
            format!("{} {rule}", line.split(':').nth(2).unwrap())
        };
        output.stdout.lines().map(word).collect()
    };
    let with = run("--slow-checks=on").code(1);
    assert_eq!(with.stderr, "");
    assert_eq!(
        codes(&with),
        [
            "1 buildkit/InvalidBaseImagePlatform",
            "2 probity/nonexistent-image",
            "5 buildkit/UndefinedVar"
        ],
        "{}",
        with.stdout
    );
    insta::assert_snapshot!(with.stdout, @r#"
    probity:Dockerfile:1:6: warning: Base image REG/arm:1 was pulled with platform "linux/arm64", expected "linux/amd64" for current build [buildkit/InvalidBaseImagePlatform]
    probity:Dockerfile:2:6: error: REG/gone:1 does not exist; check its name and tag [probity/nonexistent-image]
    probity:Dockerfile:5:7: warning: Usage of undefined variable '$UNKNOWN' [buildkit/UndefinedVar]
    "#);
    // The same file, as the names of its images tell.
    let guessed = ["3 hadolint/DL3057", "4 hadolint/DL3045", "6 hadolint/DL4006"];
    assert_eq!(codes(&run("--slow-checks=off").code(1)), guessed);
    // The test says that this is CI.
    assert_eq!(codes(&run("--slow-checks=auto").code(1)), guessed);
}

#[test]
fn automatic_look_ups_happen_in_a_terminal_outside_ci_only() {
    let place = Place::new();
    place.registry.push("one:1", &[("linux/amd64", json!({}))]);
    let dir = place.file("FROM REG/one:2\n");
    let select = ["--select", "probity/nonexistent-image"];
    let run = |ci: &str, run: Run| place.run(run.env("CI", ci), &dir, &select).code;
    assert_eq!(run("", probity().in_terminal()), Some(1));
    assert_eq!(run("false", probity().in_terminal()), Some(1));
    assert_eq!(run("true", probity().in_terminal()), Some(0));
    assert_eq!(run("", probity().in_terminal().env("GITLAB_CI", "true")), Some(0));
    assert_eq!(run("", probity()), Some(0));
    assert_eq!(run("", named("tally")), Some(0));
}

#[test]
fn a_registry_that_does_not_answer_is_one_note_and_no_failure() {
    let dir = directory(&[(
        "Dockerfile",
        "FROM 127.0.0.1:1/a:1 AS a\nFROM 127.0.0.1:1/b:1 AS b\nFROM 127.0.0.1:2/c:1\n",
    )]);
    let run = |args: &[&str]| {
        let select = ["check", "--select", "buildkit/StageNameCasing"];
        probity().env("CI", "").dir(&dir).args(select).args(args).run().code(0)
    };
    let notes = run(&["--slow-checks=on"]).stderr;
    insta::assert_snapshot!(notes, @"
    warning: base images of 127.0.0.1:1 are unknown: 127.0.0.1:1 cannot be reached: Connection refused (os error 111); check the network and HTTPS_PROXY, or use `--slow-checks=off`
    warning: base images of 127.0.0.1:2 are unknown: 127.0.0.1:2 cannot be reached: Connection refused (os error 111); check the network and HTTPS_PROXY, or use `--slow-checks=off`
    ");
    // Nobody asked for it by name.
    assert_eq!(run(&["--slow-checks=auto"]).stderr, "");
}

#[test]
fn files_with_an_error_are_not_looked_up() {
    let dir = directory(&[("Dockerfile", "FROM 127.0.0.1:1/a:1\nFORM b\n")]);
    let run = |fail_fast: &str| {
        let run = probity().dir(&dir).env("PROBITY_CHECK__SLOW_CHECKS_FAIL_FAST", fail_fast);
        run.args(["check", "--slow-checks=on"]).run().stderr
    };
    assert_eq!(run("true"), "");
    insta::assert_snapshot!(run("false"), @"warning: base images of 127.0.0.1:1 are unknown: 127.0.0.1:1 cannot be reached: Connection refused (os error 111); check the network and HTTPS_PROXY, or use `--slow-checks=off`");
}

/// As docker and podman do, for this registry alone.
#[test]
fn authorities_of_single_registries_are_in_certs_d() {
    let place = Place::new();
    place.registry.push("arm:1", &[("linux/arm64", json!({}))]);
    let dir = place.file("FROM REG/arm:1\n");
    let check = || {
        let run = probity().env("NO_PROXY", "*");
        let args = ["--slow-checks=on", "--format", "gnu", "--select", "InvalidBaseImagePlatform"];
        let run = run.dir(&dir).env("HOME", place.home.path().to_str().unwrap());
        let search = format!("{}:/usr/bin:/bin", place.home.path().join("bin").display());
        let run = run.env("PATH", &search).env("DOCKER_DEFAULT_PLATFORM", "linux/amd64");
        run.args(["check"]).args(args).run()
    };
    let output = check().code(0);
    assert_eq!(
        output.stderr.replace(&place.registry.host, "REG"),
        "warning: base images of REG are unknown: the certificate of REG is not trusted: invalid peer \
         certificate: UnknownIssuer; set SSL_CERT_FILE to the certificates of your authority, or put them \
         into /etc/docker/certs.d/REGISTRY/ca.crt\n"
    );
    let certificates = place.home.path().join(".config/containers/certs.d");
    for (host, is_trusted) in [("other.test:5000", false), (place.registry.host.as_str(), true)] {
        fs::create_dir_all(certificates.join(host)).unwrap();
        fs::copy(place.registry.authority(), certificates.join(host).join("ca.crt")).unwrap();
        let output = check();
        let is_known = output.stdout.contains("InvalidBaseImagePlatform");
        assert_eq!(is_known, is_trusted, "{host}: {}", output.stderr);
    }
}

#[test]
fn the_platforms_of_a_build_are_asked_for() {
    let place = Place::new();
    place.registry.push("arm:1", &[("linux/arm64", json!({}))]);
    for (platform, is_absent) in [("linux/arm64", false), ("linux/s390x", true)] {
        let dir = place.file("FROM REG/arm:1\n");
        let compose = format!(
            "services:\n  a:\n    build:\n      context: .\n      platforms: [{platform}]\n"
        );
        fs::write(dir.path().join("compose.yaml"), compose).unwrap();
        let select = ["--select", "InvalidBaseImagePlatform", "compose.yaml"];
        let output = place.check(&dir, &select);
        let message = format!("expected \"{platform}\"");
        assert_eq!(output.stdout.contains(&message), is_absent, "{output:?}");
        assert_eq!(output.stdout.is_empty(), !is_absent, "{output:?}");
    }
}

#[test]
fn a_wrong_password_is_one_note() {
    let place = Place::new();
    place.registry.push("private:1", &[("linux/amd64", json!({}))]);
    fs::write(place.home.path().join(".docker/config.json"), "{}").unwrap();
    let dir = place.file("FROM REG/private:1\n");
    let output = place.check(&dir, &["--select", "probity/nonexistent-image"]).code(0);
    assert_eq!(
        output.stderr,
        "warning: base images of REG are unknown: REG denies access to private, or the repository \
         does not exist; check the name, or log in with `docker login REG`\n"
    );
}

#[test]
fn pins_are_written_shown_and_renewed() {
    let place = Place::new();
    let images = |user: &str| {
        [("linux/amd64", json!({"User": user})), ("linux/arm64", json!({"User": user}))]
    };
    let old = place.registry.push("multi:1", &images("old"));
    let text = "ARG V=1\nFROM REG/multi:1 AS a\nFROM --platform=linux/arm64 REG/multi:1\n\
                FROM REG/multi:$V\nFROM a\nFROM scratch\n";
    let dir = place.file(text);
    let before = dockerfile(&dir);
    // The digest is that of the index, for every platform.
    let pinned = |digest: &str| {
        let text = text.replace("multi:1 ", &format!("multi:1@{digest} "));
        text.replace("multi:1\n", &format!("multi:1@{digest}\n"))
            .replace("REG", &place.registry.host)
    };
    let shown = place.check(&dir, &["--pin", "--diff"]);
    let added = shown.stdout.lines().filter(|line| line.starts_with('+')).count();
    assert_eq!((added, dockerfile(&dir)), (3, before), "{}", shown.stdout);
    place.check(&dir, &["--pin"]);
    assert_eq!(dockerfile(&dir), pinned(&old));
    // A tag that was moved meanwhile is asked for anew, whatever the cache says.
    let new = place.registry.push("multi:1", &images("new"));
    let diff = place.check(&dir, &["--update-pins"]).code(1);
    let renewed = diff.stdout.lines().filter(|line| line.contains(&format!("@{new}")));
    assert_eq!(renewed.count(), 2, "{}", diff.stdout);
    assert_eq!(dockerfile(&dir), pinned(&old));
    place.check(&dir, &["--update-pins", "--fix"]);
    assert_eq!(dockerfile(&dir), pinned(&new));
}

#[test]
fn answers_are_kept_in_the_cache_directory() {
    let mut place = Place::new();
    place.registry.push("kept:1", &[("linux/arm64", json!({}))]);
    let dir = place.file("FROM REG/kept:1\n");
    let select = ["--select", "buildkit/InvalidBaseImagePlatform"];
    let first = place.check(&dir, &select).code(1).stdout;
    let cache = place.home.path().join(".cache/probity/registry");
    let count = |name: &str| fs::read_dir(cache.join(name)).unwrap().count();
    assert_eq!((count("content"), count("tags")), (2, 1));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&cache.join("content")), 0o700);
    place.registry.stop();
    assert_eq!(place.check(&dir, &select).code(1).stdout, first);
}
