//! Questions about images, in the words of each client: buildah's differ from docker's and podman's.

use super::{Engine, EngineKind, Interrupt, SOON};
use crate::{
    ImageError, Leftover,
    configuration::{self, Described},
};
use probity_sandbox::Exit;

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
