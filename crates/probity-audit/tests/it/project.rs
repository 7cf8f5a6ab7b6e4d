//! Projects to be audited.

use std::{fs, path::Path};

use probity_audit::{
    PermissionPrompt, ReadScope, ReadTools, Report, ReportOptions, Request, Rules, State,
    ToolOptions,
};
use tempfile::TempDir;

pub(crate) const SPEND: &str = "validator spend {\n  spend(datum, redeemer, ref, self) {\n    expect InlineDatum(_) = output.datum\n    lovelace_of(output.value) == datum.price\n  }\n}\n";

pub(crate) fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// The report on an audit, without a baseline.
pub(crate) fn report(root: &Path, state: &State) -> Report {
    let how = ReportOptions {
        root,
        generated_at: "now".to_owned(),
        baseline: None,
        rules: Rules::Probity,
        heeds_ignores: true,
        scope: None,
    };
    Report::new(state, &how)
}

pub(crate) fn tools(root: &Path, scope: ReadScope, sources: &[&str]) -> ReadTools {
    let sources: Vec<String> = sources.iter().map(|source| (*source).to_owned()).collect();
    let permission = PermissionPrompt::new(scope, false, false, &sources);
    let options = ToolOptions {
        numbered: false,
        allow_sensitive: false,
        allow_ignored: false,
        rules: Rules::Specification,
    };
    ReadTools::open(root, &sources, permission, options).unwrap()
}

/// The output, or the refusal.
pub(crate) fn told(tools: &ReadTools, request: &Request) -> String {
    // Nobody is asked here; if somebody were, the request would be denied.
    match tools.execute(request, &|_, _| false) {
        Ok(reading) => reading.text,
        Err(error) => format!("refused: {error}"),
    }
}

pub(crate) fn read(path: &str) -> Request {
    Request::ReadFile { path: path.to_owned(), offset: 1, limit: None }
}

pub(crate) fn grep(pattern: &str, path: &str, context_lines: usize) -> Request {
    Request::Grep { pattern: pattern.to_owned(), path: path.to_owned(), context_lines }
}

pub(crate) fn list(path: &str) -> Request {
    Request::ListDir { path: path.to_owned() }
}

pub(crate) fn find(path: &str, glob: Option<&str>) -> Request {
    Request::FindFiles { path: path.to_owned(), glob: glob.map(str::to_owned) }
}
