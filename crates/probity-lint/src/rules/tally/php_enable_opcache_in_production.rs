//! PHP that compiles every page again.

use probity_dockerfile::{Action, Arguments, Base, ImageRef, Os, PackageKind, Stage};
use probity_finding::{Finding, Fix};

use crate::{
    engine::context::Context,
    facts::{cuda::dotted, environment, stage_purpose, startup::Startup},
    text::stage_edits,
};

rule! {
    /// # What it does
    ///
    /// Flags a final stage that serves PHP without OPcache.
    ///
    /// A stage serves PHP in one of these cases:
    ///
    /// - Its base image is an official PHP image with `fpm` or `apache` in the tag, or a well-known
    ///   image derived from PHP.
    /// - It starts `php-fpm`, `apache2-foreground`, `httpd-foreground`, `frankenphp` or `rr`.
    ///
    /// OPcache counts as enabled if this stage, or one that it is based on, installs, enables or
    /// configures it. PHP 8.5 and later contain OPcache. The rule ignores stages for development or
    /// tests, which it recognizes by their names.
    ///
    /// # Why it is bad
    ///
    /// Without OPcache, PHP parses and compiles all files for every request.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM php:8.4-fpm
    /// COPY . /app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM php:8.4-fpm
    /// RUN docker-php-ext-install opcache
    /// COPY . /app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM php:8.4-fpm
    /// RUN docker-php-ext-install gd opcache
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix installs OPcache after the `FROM`. A cached script may be older than its
    /// file.
    ///
    /// probity offers a fix only for official PHP images.
    PhpEnableOpcacheInProduction {
        name: "tally/php/enable-opcache-in-production",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/php/enable-opcache-in-production/",
    }
}

const DERIVED: &[&str] = &[
    "bitnami/php-fpm",
    "dunglas/frankenphp",
    "serversideup/php",
    "trafex/php-nginx",
    "webdevops/php-apache",
    "webdevops/php-nginx",
];
const SERVERS: &[&str] = &["apache2-foreground", "frankenphp", "httpd-foreground", "rr"];
const EXTENSION_TOOLS: &[&str] = &[
    "docker-php-ext-configure",
    "docker-php-ext-enable",
    "docker-php-ext-install",
    "install-php-extensions",
    "pecl",
];
/// PHP that has OPcache built in.
const BUILT_IN: (u32, u32) = (8, 5);

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = context.facts.final_stage().filter(|last| last.os == Os::Linux) else {
        return;
    };
    let Some(span) = last.image_span else { return };
    let image = image(context, last);
    let is_official = image.as_ref().is_some_and(is_official_server);
    if stage_purpose::is_development(last)
        || image.as_ref().is_some_and(has_it_built_in)
        || !(is_official || image.as_ref().is_some_and(is_derived) || starts_php(context, last))
        || context.with_bases(last).any(|stage| enables(context, stage))
    {
        return;
    }
    let finding = context.finding(span, "this PHP server runs without OPcache");
    let edit = stage_edits::insert_at_top(context, last, "RUN docker-php-ext-install opcache");
    let edit = if is_official { edit } else { None };
    let fix = edit.map(|edit| Fix::suggestion("install OPcache", vec![edit]));
    findings.push(fix.into_iter().fold(finding, Finding::with_fix));
}

fn image(context: &Context<'_>, stage: &Stage) -> Option<ImageRef> {
    let root = context.facts.stages().get(stage.root)?;
    let Base::Image(name) = &root.base else { return None };
    ImageRef::parse(name).ok()
}

fn is_official_server(image: &ImageRef) -> bool {
    let tag = image.tag.as_deref().unwrap_or_default();
    image.familiar_name() == "php" && (tag.contains("fpm") || tag.contains("apache"))
}

fn has_it_built_in(image: &ImageRef) -> bool {
    let tag = image.tag.as_deref().and_then(|tag| dotted(tag.split('-').next()?));
    image.familiar_name() == "php" && tag.is_some_and(|version| version >= BUILT_IN)
}

fn is_derived(image: &ImageRef) -> bool {
    DERIVED.contains(&image.familiar_name().as_str())
}

fn starts_php(context: &Context<'_>, stage: &Stage) -> bool {
    let words = Startup::of(context, stage).words();
    words.iter().any(|word| SERVERS.contains(&word.as_str()) || word.starts_with("php-fpm"))
}

fn enables(context: &Context<'_>, stage: &Stage) -> bool {
    let mut variables = environment::of_stage(context, stage.index);
    variables.any(|(name, _)| name.starts_with("PHP_OPCACHE_"))
        || stage.instructions.clone().any(|index| brings(context, index))
}

fn names_opcache(value: &str) -> bool {
    value.contains("opcache")
}

/// Whether an instruction installs or configures OPcache.
fn brings(context: &Context<'_>, index: usize) -> bool {
    let Some(instruction) = context.file.instructions.get(index) else { return false };
    if let Arguments::Transfer { sources, destination, .. } = &instruction.arguments {
        let mut words = sources.iter().chain(destination.as_deref());
        let text = context.file.text;
        let mut bodies = instruction.heredocs().iter().map(|heredoc| heredoc.content(text));
        return words.any(|word| names_opcache(&word.text))
            || bodies.any(|body| body.contains("opcache"));
    }
    let calls = context.package_calls(index).iter();
    let mut packages =
        calls.filter(|call| call.action == Action::Install).flat_map(|call| &call.packages);
    let is_package = packages.any(|package| match &package.kind {
        PackageKind::Named { name, .. } => name.contains("opcache"),
        _ => false,
    });
    let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    is_package
        || commands.any(|command| {
            let call = command.effective();
            let writes =
                command.redirections().iter().any(|redirection| redirection.target.is_some());
            (call.is_any(EXTENSION_TOOLS) || writes)
                && command.words.iter().any(|word| names_opcache(&word.prefix()))
        })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/php/enable-opcache-in-production";

    #[test]
    fn the_image_of_the_last_stage_is_underlined() {
        check(
            RULE,
            "\
FROM php:8.4-fpm AS a
FROM a
     ^ this PHP server runs without OPcache
RUN echo opcache
",
        );
    }

    #[test]
    fn servers_are_found_by_image_and_command() {
        for text in [
            "FROM dunglas/frankenphp",
            "FROM a\nCMD [\"php-fpm8.3\"]",
            "FROM php:8-cli\nCMD rr serve",
        ] {
            assert_eq!(run(RULE, &format!("{text}\n")).len(), 1, "{text}");
            fixed(RULE, &format!("{text}\n"), &format!("{text}\n"));
        }
    }

    #[test]
    fn enabled_and_other_stages_are_silent() {
        for text in [
            "FROM php:8.4-cli",
            "FROM php:8.5-fpm",
            "FROM php:8.4-fpm AS dev",
            "FROM php:8.4-fpm AS a\nFROM debian:12",
            "FROM php:8.4-fpm AS a\nRUN docker-php-ext-enable opcache\nFROM a",
            "FROM php:8.4-fpm\nRUN install-php-extensions opcache",
            "FROM php:8.4-fpm\nENV PHP_OPCACHE_ENABLE=1",
            "FROM php:8.4-fpm\nCOPY opcache.ini /x/",
            "FROM php:8.4-fpm\nCOPY <<EOF /x.ini\nopcache.enable=1\nEOF",
            "FROM php:8.4-fpm\nRUN echo opcache.enable=1 > /x.ini",
            "FROM a\nRUN apt-get install -y php8.3-opcache\nCMD [\"php-fpm8.3\"]",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
