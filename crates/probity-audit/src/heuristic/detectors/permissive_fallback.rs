//! Permissive fallback: a purpose is accepted without any condition.

use super::{Class, HandlerPaths, Hit, Location, Project, Risk};

pub(super) const CLASS: Class = Class {
    name: "permissive-fallback",
    title: "Handler accepts everything",
    severity: Risk::High,
    summary: "A handler accepts every transaction, while another handler of the same validator \
              guards something. Anyone can use the script's credential for the open purpose.",
    recommendation: "Write `fail` in the fallback, and give each purpose that the protocol needs \
                     its own conditions.",
    detect,
};

fn detect(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let open = !handler.exhausted && handler.paths.iter().any(|path| path.facts.is_empty());
    let others = project.handlers.iter().filter(|other| other.validator == handler.validator);
    let guarded = others.into_iter().any(|other| {
        !other.paths.is_empty() && other.paths.iter().all(|path| !path.facts.is_empty())
    });
    if !open || !guarded {
        return Vec::new();
    }
    vec![Hit::at(Location { file: handler.file, span: handler.span })]
}
