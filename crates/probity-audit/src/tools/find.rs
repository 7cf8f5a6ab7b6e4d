//! `find_files`: what `find -type f`, perhaps with `-name`, would print.

use probity_scope::{Kind, Scope, WalkLimits};

use super::{
    Target,
    cut::{Output, failed},
    glob,
};

pub(super) const LIMITS: WalkLimits = WalkLimits { depth: 64, entries: 100_000 };

pub(super) fn find_files(scope: &Scope, target: &Target, pattern: Option<&str>) -> String {
    let mut output = Output::default();
    let files = match target.metadata.kind {
        Kind::File => vec![target.path.clone()],
        Kind::Directory => match scope.walk(&target.path, LIMITS, &|_| false) {
            Ok(walk) => walk.files,
            Err(error) => return failed(&format!("find: {error}"), 1),
        },
        Kind::Link | Kind::Special => Vec::new(),
    };
    for file in files {
        let path = file.to_string_lossy();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_wanted = pattern.is_none_or(|pattern| {
            // `-name` never matches a slash; a model that writes one means the path.
            if pattern.contains('/') {
                glob::matches(pattern, &path)
            } else {
                glob::matches(pattern, &name)
            }
        });
        if is_wanted && !output.push(&format!("{path}\n")) {
            break;
        }
    }
    output.end(0)
}
