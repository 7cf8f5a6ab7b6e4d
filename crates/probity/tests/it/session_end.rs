//! The end of a session: nothing that it hid is passed over, however it ended.

use std::{
    fs::{self, Permissions},
    io::Read as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    acp::{Place, driver::Driver},
    binary::{directory, named, ordinary, probity, stable},
    exec::Stage,
    left_behind::agent,
};

/// A directory that its owner cannot read, enter or write hides nothing from its owner. As root
/// every directory is open, so an ordinary user runs these.
#[test]
fn a_closed_directory_hides_no_repository() {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    for (script, repository) in [
        ("git init -q a/new; chmod 000 a", "a/new/.git"),
        ("git init -q a/new; chmod 100 a", "a/new/.git"),
        ("git init -q a/new; chmod 200 a", "a/new/.git"),
        ("git init -q a/new; chmod 300 a/new a", "a/new/.git"),
        ("git init -q a/new; chmod 400 a/new", "a/new/.git"),
        ("git init -q a/new; chmod 500 a/new a", "a/new/.git"),
        ("git init -q a/new; chmod 600 a/new a", "a/new/.git"),
        ("git init -q a/new; chmod 000 a/new/.git/* a/new/.git", "a/new/.git"),
        ("git init -q a/new; chmod 500 a/new/.git", "a/new/.git"),
    ] {
        // On the same file system, and on another one, where moving is copying.
        for state in [None, Some(elsewhere.path())] {
            let stage = Stage::new(&[]);
            let mut directories = stage.directories().to_vec();
            directories.extend(state);
            let mut run = stage.place(ordinary(&directories));
            if let Some(state) = state {
                run = run.env("XDG_STATE_HOME", state.to_str().unwrap());
            }
            let exec = ["exec", "--sandbox", "bwrap", "--", "sh", "-c", script];
            let output = run.args(exec).run().code(0);
            let left = stage.repository.path().join(repository);
            assert!(left.parent().unwrap().is_dir(), "{script}: {}", output.stderr);
            assert!(left.symlink_metadata().is_err(), "{script}: {}", output.stderr);
            assert!(output.stderr.contains("was moved to"), "{script}: {}", output.stderr);
        }
    }
}

/// A bit that a session may set, since directories need it: files lose it at the end. Those that were
/// there before keep theirs.
#[test]
fn files_of_a_session_do_not_run_with_the_rights_of_the_users_group() {
    let stage = Stage::new(&[("old", "")]);
    let at = |path: &str| stage.repository.path().join(path);
    let mode = |path: &str| at(path).metadata().unwrap().permissions().mode() & 0o7777;
    fs::set_permissions(at("old"), Permissions::from_mode(0o4755)).unwrap();
    let script = "touch new; chmod 2755 new; mkdir shared; chmod 2775 shared; \
                  touch .git/hidden; chmod 2711 .git/hidden; chmod 4755 new 2>&1";
    let output = stage.shell(script).run().code(1);
    insta::assert_snapshot!(output.stdout, @"chmod: changing permissions of 'new': Operation not permitted");
    insta::assert_snapshot!(stable(&output.stderr), @"warning: probity removed the set-user-ID and set-group-ID bits of the session's files: [dir]/new, [dir]/.git/hidden");
    assert_eq!((mode("new"), mode(".git/hidden")), (0o755, 0o711));
    assert_eq!((mode("shared"), mode("old")), (0o2775, 0o4755));
}

/// A directory of somebody else is as closed to the session as it is to us.
#[test]
fn a_directory_of_somebody_else_raises_no_alarm() {
    let stage = Stage::new(&[]);
    let run = stage.place(ordinary(&stage.directories()));
    let closed = stage.repository.path().join("closed");
    fs::create_dir(&closed).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&closed, mode).unwrap();
    let output = run.args(["exec", "--sandbox", "bwrap", "--", "true"]).run().code(0);
    assert_eq!(output.stderr, "");
}

/// Closed directories, names that are not text, and links: each is named at the end, and put back by
/// `--quarantine`.
#[test]
fn files_that_tools_run_are_found_wherever_they_hide() {
    for (script, named, path) in [
        ("mkdir a; echo 'all: evil' > a/Makefile; chmod 000 a", "a/Makefile (make)", "a/Makefile"),
        ("mkdir a; echo 'all: evil' > a/Makefile; chmod 500 a", "a/Makefile (make)", "a/Makefile"),
        (
            "d=$(printf 'd\\377'); mkdir $d; echo x > $d/.envrc; mv $d d",
            "d/.envrc (direnv)",
            "d/.envrc",
        ),
        ("d=$(printf 'd\\377'); mkdir $d; echo x > $d/.envrc", "d?/.envrc (direnv)", ""),
        (
            "mkdir c; echo {} > c/tasks.json; ln -s c .vscode",
            ".vscode (tools that look through the link), .vscode/tasks.json (VS Code)",
            ".vscode",
        ),
        ("ln -s x.mk Makefile; echo 'all: evil' > x.mk", "Makefile (make)", "Makefile"),
        (
            "echo {} > settings/tasks.json",
            "tools/.vscode/tasks.json (VS Code)",
            "settings/tasks.json",
        ),
        ("echo 'all: evil' > real.mk", "linked/Makefile (make)", ""),
        ("rm linked/Makefile; echo x > linked/Makefile", "linked/Makefile (make)", ""),
    ] {
        for flags in [&[][..], &["--quarantine"]] {
            let stage = Stage::new(&[("settings/x", ""), ("tools/x", ""), ("real.mk", "all:\n")]);
            let root = stage.repository.path();
            symlink("../settings", root.join("tools/.vscode")).unwrap();
            fs::create_dir(root.join("linked")).unwrap();
            symlink("../real.mk", root.join("linked/Makefile")).unwrap();
            let run = stage.place(ordinary(&stage.directories()));
            let run = run.args(["exec", "--sandbox", "bwrap"]).args(flags);
            let output = run.args(["--", "sh", "-c", script]).run().code(0);
            let warning = output.stderr.replace('\u{fffd}', "?");
            if flags.is_empty() {
                let way_out = "read them before you use these tools, or run with --quarantine";
                let what = "the session changed files that tools run by themselves";
                assert_eq!(warning, format!("warning: {what}: {named}; {way_out}\n"), "{script}");
                continue;
            }
            assert!(warning.contains("cai accept"), "{script}: {warning}");
            if !path.is_empty() {
                let is_left = root.join(path).symlink_metadata().is_ok();
                assert!(!is_left, "{script}: {warning}");
            }
            let link = fs::read_link(root.join("linked/Makefile")).ok();
            assert_eq!(link.as_deref(), Some("../real.mk".as_ref()), "{script}");
        }
    }
}

#[test]
fn a_repository_whose_name_is_not_text_is_moved_and_restored() {
    let stage = Stage::new(&[]);
    let make = "d=$(printf 'd\\377'); git init -q $d; git -C $d config core.fsmonitor ./evil";
    let output = stage.shell(make).run().code(0);
    insta::assert_snapshot!(stable(&output.stderr), @"warning: [dir]/d�/.git: a new git repository was moved to [dir]/probity/quarantine/1/item; `cai accept` restores it without hooks and settings that run programs");
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"d\xff");
    let repository = stage.repository.path().join(name);
    assert!(repository.is_dir() && !repository.join(".git").exists());
    stage.place(named("cai")).args(["accept"]).run().code(0);
    let config = fs::read_to_string(repository.join(".git/config")).unwrap();
    assert!(!config.contains("evil"), "{config}");
}

#[test]
fn the_workspace_is_looked_at_after_every_signal_that_can_be_caught() {
    for signal in [
        Signal::INT,
        Signal::TERM,
        Signal::HUP,
        Signal::QUIT,
        Signal::ALARM,
        Signal::USR1,
        Signal::USR2,
    ] {
        let stage = Stage::new(&[]);
        let script = "git init -q new; echo x > .envrc; echo ready; exec sleep 300";
        let mut command = stage.shell(script).into_command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(128 + signal.as_raw()), "{signal:?}: {said}");
        assert!(!stage.repository.path().join("new/.git").exists(), "{signal:?}: {said}");
        assert!(said.contains(".envrc (direnv)"), "{signal:?}: {said}");
    }
}

/// An agent that does not answer is not waited for until it does: if it were, it would live long
/// enough to leave its mark.
#[test]
fn a_mute_agent_is_ended_soon_after_the_input() {
    let place = Place::new("");
    agent(&place, "read line; touch asked; sleep 25; touch late; cat");
    let mut driver = Driver::start(place.settle(probity()).args(["acp", "mine"]));
    driver.ask("session/new", &json!({"cwd": place.path("one"), "mcpServers": []}));
    wait_for(&place.path("one/asked"));
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(!place.path("one/late").exists(), "{}", output.stderr);
}

fn wait_for(path: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < until, "{} never came", path.display());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Reports and state of an audit, at places that the repository's own configuration names.
#[test]
fn an_audit_writes_nothing_through_a_link_of_the_repository() {
    let mut warnings = Vec::new();
    for key in ["report-out", "state-out"] {
        for path in ["linked/mine", "file", ".git/hooks/pre-commit", "deep/linked/mine"] {
            let users = directory(&[("mine", "mine")]);
            let text = format!("[audit]\n{key} = '{path}'\n");
            let dir = directory(&[
                ("probity.toml", &text),
                ("a.ak", "x"),
                (".git/config", ""),
                ("deep/x", ""),
            ]);
            for link in ["linked", "deep/linked"] {
                symlink(users.path(), dir.path().join(link)).unwrap();
            }
            symlink(users.path().join("mine"), dir.path().join("file")).unwrap();
            let output = probity().dir(&dir).args(["audit"]).run().code(0);
            warnings.push(output.stderr);
            assert_eq!(
                fs::read_to_string(users.path().join("mine")).unwrap(),
                "mine",
                "{key} {path}"
            );
            assert_eq!(fs::read_dir(users.path()).unwrap().count(), 1, "{key} {path}");
            assert!(!dir.path().join(".git/hooks").exists(), "{key} {path}");
        }
    }
    insta::assert_snapshot!(warnings.concat(), @r#"
    warning: probity.toml:2: `audit.report-out = "linked/mine"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --report-out, PROBITY_AUDIT__REPORT_OUT or in your own configuration file
    warning: probity.toml:2: `audit.report-out = "file"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --report-out, PROBITY_AUDIT__REPORT_OUT or in your own configuration file
    warning: probity.toml:2: `audit.report-out = ".git/hooks/pre-commit"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --report-out, PROBITY_AUDIT__REPORT_OUT or in your own configuration file
    warning: probity.toml:2: `audit.report-out = "deep/linked/mine"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --report-out, PROBITY_AUDIT__REPORT_OUT or in your own configuration file
    warning: probity.toml:2: `audit.state-out = "linked/mine"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --state-out, PROBITY_AUDIT__STATE_OUT or in your own configuration file
    warning: probity.toml:2: `audit.state-out = "file"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --state-out, PROBITY_AUDIT__STATE_OUT or in your own configuration file
    warning: probity.toml:2: `audit.state-out = ".git/hooks/pre-commit"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --state-out, PROBITY_AUDIT__STATE_OUT or in your own configuration file
    warning: probity.toml:2: `audit.state-out = "deep/linked/mine"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --state-out, PROBITY_AUDIT__STATE_OUT or in your own configuration file
    "#);
}

/// A link of the repository is no less one if the user names it.
#[test]
fn an_audit_follows_no_link_of_the_repository_to_a_place_that_the_user_names() {
    for flag in ["--report-out", "--state-out"] {
        for path in ["linked/mine", "linked/deeper/new", "file"] {
            let users = directory(&[("mine", "mine")]);
            let dir = directory(&[("a.ak", "x")]);
            symlink(users.path(), dir.path().join("linked")).unwrap();
            symlink(users.path().join("mine"), dir.path().join("file")).unwrap();
            let output = probity().dir(&dir).args(["audit", flag, path]).run().code(1);
            let link = path.split('/').next().unwrap();
            let why = format!("{link} is a link of the repository, which may lead anywhere");
            assert!(output.stderr.contains(&why), "{flag} {path}: {}", output.stderr);
            let left = fs::read_to_string(users.path().join("mine")).unwrap();
            assert_eq!(left, "mine", "{flag} {path}");
            assert_eq!(fs::read_dir(users.path()).unwrap().count(), 1, "{flag} {path}");
        }
    }
}

/// The default places may be links of the repository, too.
#[test]
fn an_audit_does_not_follow_links_at_its_default_places() {
    let mut refusals = Vec::new();
    for link in [".tx3", ".tx3/audit", ".tx3/audit/vulnerabilities.md", ".tx3/audit/state.json"] {
        let users = directory(&[("mine", "mine")]);
        let dir = directory(&[("a.ak", "x")]);
        let at = dir.path().join(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        let is_file = link.contains("json") || link.contains(".md");
        let target = if is_file { users.path().join("mine") } else { users.path().to_owned() };
        symlink(target, at).unwrap();
        let output = probity().dir(&dir).args(["audit"]).run().code(1);
        refusals.push(output.stderr);
        assert_eq!(fs::read_to_string(users.path().join("mine")).unwrap(), "mine", "{link}");
        assert_eq!(fs::read_dir(users.path()).unwrap().count(), 1, "{link}");
    }
    insta::assert_snapshot!(refusals.concat(), @"
    error: .tx3/audit/state.json is reached through a symbolic link of the repository
      help: name another file with --state-out
    error: .tx3/audit/state.json is reached through a symbolic link of the repository
      help: name another file with --state-out
    error: .tx3/audit/vulnerabilities.md is reached through a symbolic link of the repository
      help: name another file with --report-out
    error: .tx3/audit/state.json is reached through a symbolic link of the repository
      help: name another file with --state-out
    ");
}

/// Nobody is asked because a repository says so.
#[test]
fn a_repository_cannot_switch_ai_fixes_on() {
    const DOCKERFILE: &str = "FROM golang:1.22\nWORKDIR /src\nCOPY . .\nRUN apt-get update && \
        apt-get install -y gcc make && make build\nCMD [\"/src/app\"]\n";
    let mut warnings = Vec::new();
    for (file, text) in [
        ("probity.toml", "[ai]\nenabled = true\n"),
        ("pyproject.toml", "[tool.probity.ai]\nenabled = true\n"),
    ] {
        let (dir, users) = (directory(&[(file, text), ("Dockerfile", DOCKERFILE)]), directory(&[]));
        let asked = users.path().join("asked");
        let own = format!(
            "[ai]\ncommand = ['sh', '-c', 'touch {}']\nsandbox = 'none'\n",
            asked.display()
        );
        let configuration = users.path().join("probity");
        fs::create_dir(&configuration).unwrap();
        let check = |enabled: &str| {
            fs::write(configuration.join("probity.toml"), format!("{own}{enabled}")).unwrap();
            let run = probity().dir(&dir).env("XDG_CONFIG_HOME", users.path().to_str().unwrap());
            run.args(["check", "--preset", "strict", "--fix", "--fix-unsafe", "--fix-ai"]).run()
        };
        let output = check("");
        assert!(!asked.exists(), "{file}: {}", output.stderr);
        warnings.push(output.stderr);
        // With the user's own word the same files do ask.
        assert!(output.stdout.contains("`--acp-command`"), "{file}: {}", output.stdout);
        let output = check("enabled = true\n");
        // Who has been asked is not offered again.
        assert!(!output.stdout.contains("`--acp-command`"), "{file}: {}", output.stdout);
        assert!(asked.exists(), "{file}: {}", output.stderr);
    }
    insta::assert_snapshot!(warnings.concat(), @"
    warning: probity.toml:2: `ai.enabled = true` is ignored: a repository's file may only tighten this key, which is false by default; set it with --ai, PROBITY_AI__ENABLED or in your own configuration file
    Fixed 2 issues in 1 file
    Skipped 1 fix (1 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:4): resolve-error: ai-disabled: AI fixes are off; --ai or `ai.enabled = true` switches them on
    warning: pyproject.toml:2: `ai.enabled = true` is ignored: a repository's file may only tighten this key, which is false by default; set it with --ai, PROBITY_AI__ENABLED or in your own configuration file
    Fixed 2 issues in 1 file
    Skipped 1 fix (1 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:4): resolve-error: ai-disabled: AI fixes are off; --ai or `ai.enabled = true` switches them on
    ");
}

/// A session that is still there, with what it has done so far.
fn begin(stage: &Stage, flags: &[&str], script: &str) -> Child {
    let run = stage.place(probity()).args(["exec", "--sandbox", "bwrap"]).args(flags);
    let script = format!("{script}; echo ready; exec sleep 300");
    let mut command = run.args(["--", "sh", "-c", &script]).into_command();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    child
}

#[test]
fn a_session_that_did_not_start_was_not_killed() {
    let stage = Stage::new(&[("Makefile", "all:\n")]);
    let run = |program: &str| {
        let exec = ["exec", "--sandbox", "bwrap", "--", program];
        stage.place(named("probity")).args(exec).run()
    };
    let output = run("no-such-program");
    insta::assert_snapshot!(output.stderr, @"
    error: no-such-program: program not found
      help: the sandbox has the programs of the system and of the workspace, but none of your home; install it in one of these, or pass its path
    ");
    assert_eq!(run("true").code(0).stderr, "");
}

#[test]
fn a_session_that_was_killed_is_looked_at_by_whoever_comes_next() {
    for next in [
        &["probity", "exec", "--sandbox", "bwrap", "--", "true"][..],
        &["cai", "gc"],
        &["cai", "doctor"],
    ] {
        for flags in [&[][..], &["--quarantine"]] {
            let stage = Stage::new(&[("Makefile", "all:\n"), ("real/x", "")]);
            let at = |path: &str| stage.repository.path().join(path);
            symlink("real", at("hooks")).unwrap();
            fs::write(at(".git/config"), "[core]\n\thooksPath = hooks\n").unwrap();
            let plant = "git init -q new; echo 'all: evil' > Makefile; rm hooks; mkdir hooks; \
                         mkdir -p .git/rebase-merge; echo 'exec x' > .git/rebase-merge/git-rebase-todo";
            let mut child = begin(&stage, flags, plant);
            let run = |words: &[&str]| stage.place(named(words[0])).args(&words[1..]).run().code(0);
            // As long as it lives it is nobody else's affair.
            run(&["cai", "gc"]);
            assert!(at("new/.git").exists());
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(at("new/.git").exists(), "nobody has looked yet");
            let listed = run(&["cai", "gc", "--dry-run"]).stdout;
            assert!(listed.contains("a session was killed"), "{listed}");
            assert!(at("new/.git").exists(), "a dry run changes nothing");
            let output = run(next);
            assert!(output.stderr.contains("was killed"), "{next:?}: {}", output.stderr);
            for gone in ["new/.git", ".git/rebase-merge"] {
                assert!(!at(gone).exists(), "{gone}: {next:?}: {}", output.stderr);
            }
            assert_eq!(fs::read_link(at("hooks")).unwrap(), Path::new("real"), "{next:?}");
            let makefile = fs::read_to_string(at("Makefile")).unwrap();
            let expected = if flags.is_empty() { "all: evil\n" } else { "all:\n" };
            assert_eq!(makefile, expected, "{next:?} {flags:?}: {}", output.stderr);
            assert!(output.stderr.contains("Makefile"), "{}", output.stderr);
            // Once.
            assert_eq!(run(next).stderr, "", "{next:?}");
        }
    }
}
