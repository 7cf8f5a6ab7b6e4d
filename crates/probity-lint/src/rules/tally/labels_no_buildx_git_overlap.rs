//! Labels that Buildx writes.

use probity_dockerfile::{Arguments, Instruction, Pair, RuntimeEntry, Setting};
use probity_finding::{Finding, Fix};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags image labels that Buildx can write from git.
    ///
    /// These labels are `org.opencontainers.image.revision` and
    /// `com.docker.image.source.entrypoint`. If the option `buildx-git-labels` is `full`, the rule
    /// also flags `org.opencontainers.image.source`.
    ///
    /// # Why it is bad
    ///
    /// A revision in a Dockerfile is outdated after the next commit. With `BUILDX_GIT_LABELS=full`,
    /// Buildx writes these labels from the checkout that it builds.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.revision="4f2a1c9" org.opencontainers.image.title="app"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the label. If the build does not set `BUILDX_GIT_LABELS`, the
    /// image then lacks the label.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The label is not the revision, because the author may want the other labels as they are.
    /// - The removed text contains a comment.
    LabelsNoBuildxGitOverlap {
        name: "tally/labels/no-buildx-git-overlap",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/labels/no-buildx-git-overlap/",
    }
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "buildx-git-labels",
    kind: OptionKind::OneOf(&["full", "true", "1", "off", "none", "false", "0"]),
    default: "full",
    about: "Value of `BUILDX_GIT_LABELS` in your builds.",
}];

const REVISION: &str = "org.opencontainers.image.revision";
const ENTRYPOINT: &str = "com.docker.image.source.entrypoint";
const SOURCE: &str = "org.opencontainers.image.source";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let generated: &[&str] = match context.word("buildx-git-labels") {
        "full" => &[REVISION, ENTRYPOINT, SOURCE],
        "true" | "1" => &[REVISION, ENTRYPOINT],
        _ => return,
    };
    let runtime = context.facts.final_runtime();
    for label in runtime.get(Setting::Label) {
        if !generated.contains(&label.entry.key.as_str()) {
            continue;
        }
        let Some((instruction, pair)) = written(context, label) else { continue };
        let message =
            format!("let Buildx write {} from git: set BUILDX_GIT_LABELS", label.entry.key);
        let finding = context.finding(pair.span, message);
        let edit = stage_edits::remove_pair(context, instruction, pair);
        let edit = if label.entry.key == REVISION { edit } else { None };
        let fix = edit.map(|edit| Fix::suggestion("remove the label", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

fn written<'a>(context: &Context<'a>, label: &RuntimeEntry) -> Option<(&'a Instruction, &'a Pair)> {
    let instruction = context.innermost(label.instruction)?;
    let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return None };
    Some((instruction, pairs.iter().find(|pair| pair.span.encloses(label.span))?))
}

#[cfg(test)]
mod tests {
    use crate::{
        OptionValue,
        engine::harness::{check, fixes, run_with},
    };

    const RULE: &str = "tally/labels/no-buildx-git-overlap";

    #[test]
    fn labels_of_the_image_are_underlined() {
        check(
            RULE,
            "\
FROM a AS b
LABEL org.opencontainers.image.revision=1
LABEL org.opencontainers.image.source=x
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ let Buildx write org.opencontainers.image.source from git: set BUILDX_GIT_LABELS
FROM c AS d
LABEL org.opencontainers.image.revision=1
FROM b
LABEL x=y org.opencontainers.image.revision=2
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ let Buildx write org.opencontainers.image.revision from git: set BUILDX_GIT_LABELS
",
        );
    }

    #[test]
    fn the_option_decides_which() {
        let text = "FROM a\nLABEL org.opencontainers.image.source=x\n";
        for (value, count) in [("full", 1), ("true", 0), ("off", 0)] {
            let value = OptionValue::Text(value.to_owned());
            let found = run_with(RULE, text, |rules| {
                rules.set_option(RULE, "buildx-git-labels", &value);
            });
            assert_eq!(found.len(), count, "{value:?}");
        }
    }

    #[test]
    fn only_the_revision_goes() {
        fixes(
            RULE,
            &[
                ("LABEL org.opencontainers.image.revision=1\nCMD a", "CMD a"),
                (
                    "LABEL org.opencontainers.image.source=x",
                    "LABEL org.opencontainers.image.source=x",
                ),
            ],
        );
    }
}
