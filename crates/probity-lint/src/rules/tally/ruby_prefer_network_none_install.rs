//! Code of gems with the network at hand.

use probity_dockerfile::Instruction;
use probity_finding::Finding;

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags a `bundle install` with a `Gemfile` bind mount and a cache mount but without
    /// `--network=none`.
    ///
    /// The rule checks only files that name a Dockerfile syntax.
    ///
    /// # Why it is bad
    ///
    /// Gems run code during the install. If `bundle cache` has downloaded them before, the install
    /// needs no network. Without a network, the code of a gem cannot send data to a server.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=bind,source=Gemfile,target=Gemfile \
    ///     --mount=type=cache,target=/usr/local/bundle/cache \
    ///     bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN --network=none \
    ///     --mount=type=bind,source=Gemfile,target=Gemfile \
    ///     --mount=type=cache,target=/usr/local/bundle/cache \
    ///     bundle install --local
    /// ```
    RubyPreferNetworkNoneInstall {
        name: "tally/ruby/prefer-network-none-install",
        severity: Info,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/ruby/prefer-network-none-install/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !ruby::names_frontend(context) {
        return;
    }
    for stage in ruby::production(context) {
        for tool in ruby::installs(context, stage) {
            let Some(run) = context.file.instructions.get(tool.index) else { continue };
            let is_offline = run.flag_value("network").is_some_and(|mode| mode.text == "none");
            if is_offline || !run.passing_mounts().any(ruby::is_bundler_cache) || !binds(run) {
                continue;
            }
            let Some(span) = tool.call.span() else { continue };
            let message = "download with `bundle cache` first, and install with --network=none";
            findings.push(context.finding(span, message));
        }
    }
}

/// Whether a `Gemfile` is bound into a `RUN`.
fn binds(run: &Instruction) -> bool {
    run.flags_named("mount").any(|flag| {
        let is_bind = flag.option("type").is_none_or(|kind| kind.text == "bind");
        let paths = ["source", "src", "target", "dst"].iter().filter_map(|key| flag.option(key));
        let is_gemfile =
            |text: &str| matches!(text.rsplit('/').next(), Some("Gemfile" | "Gemfile.lock"));
        is_bind && paths.into_iter().any(|path| is_gemfile(&path.text))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/prefer-network-none-install";

    #[test]
    fn the_install_is_underlined() {
        check(
            RULE,
            "\
# syntax=docker/dockerfile:1
FROM ruby:3.3
RUN --mount=source=Gemfile,target=Gemfile --mount=type=cache,target=/bundle/cache bundle install
                                                                                  ^^^^^^^^^^^^^^ download with `bundle cache` first, and install with --network=none
RUN --mount=source=Gemfile,target=Gemfile bundle install
RUN --mount=type=cache,target=/bundle/cache bundle install
RUN --network=none --mount=source=Gemfile,target=Gemfile --mount=type=cache,target=/bundle/cache bundle install
",
        );
    }
}
