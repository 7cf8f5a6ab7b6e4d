//! Programs whose arguments do not do what they seem to.
//!
//! Which programs, directories and words of `find` these are was found by running ShellCheck over
//! the utilities of POSIX, the directories of the file system hierarchy and the manual of `find`;
//! a test goes on doing so.

use super::Findings;
use crate::{Command, Operation, PartKind, RedirectionKind, Script, Word};

/// Programs that do not read their standard input.
const NOT_READING: &[&str] = &[
    "alias", "basename", "bg", "cal", "cd", "chgrp", "chmod", "chown", "cp", "du", "echo",
    "export", "fg", "fuser", "getconf", "getopt", "getopts", "ipcrm", "ipcs", "jobs", "kill", "ln",
    "locale", "ls", "mv", "printf", "ps", "pwd", "renice", "rm", "rmdir", "set", "sleep", "touch",
    "trap", "ulimit", "unalias", "uname",
];

/// What only a shell can do.
const BUILTINS: &[&str] = &[
    "cd", "command", "declare", "eval", "exec", "exit", "export", "hash", "history", "local",
    "popd", "pushd", "read", "readonly", "return", "set", "source", "trap", "type", "typeset",
    "ulimit", "umask", "unset", "wait",
];

/// Directories that nobody wants to lose.
const IMPORTANT: &[&str] = &[
    "",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/usr",
    "/usr/bin",
    "/usr/local",
    "/usr/share",
    "/var",
];

pub(super) fn command(script: &Script, command: &Command, findings: &mut Findings) {
    let Some(name) = command.name() else { return };
    match name.as_ref() {
        "rm" => removal(command, findings),
        "find" => {
            alternatives(command, findings);
            injected(command, findings);
        }
        "mkdir" => mode_of_parents(command, findings),
        "sudo" => builtin(command, findings),
        "trap" => untrappable(command, findings),
        _ => {}
    }
    input(script, command, findings);
}

/// `rm -rf "$x/"`, which without `x` is all there is.
fn removal(command: &Command, findings: &mut Findings) {
    if !command.has_flag(&["-r", "-R", "--recursive"]) {
        return;
    }
    for word in command.call().args() {
        let Some(path) = path_without_values(word) else { continue };
        if word.literal().is_some() || !is_important(&path) {
            continue;
        }
        let message = "if the variable is empty, this deletes much more than intended; `${name:?}` fails instead";
        findings.warning(2115, word.span(), message);
    }
}

/// The word with everything empty that is not known; nothing where a value is made sure of.
fn path_without_values(word: &Word) -> Option<String> {
    let mut path = String::new();
    for part in word.parts() {
        match &part.kind {
            PartKind::Variable(variable) => match variable.operation {
                Operation::Default { colon: true }
                | Operation::Assign { colon: true }
                | Operation::Require { colon: true } => return None,
                _ => {}
            },
            _ => path.push_str(part.text().unwrap_or_default()),
        }
    }
    Some(path)
}

fn is_important(path: &str) -> bool {
    let mut normal = String::new();
    for letter in path.chars() {
        if !(matches!(letter, '/' | '*') && normal.ends_with(letter)) {
            normal.push(letter);
        }
    }
    if normal != "/" {
        normal.truncate(normal.trim_end_matches('/').len());
    }
    let endings = ["", "/", "/*", "/*/*"];
    !normal.is_empty()
        && endings.iter().any(|ending| {
            normal.strip_suffix(ending).is_some_and(|start| IMPORTANT.contains(&start))
        })
}

/// `find -name a -o -name b -delete`, which deletes only the latter.
fn alternatives(command: &Command, findings: &mut Findings) {
    let is_match = |word: &Word| {
        ["-name", "-regex", "-iname", "-iregex", "-wholename", "-iwholename"]
            .iter()
            .any(|option| word.is(option))
    };
    let is_action = |word: &Word| {
        [
            "-exec", "-execdir", "-delete", "-print", "-print0", "-fls", "-fprint", "-fprint0",
            "-fprintf", "-ls", "-ok", "-okdir", "-printf",
        ]
        .iter()
        .any(|option| word.is(option))
    };
    for words in command.call().args().windows(6) {
        if let [first, _, or, second, _, action] = words
            && is_match(first)
            && (or.is("-o") || or.is("-or"))
            && is_match(second)
            && is_action(action)
        {
            let message =
                "this is done only to what the last alternative finds; `\\( … \\)` groups them";
            findings.warning(2146, action.span(), message);
        }
    }
}

/// `find -exec sh -c 'rm {}'`, where a name that is no word becomes a command.
fn injected(command: &Command, findings: &mut Findings) {
    for words in command.call().args().windows(4) {
        let [exec, shell, flag, text] = words else { continue };
        let is_exec = ["-exec", "-execdir"].contains(&exec.text());
        let is_shell = ["sh", "bash", "dash", "ksh"].contains(&shell.text());
        if is_exec && is_shell && flag.text() == "-c" && text.text().contains("{}") {
            let message = "a file name is run as a part of this text; give it as an argument";
            findings.warning(2156, text.span(), message);
        }
    }
}

/// `mkdir -p -m 700 a/b`
fn mode_of_parents(command: &Command, findings: &mut Findings) {
    let call = command.call();
    let Some(mode) = call.flag(&["-m", "--mode"]) else { return };
    if !call.has_flag(&["-p", "--parents"]) {
        return;
    }
    let makes_parents = |word: &&Word| match word.literal() {
        Some(path) => {
            let mut own = path.as_ref();
            while let Some(rest) = own.strip_prefix("./").or_else(|| own.strip_prefix("../")) {
                own = rest;
            }
            own.contains('/')
        }
        None => true,
    };
    if call.positional(&["-m", "--mode"]).iter().any(makes_parents) {
        let message = "with `-p` the mode is that of the last directory alone";
        findings.warning(2174, mode.span(), message);
    }
}

/// `sudo cd`
fn builtin(command: &Command, findings: &mut Findings) {
    // The first word that is neither a flag nor an assignment; what `command` would run is not asked.
    let words = command.call().positional(&["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"]);
    let names = words.into_iter().filter_map(Word::literal);
    if names
        .into_iter()
        .find(|name| !name.contains('='))
        .is_some_and(|name| BUILTINS.contains(&name.as_ref()))
        && let Some(span) = command.call().span()
    {
        findings.warning(
            2232,
            span,
            "the shell itself does this, and `sudo` can only start programs",
        );
    }
}

/// `trap … KILL`
fn untrappable(command: &Command, findings: &mut Findings) {
    for word in command.call().args().iter().skip(1) {
        let Some(name) = word.literal() else { continue };
        let name = name.to_ascii_uppercase();
        let signal = name.strip_prefix("SIG").unwrap_or(&name);
        if matches!(signal, "KILL" | "STOP" | "9") {
            findings.error(2173, word.span(), "this signal cannot be trapped");
        }
    }
}

/// `echo x < file`
fn input(script: &Script, command: &Command, findings: &mut Findings) {
    let mut call = command.call();
    if call.is_any(&["command"]) {
        call = command.effective();
    }
    if !call.is_any(NOT_READING) || call.is_any(&["rm", "cp", "mv"]) && call.has_flag(&["-i"]) {
        return;
    }
    // What stands in a substitution may read it.
    let has_reader = call.words.iter().flat_map(|word| word.parts()).any(|part| {
        matches!(part.kind, PartKind::Substitution { block, .. } if !script.commands_in(block).is_empty())
    });
    let is_input = command.redirections().iter().any(|redirection| {
        matches!(
            redirection.kind,
            RedirectionKind::Input | RedirectionKind::HereDocument | RedirectionKind::HereString
        )
    });
    if is_input && !has_reader {
        findings.warning(2217, command.span, "this command does not read its input");
    }
}
