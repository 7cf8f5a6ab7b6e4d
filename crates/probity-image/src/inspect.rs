//! Reading an image of an engine without running anything of it.

use std::{fs, path::Path};

use crate::{
    EngineKind, Image, ImageError, Root, Workbench,
    engine::{Interrupt, SOON},
};

/// Its configuration and its files; `name` keeps the files of several images apart.
///
/// # Errors
///
/// If the engine does not have the image or cannot export it.
pub fn inspect(
    bench: &Workbench,
    name: &str,
    image: &str,
    interrupt: Interrupt<'_>,
) -> Result<Image, ImageError> {
    let engine = &bench.engine;
    let described = engine.describe(image, interrupt)?;
    bench.reserve(described.size)?;
    let archive = bench.directory.path().join(format!("{name}.tar"));
    match engine.kind {
        EngineKind::Docker | EngineKind::Podman => {
            export(bench, name, &described.id, &archive, interrupt)?;
        }
        EngineKind::Buildah => export_by_build(bench, name, &described.id, &archive, interrupt)?,
    }
    let root = Root::read(&archive).map_err(ImageError::io(format!("the files of {image}")))?;
    // The open file stays readable, and the disk is free as soon as it is closed.
    fs::remove_file(&archive).map_err(ImageError::io(archive.display().to_string()))?;
    let steps = steps(&engine.history(image, interrupt)?);
    Ok(Image { configuration: described.configuration, root, size: described.size, steps })
}

fn export(
    bench: &Workbench,
    name: &str,
    id: &str,
    archive: &Path,
    interrupt: Interrupt<'_>,
) -> Result<(), ImageError> {
    let engine = &bench.engine;
    let container = format!("probity-proof-{}-{name}", bench.owner);
    let label = bench.label();
    // Never started; an image without a command needs one to become a container.
    let create = [
        "create",
        "--name",
        &container,
        "--label",
        &label,
        "--network=none",
        "--entrypoint",
        "/probity",
        id,
    ];
    engine.must(&create, SOON, interrupt)?;
    let shown = archive.display().to_string();
    engine.must(&["export", "-o", &shown, &container], SOON * 5, interrupt)?;
    engine.must(&["rm", "-v", &container], SOON, interrupt)?;
    Ok(())
}

/// buildah exports what it builds: here an image that has nothing but the other.
///
/// `buildah mount` would do for root alone.
fn export_by_build(
    bench: &Workbench,
    name: &str,
    id: &str,
    archive: &Path,
    interrupt: Interrupt<'_>,
) -> Result<(), ImageError> {
    let context = bench.directory.path().join(format!("{name}.empty"));
    fs::create_dir_all(&context).map_err(ImageError::io(context.display().to_string()))?;
    let file = bench.directory.path().join(format!("{name}.export"));
    fs::write(&file, format!("FROM {id}\n")).map_err(ImageError::io(file.display().to_string()))?;
    let (label, output) = (bench.label(), format!("type=tar,dest={}", archive.display()));
    let (file, context) = (file.display().to_string(), context.display().to_string());
    let words = [
        "build",
        "--pull=never",
        "--format=docker",
        "--label",
        &label,
        "--output",
        &output,
        "-f",
        &file,
        &context,
    ];
    bench.engine.must(&words, SOON * 5, interrupt).map(drop)
}

/// What `RUN` instructions ran. Builders mark the others, or begin with their names.
fn steps(history: &str) -> Vec<String> {
    const OTHERS: [&str; 16] = [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
    ];
    let is_step = |line: &&str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        !line.contains("#(nop)") && first != "WORKDIR" && !OTHERS.contains(&first)
    };
    history.lines().filter(is_step).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn steps_are_what_was_run() {
        let history = "CMD [\"app\"]\nRUN /bin/sh -c make all # buildkit\nCOPY . /src # buildkit\n\
                       /bin/sh -c #(nop)  ENV A=b\n/bin/sh -c cp a b\n|1 V=2 /bin/sh -c ./gen\n\
                       WORKDIR /src\n";
        assert_eq!(
            steps(history),
            ["RUN /bin/sh -c make all # buildkit", "/bin/sh -c cp a b", "|1 V=2 /bin/sh -c ./gen"]
        );
    }
}
