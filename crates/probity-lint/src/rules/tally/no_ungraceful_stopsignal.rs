//! Signals that end nothing well.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, facts::stop_signal::canonical};

rule! {
    /// # What it does
    ///
    /// Flags a `STOPSIGNAL` that is `SIGKILL` or `SIGSTOP`.
    ///
    /// The rule also recognizes the numbers of these signals and other spellings, such as `kill`.
    ///
    /// # Why it is bad
    ///
    /// A program cannot catch either signal. `SIGKILL` ends the program before it can finish its
    /// work. `SIGSTOP` only pauses the program until the container engine reaches its timeout and
    /// kills it.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// STOPSIGNAL SIGKILL
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// STOPSIGNAL SIGTERM
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// STOPSIGNAL SIGTERM
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `SIGTERM`, the default stop signal of containers. A program that
    /// ignores `SIGTERM` then runs until the container engine reaches its timeout.
    NoUngracefulStopsignal {
        name: "tally/no-ungraceful-stopsignal",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/no-ungraceful-stopsignal/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, stop) in context.each(Keyword::Stopsignal) {
        let Arguments::Text(Some(word)) = &stop.arguments else { continue };
        let what = match canonical(&word.text).as_deref() {
            Some("SIGKILL") => "no program can catch SIGKILL, so none can shut down cleanly",
            Some("SIGSTOP") => "SIGSTOP halts a program and does not end it",
            _ => continue,
        };
        let fix = Fix::suggestion("use SIGTERM", vec![Edit::replace(word.span, "SIGTERM")]);
        findings.push(context.finding(word.span, what).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/no-ungraceful-stopsignal";

    #[test]
    fn the_signal_is_underlined() {
        check(
            RULE,
            "\
FROM a
STOPSIGNAL 9
           ^ no program can catch SIGKILL, so none can shut down cleanly
STOPSIGNAL \\
  sigstop
  ^^^^^^^ SIGSTOP halts a program and does not end it
",
        );
    }

    #[test]
    fn other_signals_and_variables_are_silent() {
        for signal in ["SIGTERM", "15", "SIGUSR1", "$S", "SIGRTMIN+3"] {
            check(RULE, &format!("FROM a\nSTOPSIGNAL {signal}\n"));
        }
        check(RULE, "FROM a\nRUN kill -s SIGKILL 1\n# STOPSIGNAL 9\n");
    }

    #[test]
    fn the_word_alone_is_replaced() {
        let before = "STOPSIGNAL \\\n  # why\n  'kill'";
        fixes(RULE, &[(before, "STOPSIGNAL \\\n  # why\n  SIGTERM")]);
    }
}
