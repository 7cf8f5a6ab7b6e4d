//! A download by another tool: the same addresses to the same places, and everything else as it was.

use std::borrow::Cow;

use probity_dockerfile::{Instruction, Keyword};

use super::{Change, Check, Explained, Issue, View, steps::written, tools};

pub(crate) const ONLY_TOOL_CALLS: Check = Check::new("only-tool-calls-change", only_tool_calls);

/// Flags of either tool that change how much is said, and where the answer goes.
const HARMLESS: &[&str] = &[
    "--fail",
    "--silent",
    "--show-error",
    "--location",
    "--output",
    "--remote-name",
    "--quiet",
    "--no-verbose",
    "-nv",
    "--output-document",
];
const HARMLESS_LETTERS: &str = "fsSLoOqg";

/// The RUN instructions, one by one: only those that call the tool to give up may differ.
fn only_tool_calls(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let others = &change.limits.explained;
    let (old, new) = (runs(change.before), runs(change.after));
    let old: Vec<usize> = old.filter(|index| !others.before.contains(index)).collect();
    let new: Vec<usize> = new.filter(|index| !others.after.contains(index)).collect();
    if old.len() != new.len() {
        return vec![change.issue(check, "RUN instructions must be neither added nor dropped")];
    }
    let mut issues = Vec::new();
    for (old, new) in old.into_iter().zip(new) {
        if is_same(change, old, new) {
            continue;
        }
        let message = "more than the tool changes here: the other commands, the addresses, the files \
                       and what is joined or piped to what must stay, and no flag may weaken the transfer";
        let issue = change.issue(check, message);
        issues.push(match change.after.file.instructions.get(new) {
            Some(instruction) => issue.at(change.after, instruction.span),
            None => issue,
        });
    }
    issues
}

fn runs<'v>(view: &'v View<'_>) -> impl Iterator<Item = usize> + 'v {
    let all = view.file.instructions.iter().enumerate();
    all.filter(|(_, instruction)| instruction.keyword == Keyword::Run).map(|(index, _)| index)
}

/// The RUNs that differ by the tool alone.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let mut explained = Explained::default();
    let text = |view: &View<'_>, index| {
        view.file.instructions.get(index).map(|instruction| written(view, instruction))
    };
    for old in runs(change.before) {
        let is_new = |new: &usize| {
            text(change.before, old) != text(change.after, *new) && is_same(change, old, *new)
        };
        if let Some(new) = runs(change.after).find(is_new) {
            explained.before.insert(old);
            explained.after.insert(new);
        }
    }
    explained
}

/// Whether two RUNs do the same, but for the tool that downloads.
fn is_same(change: &Change<'_>, old: usize, new: usize) -> bool {
    let (before, after) = (change.before, change.after);
    let (Some(was), Some(is)) =
        (before.file.instructions.get(old), after.file.instructions.get(new))
    else {
        return false;
    };
    if written(before, was) == written(after, is) {
        return true;
    }
    let flags = |instruction: &Instruction| -> Vec<(String, Option<String>)> {
        let flags = instruction.flags.iter();
        flags
            .map(|flag| {
                (flag.name.text.to_string(), flag.value.as_ref().map(|v| v.text.to_string()))
            })
            .collect()
    };
    if was.keyword != Keyword::Run || is.keyword != Keyword::Run || flags(was) != flags(is) {
        return false;
    }
    let given_up: Vec<&str> = tools::seconds(before).map(|call| call.tool).collect();
    let (Some(olds), Some(news)) = (Parts::of(before, old), Parts::of(after, new)) else {
        return false;
    };
    olds.shape == news.shape
        && olds.commands.len() == news.commands.len()
        && olds.commands.iter().zip(&news.commands).all(|(old, new)| {
            old == new
                || is_same_install(old, new, &given_up)
                || is_same_download(old, new, &given_up)
        })
}

/// A RUN as commands, and what joins them.
struct Parts {
    commands: Vec<Called>,
    shape: Vec<String>,
}

#[derive(PartialEq, Eq)]
struct Called {
    /// Assignments, wrappers and redirections, as they are written.
    around: Vec<String>,
    /// The name and the arguments; those that are not constant as they are written.
    words: Vec<String>,
    installs: bool,
}

impl Parts {
    fn of(view: &View<'_>, index: usize) -> Option<Self> {
        let mut parts = Self { commands: Vec::new(), shape: Vec::new() };
        let installs = view.facts.package_calls(&view.file, index);
        for (number, script) in view.facts.scripts(&view.file, index).iter().enumerate() {
            if !script.errors().is_empty() || script.opaque.is_some() {
                return None;
            }
            for block in &script.blocks {
                parts.shape.push(format!("{:?}", block.kind));
                for it in &block.pipelines {
                    let (joiner, stages) = (it.joiner, it.stages.len());
                    let signs = (it.negated, it.background);
                    parts.shape.push(format!("{joiner:?} {stages} {signs:?}"));
                }
            }
            for (place, command) in script.commands.iter().enumerate() {
                let call = command.effective();
                let spans = command.assignments().iter().map(|assignment| assignment.span);
                let spans = spans.chain(call.wrappers.iter().map(|wrapper| wrapper.span()));
                let spans =
                    spans.chain(command.redirections().iter().map(|redirection| redirection.span));
                let around = spans.filter_map(|span| span.slice(view.text)).map(str::to_owned);
                let words = call.words.iter().map(|word| {
                    word.literal().map_or_else(|| word.text().to_string(), Cow::into_owned)
                });
                let is_install = installs
                    .iter()
                    .any(|install| (install.script, install.command) == (number, place));
                parts.commands.push(Called {
                    around: around.collect(),
                    words: words.collect(),
                    installs: is_install,
                });
            }
        }
        Some(parts)
    }
}

/// Whether all that an install lost is the tool that nobody calls any more.
fn is_same_install(old: &Called, new: &Called, given_up: &[&str]) -> bool {
    let is_tool = |word: &String| given_up.iter().any(|tool| word.split('=').next() == Some(*tool));
    let left: Vec<&String> = old.words.iter().filter(|word| !is_tool(word)).collect();
    old.installs
        && new.installs
        && old.around == new.around
        && left.iter().eq(&new.words.iter().collect::<Vec<_>>())
}

fn is_same_download(old: &Called, new: &Called, given_up: &[&str]) -> bool {
    let (Some((was, old_words)), Some((is, new_words))) =
        (old.words.split_first(), new.words.split_first())
    else {
        return false;
    };
    let is_swap = given_up.contains(&was.as_str()) && matches!(is.as_str(), "curl" | "wget");
    let (Some(from), Some(to)) = (Download::of(was, old_words), Download::of(is, new_words)) else {
        return false;
    };
    let are_flags_known = to.others.iter().all(|flag| from.others.contains(flag));
    // wget fails on an error page and goes where it is sent; curl does neither unless it is told to.
    let fails = (is == "wget" || to.fails) || !(was == "wget" || from.fails);
    let follows = (is == "wget" || to.follows) || !(was == "wget" || from.follows);
    is_swap
        && old.around == new.around
        && from.addresses == to.addresses
        && from.target == to.target
        && are_flags_known
        && fails
        && follows
}

/// What a call of curl or wget asks for.
struct Download<'w> {
    addresses: Vec<&'w str>,
    /// The file; `-` for the output.
    target: String,
    /// Flags that could change what is transferred, with their values.
    others: Vec<&'w str>,
    /// Whether a flag of curl says so.
    fails: bool,
    follows: bool,
}

impl<'w> Download<'w> {
    fn of(tool: &str, words: &'w [String]) -> Option<Self> {
        let is_wget = tool == "wget";
        let (mut addresses, mut others) = (Vec::new(), Vec::new());
        let mut target: Option<String> = None;
        let mut directory: Option<String> = None;
        let mut by_name = is_wget;
        let all = words;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let long = if is_wget { "--output-document" } else { "--output" };
            let letter = if is_wget { 'O' } else { 'o' };
            let into = if is_wget { "--directory-prefix" } else { "--output-dir" };
            if let Some(rest) = word.strip_prefix(into) {
                let value = rest.strip_prefix('=').map(str::to_owned);
                directory = Some(value.or_else(|| words.next().cloned())?);
            } else if is_wget && let Some(rest) = word.strip_prefix("-P") {
                let value = (!rest.is_empty()).then(|| rest.to_owned());
                directory = Some(value.or_else(|| words.next().cloned())?);
            } else if let Some(rest) = word.strip_prefix(long) {
                let value = rest.strip_prefix('=').map(str::to_owned);
                target = Some(value.or_else(|| words.next().cloned())?);
            } else if word.starts_with("--") || word == "-nv" {
                by_name |= word == "--remote-name";
                if !HARMLESS.contains(&word.as_str()) {
                    others.push(word.as_str());
                }
            } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                match letters.split_once(letter) {
                    Some((before, value))
                        if before.chars().all(|character| HARMLESS_LETTERS.contains(character)) =>
                    {
                        let value = (!value.is_empty()).then(|| value.to_owned());
                        target = Some(value.or_else(|| words.next().cloned())?);
                    }
                    _ if letters.chars().all(|character| HARMLESS_LETTERS.contains(character)) => {
                        by_name |= letters.contains('O');
                    }
                    _ => others.push(word.as_str()),
                }
            } else {
                addresses.push(word.as_str());
            }
        }
        let name =
            || addresses.first().and_then(|address| address.rsplit('/').next()).map(str::to_owned);
        let is_below = directory.is_some();
        let target = match (target, by_name) {
            // With -O, wget ignores the directory.
            (Some(target), _) if is_wget || !is_below => target,
            (Some(target), _) => within(directory, &target),
            (None, true) => within(directory, &name()?),
            (None, false) => "-".to_owned(),
        };
        addresses.sort_unstable();
        let has = |letter: char, long: &str| {
            all.iter().any(|word| {
                let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                // Behind the letter of the output its name may begin.
                let letters = letters.and_then(|letters| letters.split('o').next());
                word == long || letters.is_some_and(|letters| letters.contains(letter))
            })
        };
        let (fails, follows) = (has('f', "--fail"), has('L', "--location"));
        Some(Self { addresses, target, others, fails, follows })
    }
}

fn within(directory: Option<String>, name: &str) -> String {
    match directory {
        Some(directory) => format!("{}/{name}", directory.trim_end_matches('/')),
        None => name.to_owned(),
    }
}
