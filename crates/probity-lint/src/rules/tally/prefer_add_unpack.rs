//! Archives that a shell fetches and unpacks.

use std::{borrow::Cow, collections::HashMap};

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Call, Command, Script, Word};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::downloads::readers,
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that downloads an archive with `curl` or `wget` and unpacks it with `tar`.
    ///
    /// The rule ignores a `tar` that unpacks only part of the archive or strips directories,
    /// because `ADD` can do neither. Unlike probity, tally flags those calls.
    ///
    /// # Why it is bad
    ///
    /// `ADD --unpack` downloads and unpacks the archive without a shell or `curl`. It leaves no
    /// archive that you must remove.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSL https://go.dev/dl/go1.22.0.linux-amd64.tar.gz | tar -xz -C /usr/local
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// ADD --unpack https://go.dev/dl/go1.22.0.linux-amd64.tar.gz /usr/local/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ADD --unpack https://go.dev/dl/go1.22.0.linux-amd64.tar.gz /usr/local/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces the `RUN` with `ADD --unpack`, which needs Dockerfile syntax
    /// 1.17.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The `RUN` does more than pipe one download into `tar`.
    /// - The `RUN` has flags, a heredoc or a comment.
    /// - The download uses options that `ADD` does not have, such as a header or a password.
    /// - The target directory is not known.
    PreferAddUnpack {
        name: "tally/prefer-add-unpack",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/prefer-add-unpack/",
    }
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "enabled",
    kind: OptionKind::Boolean,
    default: "true",
    about: "Set to `false` to disable the rule.",
}];

const ENDINGS: &[&str] =
    &[".tar", ".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tbz2", ".tgz", ".txz"];

/// Flags of `tar` that `ADD` can do without.
const HARMLESS: &[&str] = &[
    "--extract",
    "--get",
    "--gzip",
    "--bzip2",
    "--xz",
    "--zstd",
    "--file",
    "--directory",
    "--verbose",
    "--no-same-owner",
    "--preserve-permissions",
    "--same-permissions",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.boolean("enabled") {
        return;
    }
    for (index, run) in context.runs() {
        for script in context.scripts(index) {
            let tars = tars(script);
            let mut commands = script.commands.iter();
            let Some(found) = commands.find_map(|command| unpacked(script, command, &tars)) else {
                continue;
            };
            let message = "ADD --unpack downloads and unpacks this archive without a shell";
            let finding = context.finding(found.address.span(), message);
            let fix = fix(context, index, run, &found);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            break;
        }
    }
}

/// An archive that is downloaded and unpacked.
struct Unpacked<'s> {
    address: &'s Word,
    tar: Call<'s>,
}

/// The last call of `tar` that unpacks each file.
fn tars(script: &Script) -> HashMap<Cow<'_, str>, Call<'_>> {
    let calls = script.commands.iter().map(|command| command.effective());
    let unpacking = calls.filter(|call| unpacks(call));
    unpacking
        .flat_map(|call| call.args().iter().filter_map(move |word| Some((word.literal()?, call))))
        .collect()
}

fn unpacked<'s>(
    script: &'s Script,
    command: &'s Command,
    tars: &HashMap<Cow<'s, str>, Call<'s>>,
) -> Option<Unpacked<'s>> {
    let call = command.effective();
    if !call.is_any(&["curl", "wget"]) {
        return None;
    }
    let address = call.args().iter().find(|word| is_archive(word))?;
    if script.is_piped(command) {
        let tar = readers(script, command).next()?.effective();
        return unpacks(&tar).then_some(Unpacked { address, tar });
    }
    let file = saved(&call, address)?;
    let tar = *tars.get(file.as_str())?;
    (tar.span()?.start > command.span.end).then_some(Unpacked { address, tar })
}

fn is_archive(word: &Word) -> bool {
    let Some(address) = word.literal() else { return false };
    let is_remote = address.starts_with("https://") || address.starts_with("http://");
    is_remote && ENDINGS.iter().any(|ending| address.ends_with(ending))
}

/// The file that a download is saved in.
fn saved(call: &Call<'_>, address: &Word) -> Option<String> {
    let flags: &[&str] =
        if call.is_any(&["curl"]) { &["-o", "--output"] } else { &["-O", "--output-document"] };
    if let Some(output) = call.flag(flags) {
        let behind = call.args().iter().find(|word| word.span().start >= output.span().end);
        let value = call.flag_value(flags).map(|(_, value)| value);
        let is_cluster = output.prefix().len() > 2 && !output.prefix().starts_with("--");
        return if is_cluster { Some(behind?.literal()?.into_owned()) } else { value };
    }
    let is_named = call.is_any(&["wget"]) || call.has_flag(&["-O", "--remote-name"]);
    let name = address.literal()?.rsplit('/').next()?.to_owned();
    is_named.then_some(name)
}

/// Whether `tar` unpacks a whole archive as it is.
fn unpacks(tar: &Call<'_>) -> bool {
    if !tar.is_any(&["tar"]) {
        return false;
    }
    let mut extracts = false;
    let mut is_value = false;
    for (at, word) in tar.args().iter().enumerate() {
        let value = word.prefix();
        let flag = value.split('=').next().unwrap_or_default();
        // The first word may be letters without a dash: `tar xzf`.
        let letters = match flag.strip_prefix('-') {
            Some(rest) => (!rest.starts_with('-')).then_some(rest),
            None => (at == 0 && !flag.contains(['/', '.'])).then_some(flag),
        };
        match letters {
            _ if is_value => is_value = false,
            Some(letters) => {
                if !letters.chars().all(|letter| "xzjJfvpC".contains(letter)) {
                    return false;
                }
                extracts |= letters.contains('x');
                is_value = letters.ends_with(['f', 'C']);
            }
            None if flag.starts_with("--") && HARMLESS.contains(&flag) => {
                extracts |= matches!(flag, "--extract" | "--get");
                is_value = matches!(flag, "--file" | "--directory") && !value.contains('=');
            }
            None => return false,
        }
    }
    extracts
}

fn fix(
    context: &Context<'_>,
    index: usize,
    run: &Instruction,
    found: &Unpacked<'_>,
) -> Option<Fix> {
    let [script] = context.scripts(index) else { return None };
    let [download, tar] = &*script.commands else { return None };
    let [block] = &*script.blocks else { return None };
    let [_] = block.pipelines.as_slice() else { return None };
    let is_plain = run.keyword == Keyword::Run
        && run.flags.is_empty()
        && run.heredocs().is_empty()
        && run.inner_comments().is_empty()
        && !context.is_trigger(index)
        && [download, tar]
            .iter()
            .all(|command| command.redirections().is_empty() && command.assignments().is_empty());
    // A header or a password has no place in ADD.
    let letters = |word: &Word| {
        let text = word.prefix();
        let is_quiet = text.bytes().all(|byte| b"-fsSLqO".contains(&byte));
        is_quiet || word.span() == found.address.span()
    };
    let is_simple = download.call().args().iter().all(letters);
    if !is_plain || !is_simple {
        return None;
    }
    let directory = found.tar.flag_value(&["-C", "--directory"]).map(|(_, value)| value);
    let directory = match directory {
        Some(directory) if directory.starts_with('/') => directory,
        Some(_) => return None,
        None if found.tar.has_flag(&["-C"]) => return None,
        None => context.facts.state(index)?.workdir.path.as_deref()?.to_owned(),
    };
    let address = found.address.literal()?;
    if [address.as_ref(), &directory].iter().any(|it| it.contains([' ', '"', '\'', '$', '\\'])) {
        return None;
    }
    let written = format!("ADD --unpack {address} {}/", directory.trim_end_matches('/'));
    let span = Span::new(run.keyword_span().start, run.span.end);
    Some(Fix::suggestion("use ADD --unpack", vec![Edit::replace(span, written)]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes, run};

    const RULE: &str = "tally/prefer-add-unpack";

    #[test]
    fn the_address_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN b && curl -fsSL https://c/d.tar.gz | tar xz && e
                    ^^^^^^^^^^^^^^^^^^ ADD --unpack downloads and unpacks this archive without a shell
",
        );
        for text in [
            "curl -fsSLo /tmp/a https://b/c.tgz && tar -xf /tmp/a -C /d && rm /tmp/a",
            "wget https://b/c.tar.xz && tar --extract --file=c.tar.xz; tar -xf c.tar.xz",
            "curl -O https://b/c.tar.gz && tar -xzf c.tar.gz",
        ] {
            assert_eq!(run(RULE, &format!("FROM a\nRUN {text}\n")).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_archives_and_parts_of_them_are_silent() {
        for text in [
            "curl https://b/c.zip -o d && unzip d",
            "curl https://b/c.tar.gz | tar -tz",
            "curl https://b/c.tar.gz | tar -xz --strip-components=1",
            "curl https://b/c.tar.gz | tar -xz d/e",
            "curl $B/c.tar.gz | tar -xz",
            "curl -O https://b/c.tar.gz && tar -xf d.tar.gz",
            "curl -O https://b/c.tar.gz",
            "tar -xf c.tar.gz",
        ] {
            check(RULE, &format!("FROM a\nRUN {text}\n"));
        }
    }

    #[test]
    fn only_a_pipe_that_is_alone_becomes_an_add() {
        for (before, after) in [
            ("curl -fsSL https://a/b.tgz | tar -xz -C /c", Some("https://a/b.tgz /c/")),
            ("curl https://a/b.tgz | tar -xzC /c", None),
            ("wget -qO- https://a/b.tgz | tar -xz", Some("https://a/b.tgz /w/")),
            ("curl -H 'A: b' https://a/b.tgz | tar -xz", None),
            ("curl https://a/b.tgz | tar -xz && c", None),
            ("curl https://a/b.tgz | tar -xz -C c", None),
        ] {
            let from = format!("WORKDIR /w\nRUN {before}");
            let to = after.map(|after| format!("WORKDIR /w\nADD --unpack {after}"));
            fixes(RULE, &[(from.as_str(), to.as_deref().unwrap_or(&from))]);
        }
    }
}
