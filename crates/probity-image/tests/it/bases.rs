//! Base images without a registry, made of what Debian packages have installed on this machine.

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use probity_image::EngineKind;

const APPLETS: &[&str] = &[
    "sh", "cat", "cp", "mv", "rm", "ls", "mkdir", "chmod", "chown", "touch", "ln", "echo", "sleep",
    "nc", "httpd", "wget", "env", "grep", "sed", "test", "true", "false", "head", "tr", "id",
    "adduser", "addgroup", "printf", "expr", "date", "find", "awk", "basename", "tar", "gzip",
];

/// An image by its tag, with programs and whole directories of this machine.
struct Base {
    tag: &'static str,
    programs: &'static [&'static str],
    directories: &'static [&'static str],
    links: &'static [(&'static str, &'static str)],
    release: &'static str,
    /// Fills in what is not a file of this machine.
    make: Option<fn(&Path)>,
}

const BASES: &[Base] = &[
    Base {
        tag: "base/busybox:1",
        programs: &[],
        directories: &[],
        links: &[],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/libc:12",
        programs: &["/usr/bin/id"],
        directories: &[],
        links: &[],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/libc:11",
        programs: &["/usr/bin/id"],
        directories: &[],
        links: &[],
        release: "11",
        make: None,
    },
    Base {
        tag: "base/python:3.11",
        programs: &["/usr/bin/python3.11"],
        directories: &["/usr/lib/python3.11"],
        links: &[("usr/bin/python3", "python3.11"), ("usr/bin/python", "python3")],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/perl:5",
        programs: &["/usr/bin/perl"],
        directories: &["/usr/lib/x86_64-linux-gnu/perl-base"],
        links: &[],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/node:20",
        programs: &["/usr/bin/node"],
        directories: &[],
        links: &[],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/php:8.2",
        programs: &["/usr/bin/php8.2"],
        directories: &[],
        links: &[("usr/bin/php", "php8.2")],
        release: "12",
        make: None,
    },
    Base {
        tag: "base/java:17",
        programs: &["/usr/bin/id"],
        directories: &[],
        links: &[("usr/bin/java", "../lib/jvm/bin/java")],
        release: "12",
        make: Some(link_java),
    },
];

/// A runtime of the modules that a small service needs, with the libraries it is linked with.
fn link_java(root: &Path) {
    let home = root.join("usr/lib/jvm");
    let linked = Command::new("jlink")
        .args(["--add-modules", "java.base,java.logging,jdk.httpserver", "--strip-debug"])
        .args(["--no-header-files", "--no-man-pages", "--output"])
        .arg(&home)
        .status();
    assert!(linked.unwrap().success());
    for part in
        ["bin/java", "lib/server/libjvm.so", "lib/libnet.so", "lib/libnio.so", "lib/libzip.so"]
    {
        for library in libraries(&home.join(part).display().to_string()) {
            if !library.starts_with(root) {
                place(root, &library);
            }
        }
    }
}

pub(crate) fn import(kind: EngineKind, client: &Path, wanted: &BTreeSet<String>) {
    for base in BASES.iter().filter(|base| wanted.contains(base.tag)) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fill(root, base);
        let path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        if kind == EngineKind::Buildah {
            build(client, base.tag, root, path);
            continue;
        }
        let tar = Command::new("tar").arg("-C").arg(root).args(["-c", "."]).output().unwrap();
        let mut import = Command::new(client)
            .args(["import", "-c", path, "-", base.tag])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(&tar.stdout).unwrap();
        assert!(import.wait().unwrap().success(), "{} could not be imported", base.tag);
    }
}

/// buildah cannot import an archive.
fn build(client: &Path, tag: &str, root: &Path, path: &str) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("FROM scratch\nCOPY . /\n{path}\n")).unwrap();
    let built = Command::new(client)
        .args(["build", "--quiet", "-t", tag, "-f"])
        .args([file.path(), root])
        .stdout(Stdio::null())
        .status();
    assert!(built.unwrap().success(), "{tag} could not be built");
}

fn fill(root: &Path, base: &Base) {
    for directory in [
        "bin",
        "etc/ssl/certs",
        "tmp",
        "root",
        "home",
        "var/log",
        "usr/bin",
        "usr/local/bin",
        "usr/lib/x86_64-linux-gnu",
    ] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::copy("/usr/bin/busybox", root.join("bin/busybox")).unwrap();
    for applet in APPLETS {
        symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").unwrap();
    fs::write(root.join("etc/group"), "root:x:0:\n").unwrap();
    let release = format!("ID=debian\nVERSION_ID=\"{}\"\n", base.release);
    fs::write(root.join("etc/os-release"), release).unwrap();
    for program in base.programs {
        place(root, Path::new(program));
        for library in libraries(program) {
            place(root, &library);
        }
    }
    for directory in base.directories {
        let target = root.join(directory.trim_start_matches('/'));
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let copied = Command::new("cp").arg("-a").arg(directory).arg(&target).status().unwrap();
        assert!(copied.success());
    }
    for (link, target) in base.links {
        symlink(target, root.join(link)).unwrap();
    }
    if let Some(make) = base.make {
        make(root);
    }
}

fn place(root: &Path, file: &Path) {
    let target = root.join(file.strip_prefix("/").unwrap());
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::copy(file, target).unwrap();
}

/// What the loader of this machine would load, itself included.
fn libraries(program: &str) -> Vec<PathBuf> {
    let told = Command::new("ldd").arg(program).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let words =
        told.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    words.map(PathBuf::from).collect()
}
