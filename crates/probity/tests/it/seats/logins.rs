//! Logins belong to an agent and not to a workspace, and a renewed one reaches the others.

use std::{fs, path::Path};

use super::{User, one_session};
use crate::{
    agent::executable,
    binary::{directory, probity},
};

/// Renews its login as agents do, by a file that is renamed over the old one.
const RENEWING: &str = r#"#!/bin/sh
echo "login $(cat ~/.claude/.credentials.json 2>/dev/null)" | tee -a ~/report >&2
echo "{\"token\": \"renewed $(cat /proc/sys/kernel/random/uuid)\"}" > ~/.claude/new && mv ~/.claude/new ~/.claude/.credentials.json
cat ~/.claude/.credentials.json > ~/.claude/settings.json
exit 3
"#;

pub(super) fn settle(user: &User, program: &str) {
    for name in ["claude-agent-acp", "claude"] {
        let path = user.path("bin").join(name);
        fs::write(&path, program).unwrap();
        executable(&path);
    }
}

fn kept(user: &User) -> String {
    let file = user.path("state/probity/logins/claude/.claude/.credentials.json");
    token(&fs::read_to_string(file).unwrap())
}

/// The token of the first login in a text.
fn token(text: &str) -> String {
    let value = text.split_once("\"token\": \"").unwrap().1;
    value.split_once('"').unwrap().0.to_owned()
}

#[test]
fn a_login_that_one_caller_renews_is_the_next_callers() {
    let user = User::new();
    settle(&user, RENEWING);
    let first = r#"{"token": "the login"}"#;
    fs::write(user.path("home/.claude/.credentials.json"), first).unwrap();
    fs::create_dir_all(user.path("other/.git")).unwrap();
    let login = || {
        let homes = fs::read_dir(user.path("state/probity/homes")).unwrap();
        let reports = homes.map(|home| home.unwrap().path().join("report"));
        let report = reports.into_iter().find(|report| report.exists()).unwrap();
        let text = fs::read_to_string(&report).unwrap();
        fs::remove_file(report).unwrap();
        token(&text)
    };
    user.run(&["agent", "ask", "claude", "hello"]);
    assert_eq!(login(), "the login");
    let mut last = kept(&user);
    assert!(last.starts_with("renewed "), "{last}");
    for args in [
        &["audit", "--provider", "acp", "--agent", "claude"][..],
        &["review", "--agent", "claude", "--no-history", "--output", "../out"],
    ] {
        let output = user.settle(probity()).args(args).args(["-v"]).run();
        // An audit starts its agent once for each skill.
        assert_eq!(token(&output.stderr), last, "{args:?}");
        assert_ne!(kept(&user), last, "{args:?} renewed it");
        last = kept(&user);
    }
    // An editor's session in another workspace has it too, and renews it for all.
    one_session(&user, &user.path("other"));
    assert_eq!(login(), last);
    assert_ne!(kept(&user), last);
    let settings = user.path("state/probity/logins/claude/.claude/settings.json");
    assert!(!settings.exists(), "settings are no login");
    let own = fs::read_to_string(user.path("home/.claude/.credentials.json")).unwrap();
    assert_eq!(own, first, "the user's own file is left alone");
}

#[test]
fn a_login_that_is_no_plain_file_is_neither_read_nor_followed() {
    let user = User::new();
    let outside = directory(&[("file", "outside")]);
    let target = outside.path().join("file");
    for trick in [
        format!(
            "rm -f ~/.claude/.credentials.json; ln -s {} ~/.claude/.credentials.json",
            target.display()
        ),
        "rm -f ~/.claude/.credentials.json; mkfifo ~/.claude/.credentials.json".to_owned(),
        format!("rm -rf ~/.claude; ln -s {} ~/.claude", outside.path().display()),
        "rm -rf ~/.claude; echo x > ~/.claude".to_owned(),
    ] {
        settle(&user, &format!("#!/bin/sh\n{trick}\nexit 3\n"));
        user.run(&["agent", "ask", "claude", "hello"]);
        user.run(&["agent", "ask", "claude", "hello"]);
        let kept = user.path("state/probity/logins/claude/.claude/.credentials.json");
        let text = fs::read_to_string(&kept).unwrap_or_default();
        assert!(["", "the login"].contains(&text.as_str()), "{trick}: {text}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "outside", "{trick}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "{trick}");
        fs::remove_dir_all(user.path("state")).unwrap();
    }
    assert!(Path::new(&target).exists());
}
