//! Registries that are absent, slow, busy, wrong or hostile.

use std::{
    collections::BTreeMap,
    io::Write,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use probity_registry::{Credential, Digest, Error, NoCache, Settings, look_up};

use crate::{
    ask,
    liar::{Head, Liar, reply},
    question, settings,
};

const CONFIG: &str = r#"{"os":"linux","architecture":"amd64","config":{"User":"app"}}"#;

fn manifest() -> String {
    format!(r#"{{"config":{{"digest":"{}"}}}}"#, Digest::of(CONFIG.as_bytes()))
}

/// Answers as a registry should that has one image under every name.
fn honest(head: &Head, out: &mut dyn Write) {
    let manifest = manifest();
    let digest = Digest::of(manifest.as_bytes());
    let headers = [("docker-content-digest", digest.as_str())];
    let is_blob = head.line.contains("/blobs/");
    let body = if is_blob { CONFIG } else { &manifest };
    let body = if head.line.starts_with("HEAD") { "" } else { body };
    reply(out, "200 OK", if is_blob { &[] } else { &headers }, body.as_bytes());
}

fn plain(hosts: &[&Liar]) -> Settings {
    let insecure = hosts.iter().map(|liar| liar.host.clone()).collect();
    Settings { insecure, ..settings() }
}

fn password() -> Credential {
    Credential::Password { user: "me".to_owned(), password: "secret".to_owned().into() }
}

#[test]
fn the_double_of_a_registry_is_believed_where_it_tells_the_truth() {
    let liar = Liar::start(honest);
    let image = ask(&format!("{}/a:1", liar.host), &plain(&[&liar])).unwrap();
    assert_eq!(image.configuration.unwrap().user.as_deref(), Some("app"));
}

#[test]
fn nobody_there_is_said_once_for_all_images_of_a_registry() {
    let name = |tag: usize| question(&format!("127.0.0.1:1/a:{tag}"), "linux/amd64");
    let questions: Vec<_> = (0..10).map(name).collect();
    for answer in look_up(&questions, &settings(), Arc::new(NoCache)) {
        assert!(matches!(answer, Err(Error::Unreachable { .. })), "{answer:?}");
    }
}

#[test]
fn a_silent_registry_costs_the_time_limit_and_not_the_answers_of_others() {
    let silent = Liar::start(|_, _| std::thread::sleep(Duration::from_secs(600)));
    let liar = Liar::start(honest);
    let questions = [
        question(&format!("{}/a:1", silent.host), "linux/amd64"),
        question(&format!("{}/a:1", liar.host), "linux/amd64"),
    ];
    let deadline = Instant::now() + Duration::from_secs(2);
    let settings = Settings { deadline, ..plain(&[&silent, &liar]) };
    let answers = look_up(&questions, &settings, Arc::new(NoCache));
    assert_eq!(answers[0], Err(Error::Timeout { registry: silent.host.clone() }));
    assert!(answers[1].is_ok(), "{answers:?}");
}

#[test]
fn a_body_that_trickles_ends_at_the_time_limit_too() {
    let liar = Liar::start(|head, out| {
        if !head.line.contains("/blobs/") {
            return honest(head, out);
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
        let mut next = head.as_bytes();
        while out.write_all(next).and_then(|()| out.flush()).is_ok() {
            std::thread::sleep(Duration::from_millis(50));
            next = b" ";
        }
    });
    let deadline = Instant::now() + Duration::from_secs(1);
    let answer = ask(&format!("{}/a:1", liar.host), &Settings { deadline, ..plain(&[&liar]) });
    assert_eq!(answer, Err(Error::Timeout { registry: liar.host.clone() }));
}

#[test]
fn content_with_another_digest_is_refused_wherever_it_is() {
    for lie in ["/manifests/sha256", "/blobs/"] {
        let liar = Liar::start(move |head, out| {
            if head.line.contains(lie) {
                reply(out, "200 OK", &[], CONFIG.replace("app", "root").as_bytes())
            } else {
                honest(head, out)
            }
        });
        let answer = ask(&format!("{}/a:1", liar.host), &plain(&[&liar]));
        assert!(matches!(answer, Err(Error::WrongDigest { .. })), "{lie}: {answer:?}");
    }
}

#[test]
fn a_manifest_of_ten_gigabytes_is_left_at_its_limit() {
    for length in [Some(10_u64 << 30), None] {
        let written = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&written);
        let liar = Liar::start(move |head, out| {
            if head.line.starts_with("HEAD") {
                return reply(out, "200 OK", &[], b"");
            }
            let length = length.map(|bytes| format!("content-length: {bytes}\r\n"));
            let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", length.unwrap_or_default());
            let chunk = [b' '; 1 << 16];
            let mut next: &[u8] = head.as_bytes();
            while out.write_all(next).is_ok() {
                counted.fetch_add(next.len(), Ordering::Relaxed);
                next = &chunk;
            }
        });
        let answer = ask(&format!("{}/a:1", liar.host), &plain(&[&liar]));
        assert!(matches!(answer, Err(Error::TooLarge { .. })), "{answer:?}");
        // What is in buffers of the system counts as written.
        assert!(written.load(Ordering::Relaxed) < 64 << 20, "{written:?}");
    }
}

#[test]
fn nothing_compressed_is_unpacked() {
    let liar = Liar::start(|head, out| {
        if head.line.contains("/blobs/") {
            reply(out, "200 OK", &[("content-encoding", "gzip")], b"\x1f\x8b\x08")
        } else {
            honest(head, out)
        }
    });
    let answer = ask(&format!("{}/a:1", liar.host), &plain(&[&liar]));
    let reason = "it is compressed, which was not asked for".to_owned();
    let registry = liar.host.clone();
    assert_eq!(answer, Err(Error::Malformed { registry, what: "configuration", reason }));
    assert!(liar.seen().iter().all(|head| head.header("accept-encoding") == Some("identity")));
}

/// Members of a gzip file may follow each other: this unpacks to ten gigabytes.
fn bomb() -> Vec<u8> {
    let pack = "head -c 104857600 /dev/zero | gzip -9";
    let member = Command::new("sh").args(["-c", pack]).output().unwrap().stdout;
    assert!(member.starts_with(b"\x1f\x8b\x08") && member.len() < 1 << 20, "{}", member.len());
    member.repeat(100)
}

/// Whether it says what it is or not, a bomb is read up to the limit and never unpacked.
#[test]
fn a_gzip_bomb_does_not_go_off() {
    let bomb = Arc::new(bomb());
    for place in ["/manifests/", "/blobs/"] {
        for is_labelled in [true, false] {
            let body = Arc::clone(&bomb);
            let liar = Liar::start(move |head, out| {
                if head.line.starts_with("HEAD") || !head.line.contains(place) {
                    return honest(head, out);
                }
                let label = [("content-encoding", "gzip")];
                reply(out, "200 OK", if is_labelled { &label } else { &[] }, &body);
            });
            let before = resident();
            let answer = ask(&format!("{}/a:1", liar.host), &plain(&[&liar]));
            assert!(
                matches!(&answer, Err(Error::Malformed { .. } | Error::TooLarge { .. })),
                "{place} {is_labelled}: {answer:?}"
            );
            let grown = resident().saturating_sub(before);
            assert!(grown < 200 << 20, "{place} {is_labelled}: {grown} bytes more");
        }
    }
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_host() {
    let storage = Liar::start(honest);
    let target = storage.host.clone();
    let liar = Liar::start(move |head, out| {
        if head.header("authorization").is_none() {
            return reply(out, "401 Unauthorized", &[("www-authenticate", "Basic realm=x")], b"");
        }
        if head.line.contains("/blobs/") {
            let path = head.line.split(' ').nth(1).unwrap();
            let location = format!("http://{target}{path}");
            return reply(out, "307 Temporary Redirect", &[("location", &location)], b"");
        }
        honest(head, out);
    });
    let credentials = BTreeMap::from([(liar.host.clone(), password())]);
    let settings = Settings { credentials, ..plain(&[&liar]) };
    let image = ask(&format!("{}/a:1", liar.host), &settings).unwrap();
    assert_eq!(image.configuration.unwrap().user.as_deref(), Some("app"));
    let asked = liar.seen();
    assert!(asked.iter().any(|head| head.header("authorization") == Some("Basic bWU6c2VjcmV0")));
    let stored = storage.seen();
    assert_eq!(stored.len(), 1);
    assert!(stored.iter().all(|head| head.header("authorization").is_none()), "{stored:?}");
}

#[test]
fn redirects_lead_to_no_unencrypted_host_and_not_in_circles() {
    for (location, expected) in [
        ("http://registry.example/x", "the connection would not be encrypted"),
        ("file:///etc/passwd", "the connection would not be encrypted"),
        ("/v2/a/blobs/again", "there are too many redirects"),
    ] {
        let liar = Liar::start(move |head, out| {
            if head.line.contains("/blobs/") {
                reply(out, "302 Found", &[("location", location)], b"")
            } else {
                honest(head, out)
            }
        });
        match ask(&format!("{}/a:1", liar.host), &plain(&[&liar])) {
            Err(Error::Redirect { reason, .. }) => assert_eq!(reason, expected, "{location}"),
            other => panic!("{location}: {other:?}"),
        }
    }
}

#[test]
fn a_busy_registry_is_asked_again_when_it_says_so() {
    let busy = Arc::new(AtomicUsize::new(2));
    let left = Arc::clone(&busy);
    let liar = Liar::start(move |head, out| {
        let is_busy =
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match is_busy {
            Ok(_) => reply(out, "429 Too Many Requests", &[("retry-after", "1")], b""),
            Err(_) => honest(head, out),
        }
    });
    assert!(ask(&format!("{}/a:1", liar.host), &plain(&[&liar])).is_ok());
    assert_eq!(liar.seen().len(), 2 + 3);
}

#[test]
fn a_wait_beyond_the_time_limit_is_not_begun() {
    let liar = Liar::start(|_, out| {
        reply(out, "429 Too Many Requests", &[("retry-after", "3600")], b"");
    });
    let begun = Instant::now();
    let name = |tag: usize| question(&format!("{}/a:{tag}", liar.host), "linux/amd64");
    let questions: Vec<_> = (0..3).map(name).collect();
    let settings = Settings { parallel: 1, ..plain(&[&liar]) };
    let wait = Some(Duration::from_secs(3600));
    for answer in look_up(&questions, &settings, Arc::new(NoCache)) {
        assert_eq!(answer, Err(Error::TooManyRequests { registry: liar.host.clone(), wait }));
    }
    assert!(begun < settings.deadline && Instant::now() < settings.deadline);
    // The others would have been told the same.
    assert_eq!(liar.seen().len(), 1);
}

#[test]
fn a_token_is_fetched_for_pulling_one_repository() {
    let tokens = Liar::start(|_, out| reply(out, "200 OK", &[], br#"{"token":"t0ken"}"#));
    let realm = format!(
        "Bearer realm=\"http://{}/token\",service=\"it\",scope=\"repository:b:push\"",
        tokens.host
    );
    let liar = Liar::start(move |head, out| match head.header("authorization") {
        Some("Bearer t0ken") => honest(head, out),
        _ => reply(out, "401 Unauthorized", &[("www-authenticate", &realm)], b""),
    });
    let credentials = BTreeMap::from([(liar.host.clone(), password())]);
    let settings = Settings { credentials, ..plain(&[&liar, &tokens]) };
    assert!(ask(&format!("{}/a:1", liar.host), &settings).is_ok());
    let asked = tokens.seen();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].line, "GET /token?service=it&scope=repository%3Aa%3Apull HTTP/1.1");
    assert_eq!(asked[0].header("authorization"), Some("Basic bWU6c2VjcmV0"));
    // The password is the token server's business; the registry gets the token.
    assert!(
        liar.seen()
            .iter()
            .all(|head| head.header("authorization") != asked[0].header("authorization"))
    );
}

#[test]
fn a_page_that_is_not_there_is_not_a_missing_image() {
    let liar =
        Liar::start(|_, out| reply(out, "404 Not Found", &[], b"<h1>\x1b[2J No such page</h1>"));
    let answer = ask(&format!("{}/a:1", liar.host), &plain(&[&liar]));
    let (registry, said) = (liar.host.clone(), "<h1> [2J No such page</h1>".to_owned());
    assert_eq!(answer, Err(Error::Status { registry, status: 404, said }));
}

#[test]
fn only_this_machine_is_asked_in_plain_text() {
    let insecure = vec!["registry.example".to_owned()];
    let answer = ask("registry.example/a", &Settings { insecure, ..settings() });
    assert_eq!(answer, Err(Error::Insecure { registry: "registry.example".to_owned() }));
}
