//! A debugger in a PHP image.

use probity_dockerfile::{Action, Keyword, PackageKind};
use probity_finding::{Finding, Fix, Span};
use probity_shell::{Call, Word};

use crate::{engine::context::Context, facts::stage_purpose, text::stage_edits};

rule! {
    /// # What it does
    ///
    /// Flags commands that install or enable Xdebug in the final stage or in a stage that it is
    /// based on.
    ///
    /// The rule ignores a final stage named `dev`, `development`, `test`, `testing`, `ci` or
    /// `debug`.
    ///
    /// # Why it is bad
    ///
    /// Xdebug makes every request slower and lets a debugger connect to the container.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM php:8.4-cli
    /// RUN pecl install xdebug && docker-php-ext-enable xdebug
    /// COPY . /app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM php:8.4-cli
    /// COPY . /app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM php:8.4-cli AS app
    /// COPY . /app
    ///
    /// FROM app AS dev
    /// RUN pecl install xdebug && docker-php-ext-enable xdebug
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix removes the `RUN`. Later commands that configure Xdebug may then fail.
    ///
    /// probity offers no fix if the `RUN` does anything else or contains a comment.
    PhpNoXdebugInFinalImage {
        name: "tally/php/no-xdebug-in-final-image",
        severity: Warning,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/php/no-xdebug-in-final-image/",
    }
}

const EXTENSION_TOOLS: &[&str] =
    &["docker-php-ext-enable", "docker-php-ext-install", "install-php-extensions"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = context.facts.final_stage() else { return };
    if stage_purpose::is_development(last) {
        return;
    }
    for index in context.with_bases(last).flat_map(|stage| stage.instructions.clone()) {
        let places = places(context, index);
        let Some((first, more)) = places.split_first() else { continue };
        let message = "Xdebug is for developers; install it in a separate stage";
        let finding = context.finding(*first, message).with_more_places(more.iter().copied());
        let edit = context.file.instructions.get(index).filter(|_| is_all(context, index));
        let edit = edit.and_then(|run| stage_edits::remove(context, run));
        let fix = edit.map(|edit| Fix::suggestion("remove it", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Where an instruction names Xdebug as something to install or enable.
fn places(context: &Context<'_>, index: usize) -> Vec<Span> {
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let words = commands.flat_map(|command| extensions(&command.effective()));
    let calls = context.package_calls(index).iter();
    let packages =
        calls.filter(|call| call.action == Action::Install).flat_map(|call| &call.packages);
    let named = packages.filter(|package| match &package.kind {
        PackageKind::Named { name, .. } => name.contains("xdebug"),
        _ => false,
    });
    let mut found: Vec<Span> =
        words.filter(|word| is_xdebug(word)).map(|word| word.span()).collect();
    found.extend(named.map(|package| package.span));
    found.sort();
    found
}

/// The extensions that a call installs or enables.
fn extensions<'w>(call: &Call<'w>) -> Vec<&'w Word> {
    let words = call.positional(&["-j"]);
    match words.split_first() {
        _ if call.is_any(EXTENSION_TOOLS) => words,
        Some((verb, rest)) if call.is_any(&["pecl"]) && verb.is("install") => rest.to_vec(),
        _ => Vec::new(),
    }
}

/// `xdebug`, `xdebug-3.4.0`, `xdebug@3`
fn is_xdebug(word: &Word) -> bool {
    word.prefix()
        .strip_prefix("xdebug")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@']))
}

/// Whether a `RUN` does nothing but this.
fn is_all(context: &Context<'_>, index: usize) -> bool {
    let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let run = context.file.instructions.get(index);
    let is_run = run.is_some_and(|run| run.keyword == Keyword::Run);
    is_run
        && commands.all(|command| {
            let words = extensions(&command.effective());
            !words.is_empty() && words.iter().all(|word| is_xdebug(word))
        })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/php/no-xdebug-in-final-image";
    const SAYS: &str = "Xdebug is for developers; install it in a separate stage";

    #[test]
    fn the_extension_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a AS b
RUN pecl install xdebug-3.4.0 && docker-php-ext-enable gd xdebug
                 ^^^^^^^^^^^^ {SAYS}
                                                          ^^^^^^ likewise
FROM b
RUN apk add php83-pecl-xdebug
            ^^^^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn other_stages_and_mentions_are_silent() {
        for text in [
            "FROM a AS dev\nRUN pecl install xdebug",
            "FROM a AS b\nRUN pecl install xdebug\nFROM a",
            "FROM a\nRUN echo xdebug && pecl install xdebugger",
            "FROM a\nRUN pecl uninstall xdebug",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn only_a_run_of_its_own_goes() {
        fixes(
            RULE,
            &[
                ("RUN docker-php-ext-install xdebug\nCMD a", "CMD a"),
                ("RUN docker-php-ext-install gd xdebug", "RUN docker-php-ext-install gd xdebug"),
                ("RUN a && pecl install xdebug", "RUN a && pecl install xdebug"),
            ],
        );
    }
}
