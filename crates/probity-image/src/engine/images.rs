//! Questions about images, in the words of each client: buildah's differ from docker's and podman's.

use super::{Engine, EngineKind, Interrupt, SOON};
use crate::{
    ImageError, Leftover,
    configuration::{self, Described},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use probity_sandbox::Exit;
use std::{fs, path::Path};

impl Engine {
    pub(crate) fn has_image(
        &self,
        image: &str,
        interrupt: Interrupt<'_>,
    ) -> Result<bool, ImageError> {
        Ok(self.ask(&self.inspect_words(image), SOON, interrupt)?.exit == Exit::Code(0))
    }

    pub(crate) fn describe(
        &self,
        image: &str,
        interrupt: Interrupt<'_>,
    ) -> Result<Described, ImageError> {
        let answer = self.must(&self.inspect_words(image), SOON, interrupt)?;
        match self.kind {
            EngineKind::Docker | EngineKind::Podman => configuration::read(&answer),
            EngineKind::Buildah => configuration::read_buildah(&answer),
        }
    }

    /// The triggers of an image, which podman does not tell: they are in the configuration that it
    /// stores under the image's number. None if they cannot be read there.
    pub(crate) fn triggers(
        &self,
        described: &Described,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<Vec<String>>, ImageError> {
        if self.kind != EngineKind::Podman {
            return Ok(Some(described.configuration.on_build.clone()));
        }
        let format = "{{.Store.GraphRoot}}\n{{.Store.GraphDriverName}}";
        let store = self.must(&["info", "--format", format], SOON, interrupt)?;
        let store = String::from_utf8_lossy(&store).into_owned();
        let Some((root, driver)) = store.trim().split_once('\n') else { return Ok(None) };
        let id = described.id.trim_start_matches("sha256:");
        let name = format!("={}", BASE64_STANDARD.encode(format!("sha256:{id}")));
        let file = Path::new(root).join(format!("{driver}-images")).join(id).join(name);
        let stored = fs::read(file).ok();
        Ok(stored.and_then(|stored| configuration::stored_triggers(&stored)))
    }

    /// The words of each instruction that made an image, one on a line.
    pub(crate) fn history(
        &self,
        image: &str,
        interrupt: Interrupt<'_>,
    ) -> Result<String, ImageError> {
        let format = "{{range .Docker.History}}{{println .CreatedBy}}{{end}}";
        let words = match self.kind {
            EngineKind::Docker | EngineKind::Podman => {
                vec!["history", "--no-trunc", "--format", "{{.CreatedBy}}", image]
            }
            EngineKind::Buildah => vec!["inspect", "--type=image", "--format", format, image],
        };
        let history = self.must(&words, SOON, interrupt)?;
        Ok(String::from_utf8_lossy(&history).into_owned())
    }

    /// The value of a label.
    pub(crate) fn label_of(&self, left: &Leftover, label: &str) -> Result<String, ImageError> {
        let above = match self.kind {
            EngineKind::Docker | EngineKind::Podman => ".Config",
            EngineKind::Buildah => ".Docker.Config",
        };
        let format = format!("{{{{index {above}.Labels \"{label}\"}}}}");
        let words = match self.kind {
            EngineKind::Docker | EngineKind::Podman => {
                [left.kind.name(), "inspect", "--format", &format, &left.id]
            }
            EngineKind::Buildah => ["inspect", "--type=image", "--format", &format, &left.id],
        };
        let value = self.must(&words, SOON, &|| false)?;
        Ok(String::from_utf8_lossy(&value).trim().to_owned())
    }

    /// The names of an image; empty if the engine does not have it.
    pub(crate) fn tags(&self, id: &str) -> Result<Option<Vec<String>>, ImageError> {
        let words = match self.kind {
            EngineKind::Docker | EngineKind::Podman => {
                ["image", "inspect", "--format", "{{range .RepoTags}}{{.}} {{end}}", id]
            }
            EngineKind::Buildah => ["images", "-n", "--format", "{{.Name}}:{{.Tag}}", id],
        };
        let answer = self.ask(&words, SOON, &|| false)?;
        if answer.exit != Exit::Code(0) {
            return Ok(None);
        }
        let names = String::from_utf8_lossy(&answer.stdout).into_owned();
        let names = names.split_whitespace().filter(|name| !name.contains("<none>"));
        Ok(Some(names.map(str::to_owned).collect()))
    }

    fn inspect_words<'w>(&self, image: &'w str) -> Vec<&'w str> {
        match self.kind {
            EngineKind::Docker | EngineKind::Podman => vec!["image", "inspect", image],
            EngineKind::Buildah => vec!["inspect", "--type=image", image],
        }
    }
}
