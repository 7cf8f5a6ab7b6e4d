//! Secrets of Rails in the image.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::{labels::unquoted, stage_purpose},
};

rule! {
    /// # What it does
    ///
    /// Flags an `ARG` or `ENV` with the name of a Rails secret.
    ///
    /// The names are `SECRET_KEY_BASE`, `RAILS_MASTER_KEY`, `SECRET_TOKEN`, `DEVISE_SECRET_KEY`,
    /// `DEVISE_PEPPER` and `RAILS_KEY`. The rule ignores placeholders such as `1` and `dummy`.
    ///
    /// # Why it is bad
    ///
    /// The image history contains the value, so everyone who has the image can read it.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// ARG RAILS_MASTER_KEY
    /// RUN bin/rails db:prepare
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// RUN --mount=type=secret,id=key,env=RAILS_MASTER_KEY bin/rails db:prepare
    /// ```
    RubySecretsInArgOrEnv {
        name: "tally/ruby/secrets-in-arg-or-env",
        severity: Error,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/ruby/secrets-in-arg-or-env/",
    }
}

const NAMES: &[&str] = &[
    "DEVISE_PEPPER",
    "DEVISE_SECRET_KEY",
    "RAILS_KEY",
    "RAILS_MASTER_KEY",
    "SECRET_KEY_BASE",
    "SECRET_TOKEN",
];
const PLACEHOLDERS: &[&str] = &["1", "dummy", "secret_key_base_dummy"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { continue };
        let stage = context.facts.stage_of(index);
        if instruction.keyword == Keyword::Label || stage.is_some_and(stage_purpose::is_development)
        {
            continue;
        }
        for pair in pairs.iter().filter(|pair| NAMES.contains(&pair.key.text.as_str())) {
            let value = pair.value.as_ref().map(|word| unquoted(&word.text).to_ascii_lowercase());
            if value.is_some_and(|value| PLACEHOLDERS.contains(&value.as_str())) {
                continue;
            }
            let name = &pair.key.text;
            let message = format!("{name} stays in the history of the image; mount it as a secret");
            findings.push(context.finding(pair.key.span, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/ruby/secrets-in-arg-or-env";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            "\
ARG SECRET_TOKEN
    ^^^^^^^^^^^^ SECRET_TOKEN stays in the history of the image; mount it as a secret
FROM a
ENV B=c DEVISE_PEPPER=$D
        ^^^^^^^^^^^^^ DEVISE_PEPPER stays in the history of the image; mount it as a secret
ENV SECRET_KEY_BASE=\"DUMMY\" SECRET_KEY_BASE_DUMMY=1
LABEL RAILS_KEY=x
FROM a AS test
ENV SECRET_KEY_BASE=x
",
        );
    }
}
