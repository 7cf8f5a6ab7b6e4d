//! Entrypoint scripts that stay between the service and its signals.

use probity_dockerfile::Stage;
use probity_finding::Finding;
use probity_shell::{
    BlockKind, Command, Dialect, Invocation, Joiner, PartKind, Script, Word, parse,
};

use crate::{
    engine::context::Context,
    facts::startup::{self, Startup},
};

rule! {
    /// # What it does
    ///
    /// Flags an `ENTRYPOINT` or `CMD` whose script runs the service without `exec`.
    ///
    /// A script runs the service in one of these ways:
    ///
    /// - It calls `"$@"`, directly or through a wrapper, as in `gosu USER "$@"`.
    /// - Its last command is a known server or interpreter.
    ///
    /// The rule reads the script from a heredoc in the Dockerfile. If a `COPY` takes the script
    /// from the build context, the rule reads it from there. It ignores scripts that use `trap` or
    /// `wait`, because these scripts forward signals themselves.
    ///
    /// # Why it is bad
    ///
    /// The shell stays PID 1 and does not forward signals. `docker stop` waits for its timeout and
    /// then kills the service, which loses unsaved data.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY --chmod=755 <<'EOF' /start.sh
    /// #!/bin/sh
    /// chown -R app /data
    /// gosu app "$@"
    /// EOF
    /// ENTRYPOINT ["/start.sh"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY --chmod=755 <<'EOF' /start.sh
    /// #!/bin/sh
    /// chown -R app /data
    /// exec gosu app "$@"
    /// EOF
    /// ENTRYPOINT ["/start.sh"]
    /// ```
    EntrypointWithoutExec {
        name: "probity/entrypoint-without-exec",
        severity: Warning,
        category: Correctness,
    }
}

/// Programs that serve until somebody stops them, or that run such a program.
const SERVICES: &[&str] = &[
    "bundle",
    "bun",
    "caddy",
    "celery",
    "deno",
    "dotnet",
    "flask",
    "gosu",
    "gunicorn",
    "haproxy",
    "httpd",
    "java",
    "mongod",
    "mysqld",
    "nginx",
    "node",
    "npm",
    "php-fpm",
    "postgres",
    "puma",
    "python",
    "python3",
    "rails",
    "redis-server",
    "ruby",
    "su-exec",
    "uvicorn",
    "uwsgi",
    "yarn",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    let startup = Startup::of(context, stage);
    let Some(entry) = startup.entry() else { return };
    for name in startup::words(&entry.entry.value) {
        let Some(line) = line_without_exec(context, stage, &name) else { continue };
        let message = format!(
            "line {line} of `{name}` runs the service without `exec`, so stop signals do not reach it; \
             add `exec`"
        );
        findings.push(context.finding(entry.span, message));
        return;
    }
}

/// The line of a started script that runs the service as a child of the shell.
fn line_without_exec(context: &Context<'_>, stage: &Stage, name: &str) -> Option<usize> {
    let text = startup::script_text(context, stage, name)?;
    let script = parse(&text, 0, invocation(&text));
    let handles_signals = |command: &Command| command.call().is_any(&["trap", "wait"]);
    if !script.errors().is_empty() || script.commands.iter().any(handles_signals) {
        return None;
    }
    let last = last_command(&script);
    let is_child = |command: &&Command| {
        is_foreground(&script, command)
            && (runs_arguments(command)
                || last == Some(*command) && command.call().is_any(SERVICES))
    };
    let command = script.commands.iter().find(is_child)?;
    Some(text.get(..command.span.start)?.matches('\n').count() + 1)
}

/// How the first line of a script says it is run.
fn invocation(text: &str) -> Invocation {
    match text.lines().next().and_then(|line| line.strip_prefix("#!")) {
        Some(shebang) => Invocation::of_argv(&shebang.split_whitespace().collect::<Vec<_>>()),
        None => Invocation::plain(Dialect::Sh),
    }
}

/// The command that ends a script, unless its answer to a failure does.
fn last_command(script: &Script) -> Option<&Command> {
    let last = script.blocks.first()?.pipelines.last()?;
    let command = script.commands.iter().rev().find(|command| command.place.block() == 0)?;
    (last.joiner != Joiner::Or && last.span.start <= command.span.start).then_some(command)
}

/// Whether the script waits for a command and has nothing else to do with it.
fn is_foreground(script: &Script, command: &Command) -> bool {
    let Some(pipeline) = script.pipeline(command.place) else { return false };
    let is_answered =
        script.next_pipeline(command.place).is_some_and(|next| next.joiner == Joiner::Or);
    let is_inner = script.enclosing(command).any(|block| {
        use BlockKind::{Condition, Function, LoopBody, ProcessSubstitution, Substitution};
        matches!(block.kind, Condition | Function | LoopBody | ProcessSubstitution | Substitution)
    });
    !pipeline.background && pipeline.stages.len() == 1 && !is_answered && !is_inner
}

/// Whether a command runs the arguments of the script: `"$@"`, `gosu app "$@"`, `tini -- "$@"`.
fn runs_arguments(command: &Command) -> bool {
    let words = &*command.words;
    let Some(at) = words.iter().position(is_arguments) else { return false };
    let follows_dashes = || words.get(at.wrapping_sub(1)).is_some_and(|word| word.is("--"));
    let call = command.call();
    match at {
        0 => true,
        2 if call.is_any(&["gosu", "su-exec"]) => true,
        _ => call.is_any(&["dumb-init", "runuser", "setpriv", "tini"]) && follows_dashes(),
    }
}

fn is_arguments(word: &Word) -> bool {
    let is_all = |kind: &PartKind| match kind {
        PartKind::Variable(variable) => matches!(variable.name.as_str(), "@" | "*"),
        _ => false,
    };
    matches!(word.parts(), [part] if is_all(&part.kind))
}

#[cfg(test)]
mod tests {
    use crate::{ContextFiles, engine::harness};

    const RULE: &str = "probity/entrypoint-without-exec";

    /// The lines that are reported of a script that a `COPY` takes from the build context.
    fn found(script: &str) -> Vec<String> {
        let text = "FROM a\nCOPY docker/start.sh /\nENTRYPOINT [\"/start.sh\"]\n";
        let files = ContextFiles::new([("docker/start.sh".to_owned(), script.to_owned())]);
        harness::run_in_context(RULE, text, &files)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn the_line_that_runs_the_service_is_named() {
        for (script, line) in [
            ("#!/bin/bash\nset -e\ngosu app \"$@\"\n", 3),
            ("#!/bin/sh\nif [ \"$1\" = x ]; then\n  \"$@\"\n  exit $?\nfi\nexec \"$@\"\n", 3),
            ("#!/bin/sh\nmigrate\njava -jar /app.jar\n", 3),
            ("chown -R app /data && su-exec app server\n", 1),
            ("tini -- \"$@\"", 1),
        ] {
            let says = format!(
                "line {line} of `start.sh` runs the service without `exec`, so stop signals do not \
                 reach it; add `exec`"
            );
            assert_eq!(found(script), [says], "{script}");
        }
    }

    #[test]
    fn scripts_that_pass_signals_on_are_silent() {
        for script in [
            "#!/bin/sh\nexec gosu app \"$@\"\n",
            "#!/bin/sh\ntrap 'kill $pid' TERM\n\"$@\" &\npid=$!\nwait $pid\n",
            "#!/bin/sh\nretry() { \"$@\"; }\nretry true\nexec java -jar a\n",
            "#!/bin/sh\nset -- java \"$@\"\nexec \"$@\"\n",
            "#!/bin/sh\npython3 migrate.py\nexec java\n",
            "#!/bin/sh\ngosu app initdb \"$@\"\nexec gosu app \"$@\"\n",
            "#!/bin/sh\n_main \"$@\"\n",
            "#!/usr/bin/env python3\nprint('x')\n",
            "#!/bin/sh\nif \"$@\"; then echo ok; fi\n",
            "not ( a shell",
        ] {
            assert_eq!(found(script), [""; 0], "{script}");
        }
        harness::check(RULE, "FROM a\nCOPY start.sh /\nENTRYPOINT [\"/start.sh\"]\n");
    }
}
