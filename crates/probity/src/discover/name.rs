//! Which file names are taken from a directory for Dockerfiles.
//!
//! | taken | examples |
//! |---|---|
//! | the name itself, as usual or in lower case | `Dockerfile`, `containerfile` |
//! | a variant behind it, divided by `.`, `-` or `_` | `Dockerfile.dev`, `Containerfile-arm64` |
//! | a variant before it, divided by `.` | `api.Dockerfile`, `api.containerfile` |
//!
//! A variant behind a lower-case name is not taken: `dockerfile.go` and `dockerfile_test.py` are
//! programs about Dockerfiles far more often than Dockerfiles. `Dockerfile.go` is one for Go.
//! Never taken are hidden names, backups, and the endings of [`OTHER_ENDINGS`].

use std::path::Path;

const NAMES: [&str; 4] = ["Dockerfile", "Containerfile", "dockerfile", "containerfile"];

/// Endings that say that a file is about a Dockerfile, or will become one, but is none.
const OTHER_ENDINGS: [&str; 31] = [
    // Ignore lists of one Dockerfile.
    "dockerignore",
    "containerignore",
    // Documentation.
    "adoc",
    "html",
    "markdown",
    "md",
    "rst",
    // Templates, whose placeholders no parser of Dockerfiles understands.
    "ejs",
    "erb",
    "gotmpl",
    "hbs",
    "in",
    "j2",
    "jinja",
    "jinja2",
    "liquid",
    "mustache",
    "template",
    "tmpl",
    "tpl",
    // Leftovers of editors, merges and patches.
    "bak",
    "diff",
    "old",
    "orig",
    "patch",
    "rej",
    "save",
    "swo",
    "swp",
    "tmp",
    "temp",
];

/// Whether a file that a walk met is a Dockerfile by its name.
pub(super) fn counts(place: &Path) -> bool {
    // Names that are not UTF-8 keep their readable parts, and only these decide.
    let Some(name) = place.file_name().map(|name| name.to_string_lossy()) else {
        return false;
    };
    if name.starts_with('.') || name.ends_with('~') {
        return false;
    }
    if NAMES.contains(&name.as_ref()) {
        return true;
    }
    let Some((_, ending)) = name.rsplit_once('.') else {
        return has_variant_behind(&name);
    };
    if NAMES.contains(&ending) {
        return true;
    }
    !OTHER_ENDINGS.iter().any(|other| other.eq_ignore_ascii_case(ending))
        && has_variant_behind(&name)
}

fn has_variant_behind(name: &str) -> bool {
    ["Dockerfile", "Containerfile"].iter().any(|known| {
        let variant = name.strip_prefix(known).and_then(|rest| rest.strip_prefix(['.', '-', '_']));
        variant.is_some_and(|variant| !variant.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dockerfiles_are_told_from_names_of_their_neighbours() {
        let taken = "Dockerfile dockerfile Containerfile containerfile Dockerfile.dev \
            Dockerfile.go Dockerfile-1.22 Dockerfile_gpu Containerfile.debug Containerfile-arm64 \
            api.Dockerfile api.dockerfile a.b.Containerfile a.containerfile Dockerfile.Dockerfile";
        let left = "Dockerfile. Dockerfile- DOCKERFILE DockerFile Dockerfiles MyDockerfile \
            dockerfile.go dockerfile-parser.js dockerfile_test.py .Dockerfile .dockerfile \
            .Dockerfile.swp Dockerfile~ Dockerfile.dev~ Dockerfile.dockerignore \
            api.Dockerfile.dockerignore Dockerfile.md Dockerfile.MD Dockerfile.tmpl \
            Dockerfile.dev.j2 Dockerfile-dev.template Dockerfile.orig Dockerfile.rej \
            Dockerfile.swp Dockerfile.in api.Dockerfile.bak README.md #Dockerfile#";
        let counted = |names: &'static str| -> Vec<&'static str> {
            names.split_whitespace().filter(|name| counts(Path::new(name))).collect()
        };
        assert_eq!(counted(taken), taken.split_whitespace().collect::<Vec<_>>());
        assert_eq!(counted(left), Vec::<&str>::new());
    }
}
