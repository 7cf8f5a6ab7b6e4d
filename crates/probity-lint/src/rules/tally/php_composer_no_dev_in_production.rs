//! Tools of developers in a PHP image.

use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{environment, stage_purpose},
    text::shell_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags `composer install` without `--no-dev`.
    ///
    /// The rule ignores stages named `dev`, `development`, `test`, `testing`, `ci` or `debug`. It
    /// also ignores the install if `COMPOSER_NO_DEV` is set.
    ///
    /// # Why it is bad
    ///
    /// The packages in `require-dev` make the image larger, and some of them let a visitor run
    /// code.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM php:8.4-cli
    /// RUN composer install --no-interaction
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM php:8.4-cli
    /// RUN composer install --no-dev --no-interaction
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM php:8.4-cli
    /// ENV COMPOSER_NO_DEV=1
    /// RUN composer install
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds `--no-dev`, so Composer installs fewer packages.
    PhpComposerNoDevInProduction {
        name: "tally/php/composer-no-dev-in-production",
        severity: Warning,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/php/composer-no-dev-in-production/",
    }
}

/// Flags of Composer whose value is the next word.
const VALUED: &[&str] = &["-d", "--working-dir"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let stage = context.facts.stage_of(index);
        if stage.is_none_or(stage_purpose::is_development) || is_off(context, index) {
            continue;
        }
        for script in context.scripts(index) {
            for command in &script.commands {
                let call = command.effective();
                let install = call.positional(VALUED).first().copied();
                let Some(install) = install.filter(|word| word.is("install")) else { continue };
                let is_said = command
                    .assignments()
                    .iter()
                    .any(|assignment| assignment.name == "COMPOSER_NO_DEV");
                if !call.is_any(&["composer"]) || call.has_flag(&["--no-dev"]) || is_said {
                    continue;
                }
                let message = "this installs the packages of developers; add --no-dev";
                let edit = shell_edits::insert_behind(context, script, install.span(), "--no-dev");
                let fix = Fix::suggestion("add --no-dev", vec![edit]);
                findings.push(context.finding(install.span(), message).with_fix(fix));
            }
        }
    }
}

fn is_off(context: &Context<'_>, index: usize) -> bool {
    let value = environment::before(context, index, "COMPOSER_NO_DEV");
    value.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/php/composer-no-dev-in-production";
    const SAYS: &str = "this installs the packages of developers; add --no-dev";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
ENV COMPOSER_NO_DEV=0
RUN b && composer -d /x install -n
                        ^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn developers_and_other_subcommands_are_silent() {
        for text in [
            "FROM a\nRUN composer install --no-dev",
            "FROM a\nRUN composer update",
            "FROM a\nRUN COMPOSER_NO_DEV=1 composer install",
            "FROM a AS unit-test\nRUN composer install",
            "FROM a AS b\nENV COMPOSER_NO_DEV=1\nFROM b\nRUN composer install",
            "FROM a\nRUN echo composer install",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn the_flag_follows_the_subcommand() {
        fixes(
            RULE,
            &[(
                "RUN [\"composer\", \"install\", \"-n\"]",
                "RUN [\"composer\", \"install\", \"--no-dev\", \"-n\"]",
            )],
        );
    }
}
