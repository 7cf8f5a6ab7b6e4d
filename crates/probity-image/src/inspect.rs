//! Reading an image of an engine without running anything of it.

use crate::{
    Image, ImageError, Root, Workbench, configuration,
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
    let answer = engine.must(&["image", "inspect", image], SOON, interrupt)?;
    let described = configuration::read(&answer)?;
    bench.reserve(described.size)?;
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
        &described.id,
    ];
    engine.must(&create, SOON, interrupt)?;
    let archive = bench.directory.path().join(format!("{name}.tar"));
    let shown = archive.display().to_string();
    engine.must(&["export", "-o", &shown, &container], SOON * 5, interrupt)?;
    engine.must(&["rm", "-v", &container], SOON, interrupt)?;
    let root = Root::read(&archive).map_err(ImageError::io(format!("the files of {image}")))?;
    // The open file stays readable, and the disk is free as soon as it is closed.
    std::fs::remove_file(&archive).map_err(ImageError::io(shown))?;
    let history = ["history", "--no-trunc", "--format", "{{.CreatedBy}}", image];
    let history = engine.must(&history, SOON, interrupt)?;
    let steps = steps(&String::from_utf8_lossy(&history));
    Ok(Image { configuration: described.configuration, root, size: described.size, steps })
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
