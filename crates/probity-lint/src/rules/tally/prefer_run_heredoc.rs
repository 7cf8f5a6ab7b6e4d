//! Chains of commands as the scripts that they are.

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Os, parse};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Block, BlockKind, Joiner, Pipeline, Script, Word};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::{lines, shell_edits},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that chains three or more commands with `&&`.
    ///
    /// The option `check-consecutive-runs` also flags the first of several consecutive `RUN`
    /// instructions that together have three or more commands. This option is off by default,
    /// because `hadolint/DL3059` reports them. In tally, it is on. The option `min-commands`
    /// changes the number.
    ///
    /// # Why it is bad
    ///
    /// A heredoc contains an ordinary script. It has one command per line and comments in any
    /// place, and it needs no backslashes.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN ./configure && make && make install
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    ///
    /// RUN <<EOF
    /// set -e
    /// ./configure
    /// make
    /// make install
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN make && make install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix writes the commands into a heredoc. `set -e` ends the script at the
    /// first failed command, as `&&` did. If the script or its shell already has this setting, the
    /// fix does not add it. BuildKit builds the layer again, and Dockerfile syntax before 1.4 has
    /// no heredocs.
    ///
    /// probity parses the new script and offers the fix only if all commands are identical. It
    /// offers no fix in these cases:
    ///
    /// - `set -e` would affect more than `&&` did: the script contains `;`, a loop, a function or a
    ///   group of several commands.
    /// - There is a comment inside a command.
    /// - The shell does not treat a line continuation as one.
    /// - The Dockerfile selects a syntax before 1.4.
    /// - The Dockerfile has CRLF line endings, or its escape character is not a backslash.
    PreferRunHeredoc {
        name: "tally/prefer-run-heredoc",
        severity: Style,
        category: Style,
        fixes: Suggestion,
        options: &[
            OptionSpec {
                name: "check-chained-commands",
                kind: OptionKind::Boolean,
                default: "true",
                about: "Flag commands that `&&` joins.",
            },
            OptionSpec {
                name: "check-consecutive-runs",
                kind: OptionKind::Boolean,
                default: "false",
                about: "Flag consecutive `RUN` instructions.",
            },
            OptionSpec {
                name: "min-commands",
                kind: OptionKind::Integer,
                default: "3",
                about: "Minimum number of commands that the rule flags.",
            },
        ],
        url: "https://tally.wharflab.com/rules/tally/prefer-run-heredoc/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let least = usize::try_from(context.integer("min-commands")).unwrap_or(usize::MAX).max(2);
    if context.boolean("check-consecutive-runs") {
        check_consecutive(context, least, findings);
    }
    let runs = context.each(Keyword::Run).filter(|_| context.boolean("check-chained-commands"));
    for (index, run) in runs {
        let is_shell = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        let is_linux = context.facts.stage_of(index).is_some_and(|stage| stage.os == Os::Linux);
        let Some(script) = context.scripts(index).first() else { continue };
        if !is_shell || !is_linux {
            continue;
        }
        let Some(block) = script.blocks.first() else { continue };
        let joined =
            block.pipelines.iter().filter(|pipeline| pipeline.joiner == Joiner::And).count() + 1;
        if joined < least || !run.heredocs().is_empty() || !script.errors().is_empty() {
            continue;
        }
        let message = format!("{joined} commands make a script; write it as a heredoc");
        let finding = context.finding(run.keyword_span(), message);
        let fix = fix(context, index, run, script, block);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Flags the first of several that have enough commands between them.
fn check_consecutive(context: &Context<'_>, least: usize, findings: &mut Vec<Finding>) {
    let instructions = &context.file.instructions;
    let is_run = |index: usize| {
        instructions.get(index).is_some_and(|instruction| {
            instruction.keyword == Keyword::Run
                && instruction.flags.is_empty()
                && instruction.heredocs().is_empty()
                && matches!(instruction.arguments, Arguments::Command(Command::Shell(_)))
        })
    };
    for (index, run) in context.each(Keyword::Run) {
        let is_first = is_run(index) && !index.checked_sub(1).is_some_and(is_run);
        let group: Vec<usize> = (index..).take_while(|&it| is_first && is_run(it)).collect();
        let scripts = group.iter().filter_map(|&it| context.scripts(it).first());
        let blocks = scripts.filter_map(|script| script.blocks.first());
        let count: usize = blocks.map(|block| block.pipelines.len()).sum();
        if group.len() > 1 && count >= least {
            let message = format!("{count} commands in {} RUNs make a script", group.len());
            findings.push(context.finding(run.keyword_span(), message));
        }
    }
}

fn fix(
    context: &Context<'_>,
    index: usize,
    run: &Instruction,
    script: &Script,
    block: &Block,
) -> Option<Fix> {
    let is_chain = block.pipelines.iter().all(|pipeline| {
        !pipeline.negated
            && !pipeline.background
            && matches!(pipeline.joiner, Joiner::First | Joiner::And | Joiner::Or)
    });
    let is_plain = is_chain
        && script.blocks.iter().skip(1).all(is_untouched_by_errexit)
        && context.file.escape == '\\'
        && lines::line_end(context.file.text) == "\n"
        && !starts_with_old_syntax(context);
    let start = block.pipelines.first()?.span.start;
    let end = block.pipelines.last()?.span.end;
    // Behind the last command nothing may be left: a comment, a semicolon.
    if !is_plain || end != run.span.end {
        return None;
    }
    let errexit = if shell_edits::stops_at_failure(script) { "" } else { "set -e\n" };
    let body = body(context, run, &block.pipelines)?;
    // Lists of arguments read better without the indentation that `RUN` gave them.
    let written =
        [dedented(&body), body].into_iter().map(|body| format!("<<EOF\n{errexit}{body}EOF"));
    let heredoc = written.into_iter().find(|heredoc| says_the_same(heredoc, script))?;
    let (start, heredoc) = match run.flags.last() {
        // What is left between the last flag and the command is one space.
        Some(flag) if !shell_edits::has_comment(context, Span::new(flag.span.end, start)) => {
            (flag.span.end, format!(" {heredoc}"))
        }
        _ => (start, heredoc),
    };
    let mut edits = lines::blank_lines_around(context.file, index);
    edits.push(Edit::replace(Span::new(start, end), heredoc));
    Some(Fix::suggestion("write a heredoc", edits))
}

/// The lines that go on with a command, indented by one step less where all of them have two.
fn dedented(body: &str) -> String {
    let mut is_continued = false;
    let mut widths = Vec::new();
    let mut marked = Vec::new();
    for line in body.lines() {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        widths.extend(is_continued.then_some(blanks));
        marked.push((is_continued, line));
        is_continued = line.ends_with('\\');
    }
    let least = widths.into_iter().min().unwrap_or(0);
    let shown = marked.into_iter().map(|(is_continued, line)| {
        let unit = if line.starts_with('\t') { 1 } else { 4 };
        // One step stays, so that the list is told from the commands.
        let surplus = if is_continued { least.saturating_sub(unit) } else { 0 };
        format!("{}\n", line.get(surplus..).unwrap_or(line))
    });
    shown.collect()
}

/// Whether a list within the text means the same where the first failure ends it.
fn is_untouched_by_errexit(block: &Block) -> bool {
    let is_single = block.pipelines.len() < 2
        || block
            .pipelines
            .iter()
            .all(|pipeline| matches!(pipeline.joiner, Joiner::First | Joiner::And | Joiner::Or));
    let is_calm = !matches!(block.kind, BlockKind::LoopBody | BlockKind::Function);
    is_single && is_calm
}

/// Whether the file asks for a frontend that knows no heredocs.
fn starts_with_old_syntax(context: &Context<'_>) -> bool {
    let mut directives = context.file.directives.iter();
    let syntax =
        directives.find(|directive| directive.name == probity_dockerfile::DirectiveName::Syntax);
    let version =
        syntax.and_then(|directive| directive.value.rsplit_once(':')).map(|(_, version)| version);
    version.is_some_and(|version| {
        ["1.0", "1.1", "1.2", "1.3"].iter().any(|old| {
            version
                .strip_prefix(old)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// A line for each command, and for each comment between two of them.
fn body(context: &Context<'_>, run: &Instruction, pipelines: &[Pipeline]) -> Option<String> {
    let text = context.file.text;
    // Everything up to the last `||` is one line: what comes before it is answered by it.
    let answered =
        pipelines.iter().rposition(|pipeline| pipeline.joiner == Joiner::Or).unwrap_or(0);
    let (head, rest) = pipelines.split_at_checked(answered + 1)?;
    let first = head.first()?.span.to(head.last()?.span);
    let spans = std::iter::once(first).chain(rest.iter().map(|pipeline| pipeline.span));
    let mut body = String::new();
    let mut comments = run.inner_comments().iter().peekable();
    for span in spans {
        while let Some(comment) = comments.next_if(|comment| comment.span.end <= span.start) {
            body.push_str(comment.span.slice(text)?.trim());
            body.push('\n');
        }
        body.push_str(span.slice(text)?);
        body.push('\n');
    }
    // One within a command cannot stand there in a script.
    (comments.next().is_none() && !body.lines().any(|line| line.trim() == "EOF")).then_some(body)
}

/// Whether the heredoc has the very commands of the text; `set -e` may come before them.
fn says_the_same(heredoc: &str, script: &Script) -> bool {
    let text = format!("FROM a\nRUN {heredoc}\n");
    let file = parse(&text);
    let facts = probity_dockerfile::Facts::of(&file);
    let [written] = facts.scripts(&file, 1) else { return false };
    let words = |command: &probity_shell::Command| -> Vec<String> {
        let own = command.words.iter().map(|word: &Word| word.text().to_string());
        let set = command.assignments().iter().map(|assignment| assignment.name.clone());
        let targets =
            command.redirections().iter().filter_map(|redirection| redirection.target.as_ref());
        set.chain(own).chain(targets.map(|word| word.text().to_string())).collect()
    };
    let before: Vec<Vec<String>> = script.commands.iter().map(words).collect();
    let added = written.commands.len().saturating_sub(before.len());
    let after: Vec<Vec<String>> = written.commands.iter().skip(added).map(words).collect();
    file.errors.is_empty() && written.errors().is_empty() && before == after
}

#[cfg(test)]
mod tests;
