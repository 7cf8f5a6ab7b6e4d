//! An allocator that nobody uses.

use probity_dockerfile::{Action, Manager, PackageCall, PackageKind};
use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{environment, ruby},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a final stage that installs jemalloc but never loads it.
    ///
    /// The stage sets neither `LD_PRELOAD` nor `MALLOC_CONF` for jemalloc.
    ///
    /// # Why it is bad
    ///
    /// Ruby still uses the system allocator, and its memory use grows over time.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// RUN apt-get update && apt-get install -y libjemalloc2
    /// CMD ["bin/rails", "server"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// RUN apt-get update && apt-get install -y libjemalloc2
    /// ENV LD_PRELOAD="libjemalloc.so.2"
    /// CMD ["bin/rails", "server"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN apt-get update && apt-get install -y libjemalloc2
    /// ENV LD_PRELOAD="libjemalloc.so.2"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `LD_PRELOAD`, so every program in the container uses jemalloc.
    ///
    /// probity offers a fix only for Debian's `libjemalloc2` package.
    RubyJemallocInstalledButNotPreloaded {
        name: "tally/ruby/jemalloc-installed-but-not-preloaded",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/jemalloc-installed-but-not-preloaded/",
    }
}

const PACKAGES: &[&str] = &[
    "jemalloc",
    "jemalloc-dev",
    "jemalloc-devel",
    "libjemalloc-dev",
    "libjemalloc1",
    "libjemalloc2",
];
/// Settings that no other allocator has.
const SETTINGS: &[&str] =
    &["background_thread:", "dirty_decay_ms:", "muzzy_decay_ms:", "narenas:", "thp:"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = ruby::final_stage(context) else { return };
    let is_used = |(name, value): (&str, &str)| match name {
        "LD_PRELOAD" => value.to_ascii_lowercase().contains("jemalloc"),
        "MALLOC_CONF" => SETTINGS.iter().any(|setting| value.contains(setting)),
        _ => false,
    };
    let mut stages = context.with_bases(last);
    if stages.any(|stage| environment::of_stage(context, stage.index).any(is_used)) {
        return;
    }
    for index in last.instructions.clone() {
        let Some((call, package, name)) = installed(context, index) else { continue };
        let message = "jemalloc is installed, but nothing loads it; set LD_PRELOAD";
        let finding = context.finding(package, message);
        let is_debian = matches!(call.manager, Manager::Apt | Manager::AptGet);
        let run = context.file.instructions.get(index);
        let run = if is_debian && name == "libjemalloc2" { run } else { None };
        let fix = run.map(|run| {
            let written = "ENV LD_PRELOAD=\"libjemalloc.so.2\"";
            let edit = stage_edits::insert_after(context, run, written);
            Fix::suggestion("load it", vec![edit])
        });
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        return;
    }
}

fn installed<'a>(
    context: &Context<'a>,
    index: usize,
) -> Option<(&'a PackageCall, probity_finding::Span, &'a str)> {
    let calls = context.package_calls(index).iter();
    calls.filter(|call| call.action == Action::Install).find_map(|call| {
        call.packages.iter().find_map(|package| match &package.kind {
            PackageKind::Named { name, .. } if PACKAGES.contains(&name.as_str()) => {
                Some((call, package.span, name.as_str()))
            }
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/jemalloc-installed-but-not-preloaded";

    #[test]
    fn the_package_is_underlined() {
        check(
            RULE,
            "\
FROM ruby:3.3
ENV MALLOC_CONF=a:b
RUN apk add b jemalloc
              ^^^^^^^^ jemalloc is installed, but nothing loads it; set LD_PRELOAD
",
        );
    }

    #[test]
    fn used_and_other_ones_are_silent() {
        for text in [
            "FROM ruby:3.3\nRUN apk add jemalloc\nENV LD_PRELOAD=/x/libjemalloc.so",
            "FROM ruby:3.3\nRUN apk add jemalloc\nENV MALLOC_CONF=narenas:2",
            "FROM ruby:3.3\nRUN apk add jemalloc\nFROM ruby:3.3",
            "FROM debian:12\nRUN apk add jemalloc",
            "FROM ruby:3.3\nRUN echo apk add jemalloc",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn other_systems_have_no_fix() {
        let text = "FROM ruby:3.3-alpine\nRUN apk add jemalloc\n";
        fixed(RULE, text, text);
    }
}
