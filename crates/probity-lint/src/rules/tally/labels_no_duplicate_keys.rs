//! Labels that are overwritten.

use std::collections::HashMap;

use probity_dockerfile::{Arguments, Instruction, Keyword, Pair};
use probity_finding::{Finding, Fix};

use crate::{engine::context::Context, facts::labels::unquoted, text::stage_edits};

rule! {
    /// # What it does
    ///
    /// Flags a label that the same stage sets again later.
    ///
    /// # Why it is bad
    ///
    /// The image contains only the last value. A change to an earlier value has no effect.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL version="1.0"
    /// LABEL version="2.0"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// LABEL version="2.0"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL version="2.0"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix removes the earlier value, which never reaches the image.
    ///
    /// probity offers no fix if the removed text contains a comment.
    LabelsNoDuplicateKeys {
        name: "tally/labels/no-duplicate-keys",
        severity: Warning,
        category: Correctness,
        fixes: Safe,
        url: "https://tally.wharflab.com/rules/tally/labels/no-duplicate-keys/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut last: HashMap<(usize, String), &Pair> = HashMap::new();
    let labels: Vec<(usize, &Instruction)> = context.each(Keyword::Label).collect();
    // From the end, so that the one that counts is met first.
    for (index, instruction) in labels.into_iter().rev() {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { continue };
        let Some(stage) = context.facts.stage_of(index) else { continue };
        for pair in pairs.iter().rev() {
            let key = unquoted(&pair.key.text);
            if key.contains('$') {
                continue;
            }
            let Some(winner) = last.get(&(stage.index, key.clone())) else {
                last.insert((stage.index, key), pair);
                continue;
            };
            let message = format!("a later LABEL of this stage sets {key} again");
            let finding = context.finding(pair.span, message).with_related(winner.span, "here");
            let edit = stage_edits::remove_pair(context, instruction, pair);
            let fix = edit.map(|edit| Fix::safe("remove the first value", vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/labels/no-duplicate-keys";

    #[test]
    fn every_value_but_the_last_is_underlined() {
        check(
            RULE,
            "\
FROM a
LABEL \"a\"=1 b=2
      ^^^^^ a later LABEL of this stage sets a again
LABEL a 3
FROM a
LABEL a=4
LABEL $X=5 $X=6
",
        );
    }

    #[test]
    fn the_others_stay() {
        fixes(
            RULE,
            &[
                ("LABEL a=1 b=2 a=3", "LABEL b=2 a=3"),
                (
                    "LABEL a=1 \\\n  # why\n  b=2\nLABEL a=3",
                    "LABEL a=1 \\\n  # why\n  b=2\nLABEL a=3",
                ),
                ("LABEL a=1\nLABEL a=2\nLABEL a=3", "LABEL a=3"),
            ],
        );
    }
}
