//! What a stage that starts from nothing may hold.
//!
//! Every file of such a stage was put there by an instruction of the Dockerfile, so that a file that
//! none of them can have made is missing. Where one cannot tell, the file counts as there.

use probity_dockerfile::{Arguments, Base, Command, Keyword, Os, Stage, Step, Text, Transfer};

use crate::engine::context::Context;

/// Whether the stage of an instruction starts from `scratch`, by whatever stages are between.
pub(crate) fn is_bare(context: &Context<'_>, instruction: usize) -> bool {
    let stages = context.facts.stages();
    let root = context.facts.stage_of(instruction).and_then(|stage| stages.get(stage.root));
    root.is_some_and(|root| root.base == Base::Scratch && root.os == Os::Linux)
}

/// Whether there may be a file of this absolute path when an instruction of a bare stage runs.
pub(crate) fn may_hold(context: &Context<'_>, instruction: usize, path: &str) -> bool {
    let stages = context.facts.stages();
    let mut next = context.facts.stage_of(instruction);
    let mut end = instruction;
    while let Some(stage) = next {
        let mut before = stage.instructions.start..end.min(stage.instructions.end);
        if before.any(|index| may_make(context, index, path)) {
            return true;
        }
        end = usize::MAX;
        next = below(stages, stage);
    }
    false
}

fn below<'s>(stages: &'s [Stage], stage: &Stage) -> Option<&'s Stage> {
    match stage.base {
        Base::Stage(base) => stages.get(base),
        _ => None,
    }
}

fn may_make(context: &Context<'_>, index: usize, path: &str) -> bool {
    let Some(instruction) = context.file.instructions.get(index) else { return false };
    match (&instruction.arguments, instruction.keyword) {
        // A shell cannot run where there is none, but a program may make anything.
        (Arguments::Command(Command::Json { .. }), Keyword::Run) => true,
        (Arguments::Command(_), Keyword::Run) => path != "/bin/sh",
        (Arguments::Transfer { .. }, _) => {
            let state = context.facts.state(index);
            let workdir = state.and_then(|state| state.workdir.path.as_deref());
            context.facts.steps(index).iter().any(|step| match step {
                Step::Transfer(transfer) => may_put(transfer, workdir, path),
                _ => false,
            })
        }
        _ => false,
    }
}

fn may_put(transfer: &Transfer, workdir: Option<&str>, path: &str) -> bool {
    let Some(to) = transfer.destination.as_ref() else { return false };
    let to = known(to).and_then(|to| {
        if to.starts_with('/') {
            Some(to.to_owned())
        } else {
            Some(format!("{}/{}", workdir?, to.trim_start_matches("./")))
        }
    });
    let Some(to) = to else { return true };
    if to == path {
        return true;
    }
    let directory = to.trim_end_matches(['/', '.']);
    let Some(rest) = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    transfer.sources.iter().any(|source| may_bring(transfer.keyword, source, directory, rest))
}

/// Whether a source, put into a directory, may bring a file that is called `rest` from there.
fn may_bring(keyword: Keyword, source: &Text, directory: &str, rest: &str) -> bool {
    let Some(source) = known(source) else { return true };
    let name = last_part(source);
    let is_archive =
        [".tar", ".tgz", ".txz", ".tbz"].iter().any(|extension| name.contains(extension));
    let is_pattern = source.contains(['*', '?', '[']);
    // `COPY etc /etc` and `COPY rootfs /` are about directories, and `COPY app /` about a program.
    let is_tree = name.is_empty()
        || name == "."
        || source.ends_with('/')
        || name == last_part(directory)
        || name.contains("root")
        || name.ends_with("fs");
    name == rest || is_pattern || is_tree || (is_archive && keyword == Keyword::Add)
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The value, where it is the same in every build.
fn known(text: &Text) -> Option<&str> {
    text.constant_value()
}
