//! Files that are written by a shell and could be copied.

use std::borrow::Cow;

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Os};
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Call, RedirectionKind, Script};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::base_image,
    text::lines,
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that only writes fixed text to a file with `echo` or `printf`.
    ///
    /// The path must be absolute. The rule also flags the next `RUN` if it only appends fixed text
    /// to the same file.
    ///
    /// The rule ignores text with variables, text with escapes that shells read differently, and
    /// text appended to other files.
    ///
    /// # Why it is bad
    ///
    /// A `COPY` with a heredoc shows the final content of the file and needs no quoting. It starts
    /// no container, and it can set the owner and the permissions.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN echo "listen 80" > /etc/app.conf
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    ///
    /// COPY <<EOF /etc/app.conf
    /// listen 80
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY <<EOF /etc/app.conf
    /// listen 80
    /// EOF
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces the `RUN` with a `COPY` that writes the same content. It
    /// differs from the `RUN` in two ways:
    ///
    /// - `COPY` replaces an existing file, so the file loses its owner and permissions.
    /// - `COPY` creates missing directories.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The `RUN` appends to the file.
    /// - The `RUN` does not run as root.
    /// - The `RUN` has flags, a heredoc or a comment.
    /// - The Dockerfile has CRLF line endings, which the new file would contain.
    /// - A line of the text is `EOF`.
    PreferCopyHeredoc {
        name: "tally/prefer-copy-heredoc",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        options: &[
            OptionSpec {
                name: "check-consecutive-runs",
                kind: OptionKind::Boolean,
                default: "true",
                about: "Also flag the next `RUN` if it appends to the same file.",
            },
            OptionSpec {
                name: "check-single-run",
                kind: OptionKind::Boolean,
                default: "true",
                about: "Flag a `RUN` that writes the file.",
            },
        ],
        url: "https://tally.wharflab.com/rules/tally/prefer-copy-heredoc/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    // The file that the instruction before has written.
    let mut written: Option<(usize, String)> = None;
    for (index, run) in context.each(Keyword::Run) {
        let is_linux = context.facts.stage_of(index).is_some_and(|stage| stage.os == Os::Linux);
        let is_shell = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        let [script] = context.scripts(index) else { continue };
        if !is_linux || !is_shell {
            continue;
        }
        let Some(file) = file(script) else { continue };
        let File { path, content, appended } = file;
        if appended {
            let goes_on = written.as_ref() == Some(&(index, path.clone()));
            if goes_on && context.boolean("check-consecutive-runs") {
                let message = format!("one COPY <<EOF {path} writes the whole file");
                findings.push(context.finding(run.keyword_span(), message));
            }
            written = goes_on.then_some((index + 1, path));
            continue;
        }
        if context.boolean("check-single-run") {
            let message = format!("COPY <<EOF {path} writes the file without a shell");
            let finding = context.finding(run.keyword_span(), message);
            let fix = fix(context, index, run, &path, &content);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
        written = Some((index + 1, path));
    }
}

/// The one file that a script writes.
struct File {
    path: String,
    content: String,
    /// At its end.
    appended: bool,
}

fn file(script: &Script) -> Option<File> {
    let command = script.only_command()?;
    let [output] = command.redirections() else { return None };
    let appended = output.kind == RedirectionKind::Append;
    let is_new = matches!(output.kind, RedirectionKind::Output | RedirectionKind::Clobber);
    let is_file =
        (is_new || appended) && output.fd.unwrap_or(1) == 1 && command.assignments().is_empty();
    let path = output.target.as_ref()?.literal().filter(|_| is_file)?;
    let is_path = path.starts_with('/')
        && !path.starts_with("/dev/")
        && !path.starts_with("/proc/")
        && !path.ends_with('/')
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte));
    let content = content(&command.call()).filter(|_| is_path)?;
    Some(File { path: path.into_owned(), content, appended })
}

/// What a command writes, where every shell agrees on it.
fn content(call: &Call<'_>) -> Option<String> {
    let words: Vec<Cow<'_, str>> =
        call.args().iter().map(|word| word.literal()).collect::<Option<_>>()?;
    match call.name()?.as_ref() {
        "echo" => {
            let said = words.join(" ");
            let is_fixed = !said.contains('\\') && !words.first().is_some_and(|word| is_flag(word));
            is_fixed.then(|| format!("{said}\n"))
        }
        "printf" => {
            let [format] = words.as_slice() else { return None };
            let lines = format.strip_suffix("\\n")?.split("\\n").collect::<Vec<_>>();
            let is_fixed = !lines.iter().any(|line| line.contains(['\\', '%'])) && !is_flag(format);
            is_fixed.then(|| format!("{}\n", lines.join("\n")))
        }
        _ => None,
    }
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn fix(
    context: &Context<'_>,
    index: usize,
    run: &Instruction,
    path: &str,
    content: &str,
) -> Option<Fix> {
    let is_plain = run.flags.is_empty()
        && run.heredocs().is_empty()
        && run.inner_comments().is_empty()
        && base_image::is_root(context, index)
        && lines::line_end(context.file.text) == "\n"
        && !content.contains('\r')
        && !content.lines().any(|line| line == "EOF");
    // The build expands variables in a heredoc, unless its name is quoted.
    let name = if content.contains(['$', '\\']) { "\"EOF\"" } else { "EOF" };
    let text = format!("COPY <<{name} {path}\n{content}EOF");
    is_plain.then(|| {
        let mut edits = lines::blank_lines_around(context.file, index);
        edits.push(Edit::replace(run.span, text));
        Fix::suggestion("use COPY", edits)
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        OptionValue,
        engine::harness::{check, fixed, fixes, run_with},
    };

    const RULE: &str = "tally/prefer-copy-heredoc";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN echo 'a  b' \\
^^^ COPY <<EOF /etc/c writes the file without a shell
  > \"/etc/c\"
",
        );
    }

    #[test]
    fn what_is_appended_right_behind_is_a_part_of_it() {
        check(
            RULE,
            "\
FROM a
RUN echo a > /b
^^^ COPY <<EOF /b writes the file without a shell
RUN echo c >> /b
^^^ one COPY <<EOF /b writes the whole file
RUN echo d >> /e
RUN echo f >> /b
",
        );
        let off = OptionValue::Boolean(false);
        let text = "FROM a\nRUN echo a > /b\nRUN echo c >> /b\n";
        for option in ["check-single-run", "check-consecutive-runs"] {
            assert_eq!(run_with(RULE, text, |rules| rules.set_option(RULE, option, &off)).len(), 1);
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_silent() {
        for run in [
            "echo a >> /b",
            "echo $A > /b",
            "echo \"$A\" > /b",
            "echo -e a > /b",
            "echo 'a\\nb' > /b",
            "echo a > b",
            "echo a > $B",
            "echo a > /dev/null",
            "echo a 2> /b",
            "echo a > /b 2>&1",
            "(echo a > /b)",
            "echo a > /b && c",
            "echo a | tee /b",
            "printf '%s\\n' a > /b",
            "printf a > /b",
            "echo 'echo a > /b'",
            "A=b echo c > /d",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(
            RULE,
            "FROM a\nRUN <<EOF\necho a > /b\nc\nEOF\nRUN [\"echo\", \"a\", \">\", \"/b\"]\n",
        );
    }

    #[test]
    fn the_content_is_what_the_shell_would_write() {
        fixes(
            RULE,
            &[
                ("RUN echo a  'b  c' > /d", "\nCOPY <<EOF /d\na b  c\nEOF"),
                ("RUN printf 'a\\nb\\n' >/c", "\nCOPY <<EOF /c\na\nb\nEOF"),
                ("RUN echo '$A' > /b\nUSER c", "\nCOPY <<\"EOF\" /b\n$A\nEOF\n\nUSER c"),
                ("RUN echo \\\n  a > /b", "\nCOPY <<EOF /b\na\nEOF"),
            ],
        );
        for text in [
            "RUN --network=none echo a > /b",
            "RUN echo \\\n  # why\n  a > /b",
            "RUN echo EOF > /b",
            "USER c\nRUN echo a > /b",
        ] {
            fixes(RULE, &[(text, text)]);
        }
        fixed(RULE, "FROM mine\nRUN echo a > /b\n", "FROM mine\nRUN echo a > /b\n");
    }
}
