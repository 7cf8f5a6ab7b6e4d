//! Labels that are missing.

use probity_dockerfile::Base;
use probity_finding::Finding;

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::labels,
};

rule! {
    /// # What it does
    ///
    /// Flags an image without one of the required labels.
    ///
    /// The option `labels` lists the required labels. If the list is empty, the rule reports
    /// nothing. The rule checks only the final image, including the labels of the stages that it is
    /// based on. hadolint checks every stage.
    ///
    /// # Why it is bad
    ///
    /// People and tools that search for the label do not find the image.
    ///
    /// # Examples
    ///
    /// With `labels = ["maintainer"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// CMD ["app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL maintainer="me@example.com"
    /// ```
    Dl3049 {
        name: "hadolint/DL3049",
        severity: Info,
        category: BestPractice,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Required labels.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3049",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let listed = context.list("labels");
    let Some(last) = context.facts.final_stage() else { return };
    let mut stages = vec![last.index];
    while let Some(Base::Stage(base)) =
        stages.last().and_then(|stage| context.facts.stages().get(*stage)).map(|it| &it.base)
    {
        stages.push(*base);
    }
    let labels = labels::all(context);
    let has = |key: &String| {
        labels.iter().any(|label| {
            label.key == *key && label.stage.is_some_and(|stage| stages.contains(&stage))
        })
    };
    let place = last.image_span.or(context
        .file
        .instructions
        .get(last.instruction)
        .map(|instruction| instruction.keyword_span()));
    for missing in listed.iter().filter(|key| !has(key)) {
        if let Some(place) = place {
            findings.push(context.finding(place, format!("label {missing} is missing")));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3049";

    #[test]
    fn the_image_that_is_built_counts() {
        let text = "FROM a AS x\nLABEL k=1\nFROM x AS y\nFROM z\nLABEL \"l\"=2\n";
        let said = |name: &str| vec![("z".to_owned(), format!("label {name} is missing"))];
        assert_eq!(flagged(RULE, text, &["k"]), said("k"));
        assert_eq!(flagged(RULE, text, &["l"]), []);
        assert_eq!(flagged(RULE, text, &[]), []);
        assert_eq!(flagged(RULE, "FROM a AS x\nLABEL k=1\nFROM x\n", &["k"]), []);
    }
}
