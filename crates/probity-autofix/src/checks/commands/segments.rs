//! The parts of a RUN whose commands simply follow each other.

use probity_dockerfile::{Flag, PackageCall};
use probity_shell::{Block, BlockKind, Command, Joiner, Script};

use super::{is_cache, is_context_mount, is_secret_mount, words};
use crate::checks::{View, steps::absolute};

/// One pipeline of a RUN, with how it is written and which commands it has.
pub(crate) struct Segment {
    pub(crate) text: String,
    pub(crate) commands: Vec<Command>,
    /// Package calls in it.
    pub(crate) calls: Vec<PackageCall>,
    /// Where it runs, if the file tells.
    pub(crate) directory: Option<String>,
}

impl Segment {
    pub(crate) fn is_change_of_directory(&self) -> bool {
        self.commands.iter().any(|command| command.name().is_some_and(|name| name == "cd"))
    }
}

/// The parts of a RUN, if each works by itself: joined by `&&` alone, and none changes what the next
/// ones start with.
pub(crate) fn segments<'v>(view: &'v View<'_>, index: usize) -> Option<&'v [Segment]> {
    let parts = view.parts(index)?;
    let is_input = |flag: &Flag| !is_cache(flag) && !is_secret_mount(flag);
    let instruction = view.file.instructions.get(index)?;
    let moves = parts.iter().any(|part| part.is_change_of_directory());
    (!moves && !instruction.flags.iter().any(is_input)).then_some(parts)
}

/// A script in which each pipeline runs only if the one before it did not fail.
struct Chain<'v> {
    script: &'v Script,
    block: &'v Block,
    /// By `set -e`; otherwise by `&&`.
    ends_early: bool,
}

impl<'v> Chain<'v> {
    fn of(view: &'v View<'_>, index: usize) -> Option<Self> {
        let [script] = view.facts.scripts(&view.file, index) else { return None };
        let (block, inner) = script.blocks.split_first()?;
        let is_plain = script.errors().is_empty() && script.opaque.is_none();
        if !is_plain || inner.iter().any(|block| block.kind != BlockKind::Substitution) {
            return None;
        }
        // Where a script ends at the first failure, its lines are joined as by `&&`.
        let ends_early = script.commands.first().is_some_and(|command| {
            let words = words(command).unwrap_or_default();
            matches!(words.as_slice(), [set, flag, ..] if set == "set" && flag.starts_with('-') && flag.contains('e'))
        });
        let instruction = view.file.instructions.get(index)?;
        if !instruction.heredocs().is_empty() && !ends_early {
            return None;
        }
        let is_joined = |joiner: Joiner| match joiner {
            Joiner::First | Joiner::And => true,
            Joiner::Newline | Joiner::Semicolon => ends_early,
            Joiner::Or | Joiner::Background => false,
        };
        let is_chain = block.pipelines.iter().all(|pipeline| {
            is_joined(pipeline.joiner) && !pipeline.background && !pipeline.negated
        });
        is_chain.then_some(Self { script, block, ends_early })
    }

    /// How a pipeline is written.
    fn text(&self, view: &View<'_>, number: usize) -> String {
        let pipeline = self.block.pipelines.get(number);
        joined(pipeline.and_then(|pipeline| pipeline.span.slice(view.text)).unwrap_or_default())
    }

    fn segment(&self, view: &View<'_>, calls: &[PackageCall], number: usize) -> Segment {
        let is_here =
            |command: &Command| command.place.block() == 0 && command.place.pipeline() == number;
        let all = self.script.commands.iter().enumerate();
        let commands = all.filter(|(_, command)| is_here(command));
        let places: Vec<usize> = commands.clone().map(|(place, _)| place).collect();
        Segment {
            text: self.text(view, number),
            commands: commands.map(|(_, command)| command.clone()).collect(),
            calls: calls.iter().filter(|call| places.contains(&call.command)).cloned().collect(),
            directory: None,
        }
    }
}

/// The pipelines of a RUN as they are written, if each runs only after the one before it.
pub(crate) fn chained_texts(view: &View<'_>, index: usize) -> Option<Vec<String>> {
    let chain = Chain::of(view, index)?;
    Some((0..chain.block.pipelines.len()).map(|number| chain.text(view, number)).collect())
}

/// [`View::parts`]
pub(in crate::checks) fn parts(view: &View<'_>, index: usize) -> Option<Vec<Segment>> {
    const STATEFUL: &[&str] = &["export", "set", ".", "source", "umask", "pushd", "popd"];
    let instruction = view.file.instructions.get(index)?;
    let is_known = |flag: &Flag| is_cache(flag) || is_context_mount(flag) || is_secret_mount(flag);
    if !instruction.flags.iter().all(is_known) {
        return None;
    }
    // A part with a secret is another one than without.
    let secrets = instruction.flags.iter().filter(|flag| is_secret_mount(flag));
    let secrets: Vec<&str> = secrets.filter_map(|flag| flag.span.slice(view.text)).collect();
    let chain = Chain::of(view, index)?;
    // Only installs of packages read this.
    let is_frontend = |command: &Command| {
        let words = words(command).unwrap_or_default();
        matches!(words.as_slice(), [export, set] if export == "export" && set.starts_with("DEBIAN_FRONTEND="))
    };
    let commands = &chain.script.commands;
    let first = usize::from(chain.ends_early);
    let skipped = first + usize::from(commands.get(first).is_some_and(is_frontend));
    let activates = |command: &Command| {
        let first = command.words.get(1).and_then(|word| word.pattern());
        first.is_some_and(|word| word.ends_with("/bin/activate"))
    };
    let is_stateful = commands.iter().skip(skipped).any(|command| {
        let is_named = command.name().is_some_and(|name| STATEFUL.contains(&name.as_ref()));
        command.words.is_empty() || (is_named && !activates(command))
    });
    if is_stateful || commands.is_empty() {
        return None;
    }
    let calls = view.facts.package_calls(&view.file, index);
    let state = view.facts.state(index);
    let mut directory = state.and_then(|state| state.workdir.path.as_deref().map(str::to_owned));
    let mut found = Vec::new();
    for number in skipped..chain.block.pipelines.len() {
        let plain = chain.segment(view, calls, number);
        let text = if secrets.is_empty() {
            plain.text
        } else {
            format!("{} {}", secrets.join(" "), plain.text)
        };
        let part = Segment { directory: directory.clone(), text, ..plain };
        if part.is_change_of_directory() {
            let [command] = part.commands.as_slice() else { return None };
            let words = words(command)?;
            let [_, target] = words.as_slice() else { return None };
            let from = directory.as_deref().or(Some("/"));
            directory = Some(absolute(target, from)?);
        }
        found.push(part);
    }
    Some(found)
}

/// A text without continued lines; spaces count within quotes alone.
fn joined(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    if text.contains(['"', '\'']) {
        text.trim().to_owned()
    } else {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::chained_texts;
    use crate::checks::View;

    #[test]
    fn commands_are_split_where_a_failure_ends_the_script() {
        for (run, expected) in [
            ("a && b \"c && d\"", Some(vec!["a", "b \"c && d\""])),
            ("a \\\n  # why\n  && b", Some(vec!["a", "b"])),
            ("a > f && b", Some(vec!["a > f", "b"])),
            ("set -e; a; b", Some(vec!["set -e", "a", "b"])),
            ("<<E\nset -eu\na $(b; c)\nE", Some(vec!["set -eu", "a $(b; c)"])),
            ("<<E\na\nb\nE", None),
            ("a; b", None),
            ("a || b", None),
            ("a && if b; then c; fi", None),
            ("a && (b; c)", None),
            ("a & b", None),
        ] {
            let text = format!("FROM debian\nRUN {run}\n");
            let found = chained_texts(&View::of(&text), 1);
            let found =
                found.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found, expected, "{run}");
        }
    }
}
