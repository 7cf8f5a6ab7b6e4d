//! What ShellCheck says and the linter crate does not, or says otherwise: over our own commands.

mod flow;
mod portability;
mod printf;
mod programs;
mod structure;
mod values;

use probity_finding::Span;

use super::{ShellFinding, ShellLevel, codes};
use crate::{Dialect, Script};

/// The codes that are found here, in order.
pub(super) const CODES: &[u32] = &[
    2072, 2073, 2077, 2086, 2093, 2115, 2123, 2146, 2156, 2160, 2161, 2173, 2174, 2182, 2183, 2188,
    2189, 2217, 2232, 2251, 2259, 2262, 2263, 2265, 2281, 2283, 2284, 3012, 3028, 3031, 3036,
];

pub(super) fn findings(script: &Script, variables: &[&str]) -> Vec<ShellFinding> {
    let mut findings = Findings { dialect: script.invocation.dialect, found: Vec::new() };
    structure::check(script, &mut findings);
    flow::check(script, &mut findings);
    if matches!(findings.dialect, Dialect::Sh | Dialect::Dash | Dialect::Ash) {
        portability::variables(script, variables, &mut findings);
    }
    for command in &script.commands {
        structure::command(command, &mut findings);
        values::command(command, &mut findings);
        portability::command(command, &mut findings);
        programs::command(script, command, &mut findings);
        printf::command(command, &mut findings);
    }
    findings.found
}

/// What was found so far.
struct Findings {
    dialect: Dialect,
    found: Vec<ShellFinding>,
}

impl Findings {
    fn error(&mut self, code: u32, span: Span, message: &str) {
        self.say(code, ShellLevel::Error, span, message);
    }

    fn warning(&mut self, code: u32, span: Span, message: &str) {
        self.say(code, ShellLevel::Warning, span, message);
    }

    fn info(&mut self, code: u32, span: Span, message: &str) {
        self.say(code, ShellLevel::Info, span, message);
    }

    fn say(&mut self, code: u32, level: ShellLevel, span: Span, message: &str) {
        let level = codes::level(code, level, self.dialect);
        let message = message.to_owned();
        self.found.push(ShellFinding { code, level, span, message, edits: Vec::new() });
    }
}
