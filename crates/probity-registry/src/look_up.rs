//! Questions about images, and their answers: in parallel, within one deadline.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::{
    Method, StatusCode, Url,
    header::{HeaderValue, WWW_AUTHENTICATE},
};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout_at};

use crate::{
    Cache, Configuration, Digest, Error, Platform, Reference, Settings,
    authorize::authorize,
    challenge::Challenge,
    client::{Clients, endpoint},
    error::one_line,
    fetch::{Reply, Request, fetch},
    manifest::{ACCEPT, Manifest},
};

/// What the specification of registries lets a manifest be.
const MANIFEST_BYTES: usize = 4 << 20;

/// Configurations carry the history of an image, and no layer.
const CONFIGURATION_BYTES: usize = 8 << 20;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    pub reference: Reference,
    /// The platform that a build would take.
    pub platform: Platform,
}

/// What a registry says about an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The digest that the reference means: of the index, if there is one.
    pub digest: Digest,
    /// Whether the digest is that of an index.
    pub is_index: bool,
    /// What the tag names now, if the reference has a digest too.
    pub tag: Option<TagNow>,
    /// All platforms that the image exists for.
    pub platforms: Vec<Platform>,
    /// None if the image does not exist for the platform.
    pub configuration: Option<Configuration>,
}

/// What became of the tag of a pinned image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagNow {
    Names(Digest),
    Missing,
    /// The registry did not say.
    Unknown,
}

/// Answers questions, each for itself, in their order. It blocks until all are answered or the
/// deadline is over.
#[must_use]
pub fn look_up(
    questions: &[Question],
    settings: &Settings,
    cache: Arc<dyn Cache>,
) -> Vec<Result<Image, Error>> {
    let failed = |error: Error| questions.iter().map(|_| Err(error.clone())).collect();
    if questions.is_empty() {
        return Vec::new();
    }
    let clients = match Clients::new(settings) {
        Ok(clients) => clients,
        Err(error) => return failed(error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(Error::Client { reason: one_line(&error.to_string()) }),
    };
    let run = Run {
        settings: settings.clone(),
        clients,
        cache,
        authorizations: Mutex::default(),
        given_up: Mutex::default(),
    };
    let answers = runtime.block_on(all(Arc::new(run), questions));
    // A name that the system still looks up must not keep us.
    runtime.shutdown_background();
    answers
}

async fn all(run: Arc<Run>, questions: &[Question]) -> Vec<Result<Image, Error>> {
    let places = Arc::new(Semaphore::new(run.settings.parallel.max(1)));
    let deadline = run.settings.deadline.into();
    let mut tasks = JoinSet::new();
    for (index, question) in questions.iter().cloned().enumerate() {
        let (run, places) = (Arc::clone(&run), Arc::clone(&places));
        tasks.spawn(async move {
            let work = async {
                // The semaphore is never closed.
                let _place = places.acquire().await.ok();
                answer(&run, &question).await
            };
            let late = || Err(Error::Timeout { registry: question.reference.registry.clone() });
            (index, timeout_at(deadline, work).await.unwrap_or_else(|_| late()))
        });
    }
    let mut answers: BTreeMap<usize, Result<Image, Error>> = BTreeMap::new();
    while let Some(done) = tasks.join_next().await {
        answers.extend(done);
    }
    let lost = || Err(Error::Client { reason: "a request ended early".to_owned() });
    (0..questions.len()).map(|index| answers.remove(&index).unwrap_or_else(lost)).collect()
}

/// What the questions of one run share.
pub(crate) struct Run {
    pub(crate) settings: Settings,
    pub(crate) clients: Clients,
    cache: Arc<dyn Cache>,
    /// By registry and repository.
    authorizations: Mutex<BTreeMap<(String, String), HeaderValue>>,
    /// Registries that answer nobody, and why.
    given_up: Mutex<BTreeMap<String, Error>>,
}

/// The registry's mirrors are asked first; what one of them cannot say, the next may.
async fn answer(run: &Run, question: &Question) -> Result<Image, Error> {
    let reference = &question.reference;
    let mirrors = run.settings.mirrors.get(&reference.registry).into_iter().flatten();
    for mirror in mirrors {
        if let Ok(image) = ask(run, mirror, question).await {
            return Ok(image);
        }
    }
    ask(run, &reference.registry, question).await
}

async fn ask(run: &Run, registry: &str, question: &Question) -> Result<Image, Error> {
    let known = lock(&run.given_up).get(registry).cloned();
    if let Some(error) = known {
        return Err(error);
    }
    let endpoint = endpoint(registry, &run.settings.insecure)?;
    let source = Source { run, registry, endpoint, reference: &question.reference };
    let answer = source.image(&question.platform).await;
    if let Err(error) = &answer
        && error.is_about_the_registry()
    {
        lock(&run.given_up).insert(registry.to_owned(), error.clone());
    }
    answer
}

/// One repository of one registry.
struct Source<'a> {
    run: &'a Run,
    /// The registry that is asked, which may be a mirror.
    registry: &'a str,
    endpoint: Url,
    reference: &'a Reference,
}

impl Source<'_> {
    async fn image(&self, platform: &Platform) -> Result<Image, Error> {
        let (digest, tag) = match (&self.reference.digest, &self.reference.tag) {
            (Some(digest), Some(tag)) => {
                let now = match self.tag(tag).await {
                    Ok(digest) => TagNow::Names(digest),
                    Err(Error::Missing { .. }) => TagNow::Missing,
                    Err(error) if error.is_about_the_registry() => return Err(error),
                    Err(_) => TagNow::Unknown,
                };
                (digest.clone(), Some(now))
            }
            (Some(digest), None) => (digest.clone(), None),
            (None, tag) => (self.tag(tag.as_deref().unwrap_or("latest")).await?, None),
        };
        match self.manifest(&digest).await? {
            Manifest::Image(configuration) => {
                let configuration = self.configuration(&configuration).await?;
                let platforms = configuration.platform.iter().cloned().collect();
                let configuration = Some(configuration);
                Ok(Image { digest, is_index: false, tag, platforms, configuration })
            }
            Manifest::Index(manifests) => {
                let ranked = manifests.iter().enumerate().filter_map(|(index, (have, digest))| {
                    Some((have.rank_for(platform)?, index, digest))
                });
                let configuration = match ranked.min() {
                    Some((_, _, digest)) => Some(self.configuration_of(digest).await?),
                    None => None,
                };
                let platforms = manifests.into_iter().map(|(platform, _)| platform).collect();
                Ok(Image { digest, is_index: true, tag, platforms, configuration })
            }
        }
    }

    /// What a tag names now. A registry counts a request for the digest alone as no download.
    async fn tag(&self, tag: &str) -> Result<Digest, Error> {
        let name = format!("{}/{}:{tag}", self.registry, self.reference.repository);
        if let Some(digest) = self.run.cache.tag(&name) {
            return Ok(digest);
        }
        let path = format!("manifests/{tag}");
        let head = self.get(Method::HEAD, &path, "manifest", MANIFEST_BYTES).await?;
        let said = head.headers.get("docker-content-digest").and_then(|value| value.to_str().ok());
        let digest = match said.and_then(Digest::parse) {
            Some(digest) if head.status.is_success() => digest,
            // Not every registry answers this, and only a body says what is missing.
            _ => {
                let reply = self.get(Method::GET, &path, "manifest", MANIFEST_BYTES).await?;
                let content = self.success(reply, || name.clone())?;
                let digest = Digest::of(&content);
                self.run.cache.keep_content(&digest, &content);
                digest
            }
        };
        self.run.cache.keep_tag(&name, &digest);
        Ok(digest)
    }

    async fn manifest(&self, digest: &Digest) -> Result<Manifest, Error> {
        let path = format!("manifests/{digest}");
        let content = self.content(digest, &path, "manifest", MANIFEST_BYTES).await?;
        Manifest::read(&content).map_err(|error| self.malformed("manifest", &error.to_string()))
    }

    async fn configuration_of(&self, manifest: &Digest) -> Result<Configuration, Error> {
        match self.manifest(manifest).await? {
            Manifest::Image(configuration) => self.configuration(&configuration).await,
            Manifest::Index(_) => Err(self.malformed("manifest", "it is an index in an index")),
        }
    }

    async fn configuration(&self, digest: &Digest) -> Result<Configuration, Error> {
        let path = format!("blobs/{digest}");
        let content = self.content(digest, &path, "configuration", CONFIGURATION_BYTES).await?;
        Configuration::read(&content)
            .map_err(|error| self.malformed("configuration", &error.to_string()))
    }

    /// Content that has the digest that it is asked by.
    async fn content(
        &self,
        digest: &Digest,
        path: &str,
        what: &'static str,
        limit: usize,
    ) -> Result<Vec<u8>, Error> {
        let cached = self.run.cache.content(digest);
        if let Some(content) = cached
            && digest.same_algorithm(&content) == *digest
        {
            return Ok(content);
        }
        let reply = self.get(Method::GET, path, what, limit).await?;
        let name = || format!("{}/{}@{digest}", self.registry, self.reference.repository);
        let content = self.success(reply, name)?;
        let actual = digest.same_algorithm(&content);
        if actual != *digest {
            return Err(Error::WrongDigest {
                registry: self.registry.to_owned(),
                expected: digest.to_string(),
                actual: actual.to_string(),
            });
        }
        self.run.cache.keep_content(digest, &content);
        Ok(content)
    }

    /// A reply of the repository, after its challenge is answered.
    async fn get(
        &self,
        method: Method,
        path: &str,
        what: &'static str,
        limit: usize,
    ) -> Result<Reply, Error> {
        let repository = &self.reference.repository;
        let url = self.endpoint.join(&format!("{repository}/{path}"));
        let url = url.map_err(|_| Error::Reference { reference: self.reference.to_string() })?;
        let key = (self.registry.to_owned(), repository.clone());
        let authorization = lock(&self.run.authorizations).get(&key).cloned();
        let accept = if what == "manifest" { ACCEPT } else { "*/*" };
        let registry = self.registry;
        let mut request =
            Request { method, url, accept, authorization, form: None, what, limit, registry };
        let deadline = self.run.settings.deadline;
        let reply = fetch(&self.run.clients, &request, deadline).await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        let values = reply.headers.get_all(WWW_AUTHENTICATE).iter();
        let challenge = Challenge::of(values.filter_map(|value| value.to_str().ok()));
        let Some(challenge) = challenge else { return Ok(reply) };
        let answer =
            authorize(self.run, self.registry, &self.endpoint, repository, &challenge).await?;
        let Some(answer) = answer else { return Ok(reply) };
        lock(&self.run.authorizations).insert(key, answer.clone());
        request.authorization = Some(answer);
        fetch(&self.run.clients, &request, deadline).await
    }

    fn success(&self, reply: Reply, name: impl Fn() -> String) -> Result<Vec<u8>, Error> {
        let registry = self.registry.to_owned();
        match reply.status {
            status if status.is_success() => Ok(reply.body),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(Error::Denied { registry, repository: self.reference.repository.clone() })
            }
            StatusCode::NOT_FOUND if says_missing(&reply.body) => {
                Err(Error::Missing { image: name() })
            }
            status => {
                let said = one_line(&String::from_utf8_lossy(&reply.body));
                Err(Error::Status { registry, status: status.as_u16(), said })
            }
        }
    }

    fn malformed(&self, what: &'static str, reason: &str) -> Error {
        let registry = self.registry.to_owned();
        Error::Malformed { registry, what, reason: one_line(reason) }
    }
}

/// A page that some server in between does not have is not an image that does not exist.
fn says_missing(body: &[u8]) -> bool {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let errors = value.get("errors").and_then(serde_json::Value::as_array);
    errors.into_iter().flatten().any(|error| {
        let code = error.get("code").and_then(serde_json::Value::as_str).unwrap_or_default();
        matches!(code, "MANIFEST_UNKNOWN" | "NAME_UNKNOWN" | "NOT_FOUND" | "BLOB_UNKNOWN")
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
