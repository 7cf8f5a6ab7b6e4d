//! Scripts whose interpreter the image does not have.

use probity_dockerfile::Arguments;
use probity_finding::Finding;
use probity_shell::Word;

use crate::{
    engine::context::Context,
    facts::{
        base_image::{self, BaseShell},
        startup::{self, Startup},
    },
};

rule! {
    /// # What it does
    ///
    /// Flags an `ENTRYPOINT` or `CMD` that starts a bash script in an Alpine or BusyBox image
    /// without bash.
    ///
    /// A bash script begins with `#!/bin/bash` or `#!/usr/bin/env bash`. If a word in a `RUN` or
    /// `COPY` names bash, the rule assumes that the image has it.
    ///
    /// The rule reads the script from a heredoc in the Dockerfile. If a `COPY` takes the script
    /// from the build context, the rule reads it from there.
    ///
    /// # Why it is bad
    ///
    /// Alpine has `sh` but not `bash`. The container exits immediately with "no such file or
    /// directory", even though the script exists.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// COPY --chmod=755 <<'EOF' /start.sh
    /// #!/bin/bash
    /// exec app
    /// EOF
    /// ENTRYPOINT ["/start.sh"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN apk add --no-cache bash
    /// COPY --chmod=755 <<'EOF' /start.sh
    /// #!/bin/bash
    /// exec app
    /// EOF
    /// ENTRYPOINT ["/start.sh"]
    /// ```
    MissingScriptInterpreter {
        name: "probity/missing-script-interpreter",
        severity: Error,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(stage) = context.facts.final_stage() else { return };
    if base_image::shell(context, stage.instruction) != Some(BaseShell::Ash) {
        return;
    }
    let mut instructions = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
    if instructions.any(|index| mentions_bash(context, index)) {
        return;
    }
    let startup = Startup::of(context, stage);
    let Some(entry) = startup.entry() else { return };
    for name in startup::words(&entry.entry.value) {
        let text = startup::script_text(context, stage, &name);
        let first = text.as_deref().and_then(|text| text.lines().next());
        let shebang = first.and_then(|line| line.strip_prefix("#!"));
        if shebang.is_some_and(|shebang| shebang.split(['/', ' ']).any(|word| word == "bash")) {
            let message = format!(
                "`{name}` asks for bash, which this image lacks; install bash or use `#!/bin/sh`"
            );
            findings.push(context.finding(entry.span, message));
            return;
        }
    }
}

/// Whether an instruction may bring bash: a word of a `RUN` or of a `COPY` says so.
fn mentions_bash(context: &Context<'_>, index: usize) -> bool {
    let is_bash = |word: &Word| word.prefix().ends_with("bash");
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let in_run = commands.flat_map(|command| &command.words).any(is_bash);
    let arguments = context.file.instructions.get(index).map(|instruction| &instruction.arguments);
    let copies = match arguments {
        Some(Arguments::Transfer { sources, destination, .. }) => {
            sources.iter().chain(destination.as_deref()).any(|word| is_path_of_bash(&word.text))
        }
        _ => false,
    };
    in_run || copies
}

fn is_path_of_bash(path: &str) -> bool {
    path.rsplit('/').next() == Some("bash")
}

#[cfg(test)]
mod tests {
    use crate::{ContextFiles, engine::harness::run_in_context};

    const RULE: &str = "probity/missing-script-interpreter";

    fn found(base: &str, more: &str, shebang: &str) -> Vec<String> {
        let text = format!("FROM {base}\n{more}COPY start /bin/\nENTRYPOINT [\"start\"]\n");
        let script = format!("{shebang}\nexec b\n");
        let files = ContextFiles::new([("start".to_owned(), script)]);
        run_in_context(RULE, &text, &files).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn bash_is_missed_where_nothing_brings_it() {
        let says = "`start` asks for bash, which this image lacks; install bash or use `#!/bin/sh`";
        for base in ["alpine:3.20", "eclipse-temurin:21-jre-alpine"] {
            assert_eq!(found(base, "", "#!/bin/bash"), [says]);
            assert_eq!(found(base, "", "#!/usr/bin/env bash"), [says]);
            assert_eq!(found(base, "", "#!/bin/sh"), [""; 0]);
            assert_eq!(found(base, "RUN apk add --no-cache bash tini\n", "#!/bin/bash"), [""; 0]);
        }
        assert_eq!(found("debian:12", "", "#!/bin/bash"), [""; 0]);
        assert_eq!(found("corp/base:1-alpine", "", "#!/bin/bash"), [""; 0]);
    }
}
