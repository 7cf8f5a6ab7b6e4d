//! `exec` with the real bubblewrap: what a command can do, what it cannot see, and how it ends.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::binary::{Run, directory, named, probity, stable};

/// A repository, and a state directory and a configuration of the user's that are not in it.
pub(crate) struct Stage {
    pub(crate) repository: TempDir,
    users: TempDir,
}

impl Stage {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let repository = directory(&[(".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "")]);
        for (path, text) in files {
            let path = repository.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { repository, users: directory(&[]) }
    }

    pub(crate) fn users_configuration(&self, text: &str) {
        let directory = self.users.path().join("containai");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), text).unwrap();
    }

    pub(crate) fn users_own_file(&self, text: &str) {
        let directory = self.users.path().join("probity");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("probity.toml"), text).unwrap();
    }

    /// Both directories, for whoever gives them to another user.
    pub(crate) fn directories(&self) -> [&Path; 2] {
        [self.repository.path(), self.users.path()]
    }

    pub(crate) fn place(&self, run: Run) -> Run {
        let users = self.users.path().to_str().unwrap();
        run.env("XDG_STATE_HOME", users)
            .env("XDG_CONFIG_HOME", users)
            .env("SECRET", "hunter2")
            .dir(&self.repository)
    }

    fn exec(&self, command: &[&str]) -> Run {
        self.place(probity()).args(["exec", "--sandbox", "bwrap", "--"]).args(command)
    }

    pub(crate) fn shell(&self, script: &str) -> Run {
        self.exec(&["sh", "-c", script])
    }
}

#[test]
fn a_command_edits_the_workspace_and_sees_nothing_else() {
    let stage = Stage::new(&[("src/a", "text")]);
    let own = stage.repository.path().canonicalize().unwrap();
    let script = "touch x; cat /proc/1/comm; ls /root; echo \"[$SECRET]\"; pwd; cat src/a; \
                  ls -d \"$CAI_HOST_WORKSPACE/x\"; echo $HOME; touch .git/config 2>&1; true";
    let output = stage.shell(script).run().code(0);
    assert!(stage.repository.path().join("x").exists());
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines[..2], ["bwrap", "[]"], "{}\n{}", output.stdout, output.stderr);
    assert_eq!(lines[2], "/home/agent/workspace");
    assert_eq!(lines[3], format!("text{}/x", own.display()), "its own path leads there too");
    assert_eq!(lines[4], "/home/agent");
    insta::assert_snapshot!(output.stderr, @"ls: cannot access '/root': No such file or directory");
    insta::assert_snapshot!(lines[5], @"touch: cannot touch '.git/config': Read-only file system");
}

#[test]
fn landlock_contains_a_command_where_it_is_and_keeps_the_configuration_of_a_repository() {
    let stage = Stage::new(&[]);
    let plain = directory(&[("src/a", "text")]);
    let own = plain.path().canonicalize().unwrap();
    let command = |script: &str| {
        let words = ["exec", "--sandbox", "landlock", "--", "sh", "-c", script];
        stage.place(probity()).args(words)
    };
    let script = "pwd; cat src/a; touch x && chmod 600 x; touch \"$HOME/y\"; ls /root; cat /etc/shadow; \
                  touch /usr/x; echo \"[$SECRET]\"; kill -0 $PPID && echo reached";
    let output = command(script).dir(&plain).run().code(1);
    assert_eq!(output.stdout, format!("{}\ntext[]\n", own.display()), "{}", output.stderr);
    assert!(own.join("x").exists());
    let git = "git -c user.name=a -c user.email=a@b";
    let script = format!(
        "echo x > new && {git} add new && {git} commit -qm inside && git log --format=%s -n 1; \
         echo x >> .git/config; echo x > .git/hooks/pre-commit; git config core.pager x"
    );
    let of_git = stage.repository.path().join(".git");
    fs::remove_dir_all(&of_git).unwrap();
    crate::review::git(stage.repository.path(), &["init", "-q"]);
    let before = fs::read_to_string(of_git.join("config")).unwrap();
    let output = command(&script).run();
    assert_eq!(output.stdout, "inside\n", "{}", output.stderr);
    assert_eq!(fs::read_to_string(of_git.join("config")).unwrap(), before, "{}", output.stderr);
    assert!(!of_git.join("hooks/pre-commit").exists());
}

#[test]
fn the_home_stays_and_the_working_directory_is_the_same_inside() {
    let stage = Stage::new(&[("deep/er/file", "")]);
    stage.shell("echo kept > ~/note").run().code(0);
    let output = stage.shell("cat ~/note").run().code(0);
    assert_eq!(output.stdout, "kept\n");
    let output = stage.shell("pwd").dir(stage.repository.path().join("deep/er")).run().code(0);
    assert_eq!(output.stdout, "/home/agent/workspace/deep/er\n");
}

#[test]
fn exit_codes_are_the_commands_own_or_a_shells() {
    let stage = Stage::new(&[("plain", "no program")]);
    for (command, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 42"], 42),
        (&["sh", "-c", "kill -TERM $$"], 143),
        (&["no-such-program"], 127),
        (&["./plain"], 126),
    ] {
        let output = stage.exec(command).run().code(code);
        assert_eq!(output.stderr.contains("error"), code == 126 || code == 127, "{command:?}");
    }
    // A machine where nothing contains: refused, unless that is what was asked for.
    let bare = |args: &[&str]| stage.place(named("cai")).without_sandbox().args(args).run();
    let refused = bare(&["exec", "--", "/bin/true"]).code(11);
    let (_, error) = refused.stderr.split_once("error: ").unwrap();
    insta::assert_snapshot!(error, @"
    no sandbox is available for the command
        docker: docker is not installed
        podman: podman is not installed
        bubblewrap: bwrap is not installed (the package is bubblewrap)
        landlock: the kernel has no Landlock, or a filter around this process forbids it
      help: install bubblewrap, or pull or build the image containai:latest for docker or podman, or allow what the reasons name; `--sandbox none` runs the command without a sandbox, with all your rights
    ");
    bare(&["exec", "--sandbox", "none", "--", "/bin/true"]).code(0);
    let unknown = bare(&["exec", "--container", "someone-elses", "--", "true"]).code(11);
    insta::assert_snapshot!(unknown.stderr, @"
    error: no engine can be asked for someone-elses:
        docker is not installed
        podman is not installed
      help: `cai status` lists ours; `--workspace DIR` finds or makes the one of a directory
    ");
}

#[test]
fn the_root_and_the_home_are_no_workspaces() {
    let stage = Stage::new(&[]);
    let home = directory(&[]);
    let home = home.path().to_str().unwrap();
    let mut refusals = Vec::new();
    for (tool, code) in [("probity", 2), ("cai", 1)] {
        for workspace in ["/", home] {
            let run = stage.place(named(tool)).env("HOME", home);
            let output = run.args(["exec", "-w", workspace, "--", "true"]).run().code(code);
            refusals.push(format!("$ {tool}\n{}", output.stderr));
        }
    }
    insta::assert_snapshot!(stable(&refusals.concat()), @"
    $ probity
    error: /: a directory that contains more than one project cannot be a workspace, since an agent could change all that is in it; start in a project below it
      help: run it in a project, or pass the directory of one with --workspace
    $ probity
    error: [dir]: a home directory cannot be a workspace, since an agent could change all that is in it; start in a project below it
      help: run it in a project, or pass the directory of one with --workspace
    $ cai
    error: /: a directory that contains more than one project cannot be a workspace, since an agent could change all that is in it; start in a project below it
      help: run it in a project, or pass the directory of one with --workspace
    $ cai
    error: [dir]: a home directory cannot be a workspace, since an agent could change all that is in it; start in a project below it
      help: run it in a project, or pass the directory of one with --workspace
    ");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_named_with_the_way_out() {
    let stage = Stage::new(&[("file", "")]);
    let file = stage.repository.path().join("file");
    let mut printed = Vec::new();
    for state in ["/proc/nowhere", file.to_str().unwrap()] {
        let output = stage.exec(&["true"]).env("XDG_STATE_HOME", state).run().code(2);
        printed.push(format!("{state:?}\n{}", output.stderr));
    }
    insta::assert_snapshot!(stable(&printed.join("\n")), @r#"
    "/proc/nowhere"
    error: cannot make the directory /proc/nowhere/probity: No such file or directory (os error 2)
      help: make it writable, or set XDG_STATE_HOME to another directory you own

    "[dir]/file"
    error: cannot make the directory [dir]/file/probity: Not a directory (os error 20)
      help: make it writable, or set XDG_STATE_HOME to another directory you own
    "#);
}

#[test]
fn only_listed_hosts_are_reached_and_a_list_is_never_dropped() {
    let stage = Stage::new(&[]);
    stage.users_configuration("[network]\nmode = \"allowlist\"\nallow = [\"a.test\"]\n");
    // Two requests to the proxy: one that is on the list, and does not exist; one that is not.
    let script = "exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:}; \
                  printf 'CONNECT %s:443 HTTP/1.1\\r\\n\\r\\n' $0 >&3; head -n 1 <&3";
    let mut printed = Vec::new();
    for host in ["a.test", "b.test"] {
        let output = stage.exec(&["bash", "-c", script, host]).run().code(0);
        printed.push(format!("{host:?}\n{}", output.stdout));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "a.test"
    HTTP/1.1 502 Bad Gateway

    "b.test"
    HTTP/1.1 403 Forbidden
    "#);
    let run = stage.place(probity()).args(["exec", "--sandbox", "none", "--", "true"]);
    let output = run.run().code(11);
    insta::assert_snapshot!(output.stderr, @"
    error: none could not prepare the sandbox: a list of allowed hosts cannot be enforced on the network of the host
      help: `probity doctor` shows which sandboxes work on this machine
    ");
}

/// The way out depends on the file: `cai trust` is about one of them only.
#[test]
fn hosts_of_a_repository_that_are_ignored_are_told_with_a_way_that_works() {
    let theirs = "allow = [\"b.test\"]\n";
    let files = [
        (".containai/config.toml", format!("[network]\nmode = \"allowlist\"\n{theirs}")),
        ("probity.toml", format!("[containment.network]\nmode = \"allowlist\"\n{theirs}")),
    ];
    let mut warnings = Vec::new();
    for (file, text) in files {
        let stage = Stage::new(&[(file, &text)]);
        stage.users_configuration("[network]\nmode = \"allowlist\"\nallow = [\"a.test\"]\n");
        let output = stage.exec(&["true"]).run().code(0);
        let line = output.stderr.lines().find(|line| line.contains("are ignored"));
        warnings.push(line.unwrap_or_else(|| panic!("{file}: {}", output.stderr)).to_owned());
    }
    insta::assert_snapshot!(warnings.join("\n"), @"
    warning: hosts of the repository that are not in your own list are ignored; `cai trust` allows them
    warning: hosts of the repository that are not in your own list are ignored; add them to `containment.network.allow` in your own probity.toml
    ");
}

#[test]
fn input_and_both_outputs_pass_through_byte_for_byte() {
    let text = "line\n".repeat(200_000);
    let stage = Stage::new(&[("large", &text)]);
    let output = stage.shell("cat large; echo end >&2").run().code(0);
    assert!(output.stdout == text, "{} bytes came out", output.stdout.len());
    assert_eq!(output.stderr, "end\n");
    stage.shell("cat > copy").input(text.clone()).run().code(0);
    let copy = fs::read_to_string(stage.repository.path().join("copy")).unwrap();
    assert!(copy == text, "{} bytes went in", copy.len());
}

#[test]
fn signals_reach_the_command_and_its_answer_comes_back() {
    let stage = Stage::new(&[]);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let script = "trap 'echo caught; exit 7' INT TERM HUP; echo ready; \
                      while :; do sleep 0.05; done";
        let mut command = stage.shell(script).into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 6]).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("caught\n", Some(7)));
    }
}

#[test]
fn nothing_outlives_us_even_when_we_are_killed() {
    let stage = Stage::new(&[]);
    let marker = format!("marker-{}", std::process::id());
    let script =
        format!("setsid sh -c 'sleep 300; : {marker}' & echo ready; sleep 300; : {marker}");
    let mut command = stage.shell(&script).into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 6]).unwrap();
    assert!(running(&marker) >= 2, "the bait is there");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while running(&marker) > 0 {
        assert!(Instant::now() < deadline, "{} processes are left", running(&marker));
        thread::sleep(Duration::from_millis(20));
    }
}

/// How many processes bear a word in their arguments.
pub(crate) fn running(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| has(&line, word)))
        .count()
}

fn has(line: &[u8], word: &str) -> bool {
    line.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn a_devcontainer_is_used_as_far_as_the_sandbox_allows_and_only_if_it_is_trusted() {
    let text = r#"{
        // As editors take it.
        "containerEnv": {"FROM_FILE": "yes", "HOME": "/elsewhere"},
        "mounts": [
            "source=${localWorkspaceFolder}/sub,target=/given,type=bind",
            "source=/etc,target=/stolen,type=bind",
        ],
        "remoteUser": "node",
        "postCreateCommand": "touch /tmp/ran-on-create",
    }"#;
    let files = [
        (".devcontainer/devcontainer.json", text),
        ("sub/file", "in the workspace\n"),
        ("sub/.git/HEAD", "ref: refs/heads/main\n"),
        ("sub/.git/hooks/x", ""),
    ];
    let stage = Stage::new(&files);
    let script = "echo \"[$FROM_FILE] $HOME\"; cat /given/file; ls /stolen; ls /tmp; \
                  echo x > /given/.git/hooks/post-commit; echo x > /given/made";
    let before = stage.shell(script).run();
    assert_eq!(before.stdout, "[] /home/agent\n", "{}", before.stderr);
    assert!(!before.stderr.contains("devcontainer"), "{}", before.stderr);

    let trusted = stage.place(named("cai")).args(["trust"]).run().code(0);
    insta::assert_snapshot!(stable(&trusted.stdout), @r#"
    [dir]/.devcontainer/devcontainer.json is trusted until it changes:

    {
            // As editors take it.
            "containerEnv": {"FROM_FILE": "yes", "HOME": "/elsewhere"},
            "mounts": [
                "source=${localWorkspaceFolder}/sub,target=/given,type=bind",
                "source=/etc,target=/stolen,type=bind",
            ],
            "remoteUser": "node",
            "postCreateCommand": "touch /tmp/ran-on-create",
        }
    "#);
    let after = stage.shell(script).run();
    assert_eq!(after.stdout, "[yes] /home/agent\nin the workspace\n", "{}", after.stderr);
    for word in ["/stolen", "remoteUser node", "postCreateCommand"] {
        let named = after
            .stderr
            .lines()
            .any(|line| line.contains("devcontainer.json: not used") && line.contains(word));
        assert!(named, "{word}: {}", after.stderr);
    }
    assert!(stage.repository.path().join("sub/made").exists());
    assert!(!stage.repository.path().join("sub/.git/hooks/post-commit").exists());

    append(&stage.repository.path().join(".devcontainer/devcontainer.json"), "// changed\n");
    assert_eq!(stage.shell("echo \"[$FROM_FILE]\"").run().code(0).stdout, "[]\n", "asked again");
}

#[test]
fn a_repositorys_file_cannot_loosen_until_it_is_trusted() {
    let loose = "[network]\nmode = \"open\"\n[env]\nimport = [\"SECRET\"]\n";
    let stage = Stage::new(&[(".containai/config.toml", loose)]);
    stage.users_configuration("[network]\nmode = \"none\"\n");
    // From a closed network no route leads anywhere.
    let script = "echo \"[$SECRET]\"; tail -n +2 /proc/net/route | wc -l";
    let closed = stage.shell(script).run().code(0);
    insta::assert_snapshot!(closed.stderr, @r#"
    warning: .containai/config.toml:2: `network.mode = "open"` is ignored: a repository's file may only tighten this key, which you set to "none"; run `cai trust` to trust this file
    warning: .containai/config.toml:4: `env.import = ["SECRET"]` is ignored: a repository's file may not set this key; set it in your own configuration file
    "#);
    assert_eq!(closed.stdout, "[]\n0\n");

    let status = || stage.place(named("cai")).args(["status", "--json"]).run().code(0).stdout;
    insta::assert_snapshot!(stable(&status()), @r#"
    {
      "workspace": "[dir]",
      "configuration": "not trusted",
      "containers": []
    }
    "#);
    let trusted = stage.place(named("cai")).args(["trust"]).run().code(0);
    insta::assert_snapshot!(stable(&trusted.stdout), @r#"
    [dir]/.containai/config.toml is trusted until it changes:

    [network]
    mode = "open"
    [env]
    import = ["SECRET"]
    "#);
    insta::assert_snapshot!(stable(&status()), @r#"
    {
      "workspace": "[dir]",
      "configuration": "trusted",
      "containers": []
    }
    "#);
    let open = stage.shell("echo \"[$SECRET]\"").run().code(0);
    assert_eq!(open.stdout, "[]\n", "a variable is the user's to give");
    assert!(!open.stderr.contains("network.mode"), "{}", open.stderr);

    append(&stage.repository.path().join(".containai/config.toml"), "# changed\n");
    insta::assert_snapshot!(stage.shell("true").run().code(0).stderr, @r#"
    warning: .containai/config.toml:2: `network.mode = "open"` is ignored: a repository's file may only tighten this key, which you set to "none"; run `cai trust` to trust this file
    warning: .containai/config.toml:4: `env.import = ["SECRET"]` is ignored: a repository's file may not set this key; set it in your own configuration file
    "#);

    stage.users_configuration("[env]\nimport = [\"SECRET\"]\n");
    assert_eq!(stage.shell("echo \"[$SECRET]\"").run().code(0).stdout, "[hunter2]\n");
}

#[test]
fn probity_toml_replaces_the_files_of_containai_owner_by_owner() {
    let script = "echo \"[$SECRET]\"; tail -n +2 /proc/net/route | wc -l";
    let own = "[containment]\nenv = [\"SECRET\"]\nimage = \"evil\"\n[containment.network]\n\
               mode = \"none\"\n";
    let stage = Stage::new(&[("probity.toml", own), (".containai/config.toml", "broken")]);
    // The user's file of containai still counts: only the repository's is replaced.
    stage.users_configuration("[env]\nimport = [\"SECRET\"]\n");
    let output = stage.shell(script).run().code(0);
    assert_eq!(output.stdout, "[hunter2]\n0\n", "{}", output.stderr);
    insta::assert_snapshot!(output.stderr, @r#"
    warning: probity.toml:2: `containment.env = ["SECRET"]` is ignored: a repository's file may not set this key; set it with PROBITY_CONTAINMENT__ENV or in your own configuration file
    warning: probity.toml:3: `containment.image = "evil"` is ignored: a repository's file may not set this key; set it with PROBITY_CONTAINMENT__IMAGE or in your own configuration file
    "#);
    stage.users_own_file("[containment]\nmemory = \"1g\"\n");
    let output = stage.shell(script).run().code(0);
    assert_eq!(output.stdout, "[]\n0\n", "the user's own file replaces the user's other one");
    let variable = stage.shell(script).env("PROBITY_CONTAINMENT__ENV", "SECRET").run().code(0);
    assert_eq!(variable.stdout, "[hunter2]\n0\n", "{}", variable.stderr);
    // Under the other name only the other files are read, and one of them is broken.
    let cai = stage.place(named("cai")).args(["exec", "--sandbox", "bwrap", "--", "true"]);
    let output = cai.run();
    assert_ne!(output.code, Some(0));
    insta::assert_snapshot!(output.stderr, @"
    error: .containai/config.toml:1:7: not valid TOML: key with no value, expected `=`
      1 | broken
        |       ^
      help: fix it; then `probity config` shows every key and its value
    ");
}

fn append(path: &Path, text: &str) {
    fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_configuration_that_cannot_be_understood_stops_the_run() {
    let stage = Stage::new(&[(".containai/config.toml", "[network]\nmoed = \"none\"\n")]);
    let output = stage.shell("touch ran").run().code(2);
    insta::assert_snapshot!(output.stderr, @r#"
    error: .containai/config.toml:2:1: unknown key `moed` in [network]; did you mean `mode`? (valid keys: mode, allow)
      2 | moed = "none"
        | ^
      help: fix it; then `probity config` shows every key and its value
    "#);
    assert!(!stage.repository.path().join("ran").exists());
}
