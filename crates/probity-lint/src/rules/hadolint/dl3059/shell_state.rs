//! Commands that leave their shell as it was, so that another one may follow in the same shell.

use probity_shell::{Command, Operation, Part, PartKind, Word};

/// What shells have built in that changes nothing of theirs.
const HARMLESS: &[&str] = &["echo", "false", "kill", "printf", "pwd", "test", "true", "["];

/// Everything else that bash, zsh, ksh or busybox has built in. A name that is not among them is a
/// program of its own.
const BUILT_IN: &[&str] = &[
    "-",
    ".",
    ":",
    "alias",
    "autoload",
    "bg",
    "bind",
    "bindkey",
    "break",
    "builtin",
    "bye",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disable",
    "disown",
    "emulate",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "float",
    "function",
    "functions",
    "getopts",
    "global",
    "hash",
    "help",
    "hist",
    "history",
    "integer",
    "jobs",
    "let",
    "limit",
    "local",
    "logout",
    "mapfile",
    "nameref",
    "noglob",
    "popd",
    "print",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "rehash",
    "return",
    "set",
    "setopt",
    "shift",
    "shopt",
    "source",
    "suspend",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unfunction",
    "unhash",
    "unlimit",
    "unset",
    "unsetopt",
    "vared",
    "wait",
    "whence",
    "where",
    "which",
    "zle",
    "zmodload",
    "zparseopts",
    "zstyle",
];

pub(super) fn leaves_shell_alone(command: &Command) -> bool {
    let Some(name) = command.words.first().and_then(Word::literal) else { return false };
    let is_plain = match name.as_ref() {
        // `printf -v NAME` sets a variable.
        "printf" => !command.words.get(1).is_none_or(|format| format.prefix().starts_with('-')),
        name => HARMLESS.contains(&name) || !BUILT_IN.contains(&name) && !name.is_empty(),
    };
    let values = command
        .assignments()
        .iter()
        .flat_map(|assignment| assignment.value.iter().chain(&assignment.elements));
    let targets = command.redirections().iter().flat_map(|redirection| {
        redirection
            .target
            .iter()
            .chain(redirection.here_document.as_ref().and_then(|document| document.word.as_ref()))
    });
    let mut words = command.words.iter().chain(values).chain(targets);
    is_plain && !words.any(|word| assigns(word.parts()))
}

/// Whether the expansion of a word may set a variable: `${A:=b}`, `$((A = 1))`, and what is not
/// understood well enough.
fn assigns(parts: &[Part]) -> bool {
    parts.iter().any(|part| match &part.kind {
        PartKind::Variable(variable) => {
            // `${A[i=1]}` and `${A:i=1}` are arithmetic.
            let by_itself =
                matches!(variable.operation, Operation::Assign { .. } | Operation::Other);
            by_itself || variable.operand.as_ref().is_some_and(|operand| assigns(operand.parts()))
        }
        PartKind::Arithmetic(_) => true,
        _ => false,
    })
}
