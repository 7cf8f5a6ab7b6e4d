//! Which file names are taken from a directory for Dockerfiles.
//!
//! | taken | examples |
//! |---|---|
//! | the name itself, in whatever case | `Dockerfile`, `containerfile`, `DOCKERFILE` |
//! | a variant behind it, divided by `.`, `-` or `_` | `Dockerfile.dev`, `containerfile-arm64` |
//! | a variant before it, divided by `.` | `api.Dockerfile`, `api.CONTAINERFILE` |
//!
//! In another case than the usual one a name with one of the [`SOURCE_ENDINGS`] is not taken:
//! `dockerfile.go` and `dockerfile_test.py` are programs about Dockerfiles far more often than
//! Dockerfiles. `Dockerfile.go` is one for Go. Never taken are hidden names, backups, and the endings
//! of [`OTHER_ENDINGS`].

use std::path::Path;

const NAMES: [&str; 2] = ["Dockerfile", "Containerfile"];

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

/// Endings of programs, of what they read, and of what is made of them.
const SOURCE_ENDINGS: [&str; 58] = [
    "c", "cc", "class", "cpp", "cs", "css", "csv", "dart", "ex", "exe", "exs", "fs", "gif", "go",
    "gz", "h", "hpp", "hs", "ini", "ipynb", "java", "jpg", "js", "json", "json5", "jsonc", "jsx",
    "kt", "log", "lua", "mdx", "mjs", "nix", "o", "pdf", "php", "pl", "png", "ps1", "py", "pyc",
    "rb", "rs", "scala", "scss", "sh", "snap", "svg", "swift", "toml", "ts", "tsx", "txt", "vim",
    "vue", "xml", "yaml", "yml",
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
    if is_the_name(&name) {
        return true;
    }
    let Some((_, ending)) = name.rsplit_once('.') else {
        return variant_behind(&name).is_some();
    };
    if is_the_name(ending) {
        return true;
    }
    let is_one_of = |table: &[&str]| table.iter().any(|other| other.eq_ignore_ascii_case(ending));
    match variant_behind(&name) {
        Some(Case::Usual) => !is_one_of(&OTHER_ENDINGS),
        Some(Case::Other) => !is_one_of(&OTHER_ENDINGS) && !is_one_of(&SOURCE_ENDINGS),
        None => false,
    }
}

fn is_the_name(text: &str) -> bool {
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(text))
}

/// How the name before a variant is written.
enum Case {
    Usual,
    Other,
}

fn variant_behind(name: &str) -> Option<Case> {
    NAMES.iter().find_map(|known| {
        let (stem, rest) = name.split_at_checked(known.len())?;
        let variant = rest.strip_prefix(['.', '-', '_'])?;
        if variant.is_empty() || !stem.eq_ignore_ascii_case(known) {
            return None;
        }
        Some(if stem == *known { Case::Usual } else { Case::Other })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dockerfiles_are_told_from_names_of_their_neighbours() {
        let taken = "Dockerfile dockerfile Containerfile containerfile Dockerfile.dev \
            Dockerfile.go Dockerfile-1.22 Dockerfile_gpu Containerfile.debug Containerfile-arm64 \
            api.Dockerfile api.dockerfile a.b.Containerfile a.containerfile Dockerfile.Dockerfile \
            DOCKERFILE DockerFile dockerfile.prod prod.DOCKERFILE CONTAINERFILE.arm64 \
            dockerfile-1.22";
        let left = "Dockerfile. Dockerfile- dockerfile. Dockerfiles MyDockerfile \
            dockerfile.go dockerfile.rs DOCKERFILE.TS dockerfile.json dockerfile.yaml dockerfile.md \
            dockerfile-parser.js dockerfile_test.py dockerfile.tmpl .Dockerfile .dockerfile \
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
