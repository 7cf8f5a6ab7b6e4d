//! Downloads by curl that are tried once.

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
    /// Flags the first place in a stage that installs or calls `curl` without a configuration file
    /// for it.
    ///
    /// A stage has a configuration if it sets `CURL_HOME` or writes a `.curlrc`. The rule ignores
    /// calls with `--retry` or `--config`, which tally flags.
    ///
    /// # Why it is bad
    ///
    /// One refused connection ends the build. A configuration file makes every call try again.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSL https://example.com/tool -o /usr/bin/tool
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl --retry 5 -fsSL https://example.com/tool -o /usr/bin/tool
    /// ```
    PreferCurlConfig {
        name: "tally/prefer-curl-config",
        severity: Info,
        category: BestPractice,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/prefer-curl-config/",
    }
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "retry",
        kind: OptionKind::Integer,
        default: "5",
        about: "Number of retries that the message recommends.",
    },
    OptionSpec {
        name: "connect-timeout",
        kind: OptionKind::Integer,
        default: "15",
        about: "Connection timeout in seconds that the message recommends.",
    },
    OptionSpec {
        name: "max-time",
        kind: OptionKind::Integer,
        default: "300",
        about: "Download timeout in seconds that the message recommends.",
    },
];

const CURL: Downloader = Downloader {
    program: "curl",
    variable: "CURL_HOME",
    files: &[".curlrc"],
    flags: &["--retry", "-K", "--config"],
};

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, span) in unconfigured(context, &CURL) {
        let message = "this stage has no .curlrc that makes curl try again";
        let detail = format!(
            "write `--retry-connrefused`, `--retry {}`, `--connect-timeout {}` and `--max-time {}` to \
             /etc/curl/.curlrc and set CURL_HOME=/etc/curl",
            context.integer("retry"),
            context.integer("connect-timeout"),
            context.integer("max-time"),
        );
        findings.push(context.finding(span, message).with_detail(detail));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/prefer-curl-config";
    const SAYS: &str = "this stage has no .curlrc that makes curl try again";

    #[test]
    fn the_first_use_of_a_stage_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a AS b
RUN apt-get install -y curl && curl c
                       ^^^^ {SAYS}
RUN curl d
FROM b
RUN curl e
FROM a
RUN curl f
    ^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn configured_stages_and_calls_are_silent() {
        for text in [
            "ENV CURL_HOME=/b\nRUN curl c",
            "COPY .curlrc /root/\nRUN curl c",
            "COPY <<EOF /root/.curlrc\nb\nEOF\nRUN curl c",
            "RUN echo b > ~/.curlrc && curl c",
            "RUN curl --retry 3 c",
            "RUN apk add curl-dev",
            "RUN echo curl",
            "HEALTHCHECK CMD curl c",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
        check(RULE, "FROM a AS b\nENV CURL_HOME=/b\nFROM b\nRUN curl c\n");
    }
}
