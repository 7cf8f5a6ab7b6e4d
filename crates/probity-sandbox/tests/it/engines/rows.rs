//! What holds in a container as it does in the other backends, and what only a container has.

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{
    Allowlist, Backend, Exit, Mount, SpawnError, containers, has_container, has_image,
    remove_container, run, spawn, workspace_root,
};

use super::{
    scene::{SECRET, Scene},
    server::IMAGE,
};
use crate::{
    reach::server,
    stage::{INSIDE, nap},
    worktrees::{IDENTITY, repositories},
};

pub(super) fn concurrent_creation(scene: &Scene<'_>) {
    let found = scene.found();
    assert!(has_image(&found, IMAGE).is_ok());
    let why = has_image(&found, "containai:latest").unwrap_err().to_string();
    assert!(why.contains("build -t containai:latest -"), "{why}");
    thread::scope(|threads| {
        let start = || run(&scene.backend, &scene.shell("cat; exit 3"), b"input\n").unwrap();
        let starts: Vec<_> = (0..6).map(|_| threads.spawn(start)).collect();
        for start in starts {
            let outcome = start.join().unwrap();
            assert_eq!((outcome.exit, outcome.stdout.as_slice()), (Exit::Code(3), &b"input\n"[..]));
        }
    });
    assert_eq!(scene.container().lines().count(), 1);
}

pub(super) fn exits_and_output(scene: &Scene<'_>) {
    for (script, code, output) in [
        ("exit 255", 255, ""),
        ("kill -s KILL $$", 137, ""),
        ("echo x > /x || echo refused", 0, "refused\n"),
        (
            "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status",
            0,
            "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n",
        ),
        ("cat /proc/net/dev | grep -c eth", 1, "0\n"),
        ("ls /run | grep -c sock", 1, "0\n"),
        ("echo made > made; pwd", 0, "/home/agent/workspace\n"),
    ] {
        assert_eq!(scene.says(script), (code, output.to_owned()), "{script}");
    }
    assert_eq!(fs::read_to_string(scene.workspace.join("made")).unwrap(), "made\n");
    let outcome = scene.outcome(&scene.shell("echo out; echo error >&2"));
    assert_eq!(outcome.stdout, b"out\n");
    assert_eq!(outcome.stderr_tail, b"error\n");
}

pub(super) fn words(scene: &Scene<'_>) {
    let words = ["", "a b", "'\"", "$HOME", "line\nbreak", "--", "-x", "ünï", "*"];
    let mut argv = vec!["sh", "-c", r#"for word; do printf '%s\0' "$word"; done"#, "name"];
    argv.extend(words);
    let outcome = scene.outcome(&scene.spec(&argv));
    let stdout = String::from_utf8(outcome.stdout).unwrap();
    assert_eq!(stdout.split_terminator('\0').collect::<Vec<_>>(), words);
}

/// Of ours nothing, and what the client itself would obey unharmed.
pub(super) fn environment(scene: &Scene<'_>) {
    assert!(std::env::vars_os().count() > 5, "there is something that could get in");
    let mut spec = scene.spec(&["env"]);
    let given =
        [("DOCKER_HOST", "tcp://nowhere"), ("XDG_DATA_HOME", "/a b"), ("HOME", "/h"), ("E", "")];
    spec.env.extend(given.map(|(name, value)| (name.into(), value.into())));
    let outcome = scene.outcome(&spec);
    let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
    for (name, value) in given {
        assert!(stdout.lines().any(|line| line == format!("{name}={value}")), "{name}: {stdout}");
    }
    // The rest of a value with a line break has no name.
    let named = stdout.lines().filter_map(|line| line.split_once('='));
    let mut names: Vec<_> = named.map(|(name, _)| name).collect();
    names.sort_unstable();
    names
        .retain(|name| !["HOSTNAME", "OLDPWD", "PWD", "SHLVL", "TERM", "container"].contains(name));
    let expected = [
        "CAI_HOST_WORKSPACE",
        "DOCKER_HOST",
        "E",
        "HOME",
        "PATH",
        "PROBITY_SESSION",
        "TOKEN",
        "XDG_DATA_HOME",
    ];
    assert_eq!(names, expected, "{stdout}");
    assert_eq!(scene.says("printf %s \"$TOKEN\"").1, format!("{SECRET} a b\nc"));
}

pub(super) fn secrets(scene: &Scene<'_>) {
    let nap = nap();
    let mut spec = scene.shell(&format!("echo ready; sleep {nap}"));
    // A name that the client would obey is no reason to put the value on its command line.
    spec.env.push(("DOCKER_AUTH_CONFIG".into(), SECRET.into()));
    let mut child = spawn(&scene.backend, &spec).unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    // The process says that it is ready before it naps.
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut looked = 0;
    while looked < 2 && Instant::now() < deadline {
        looked = 0;
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
            looked += usize::from(String::from_utf8_lossy(&line).contains(&nap));
            let shown = String::from_utf8_lossy(&line).into_owned();
            assert!(!shown.contains(SECRET), "{shown}");
        }
    }
    assert!(looked >= 2, "neither the client nor the process was seen");
    let name = scene.container();
    for asked in [&["container", "inspect", &name][..], &["ps", "-a", "--no-trunc"]] {
        let (done, told) = scene.server.says(asked);
        assert!(done && told.contains(&name) && !told.contains(SECRET), "{told}");
    }
    assert!(!format!("{spec:?}").contains(SECRET));
}

pub(super) fn what_cannot_start(scene: &Scene<'_>) {
    let plain = scene.workspace.join("plain");
    fs::write(&plain, "no program").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    for (program, code) in [("no-such-agent", 127), ("./no-such-agent", 127), ("./plain", 126)] {
        let outcome = scene.outcome(&scene.spec(&[program]));
        let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
        assert_eq!(
            (outcome.exit, outcome.stdout.len()),
            (Exit::Code(code), 0),
            "{program}: {told}"
        );
        assert!(told.contains(program), "{told}");
    }
    let mut spec = scene.spec(&["true"]);
    spec.cwd = "/no/such".into();
    let outcome = scene.outcome(&spec);
    let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    assert_eq!((outcome.exit, outcome.stdout.len()), (Exit::Code(125), 0), "{told}");
    assert!(told.contains("/no/such"), "{told}");
    let engine =
        probity_sandbox::Engine { image: "absent:none".to_owned(), ..scene.engine.clone() };
    let elsewhere = tempfile::tempdir().unwrap();
    let engine = probity_sandbox::Engine { workspace: elsewhere.path().to_owned(), ..engine };
    let error = spawn(&Backend::Engine(engine), &scene.spec(&["true"])).unwrap_err().to_string();
    assert!(error.contains("absent:none"), "{error}");
    assert_eq!(scene.container().lines().count(), 1, "nothing is left of the failure");
}

pub(super) fn linked_directories(scene: &Scene<'_>) {
    fs::create_dir_all(scene.workspace.join("deep/er")).unwrap();
    fs::write(scene.workspace.join("deep/er/file"), "found").unwrap();
    symlink("deep/er", scene.workspace.join("link")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("bait"), "bait").unwrap();
    symlink(outside.path(), scene.workspace.join("out")).unwrap();
    for cwd in [format!("{INSIDE}/link"), scene.workspace.join("link").display().to_string()] {
        let mut spec = scene.shell("cat file");
        spec.cwd = cwd.into();
        assert_eq!(scene.outcome(&spec).stdout, b"found");
    }
    assert_eq!(scene.says("cat out/bait").1, "", "a link out leads nowhere");
}

pub(super) fn long_lines(scene: &Scene<'_>) {
    let line: Vec<u8> = (0..1 << 20).map(|index: u32| b'a' + (index % 26) as u8).collect();
    let outcome = run(&scene.backend, &scene.shell("cat; echo; echo end"), &line).unwrap();
    let expected = [&line[..], b"\nend\n"].concat();
    assert!(outcome.stdout == expected, "{} bytes", outcome.stdout.len());
}

pub(super) fn conversation(scene: &Scene<'_>) {
    let spec = scene.shell("while read -r word; do echo \"<$word>\"; done");
    let mut child = spawn(&scene.backend, &spec).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    for _ in 0..3 {
        child.stdin.as_mut().unwrap().write_all(b"hello\n").unwrap();
        let mut answer = [0; 8];
        stdout.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"<hello>\n");
    }
    drop(child.stdin.take());
    assert_eq!(child.wait(), Exit::Code(0));
}

pub(super) fn limits(scene: &Scene<'_>) {
    let asked = "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}} \
                 {{.HostConfig.NanoCpus}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Privileged}} \
                 {{len .HostConfig.PortBindings}}";
    let (_, told) = scene.server.says(&["inspect", "--format", asked, &scene.container()]);
    assert_eq!(told, "268435456 268435456 64 1500000000 true false 0");
    let hog = "head -c 400000000 /dev/zero > /tmp/hog && echo written";
    assert_eq!(scene.says(hog).1, "", "scratch space counts as memory");
    scene.says("rm -f /tmp/hog");
    let size = "df -k /tmp /dev/shm | awk 'NR > 1 { print $2 }'";
    assert_eq!(scene.says(size).1, "512000\n8192\n", "places in memory have sizes");
    assert_eq!(scene.says("echo still").1, "still\n", "the container outlives a hog");
}

pub(super) fn allowed_hosts(scene: &Scene<'_>) {
    let (open, closed) = (server("welcome"), server("bait"));
    let ask = |port: u16| {
        let script = format!(
            "printf 'GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n' | nc 127.0.0.1 ${{http_proxy##*:}}"
        );
        let mut spec = scene.shell(&script);
        spec.reach = Some(Allowlist::parse(&[format!("127.0.0.1:{open}")]).unwrap());
        String::from_utf8_lossy(&scene.outcome(&spec).stdout).into_owned()
    };
    let (welcome, refused) = (ask(open), ask(closed));
    assert!(welcome.ends_with("welcome"), "{welcome}");
    assert!(refused.contains("403 Forbidden") && !refused.contains("bait"), "{refused}");
    assert_eq!(scene.says(&format!("nc 127.0.0.1 {open} < /dev/null")).0, 1, "no other way");
}

/// With the host's git, since the image has none.
pub(super) fn git(scene: &Scene<'_>) {
    for (tree, common) in [("main", "main/.git"), ("tree", "main/.git")] {
        let place = repositories();
        let root = workspace_root(&place.path().join(tree)).unwrap();
        let engine = scene.server.engine(&root.path);
        let backend = Backend::Engine(engine);
        let common = place.path().canonicalize().unwrap().join(common);
        let script = format!(
            "echo more >> file && /usr/bin/git commit -qam second && /usr/bin/git status --porcelain; \
             echo x > {0}/hooks/pre-commit; echo x >> {0}/config; echo x > {0}/commondir; \
             mv {0} {0}.moved; true",
            common.display()
        );
        let guard = root.guard();
        let mut spec = scene.shell(&script);
        spec.mounts = root.mounts(Path::new(INSIDE));
        spec.mounts.push(Mount::read_only("/usr", "/usr"));
        spec.env.extend(IDENTITY.map(|(name, value)| (name.into(), value.into())));
        spec.user = probity_sandbox::User::OwnerOf(root.path.clone());
        let outcome = run(&backend, &spec, b"").unwrap();
        drop(guard);
        let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
        assert_eq!(outcome.stdout, b"", "{tree}: {told}");
        let log = std::process::Command::new("git")
            .args(["log", "--format=%s"])
            .current_dir(&root.path)
            .output()
            .unwrap();
        assert_eq!(log.stdout, b"second\nfirst\n", "{tree}: {told}");
        assert!(!common.join("hooks/pre-commit").exists(), "{told}");
        assert!(fs::read_to_string(common.join("config")).unwrap().contains("[core]"), "{told}");
        assert!(!fs::read_to_string(common.join("config")).unwrap().contains('x'), "{told}");
        let ours = containers(&scene.found()).unwrap();
        for container in ours.iter().filter(|container| container.workspace == root.path) {
            remove_container(&scene.found(), &container.name).unwrap();
        }
    }
}

pub(super) fn foreign(scene: &Scene<'_>) {
    let name = scene.container();
    let make = |label: &str| {
        scene.server.remove_containers();
        let words = ["run", "-d", "--network=none", "--name", &name, label, IMAGE, "sleep", "100"];
        assert!(scene.server.says(&words).0);
    };
    let workspace = format!("--label=probity.workspace={}", scene.workspace.display());
    for label in ["--label=x=y", &workspace] {
        make(label);
        let error = spawn(&scene.backend, &scene.spec(&["true"])).unwrap_err();
        assert!(matches!(error, SpawnError::Foreign { .. }), "{label}: {error}");
        assert_eq!(error.exit_code(), 15);
    }
    scene.server.remove_containers();
}

pub(super) fn other_settings(scene: &Scene<'_>) {
    assert_eq!(scene.says("echo one").1, "one\n");
    let before = scene.server.says(&["ps", "-q"]).1;
    let mut other = scene.shell("echo two");
    other.limits.pids = Some(65);
    assert_eq!(scene.outcome(&other).stdout, b"two\n");
    let after = scene.server.says(&["ps", "-q"]).1;
    assert!(before != after && after.lines().count() == 1, "{before} {after}");

    // Not under somebody who is at work in it.
    let mut busy = spawn(&scene.backend, &scene.shell("echo ready; read -r go; exit 4")).unwrap();
    busy.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    let outcome = scene.outcome(&other);
    assert_eq!(outcome.stdout, b"two\n");
    assert!(outcome.notes.iter().any(|note| note.contains("in use")), "{:?}", outcome.notes);
    drop(busy.stdin.take());
    assert_eq!(busy.wait(), Exit::Code(4));
}

pub(super) fn stopped(scene: &Scene<'_>) {
    let name = scene.container();
    assert!(scene.server.says(&["stop", &name]).0);
    assert_eq!(scene.says("echo again").1, "again\n");
    assert_eq!(scene.container(), name);
}

pub(super) fn stock(scene: &Scene<'_>) {
    let found = scene.found();
    let ours = scene.container();
    let words = ["run", "-d", "--network=none", "--name", "theirs", IMAGE, "sleep", "100"];
    assert!(scene.server.says(&words).0);
    let listed = containers(&found).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].running && listed[0].workspace == scene.workspace, "{listed:?}");
    assert_eq!(listed[0].name, ours);
    for (name, there) in [("theirs", true), (ours.as_str(), true), ("nobodys", false)] {
        assert_eq!(has_container(&found, name).unwrap(), there, "{name}");
    }
    assert!(remove_container(&found, "theirs").is_err());
    remove_container(&found, &ours).unwrap();
    assert_eq!(scene.container(), "theirs");
    assert_eq!(containers(&found).unwrap(), []);
}
