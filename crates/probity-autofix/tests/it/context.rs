//! The build context for agents: texts as they are served, and the size of a snapshot.

use std::{fs, path::Path, sync::Arc};

use probity_autofix::{AgentContext, ContextOptions, SecretsPolicy};
use probity_secrets::{Detector, Options};

/// Put together here, so that nobody takes this file for a leak.
fn secret() -> String {
    ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6", "LO0pINUx"].concat()
}

fn context(root: &Path, secrets: SecretsPolicy, max_input_bytes: usize) -> AgentContext {
    AgentContext::of(&ContextOptions {
        root,
        ignore: None,
        secrets,
        detector: Arc::new(Detector::new(&Options::default()).unwrap()),
        shows_ignored: false,
        is_readable: true,
        max_input_bytes,
    })
    .unwrap()
}

#[test]
fn the_policy_decides_what_becomes_of_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("a\ntoken={}\n", secret());
    fs::write(dir.path().join("settings.txt"), &text).unwrap();
    let stars = format!("a\ntoken={}\n", "*".repeat(secret().len()));
    for (policy, expected) in [
        (SecretsPolicy::Allow, Ok(text)),
        (SecretsPolicy::Tokenize, Ok(stars)),
        (
            SecretsPolicy::Deny,
            Err("settings.txt: contains a secret (github-personal-token)".to_owned()),
        ),
    ] {
        let files = context(dir.path(), policy, 1 << 20).files().unwrap();
        let read = files.read("settings.txt").map_err(|refusal| refusal.to_string());
        assert_eq!(read, expected, "{policy:?}");
    }
}

#[test]
fn what_git_ignores_is_shown_only_if_the_user_wants_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join(".gitignore"), "local.txt\n").unwrap();
    fs::write(dir.path().join("local.txt"), "mine").unwrap();
    let shown = |shows_ignored| {
        let context = AgentContext::of(&ContextOptions {
            root: dir.path(),
            ignore: None,
            secrets: SecretsPolicy::Deny,
            detector: Arc::new(Detector::new(&Options::default()).unwrap()),
            shows_ignored,
            is_readable: true,
            max_input_bytes: 1 << 20,
        });
        let context = context.unwrap();
        let read = context.files().unwrap().read("local.txt").map_err(|error| error.to_string());
        (context.snapshot().contains("local.txt"), read)
    };
    let refused = "local.txt: git ignores this file, so it is not served".to_owned();
    assert_eq!(shown(false), (false, Err(refused)));
    assert_eq!(shown(true), (true, Ok("mine".to_owned())));
}

/// An agent that reads files must not come upon its own or another agent's login.
#[test]
fn the_login_files_of_all_known_agents_are_sensitive() {
    let agents = probity_agent::AgentTable::shipped();
    let logins: Vec<&String> = agents.iter().flat_map(|agent| &agent.logins).collect();
    assert!(logins.len() > 8, "{logins:?}");
    for login in logins {
        for path in [login.clone(), format!("home/{login}"), format!("{login}.bak")] {
            assert!(probity_scope::is_sensitive(Path::new(&path)), "{path}");
        }
    }
}

#[test]
fn a_snapshot_has_its_size_whatever_the_context_has() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..30 {
        let below = dir.path().join(format!("package-{number}/{}", "deep/".repeat(number % 9)));
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join("package.json"), "{}\n".repeat(20_000)).unwrap();
        fs::write(below.join("yarn.lock"), "x".repeat(100_000)).unwrap();
        for file in 0..100 {
            fs::write(below.join(format!("{}-{file}", "n".repeat(100))), "").unwrap();
        }
    }
    for (max_input_bytes, most) in [(262_144, 72_000), (8_192, 4_096)] {
        let shown = context(dir.path(), SecretsPolicy::Deny, max_input_bytes).snapshot();
        assert!(shown.len() < most, "{} bytes", shown.len());
        assert!(shown.contains("- and more that are not listed\n"), "{shown}");
        assert!(!shown.contains("xxx"), "half a line is not shown");
    }
}
