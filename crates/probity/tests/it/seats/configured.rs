//! Agents of the user's own, and limits, as `probity.toml` has them.

use std::fs;

use super::User;
use crate::{agent::executable, binary::probity};

/// Says what it got, on the line that a failed start is reported with.
const OWN: &str = r#"#!/bin/sh
echo "got mine:$MINE_KEY anthropic:$ANTHROPIC_API_KEY openai:$OPENAI_API_KEY login:$(cat ~/.mine/login 2>/dev/null)" >&2
exit 3
"#;

#[test]
fn an_agent_of_the_users_own_gets_its_own_and_nobody_else_does() {
    let user = User::new();
    let text = format!(
        "[containment]\nenv = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']\n\
         [containment.agents.mine]\ncommand = ['{0}/mine', '--acp']\nvariables = ['MINE_KEY']\n\
         logins = ['.mine/login']\n\
         [containment.agents.other]\ncommand = ['{0}/other', '--acp']\n\
         [containment.agents.claude]\nvariables = ['EXTRA_KEY']\n",
        user.path("bin").display()
    );
    for name in ["mine", "other"] {
        let program = user.path("bin").join(name);
        fs::write(&program, OWN).unwrap();
        executable(&program);
    }
    fs::create_dir_all(user.path("home/.config/probity")).unwrap();
    fs::write(user.path("home/.config/probity/probity.toml"), text).unwrap();
    fs::create_dir_all(user.path("home/.mine")).unwrap();
    fs::write(user.path("home/.mine/login"), "secret login").unwrap();
    let ask = |agent: &str| {
        let run = user.settle(probity()).env("MINE_KEY", "m1").env("EXTRA_KEY", "e1");
        run.args(["agent", "ask", agent, "hello"]).run().stderr
    };
    let mine = ask("mine");
    insta::assert_snapshot!(mine, @"
    mine: sandbox: bubblewrap
    error: mine: initializing: the agent ended with exit code 3: got mine:m1 anthropic: openai: login:secret login
        its standard error ends with:
        got mine:m1 anthropic: openai: login:secret login
      help: this command does not speak the Agent Client Protocol; if it reads a prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`
    ");
    let other = ask("other");
    insta::assert_snapshot!(other, @"
    other: sandbox: bubblewrap
    error: other: initializing: the agent ended with exit code 3: got mine: anthropic: openai: login:
        its standard error ends with:
        got mine: anthropic: openai: login:
      help: this command does not speak the Agent Client Protocol; if it reads a prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`
    ");
    ask("claude");
    let report = user.report();
    let variables = report.iter().find(|(word, _)| word == "variables").unwrap();
    assert_eq!(variables.1, "ANTHROPIC_API_KEY EXTRA_KEY IS_SANDBOX");
}

#[test]
fn limits_are_configured_once_and_hold_for_commands() {
    let user = User::new();
    let directory = user.path("home/.config/probity");
    fs::create_dir_all(&directory).unwrap();
    let text = "[containment]\nruntime = 'bwrap'\nmemory = '96m'\nprocesses = 40\ntmp = '4m'\n\
                shm = '2m'\nfile-size = '8m'\n";
    fs::write(directory.join("probity.toml"), text).unwrap();
    // A repository lowers, and does not raise.
    fs::write(user.path("repo/probity.toml"), "[containment]\nshm = '1m'\nmemory = '999g'\n")
        .unwrap();
    let run = |script: &str| user.run(&["exec", "--", "sh", "-c", script]);
    let sizes = run("df -k /tmp /dev/shm | awk 'NR > 1 { print $2 }'");
    assert_eq!(sizes.stdout, "4096\n1024\n", "{}", sizes.stderr);
    insta::assert_snapshot!(sizes.stderr, @r#"warning: probity.toml:3: `containment.memory = "999g"` is ignored: a repository's file may only lower this key, which you set to "96m"; set it with PROBITY_CONTAINMENT__MEMORY or in your own configuration file"#);
    let hog = run("head -c 400000000 /dev/zero | tail -n 1 | wc -c");
    assert_ne!(hog.stdout.trim(), "400000000", "{}", hog.stderr);
    let file = run("head -c 20000000 /dev/zero > big; wc -c < big; rm big");
    assert_eq!(file.stdout.trim(), "8388608");
    let bomb = "i=0; while [ $i -lt 300 ]; do sleep 5 & i=$((i+1)); done 2>/dev/null; echo all";
    assert_eq!(run(bomb).stdout, "", "a shell that cannot fork ends");
    let shown = user.run(&["doctor", "--quick"]).stdout;
    assert!(shown.contains("96 MiB of memory"), "{shown}");
    assert!(
        shown.contains("40 processes, 4 MiB of /tmp, 2 MiB of /dev/shm, 8 MiB per file"),
        "{shown}"
    );
}
