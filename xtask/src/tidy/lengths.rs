//! How long the files are.

use super::{
    Problem,
    workspace::{Source, Workspace},
};

/// Above this a file is mentioned.
const LONG: usize = 500;
/// Above this it is refused.
const TOO_LONG: usize = 800;

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    workspace.sources.iter().filter_map(problem).collect()
}

fn problem(source: &Source) -> Option<Problem> {
    let lines = source.text.lines().count();
    if lines > TOO_LONG {
        return Some(Problem::new(
            &source.path,
            None,
            format!("{lines} lines; no file may have more than {TOO_LONG}"),
            "nobody reads a file of that length: split it by meaning into `name.rs` and `name/`",
        ));
    }
    (lines > LONG).then(|| {
        let why = "it is easier to split now than at the limit: find what it is about, and take \
                   the rest out";
        Problem::new(&source.path, None, format!("{lines} lines, above {LONG}"), why).into_note()
    })
}
