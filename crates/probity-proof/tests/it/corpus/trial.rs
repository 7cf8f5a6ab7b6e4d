//! Puts cases into repositories, as many into each as belong together, and has them tried.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use probity_proof::{Claim, ProofOptions, Verdict, WithoutFix, Workshop};
use tempfile::TempDir;

use super::{Case, Language};
use crate::tools;

/// Cases in one repository.
const TOGETHER: usize = 12;

/// Tries all cases, and gives each with its verdict to `on_done`.
pub(crate) fn try_all(
    language: &Language,
    cases: &[Case],
    mut on_done: impl FnMut(&Case, Verdict),
) {
    let mut by_layout: BTreeMap<usize, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        by_layout.entry(case.layout).or_default().push(case);
    }
    for (layout, cases) in by_layout {
        for cases in cases.chunks(TOGETHER) {
            let verdicts = try_together(language, layout, cases);
            for (case, verdict) in cases.iter().zip(verdicts) {
                on_done(case, verdict);
            }
        }
    }
}

fn try_together(language: &Language, layout: usize, cases: &[&Case]) -> Vec<Verdict> {
    let directory = repository(language, layout, cases);
    let workshop = Workshop::prepare(options(directory.path()), &|_| {}).unwrap();
    assert_eq!(workshop.notes(), [], "{}", language.name);
    let claims: Vec<Claim> = cases.iter().map(|case| case.claim.clone()).collect();
    workshop.prove_all(&claims, WithoutFix::Alter, &|_, _| {})
}

/// A repository that has the files of these cases.
pub(crate) fn repository(language: &Language, layout: usize, cases: &[&Case]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let modules: Vec<&str> = cases.iter().map(|case| case.module.as_str()).collect();
    let common = (language.common)(layout, &modules);
    for (path, text) in common.iter().chain(cases.iter().flat_map(|case| &case.files)) {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    if language.name == "javascript" {
        tools::install_packages(directory.path());
        fs::write(directory.path().join(".gitignore"), "node_modules\n").unwrap();
    }
    directory
}

fn options(repo: &Path) -> ProofOptions {
    let mut options = tools::options(repo);
    options.test_timeout = Duration::from_secs(20);
    options
}
