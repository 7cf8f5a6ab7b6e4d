//! Secrets that a RUN writes into the image.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Finding, Span};
use probity_shell::{Command, RedirectionKind, Script, Word};

use crate::{engine::context::Context, facts::secret_names::names_a_secret};

rule! {
    /// # What it does
    ///
    /// Flags a file into which a `RUN` writes a secret without removing it afterward.
    ///
    /// The rule checks these commands:
    ///
    /// - `cp`, `install` or `mv` with a secret mount as the source;
    /// - `echo`, `printf` or `cat` with a secret mount and a redirection to a file;
    /// - `echo`, `printf` or `cat` with a redirection to a file and a variable whose name suggests
    ///   a secret.
    ///
    /// The rule ignores files below `/dev`.
    ///
    /// # Why it is bad
    ///
    /// The secret was meant for one command, but a layer of the image now contains its value. Mount
    /// the secret at the path where the program looks for it:
    /// `--mount=type=secret,id=npmrc,target=/root/.npmrc`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// RUN --mount=type=secret,id=npmrc cp /run/secrets/npmrc /root/.npmrc && npm ci
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci
    /// ```
    SecretWrittenToLayer {
        name: "probity/secret-written-to-layer",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each_nested() {
        // The scripts of an ONBUILD are those of its trigger.
        if instruction.keyword != Keyword::Run {
            continue;
        }
        let mounted = mounted_secrets(instruction);
        for script in context.scripts(index) {
            for command in &script.commands {
                let Some((file, span)) = written(command, &mounted) else { continue };
                if !is_removed(script, command, &file) && !file.starts_with("/dev/") {
                    let message = "this file keeps the secret in the image; mount the secret at this path instead";
                    findings.push(context.finding(span, message));
                }
            }
        }
    }
}

/// Where the secrets of a RUN are mounted.
fn mounted_secrets(run: &Instruction) -> Vec<String> {
    let secrets = run
        .flags_named("mount")
        .filter(|flag| flag.option("type").is_some_and(|kind| kind.text == "secret"));
    let targets = secrets.filter_map(|flag| {
        let target = ["target", "dst", "destination"].iter().find_map(|key| flag.option(key));
        let by_id = || flag.option("id").map(|id| format!("/run/secrets/{}", id.text));
        target.map(|target| target.text.to_string()).or_else(by_id)
    });
    targets.collect()
}

/// The file that a command writes a secret into.
fn written(command: &Command, mounted: &[String]) -> Option<(String, Span)> {
    let call = command.effective();
    let is_mounted = |word: &&Word| {
        word.literal().is_some_and(|path| mounted.iter().any(|secret| *secret == path))
    };
    let is_variable =
        |word: &&Word| word.variables().iter().any(|(_, variable)| names_a_secret(&variable.name));
    if call.is_any(&["cp", "install", "mv"]) {
        let files = call.positional(&["-m", "--mode", "-o", "--owner", "-g", "--group"]);
        let (target, sources) = files.split_last()?;
        let copies = sources.iter().any(is_mounted);
        return copies.then(|| Some((target.pattern()?, target.span()))).flatten();
    }
    let prints = call.is_any(&["echo", "printf", "cat"]);
    let secret = call.args().iter().find(|word| is_mounted(word) || is_variable(word));
    let redirection = command.redirections().iter().find(|redirection| {
        use RedirectionKind::{Append, Clobber, Output};
        matches!(redirection.kind, Output | Append | Clobber)
    })?;
    let target = redirection.target.as_ref()?;
    (prints && secret.is_some()).then(|| (target.text().to_string(), target.span()))
}

/// Whether a later command of the script removes the file.
fn is_removed(script: &Script, command: &Command, file: &str) -> bool {
    let later = script.commands.iter().filter(|later| later.span.start > command.span.start);
    let name = |path: &str| {
        let path = path.trim_matches(['"', '\'']);
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    later.into_iter().any(|command| {
        let call = command.effective();
        call.is_any(&["rm", "shred", "unlink"])
            && call.positional(&[]).iter().any(|word| name(word.text()) == name(file))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/secret-written-to-layer";
    const SAYS: &str =
        "this file keeps the secret in the image; mount the secret at this path instead";

    #[test]
    fn the_file_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN --mount=type=secret,id=b cat /run/secrets/b > /c && d
                                                  ^^ {SAYS}
RUN --mount=type=secret,id=b,target=/e install -m 600 /e /root/.f
                                                         ^^^^^^^^ {SAYS}
ONBUILD RUN echo \"//x/:_authToken=${{NPM_TOKEN}}\" > .npmrc && npm ci
                                                  ^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn files_that_go_and_other_words_are_silent() {
        for run in [
            "echo \"$NPM_TOKEN\" > .npmrc && npm ci && rm -f .npmrc",
            "--mount=type=secret,id=b login < /run/secrets/b",
            "--mount=type=secret,id=b x --token \"$(cat /run/secrets/b)\"",
            "echo \"$NPM_TOKEN\" | login --password-stdin",
            "echo \"$KEY_ID $AUTH_MODE\" > /etc/app.conf",
            "echo '$NPM_TOKEN' > .npmrc",
            "echo \"$TOKEN\" > /dev/null",
            "cp /run/secrets/b /c",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
