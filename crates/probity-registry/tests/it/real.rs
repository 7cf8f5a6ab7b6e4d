//! What a well-behaved registry answers.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use probity_registry::{
    Cache, Credential, Digest, Error, NoCache, Platform, Settings, TagNow, look_up,
};
use serde_json::json;

use crate::{
    ask, ask_with, question,
    server::{PASSWORD, Registry, USER},
    settings,
};

fn trusted(registry: &Registry) -> Settings {
    let password =
        Credential::Password { user: USER.to_owned(), password: PASSWORD.to_owned().into() };
    Settings {
        certificates: vec![fs::read(registry.authority()).unwrap()],
        credentials: BTreeMap::from([(registry.host.clone(), password)]),
        ..settings()
    }
}

#[test]
fn an_index_gives_its_digest_its_platforms_and_the_configuration_of_one() {
    let registry = &Registry::start();
    let config = |user: &str| {
        json!({
            "User": user, "Env": ["PATH=/bin", "A=b=c"], "Shell": ["/bin/bash", "-c"],
            "WorkingDir": "/srv", "Entrypoint": ["/start"], "Cmd": ["-v"],
            "Healthcheck": {"Test": ["CMD", "true"]}, "Volumes": {"/data": {}},
            "ExposedPorts": {"80/tcp": {}}, "OnBuild": ["RUN x"],
        })
    };
    let digest = registry
        .push("team/tool:1", &[("linux/arm64", config("arm")), ("linux/amd64", config("amd"))]);
    let name = format!("{}/team/tool:1", registry.host);
    let image = ask(&name, &trusted(registry)).unwrap();
    assert_eq!(image.digest.as_str(), digest);
    assert_eq!(image.tag, None);
    let platforms: Vec<String> = image.platforms.iter().map(ToString::to_string).collect();
    assert_eq!(platforms, ["linux/arm64", "linux/amd64"]);
    let read = image.configuration.unwrap();
    assert_eq!(read.user.as_deref(), Some("amd"));
    assert_eq!(read.platform, Platform::parse("linux/amd64"));
    assert_eq!(read.env[1], ("A".to_owned(), "b=c".to_owned()));
    assert_eq!(read.shell, ["/bin/bash", "-c"]);
    assert_eq!(read.working_dir.as_deref(), Some("/srv"));
    assert_eq!((read.entrypoint, read.cmd), (vec!["/start".to_owned()], vec!["-v".to_owned()]));
    assert_eq!(read.healthcheck, ["CMD", "true"]);
    assert_eq!((read.volumes, read.exposed_ports), (vec!["/data".into()], vec!["80/tcp".into()]));
    assert_eq!(read.on_build, ["RUN x"]);
    // A platform that is not there is no error: that it is not there is the answer.
    let other = look_up(&[question(&name, "linux/s390x")], &trusted(registry), Arc::new(NoCache));
    let other = other.into_iter().next().unwrap().unwrap();
    assert_eq!((other.configuration, other.platforms.len()), (None, 2));
}

#[test]
fn one_platform_has_the_digest_of_its_manifest() {
    let registry = &Registry::start();
    let digest = registry.push("single:1", &[("linux/arm64", json!({"User": "one"}))]);
    let image = ask(&format!("{}/single:1", registry.host), &trusted(registry)).unwrap();
    assert_eq!(image.digest.as_str(), digest);
    assert_eq!(image.platforms, [Platform::parse("linux/arm64").unwrap()]);
    // BuildKit takes it all the same.
    assert_eq!(image.configuration.unwrap().user.as_deref(), Some("one"));
}

#[test]
fn a_pinned_image_says_what_its_tag_names_now() {
    let registry = &Registry::start();
    let old = registry.push("pinned:1", &[("linux/amd64", json!({"User": "old"}))]);
    let name = format!("{}/pinned:1@{old}", registry.host);
    let same = ask(&name, &trusted(registry)).unwrap();
    assert_eq!(same.tag, Digest::parse(&old).map(TagNow::Names));
    let new = registry.push("pinned:1", &[("linux/amd64", json!({"User": "new"}))]);
    let moved = ask(&name, &trusted(registry)).unwrap();
    assert_eq!(moved.tag, Digest::parse(&new).map(TagNow::Names));
    assert_eq!(moved.digest.as_str(), old);
    assert_eq!(moved.configuration.unwrap().user.as_deref(), Some("old"));
    let gone = ask(&format!("{}/pinned:2@{old}", registry.host), &trusted(registry)).unwrap();
    assert_eq!(gone.tag, Some(TagNow::Missing));
}

#[test]
fn missing_tags_and_repositories_are_missing_and_nothing_else() {
    let registry = &Registry::start();
    registry.push("known:1", &[("linux/amd64", json!({}))]);
    for name in ["known:2", "unknown:1"] {
        let image = format!("{}/{name}", registry.host);
        assert_eq!(ask(&image, &trusted(registry)), Err(Error::Missing { image }));
    }
}

#[test]
fn a_password_and_an_authority_are_needed() {
    let registry = &Registry::start();
    registry.push("private:1", &[("linux/amd64", json!({}))]);
    let name = format!("{}/private:1", registry.host);
    let denied = Error::Denied { registry: registry.host.clone(), repository: "private".into() };
    let nobody = Settings { credentials: BTreeMap::new(), ..trusted(registry) };
    assert_eq!(ask(&name, &nobody), Err(denied.clone()));
    let mut wrong = trusted(registry);
    let password = Credential::Password { user: USER.into(), password: "wrong".to_owned().into() };
    wrong.credentials.insert(registry.host.clone(), password);
    assert_eq!(ask(&name, &wrong), Err(denied));
    let doubtful = Settings { certificates: Vec::new(), ..trusted(registry) };
    let untrusted = ask(&name, &doubtful);
    assert!(matches!(untrusted, Err(Error::Untrusted { .. })), "{untrusted:?}");
    // An authority of one registry counts there and nowhere else, whatever lies beside it.
    let authority = fs::read(registry.authority()).unwrap();
    let port = registry.host.rsplit(':').next().unwrap();
    for (host, is_trusted) in [(registry.host.clone(), true), (format!("other.test:{port}"), false)]
    {
        let bundles = vec![b"-----BEGIN CERTIFICATE-----\nnone".to_vec(), authority.clone()];
        let own_certificates = BTreeMap::from([(host, bundles)]);
        let answer = ask(&name, &Settings { own_certificates, ..doubtful.clone() });
        if is_trusted {
            assert!(answer.is_ok(), "{answer:?}")
        } else {
            assert!(matches!(answer, Err(Error::Untrusted { .. })), "{answer:?}")
        }
    }
}

#[test]
fn a_mirror_is_asked_first_and_the_registry_if_it_does_not_know() {
    let registry = &Registry::start();
    registry.push("library/mirrored:1", &[("linux/amd64", json!({"User": "mirror"}))]);
    let mirrors = BTreeMap::from([("docker.io".to_owned(), vec![registry.host.clone()])]);
    let image = ask("mirrored:1", &Settings { mirrors, ..trusted(registry) }).unwrap();
    assert_eq!(image.configuration.unwrap().user.as_deref(), Some("mirror"));
    let mirrors = vec!["127.0.0.1:1".to_owned()];
    let mirrors = BTreeMap::from([(registry.host.clone(), mirrors)]);
    let name = format!("{}/library/mirrored:1", registry.host);
    assert!(ask(&name, &Settings { mirrors, ..trusted(registry) }).is_ok());
}

#[derive(Default)]
struct Memory {
    contents: Mutex<BTreeMap<Digest, Vec<u8>>>,
    tags: Mutex<BTreeMap<String, Digest>>,
}

impl Cache for Memory {
    fn content(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.contents.lock().unwrap().get(digest).cloned()
    }

    fn keep_content(&self, digest: &Digest, content: &[u8]) {
        self.contents.lock().unwrap().insert(digest.clone(), content.to_owned());
    }

    fn tag(&self, name: &str) -> Option<Digest> {
        self.tags.lock().unwrap().get(name).cloned()
    }

    fn keep_tag(&self, name: &str, digest: &Digest) {
        self.tags.lock().unwrap().insert(name.to_owned(), digest.clone());
    }
}

#[test]
fn a_cache_answers_without_the_registry_and_is_verified() {
    let mut registry = Registry::start();
    registry.push("cached:1", &[("linux/amd64", json!({"User": "kept"}))]);
    let name = format!("{}/cached:1", registry.host);
    let (settings, cache) = (trusted(&registry), Arc::new(Memory::default()));
    let first = ask_with(&name, &settings, Arc::<Memory>::clone(&cache)).unwrap();
    registry.stop();
    let second = ask_with(&name, &settings, Arc::<Memory>::clone(&cache)).unwrap();
    assert_eq!(first, second);
    // Contents that somebody changed count as absent.
    for content in cache.contents.lock().unwrap().values_mut() {
        content.push(b' ');
    }
    let third = ask_with(&name, &settings, cache);
    assert!(matches!(third, Err(Error::Unreachable { .. })), "{third:?}");
}
