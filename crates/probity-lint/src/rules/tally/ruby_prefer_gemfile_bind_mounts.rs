//! Files that only Bundler needs.

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::ruby};

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` of `Gemfile` and `Gemfile.lock` before `bundle install`.
    ///
    /// The rule checks only files that name a Dockerfile syntax.
    ///
    /// # Why it is bad
    ///
    /// The copy adds a layer, and a later `COPY . .` copies the files again.
    /// `RUN --mount=type=bind` gives both files to Bundler without a layer.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// COPY Gemfile Gemfile.lock ./
    /// RUN bundle install
    /// ```
    ///
    /// ```dockerfile,good
    /// # syntax=docker/dockerfile:1
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=bind,source=Gemfile,target=Gemfile \
    ///     --mount=type=bind,source=Gemfile.lock,target=Gemfile.lock \
    ///     bundle install
    /// ```
    RubyPreferGemfileBindMounts {
        name: "tally/ruby/prefer-gemfile-bind-mounts",
        severity: Info,
        category: Performance,
        url: "https://tally.wharflab.com/rules/tally/ruby/prefer-gemfile-bind-mounts/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !ruby::names_frontend(context) {
        return;
    }
    for stage in ruby::production(context) {
        let Some(install) = ruby::installs(context, stage).last() else { continue };
        let before = stage.instructions.start..install.index;
        let mut copies = context.file.instructions.get(before).unwrap_or_default().iter();
        let Some(copy) = copies.find(|copy| copies_manifests(copy)) else { continue };
        let message = "bind both files into the RUN that installs, instead of copying them";
        findings.push(context.finding(copy.span, message));
    }
}

fn copies_manifests(copy: &Instruction) -> bool {
    let Arguments::Transfer { sources, .. } = &copy.arguments else { return false };
    let has = |name: &str| sources.iter().any(|word| word.text.trim_matches('"') == name);
    let both = has("Gemfile") && has("Gemfile.lock");
    copy.keyword == Keyword::Copy
        && copy.flag_value("from").is_none()
        && (both || has("Gemfile*") || has("Gemfile.*"))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/prefer-gemfile-bind-mounts";

    #[test]
    fn the_copy_is_underlined() {
        check(
            RULE,
            "\
# syntax=docker/dockerfile:1
FROM ruby:3.3
COPY Gemfile* ./
^^^^^^^^^^^^^^^^ bind both files into the RUN that installs, instead of copying them
RUN bundle install
",
        );
    }

    #[test]
    fn other_copies_and_files_are_silent() {
        for text in [
            "FROM ruby:3.3\nCOPY Gemfile Gemfile.lock ./\nRUN bundle install",
            "# syntax=docker/dockerfile:1\nFROM ruby:3.3\nCOPY . .\nRUN bundle install",
            "# syntax=docker/dockerfile:1\nFROM ruby:3.3\nCOPY Gemfile ./\nRUN bundle install",
            "# syntax=docker/dockerfile:1\nFROM ruby:3.3\nCOPY Gemfile Gemfile.lock ./",
            "# syntax=docker/dockerfile:1\nFROM ruby:3.3\nRUN bundle install\nCOPY Gemfile Gemfile.lock ./",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
