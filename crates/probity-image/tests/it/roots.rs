//! Comparisons of roots that are written as archives, without an engine.

mod lost_files;

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use probity_image::{Configuration, Image, Pair, Root, Setting, compare};

/// What is at a path.
#[derive(Clone)]
enum Thing {
    Text(&'static str),
    Program(&'static str),
    Bytes(Vec<u8>),
    Link(&'static str),
    Directory { owner: u64 },
}

use Thing::{Directory, Link, Program, Text};

type Files = Vec<(&'static str, Thing)>;

fn root(files: &Files) -> Root {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut archive = tar::Builder::new(file.reopen().unwrap());
    for (path, thing) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        let (uid, bytes): (u64, &[u8]) = match thing {
            Text(text) => (0, text.as_bytes()),
            Program(text) => (0, text.as_bytes()),
            Thing::Bytes(bytes) => (0, bytes),
            Link(_) => (0, b""),
            Directory { owner } => (*owner, b""),
        };
        header.set_mtime(if path.starts_with("usr/local/bin") { 2 } else { 1 });
        header.set_uid(uid);
        header.set_gid(uid);
        header.set_size(bytes.len() as u64);
        match thing {
            Program(_) | Thing::Bytes(_) => header.set_mode(0o755),
            Link(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                archive.append_link(&mut header, path, target).unwrap();
                continue;
            }
            Directory { .. } => {
                header.set_mode(0o755);
                header.set_entry_type(tar::EntryType::Directory);
            }
            Text(_) => {}
        }
        archive.append_data(&mut header, path, bytes).unwrap();
    }
    archive.finish().unwrap();
    Root::read(file.path()).unwrap()
}

fn image(configuration: &Configuration, files: &Files) -> Image {
    // The last step of the history of every original here.
    let steps = vec!["/bin/sh -c sh tools/gen.sh && rm -rf /tmp/x".to_owned()];
    Image { configuration: configuration.clone(), root: root(files), size: 0, steps }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn command(argv: &[&str]) -> Configuration {
    Configuration { command: words(argv), ..Configuration::default() }
}

/// The harmful differences in words; what `without` names is not in the new image, and what `with`
/// names is there instead.
fn lost(
    configuration: &Configuration,
    base: &Files,
    own: &Files,
    without: &[&str],
    with: &Files,
) -> Vec<String> {
    let all: Files = base.iter().chain(own).cloned().collect();
    let mut after: Files = all.clone();
    after.retain(|(path, _)| !without.contains(path));
    after.extend(with.iter().cloned());
    let (original, proposal) = (image(configuration, &all), image(configuration, &after));
    let base = image(&Configuration::default(), base);
    let pair = Pair {
        original: &original,
        proposal: &proposal,
        base: Some(&base),
        context: None,
        allowed: &[],
    };
    let found = compare(&pair);
    found.iter().filter(|found| found.is_harmful()).map(ToString::to_string).collect()
}

fn shell() -> Files {
    vec![
        ("bin/busybox", Program("x")),
        ("bin/sh", Link("busybox")),
        ("bin/cat", Link("/bin/busybox")),
    ]
}

#[test]
fn equal_images_do_not_differ() {
    let own = vec![("app/run", Program("#!/bin/sh\ncat /etc/x\n")), ("etc/x", Text("x"))];
    let configuration = command(&["/app/run"]);
    assert_eq!(lost(&configuration, &shell(), &own, &[], &vec![]), [""; 0]);
}

#[test]
fn entry_points_lead_to_programs() {
    let script = "#!/bin/sh\n# missing words are no commands\nset -e\nexec /app/tool \"$@\"\n";
    let own = || -> Files {
        vec![
            ("app/run", Program(script)),
            ("app/tool", Program("#!/usr/bin/env python3\n")),
            ("usr/bin/env", Program("x")),
            ("usr/bin/python3", Program("x")),
        ]
    };
    let run = command(&["/app/run"]);
    for (configuration, without, with, expected) in [
        (&run, &["app/run"][..], vec![], "CMD needs /app/run, which is not in the new image"),
        (
            &run,
            &["app/run"],
            vec![("app/run", Text(script))],
            "CMD needs /app/run, which is not executable in the new image",
        ),
        (&run, &["app/tool"], vec![], "CMD needs /app/tool, which is not in the new image"),
        (&run, &["bin/sh"], vec![], "/app/run needs /bin/sh, which is not in the new image"),
        (
            &run,
            &["usr/bin/python3"],
            vec![],
            "/app/tool needs python3, which is not in the new image",
        ),
        (
            &command(&["/bin/sh", "-c", "cd /app && ./x; cat y | python3 -"]),
            &["usr/bin/python3"],
            vec![],
            "CMD needs /usr/bin/python3, which is not in the new image",
        ),
        (
            &command(&["tini", "--", "timeout", "5", "bash", "-c", "exec gosu app python3 -"]),
            &["usr/bin/python3"],
            vec![],
            "CMD needs /usr/bin/python3, which is not in the new image",
        ),
    ] {
        let found = lost(configuration, &shell(), &own(), without, &with);
        assert!(found.iter().any(|sentence| sentence == expected), "{expected}: {found:?}");
    }
    // A here-document is data, although its lines look like commands.
    let message = "#!/bin/sh\ncat <<END\npython3 is not started\nEND\n";
    let own = vec![("app/run", Program(message)), ("usr/bin/python3", Program("x"))];
    let found = lost(&run, &shell(), &own, &["usr/bin/python3"], &vec![]);
    assert!(!found.iter().any(|sentence| sentence.starts_with("CMD needs")), "{found:?}");
    // What the original does not have either is no difference.
    assert_eq!(lost(&command(&["nothing"]), &shell(), &own, &[], &vec![]), [""; 0]);
}

#[test]
fn health_checks_lead_to_programs() {
    let health =
        |test: &[&str]| Configuration { healthcheck: words(test), ..Configuration::default() };
    let own: Files = vec![("usr/bin/curl", Program("x"))];
    for test in
        [&["CMD", "curl", "-f", "localhost"][..], &["CMD-SHELL", "curl -f localhost || exit 1"]]
    {
        let found = lost(&health(test), &shell(), &own, &["usr/bin/curl"], &vec![]);
        let expected = "HEALTHCHECK needs /usr/bin/curl, which is not in the new image";
        assert!(found.contains(&expected.to_owned()), "{found:?}");
    }
    let found = lost(&health(&["NONE"]), &shell(), &vec![], &["bin/cat"], &vec![]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn runtimes_do_not_get_older_and_packages_stay_with_their_version() {
    let metadata = |version: &'static str| (version, Text("Name: greet\n"));
    let python = "usr/local/bin/python3.11";
    let package = "usr/local/lib/python3.11/site-packages/greet-1.0.dist-info/METADATA";
    let moved = "opt/venv/lib/python3.11/site-packages/greet-1.0.dist-info/METADATA";
    let other = "usr/local/lib/python3.12/site-packages/greet-1.0.dist-info/METADATA";
    let release = "usr/lib/jvm/release";
    let own = || -> Files {
        vec![
            (python, Program("x")),
            metadata(package),
            (release, Text("JAVA_VERSION=\"21.0.2\"\n")),
            ("etc/os-release", Text("ID=debian\nVERSION_ID=\"12\"\n")),
            (
                "app/package.json",
                Text("{\"dependencies\":{\"left\":\"1\"},\"devDependencies\":{\"lint\":\"1\"}}"),
            ),
            ("app/node_modules/left/index.js", Text("x")),
            ("app/node_modules/lint/index.js", Text("x")),
        ]
    };
    for (without, with, expected) in [
        (&[package][..], vec![metadata(moved)], vec![]),
        (
            &[package],
            vec![metadata(other)],
            vec!["the new image has packages for Python 3.12 without that version"],
        ),
        (&[package], vec![], vec!["the Python package greet is not in the new image"]),
        (
            &[release],
            vec![(release, Text("JAVA_VERSION=\"17.0.9\"\n"))],
            vec!["Java changes from 21.0.2 to the older 17.0.9"],
        ),
        (&[release], vec![(release, Text("JAVA_VERSION=\"22\"\n"))], vec![]),
        (
            &["etc/os-release"],
            vec![("etc/os-release", Text("ID=debian\nVERSION_ID=\"11\"\n"))],
            vec!["Debian changes from 12 to the older 11"],
        ),
        (
            &["etc/os-release"],
            vec![("etc/os-release", Text("ID=alpine\nVERSION_ID=\"3.20\"\n"))],
            vec![],
        ),
        (&["app/node_modules/lint/index.js"], vec![], vec![]),
        (
            &["app/node_modules/left/index.js"],
            vec![],
            vec!["the Node.js package left is not in the new image"],
        ),
    ] {
        let found = lost(&Configuration::default(), &shell(), &own(), without, &with);
        assert_eq!(found, expected, "without {without:?}");
    }
}

#[test]
fn shared_data_stays() {
    let configuration = Configuration {
        environment: BTreeMap::from([("LANG".to_owned(), "de_DE.UTF-8".to_owned())]),
        ..Configuration::default()
    };
    let certificates = "etc/ssl/certs/ca-certificates.crt";
    let base: Files = vec![
        (certificates, Text("x")),
        ("usr/share/zoneinfo/Europe/Berlin", Text("x")),
        ("usr/lib/locale/de_DE.utf8/LC_TIME", Text("x")),
    ];
    for (path, expected) in [
        (
            certificates,
            "the new image has no certificate authorities (/etc/ssl/certs/ca-certificates.crt)",
        ),
        (
            "usr/share/zoneinfo/Europe/Berlin",
            "the new image has no time zones (/usr/share/zoneinfo)",
        ),
        (
            "usr/lib/locale/de_DE.utf8/LC_TIME",
            "the new image has no locale (/usr/lib/locale/de_DE.utf8)",
        ),
    ] {
        assert_eq!(lost(&configuration, &base, &vec![], &[path], &vec![]), [expected]);
    }
    let elsewhere = vec![("etc/ssl/cert.pem", Text("x"))];
    assert_eq!(lost(&configuration, &base, &vec![], &[certificates], &elsewhere), [""; 0]);
}

#[test]
fn the_user_keeps_name_and_rights() {
    let configuration = Configuration {
        user: "web".to_owned(),
        directory: "/data".to_owned(),
        volumes: words(&["/data"]),
        ..Configuration::default()
    };
    let passwd = "root:x:0:0::/:/bin/sh\nweb:x:7:7::/:/bin/sh\n";
    let own: Files = vec![("etc/passwd", Text(passwd)), ("data", Directory { owner: 7 })];
    let other = vec![("etc/passwd", Text("root:x:0:0::/:/bin/sh\n"))];
    let found = lost(&configuration, &shell(), &own, &["etc/passwd"], &other);
    assert_eq!(found, ["USER web does not exist in the new image"]);
    let found =
        lost(&configuration, &shell(), &own, &["data"], &vec![("data", Directory { owner: 0 })]);
    assert_eq!(found, ["the image's user can use /data in the original only"]);
    let found = lost(&configuration, &shell(), &own, &["data"], &vec![]);
    assert_eq!(
        found,
        [
            "WORKDIR /data does not exist in the new image",
            "VOLUME /data does not exist in the new image"
        ]
    );
}

#[test]
fn configurations_are_equal_but_for_what_may_change() {
    let before = Configuration {
        environment: BTreeMap::from([
            ("A".to_owned(), "1".to_owned()),
            ("FROM_BASE".to_owned(), "2".to_owned()),
        ]),
        ports: words(&["80/tcp"]),
        ..command(&["run"])
    };
    let base = Configuration {
        environment: BTreeMap::from([("FROM_BASE".to_owned(), "2".to_owned())]),
        ..Configuration::default()
    };
    let after = Configuration { healthcheck: words(&["CMD", "x"]), ..command(&["run"]) };
    let (original, proposal) = (image(&before, &vec![]), image(&after, &vec![]));
    let base = image(&base, &vec![]);
    let allowed = [Setting::Healthcheck];
    let pair = Pair {
        original: &original,
        proposal: &proposal,
        base: Some(&base),
        context: None,
        allowed: &allowed,
    };
    let found: Vec<String> = compare(&pair).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["EXPOSE changes from `[\"80/tcp\"]` to nothing", "ENV changes from `A=1` to nothing"]
    );
}

#[test]
fn programs_find_their_loader_their_libraries_and_the_versions_of_symbols() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("app.c"), "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n").unwrap();
    gcc(place.path(), &["-o", "app", "app.c"]);
    // A C library that offers old symbols only.
    fs::write(at("old.c"), "int puts(const char *text) { return !text; }\n").unwrap();
    fs::write(at("old.map"), "GLIBC_2.2.5 { global: puts; };\n").unwrap();
    let link = ["-shared", "-nostdlib", "-Wl,-soname,libc.so.6", "-Wl,--version-script=old.map"];
    gcc(place.path(), &[&["-o", "old", "old.c"][..], &link].concat());
    let bytes = |name: &str| Thing::Bytes(fs::read(at(name)).unwrap());
    let real = |path: &str| Thing::Bytes(fs::read(path).unwrap());
    let loader = "lib64/ld-linux-x86-64.so.2";
    let library = "lib/x86_64-linux-gnu/libc.so.6";
    let base: Files = vec![
        (loader, real("/lib64/ld-linux-x86-64.so.2")),
        (library, real("/lib/x86_64-linux-gnu/libc.so.6")),
    ];
    let own: Files = vec![("app", bytes("app"))];
    let configuration = command(&["/app"]);
    let found = |without: &[&str], with: &Files| lost(&configuration, &base, &own, without, with);
    assert_eq!(found(&[], &vec![]), [""; 0]);
    assert_eq!(
        found(&[loader], &vec![]),
        [
            "/app needs /lib64/ld-linux-x86-64.so.2, which is not in the new image",
            // The C library names it too.
            "/app needs the library ld-linux-x86-64.so.2, which is not in the new image"
        ]
    );
    assert_eq!(
        found(&[library], &vec![]),
        ["/app needs the library libc.so.6, which is not in the new image"]
    );
    let old = found(&[library], &vec![(library, bytes("old"))]);
    assert_eq!(old, ["/app needs GLIBC_2.34 of libc.so.6, which the new image lacks"]);
    // There, but where no loader looks.
    let elsewhere =
        found(&[library], &vec![("opt/libc.so.6", real("/lib/x86_64-linux-gnu/libc.so.6"))]);
    assert_eq!(elsewhere, ["/app needs the library libc.so.6, which is not in the new image"]);
}

fn gcc(directory: &Path, arguments: &[&str]) {
    assert!(Command::new("gcc").current_dir(directory).args(arguments).status().unwrap().success());
}
