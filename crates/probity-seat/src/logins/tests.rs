//! Logins in a home that an agent can write to.

use std::{
    os::unix::fs::symlink,
    time::{Duration, SystemTime},
};

use probity_agent::KnownAgent;
use probity_sandbox::BackendKind;

use super::*;
use crate::scratch::ScratchHomes;

struct Place {
    dir: tempfile::TempDir,
    state: State,
    grants: Grants,
    agent: KnownAgent,
}

const LOGIN: &str = ".a/login";

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let state = State { directory: dir.path().join("state") };
    let users = dir.path().join("user");
    fs::create_dir_all(users.join(".a")).unwrap();
    let grants =
        Grants { variables: Vec::new(), files: vec![".a".into()], home: Some(users.clone()) };
    let mut agent = KnownAgent::new("mine", ["mine"]);
    agent.logins = vec![LOGIN.to_owned()];
    Place { dir, state, grants, agent }
}

impl Place {
    fn home(&self, name: &str) -> PathBuf {
        let home = self.dir.path().join(name);
        fs::create_dir_all(&home).unwrap();
        home
    }

    fn settle(&self, home: &Path) -> Logins {
        self.settle_with(home, Keeping::Changes).unwrap()
    }

    fn settle_with(&self, home: &Path, keeping: Keeping) -> Result<Logins, Unseated> {
        Logins::settle(&self.state, &self.grants, &self.agent, home, keeping)
    }

    /// A session in a home for one run, which leaves this in it.
    fn run(&self, leaves: impl FnOnce(&Path)) {
        let scratch = ScratchHomes::default();
        let scratch = scratch.home(&self.state, BackendKind::Bubblewrap, "mine").unwrap();
        let home = scratch.path().to_owned();
        let session = self.settle_with(&home, Keeping::Renewed(scratch)).unwrap();
        leaves(&home);
        drop(session);
        assert!(!home.exists(), "the home goes with the session");
    }

    fn users(&self, text: &str, age: i64) {
        let file = self.dir.path().join("user").join(LOGIN);
        fs::write(&file, text).unwrap();
        let age = Duration::from_secs(age.unsigned_abs());
        fs::File::options()
            .write(true)
            .open(file)
            .unwrap()
            .set_modified(SystemTime::now() - age)
            .unwrap();
    }
}

fn text(home: &Path) -> Option<String> {
    fs::read_to_string(home.join(LOGIN)).ok()
}

#[test]
fn a_renewed_login_reaches_every_workspace() {
    let place = place();
    place.users("first", 100);
    let (one, two) = (place.home("one"), place.home("two"));
    let session = place.settle(&one);
    assert_eq!(text(&one).as_deref(), Some("first"));
    // As agents do it: a new file, renamed over the old one.
    fs::write(one.join(".a/new"), "renewed").unwrap();
    fs::rename(one.join(".a/new"), one.join(LOGIN)).unwrap();
    session.keep();
    drop(place.settle(&two));
    assert_eq!(text(&two).as_deref(), Some("renewed"), "while the session lasts");
    fs::write(one.join(LOGIN), "renewed again").unwrap();
    drop(session);
    drop(place.settle(&two));
    assert_eq!(text(&two).as_deref(), Some("renewed again"), "at its end");
    assert_eq!(fs::read_to_string(place.dir.path().join("user").join(LOGIN)).unwrap(), "first");
}

#[test]
fn the_newer_of_the_users_and_the_kept_login_wins() {
    let place = place();
    place.users("old", 100);
    let home = place.home("one");
    drop(place.settle(&home));
    place.users("older still", 200);
    drop(place.settle(&home));
    assert_eq!(text(&home).as_deref(), Some("old"));
    std::thread::sleep(Duration::from_millis(20));
    place.users("new", 0);
    drop(place.settle(&home));
    assert_eq!(text(&home).as_deref(), Some("new"));
}

#[test]
fn what_is_not_listed_is_not_taken_and_a_login_made_inside_is_kept() {
    let mut place = place();
    place.users("mine", 100);
    place.grants.files.clear();
    let (one, two) = (place.home("one"), place.home("two"));
    let session = place.settle(&one);
    assert_eq!(text(&one), None);
    fs::create_dir_all(one.join(".a")).unwrap();
    fs::write(one.join(LOGIN), "made inside").unwrap();
    fs::write(one.join(".a/settings.json"), "settings").unwrap();
    drop(session);
    let session = place.settle(&two);
    assert_eq!(text(&two).as_deref(), Some("made inside"));
    assert!(!two.join(".a/settings.json").exists(), "settings stay where they are");
    // And a logout is one everywhere.
    fs::remove_file(two.join(LOGIN)).unwrap();
    drop(session);
    drop(place.settle(&place.home("three")));
    assert_eq!(text(&place.home("three")), None);
}

#[test]
fn a_session_that_was_killed_loses_nothing() {
    let place = place();
    place.users("first", 100);
    let (one, two) = (place.home("one"), place.home("two"));
    std::mem::forget(place.settle(&one));
    std::thread::sleep(Duration::from_millis(20));
    fs::write(one.join(LOGIN), "renewed").unwrap();
    drop(place.settle(&one));
    drop(place.settle(&two));
    assert_eq!(text(&two).as_deref(), Some("renewed"));
}

#[test]
fn links_and_pipes_of_an_agent_are_neither_followed_nor_waited_for() {
    let place = place();
    place.users("mine", 100);
    let outside = place.home("outside");
    fs::write(outside.join("login"), "secret").unwrap();
    let linked_directory = place.home("linked-directory");
    symlink(&outside, linked_directory.join(".a")).unwrap();
    let refused = place.settle_with(&linked_directory, Keeping::Changes);
    assert!(matches!(refused, Err(Unseated::Login { .. })), "{refused:?}");

    let linked_file = place.home("linked-file");
    fs::create_dir(linked_file.join(".a")).unwrap();
    symlink(outside.join("login"), linked_file.join(LOGIN)).unwrap();
    let session = place.settle(&linked_file);
    assert_eq!(text(&linked_file).as_deref(), Some("mine"), "the link is replaced");
    fs::remove_file(linked_file.join(LOGIN)).unwrap();
    symlink(outside.join("login"), linked_file.join(LOGIN)).unwrap();
    drop(session);
    let after = place.home("after");
    place.users("mine", 0);
    drop(place.settle(&after));
    assert_eq!(text(&after).as_deref(), Some("mine"), "what a link leads to is no login");
    assert_eq!(fs::read_to_string(outside.join("login")).unwrap(), "secret");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);

    let pipe = place.home("pipe");
    fs::create_dir(pipe.join(".a")).unwrap();
    rustix::fs::mknodat(
        CWD,
        pipe.join(LOGIN),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    drop(place.settle(&pipe));
    assert_eq!(text(&pipe).as_deref(), Some("mine"));
}

#[test]
fn a_home_for_one_run_gives_back_nothing_but_a_renewed_login() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("login");
    fs::write(&secret, r#"{"token": "of another"}"#).unwrap();
    let renewed = "{\n  \"token\": \"new\"\n}";
    type Leaves<'a> = &'a dyn Fn(&Path);
    let rows: [(&str, Leaves<'_>, Option<&str>); 9] = [
        ("a renewed login", &|home| fs::write(home, r#"{"token": "new"}"#).unwrap(), Some(renewed)),
        (
            "a new file renamed over it",
            &|home| {
                fs::write(home.with_extension("new"), r#"{"token": "new"}"#).unwrap();
                fs::rename(home.with_extension("new"), home).unwrap();
            },
            Some(renewed),
        ),
        ("a hook", &|home| fs::write(home, r#"{"token": "a", "hooks": {}}"#).unwrap(), None),
        ("an address", &|home| fs::write(home, r#"{"token": "x://y"}"#).unwrap(), None),
        ("no JSON", &|home| fs::write(home, "TOKEN=new").unwrap(), None),
        ("too much", &|home| fs::write(home, vec![b' '; 2 << 20]).unwrap(), None),
        ("a logout", &|home| fs::remove_file(home).unwrap(), None),
        (
            "a link",
            &|home| {
                fs::remove_file(home).unwrap();
                symlink(&secret, home).unwrap();
            },
            None,
        ),
        (
            "a link on the way",
            &|home| {
                fs::remove_dir_all(home.parent().unwrap()).unwrap();
                symlink(outside.path(), home.parent().unwrap()).unwrap();
            },
            None,
        ),
    ];
    for (what, leaves, kept) in rows {
        let place = place();
        place.users(r#"{"token": "a"}"#, 100);
        place.run(|home| {
            assert_eq!(text(home).as_deref(), Some(r#"{"token": "a"}"#), "{what}");
            fs::write(home.join(".a/settings.json"), "hooks").unwrap();
            leaves(&home.join(LOGIN));
        });
        let next = place.home("next");
        drop(place.settle(&next));
        assert_eq!(text(&next).as_deref(), Some(kept.unwrap_or(r#"{"token": "a"}"#)), "{what}");
        assert!(!next.join(".a/settings.json").exists(), "{what}");
        assert_eq!(fs::read_to_string(&secret).unwrap(), r#"{"token": "of another"}"#, "{what}");
    }
}

#[test]
fn paths_that_lead_elsewhere_are_no_logins() {
    for (path, expected) in [
        (".a/b", Some(".a/b")),
        ("~/.a", Some(".a")),
        ("../a", None),
        ("/etc/passwd", None),
        ("a/../../b", None),
        ("", None),
    ] {
        assert_eq!(below(path), expected.map(PathBuf::from), "{path}");
    }
}
