//! Homes for one run: what a stranger's repository made an agent leave is not there in the next session.

use std::fs;

use super::{PROBE, User, logins::settle, one_session};
use crate::binary::probity;

/// Leaves a hook in its home, as a prompt in a stranger's change might have it do.
const LED: &str = r#"#!/bin/sh
echo 'a hook' > ~/.claude/settings.json
mkdir ~/.claude/deep && chmod 0 ~/.claude/deep
echo led >&2
exit 3
"#;

#[test]
fn what_a_stranger_led_an_agent_to_leave_is_gone_before_the_next_session() {
    let user = User::new();
    for args in [
        &["audit", "--provider", "acp", "--agent", "claude"][..],
        &["review", "--agent", "claude", "--no-history", "--output", "../out"],
        &["review", "ask", "--agent", "claude", "--no-history", "--output", "../out"],
        &["check", "--fix", "--fix-ai", "--ai", "Dockerfile"],
    ] {
        settle(&user, LED);
        let run = user.settle(probity()).env("TALLY_AI_AGENT", "claude").args(args).args(["-v"]);
        let output = run.run();
        let was_led = output.stderr.lines().any(|line| line == "led");
        assert!(was_led, "{args:?}: {}", output.stderr);
        settle(&user, PROBE);
        one_session(&user, &user.path("repo"));
        let settings = user.report().into_iter().find(|(word, _)| word == "settings").unwrap();
        assert_eq!(settings.1, "", "{args:?}");
        let left = fs::read_dir(user.path("state/probity/scratch")).unwrap().count();
        assert_eq!(left, 0, "{args:?}: {}", output.stderr);
    }
}

/// An editor's sessions are the user's own, and remember.
#[test]
fn the_home_of_an_editors_sessions_stays() {
    let user = User::new();
    settle(&user, "#!/bin/sh\necho mine > ~/.claude/settings.json\nexit 3\n");
    one_session(&user, &user.path("repo"));
    settle(&user, PROBE);
    one_session(&user, &user.path("repo"));
    let settings = user.report().into_iter().find(|(word, _)| word == "settings").unwrap();
    assert_eq!(settings.1, "mine");
}
