//! Downloads by shell commands, where they go, and what verifies them.

use probity_shell::{Command, Script, StageKind, Word};

/// Programs that print or compare checksums.
pub(crate) const CHECKSUMS: &[&str] =
    &["b2sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum"];

/// Programs that unpack what they read.
const UNPACKERS: &[&str] = &["bsdtar", "cpio", "gunzip", "tar", "unzip", "xz", "zcat", "zstd"];

/// Programs that run what they read.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "dash", "ksh", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh",
];

pub(crate) fn is_download(command: &Command) -> bool {
    command.effective().is_any(&["curl", "wget"])
}

/// Whether a command is a shell or another program that runs the text it is given.
pub(crate) fn interprets(command: &Command) -> bool {
    command.effective().is_any(INTERPRETERS)
}

/// The commands that read what a command writes into its pipe.
pub(crate) fn readers<'s>(
    script: &'s Script,
    command: &Command,
) -> impl Iterator<Item = &'s Command> {
    let stages = script.pipeline(command.place).map_or(&[][..], |pipeline| &pipeline.stages);
    stages.iter().skip(command.place.stage() + 1).filter_map(|stage| match stage.kind {
        StageKind::Command(index) => script.commands.get(index),
        StageKind::Compound(_) => None,
    })
}

/// Whether a download is unpacked, installed or run by its script.
pub(crate) fn is_used(script: &Script, download: &Command) -> bool {
    let unpacks = |command: &Command| command.effective().is_any(UNPACKERS);
    if readers(script, download).any(unpacks) {
        return true;
    }
    let Some(file) = saved_as(download) else { return false };
    let later = script.commands.iter().filter(|command| command.span.start > download.span.start);
    later.into_iter().any(|command| uses(command, &file))
}

/// Whether a command unpacks, installs or runs a file.
fn uses(command: &Command, file: &str) -> bool {
    let call = command.effective();
    let mut words = call.words.iter();
    let names = |word: &Word| file_name(word.text()) == file;
    let installs = call.is_any(&["dpkg", "rpm", "apt-get", "apt", "dnf", "yum", "install"])
        || call.is_any(&["chmod"]) && makes_executable(call.args())
        || call.is_any(UNPACKERS)
        || interprets(command);
    let is_run = call.name_word().is_some_and(|word| word.text().contains('/') && names(word));
    is_run || installs && words.any(names)
}

fn makes_executable(words: &[Word]) -> bool {
    let is_mode = |text: &str| {
        let digits = text.trim_start_matches('0');
        text.contains("+x")
            || text.contains("=rx")
            || matches!(digits, "755" | "555" | "775" | "777")
    };
    words.iter().any(|word| is_mode(&word.prefix()))
}

/// The name of the file that a download is saved as, as it is written.
fn saved_as(download: &Command) -> Option<String> {
    let call = download.effective();
    let is_wget = call.is_any(&["wget"]);
    let flags: &[&str] = if is_wget { &["-O", "--output-document"] } else { &["-o", "--output"] };
    if let Some(flag) = call.flag(flags) {
        // The value may have variables in it, so it is compared as it is written.
        let next = call.args().iter().find(|word| word.span().start > flag.span().end);
        let inline = flag.text().split_once('=').map(|(_, value)| file_name(value));
        return inline.or_else(|| next.map(|word| file_name(word.text())));
    }
    let redirected =
        download.redirections().iter().find_map(|redirection| redirection.target.as_ref());
    if let Some(target) = redirected {
        return Some(file_name(target.text()));
    }
    let keeps_name = is_wget || call.has_flag(&["-O", "--remote-name", "--remote-name-all"]);
    let address = call.args().iter().rev().find(|word| word.text().contains("://"))?;
    keeps_name.then(|| file_name(address.text()))
}

/// The last component of a path or a URL, without quotes.
fn file_name(text: &str) -> String {
    let text = text.replace(['"', '\''], "");
    text.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Whether a command checks a signature or compares a checksum.
pub(crate) fn verifies(command: &Command) -> bool {
    let call = command.effective();
    let Some(name) = call.name() else { return false };
    match name.as_ref() {
        "gpg" | "gpg2" => call.has_flag(&["--verify"]),
        "gpgv" | "gpgv2" => true,
        "cosign" => call.subcommand(&[]).is_some_and(|verb| verb.starts_with("verify")),
        "minisign" | "signify" => call.has_flag(&["-V"]),
        name => CHECKSUMS.contains(&name) && call.has_flag(&["-c", "--check"]),
    }
}

/// Whether anything in a script may verify a file: a check as such, or a checksum that is passed on.
pub(crate) fn may_verify(script: &Script) -> bool {
    const HINTS: &[&str] = &["sha1", "sha2", "sha3", "sha5", "checksum", "hash", "attestation"];
    script.commands.iter().any(|command| {
        let hints = || {
            let mut words = command.words.iter().map(|word| word.text().to_ascii_lowercase());
            words.any(|text| HINTS.iter().any(|hint| text.contains(hint)))
        };
        verifies(command)
            || !is_printed_checksum(script, command) && !is_download(command) && hints()
    })
}

/// Whether a command only prints a checksum, so that nothing compares it.
pub(crate) fn is_printed_checksum(script: &Script, command: &Command) -> bool {
    let call = command.effective();
    let is_outer = script.enclosing(command).all(|block| {
        use probity_shell::BlockKind::{ProcessSubstitution, Substitution};
        !matches!(block.kind, Substitution | ProcessSubstitution)
    });
    call.is_any(CHECKSUMS)
        && !call.has_flag(&["-c", "--check", "--help", "--version"])
        && !call.positional(&["-a", "--algorithm"]).is_empty()
        && command.redirections().is_empty()
        && !script.is_piped(command)
        && is_outer
}
