//! Downloads by wget that are tried in vain.

use probity_finding::Finding;

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::download_config::{Downloader, unconfigured},
};

rule! {
    /// # What it does
    ///
    /// Flags the first place in a stage that installs or calls `wget` without a configuration file
    /// for it.
    ///
    /// A stage has a configuration if it sets `WGETRC` or writes a `wgetrc` file. The rule ignores
    /// calls with `--tries` or `--config`, which tally flags.
    ///
    /// # Why it is bad
    ///
    /// By default, `wget` waits 15 minutes for a response and does not retry a refused connection.
    /// A configuration file changes both settings for every call.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN wget -q https://example.com/tool -O /usr/bin/tool
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN wget --tries=5 -q https://example.com/tool -O /usr/bin/tool
    /// ```
    PreferWgetConfig {
        name: "tally/prefer-wget-config",
        severity: Info,
        category: BestPractice,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/prefer-wget-config/",
    }
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "timeout",
        kind: OptionKind::Integer,
        default: "15",
        about: "Timeout in seconds that the message recommends.",
    },
    OptionSpec {
        name: "tries",
        kind: OptionKind::Integer,
        default: "5",
        about: "Number of attempts that the message recommends.",
    },
];

const WGET: Downloader = Downloader {
    program: "wget",
    variable: "WGETRC",
    files: &["wgetrc"],
    flags: &["-t", "--tries", "--config"],
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, span) in unconfigured(context, &WGET) {
        let message = "this stage has no wgetrc that makes wget try again";
        let detail = format!(
            "write `retry_connrefused = on`, `timeout = {}` and `tries = {}` to /etc/wgetrc",
            context.integer("timeout"),
            context.integer("tries"),
        );
        findings.push(context.finding(span, message).with_detail(detail));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/prefer-wget-config";

    #[test]
    fn the_first_use_of_a_stage_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN b && wget -q c
         ^^^^ this stage has no wgetrc that makes wget try again
RUN wget d
",
        );
    }

    #[test]
    fn configured_stages_and_calls_are_silent() {
        for text in [
            "ENV WGETRC=/b\nRUN wget c",
            "COPY b /etc/wgetrc\nRUN wget c",
            "RUN echo b > /root/.wgetrc && wget c",
            "RUN wget -t 3 c",
            "RUN wget --version",
            "RUN echo wget",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
