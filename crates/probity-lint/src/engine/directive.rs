//! Directives in comments: what a file says about the rules that check it.
//!
//! Three tools have taught people three spellings, and all of them are understood:
//! `# tally [global] ignore=A,B;reason=…`, `# hadolint [global|stage] ignore=A,B # why`, and BuildKit's
//! `# check=skip=A,B;error=true;experimental=C`.

pub(crate) mod check;
mod ignore;

use probity_dockerfile::{DirectiveName, Dockerfile, TokenKind};
use probity_finding::Span;

pub(crate) use crate::engine::directive::ignore::Invalid;
use crate::{
    RULES,
    engine::{directive::check::CheckDirective, ruleset::Pattern},
};

/// How much notice is taken of directives.
#[derive(Clone, Copy, Debug)]
pub struct DirectiveOptions {
    pub enabled: bool,
    /// Report names that no rule has.
    pub validate_rules: bool,
    /// Report directives that suppress nothing.
    pub warn_unused: bool,
    /// Report directives that give no reason.
    pub require_reason: bool,
}

impl Default for DirectiveOptions {
    fn default() -> Self {
        Self { enabled: true, validate_rules: false, warn_unused: false, require_reason: false }
    }
}

/// All directives of one file.
#[derive(Debug, Default)]
pub(crate) struct Directives {
    pub(crate) ignores: Vec<Ignore>,
    pub(crate) invalid: Vec<Invalid>,
    experimental: Vec<Pattern>,
    /// BuildKit's checks are errors in this file.
    pub(crate) checks_are_errors: bool,
}

/// A directive that suppresses rules somewhere.
#[derive(Debug)]
pub(crate) struct Ignore {
    /// The whole comment, from `#` to its end.
    pub(crate) span: Span,
    pub(crate) rules: Vec<Named>,
    /// Every rule is meant, whatever is named.
    pub(crate) all: bool,
    pub(crate) scope: Scope,
    pub(crate) has_reason: bool,
    /// Written for BuildKit, whose names and whose `all` mean its own checks alone. Its names are bare
    /// and have their case, and there is no room for a reason.
    pub(crate) buildkit_only: bool,
}

/// A rule as a directive names it.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// Where a directive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    File,
    /// One instruction, by its index.
    Instruction(usize),
    /// One stage, by the index of its FROM and of the instruction behind its last.
    Stage(usize, usize),
    /// A comment with no instruction behind it.
    Nowhere,
}

impl Directives {
    pub(crate) fn of(file: &Dockerfile<'_>, options: DirectiveOptions) -> Self {
        let mut all = Self::default();
        if !options.enabled {
            return all;
        }
        for directive in file.directives.iter().filter(|d| d.name == DirectiveName::Check) {
            // An invalid one is a syntax error, which is reported as such.
            if let Ok(found) = check::parse(&directive.value, directive.value_span.start) {
                all.add_check(found, directive.span, Scope::File);
            }
        }
        for (index, instruction) in file.instructions.iter().enumerate() {
            // Of several check comments above one instruction BuildKit takes the first, and takes no
            // notice of it if it is invalid.
            let found = instruction.comments().iter().find_map(|comment| {
                let text = comment.text.slice(file.text)?;
                let (value, offset) = check::comment_value(text)?;
                Some((value, comment.text.start + offset, comment.span))
            });
            let Some((value, start, span)) = found else { continue };
            match check::parse(value, start) {
                Ok(parsed) => all.add_check(parsed, span, Scope::Instruction(index)),
                Err(error) => {
                    let message = error.to_string();
                    let span = Span::new(start, start + value.len());
                    all.invalid.push(Invalid { span, message });
                }
            }
        }
        let froms = ignore::froms(file);
        for token in file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
            let text = token.span.slice(file.text).unwrap_or_default();
            match ignore::parse(text, token.span) {
                None => {}
                Some(Err(invalid)) => all.invalid.push(invalid),
                Some(Ok(parsed)) => all.ignores.push(parsed.placed(file, &froms)),
            }
        }
        all
    }

    fn add_check(&mut self, check: CheckDirective, span: Span, scope: Scope) {
        if scope == Scope::File {
            self.checks_are_errors |= check.error;
        }
        // A rule that one instruction wakes runs over the whole file; what it finds elsewhere is rare
        // and true, and BuildKit's own checks are woken this way only by its one experimental rule.
        if check.experimental.all {
            self.experimental.push(Pattern::new("buildkit/*"));
        }
        let names = check.experimental.named.iter().map(|named| format!("buildkit/{}", named.name));
        let exact = names.filter(|name| RULES.iter().any(|rule| rule.metadata().name == name));
        self.experimental.extend(exact.map(Pattern::new));
        if !check.skip.is_empty() {
            self.ignores.push(Ignore {
                span,
                rules: check.skip.named,
                all: check.skip.all,
                scope,
                has_reason: true,
                buildkit_only: true,
            });
        }
    }

    /// Patterns of rules that are off and that the file asks for.
    pub(crate) fn experimental(&self) -> &[Pattern] {
        &self.experimental
    }
}
