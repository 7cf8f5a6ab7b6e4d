//! Relative working directories that depend on the base image.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Base, Keyword, Os, Stage, Step, Word, is_absolute};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a relative `WORKDIR` that depends on the working directory of the base image.
    ///
    /// This is the first `WORKDIR` of a stage, if the stages it is built from set none either. The
    /// rule flags a path that begins with a variable only if its value is known to be relative. It
    /// checks an `ONBUILD WORKDIR` only if a later stage of the file runs it. With slow checks, it
    /// ignores a stage whose base image sets a working directory other than `/`.
    ///
    /// # Why it is bad
    ///
    /// The path starts at the working directory of the base image. If that image changes its
    /// working directory, everything in the stage moves too. The rule does not report later
    /// relative paths, because an absolute first path also settles those.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nginx:1.27
    /// WORKDIR usr/share/nginx/html
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM nginx:1.27
    /// WORKDIR /usr/share/nginx/html
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nginx:1.27
    /// WORKDIR /usr/share/nginx
    /// WORKDIR html
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix puts a slash before the path. That is correct if the base image works in
    /// `/`, as most do. Otherwise it moves the directory. probity offers no fix for:
    ///
    /// - paths that begin with a variable or a dot;
    /// - stages for Windows;
    /// - a `WORKDIR` after `ONBUILD`.
    WorkdirRelativePath {
        name: "buildkit/WorkdirRelativePath",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        equals: &["hadolint/DL3000"],
        url: "https://docs.docker.com/go/dockerfile/rule/workdir-relative-path/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let stages = context.facts.stages().iter();
    let built_on: HashSet<usize> = stages.filter_map(base_stage).collect();
    for (index, workdir) in context.each_nested() {
        let Arguments::Text(Some(word)) = &workdir.arguments else { continue };
        let Some(stage) = context.facts.stage_of(index) else { continue };
        if workdir.keyword != Keyword::Workdir {
            continue;
        }
        let trigger = matches!(context.facts.steps(index), [Step::Onbuild { .. }]);
        let state = context.facts.state(index);
        let first = state.is_some_and(|state| state.workdir.instruction.is_none());
        let is_known = base_image::sets_workdir(context, index);
        if !first || is_known || (trigger && !built_on.contains(&stage.index)) {
            continue;
        }
        let drives = may_have_drives(context.facts.stages().get(stage.root).unwrap_or(stage));
        let value = context.facts.steps(index).iter().find_map(|step| match step {
            Step::Workdir(path) => path.value.as_deref(),
            _ => None,
        });
        if let Some(path) =
            value.or_else(|| certain_path(word)).filter(|path| is_relative(path, stage.os, drives))
        {
            let message = format!(
                "Relative workdir {path:?} can have unexpected results if the base image changes"
            );
            let finding = context.finding(word.span, message).with_detail(
                "make it absolute, or set an absolute WORKDIR before it; \
                 a relative one is taken from the working directory of the base image",
            );
            let related = stage.image_span.into_iter();
            let finding = related.fold(finding, |finding, base| {
                finding.with_related(base, "this image decides where the path begins")
            });
            let can_be_fixed = !trigger && stage.os == Os::Linux;
            let fix = can_be_fixed.then(|| fix(context.file.text, word)).flatten();
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

fn fix(text: &str, word: &Word) -> Option<Fix> {
    let written = word.span.slice(text)?;
    let path = written.trim_start_matches(['"', '\'']);
    let is_name = path.starts_with(|c: char| c.is_alphanumeric() || "_-".contains(c));
    let edit = Edit::insert(word.span.end - path.len(), "/");
    is_name.then(|| Fix::suggestion("Begin the path with a slash", vec![edit]))
}

fn base_stage(stage: &Stage) -> Option<usize> {
    match stage.base {
        Base::Stage(base) => Some(base),
        _ => None,
    }
}

/// The path as it was written, where its beginning does not depend on a variable.
fn certain_path(word: &Word) -> Option<&str> {
    let path = word.text.trim_matches(['"', '\'']);
    (!path.starts_with('$')).then_some(path)
}

/// A drive letter makes a path absolute on Windows alone.
fn is_relative(path: &str, os: Os, drives: bool) -> bool {
    let drive = is_absolute(path, Os::Windows) && !path.starts_with(['/', '\\']);
    let rooted = is_absolute(path, os) || (drive && drives);
    !rooted
}

/// Whether a stage may be one of Windows: its image says so, or nobody can tell which image it is.
fn may_have_drives(root: &Stage) -> bool {
    let image = root.image.pattern().to_ascii_lowercase();
    let named = ["windows", "nanoserver", "servercore"].iter().any(|part| image.contains(part));
    root.os == Os::Windows || named || image.is_empty() || !root.image.is_constant()
}

#[cfg(test)]
mod tests;
