//! What holds in every backend: words, streams, environment, exit codes and errors.

use std::{
    io::{Read, Write},
    os::unix::fs::{PermissionsExt, symlink},
};

use probity_sandbox::{Backend, Exit, SpawnError};

use crate::stage::{INSIDE, Workspace, backends, bubblewrap, run, spawn, text};

#[test]
fn words_arrive_as_they_were_given() {
    let workspace = Workspace::new();
    let words = ["", "a b", "'\"", "$HOME", "line\nbreak", "--", "-x", "ünï", "*"];
    let mut argv = vec!["sh", "-c", r#"for word; do printf '%s\0' "$word"; done"#, "name"];
    argv.extend(words);
    for backend in backends() {
        let (_, stdout) = text(&backend, &workspace.spec(&argv));
        let seen: Vec<_> = stdout.split_terminator('\0').collect();
        assert_eq!(seen, words, "{backend:?}");
    }
}

#[test]
fn the_exit_is_the_programs_own() {
    let workspace = Workspace::new();
    for backend in backends() {
        for (script, code) in
            [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137)]
        {
            let (outcome, _) = text(&backend, &workspace.shell(script));
            assert_eq!(outcome.exit.code(), code, "{backend:?}: {script}");
        }
    }
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let workspace = Workspace::new();
    for backend in backends() {
        let mut spec = workspace.spec(&["env"]);
        spec.env.push(("GIVEN".into(), "a=b c\nd".into()));
        let (_, stdout) = text(&backend, &spec);
        let mut seen: Vec<_> = stdout.lines().collect();
        seen.sort_unstable();
        let pwd = format!("PWD={}", workspace.path.display());
        let mut expected =
            vec!["GIVEN=a=b c", "PATH=/usr/local/bin:/usr/bin:/bin", pwd.as_str(), "d"];
        // Landlock has no place that is the same each time.
        let own = |name: &str| {
            let is_own = |line: &&str| {
                let path = line.strip_prefix(name);
                path.is_some_and(|path| path.contains("/probity-sandbox-"))
            };
            stdout.lines().find(is_own).unwrap_or("absent")
        };
        match backend {
            Backend::None => {}
            Backend::Landlock => {
                expected.insert(1, own("HOME="));
                expected.insert(4, own("TMPDIR="));
                // git takes a configuration of the system that it must not read for an error.
                expected.insert(0, "GIT_CONFIG_NOSYSTEM=1");
            }
            _ => expected.insert(1, "HOME=/home/agent"),
        }
        assert_eq!(seen, expected, "{backend:?}");
    }
}

#[test]
fn streams_are_apart_and_input_ends() {
    let workspace = Workspace::new();
    for backend in backends() {
        let spec = workspace.shell("cat; echo error >&2; cat; echo done");
        let outcome = run(&backend, &spec, b"input\n").unwrap();
        assert_eq!(outcome.stdout, b"input\ndone\n", "{backend:?}");
        assert_eq!(outcome.stderr_tail, b"error\n", "{backend:?}");
    }
}

#[test]
fn a_line_of_a_mebibyte_goes_there_and_back() {
    let workspace = Workspace::new();
    let line: Vec<u8> = (0..1 << 20).map(|index: u32| b'a' + (index % 26) as u8).collect();
    for backend in backends() {
        let outcome = run(&backend, &workspace.spec(&["cat"]), &line).unwrap();
        assert!(outcome.stdout == line, "{backend:?}: {} bytes", outcome.stdout.len());
    }
}

#[test]
fn a_conversation_over_the_pipes_is_not_held_back() {
    let workspace = Workspace::new();
    for backend in backends() {
        let spec = workspace.shell("while read -r word; do echo \"<$word>\"; done");
        let mut child = spawn(&backend, &spec).unwrap();
        let mut stdout = child.stdout.take().unwrap();
        for _ in 0..3 {
            child.stdin.as_mut().unwrap().write_all(b"hello\n").unwrap();
            let mut answer = [0; 8];
            stdout.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"<hello>\n");
        }
        drop(child.stdin.take());
        assert_eq!(child.wait(), Exit::Code(0), "{backend:?}");
    }
}

#[test]
fn what_cannot_start_is_named_alike() {
    let workspace = Workspace::new();
    workspace.write("plain", "no program");
    workspace.write("bin/plain-in-path", "no program");
    symlink("/etc/shadow", workspace.path.join("linked")).unwrap();
    let absent = workspace.path.join("absent");
    for backend in backends() {
        let error = |argv: &[&str]| spawn(&backend, &workspace.spec(argv)).unwrap_err();
        for (argv, code, message) in [
            ("no-such-program", 127, "no-such-program: program not found"),
            ("./no-such-program", 127, "./no-such-program: program not found"),
            ("./plain", 126, "./plain: not an executable file"),
            (".", 127, ".: program not found"),
        ] {
            let error = error(&[argv]);
            assert_eq!((error.exit_code(), error.to_string().as_str()), (code, message));
        }
        assert!(matches!(error(&[]), SpawnError::NoProgram));
        assert!(matches!(error(&["echo", "a\0b"]), SpawnError::Nul));
        let mut spec = workspace.spec(&["true"]);
        spec.env = vec![("PATH".into(), workspace.path.join("bin").into())];
        spec.argv = vec!["plain-in-path".into()];
        assert_eq!(spawn(&backend, &spec).unwrap_err().exit_code(), 126);
        let mut spec = workspace.spec(&["true"]);
        spec.cwd = absent.clone();
        let error = spawn(&backend, &spec).unwrap_err();
        assert!(matches!(error, SpawnError::WorkingDirectory(_)), "{backend:?}: {error}");
    }
}

#[test]
fn programs_of_the_workspace_run_wherever_it_is_mounted() {
    let workspace = Workspace::new();
    workspace.write("bin/tool", "#!/bin/sh\necho \"tool $1\"\n");
    let tool = workspace.path.join("bin/tool");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("bin/tool", workspace.path.join("link")).unwrap();
    for backend in backends() {
        for program in ["bin/tool", "./link", tool.to_str().unwrap()] {
            let (_, stdout) = text(&backend, &workspace.spec(&[program, "x"]));
            assert_eq!(stdout, "tool x\n", "{backend:?}: {program}");
        }
    }
}

#[test]
fn the_working_directory_may_be_named_from_inside() {
    let workspace = Workspace::new();
    workspace.write("sub/file", "found");
    for backend in [Backend::None, bubblewrap()] {
        let mut spec = workspace.shell("cat file; echo written > new");
        spec.cwd = format!("{INSIDE}/sub").into();
        let (outcome, stdout) = text(&backend, &spec);
        assert_eq!((outcome.exit, stdout.as_str()), (Exit::Code(0), "found"), "{backend:?}");
        let new = workspace.path.join("sub/new");
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "written\n");
        std::fs::remove_file(new).unwrap();
    }
}
