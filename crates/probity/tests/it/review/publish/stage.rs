//! A checkout whose review is published on a forge.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    super::{CODE, probity},
    FILE, HUNKS,
    server::{Api, Forge, TOKEN},
};
use crate::binary::{Output, directory};

/// A forge, and the checkout whose review is published there.
pub(super) struct Stage {
    pub(super) forge: Forge,
    pub(super) place: TempDir,
}

impl Stage {
    pub(super) fn new(api: Api) -> Self {
        let place = directory(&[(FILE, CODE)]);
        Self { forge: Forge::start(api, "c1", FILE, HUNKS), place }
    }

    pub(super) fn publish(&self, review: &Value, more: &[&str]) -> Output {
        let file = self.place.path().join("review.json");
        fs::write(&file, review.to_string()).unwrap();
        self.publish_file(&file, more)
    }

    pub(super) fn publish_file(&self, file: &Path, more: &[&str]) -> Output {
        let (flag, variable) = match self.forge.api {
            Api::Github => ("--github", "GITHUB_TOKEN"),
            Api::Gitlab => ("--gitlab", "GITLAB_TOKEN"),
            Api::Gitea => ("--gitea", "GITEA_TOKEN"),
        };
        probity()
            .args(["review", "publish", file.to_str().unwrap(), flag, "--project", "o/r"])
            .args(["--pull", "7", "--endpoint", &self.forge.address()])
            .args(more)
            .env(variable, TOKEN)
            .dir(self.place.path())
            .run()
    }
}
