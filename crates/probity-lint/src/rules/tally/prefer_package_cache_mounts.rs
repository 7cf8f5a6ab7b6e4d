//! Downloads that the next build finds again.

mod caches;

use probity_dockerfile::{Arguments, Command, Instruction, Os};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Joiner, Script};

use self::caches::{Cache, Mount};
use crate::{base_image, context::Context, lines::whole_lines, packages, shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` whose package manager or compiler downloads into a directory that no cache is
    /// mounted over, and one that has the mount and still empties the cache or goes around it.
    ///
    /// A directory below a home is known for root alone: a `RUN` of another user is left alone where
    /// the cache would be there. tally mounts root's.
    ///
    /// # Why it is bad
    ///
    /// Whenever one package changes, all of them are downloaded again. A cache mount keeps what was
    /// downloaded from one build to the next and out of the image, so that nothing has to be cleaned
    /// up.
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
    /// RUN --mount=type=cache,target=/root/.cache/pip,id=pip pip install django==5.0.6
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12
    /// RUN --mount=type=cache,target=/root/.cache/pip,id=pip pip install django==5.0.6
    /// ```
    ///
    /// # Fix safety
    ///
    /// A suggestion: the same packages are installed, but a build without BuildKit does not know the
    /// flag, a later `RUN` no longer finds what lay in the cache, and the images of Debian remove
    /// downloaded packages unless `/etc/apt/apt.conf.d/docker-clean` is removed first. There is no fix
    /// where what empties the cache cannot be taken out of the text as a whole.
    PreferPackageCacheMounts {
        name: "tally/prefer-package-cache-mounts",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-package-cache-mounts/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, run) in context.runs() {
        let is_linux = context.facts.stage_of(index).is_some_and(|stage| stage.os == Os::Linux);
        let is_shell = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        if !is_linux || !is_shell || run.flags_named("mount").any(|it| it.option("type").is_none())
        {
            continue;
        }
        let used = used(context, index);
        let missing: Vec<&Mount> = used
            .iter()
            .flat_map(|(cache, _)| cache.mounts)
            .filter(|mount| !packages::mounts(run, &[mount.target]))
            .collect();
        let Some((_, place)) = used.first() else { continue };
        let waste = waste(context, index, &used);
        let message = match (missing.is_empty(), waste.is_empty()) {
            (false, _) => "mount a cache, so that the next build need not download again",
            (true, false) => "the cache that is mounted here is not used, or is emptied",
            (true, true) => continue,
        };
        let finding = context.finding(*place, message);
        let fix = fix(context, run, &missing, &waste);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
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
            let package =
                calls.iter().find(|it| it.script == script_index && it.command == command_index);
            let Some(cache) = caches::of(&call, package) else { continue };
            let is_known = !found.iter().any(|(other, _)| std::ptr::eq(*other, cache));
            if let Some(span) = call.span().filter(|_| is_known && (is_root || !cache.at_home)) {
                found.push((cache, span));
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
                    let flags =
                        call.args().iter().filter(|it| cache.flags.iter().any(|f| it.is(f)));
                    found.extend(flags.map(|flag| without_word(context, script, flag.span)));
                }
                if cache.is_emptied_by(&call) {
                    found.push(without_command(context, script, at));
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
        && script.blocks.first().is_some_and(|it| it.pipelines.len() > 1)
        && command.place.block == 0;
    let next = script.next_pipeline(command.place);
    let is_joined = |joiner| matches!(joiner, Joiner::And | Joiner::Newline);
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

fn fix(
    context: &Context<'_>,
    run: &Instruction,
    missing: &[&Mount],
    waste: &[Option<Edit>],
) -> Option<Fix> {
    let mut edits: Vec<Edit> = waste.iter().cloned().collect::<Option<_>>()?;
    edits.sort();
    edits.dedup();
    // Two commands beside each other cannot both go: what joins them belongs to one.
    let overlap = edits.windows(2).any(|pair| match pair {
        [left, right] => left.span.end > right.span.start,
        _ => false,
    });
    if !missing.is_empty() {
        let flags: String = missing.iter().map(|mount| format!("{} ", mount.flag())).collect();
        edits.push(Edit::insert(run.line.offset(run.rest.start), flags));
    }
    let is_certain = !overlap && context.file.escape == '\\';
    is_certain.then(|| Fix::suggestion("mount a cache", edits))
}

#[cfg(test)]
mod tests;
