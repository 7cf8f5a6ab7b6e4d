//! What `sh` and `dash` do not have.

use std::{borrow::Cow, collections::BTreeSet};

use super::Findings;
use crate::{
    Command, Dialect, Operation, Part, PartKind, Quote, Redirection, RedirectionKind, Script,
    StageKind, Word,
};

/// Variables that bash sets. A script that sets them itself has them.
const OF_BASH: &[&str] = &[
    "BASHPID",
    "BASH_SOURCE",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "PIPESTATUS",
    "SHELLOPTS",
    "SHLVL",
    "UID",
];

/// The same, but setting them means something else.
const DYNAMIC: &[&str] = &["RANDOM", "SECONDS"];

pub(super) fn variables(script: &Script, known: &[&str], findings: &mut Findings) {
    let mut set: BTreeSet<String> = known.iter().map(|&name| name.to_owned()).collect();
    let mut used = Vec::new();
    for command in &script.commands {
        let assignments = command.assignments().iter().chain(command.declarations());
        set.extend(assignments.map(|assignment| assignment.name.clone()));
        if command.call().is_any(&["read", "export", "local", "readonly", "declare", "typeset"]) {
            let names = command.call().args().iter().filter_map(Word::literal);
            set.extend(names.map(Cow::into_owned));
        }
        let values =
            command.assignments().iter().filter_map(|assignment| assignment.value.as_ref());
        let targets = command.redirections().iter().filter_map(|redirection| {
            let document = redirection.here_document.as_ref().and_then(|here| here.word.as_ref());
            redirection.target.as_ref().or(document)
        });
        for word in command.words.iter().chain(values).chain(targets) {
            used.extend(word.variables());
        }
    }
    for pipeline in script.blocks.iter().flat_map(|block| &block.pipelines) {
        for stage in &pipeline.stages {
            let StageKind::Compound(compound) = &stage.kind else { continue };
            for word in &compound.words {
                used.extend(word.variables());
            }
        }
    }
    set.extend(
        used.iter()
            .filter(|(_, variable)| matches!(variable.operation, Operation::Assign { .. }))
            .map(|(_, variable)| variable.name.clone()),
    );
    for (part, variable) in used {
        let name = variable.name.as_str();
        if DYNAMIC.contains(&name) || (OF_BASH.contains(&name) && !set.contains(name)) {
            findings.warning(
                3028,
                part.span,
                "this variable is bash's; other shells leave it empty",
            );
        }
    }
}

pub(super) fn command(command: &Command, findings: &mut Findings) {
    search_path(command, findings);
    comparison(command, findings);
    redirections(command.redirections(), findings);
}

/// `> *.txt`
pub(super) fn redirections(redirections: &[Redirection], findings: &mut Findings) {
    if !matches!(findings.dialect, Dialect::Sh | Dialect::Dash | Dialect::Ash) {
        return;
    }
    let is_glob =
        |word: &Word| word.parts().iter().any(|part| matches!(part.kind, PartKind::Glob(_)));
    for redirection in redirections {
        let is_text = redirection.kind == RedirectionKind::HereString;
        if !is_text && redirection.target.as_ref().is_some_and(is_glob) {
            let message = "only bash expands a pattern after a redirection";
            findings.warning(3031, redirection.span, message);
        }
    }
}

/// `$PATH` without quotes, which the linter crate takes for a word. Only POSIX splits what is declared.
fn search_path(command: &Command, findings: &mut Findings) {
    let is_declared = |word: &&Word| {
        findings.dialect != Dialect::Sh
            && command
                .declarations()
                .iter()
                .any(|declaration| declaration.span.start == word.span().start)
    };
    let words = command.words.iter().skip(1).filter(|word| !is_declared(word));
    let parts: Vec<&Part> = words
        .flat_map(|word| word.parts())
        .filter(|part| {
            part.quote == Quote::None
                && matches!(&part.kind, PartKind::Variable(it) if it.name == "PATH")
        })
        .collect();
    for part in parts {
        findings.info(2086, part.span, "without quotes this is split into words and expanded");
    }
}

/// `<` and `>` in `[ … ]`.
fn comparison(command: &Command, findings: &mut Findings) {
    let Some(name) = command.words.first().filter(|word| word.is("[") || word.is("test")) else {
        return;
    };
    let is_posix = findings.dialect == Dialect::Sh;
    let portable = "whether `<` and `>` compare is up to the shell; `sh` need not know them";
    if is_posix {
        let mut words = command.words.iter().skip(1);
        let operator = words.find(|word| {
            (word.is("<") || word.is(">"))
                && (word.text().starts_with('\\')
                    || word.parts().iter().all(|part| part.quote != Quote::None))
        });
        if let Some(operator) = operator {
            let span = if name.is("[") { operator.span() } else { name.span() };
            findings.warning(3012, span, portable);
        }
    }
    let Some(end) = command.words.last().filter(|word| word.is("]")) else { return };
    for redirection in command.redirections() {
        let is_operator = redirection.fd.is_none()
            && matches!(redirection.kind, RedirectionKind::Output | RedirectionKind::Input);
        if !is_operator || redirection.span.start > end.span().start {
            continue;
        }
        let target = redirection.target.as_ref().and_then(Word::literal);
        let is_number =
            target.is_some_and(|target| target.bytes().all(|byte| byte.is_ascii_digit()));
        if is_posix {
            findings.warning(3012, redirection.span, portable);
        } else if !is_number {
            findings.error(
                2073,
                redirection.span,
                "this writes to or reads a file; `\\<` and `\\>` compare",
            );
        }
    }
}
