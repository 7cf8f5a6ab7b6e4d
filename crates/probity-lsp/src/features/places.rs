//! Finding what is at an offset: the instruction, and the variables in its text.

use probity_dockerfile::{Arguments, Dockerfile, Facts, Instruction, Keyword};
use probity_finding::Span;

/// The instruction at an offset, by its index; its end belongs to it.
pub(super) fn instruction_at<'f>(
    file: &'f Dockerfile<'_>,
    offset: usize,
) -> Option<(usize, &'f Instruction)> {
    let touches = |span: Span| span.start <= offset && offset <= span.end;
    file.instructions.iter().enumerate().find(|(_, instruction)| touches(instruction.span))
}

/// The instruction itself, or the one behind ONBUILD where that is meant.
pub(super) fn inner(instruction: &Instruction, offset: usize) -> &Instruction {
    match &instruction.arguments {
        Arguments::Onbuild(Some(nested)) if offset >= nested.keyword_span().start => nested,
        _ => instruction,
    }
}

/// One use of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) instruction: usize,
    pub(super) name: String,
    /// The name alone, without `$` and braces.
    pub(super) span: Span,
}

/// Every use of a variable in the file, in its order: those that BuildKit expands, and those in
/// commands and heredocs, which a shell expands.
pub(super) fn uses(file: &Dockerfile<'_>, facts: &Facts) -> Vec<Use> {
    let mut found = Vec::new();
    for (index, instruction) in file.instructions.iter().enumerate() {
        let spans: Vec<Span> = if is_command(instruction) {
            vec![instruction.span]
        } else {
            let references = facts.references(index).iter().map(|reference| reference.span);
            let bodies = instruction
                .heredocs()
                .iter()
                .filter(|heredoc| heredoc.expand)
                .map(|heredoc| heredoc.body);
            references.chain(bodies).collect()
        };
        for span in spans {
            found.extend(
                dollars(file.text, span, file.escape).into_iter().map(|(name, span)| Use {
                    instruction: index,
                    name,
                    span,
                }),
            );
        }
    }
    found.sort_by_key(|place| place.span);
    found.dedup();
    found
}

/// Whether a shell or nobody, and not BuildKit, expands what an instruction says.
pub(super) fn is_command(instruction: &Instruction) -> bool {
    use Keyword::{Cmd, Entrypoint, Healthcheck, Onbuild, Run};
    matches!(instruction.keyword, Run | Cmd | Entrypoint | Healthcheck | Onbuild)
}

/// `$NAME` and `${NAME…}` in a part of the text, by the place of the name.
fn dollars(text: &str, span: Span, escape: char) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let part = span.slice(text).unwrap_or_default();
    for (at, _) in part.match_indices('$') {
        if part[..at].ends_with(escape) || part[..at].ends_with('\\') {
            continue;
        }
        let after = &part[at + 1..];
        let name_start = usize::from(after.starts_with('{'));
        let name: String =
            after[name_start..].chars().take_while(|char| is_name_char(*char)).collect();
        let begins_well = name.chars().next().is_some_and(|char| !char.is_ascii_digit());
        if begins_well {
            let start = span.start + at + 1 + name_start;
            found.push((name.clone(), Span::new(start, start + name.len())));
        }
    }
    found
}

pub(super) fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// The places where a name is written as a word without `$`: in a command this can be an
/// assignment, or an argument that names the variable.
pub(super) fn bare_words(text: &str, span: Span, name: &str) -> Vec<Span> {
    let part = span.slice(text).unwrap_or_default();
    let is_bare = |at: usize| {
        let (before, after) = (&part[..at], &part[at + name.len()..]);
        !before.ends_with(|char| is_name_char(char) || char == '$')
            && !before.ends_with("${")
            && !after.starts_with(is_name_char)
    };
    let found = part.match_indices(name).map(|(at, _)| at).filter(|at| is_bare(*at));
    found.map(|at| Span::new(span.start + at, span.start + at + name.len())).collect()
}
