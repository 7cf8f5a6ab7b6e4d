//! Which files commits have changed together.

use std::collections::{BTreeMap, BTreeSet};

use super::{Git, GitError};

/// Commits that are looked at, the newest ones.
const MOST_COMMITS: &str = "--max-count=1000";

/// A commit that changes more files says nothing about two of them.
const MOST_FILES: usize = 30;

/// What happened once may be chance, such as the first commit of a repository.
const LEAST_TIMES: usize = 2;

/// The files of the newest commits, commit by commit.
#[derive(Debug, Default)]
pub(crate) struct History {
    commits: Vec<BTreeSet<String>>,
}

impl History {
    /// What git knows of a repository; nothing where it knows nothing.
    pub(crate) fn of(git: &Git) -> Result<Self, GitError> {
        let told = git.ask(&[
            "log",
            MOST_COMMITS,
            "--no-merges",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--relative",
            "--name-only",
            "--format=%x00",
        ])?;
        Ok(Self::read(&told))
    }

    fn read(told: &str) -> Self {
        let commit = |files: &str| -> BTreeSet<String> {
            files.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let commits = told.split('\0').map(commit);
        Self { commits: commits.filter(|files| (2..=MOST_FILES).contains(&files.len())).collect() }
    }

    /// So many of the wanted files that changed most often together with this one, the most often
    /// first.
    pub(crate) fn together(
        &self,
        file: &str,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for commit in self.commits.iter().filter(|files| files.contains(file)) {
            for other in commit.iter().filter(|other| *other != file && is_wanted(other)) {
                *times.entry(other).or_default() += 1;
            }
        }
        let mut found: Vec<(&str, usize)> =
            times.into_iter().filter(|(_, times)| *times >= LEAST_TIMES).collect();
        found.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        found.into_iter().take(most).map(|(file, _)| file.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn files_that_often_change_together_are_found() {
        let many: String = (0..40).map(|number| format!("many{number}.py\n")).collect();
        let told = format!(
            "\0\n\na.py\ntests/test_cli.py\n\0\n\na.py\ntests/test_cli.py\ntests/test_x.py\n\
             \0\n\na.py\ntests/test_x.py\n\0\n\na.py\ntests/test_cli.py\nREADME.md\n\
             \0\n\na.py\ntests/test_once.py\n\0\n\n{many}a.py\ntests/test_once.py\n"
        );
        let history = History::read(&told);
        let is_test = |name: &str| name.contains("test_");
        let together = |most| history.together("a.py", most, is_test);
        assert_eq!(together(9), ["tests/test_cli.py", "tests/test_x.py"]);
        assert_eq!(together(1), ["tests/test_cli.py"]);
        assert_eq!(history.together("b.py", 9, is_test), [""; 0]);
    }
}
