//! Permissions that are copied along.

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::{Applicability, Edit, Finding, Fix, Span};
use probity_shell::Call;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` of one file if the next instruction is a `RUN` that only runs `chmod` on that
    /// file.
    ///
    /// # Why it is bad
    ///
    /// The image contains the file twice, because the `chmod` writes the whole file into a new
    /// layer. `COPY --chmod` needs neither a second layer nor a shell.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY entrypoint.sh /entrypoint.sh
    /// RUN chmod 755 /entrypoint.sh
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// COPY --chmod=755 entrypoint.sh /entrypoint.sh
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY --chmod=755 entrypoint.sh /entrypoint.sh
    /// ```
    ///
    /// # Fix safety
    ///
    /// The fix adds `--chmod` to the `COPY` and removes the `RUN`. The level depends on the mode:
    ///
    /// - Suggestion for a number. If the source is a directory, the number then applies to all
    ///   files in it.
    /// - Unsafe for modes such as `+x`, which need Dockerfile syntax 1.14 or later.
    ///
    /// probity offers no fix if there is a comment between or inside the instructions, or if the
    /// `RUN` has a heredoc.
    PreferCopyChmod {
        name: "tally/prefer-copy-chmod",
        severity: Info,
        category: Style,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-copy-chmod/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, pair) in context.file.instructions.windows(2).enumerate() {
        let [copy, run] = pair else { continue };
        let is_pair = copy.keyword == Keyword::Copy && run.keyword == Keyword::Run;
        if !is_pair {
            continue;
        }
        let Some(target) = target(copy) else { continue };
        let [script] = context.scripts(index + 1) else { continue };
        let Some(command) = script.only_command().filter(|it| it.redirections().is_empty()) else {
            continue;
        };
        let Some(mode) = mode(&command.call(), &target) else { continue };
        if !run.flags.is_empty() || !command.assignments().is_empty() {
            continue;
        }
        let message = format!("COPY --chmod={mode} needs no separate layer");
        let finding = context.finding(command.span, message).with_related(copy.span, "the file");
        let fix = fix(context, copy, run, &mode);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Where the one source of a `COPY` without permissions comes to lie.
fn target(copy: &Instruction) -> Option<String> {
    let Arguments::Transfer { sources, destination: Some(to), .. } = &copy.arguments else {
        return None;
    };
    let [source] = &**sources else { return None };
    let (source, to) = (source.text.as_str(), to.text.as_str());
    let is_one = !source.ends_with(['/', '.']) && !source.contains(['*', '?', '[']);
    let is_known = !source.contains('$') && !to.contains(['$', '"', '\'', '\\']);
    let has_mode = copy.flags_named("chmod").next().is_some();
    if !is_one || !is_known || has_mode {
        return None;
    }
    if !to.ends_with('/') {
        return Some(to.to_owned());
    }
    let name = source.rsplit('/').next().unwrap_or(source);
    copy.heredocs().is_empty().then(|| format!("{to}{name}"))
}

/// The mode of `chmod MODE TARGET`.
fn mode(call: &Call<'_>, target: &str) -> Option<String> {
    let [name, mode, path] = call.words else { return None };
    let mode = mode.literal().filter(|_| name.is("chmod") && path.is(target))?;
    let is_mode = mode.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+=,".contains(&byte));
    (is_mode && !mode.is_empty()).then(|| mode.into_owned())
}

fn fix(context: &Context<'_>, copy: &Instruction, run: &Instruction, mode: &str) -> Option<Fix> {
    let gap = Span::new(copy.span.end, run.span.start);
    let is_plain = gap.slice(context.file.text)?.trim().is_empty()
        && run.inner_comments().is_empty()
        && run.heredocs().is_empty();
    let edits = vec![
        Edit::insert(copy.keyword_span().end, format!(" --chmod={mode}")),
        Edit::delete(Span::new(copy.span.end, run.span.end)),
    ];
    let is_number = mode.bytes().all(|byte| byte.is_ascii_digit());
    let safety = if is_number { Applicability::Suggestion } else { Applicability::Unsafe };
    is_plain.then(|| match safety {
        Applicability::Suggestion => Fix::suggestion("use COPY --chmod", edits),
        _ => Fix::risky("use COPY --chmod", edits),
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/prefer-copy-chmod";

    #[test]
    fn the_command_is_underlined() {
        check(
            RULE,
            "\
FROM a
COPY --chown=1 x/b /d/
RUN \\
  chmod +x \"/d/b\"
  ^^^^^^^^^^^^^^^ COPY --chmod=+x needs no separate layer
",
        );
    }

    #[test]
    fn what_is_more_than_that_is_silent() {
        for text in [
            "COPY a /b\nRUN chmod -R 755 /b",
            "COPY a /b\nRUN chmod 755 /c",
            "COPY a /b\nRUN chmod 755 /b && x",
            "COPY a /b\nRUN (chmod 755 /b)",
            "COPY a /b\nRUN x; chmod 755 /b",
            "COPY a b /c/\nRUN chmod 755 /c/a",
            "COPY a* /b\nRUN chmod 755 /b",
            "COPY . /b\nRUN chmod 755 /b",
            "COPY a $B\nRUN chmod 755 $B",
            "COPY --chmod=644 a /b\nRUN chmod 755 /b",
            "COPY a /b\nUSER c\nRUN chmod 755 /b",
            "COPY a /b\nRUN echo chmod 755 /b",
            "COPY a /b\nRUN <<EOF\nchmod 755 /b\nx\nEOF",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn the_flag_replaces_the_instruction() {
        fixes(
            RULE,
            &[
                (
                    "COPY a \\\n  # why\n  /b\n\nRUN chmod '0755' /b\nCMD b",
                    "COPY --chmod=0755 a \\\n  # why\n  /b\nCMD b",
                ),
                (
                    "copy --link a /b\nRUN [\"chmod\", \"u+x\", \"/b\"]",
                    "copy --chmod=u+x --link a /b",
                ),
                ("COPY <<EOF /b\nx\nEOF\nRUN chmod 755 /b", "COPY --chmod=755 <<EOF /b\nx\nEOF"),
                ("COPY a /b\n# why\nRUN chmod 755 /b", "COPY a /b\n# why\nRUN chmod 755 /b"),
            ],
        );
    }
}
