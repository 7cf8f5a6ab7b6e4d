//! Signals by their full names.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, facts::stop_signal::canonical};

rule! {
    /// # What it does
    ///
    /// Flags a `STOPSIGNAL` that is a number, lacks `SIG`, is in lower case, or is in quotes.
    ///
    /// The rule ignores variables and numbers without a signal name. It also ignores `SIGKILL` and
    /// `SIGSTOP`, which `tally/no-ungraceful-stopsignal` reports.
    ///
    /// # Why it is bad
    ///
    /// Few readers know what signal 3 does, and a search for `SIGQUIT` does not find the number.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// STOPSIGNAL 15
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
    /// Suggestion. The fix writes the full name of the signal. The signal is the same, but the
    /// image configuration spells it differently. On platforms whose numbers differ from Linux on
    /// x86, the number may have meant another signal.
    PreferCanonicalStopsignal {
        name: "tally/prefer-canonical-stopsignal",
        severity: Info,
        category: Style,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-canonical-stopsignal/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, stop) in context.each(Keyword::Stopsignal) {
        let Arguments::Text(Some(word)) = &stop.arguments else { continue };
        let Some(name) = canonical(&word.text) else { continue };
        if word.text == name || matches!(name.as_str(), "SIGKILL" | "SIGSTOP") {
            continue;
        }
        let message = format!("{} is {name}; write its name", word.text);
        let fix = Fix::suggestion(format!("write {name}"), vec![Edit::replace(word.span, name)]);
        findings.push(context.finding(word.span, message).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/prefer-canonical-stopsignal";

    #[test]
    fn the_signal_is_underlined() {
        check(RULE, "FROM a\nstopsignal \\\n  int\n  ^^^ int is SIGINT; write its name\n");
        check(
            RULE,
            "FROM a\nSTOPSIGNAL \"SIGINT\"\n           ^^^^^^^^ \"SIGINT\" is SIGINT; write its name\n",
        );
    }

    #[test]
    fn names_variables_and_unknown_ones_are_silent() {
        for signal in ["SIGTERM", "SIGRTMIN+3", "$S", "${S:-15}", "37", "9", "kill"] {
            check(RULE, &format!("FROM a\nSTOPSIGNAL {signal}\n"));
        }
        check(RULE, "FROM a\n# STOPSIGNAL 15\nRUN STOPSIGNAL 15\nONBUILD STOPSIGNAL 15\n");
    }

    #[test]
    fn the_word_alone_is_replaced() {
        fixes(
            RULE,
            &[
                ("STOPSIGNAL  2 ", "STOPSIGNAL  SIGINT "),
                ("STOPSIGNAL \\\n  # why\n  rtmin+3", "STOPSIGNAL \\\n  # why\n  SIGRTMIN+3"),
                ("STOPSIGNAL 'quit'", "STOPSIGNAL SIGQUIT"),
                ("STOPSIGNAL $S", "STOPSIGNAL $S"),
            ],
        );
    }
}
