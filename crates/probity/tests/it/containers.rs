//! `exec` and its companions in real containers, on engines of the tests' own.
//!
//! One test for each engine, since starting it is what takes the time.

#[path = "../../../probity-sandbox/tests/it/engines/server.rs"]
pub(crate) mod server;

use std::{
    fs,
    io::Read as _,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::BackendKind;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    acp::driver::Driver,
    binary::{Output, Run, directory, named, probity},
    exec::{Stage, running},
};
use server::{IMAGE, Server};

#[test]
fn exec_in_docker() {
    in_containers(&Server::docker());
}

#[test]
fn exec_in_podman() {
    in_containers(&Server::podman());
}

fn in_containers(server: &Server) {
    let scene = Scene { server, stage: Stage::new(&[("deep/er/file", "found"), ("plain", "x")]) };
    without_the_image(&scene);
    assert!(server.says(&["tag", IMAGE, "containai:latest"]).0);
    what_a_command_sees(&scene);
    exits_and_streams(&scene);
    links_and_directories(&scene);
    one_container_for_all(&scene);
    a_variable_that_was_given(&scene);
    signals(&scene);
    killed(&scene);
    an_editors_agent(&scene);
    containers_by_name(&scene);
    fresh_and_gone(&scene);
}

struct Scene<'a> {
    server: &'a Server,
    stage: Stage,
}

impl Scene<'_> {
    /// With the engine's client first among the programs.
    fn place(&self, run: Run) -> Run {
        let first = self.server.client.parent().unwrap().display();
        let path = format!("{first}:{}", std::env::var("PATH").unwrap());
        self.stage.place(run).env("PATH", &path)
    }

    fn exec(&self, command: &[&str]) -> Run {
        let kind = self.server.kind.name();
        self.place(named("cai")).args(["exec", "--sandbox", kind, "--"]).args(command)
    }

    fn shell(&self, script: &str) -> Run {
        self.exec(&["sh", "-c", script])
    }

    fn cai(&self, args: &[&str]) -> Output {
        self.place(named("cai")).args(args).run()
    }

    /// What the engine knows of ours.
    fn containers(&self) -> Vec<String> {
        let asked =
            ["ps", "-a", "--filter", "label=probity.managed=true", "--format", "{{.Names}}"];
        self.server.says(&asked).1.lines().map(str::to_owned).collect()
    }
}

fn without_the_image(scene: &Scene<'_>) {
    let kind = scene.server.kind.name();
    let output = scene.exec(&["true"]).run().code(11);
    let refused = |image: &str, why: &str| {
        format!(
            "error: no sandbox is available for the command\n    {kind}: {why}\n  help: install \
             bubblewrap, or pull or build the image {image} for docker or podman, or allow what the \
             reasons name; `--sandbox none` runs the command without a sandbox, with all your rights\n"
        )
    };
    let absent = "the image containai:latest is not there; build it: probity agent image";
    let why = format!("{absent} | {kind} build -t containai:latest -");
    assert_eq!(output.stderr, refused("containai:latest", &why));
    let args = ["exec", "--sandbox", kind, "--image", "absent:none", "--", "true"];
    let output = scene.cai(&args).code(11);
    let why = format!("the image absent:none is not there; get it: {kind} pull absent:none");
    assert_eq!(output.stderr, refused("absent:none", &why));
    assert_eq!(scene.containers(), [] as [&str; 0], "nothing is left behind");
    // Neither a server that is not there is asked for ever, nor is another means taken silently.
    if scene.server.kind == BackendKind::Docker {
        let run = scene.stage.place(probity()).env("DOCKER_HOST", "unix:///nowhere/socket");
        let output = run.args(["exec", "--sandbox", "docker", "--", "true"]).run().code(11);
        let why = "docker does not answer: Cannot connect to the Docker daemon at \
                   unix:///nowhere/socket. Is the docker daemon running?";
        assert_eq!(output.stderr, refused("containai:latest", why));
    }
}

fn what_a_command_sees(scene: &Scene<'_>) {
    let own = scene.stage.repository.path().canonicalize().unwrap();
    let script = "touch made; cat /proc/1/comm; echo \"[$SECRET]\"; pwd; cat deep/er/file; \
                  ls -d \"$CAI_HOST_WORKSPACE/made\"; echo $HOME; echo x >> .git/config || echo kept; \
                  echo x > /x || echo closed; id -u; ls /run/docker.sock";
    // Without a word about it: an engine that has the image comes first.
    let output = scene.place(named("cai")).args(["exec", "--", "sh", "-c", script]).run();
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&own).unwrap());
    let expected = format!(
        "[]\n/home/agent/workspace\nfound{}/made\n/home/agent\nkept\nclosed\n{owner}\n",
        own.display()
    );
    let (first, rest) = output.stdout.split_once('\n').unwrap_or_default();
    assert_eq!(rest, expected, "{}", output.stderr);
    assert!(!["bwrap", "sh", ""].contains(&first), "not in a container: {first}");
    assert!(own.join("made").exists());
    scene.shell("echo kept > ~/note").run().code(0);
    assert_eq!(scene.shell("cat ~/note").run().code(0).stdout, "kept\n");
}

fn exits_and_streams(scene: &Scene<'_>) {
    for (command, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 42"], 42),
        (&["sh", "-c", "kill -s TERM $$"], 143),
        (&["no-such-agent"], 127),
        (&["./plain"], 126),
    ] {
        let output = scene.exec(command).run().code(code);
        assert_eq!(output.stdout, "", "{command:?}");
    }
    let text = "line\n".repeat(100_000) + &"x".repeat(1 << 20);
    scene.shell("cat > copy").input(text.clone()).run().code(0);
    let output = scene.shell("cat copy; echo end >&2").run().code(0);
    assert!(output.stdout == text, "{} bytes came back", output.stdout.len());
    assert_eq!(output.stderr, "end\n");
}

fn links_and_directories(scene: &Scene<'_>) {
    let place = directory(&[]);
    let link = place.path().join("link");
    std::os::unix::fs::symlink(scene.stage.repository.path().join("deep"), &link).unwrap();
    let output = scene.shell("pwd; cat er/file").dir(&link).run().code(0);
    assert_eq!(output.stdout, "/home/agent/workspace/deep\nfound");
}

fn one_container_for_all(scene: &Scene<'_>) {
    scene.cai(&["stop"]).code(0);
    assert_eq!(scene.containers(), [] as [&str; 0]);
    thread::scope(|threads| {
        let start = |_| threads.spawn(|| scene.shell("echo in").run().code(0).stdout);
        let starts: Vec<_> = (0..3).map(start).collect();
        for start in starts {
            assert_eq!(start.join().unwrap(), "in\n");
        }
    });
    assert_eq!(scene.containers().len(), 1);
}

fn a_variable_that_was_given(scene: &Scene<'_>) {
    scene.stage.users_configuration("[env]\nimport = [\"SECRET\"]\n[container]\ncpus = 1.5\n");
    let output = scene.shell("echo \"[$SECRET]\"").run().code(0);
    assert_eq!(output.stdout, "[hunter2]\n", "{}", output.stderr);
    let told = scene.server.says(&["container", "inspect", &scene.containers()[0]]).1;
    assert!(told.contains("1500000000") && !told.contains("hunter2"), "{told}");
    scene.stage.users_configuration("");
    assert_eq!(scene.shell("echo \"[$SECRET]\"").run().code(0).stdout, "[]\n");
}

fn signals(scene: &Scene<'_>) {
    let script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = scene.shell(script).into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 6]).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("caught\n", Some(7)));
}

fn killed(scene: &Scene<'_>) {
    let marker = format!("marker-{}", std::process::id());
    let script =
        format!("env -i setsid sh -c 'sleep 300; : {marker}' & echo ready; sleep 300; : {marker}");
    let mut command = scene.shell(&script).into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 6]).unwrap();
    assert!(running(&marker) >= 2, "the bait is there");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while running(&marker) > 0 {
        assert!(Instant::now() < deadline, "{} processes are left", running(&marker));
        thread::sleep(Duration::from_millis(20));
    }
}

/// An agent that a shell can be: it asks before it answers, and hangs where it is told to.
const AGENT: &str = r#"
say() { echo "{\"jsonrpc\":\"2.0\",$1}"; }
update() {
    say "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}}"
}
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case $line in
    *'"initialize"'*) say "\"id\":$id,\"result\":{\"protocolVersion\":1}" ;;
    *'"session/new"'*) say "\"id\":$id,\"result\":{\"sessionId\":\"s\"}" ;;
    *marker-*)
        marker=marker-${line#*marker-}
        marker=${marker%%\"*}
        env -i setsid sh -c "sleep 300; : $marker" &
        update hanging
        sleep 300
        ;;
    *'"session/prompt"'*)
        say '"id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"yes","name":"yes","kind":"allow_once"}]}'
        read -r answer
        case $answer in *'"yes"'*) echo made > made-by-agent ;; esac
        update "in $(cat /proc/1/comm) at $(pwd), $HOME, [$SECRET]"
        say "\"id\":$id,\"result\":{\"stopReason\":\"end_turn\"}"
        ;;
    esac
done
"#;

/// The proxy and `exec` have one container in common, and a proxy that is killed leaves nobody in it.
fn an_editors_agent(scene: &Scene<'_>) {
    let kind = scene.server.kind.name();
    let repository = scene.stage.repository.path().canonicalize().unwrap();
    // Another engine may be tested at the same time.
    let script = format!("agent-{}.sh", std::process::id());
    fs::write(repository.join(&script), AGENT).unwrap();
    let text = format!(
        "[container]\nruntime = '{kind}'\n[agents.boxed]\n\
         command = ['sh', '/home/agent/workspace/{script}']\n"
    );
    scene.stage.users_configuration(&text);
    let comm = scene.shell("cat /proc/1/comm").run().code(0).stdout;
    let before = scene.containers();
    let start = || Driver::start(scene.place(named("cai")).args(["--acp", "boxed"]));
    let mut driver = start();
    let session = driver.session(&repository);
    let said = driver.say(&session, "hello");
    assert_eq!(said, format!("in {} at /home/agent/workspace, /home/agent, []", comm.trim()));
    assert!(repository.join("made-by-agent").exists(), "it was allowed to");
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(scene.containers(), before);

    let marker = format!("marker-acp-{}", std::process::id());
    let mut driver = start();
    let session = driver.session(&repository);
    driver.prompt(&session, &marker);
    assert_eq!(driver.receive()["params"]["update"]["content"]["text"], "hanging");
    let deadline = Instant::now() + Duration::from_secs(60);
    while running(&marker) == 0 {
        assert!(Instant::now() < deadline, "the bait was never there");
        thread::sleep(Duration::from_millis(20));
    }
    driver.kill();
    while running(&marker) > 0 || running(&script) > 0 {
        assert!(Instant::now() < deadline, "{} processes are left", running(&marker));
        thread::sleep(Duration::from_millis(20));
    }
    scene.stage.users_configuration("");
}

fn containers_by_name(scene: &Scene<'_>) {
    let ours = scene.containers();
    let status: Value = serde_json::from_str(&scene.cai(&["status", "--json"]).stdout).unwrap();
    let listed = status["containers"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{status}");
    assert_eq!(listed[0]["name"], ours[0].as_str());
    assert_eq!(
        (&listed[0]["running"], &listed[0]["stale"]),
        (&Value::Bool(true), &Value::Bool(false))
    );

    let words = ["run", "-d", "--network=none", "--name", "theirs", IMAGE, "sleep", "100"];
    assert!(scene.server.says(&words).0);
    let by_name = |tool: &str, name: &str| {
        let run = scene.place(named(tool)).dir("/");
        run.args(["exec", "--container", name, "--", "sh", "-c", "pwd"]).run()
    };
    assert_eq!(by_name("cai", &ours[0]).code(0).stdout, "/home/agent/workspace\n");
    assert!(by_name("cai", "theirs").code(15).stderr.contains("was not made by us"));
    for (tool, code) in [("cai", 1), ("probity", 2)] {
        let output = by_name(tool, "nobodys").code(code);
        assert_eq!(
            output.stderr,
            "error: there is no container nobodys\n  help: `cai status` lists ours; `--workspace DIR` finds \
             or makes the one of a directory\n"
        );
    }
}

fn fresh_and_gone(scene: &Scene<'_>) {
    let id = || {
        let name = &scene.containers()[0];
        scene.server.says(&["inspect", "--format", "{{.Id}}", name]).1
    };
    let before = id();
    let kind = scene.server.kind.name();
    scene.cai(&["exec", "--fresh", "--sandbox", kind, "--", "true"]).code(0);
    assert_ne!(before, id());

    let other = Stage::new(&[]);
    let run = scene.shell("true").dir(&other.repository);
    run.run().code(0);
    assert_eq!(scene.containers().len(), 2);
    drop(other);
    let output = scene.cai(&["gc"]).code(0);
    let ours = output.stdout.lines().filter(|line| line.starts_with("probity-"));
    assert_eq!(ours.count(), 1, "{}", output.stdout);
    assert_eq!(scene.containers().len(), 1);
    scene.cai(&["stop"]).code(0);
    assert_eq!(scene.containers(), [] as [&str; 0]);
    let (_, left) = scene.server.says(&["ps", "-a", "--format", "{{.Names}}"]);
    assert_eq!(left, "theirs", "what is not ours stays");
}
