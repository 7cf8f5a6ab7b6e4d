//! The count on a terminal, and silence elsewhere.

use std::process::Command;

use super::{LOOK, NOTHING, audit, project, server::Server};

/// What a terminal of its own shows of this run. `script` gives it one, on which both of its streams
/// are.
fn on_a_terminal(dir: &tempfile::TempDir, server: &Server, args: &[&str]) -> String {
    let command = audit(dir, server).args(args).into_command();
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let output = Command::new("script")
        .args(["-qec", &words.join(" "), "/dev/null"])
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("TERM", "xterm")
        // In CI nobody looks on.
        .env_remove("CI")
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_terminal_shows_how_many_skills_are_done_and_which_one_is_asked_about() {
    let dir = project();
    let shown = on_a_terminal(&dir, &Server::saying(&[LOOK, NOTHING]), &[]);
    for word in
        ["0 of 3 skills", "strict-value-equality-001: step 1 of 25", "unvalidated-datum-003"]
    {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let (_, summary) = shown.rsplit_once("\u{1b}[2K").unwrap();
    assert!(summary.contains("Audit complete") && !summary.contains("of 3"), "cleared: {shown}");
}

#[test]
fn there_is_no_count_beside_a_log_and_none_without_a_terminal() {
    let dir = project();
    let shown = on_a_terminal(&dir, &Server::saying(&[LOOK, NOTHING]), &["--ai-logs"]);
    assert!(shown.contains("step 1/25") && !shown.contains("\u{1b}["), "{shown}");
    let output = audit(&dir, &Server::saying(&[LOOK, NOTHING])).run().code(0);
    assert_eq!(output.stderr, "");
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
}
