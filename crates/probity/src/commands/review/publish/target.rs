//! Which pull request is meant: what flags say, otherwise what the CI system says.

use std::path::Path;

use probity_review::{ForgeKind, PullTarget};
use probity_scope::read_text;
use secrecy::SecretString;
use serde_json::Value;

use super::PublishCommand;
use crate::{commands::review::settings::text, failure::Failure};

/// An event is a page of JSON, and never larger than this.
const EVENT_BYTES: u64 = 4 << 20;

/// A pull request, and the commits that the CI system has for it.
pub(super) struct CiPull {
    pub(super) target: PullTarget,
    pub(super) commits: Vec<String>,
}

impl CiPull {
    pub(super) fn find(command: &PublishCommand) -> Result<Self, Failure> {
        let forge = command.forge.or_else(running_on).ok_or_else(|| {
            let help = "add --github, --gitlab or --gitea";
            Failure::new("probity does not know where the pull request is", help)
        })?;
        let names = Names::of(forge);
        let event = event().unwrap_or_default();
        let number = command.pull.or_else(|| names.number(&event)).ok_or_else(|| {
            let help = "run it in a job for a pull request, or name the number with --pull";
            Failure::new("there is no pull request to publish to", help)
        })?;
        let project = command.project.clone().or_else(|| first(names.projects));
        let project = project.filter(|project| is_project(forge, project)).ok_or_else(|| {
            Failure::new("the project is not known", "name it with --project OWNER/NAME")
        })?;
        let token = first(names.tokens).ok_or_else(|| {
            let what = format!("there is no token to publish with: {} is not set", names.tokens[0]);
            let help =
                format!("set {} to a token that may write to pull requests", names.tokens[0]);
            Failure::new(what, help)
        })?;
        let endpoint = command.endpoint.clone().or_else(|| first(names.endpoints));
        let endpoint = endpoint.or_else(|| names.usual.map(str::to_owned)).ok_or_else(|| {
            let help = "name the URL of its API with --endpoint, such as https://HOST/api/v1";
            Failure::new("the forge is not known", help)
        })?;
        let token = SecretString::from(token);
        let commits = names.commits(&event);
        Ok(Self { target: PullTarget { forge, endpoint, token, project, number }, commits })
    }
}

/// How a CI system calls things, the first that is set.
struct Names {
    tokens: &'static [&'static str],
    endpoints: &'static [&'static str],
    usual: Option<&'static str>,
    projects: &'static [&'static str],
    numbers: &'static [&'static str],
    commits: &'static [&'static str],
}

impl Names {
    fn of(forge: ForgeKind) -> Self {
        match forge {
            ForgeKind::Github => Self {
                tokens: &["GITHUB_TOKEN", "GH_TOKEN"],
                endpoints: &["GITHUB_API_URL"],
                usual: Some("https://api.github.com"),
                projects: &["GITHUB_REPOSITORY"],
                numbers: &[],
                commits: &["GITHUB_SHA"],
            },
            ForgeKind::Gitlab => Self {
                tokens: &["GITLAB_TOKEN"],
                endpoints: &["CI_API_V4_URL"],
                usual: Some("https://gitlab.com/api/v4"),
                projects: &["CI_MERGE_REQUEST_PROJECT_PATH", "CI_PROJECT_PATH"],
                numbers: &["CI_MERGE_REQUEST_IID"],
                commits: &["CI_COMMIT_SHA", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"],
            },
            // Its runner sets the variables of GitHub's.
            ForgeKind::Gitea => Self {
                tokens: &["GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"],
                endpoints: &["GITHUB_API_URL"],
                usual: None,
                projects: &["GITHUB_REPOSITORY"],
                numbers: &[],
                commits: &["GITHUB_SHA"],
            },
        }
    }

    fn number(&self, event: &Value) -> Option<u64> {
        let named = first(self.numbers).and_then(|number| number.parse().ok());
        let pointers = ["/pull_request/number", "/issue/number", "/number"];
        let of_event = || pointers.iter().find_map(|pointer| event.pointer(pointer)?.as_u64());
        let reference =
            || text("GITHUB_REF")?.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok();
        if self.numbers.is_empty() { of_event().or_else(reference) } else { named }
    }

    fn commits(&self, event: &Value) -> Vec<String> {
        let head = event.pointer("/pull_request/head/sha").and_then(Value::as_str);
        let named = self.commits.iter().filter_map(|name| text(name));
        named.chain(head.map(str::to_owned)).collect()
    }
}

fn first(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text(name))
}

fn running_on() -> Option<ForgeKind> {
    let is = |name: &str| text(name).as_deref() == Some("true");
    if is("GITEA_ACTIONS") || is("FORGEJO_ACTIONS") {
        Some(ForgeKind::Gitea)
    } else if is("GITHUB_ACTIONS") {
        Some(ForgeKind::Github)
    } else if is("GITLAB_CI") {
        Some(ForgeKind::Gitlab)
    } else {
        None
    }
}

/// A name goes into URLs, so it has nothing that means something there.
fn is_project(forge: ForgeKind, project: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_plain)
    };
    let parts = project.split('/').count();
    // GitLab has groups in groups.
    let is_deep = forge == ForgeKind::Gitlab && parts > 2;
    (parts == 2 || is_deep) && project.split('/').all(is_part)
}

fn event() -> Option<Value> {
    let path = text("GITHUB_EVENT_PATH")?;
    let event = read_text(Path::new(&path), EVENT_BYTES).ok()?;
    serde_json::from_str(&event).ok()
}
