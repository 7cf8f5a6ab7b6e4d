//! The output directory in a hostile repository: its links lead nowhere, and what git tracks stays.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::json;
use tempfile::TempDir;

use super::{commit, contents, findings, git, probity, recorded, repository, review_in};
use crate::binary::Output;

/// A repository, a directory of the user's beside it, and an agent that finds a defect.
struct Stage {
    repo: TempDir,
    place: TempDir,
    agent: String,
}

impl Stage {
    fn new() -> Self {
        let (repo, place) = (repository(), tempfile::tempdir().unwrap());
        let agent = recorded(place.path(), &json!([findings()[0]]).to_string());
        fs::create_dir(place.path().join("users")).unwrap();
        for name in ["mine", "review.json", "review.md", "ISS-001_averages.test.js"] {
            fs::write(place.path().join("users").join(name), "{}").unwrap();
        }
        Self { repo, place, agent }
    }

    fn users(&self) -> PathBuf {
        self.place.path().join("users")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.repo.path().join(path)
    }

    /// What the repository brings: a link to what is the user's.
    fn link(&self, name: &str, target: &Path) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        symlink(target, self.at(name)).unwrap();
        commit(self.repo.path());
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let state = self.place.path().join("state");
        let cache = self.place.path().join("cache");
        probity()
            .args(["review"])
            .args(arguments)
            .env("XDG_STATE_HOME", state.to_str().unwrap())
            .env("XDG_CACHE_HOME", cache.to_str().unwrap())
            .dir(self.repo.path())
            .run()
    }

    fn review(&self, more: &[&str]) -> Output {
        let usual = ["--agent", &self.agent, "--no-history", "--report-only"];
        self.run(&[&usual[..], more].concat())
    }

    /// Refused, and nothing of the user's or of git's is another than before.
    #[track_caller]
    fn refuses(&self, arguments: &[&str]) -> String {
        let (users, tracked) = (contents(&self.users()), git(self.repo.path(), &["ls-files"]));
        let output = match arguments {
            [first, ..] if !first.starts_with('-') => self.run(arguments),
            _ => self.review(arguments),
        };
        let output = output.code(2);
        assert_eq!(contents(&self.users()), users, "{arguments:?}: {}", output.stderr);
        assert_eq!(git(self.repo.path(), &["ls-files"]), tracked);
        assert_eq!(git(self.repo.path(), &["status", "--porcelain"]), "", "{}", output.stderr);
        format!("{}\n{}", arguments.join(" "), output.stderr)
    }
}

#[test]
fn no_output_of_a_review_goes_through_a_link_of_the_repository() {
    let stage = Stage::new();
    stage.link("away", &stage.users());
    stage.link("file", &stage.users().join("mine"));
    stage.link("linked/review.json", &stage.users().join("review.json"));
    stage.link("inner/tests", &stage.users());
    let refusals: Vec<String> = [
        &["--output", "away"][..],
        &["--output", "away/deeper"],
        &["--output", "file"],
        &["--output", "linked"],
        &["--output", "inner"],
        &["--output", ".git/review"],
        &["--output", "out", "--report", "markdown=away/review.md"],
        &["--output", "out", "--report", "markdown=file"],
        &[
            "ask",
            "--agent",
            &stage.agent,
            "--no-history",
            "--output",
            "out",
            "--out",
            "away/claims",
        ],
    ]
    .into_iter()
    .map(|arguments| {
        let told = stage.refuses(arguments).replace(&stage.agent, "[agent]");
        fs::remove_dir_all(stage.at("out")).ok();
        told
    })
    .collect();
    insta::assert_snapshot!(refusals.join("\n"), @"
    --output away
    error: away is a link of the repository, which may lead anywhere
      help: name another directory with --output

    --output away/deeper
    error: away is a link of the repository, which may lead anywhere
      help: name another directory with --output

    --output file
    error: file is a link of the repository, which may lead anywhere
      help: name another directory with --output

    --output linked
    error: git tracks linked/review.json, and probity would replace or remove it
      help: name another directory with --output, or run `git rm --cached linked/review.json` if it need not be tracked

    --output inner
    error: inner/tests is not a directory
      help: name another directory with --output

    --output .git/review
    error: .git is a git directory, in which nothing is written
      help: name another directory with --output

    --output out --report markdown=away/review.md
    error: away is a link of the repository, which may lead anywhere
      help: name another file, in a directory that exists

    --output out --report markdown=file
    error: file is a link of the repository, which may lead anywhere
      help: name another file, in a directory that exists

    ask --agent [agent] --no-history --output out --out away/claims
    error: away is a link of the repository, which may lead anywhere
      help: name another file, in a directory that exists
    ");
}

#[test]
fn a_review_that_cannot_begin_removes_nothing_behind_a_link() {
    let stage = Stage::new();
    stage.link("review", &stage.users());
    // A review of the user's own, in a place that the repository may guess.
    stage.review(&["--output", stage.users().to_str().unwrap()]).code(0);
    review_in(&stage.users());
    for arguments in [&[][..], &["--config", "missing.yml"], &["--threshold", "eleven"]] {
        stage.refuses(arguments);
    }
}

#[test]
fn what_git_tracks_is_neither_replaced_nor_removed() {
    let mut refusals = Vec::new();
    for name in ["review.json", "review.md", "tests/ISS-001_averages.test.js", "tests"] {
        let stage = Stage::new();
        // A review that names a file of the repository as one of its tests.
        stage.review(&[]).code(0);
        let page = fs::read(stage.at("review/review.json")).unwrap();
        fs::remove_dir_all(stage.at("review")).unwrap();
        let file = stage.at("review").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, if name == "review.json" { page.clone() } else { b"theirs".to_vec() })
            .unwrap();
        commit(stage.repo.path());
        if name != "review.json" {
            fs::write(stage.at("review/.gitignore"), "*\n").unwrap();
            fs::write(stage.at("review/review.json"), &page).unwrap();
        }
        refusals.push(stage.refuses(&[]).trim_start().to_owned());
        assert!(file.is_file(), "{name}");
        // A split index says no less.
        git(stage.repo.path(), &["update-index", "--split-index"]);
        stage.refuses(&[]);
    }
    insta::assert_snapshot!(refusals.join("\n"), @"
    error: git tracks review/review.json, and probity would replace or remove it
      help: name another directory with --output, or run `git rm --cached review/review.json` if it need not be tracked

    error: git tracks review/review.md, and probity would replace or remove it
      help: name another directory with --output, or run `git rm --cached review/review.md` if it need not be tracked

    error: git tracks review/tests/ISS-001_averages.test.js, and probity would replace or remove it
      help: name another directory with --output, or run `git rm --cached review/tests/ISS-001_averages.test.js` if it need not be tracked

    error: review/tests is not a directory
      help: name another directory with --output
    ");
    let stage = Stage::new();
    fs::create_dir(stage.at("docs")).unwrap();
    fs::write(stage.at("docs/index.md"), "theirs").unwrap();
    commit(stage.repo.path());
    for _ in 0..2 {
        stage.review(&["--output", "docs"]).code(0);
    }
    assert_eq!(fs::read_to_string(stage.at("docs/index.md")).unwrap(), "theirs");
    git(stage.repo.path(), &["add", "-f", "docs/review.md"]);
    stage.review(&["--output", "docs"]).code(2);
}

#[test]
fn reports_of_a_written_review_go_through_no_link_either() {
    let stage = Stage::new();
    stage.review(&[]).code(0);
    let review = "review/review.json";
    stage.link("away", &stage.users());
    stage.link("badge.svg", &stage.users().join("mine"));
    fs::create_dir(stage.users().join("deep")).unwrap();
    fs::copy(stage.at(review), stage.users().join("review.json")).unwrap();
    for arguments in [
        &["report", review, "-o", "away/mine"][..],
        &["badge", review, "-o", "badge.svg"],
        &["verdict", "ISS-001", "wont-fix", "--reason", "r", "--report", "away/review.json"],
    ] {
        let told = stage.refuses(arguments);
        assert!(told.contains("is a link of the repository, which may lead anywhere"), "{told}");
    }
}

/// What the user links is the user's affair, and a place outside of the repository as well.
#[test]
fn links_of_the_user_lead_where_the_user_wants() {
    let stage = Stage::new();
    let place = stage.place.path();
    symlink(stage.users(), place.join("to-users")).unwrap();
    let out = place.join("to-users/out");
    let report = format!("markdown={}", place.join("to-users/mine").display());
    stage.review(&["--output", out.to_str().unwrap(), "--report", &report]).code(0);
    review_in(&stage.users().join("out"));
    assert!(fs::read_to_string(stage.users().join("mine")).unwrap().starts_with("## Review"));
    symlink(stage.repo.path(), place.join("to-repo")).unwrap();
    stage.review(&["--output", place.join("to-repo/review").to_str().unwrap()]).code(0);
    review_in(&stage.at("review"));
    assert_eq!(git(stage.repo.path(), &["status", "--porcelain"]), "", "git does not see it");
}
