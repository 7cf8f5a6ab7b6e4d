//! The name `hadolint`, beside the program whose name it is.

mod agreement;
pub(crate) mod differences;
mod formats;
mod generated;
pub(crate) mod generator;
mod options;

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::binary::{Output, directory, named, tools};

/// A Dockerfile whose findings have one line each, and none of ShellCheck's.
const PLAIN: &str = "\
FROM debian
LABEL maintainer=\"me\" a..b=c
MAINTAINER me <me@example.com> & \"co\"
RUN apt-get install foo
USER root
# hadolint ignore=DL3004
RUN sudo true
COPY --from=nowhere a /b
";

/// What one run depends on.
#[derive(Clone, Copy, Default)]
struct Case<'a> {
    args: &'a [&'a str],
    env: &'a [(&'a str, &'a str)],
    /// `.hadolint.yaml` beside the file.
    config: Option<&'a str>,
}

impl Case<'_> {
    fn ours(&self, dir: &Path) -> Output {
        let run = named("hadolint").dir(dir).args(self.args);
        self.env.iter().fold(run, |run, (key, value)| run.env(key, value)).run()
    }

    fn theirs(&self, dir: &Path) -> Output {
        let output = Command::new(tools().join("python/bin/hadolint"))
            .current_dir(dir)
            .env_clear()
            .envs([("HOME", "/nowhere"), ("LANG", "C.UTF-8")])
            .envs(self.env.iter().copied())
            .args(self.args)
            .output()
            .unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn directory(&self) -> tempfile::TempDir {
        let mut files = vec![
            ("Dockerfile", PLAIN),
            ("clean.Dockerfile", "FROM debian:12\nUSER 1000\n"),
            ("broken.Dockerfile", "FROM debian:12\nCOPY\n"),
        ];
        files.extend(self.config.map(|text| (".hadolint.yaml", text)));
        directory(&files)
    }
}

/// Lines, codes, levels and messages, in one order.
fn findings(json: &str) -> Vec<(u64, String, String, String)> {
    let items: Vec<Value> = serde_json::from_str(json).unwrap();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    let mut all: Vec<_> = items
        .iter()
        .map(|item| {
            let line = item["line"].as_u64().unwrap();
            (line, text(item, "code"), text(item, "level"), text(item, "message"))
        })
        .collect();
    all.sort();
    all
}
