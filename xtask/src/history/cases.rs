//! The cases: one file a project, each with the fixes that are tried.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// A project and its fixes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    /// The file's own.
    #[serde(skip)]
    pub(super) name: String,
    /// Owner and name where it is published.
    pub(super) repository: String,
    pub(super) language: String,
    /// What its tests need of the registry of its language.
    pub(super) packages: Vec<String>,
    #[serde(rename = "pair")]
    pub(super) pairs: Vec<Pair>,
}

/// The code before a fix and after it, with a test for each side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    pub(super) fix: String,
    pub(super) file: String,
    /// Of the defect, before the fix.
    pub(super) line: u32,
    /// Of the same place, after it.
    pub(super) fixed_line: u32,
    pub(super) title: String,
    pub(super) reversed_title: String,
    pub(super) test_file: String,
    pub(super) test_name: String,
    /// Fails before the fix and passes after it.
    pub(super) test: String,
    /// Passes before the fix and fails after it.
    pub(super) reversed_test: String,
}

/// All projects, by language and name.
pub(super) fn read(directory: &Path) -> Result<Vec<Project>, String> {
    let mut projects = Vec::new();
    for language in entries(directory)?.into_iter().filter(|path| path.is_dir()) {
        for path in entries(&language)? {
            projects.push(project(&path)?);
        }
    }
    Ok(projects)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn project(path: &Path) -> Result<Project, String> {
    let failed = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let mut project: Project = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    project.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_commit =
        |text: &str| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match project.pairs.iter().find(|pair| !is_commit(&pair.fix)) {
        Some(pair) => Err(failed(format!("`{}` is not a full commit id", pair.fix))),
        None => Ok(project),
    }
}

impl Project {
    /// Every second project by a hash of its name: nobody chooses its half.
    pub(super) fn half(&self) -> &'static str {
        let sum = self
            .repository
            .bytes()
            .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        if sum.count_ones().is_multiple_of(2) { "reporting" } else { "tuning" }
    }

    /// The git directory of the project in a folder of histories.
    pub(super) fn history(&self, clones: &Path) -> Option<PathBuf> {
        let (owner, name) = self.repository.split_once('/')?;
        let places = [format!("{owner}+{name}"), self.repository.clone(), name.to_owned()];
        places.iter().map(|place| clones.join(place)).find_map(|place| git_directory(&place))
    }

    /// What begins a comment in its language.
    pub(super) fn comment(&self) -> &'static str {
        if self.language == "python" { "#" } else { "//" }
    }

    /// Whether a file is the program's own, and no test, page or setting.
    pub(super) fn is_production(&self, path: &str) -> bool {
        let endings: &[&str] = match self.language.as_str() {
            "python" => &["py"],
            "javascript" => &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"],
            "rust" => &["rs"],
            "go" => &["go"],
            _ => &["java"],
        };
        let is_test = |part: &str| {
            let words = part.split(|mark: char| !mark.is_alphanumeric());
            words.into_iter().any(|word| ["test", "tests", "spec", "specs"].contains(&word))
                || part == "__tests__"
                || part.ends_with("Test.java")
        };
        let has_ending = path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
        has_ending && !path.split('/').any(is_test)
    }
}

/// A bare repository, a checkout, or a folder with one of them.
fn git_directory(place: &Path) -> Option<PathBuf> {
    let is_git = |path: &Path| path.join("objects").is_dir() && path.join("HEAD").is_file();
    let within = entries(place).ok()?;
    [place.to_owned(), place.join(".git")].into_iter().chain(within).find(|path| is_git(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_cases_of_each_language() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eval/history");
        let projects = read(&root).unwrap();
        let pairs = |language: &str| -> usize {
            let own = projects.iter().filter(|project| project.language == language);
            own.map(|project| project.pairs.len()).sum()
        };
        for (language, least) in
            [("python", 20), ("javascript", 20), ("rust", 20), ("go", 20), ("java", 10)]
        {
            assert!(pairs(language) >= least, "{language}: {}", pairs(language));
        }
        assert!(projects.len() >= 40, "{}", projects.len());
        let halves = ["reporting", "tuning"]
            .map(|half| projects.iter().filter(|project| project.half() == half).count());
        assert!(halves.iter().all(|count| *count >= 15), "{halves:?}");
    }

    #[test]
    fn files_of_the_program_are_told_from_tests() {
        let project = |language: &str| Project {
            name: String::new(),
            repository: "a/b".to_owned(),
            language: language.to_owned(),
            packages: Vec::new(),
            pairs: Vec::new(),
        };
        for (language, path, expected) in [
            ("python", "src/click/core.py", true),
            ("python", "tests/test_core.py", false),
            ("python", "src/click/testing.py", true),
            ("python", "CHANGES.rst", false),
            ("javascript", "lib/a.js", true),
            ("javascript", "src/a.test.ts", false),
            ("javascript", "src/__tests__/a.ts", false),
            ("go", "mux_test.go", false),
            ("rust", "src/lib.rs", true),
            ("rust", "tests/it/main.rs", false),
            ("java", "src/main/java/a/B.java", true),
            ("java", "src/test/java/a/BTest.java", false),
        ] {
            assert_eq!(project(language).is_production(path), expected, "{path}");
        }
    }
}
