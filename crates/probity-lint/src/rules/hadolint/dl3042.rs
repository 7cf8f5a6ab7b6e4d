//! Downloads of pip that stay.

use probity_dockerfile::{Action, Instruction, Manager, PackageCall};
use probity_finding::{Finding, Span};
use probity_shell::{Assignment, Word};

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags a `pip install` without `--no-cache-dir` that leaves its cache in the image.
    ///
    /// The rule accepts the call if:
    ///
    /// - `PIP_NO_CACHE_DIR` is set to a true value (`1`, `true`, `on`, `yes`, `t` or `y`);
    /// - a cache or tmpfs mount covers the cache;
    /// - a later command in the `RUN` removes the cache.
    ///
    /// The rule ignores stages that only serve `COPY --from`, which hadolint flags.
    ///
    /// # Why it is bad
    ///
    /// The downloads stay in the layer, where nothing uses them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12
    /// RUN pip install django==5.0.6
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM python:3.12
    /// RUN pip install --no-cache-dir django==5.0.6
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12
    /// ENV PIP_NO_CACHE_DIR=1
    /// RUN pip install django==5.0.6
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `--no-cache-dir`. The packages are the same, and a later `pip`
    /// downloads them again.
    Dl3042 {
        name: "hadolint/DL3042",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3042",
    }
}

const CACHES: &[&str] = &["/root/.cache/pip"];
/// The same below the home directory of whoever runs the build.
const HOME_CACHES: &[&str] = &[".cache/pip", ".cache"];
const VARIABLE: &str = "PIP_NO_CACHE_DIR";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = packages::stages_of_the_image(context.facts);
    let mut last: Option<Layer> = None;
    for (index, call) in packages::calls(context, &[Manager::Pip], &[Action::Install]) {
        if !packages::is_kept(context, &kept, index) {
            continue;
        }
        let layer = match last.take() {
            Some(layer) if layer.index == index => last.insert(layer),
            _ => last.insert(Layer::of(context, index)),
        };
        let is_kept = !call.has_flag(&["--no-cache-dir"])
            && !layer.is_without_cache
            && layer.last_removal.is_none_or(|removal| removal <= call.span)
            && !is_set(context, layer, call.script, call.command);
        if is_kept {
            let message = "the downloads stay in the layer; use --no-cache-dir";
            let finding = context.finding(call.subcommand, message);
            findings.push(packages::with_flag(context, index, call, "--no-cache-dir", finding));
        }
    }
}

/// What is known about the layer of one `RUN`, whatever it installs.
struct Layer {
    index: usize,
    /// The cache is emptied, or what is mounted over it stays outside.
    is_without_cache: bool,
    last_removal: Option<Span>,
    /// Script and command of each `export` of the variable, and whether it says yes.
    exports: Vec<((usize, usize), bool)>,
}

impl Layer {
    fn of(context: &Context<'_>, index: usize) -> Self {
        let run = context.innermost(index);
        let is_mounted = run.is_some_and(|run| packages::mounts(run, CACHES) || mounts_home(run));
        let scripts = context.scripts(index);
        let mut exports = Vec::new();
        for (script_index, script) in scripts.iter().enumerate() {
            for (command_index, command) in script.commands.iter().enumerate() {
                let values = command.declarations().iter().filter_map(assigned);
                exports.extend(values.map(|value| ((script_index, command_index), value)));
            }
        }
        Self {
            index,
            is_without_cache: is_mounted || is_emptied(context, index),
            last_removal: packages::last_removal(scripts, CACHES),
            exports,
        }
    }

    /// What the last `export` before a command of a script says.
    fn exported(&self, script: usize, command: usize) -> Option<bool> {
        let before = self.exports.partition_point(|(place, _)| *place < (script, command));
        let ((own, _), value) = self.exports.get(before.checked_sub(1)?)?;
        (*own == script).then_some(*value)
    }
}

/// Whether a mount lies over the cache below the home directory of some user.
fn mounts_home(run: &Instruction) -> bool {
    run.passing_mounts().any(|target| {
        target.starts_with('/') && target.trim_end_matches('/').ends_with("/.cache/pip")
    })
}

/// Whether the same `RUN` empties the cache: by pip itself, or below the home directory.
fn is_emptied(context: &Context<'_>, index: usize) -> bool {
    let is_purge =
        |call: &PackageCall| call.manager == Manager::Pip && call.action == Action::Clean;
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let mut removed = commands
        .map(|command| command.effective())
        .filter(|call| call.is_any(&["rm"]))
        .flat_map(|call| call.positional(&[]));
    context.package_calls(index).iter().any(is_purge)
        || removed.any(|word| {
            let written = word.text().replace(['"', '{', '}'], "");
            let path = written.strip_prefix("~/").or_else(|| written.strip_prefix("$HOME/"));
            let path = path.map(|path| path.trim_end_matches(['*', '/']));
            path.is_some_and(|path| HOME_CACHES.contains(&path))
        })
}

/// Whether the variable is set to a yes: for the command, by an `export` before it, or in the file.
/// The nearest one decides.
fn is_set(context: &Context<'_>, layer: &Layer, script: usize, command: usize) -> bool {
    let exported = || layer.exported(script, command);
    let script = context.scripts(layer.index).get(script);
    let command = script.and_then(|script| script.commands.get(command));
    let by_env = |word: &Word| {
        let literal = word.literal();
        let pair = literal.as_deref().and_then(|literal| literal.split_once('='));
        let value = pair.map(|(_, value)| value);
        (word.assigned_name() == Some(VARIABLE)).then(|| value.is_none_or(is_yes))
    };
    let own = command.and_then(|command| {
        let wrappers = command.effective().wrappers.iter();
        wrappers
            .rev()
            .find_map(by_env)
            .or_else(|| command.assignments().iter().rev().find_map(assigned))
    });
    let in_file = || {
        let variable = context.facts.scope(layer.index).get(VARIABLE);
        variable
            .is_some_and(|variable| variable.set && variable.value.as_deref().is_none_or(is_yes))
    };
    own.or_else(exported).unwrap_or_else(in_file)
}

/// Whether an assignment to the variable says yes; none where it is another one.
fn assigned(assignment: &Assignment) -> Option<bool> {
    let value = assignment.value.as_ref().and_then(|value| value.literal());
    (assignment.name == VARIABLE).then(|| value.as_deref().is_none_or(is_yes))
}

/// What pip takes for a yes.
fn is_yes(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "yes" | "on" | "true" | "y" | "t")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3042";
    const SAYS: &str = "the downloads stay in the layer; use --no-cache-dir";

    /// What a stage leaves behind that only serves `COPY --from` is in no image.
    #[test]
    fn stages_that_are_not_kept_are_silent() {
        let call = "pip install x";
        check(RULE, &format!("FROM a AS b\nRUN {call}\nFROM c\nCOPY --from=b /x /x\n"));
    }

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (pip3 "install" x==1) \
               ^^^^^^^^^ {SAYS}
    && b
RUN export PIP_NO_CACHE_DIR=0; pip install x
                                   ^^^^^^^ {SAYS}
RUN pip3.12 install x==1 && rm -rf ~/.cache/other
            ^^^^^^^ {SAYS}
ENV PIP_NO_CACHE_DIR=off
RUN <<EOF
python3 -m pip install x==1
               ^^^^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn switched_off_mounted_and_removed_caches_are_silent() {
        for run in [
            "pip install --no-cache-dir x",
            "pip --no-cache-dir install x",
            "PIP_NO_CACHE_DIR=1 pip install x",
            "env PIP_NO_CACHE_DIR=1 pip install x",
            "export PIP_NO_CACHE_DIR=1 && pip install x",
            "pip install x && rm -rf /root/.cache",
            "pip install x && rm -rf ~/.cache/pip",
            "pip install x && rm -rf ~/.cache",
            "pip install x && rm -rf \"$HOME/.cache\"",
            "pip install x && rm -rf ${HOME}/.cache/pip/*",
            "pip install x && pip cache purge",
            "--mount=type=cache,target=/root/.cache/pip pip install x",
            "pip uninstall x",
            "echo pip install x",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(RULE, "FROM a AS b\nENV PIP_NO_CACHE_DIR=true\nFROM b\nRUN pip install x\n");
        check(RULE, "FROM a\nARG PIP_NO_CACHE_DIR=1\nRUN pip install x\n");
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN pip 'install' x", "RUN pip 'install' --no-cache-dir x"),
                ("RUN (pip install x; a)", "RUN (pip install --no-cache-dir x; a)"),
                ("RUN bash -c \"pip install $X\"", "RUN bash -c \"pip install --no-cache-dir $X\""),
                (
                    "RUN pip install \\\n  # why\n  x",
                    "RUN pip install --no-cache-dir \\\n  # why\n  x",
                ),
                ("RUN <<EOF\npip install x\nEOF", "RUN <<EOF\npip install --no-cache-dir x\nEOF"),
                (
                    r#"RUN ["pip", "install", "x"]"#,
                    r#"RUN ["pip", "install", "--no-cache-dir", "x"]"#,
                ),
                (
                    r#"RUN ["sh", "-c", "pip install x"]"#,
                    r#"RUN ["sh", "-c", "pip install --no-cache-dir x"]"#,
                ),
                ("RUN pip $VERB x", "RUN pip $VERB x"),
                ("RUN echo 'pip install x'", "RUN echo 'pip install x'"),
            ],
        );
    }
}
