//! Repositories that a shell fetches.

use probity_dockerfile::{Instruction, Keyword, Os};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{BlockKind, Call, Command, Script};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `git clone` of a remote repository in a `RUN`.
    ///
    /// The rule ignores clones that depend on a condition, and URLs that contain variables.
    ///
    /// # Why it is bad
    ///
    /// The build cache does not notice changes in the repository, and the image needs git. An `ADD`
    /// with the repository's URL fetches it without git and checks for new commits.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN git clone -b v1.2 https://github.com/example/tool.git /src/tool
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// ADD --keep-git-dir=true https://github.com/example/tool.git#v1.2 /src/tool
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ADD https://github.com/example/tool.git#v1.2 /src/tool
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces the `RUN` with an `ADD`. The files are then owned by root, and
    /// BuildKit also fetches submodules.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The `RUN` does anything else, or it has flags, a heredoc or a comment.
    /// - The clone uses options that `ADD` cannot replace.
    /// - `ADD` does not recognize the URL as a repository.
    /// - The target directory is not known.
    PreferAddGit {
        name: "tally/prefer-add-git",
        severity: Warning,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-add-git/",
    }
}

/// Flags of `git` and `git clone` whose value is the next word.
const VALUED: &[&str] = &[
    "-C",
    "-c",
    "-b",
    "--branch",
    "--depth",
    "-o",
    "--origin",
    "-j",
    "--jobs",
    "--reference",
    "--shallow-since",
    "--template",
    "--filter",
    "--config",
    "-u",
    "--upload-pack",
];

/// Flags that a fix knows what to do with.
const KNOWN: &[&str] = &[
    "-b",
    "--branch",
    "--depth",
    "--single-branch",
    "-q",
    "--quiet",
    "--recursive",
    "--recurse-submodules",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.runs() {
        if context.facts.stage_of(index).is_none_or(|stage| stage.os != Os::Linux) {
            continue;
        }
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        let mut clones = commands.filter_map(|(script, command)| {
            let call = command.effective();
            let address = address(&call)?;
            (!is_conditional(script, command)).then_some((call.span()?, address))
        });
        let Some((span, address)) = clones.next() else { continue };
        let message = "ADD fetches a repository without git and notices new commits";
        let more = clones.map(|(span, _)| span);
        let finding = context.finding(span, message).with_more_places(more);
        let fix = fix(context, index, run, &address);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The address that `git clone` fetches, where it is a remote one.
fn address(call: &Call<'_>) -> Option<String> {
    let words = call.positional(VALUED);
    let (verb, rest) = words.split_first()?;
    if !call.is_any(&["git"]) || !verb.is("clone") {
        return None;
    }
    let address = rest.first()?.literal()?.into_owned();
    let is_remote = address.contains("://") || address.starts_with("git@");
    (is_remote && !address.starts_with("file://")).then_some(address)
}

fn is_conditional(script: &Script, command: &Command) -> bool {
    use BlockKind::{Branch, CaseArm, Condition, Function, LoopBody};
    let kinds = [Branch, CaseArm, Condition, Function, LoopBody];
    script.enclosing(command).any(|block| kinds.contains(&block.kind))
}

fn fix(context: &Context<'_>, index: usize, run: &Instruction, address: &str) -> Option<Fix> {
    let [script] = context.scripts(index) else { return None };
    let command = script.only_command()?;
    let call = command.call();
    let is_plain = run.keyword == Keyword::Run
        && run.flags.is_empty()
        && run.heredocs().is_empty()
        && run.inner_comments().is_empty()
        && !context.is_trigger(index)
        && command.redirections().is_empty()
        && command.assignments().is_empty();
    let flags = call.args().iter().map(|word| word.prefix()).filter(|value| value.starts_with('-'));
    let is_known = flags.map(|value| value.split('=').next().unwrap_or_default().to_owned());
    if !is_plain || !is_known.into_iter().all(|flag| KNOWN.contains(&flag.as_str())) {
        return None;
    }
    let reference = match call.flag(&["-b", "--branch"]) {
        Some(_) => format!("#{}", call.flag_value(&["-b", "--branch"])?.1),
        None => String::new(),
    };
    let source = repository(address)?;
    let words = call.positional(VALUED);
    let name = source.trim_end_matches(".git").rsplit('/').next()?;
    let directory = match words.get(2) {
        Some(word) => word.literal()?.into_owned(),
        None => name.to_owned(),
    };
    let target = if directory.starts_with('/') {
        directory
    } else {
        let workdir = context.facts.state(index)?.workdir.path.as_deref()?.to_owned();
        format!("{}/{directory}", workdir.trim_end_matches('/'))
    };
    if [&target, &reference].iter().any(|value| value.contains([' ', '"', '\'', '$', '\\'])) {
        return None;
    }
    let written = format!("ADD --keep-git-dir=true {source}{reference} {target}");
    let span = Span::new(run.keyword_span().start, run.span.end);
    Some(Fix::suggestion("use ADD", vec![Edit::replace(span, written)]))
}

/// The address as `ADD` takes it for one of a repository.
fn repository(address: &str) -> Option<String> {
    if address.ends_with(".git") {
        return Some(address.to_owned());
    }
    let rest = address.strip_prefix("https://")?;
    let (host, path) = rest.split_once('/')?;
    let is_repository = path.trim_end_matches('/').split('/').count() == 2;
    (matches!(host, "github.com" | "gitlab.com") && is_repository)
        .then(|| format!("{}.git", address.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/prefer-add-git";
    const SAYS: &str = "ADD fetches a repository without git and notices new commits";

    #[test]
    fn the_call_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN b && sudo git -C x clone --depth 1 git@c:d && git clone https://e/f
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
                                                  ^^^^^^^^^^^^^^^^^^^^^ likewise
"
            ),
        );
    }

    #[test]
    fn local_conditional_and_variable_ones_are_silent() {
        for run in [
            "git clone ./a",
            "git clone /a/b c",
            "git clone file:///a",
            "git clone $A",
            "git clone https://a/$B",
            "if a; then git clone https://b/c; fi",
            "git fetch https://a/b",
            "echo git clone https://a/b",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(RULE, "FROM a/windows/servercore\nRUN git clone https://a/b\n");
    }

    #[test]
    fn only_a_clone_that_is_alone_becomes_an_add() {
        for (before, after) in [
            ("git clone https://a/b.git /c", Some("https://a/b.git /c")),
            (
                "git clone --depth 1 https://github.com/a/b /c",
                Some("https://github.com/a/b.git /c"),
            ),
            ("git clone https://a/b.git", Some("https://a/b.git /w/b")),
            ("git clone https://a/b /c", None),
            ("git clone --mirror https://a/b.git /c", None),
            ("git clone https://a/b.git /c && d", None),
            ("A=b git clone https://a/b.git /c", None),
        ] {
            let from = format!("WORKDIR /w\nRUN {before}");
            let to = after.map(|after| format!("WORKDIR /w\nADD --keep-git-dir=true {after}"));
            fixes(RULE, &[(from.as_str(), to.as_deref().unwrap_or(&from))]);
        }
    }
}
