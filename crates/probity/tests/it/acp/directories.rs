//! Directories beside the workspace: mounted for the session that names them, as a workspace is.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use super::{
    Driver, ECHO, Place,
    contained::{configured, drive},
};
use crate::{agent::misbehaving::wait_until, binary::stable};

/// Two repositories beside those of the place, and an agent that writes to both when it starts.
fn place() -> Place {
    let place = Place::new("");
    for name in ["more", "other"] {
        fs::create_dir_all(place.path(name).join(".git/hooks")).unwrap();
        fs::write(place.path(name).join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    symlink("more", place.path("link")).unwrap();
    let (more, other) = (place.path("more"), place.path("other"));
    let script = format!(
        "echo x > {other}/made; echo x > {more}/.git/hooks/post-commit; echo x > {more}/made; \
         mkdir -p {more}/new/.git; echo x > {more}/new/.git/config; echo x > done",
        more = more.display(),
        other = other.display()
    );
    let spawn = json!({"spawn": ["sh", "-c", script]});
    for repository in ["one", "two"] {
        let script = place.path(repository).join("script.ndjson");
        fs::write(script, format!("{spawn}\n{ECHO}")).unwrap();
    }
    configured(&place, "");
    place
}

fn open(driver: &mut Driver, place: &Place, directories: &Value) -> Value {
    let cwd = place.path("one");
    let new = json!({"cwd": cwd, "mcpServers": [], "additionalDirectories": directories});
    driver.call("session/new", &new)
}

#[test]
fn a_session_works_in_the_directories_it_names_and_no_other_does() {
    let place = place();
    let mut driver = drive(&place);
    let link = place.path("link");
    for (directories, is_made) in [(json!([link]), true), (json!([]), false)] {
        let answer = open(&mut driver, &place, &directories);
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(driver.say(&session, "hello"), "you said: hello");
        let done = place.path("one/done");
        wait_until(|| done.exists());
        assert_eq!(place.path("more/made").exists(), is_made, "{directories}");
        assert!(!place.path("more/.git/hooks/post-commit").exists(), "{directories}");
        assert!(!place.path("other/made").exists(), "{directories}");
        // An open session gets no more than it was started with.
        let load = json!({
            "sessionId": session, "cwd": place.path("one"), "mcpServers": [],
            "additionalDirectories": [place.path("other")],
        });
        let refused = driver.call("session/load", &load);
        insta::allow_duplicates! {
            insta::assert_snapshot!(stable(refused["error"]["message"].as_str().unwrap()), @"directories cannot be added to an open session: close it first");
        }
        fs::remove_file(done).unwrap();
        fs::remove_file(place.path("more/made")).ok();
    }
    let output = driver.finish();
    // A repository that came into being there is taken away as from a workspace.
    assert!(!place.path("more/new/.git/config").exists(), "{}", output.stderr);
    assert!(output.stderr.contains("more/new/.git"), "{}", output.stderr);
}

#[test]
fn what_cannot_be_a_workspace_cannot_be_beside_one() {
    let place = place();
    let mut driver = drive(&place);
    let mut refusals = Vec::new();
    for directory in [
        "/etc".to_owned(),
        "/".to_owned(),
        "more".to_owned(),
        place.path("nowhere").to_str().unwrap().to_owned(),
        place.path("more/.git/HEAD").to_str().unwrap().to_owned(),
        place.path("state").to_str().unwrap().to_owned(),
    ] {
        let refused = open(&mut driver, &place, &json!([place.path("more"), directory]));
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        refusals.push(format!("{directory}: {message}"));
    }
    insta::assert_snapshot!(stable(&refusals.join("\n")), @"
    /etc: Failed to create session: /etc: a directory of the system cannot be a workspace, since an agent could change all that is in it; start in a project below it
    /: Failed to create session: /: a directory that contains more than one project cannot be a workspace, since an agent could change all that is in it; start in a project below it
    more: params.additionalDirectories has something that is not an absolute path
    [dir]/nowhere: Failed to create session: [dir]/nowhere: No such file or directory (os error 2)
    [dir]/more/.git/HEAD: Failed to create session: [dir]/more/.git/HEAD: not a directory
    [dir]/state: Failed to create session: the state directory [dir]/state/probity is inside the workspace
    ");
    assert!(!place.path("one/done").exists(), "nothing was started");
    driver.finish();
}
