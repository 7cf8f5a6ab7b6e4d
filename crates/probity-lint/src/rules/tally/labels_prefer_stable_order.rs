//! Labels in no order.

use std::collections::HashSet;

use probity_dockerfile::{Arguments, Instruction, Keyword, Pair};
use probity_finding::{Edit, Finding, Fix};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::labels::unquoted,
};

rule! {
    /// # What it does
    ///
    /// Flags a `LABEL` whose labels are not in order.
    ///
    /// By default, the order follows the purpose of the labels: name, source, people, release, base
    /// image, catalogs, Docker, old conventions, and then all others. The option `order` can select
    /// alphabetical order instead.
    ///
    /// # Why it is bad
    ///
    /// If all files use the same order, a reader finds a label faster.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.licenses="MIT" \
    ///       org.opencontainers.image.title="app"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app" \
    ///       org.opencontainers.image.licenses="MIT"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.title="app" \
    ///       org.opencontainers.image.licenses="MIT"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix sorts the labels, and the image keeps the same labels.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - There is a comment between the labels.
    /// - A key is set twice.
    /// - A key contains a variable.
    LabelsPreferStableOrder {
        name: "tally/labels/prefer-stable-order",
        severity: Info,
        category: Style,
        fixes: Safe,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/labels/prefer-stable-order/",
    }
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "order",
        kind: OptionKind::OneOf(&["oci-logical", "lexical"]),
        default: "oci-logical",
        about: "Order of the labels: by purpose (`oci-logical`) or alphabetical (`lexical`).",
    },
    OptionSpec {
        name: "sort-unknown",
        kind: OptionKind::Boolean,
        default: "false",
        about: "Sort labels of other organizations alphabetically.",
    },
];

/// Keys in their order. A key that ends with a dot stands for all that begin so.
const ORDER: &[&str] = &[
    "org.opencontainers.image.title",
    "org.opencontainers.image.description",
    "org.opencontainers.image.source",
    "org.opencontainers.image.url",
    "org.opencontainers.image.documentation",
    "org.opencontainers.image.authors",
    "org.opencontainers.image.vendor",
    "org.opencontainers.image.licenses",
    "org.opencontainers.image.version",
    "org.opencontainers.image.revision",
    "org.opencontainers.image.created",
    "org.opencontainers.image.ref.name",
    "org.opencontainers.image.base.name",
    "org.opencontainers.image.base.digest",
    "io.k8s.display-name",
    "io.k8s.description",
    "io.openshift.tags",
    "io.openshift.expose-services",
    "io.openshift.s2i.scripts-url",
    "com.docker.image.source.entrypoint",
    "com.docker.extension.",
    "org.label-schema.",
    "maintainer",
];

/// What a key is compared by: its place, and where places are alike its name.
type Rank = (usize, String);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let is_lexical = context.word("order") == "lexical";
    let sorts_unknown = context.boolean("sort-unknown");
    for (_, label) in context.each(Keyword::Label) {
        let Arguments::Pairs { pairs, legacy: false } = &label.arguments else { continue };
        let rank = |pair: &Pair| match unquoted(&pair.key.text) {
            key if is_lexical => (0, key),
            key => logical(&key, sorts_unknown),
        };
        let ranks: Vec<Rank> = pairs.iter().map(rank).collect();
        if ranks.is_sorted() {
            continue;
        }
        let finding = context.finding(label.keyword_span(), "the labels are not in order");
        let fix = fix(context, label, pairs, &ranks);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

fn logical(key: &str, sorts_unknown: bool) -> Rank {
    let place = ORDER.iter().position(|known| {
        if known.ends_with('.') { key.starts_with(known) } else { key == *known }
    });
    match place {
        Some(place) => (place, key.to_owned()),
        None if !key.contains('.') => (ORDER.len() + 1, String::new()),
        None if sorts_unknown => (ORDER.len(), key.to_owned()),
        None => (ORDER.len(), String::new()),
    }
}

/// Puts the text of each pair where it belongs; what stands between them stays.
fn fix(context: &Context<'_>, label: &Instruction, pairs: &[Pair], ranks: &[Rank]) -> Option<Fix> {
    let keys: HashSet<&str> = pairs.iter().map(|pair| pair.key.text.as_str()).collect();
    let is_certain = keys.len() == pairs.len()
        && keys.iter().all(|key| !key.contains('$'))
        && label.inner_comments().is_empty();
    if !is_certain {
        return None;
    }
    let mut sorted: Vec<(&Rank, &Pair)> = ranks.iter().zip(pairs).collect();
    sorted.sort_by_key(|(rank, _)| *rank);
    let moved = pairs.iter().zip(sorted).filter(|(old, (_, new))| old.span != new.span);
    let edits = moved.filter_map(|(old, (_, new))| {
        Some(Edit::replace(old.span, new.span.slice(context.file.text)?))
    });
    Some(Fix::safe("sort the labels", edits.collect()))
}

#[cfg(test)]
mod tests {
    use crate::{
        OptionValue,
        engine::harness::{check, fixes, run_with},
    };

    const RULE: &str = "tally/labels/prefer-stable-order";

    #[test]
    fn the_instruction_is_underlined() {
        check(
            RULE,
            "\
FROM a
LABEL maintainer=x org.label-schema.name=y
^^^^^ the labels are not in order
LABEL org.z.y=x com.a.b=y c=d b=e
LABEL org.opencontainers.image.title=x a=b
LABEL b a
",
        );
    }

    #[test]
    fn options_change_the_order() {
        let text = "FROM a\nLABEL org.z.y=x com.a.b=y\n";
        let lexical = OptionValue::Text("lexical".to_owned());
        for (option, value) in [("order", lexical), ("sort-unknown", OptionValue::Boolean(true))] {
            let found = run_with(RULE, text, |rules| rules.set_option(RULE, option, &value));
            assert_eq!(found.len(), 1, "{option}");
        }
    }

    #[test]
    fn pairs_change_places_and_nothing_else() {
        fixes(
            RULE,
            &[
                (
                    "LABEL x=1  a.b=2 \\\n  org.opencontainers.image.title='3 4'",
                    "LABEL org.opencontainers.image.title='3 4'  a.b=2 \\\n  x=1",
                ),
                ("LABEL x=1 \\\n  # why\n  a.b=2", "LABEL x=1 \\\n  # why\n  a.b=2"),
                ("LABEL x=1 a.b=2 x=3", "LABEL x=1 a.b=2 x=3"),
            ],
        );
    }
}
