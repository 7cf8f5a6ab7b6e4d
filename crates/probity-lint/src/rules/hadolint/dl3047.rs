//! Downloads that fill the log.

use probity_finding::{Finding, Fix};
use probity_shell::{Call, Word};

use crate::{
    engine::context::Context,
    facts::base_image::{self, BaseShell},
    text::shell_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a `wget` whose progress output fills the build log.
    ///
    /// The rule accepts a call that:
    ///
    /// - is quiet (`-q` or `-nv`);
    /// - sets how to show progress (`--progress`);
    /// - writes its log to a file (`-o` or `-a`).
    ///
    /// # Why it is bad
    ///
    /// Without a terminal, `wget` prints a progress line for every 50 KB. A large download fills
    /// the build log with these lines.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN wget https://example.com/big.tar
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN wget --progress=dot:giga https://example.com/big.tar
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN wget -nv https://example.com/big.tar
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `--progress=dot:giga`. The download is the same, but the `wget` of
    /// `busybox` does not know the flag. In Alpine-based images and in calls of `busybox wget`, the
    /// fix adds `-q` instead, which both programs know.
    Dl3047 {
        name: "hadolint/DL3047",
        severity: Info,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3047",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        for (script, command) in commands {
            let call = command.effective();
            if !call.is_any(&["wget"]) {
                continue;
            }
            let Some(name) = call.name_word() else { continue };
            if call.args().is_empty() || is_quiet(&call) {
                continue;
            }
            let message = "wget fills the log; use --progress=dot:giga, -q or -nv";
            let is_busybox = base_image::shell(context, index) == Some(BaseShell::Ash)
                || call.wrappers.iter().any(is_busybox_itself);
            let flag = if is_busybox { "-q" } else { "--progress=dot:giga" };
            let edit = shell_edits::insert_behind(context, script, name.span(), flag);
            let fix = Fix::suggestion(format!("add {flag}"), vec![edit]);
            findings.push(context.finding(name.span(), message).with_fix(fix));
        }
    }
}

fn is_quiet(call: &Call<'_>) -> bool {
    const LONG: &[&str] = &[
        "--quiet",
        "--no-verbose",
        "--progress",
        "--output-file",
        "--append-output",
        "--version",
        "--help",
    ];
    call.has_flag(LONG)
        || call.args().iter().any(|word| word.is("-nv"))
        || call.has_flag(&["-q", "-o", "-a", "-V", "-h"])
}

/// `busybox`, with its directory or without.
fn is_busybox_itself(word: &Word) -> bool {
    word.literal().is_some_and(|name| name.rsplit('/').next() == Some("busybox"))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{adds_flag, check, fixed, fixes};

    const RULE: &str = "hadolint/DL3047";
    const SAYS: &str = "wget fills the log; use --progress=dot:giga, -q or -nv";

    #[test]
    fn the_program_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a | "wget" -O - x \
        ^^^^^^ {SAYS}
    | b
RUN <<EOF
x=$(wget -c y)
    ^^^^ {SAYS}
EOF
RUN ["wget", "x"]
      ^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn quiet_ones_and_mentions_are_silent() {
        for run in [
            "wget -q x",
            "wget -qO- x",
            "wget -nv x",
            "wget --progress=bar x",
            "wget -o log x",
            "wget --append-output=log x",
            "wget --version",
            "apk add wget",
            "echo wget x",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        adds_flag(RULE, "wget", "--progress=dot:giga");
        fixes(
            RULE,
            &[
                ("RUN /bin/busybox wget x", "RUN /bin/busybox wget -q x"),
                ("RUN $WGET x", "RUN $WGET x"),
            ],
        );
        let alpine = "FROM node:20-alpine AS a\nFROM a\nRUN wget";
        fixed(RULE, &format!("{alpine} x\n"), &format!("{alpine} -q x\n"));
    }
}
