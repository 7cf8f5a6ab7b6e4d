//! Files that must not be edited: BuildKit would reject them, or a program has yet to fill them in.
//!
//! A fix is a promise about what the text means. A file that does not parse has no certain meaning,
//! and the placeholders of a template may stand for anything, so no fix is offered or applied.
//!
//! What counts is what ends every build of the file, whichever rules are active: errors of the parser,
//! words that cannot be expanded, an unreadable `check` directive, an image name or a platform that is
//! not one, and stages that need themselves or a stage that does not exist. `COPY` of several files to
//! something that is not a directory does not count: the fix of `hadolint/DL3021` is its cure.

mod template;

use probity_dockerfile::{
    Base, Dockerfile, Facts, ImageRef, Keyword, Platform, StageReferenceKind, Target,
};
use probity_finding::{Finding, LineIndex, Span};

use crate::engine::syntax;

/// Why no fix may touch a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// From one; none where the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong there, as a clause.
    pub reason: String,
}

impl Rejection {
    pub(crate) fn of(file: &Dockerfile<'_>, facts: &Facts) -> Option<Self> {
        let (span, reason) = unparsable(file, facts)
            .or_else(|| invalid_base(facts))
            .or_else(|| invalid_platform(file))
            .or_else(|| impossible_reference(facts))
            .or_else(|| template::placeholder(file))?;
        let line = span.map(|span| LineIndex::new(file.text).position(span.start).line + 1);
        Some(Self { line, reason })
    }
}

/// Takes away the fixes of a file that must not be edited.
pub(crate) fn withhold_fixes(file: &Dockerfile<'_>, facts: &Facts, findings: &mut [Finding]) {
    let is_offered = findings.iter().any(|finding| !finding.fixes.is_empty());
    if is_offered && Rejection::of(file, facts).is_some() {
        for finding in findings {
            finding.fixes.clear();
        }
    }
}

type Cause = (Option<Span>, String);

fn unparsable(file: &Dockerfile<'_>, facts: &Facts) -> Option<Cause> {
    let found = syntax::findings(file, facts).into_iter();
    let found = found.chain(syntax::invalid_ports(facts, false));
    // The first in the text is what the others may follow from.
    let first = found.min_by_key(|finding| finding.span.map(|span| span.start))?;
    Some((first.span, first.message))
}

fn invalid_base(facts: &Facts) -> Option<Cause> {
    facts.stages().iter().find_map(|stage| {
        let Base::Image(name) = &stage.base else { return None };
        let error = ImageRef::parse(name).err()?;
        stage.image.is_constant().then(|| (stage.image_span, error.to_string()))
    })
}

fn invalid_platform(file: &Dockerfile<'_>) -> Option<Cause> {
    let stages =
        file.instructions.iter().filter(|instruction| instruction.keyword == Keyword::From);
    stages.filter_map(|from| from.flag_value("platform")).find_map(|platform| {
        let text = platform.text.as_str();
        let is_wrong = !text.is_empty() && !text.contains('$') && Platform::parse(text).is_err();
        is_wrong.then(|| (Some(platform.span), format!("{text} is not a platform")))
    })
}

fn impossible_reference(facts: &Facts) -> Option<Cause> {
    let graph = facts.graph();
    graph.references().iter().find_map(|reference| {
        let name = &reference.text;
        let is_number = name.parse::<usize>().is_ok();
        let is_copy = reference.kind == StageReferenceKind::Copy;
        let reason = match &reference.target {
            Target::Unknown if is_copy && is_number => format!("there is no stage {name}"),
            _ if graph.cycle_of(reference).is_some() => {
                format!("the stage needs {name}, which needs the stage")
            }
            _ => return None,
        };
        Some((Some(reference.span), reason))
    })
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::{Facts, parse};

    use super::Rejection;

    #[test]
    fn what_ends_every_build_is_named_with_its_line() {
        let rows = [
            ("FROM a\nRUN b\n", None),
            ("FROM a\nFORM b\n", Some((2, "unknown instruction: FORM"))),
            ("FROM a\nENV b=${X!y}\n", Some((2, "unsupported modifier"))),
            ("# check=foo=bar\nFROM a\n", Some((1, "failed to parse check options"))),
            ("FROM a:%%TAG%%\n", Some((1, "is not a valid image reference"))),
            ("FROM Alpine\n", Some((1, "must be lowercase"))),
            ("FROM --platform=a/b/c/d e\n", Some((1, "a/b/c/d is not a platform"))),
            ("FROM a\nCOPY --from=3 b c\n", Some((2, "there is no stage 3"))),
            ("FROM a AS b\nCOPY --from=b c d\n", Some((2, "the stage needs b"))),
            (
                "FROM a AS b\nCOPY --from=c d e\nFROM a AS c\nCOPY --from=b d e\n",
                Some((2, "needs c")),
            ),
            ("FROM a\nLABEL b=\"{{ c }}\"\n", Some((2, "the template placeholder {{ c }}"))),
            ("FROM a\nENV P=99999\nEXPOSE $P\n", Some((3, "invalid port"))),
            // An argument of the build can make these right.
            ("FROM a\nARG P=99999\nEXPOSE $P\n", None),
            ("ARG X\nFROM $X\n", None),
            ("FROM a\nCOPY --from=$X b c\nCOPY --from=image b c\n", None),
            ("FROM a\nCOPY b c d\n", None),
        ];
        for (text, expected) in rows {
            let file = parse(text);
            let rejection = Rejection::of(&file, &Facts::of(&file));
            let Some((line, reason)) = expected else {
                assert_eq!(rejection, None, "{text}");
                continue;
            };
            let rejection = rejection.unwrap_or_else(|| panic!("{text} is accepted"));
            assert_eq!(rejection.line, Some(line), "{text}: {}", rejection.reason);
            assert!(rejection.reason.contains(reason), "{text}: {}", rejection.reason);
        }
    }
}
