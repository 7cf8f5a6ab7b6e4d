//! Programs that have nothing to do in a build.

use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `ssh`, `vim`, `shutdown`, `service`, `ps`, `free`, `top`, `kill` and `mount` in a
    /// `RUN`.
    ///
    /// # Why it is bad
    ///
    /// These programs are for a running machine. In a build, services do not keep running,
    /// processes of other steps do not exist, and a build has no terminal.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN service nginx start
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    Dl3001 {
        name: "hadolint/DL3001",
        severity: Info,
        category: BestPractice,
        url: "https://github.com/hadolint/hadolint/wiki/DL3001",
    }
}

const POINTLESS: &[&str] =
    &["free", "kill", "mount", "ps", "service", "shutdown", "ssh", "top", "vim"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            if let (Some(name), Some(word)) = (call.name(), call.name_word())
                && POINTLESS.contains(&name.as_ref())
            {
                let message = format!("{name} makes no sense in the build of an image");
                findings.push(context.finding(word.span(), message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3001";

    #[test]
    fn the_program_is_underlined_wherever_it_runs() {
        check(
            RULE,
            r#"
FROM a
RUN a && "/usr/bin/ssh" b \
         ^^^^^^^^^^^^^^ ssh makes no sense in the build of an image
      ; (exec top)
              ^^^ top makes no sense in the build of an image
RUN <<EOF
x=$(ps)
    ^^ ps makes no sense in the build of an image
EOF
RUN bash -c 'kill 1'
             ^^^^ kill makes no sense in the build of an image
"#,
        );
    }

    #[test]
    fn what_only_mentions_it_is_silent() {
        check(RULE, "FROM a\nRUN echo ssh && apt-get install vim && $ps && ./top-level\nCMD top\n");
    }
}
