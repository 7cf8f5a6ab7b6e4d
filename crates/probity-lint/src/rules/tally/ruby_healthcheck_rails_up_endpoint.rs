//! Health that nobody asks for.

use probity_dockerfile::{CommandLine, Setting, Value};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags a final stage that starts a Rails server without a suitable `HEALTHCHECK`.
    ///
    /// The stage has no `HEALTHCHECK`, or its `HEALTHCHECK` calls `curl` or `wget`. The rule
    /// ignores `HEALTHCHECK NONE`.
    ///
    /// # Why it is bad
    ///
    /// Rails reports its health at `/up`. Ruby can request this path itself, so the image does not
    /// need `curl`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// CMD ["bin/rails", "server"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// HEALTHCHECK CMD ["ruby", "-rnet/http", "-e", "exit Net::HTTP.get_response(URI('http://127.0.0.1:3000/up')).is_a?(Net::HTTPSuccess)"]
    /// CMD ["bin/rails", "server"]
    /// ```
    RubyHealthcheckRailsUpEndpoint {
        name: "tally/ruby/healthcheck-rails-up-endpoint",
        severity: Info,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/ruby/healthcheck-rails-up-endpoint/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = ruby::final_stage(context) else { return };
    if !ruby::serves_web(context, last) {
        return;
    }
    let runtime = context.facts.final_runtime();
    let Some(entry) = runtime.get(Setting::Healthcheck).first() else {
        let Some(span) = last.image_span else { return };
        let message = "this server has no HEALTHCHECK; ask Rails at /up";
        findings.push(context.finding(span, message));
        return;
    };
    let Value::Healthcheck(healthcheck) = &entry.entry.value else { return };
    let first = match &healthcheck.command {
        Some(CommandLine::Exec(words)) => words.first().map(String::as_str),
        Some(CommandLine::Shell { text, .. }) => text.split_whitespace().next(),
        None => None,
    };
    if matches!(first, Some("curl" | "wget")) {
        let message = "Ruby can ask /up itself, so the image needs neither curl nor wget";
        findings.push(context.finding(entry.span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "tally/ruby/healthcheck-rails-up-endpoint";

    #[test]
    fn the_image_or_the_check_is_underlined() {
        check(
            RULE,
            "FROM ruby:3.3\n     ^^^^^^^^ this server has no HEALTHCHECK; ask Rails at /up\nCMD puma\n",
        );
        let found = run(RULE, "FROM ruby:3.3\nHEALTHCHECK CMD curl -f localhost/up\nCMD puma\n");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn workers_and_other_checks_are_silent() {
        for text in [
            "FROM ruby:3.3\nCMD [\"sidekiq\"]",
            "FROM ruby:3.3\nHEALTHCHECK NONE\nCMD puma",
            "FROM ruby:3.3\nHEALTHCHECK CMD ruby check.rb\nCMD puma",
            "FROM ruby:3.3 AS dev\nCMD puma",
            "FROM ruby:3.3\nCMD puma\nFROM debian:12",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
