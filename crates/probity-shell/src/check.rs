//! What ShellCheck would say about a text, by the linter crate that re-implements it.
//!
//! Its rules are named one by one through their ShellCheck codes, since its own default set finds
//! little of what ShellCheck does. It reads no file: a script that is sourced is not followed.

use std::{ops::Range, sync::LazyLock};

use probity_finding::Span;
use shuck_linter::{
    AnalysisRequest, LinterSettings, Rule, ShellCheckCodeMap, ShellCheckLevel, rule_metadata,
};
use shuck_parser::parser::Parser;

use crate::{Dialect, Invocation, memo};

/// Longer texts are not looked at: the linter's cost grows faster than they do.
const MAX_LENGTH: usize = 64 * 1024;
/// The same for texts of more commands, roughly: separators are counted, not commands.
const MAX_COMMANDS: usize = 300;
/// The rule about quotes is cubic in expansions.
const MAX_EXPANSIONS: usize = 150;

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

/// Why a text was not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// It is no shell that ShellCheck knows.
    Dialect,
    TooLong,
}

/// Codes that are left out. About files that are not at hand and shells that a Dockerfile tells by
/// other means: 1090, 1091, 2148, 2187. Checks that ShellCheck itself makes only when asked: the rest.
const LEFT_OUT: &[u32] =
    &[1090, 1091, 2148, 2187, 2002, 2230, 2244, 2248, 2249, 2250, 2292, 2310, 2311, 2312];

/// The rules with the codes that they have in ShellCheck.
static RULES: LazyLock<Vec<(u32, Rule)>> = LazyLock::new(|| {
    let map = ShellCheckCodeMap::default();
    let mut rules: Vec<_> = map.mappings().filter(|(code, _)| !LEFT_OUT.contains(code)).collect();
    rules.sort_unstable_by_key(|(code, _)| *code);
    rules
});

/// Every code that can be found, in order.
pub fn shell_codes() -> impl Iterator<Item = u32> {
    RULES.iter().map(|(code, _)| *code)
}

/// Checks a text; `variables` are set before it runs. `place` tells where in the file a range of the
/// text stands.
pub fn check(
    text: &str,
    invocation: Invocation,
    variables: &[&str],
    place: &dyn Fn(Range<usize>) -> Span,
) -> Result<Vec<ShellFinding>, Unchecked> {
    let shell = dialect(invocation.dialect).ok_or(Unchecked::Dialect)?;
    let separators = text.bytes().filter(|it| matches!(it, b';' | b'&' | b'|' | b'\n')).count();
    if text.len() > MAX_LENGTH
        || separators > 2 * MAX_COMMANDS
        || crate::limits::check(text, invocation.dialect).is_some()
    {
        return Err(Unchecked::TooLong);
    }
    let expansions = text.bytes().filter(|it| *it == b'$').count();
    let quotes = expansions <= MAX_EXPANSIONS;
    let rules = RULES.iter().filter(|(code, _)| quotes || *code != 2086).map(|(_, rule)| *rule);
    let settings = LinterSettings::for_rules(rules).with_shell(shell);
    let prelude = prelude(variables);
    let whole = format!("{prelude}{text}");
    let parsed = Parser::with_dialect(&whole, shell.parser_dialect()).parse();
    let request = || AnalysisRequest::from_parse_result(&parsed, &whole, &settings);
    let found = memo::recall(invocation.dialect, &whole, || memo::lint(request()));
    let inside = |range: Range<usize>| -> Option<Span> {
        let start = range.start.checked_sub(prelude.len())?;
        let end = range.end.checked_sub(prelude.len())?;
        (end <= text.len() && text.is_char_boundary(start) && text.is_char_boundary(end))
            .then(|| place(start..end))
    };
    let mut findings: Vec<ShellFinding> = found
        .into_iter()
        .filter_map(|found| {
            let (code, _) = RULES.iter().find(|(_, rule)| *rule == found.rule)?;
            let edits = found.fix.iter().flat_map(|fix| fix.edits());
            let edits: Option<Vec<(Span, String)>> = edits
                .map(|edit| {
                    let range = usize::from(edit.range().start())..usize::from(edit.range().end());
                    Some((inside(range)?, edit.content().to_owned()))
                })
                .collect();
            Some(ShellFinding {
                code: *code,
                level: level(found.rule),
                span: inside(found.span.start.offset()..found.span.end.offset())?,
                message: found.message,
                edits: edits.unwrap_or_default(),
            })
        })
        .collect();
    findings.sort_by(|a, b| a.span.cmp(&b.span).then(a.code.cmp(&b.code)));
    findings.dedup();
    Ok(findings)
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

fn level(rule: Rule) -> ShellLevel {
    match rule_metadata(rule).and_then(|metadata| metadata.shellcheck_level) {
        Some(ShellCheckLevel::Error) => ShellLevel::Error,
        Some(ShellCheckLevel::Warning) => ShellLevel::Warning,
        Some(ShellCheckLevel::Info) => ShellLevel::Info,
        _ => ShellLevel::Style,
    }
}

/// Sets the variables, so that they count as known.
fn prelude(variables: &[&str]) -> String {
    let is_name = |name: &&&str| {
        name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
            && name.bytes().next().is_some_and(|it| !it.is_ascii_digit())
    };
    let exports = variables.iter().filter(is_name).map(|name| format!("export {name}=1\n"));
    exports.collect()
}
