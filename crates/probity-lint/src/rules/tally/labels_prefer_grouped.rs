//! Labels one by one.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Instruction, Keyword, Pair};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::labels::unquoted,
    text::lines::line_end,
};

rule! {
    /// # What it does
    ///
    /// Flags `LABEL` instructions on consecutive lines that could be one instruction.
    ///
    /// Empty lines, comments and other instructions end a group.
    ///
    /// # Why it is bad
    ///
    /// One `LABEL` keeps all labels in one place.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app"
    /// LABEL org.opencontainers.image.vendor="us"
    /// LABEL org.opencontainers.image.licenses="MIT"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app" \
    ///       org.opencontainers.image.vendor="us" \
    ///       org.opencontainers.image.licenses="MIT"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app" \
    ///       org.opencontainers.image.vendor="us"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix writes one `LABEL`, and the image keeps the same labels.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - A key is set twice or contains a variable.
    /// - A `LABEL` has no `=`.
    /// - A `LABEL` contains a comment or an empty line.
    LabelsPreferGrouped {
        name: "tally/labels/prefer-grouped",
        severity: Info,
        category: Style,
        fixes: Safe,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/labels/prefer-grouped/",
    }
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "min-labels",
    kind: OptionKind::Integer,
    default: "3",
    about: "Minimum number of labels in consecutive instructions that the rule flags.",
}];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let least = usize::try_from(context.integer("min-labels")).unwrap_or(2).max(2);
    for group in groups(context) {
        let pairs: Vec<&Pair> = group.iter().flat_map(|label| pairs(label)).collect();
        let [first, .., last] = group.as_slice() else { continue };
        if pairs.len() < least {
            continue;
        }
        let message = format!("these {} labels can be one LABEL", pairs.len());
        let rest = group.iter().skip(1).map(|label| label.keyword_span());
        let finding = context.finding(first.keyword_span(), message).with_more_places(rest);
        let span = Span::new(first.keyword_span().end, last.span.end);
        let fix = fix(context, &group, &pairs, span);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The groups of `LABEL`s that nothing stands between.
fn groups<'a>(context: &Context<'a>) -> Vec<Vec<&'a Instruction>> {
    let mut groups: Vec<Vec<&Instruction>> = Vec::new();
    let mut before: Option<&Instruction> = None;
    for instruction in &context.file.instructions {
        let is_label = instruction.keyword == Keyword::Label;
        let follows = before.is_some_and(|before| {
            before.keyword == Keyword::Label && before.lines().1 + 1 == instruction.lines().0
        });
        match groups.last_mut() {
            Some(group) if is_label && follows => group.push(instruction),
            _ if is_label => groups.push(vec![instruction]),
            _ => {}
        }
        before = Some(instruction);
    }
    groups
}

fn pairs(label: &Instruction) -> &[Pair] {
    match &label.arguments {
        Arguments::Pairs { pairs, .. } => pairs,
        _ => &[],
    }
}

fn fix(context: &Context<'_>, group: &[&Instruction], pairs: &[&Pair], span: Span) -> Option<Fix> {
    let is_plain = |label: &&Instruction| {
        let legacy = matches!(label.arguments, Arguments::Pairs { legacy: true, .. });
        !legacy && label.inner_comments().is_empty() && label.empty_continuations().is_empty()
    };
    let keys: HashSet<String> = pairs.iter().map(|pair| unquoted(&pair.key.text)).collect();
    let is_certain = keys.len() == pairs.len() && keys.iter().all(|key| !key.contains('$'));
    if !is_certain || !group.iter().all(is_plain) {
        return None;
    }
    let text = context.file.text;
    let first = group.first()?;
    let indentation = " ".repeat(first.keyword_span().len() + 1);
    let next = format!(" {}{}{indentation}", context.file.escape, line_end(text));
    let written: Vec<&str> = pairs.iter().filter_map(|pair| pair.span.slice(text)).collect();
    // A value that goes over several lines keeps them.
    let edit = Edit::replace(span, format!(" {}", written.join(&next)));
    Some(Fix::safe("write one LABEL", vec![edit]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/labels/prefer-grouped";

    #[test]
    fn every_instruction_of_a_group_is_underlined() {
        check(
            RULE,
            "\
FROM a
LABEL a=b
# why
LABEL c=d e=f
^^^^^ these 3 labels can be one LABEL
LABEL g h
^^^^^ likewise
ENV i=j
LABEL k=l

LABEL m=n
LABEL o=p
",
        );
    }

    #[test]
    fn pairs_keep_their_order_and_their_text() {
        fixes(
            RULE,
            &[
                (
                    "label a='b c' \\\n  d=e\nLABEL f=\"g\"\nCMD x",
                    "label a='b c' \\\n      d=e \\\n      f=\"g\"\nCMD x",
                ),
                ("LABEL a=b\nLABEL a=c\nLABEL d=e", "LABEL a=b\nLABEL a=c\nLABEL d=e"),
                ("LABEL a=b\nLABEL c d\nLABEL d=e", "LABEL a=b\nLABEL c d\nLABEL d=e"),
            ],
        );
    }
}
