//! Reading the few files of a build context that rules ask about.

use std::path::{Path, PathBuf};

use probity_dockerfile::Dockerignore;
use probity_lint::{ContextFiles, WantedFiles};
use probity_scope::read_text;

use crate::open_texts::OpenTexts;

/// Entrypoint scripts are short; what is larger is a program.
const LARGEST: u64 = 64 * 1024;

/// Those of the wanted files that exist in a build context and are sent to the builder.
pub(crate) fn read(
    context: &Path,
    wanted: &WantedFiles,
    dockerignore: Option<&Dockerignore>,
    open_texts: &OpenTexts,
) -> ContextFiles {
    if wanted.texts.is_empty() && wanted.names.is_empty() {
        return ContextFiles::default();
    }
    let root = if context.as_os_str().is_empty() { Path::new(".") } else { context };
    let Ok(root) = root.canonicalize() else { return ContextFiles::default() };
    let is_sent =
        |path: &&String| !dockerignore.is_some_and(|ignore| ignore.ignores_copy_source(path));
    let texts = wanted.texts.iter().filter(is_sent).filter_map(|path| {
        let file = find(&root, path)?;
        if let Some(text) = open_texts.get(&file) {
            return Some((path.clone(), text.to_owned()));
        }
        Some((path.clone(), read_text(&file, LARGEST).ok()?))
    });
    let names = wanted.names.iter().filter(is_sent).filter_map(|path| {
        find(&root, path)?;
        Some((path.clone(), String::new()))
    });
    ContextFiles::new(names.chain(texts))
}

/// The file that a path of the context leads to, unless it leads out of the context.
fn find(root: &Path, path: &str) -> Option<PathBuf> {
    let file = root.join(path).canonicalize().ok()?;
    (file.starts_with(root) && file.is_file()).then_some(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_files_that_the_builder_gets_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let context = dir.path().join("context");
        fs::create_dir_all(context.join("docker")).unwrap();
        fs::write(dir.path().join("outside.sh"), "outside").unwrap();
        fs::write(context.join("docker/start.sh"), "inside").unwrap();
        fs::write(context.join("ignored.sh"), "ignored").unwrap();
        fs::write(context.join("large"), "x".repeat(70_000)).unwrap();
        let paths =
            ["docker/start.sh", "../outside.sh", "ignored.sh", "large", "docker", "missing"];
        let texts = paths.iter().map(|path| (*path).to_owned()).collect();
        let wanted = WantedFiles { texts, ..WantedFiles::default() };
        let (ignore, _) = Dockerignore::parse("ignored.sh\n");
        let found = read(&context, &wanted, Some(&ignore), &OpenTexts::default());
        let expected = ContextFiles::new([("docker/start.sh".to_owned(), "inside".to_owned())]);
        assert_eq!(found, expected);
    }
}
