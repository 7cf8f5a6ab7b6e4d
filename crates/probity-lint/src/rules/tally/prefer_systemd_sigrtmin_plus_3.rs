//! systemd is stopped with a signal of its own.

use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::stop_signal::{self, Wanted},
};

rule! {
    /// # What it does
    ///
    /// Flags a stage that starts `systemd` or `/sbin/init` in exec form with a stop signal other
    /// than `SIGRTMIN+3`.
    ///
    /// # Why it is bad
    ///
    /// On `SIGTERM`, systemd restarts itself. Only `SIGRTMIN+3` makes systemd stop its services and
    /// exit. With any other signal, the container engine waits for its timeout and then kills all
    /// processes.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM fedora:41
    /// CMD ["/sbin/init"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM fedora:41
    /// STOPSIGNAL SIGRTMIN+3
    /// CMD ["/sbin/init"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM fedora:41
    /// STOPSIGNAL SIGRTMIN+3
    /// CMD ["/sbin/init"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `STOPSIGNAL SIGRTMIN+3`. If `/sbin/init` is a program other than
    /// systemd, it may not know the signal.
    PreferSystemdSigrtminPlus3 {
        name: "tally/prefer-systemd-sigrtmin-plus-3",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-systemd-sigrtmin-plus-3/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let wanted = Wanted {
        is_program: |path| {
            path.rsplit('/').next() == Some("systemd") || path.ends_with("/sbin/init")
        },
        what: "systemd",
        signal: "SIGRTMIN+3",
        images: &[],
    };
    stop_signal::flag(context, &wanted, findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/prefer-systemd-sigrtmin-plus-3";

    #[test]
    fn the_signal_or_what_starts_it_is_underlined() {
        check(
            RULE,
            r#"
FROM a AS x
ENTRYPOINT ["/usr/lib/systemd/systemd"]
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ systemd ends well with SIGRTMIN+3; STOPSIGNAL is missing
FROM a
STOPSIGNAL TERM
           ^^^^ systemd ends well with SIGRTMIN+3; this is another signal
CMD ["/usr/sbin/init"]
"#,
        );
    }

    #[test]
    fn other_programs_and_the_signal_are_silent() {
        for text in [
            "STOPSIGNAL RTMIN+3\nCMD [\"systemd\"]",
            "CMD [\"init\"]",
            "CMD [\"tini\", \"/sbin/init\"]",
            "CMD /sbin/init",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn the_signal_is_set() {
        fixes(RULE, &[("CMD [\"systemd\"]", "STOPSIGNAL SIGRTMIN+3\nCMD [\"systemd\"]")]);
    }
}
