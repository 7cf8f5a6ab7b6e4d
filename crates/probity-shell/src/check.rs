//! What ShellCheck would say about a text, by the linter crate that re-implements it.
//!
//! Its rules are named one by one through their ShellCheck codes, since its own default set finds
//! little of what ShellCheck does. It reads no file: a script that is sourced is not followed.

mod codes;
mod mended;
mod own;

use std::{ops::Range, sync::LazyLock};

use probity_finding::Span;
use shuck_linter::{AnalysisRequest, LinterSettings, ShellCheckCodeMap};
use shuck_parser::parser::{ParseStatus, Parser};

use self::codes::{BY_RULE, CODES};
pub use self::codes::{shell_code_about, shell_codes};
use crate::{Dialect, Script};

/// Longer texts are not looked at: the linter's cost grows faster than they do.
pub const MAX_LENGTH: usize = 64 * 1024;
/// The same for texts of more commands, roughly: separators are counted, not commands.
pub const MAX_COMMANDS: usize = 300;
/// The rule about quotes is cubic in expansions.
pub const MAX_EXPANSIONS: usize = 150;

/// What directives in comments are read with. The crate would make one for every text, which costs
/// more than all rules together.
static MAP: LazyLock<ShellCheckCodeMap> = LazyLock::new(ShellCheckCodeMap::default);

static ALL: LazyLock<LinterSettings> =
    LazyLock::new(|| LinterSettings::for_rules(CODES.iter().map(|code| code.rule)));

static WITHOUT_QUOTES: LazyLock<LinterSettings> = LazyLock::new(|| {
    let others = CODES.iter().filter(|code| code.number != 2086);
    LinterSettings::for_rules(others.map(|code| code.rule))
});

/// ShellCheck's word for a text that it cannot parse.
const UNPARSED: u32 = 1072;
/// The same, where a line begins with an operator, of which [`OPERATOR_FIRST`] tells.
const STOPPED: u32 = 1070;
const OPERATOR_FIRST: u32 = 1133;

/// A finding of ShellCheck's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellFinding {
    /// The number of `SC2086`.
    pub code: u32,
    pub level: ShellLevel,
    pub span: Span,
    pub message: String,
    /// What would mend it; empty where nothing is offered.
    pub edits: Vec<(Span, String)>,
}

/// How bad ShellCheck finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellLevel {
    Error,
    Warning,
    Info,
    Style,
}

impl Dialect {
    /// The name of the shell as ShellCheck knows it; none where it knows it not.
    #[must_use]
    pub fn in_shellcheck(self) -> Option<&'static str> {
        match self {
            Self::Sh => Some("sh"),
            // What it says about busybox's shell is what it says about dash.
            Self::Dash | Self::Ash => Some("dash"),
            Self::Bash => Some("bash"),
            Self::Ksh | Self::Mksh => Some("ksh"),
            Self::Zsh | Self::PowerShell | Self::Cmd | Self::Other => None,
        }
    }
}

/// What came of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellChecked {
    pub findings: Vec<ShellFinding>,
    /// Whether SC2086 was left out, since the text has more expansions than [`MAX_EXPANSIONS`].
    pub is_without_quotes: bool,
}

/// Why a text was not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// It is no shell that ShellCheck knows.
    Dialect,
    TooLong,
}

/// Checks a text; `variables` are set before it runs. `place` tells where in the file a range of the
/// text stands, and `script` is what was parsed of the same text with the same places.
pub fn check(
    text: &str,
    script: &Script,
    variables: &[&str],
    place: &dyn Fn(Range<usize>) -> Span,
) -> Result<ShellChecked, Unchecked> {
    let invocation = script.invocation;
    let shell = dialect(invocation.dialect).ok_or(Unchecked::Dialect)?;
    let separators = text.bytes().filter(|byte| matches!(byte, b';' | b'&' | b'|' | b'\n')).count();
    if text.len() > MAX_LENGTH
        || separators > 2 * MAX_COMMANDS
        || script.opaque.is_some()
        || crate::limits::check(text, invocation.dialect).is_some()
    {
        return Err(Unchecked::TooLong);
    }
    let expansions = text.bytes().filter(|byte| *byte == b'$').count();
    let quotes = expansions <= MAX_EXPANSIONS;
    let settings = if quotes { &*ALL } else { &*WITHOUT_QUOTES };
    let settings = settings.clone().with_shell(shell);
    let prelude = prelude(variables);
    let whole = format!("{prelude}{text}");
    let parsed = Parser::with_dialect(&whole, shell.parser_dialect()).parse();
    let request = AnalysisRequest::from_parse_result(&parsed, &whole, &settings);
    let found = request.with_shellcheck_map(&MAP).lint();
    let inside = |range: Range<usize>| -> Option<Span> {
        let start = range.start.checked_sub(prelude.len())?;
        let end = range.end.checked_sub(prelude.len())?;
        (end <= text.len() && text.is_char_boundary(start) && text.is_char_boundary(end))
            .then(|| place(start..end))
    };
    let mut findings: Vec<(ShellFinding, &str)> = found
        .into_iter()
        .filter_map(|found| {
            let code = BY_RULE.get(found.rule.code())?;
            let edits = found.fix.iter().flat_map(|fix| fix.edits());
            let edits: Option<Vec<(Span, String)>> = edits
                .map(|edit| {
                    let range = usize::from(edit.range().start())..usize::from(edit.range().end());
                    Some((inside(range)?, edit.content().to_owned()))
                })
                .collect();
            let range = found.span.start.offset()..found.span.end.offset();
            let source = whole.get(range.clone()).unwrap_or_default();
            let edits = match edits {
                Some(edits) if edits.is_empty() && code.number == 2006 => backticks(source)
                    .into_iter()
                    .map(|(at, text)| Some((inside(range.start + at..range.start + at + 1)?, text)))
                    .collect(),
                edits => edits,
            };
            let finding = ShellFinding {
                code: code.number,
                level: code.level(invocation.dialect),
                span: inside(range.clone())?,
                message: found.message,
                edits: edits.unwrap_or_default(),
            };
            Some((finding, source))
        })
        .collect();
    let is_clean = parsed.status == ParseStatus::Clean;
    let own = if is_clean { own::findings(script, variables) } else { Vec::new() };
    if is_clean {
        mended::mend(&mut findings, &own, script);
    }
    let mut findings: Vec<ShellFinding> =
        findings.into_iter().map(|(it, _)| it).chain(own).collect();
    if !is_clean {
        unparsed(&mut findings, || {
            let diagnostic = parsed.diagnostics.first()?;
            let span = inside(diagnostic.span.start.offset()..diagnostic.span.end.offset())?;
            Some((span, diagnostic.message.clone()))
        });
    }
    findings.sort_by(|a, b| a.span.cmp(&b.span).then(a.code.cmp(&b.code)));
    findings.dedup();
    Ok(ShellChecked { findings, is_without_quotes: !quotes })
}

/// What makes `$(…)` of backticks: the offsets of single bytes and what comes in their places. Within
/// backticks a backslash means something else, so that those with one are left alone.
fn backticks(source: &str) -> Vec<(usize, String)> {
    let inner = source.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    match inner {
        Some(inner) if !inner.contains(['\\', '`']) && !inner.starts_with('(') => {
            vec![(0, "$(".to_owned()), (source.len() - 1, ")".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// What ShellCheck cannot parse it says nothing else about.
fn unparsed(findings: &mut Vec<ShellFinding>, why: impl FnOnce() -> Option<(Span, String)>) {
    findings.retain(|finding| finding.code < 2000);
    let says_why = |it: &ShellFinding| it.level == ShellLevel::Error && it.code != OPERATOR_FIRST;
    if findings.iter().any(says_why) {
        return;
    }
    let is_stopped = findings.iter().any(|finding| finding.code == OPERATOR_FIRST);
    let found = why().map(|(span, message)| ShellFinding {
        code: if is_stopped { STOPPED } else { UNPARSED },
        level: ShellLevel::Error,
        span,
        message,
        edits: Vec::new(),
    });
    findings.extend(found);
}

fn dialect(dialect: Dialect) -> Option<shuck_linter::ShellDialect> {
    Some(match dialect {
        Dialect::Sh => shuck_linter::ShellDialect::Sh,
        Dialect::Dash | Dialect::Ash => shuck_linter::ShellDialect::Dash,
        Dialect::Bash => shuck_linter::ShellDialect::Bash,
        Dialect::Ksh => shuck_linter::ShellDialect::Ksh,
        Dialect::Mksh => shuck_linter::ShellDialect::Mksh,
        Dialect::Zsh | Dialect::PowerShell | Dialect::Cmd | Dialect::Other => return None,
    })
}

/// Sets the variables, so that they count as known.
fn prelude(variables: &[&str]) -> String {
    let is_name = |name: &&&str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
    };
    let exports = variables.iter().filter(is_name).map(|name| format!("export {name}=1\n"));
    // Behind a first line, so that a directive on the first line of the text is not one for all of it.
    std::iter::once("export HTTP_PROXY=1\n".to_owned()).chain(exports).collect()
}
