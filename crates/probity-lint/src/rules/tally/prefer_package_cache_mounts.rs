//! Downloads that the next build finds again.

mod caches;

use probity_dockerfile::{Arguments, Command, Dockerfile, Instruction, Keyword, Os};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Joiner, Pipeline, Script, StageKind};

use self::caches::{Cache, Emptied, Mount};
use crate::{
    engine::context::Context,
    facts::{base_image, packages},
    text::{
        lines::{self, whole_lines},
        shell_edits,
    },
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` whose package manager or compiler downloads files without a cache mount.
    ///
    /// The rule also flags a `RUN` that has the mount but empties the cache or bypasses it.
    ///
    /// The rule ignores a `RUN` in these cases:
    ///
    /// - It runs as a user other than root, and the cache is in a home directory. probity knows
    ///   only root's home directory. Unlike probity, tally mounts root's directory for every user.
    /// - It mounts a cache for the program at another path.
    /// - An `ENV` turns the cache off.
    ///
    /// # Why it is bad
    ///
    /// If one package changes, the build downloads all packages again. A cache mount keeps the
    /// downloads between builds and out of the image, so no cleanup is necessary.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12
    /// RUN pip install --no-cache-dir django==5.0.6
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM python:3.12
    /// RUN --mount=type=cache,target=/root/.cache/pip,id=pip \
    ///     pip install django==5.0.6
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12
    /// RUN --mount=type=cache,target=/root/.cache/pip,id=pip pip install django==5.0.6
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds the mount and removes commands and flags that empty or bypass the
    /// cache. The `RUN` installs the same packages, with these differences:
    ///
    /// - A builder other than BuildKit may reject the flag.
    /// - A later `RUN` no longer finds the files in the cache.
    /// - For apt, the fix also removes `/etc/apt/apt.conf.d/docker-clean` first, because Debian
    ///   images delete downloaded packages.
    ///
    /// probity offers no fix if it cannot remove or add a command without changing the rest of the
    /// script. It also offers none if the escape character is not a backslash.
    PreferPackageCacheMounts {
        name: "tally/prefer-package-cache-mounts",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-package-cache-mounts/",
    }
}

/// What makes apt in the images of Debian and Ubuntu remove each package after installing it.
const DOCKER_CLEAN: &str = "/etc/apt/apt.conf.d/docker-clean";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let step = lines::indentation(context.file);
    // The instruction from which on apt keeps what it downloads, in the stage that was last seen.
    let mut keeping: Option<usize> = None;
    let has_paragraphs = lines::has_paragraphs(context.file);
    // The last instruction that a fix spreads over several lines.
    let mut spread: Option<usize> = None;
    for (index, run) in context.runs() {
        let stage = context.facts.stage_of(index).map(|stage| stage.index);
        let keeps = packages::removes(context.scripts(index), &[DOCKER_CLEAN]);
        if keeps {
            keeping = stage;
        }
        let keeps_downloads = keeps || keeping.is_some() && keeping == stage;
        let is_linux = context.facts.stage_of(index).is_some_and(|stage| stage.os == Os::Linux);
        let is_shell = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        if !is_linux
            || !is_shell
            || run.flags_named("mount").any(|flag| flag.option("type").is_none())
        {
            continue;
        }
        let used = used(context, index);
        let missing: Vec<&Mount> = used
            .iter()
            .filter(|(cache, _)| !cache.is_elsewhere(run))
            .flat_map(|(cache, _)| cache.mounts)
            .filter(|mount| !packages::mounts(run, &[mount.target]))
            .collect();
        let Some((_, place)) = used.first() else { continue };
        let waste = waste(context, index, &used);
        let message = match (missing.is_empty(), waste.is_empty()) {
            (false, _) => "mount a cache, so the next build does not download again",
            (true, false) => "the cache that is mounted here is not used, or is emptied",
            (true, true) => continue,
        };
        let finding = context.finding(*place, message);
        let is_apt = missing.iter().any(|mount| mount.target == caches::APT_ARCHIVES);
        let apt = if is_apt && !keeps_downloads { Apt::Clears } else { Apt::Keeps };
        let mut fix = fix(context, index, run, &step, &missing, &waste, apt);
        if let Some(fix) = &mut fix
            && !missing.is_empty()
            && has_paragraphs
        {
            fix.edits.extend(blank_lines(context.file, index, spread));
            spread = Some(index);
        }
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Keeps a `RUN` apart from those beside it that go over several lines too, now or after a fix.
fn blank_lines(file: &Dockerfile<'_>, index: usize, spread: Option<usize>) -> Vec<Edit> {
    let is_large = |at: usize| {
        let is_run = |instruction: &&Instruction| instruction.keyword == Keyword::Run;
        let beside = file.instructions.get(at).filter(is_run);
        beside.is_some_and(|instruction| {
            spread == Some(at) || lines::is_multi_line(file, instruction)
        })
    };
    let before = index.checked_sub(1).filter(|&at| is_large(at));
    let after = is_large(index + 1).then_some(index);
    let gaps = before.into_iter().chain(after);
    gaps.filter_map(|left| lines::blank_line_after(file, left)).collect()
}

/// The caches that the commands of a `RUN` fill, each once, with the command that does.
fn used(context: &Context<'_>, index: usize) -> Vec<(&'static Cache, Span)> {
    let is_root = base_image::is_root(context, index)
        || context.facts.state(index).is_some_and(|state| state.user.is_none());
    let mut found: Vec<(&'static Cache, Span)> = Vec::new();
    let calls = context.package_calls(index);
    for (script_index, script) in context.scripts(index).iter().enumerate() {
        for (command_index, command) in script.commands.iter().enumerate() {
            let call = command.effective();
            // They are in the order of the source.
            let place = (script_index, command_index);
            let next = calls.partition_point(|package| (package.script, package.command) < place);
            let package =
                calls.get(next).filter(|package| (package.script, package.command) == place);
            let Some(cache) = caches::of(&call, package) else { continue };
            let is_known = !found.iter().any(|(other, _)| std::ptr::eq(*other, cache));
            let is_off = cache.is_off(|name| {
                context.facts.scope(index).get(name).is_some_and(|variable| variable.set)
            });
            if is_known && !is_off && (is_root || !cache.at_home) {
                found.extend(call.span().map(|span| (cache, span)));
            }
        }
    }
    found
}

/// What makes a cache useless: flags that go around it, and commands that empty it. None of the
/// inside for what cannot be taken out.
fn waste(
    context: &Context<'_>,
    index: usize,
    used: &[(&'static Cache, Span)],
) -> Vec<Option<Edit>> {
    let mut found = Vec::new();
    for script in context.scripts(index) {
        for (at, command) in script.commands.iter().enumerate() {
            let call = command.effective();
            for (cache, _) in used {
                if cache.fills(&call) {
                    let flags = call
                        .args()
                        .iter()
                        .filter(|argument| cache.flags.iter().any(|f| argument.is(f)));
                    found.extend(flags.map(|flag| without_word(context, script, flag.span())));
                }
                match cache.is_emptied_by(&call) {
                    Emptied::No => {}
                    Emptied::Whole => found.push(without_command(context, script, at)),
                    Emptied::Words(words) => {
                        found.extend(words.iter().map(|&word| without_word(context, script, word)));
                    }
                }
            }
        }
    }
    found
}

/// Takes a word out with the blank before it, or with its line where it has one of its own.
fn without_word(context: &Context<'_>, script: &Script, word: Span) -> Option<Edit> {
    let text = context.file.text;
    let before = text.get(..word.start)?.trim_end_matches([' ', '\t']);
    if shell_edits::is_exec_form(script) || before.len() == word.start {
        return None;
    }
    if !before.ends_with('\n') {
        return Some(Edit::delete(Span::new(before.len(), word.end)));
    }
    let line = whole_lines(text, word);
    let behind = Span::new(word.end, line.end).slice(text)?;
    (behind.trim() == "\\").then(|| Edit::delete(line))
}

/// Takes a command out of a chain of `&&`, which must not be all there is.
fn without_command(context: &Context<'_>, script: &Script, command: usize) -> Option<Edit> {
    let command = script.commands.get(command)?;
    let pipeline = script.pipeline(command.place)?;
    let is_alone = pipeline.stages.len() == 1
        && !pipeline.negated
        && script.blocks.first().is_some_and(|block| block.pipelines.len() > 1)
        && command.place.block() == 0;
    let next = script.next_pipeline(command.place);
    // Behind `set -e` a semicolon joins as `&&` does.
    let is_joined = |joiner| match joiner {
        Joiner::And | Joiner::Newline => true,
        Joiner::Semicolon => shell_edits::stops_at_failure(script),
        _ => false,
    };
    let span = match script.previous_pipeline(command.place) {
        Some(previous) if is_joined(pipeline.joiner) => {
            Span::new(previous.span.end, pipeline.span.end)
        }
        None if next.is_some_and(|next| is_joined(next.joiner)) => {
            Span::new(pipeline.span.start, next?.span.start)
        }
        _ => return None,
    };
    // What would answer its failure must not answer that of the one before.
    let is_answered = next.is_some_and(|next| next.joiner == Joiner::Or);
    let is_lossless = !shell_edits::has_comment(context, span) && !is_answered;
    (is_alone && is_lossless).then(|| Edit::delete(span))
}

/// Whether apt keeps what it downloads, or has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apt {
    Keeps,
    Clears,
}

fn fix(
    context: &Context<'_>,
    index: usize,
    run: &Instruction,
    step: &str,
    missing: &[&Mount],
    waste: &[Option<Edit>],
    apt: Apt,
) -> Option<Fix> {
    let mut edits: Vec<Edit> = waste.iter().cloned().collect::<Option<_>>()?;
    edits.sort();
    edits.dedup();
    // Two commands beside each other cannot both go: what joins them belongs to one.
    let overlap = edits.windows(2).any(|pair| match pair {
        [left, right] => left.span.end > right.span.start,
        _ => false,
    });
    let mut added = Vec::new();
    if !missing.is_empty() {
        added.push(mounted(context, run, step, missing));
    }
    if apt == Apt::Clears {
        added.push(keep_downloads(context, index, step)?);
    }
    // Two texts for one place are one edit.
    match added.as_slice() {
        [flags, command] if flags.span == command.span => {
            let text = format!("{}{}", flags.text, command.text);
            edits.push(Edit::insert(flags.span.start, text));
        }
        _ => edits.extend(added),
    }
    let is_certain = !overlap && context.file.escape == '\\';
    is_certain.then(|| Fix::suggestion("mount a cache", edits))
}

/// Adds the flags, each on a line of its own and the command on the next; a heredoc follows the last.
fn mounted(context: &Context<'_>, run: &Instruction, step: &str, missing: &[&Mount]) -> Edit {
    let text = context.file.text;
    let at = run.line.offset(run.rest().start);
    let line = Span::new(whole_lines(text, Span::at(at)).start, at).slice(text).unwrap_or_default();
    // A command that begins its line keeps its indentation, and the flags take the same.
    let indentation = if line.trim().is_empty() { line } else { step };
    let next_line = format!(" \\{}{indentation}", lines::line_end(text));
    let flags: Vec<String> = missing.iter().map(|mount| mount.flag()).collect();
    let behind = if run.heredocs().is_empty() { next_line.as_str() } else { " " };
    Edit::insert(at, format!("{}{behind}", flags.join(&next_line)))
}

/// Removes the file that makes apt forget its downloads, before the first command or behind `set`,
/// joined as the commands of the text are.
fn keep_downloads(context: &Context<'_>, index: usize, step: &str) -> Option<Edit> {
    let [script] = context.scripts(index) else { return None };
    let pipelines = &script.blocks.first()?.pipelines;
    let is_set = |pipeline: &Pipeline| match &*pipeline.stages {
        [stage] => match stage.kind {
            StageKind::Command(at) => {
                script.commands.get(at).is_some_and(|command| command.call().is_any(&["set"]))
            }
            StageKind::Compound(_) => false,
        },
        _ => false,
    };
    let settings = pipelines.iter().take_while(|pipeline| is_set(pipeline)).count();
    let first = pipelines.get(settings)?;
    let text = context.file.text;
    let joined = match pipelines.get(settings + 1).map(|next| (next.joiner, next.span.start)) {
        None => format!(" \\{}{step}&& ", lines::line_end(text)),
        Some((Joiner::And | Joiner::Semicolon | Joiner::Newline, next)) => {
            let between = Span::new(first.span.end, next);
            // The comment there is about the next command.
            let separator = between.slice(text)?;
            if shell_edits::has_comment(context, between) || separator.contains('#') {
                return None;
            }
            separator.to_owned()
        }
        Some(_) => return None,
    };
    Some(Edit::insert(first.span.start, format!("rm -f {DOCKER_CLEAN}{joined}")))
}

#[cfg(test)]
mod tests;
