//! Changes to a directory that is a volume already.

use probity_dockerfile::{Keyword, Os, Setting};
use probity_finding::{Finding, Span};
use probity_shell::{Command, Word};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` command that changes a directory after a `VOLUME` has declared it.
    ///
    /// The `VOLUME` can be in the same stage or in a stage that this one is based on. The rule
    /// reports at most one command for each `RUN`.
    ///
    /// # Why it is bad
    ///
    /// podman, buildah and Docker without BuildKit discard such changes when the `RUN` ends. The
    /// directory is missing or keeps its old owner, and the build still succeeds. Declare the
    /// volume after the last change.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// VOLUME /var/lib/app
    /// RUN mkdir -p /var/lib/app/data && chown -R 999 /var/lib/app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN mkdir -p /var/lib/app/data && chown -R 999 /var/lib/app
    /// VOLUME /var/lib/app
    /// ```
    ChangeAfterVolume {
        name: "probity/change-after-volume",
        severity: Warning,
        category: Correctness,
    }
}

/// Programs that change the files they are given.
const CHANGES: &[&str] =
    &["chgrp", "chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "tar", "touch", "unzip"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.each(Keyword::Volume).next().is_none() {
        return;
    }
    for (index, _) in context.each(Keyword::Run) {
        let volumes = volumes_before(context, index);
        if volumes.is_empty() {
            continue;
        }
        let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
        // One report is enough: the cure is to move one `VOLUME`.
        let first = commands.find_map(|command| Some((command, changed(command, &volumes)?)));
        findings.extend(first.map(|(command, volume)| {
            let message = format!(
                "`{}` is a volume already, so some builders discard this change; move `VOLUME` after \
                 this `RUN`",
                volume.path
            );
            context.finding(command.span, message).with_related(volume.span, "declared here")
        }));
    }
}

struct Volume {
    path: String,
    span: Span,
}

fn volumes_before(context: &Context<'_>, index: usize) -> Vec<Volume> {
    let stage = context.facts.stage_of(index);
    let Some(stage) = stage.filter(|stage| stage.os == Os::Linux) else { return Vec::new() };
    let configs = context.with_bases(stage).filter_map(|stage| context.facts.config(stage.index));
    let declared = configs.flat_map(|config| config.get(Setting::Volume));
    let earlier = declared.filter(|entry| entry.instruction < index);
    let volumes = earlier.map(|entry| {
        let path = entry.entry.key.trim_end_matches('/').to_owned();
        Volume { path, span: entry.span }
    });
    volumes.filter(|volume| volume.path.starts_with('/')).collect()
}

/// The volume that a command changes.
fn changed<'v>(command: &Command, volumes: &'v [Volume]) -> Option<&'v Volume> {
    let call = command.effective();
    if !call.is_any(CHANGES) {
        return None;
    }
    // Copies write only to their last argument.
    let copies = call.is_any(&["cp", "install", "ln", "mv"])
        && !call.has_flag(&["-d", "--directory", "-t", "--target-directory"]);
    let skipped = if copies { call.args().len().saturating_sub(1) } else { 0 };
    let is_below = |path: &str, volume: &Volume| {
        let rest = path.strip_prefix(volume.path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut paths = call.args().iter().skip(skipped).filter_map(Word::pattern);
    paths.find_map(|path| volumes.iter().find(|volume| is_below(&path, volume)))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/change-after-volume";

    fn says(path: &str) -> String {
        format!(
            "`{path}` is a volume already, so some builders discard this change; move `VOLUME` after \
             this `RUN`"
        )
    }

    #[test]
    fn the_first_change_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a AS b
VOLUME [\"/x\", \"/y/\"]
RUN a && mkdir -p /y/data && chown -R c /y
         ^^^^^^^^^^^^^^^^ {}
FROM b
RUN cp d /x/d
    ^^^^^^^^^ {}
",
                says("/y"),
                says("/x")
            ),
        );
    }

    #[test]
    fn earlier_and_other_changes_are_silent() {
        for text in [
            "RUN mkdir /x\nVOLUME /x",
            "VOLUME /x\nRUN mkdir /xy && cp /x/a /b && ls /x && rm -rf /x/tmp",
            "VOLUME /x\nCOPY a /x/",
            "VOLUME /x\nFROM b\nRUN mkdir /x",
            "VOLUME /x\nRUN mkdir $D",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
