//! Downloads that end at the first redirection.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Fix};

use crate::{engine::context::Context, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags a `curl` in a `RUN` without `--location`, the option that follows redirects.
    ///
    /// The rule ignores these calls:
    ///
    /// - calls to the local machine (`localhost`, `127.0.0.1` or a socket);
    /// - calls that only print the version or the help;
    /// - calls with a configuration file (`--config`).
    ///
    /// Unlike probity, tally flags calls to the local machine and calls that print the version.
    ///
    /// # Why it is bad
    ///
    /// Release pages and mirrors often redirect. Without `--location`, `curl` saves the redirect
    /// page instead of the file and reports success.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSO https://example.com/tool.tar.gz
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN curl --location -fsSO https://example.com/tool.tar.gz
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl -fsSLO https://example.com/tool.tar.gz
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds `--location`. The download may then come from a URL other than the
    /// one in the command.
    CurlShouldFollowRedirects {
        name: "tally/curl-should-follow-redirects",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/curl-should-follow-redirects/",
    }
}

const FOLLOWING: &[&str] =
    &["-L", "--location", "--location-trusted", "-V", "--version", "-h", "--help", "--unix-socket"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        for (script, command) in commands {
            let call = command.effective();
            if !call.is_any(&["curl"]) {
                continue;
            }
            let Some(name) = call.name_word() else { continue };
            let is_local = call.args().iter().any(|word| is_own_machine(&word.prefix()));
            // A file of options may say it.
            let is_open = call.has_flag(&["-K", "--config"]) || call.args().is_empty();
            if call.has_flag(FOLLOWING) || is_local || is_open {
                continue;
            }
            let message = "curl stops at a redirection without --location";
            let edit = shell_edits::insert_behind(context, script, name.span(), "--location");
            let fix = Fix::suggestion("add --location", vec![edit]);
            findings.push(context.finding(name.span(), message).with_fix(fix));
        }
    }
}

fn is_own_machine(address: &str) -> bool {
    let host = address.split_once("://").map_or(address, |(_, host)| host);
    let name = host.split(['/', ':']).next().unwrap_or_default();
    matches!(name, "localhost" | "127.0.0.1")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{adds_flag, check};

    const RULE: &str = "tally/curl-should-follow-redirects";
    const SAYS: &str = "curl stops at a redirection without --location";

    #[test]
    fn the_program_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && ("curl" -fsS x | b) \
          ^^^^^^ {SAYS}
    && c
RUN <<EOF
x=$(curl $Y)
    ^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn following_local_and_mentioned_ones_are_silent() {
        for run in [
            "curl -fsSL x",
            "curl --location x",
            "curl -V",
            "curl http://localhost:80/x",
            "curl --unix-socket /x y",
            "curl -K x",
            "apk add curl",
            "echo curl x",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        adds_flag(RULE, "curl", "--location");
    }
}
