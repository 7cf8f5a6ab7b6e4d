//! Directories of Rails that the user cannot write.

use probity_dockerfile::{Arguments, Instruction, Keyword, Os, Stage};
use probity_finding::{Edit, Finding, Fix};
use probity_shell::Call;

use crate::{
    engine::context::Context,
    facts::{environment, ruby},
};

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` that leaves a Rails application owned by root in an image with a non-root
    /// user.
    ///
    /// The `COPY` has no `--chown` with that user, and no `chown -R` follows.
    ///
    /// # Why it is bad
    ///
    /// Rails writes to `tmp`, `log`, `storage` and `db`. If it cannot write there, the first
    /// request fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM ruby:3.3-slim
    /// WORKDIR /rails
    /// COPY . .
    /// USER rails:rails
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM ruby:3.3-slim
    /// WORKDIR /rails
    /// COPY --chown=rails:rails . .
    /// USER rails:rails
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM ruby:3.3-slim
    /// WORKDIR /rails
    /// COPY --chown=rails:rails . .
    /// USER rails:rails
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds `--chown` with the user. The user can then also change the
    /// application.
    ///
    /// probity offers no fix if the `COPY` already has a `--chown`.
    RubyStatePathsNotWritableAsNonRoot {
        name: "tally/ruby/state-paths-not-writable-as-non-root",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/ruby/state-paths-not-writable-as-non-root/",
    }
}

const STATE: &[&str] = &["tmp", "log", "storage", "db"];
const ROOTS: &[&str] = &["/rails", "/app"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in ruby::production(context).filter(|stage| stage.os == Os::Linux) {
        let own = context.file.instructions.get(stage.instructions.clone()).unwrap_or_default();
        let Some(user) = last_user(own) else { continue };
        if matches!(owner(user), "root" | "0" | "")
            || user.contains('$')
            || !is_rails(context, stage, own)
        {
            continue;
        }
        let Some(at) =
            own.iter().position(|copy| copies_application(copy) && !is_given(copy, user))
        else {
            continue;
        };
        let Some(copy) = own.get(at) else { continue };
        let after = stage.instructions.start + at..stage.instructions.end;
        if ruby::commands(context, after).any(|tool| gives(&tool.call)) {
            continue;
        }
        let message = format!("{} cannot write tmp, log, storage and db", owner(user));
        let finding = context.finding(copy.keyword_span(), message);
        let edit = Edit::insert(copy.keyword_span().end, format!(" --chown={user}"));
        let fix = copy
            .flag_value("chown")
            .is_none()
            .then(|| Fix::suggestion("give the files to the user", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

fn owner(user: &str) -> &str {
    user.split(':').next().unwrap_or_default()
}

fn last_user(own: &[Instruction]) -> Option<&str> {
    let users = own.iter().rev().filter(|instruction| instruction.keyword == Keyword::User);
    users.map(|user| user.rest_text()).next()
}

/// Whether the stage is a Rails application as far as it tells.
fn is_rails(context: &Context<'_>, stage: &Stage, own: &[Instruction]) -> bool {
    let mut workdirs = own.iter().filter(|instruction| instruction.keyword == Keyword::Workdir);
    workdirs.any(|workdir| ROOTS.contains(&workdir.rest_text().trim_end_matches('/')))
        || environment::of_stage(context, stage.index).any(|(name, _)| name == "RAILS_ENV")
        || ruby::starts_with_word(context, stage, "rails")
}

/// `COPY . .`, `COPY --from=build /rails /rails`
fn copies_application(copy: &Instruction) -> bool {
    let Arguments::Transfer { sources, .. } = &copy.arguments else { return false };
    let [source] = &**sources else { return false };
    let source = source.text.trim_end_matches('/');
    copy.keyword == Keyword::Copy && (matches!(source, "." | "") || ROOTS.contains(&source))
}

fn is_given(copy: &Instruction, user: &str) -> bool {
    copy.flag_value("chown").is_some_and(|given| owner(&given.text) == owner(user))
}

/// Whether a call gives the whole application, or all directories that Rails writes, to somebody.
fn gives(call: &Call<'_>) -> bool {
    if !call.is_any(&["chown"]) || !call.has_flag(&["-R", "--recursive"]) {
        return false;
    }
    let words = call.positional(&[]);
    let paths: Vec<String> = words.iter().skip(1).filter_map(|word| word.pattern()).collect();
    let is_all = |path: &String| {
        let path = path.trim_end_matches('/');
        path == "." || ROOTS.contains(&path)
    };
    let names: Vec<&str> =
        paths.iter().filter_map(|path| path.trim_end_matches('/').rsplit('/').next()).collect();
    paths.iter().any(is_all) || STATE.iter().all(|state| names.contains(state))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/ruby/state-paths-not-writable-as-non-root";

    #[test]
    fn the_copy_is_underlined() {
        check(
            RULE,
            "\
FROM ruby:3.3 AS a
FROM ruby:3.3
WORKDIR /app
COPY --from=a /app /app
^^^^ b cannot write tmp, log, storage and db
RUN chown -R b tmp log
USER b
",
        );
    }

    #[test]
    fn given_files_and_other_images_are_silent() {
        for text in [
            "FROM ruby:3.3\nWORKDIR /app\nCOPY --chown=a . .\nUSER a",
            "FROM ruby:3.3\nWORKDIR /app\nCOPY . .\nRUN chown -R a db log storage tmp\nUSER a",
            "FROM ruby:3.3\nWORKDIR /app\nCOPY . .\nRUN chown -R a:a /app\nUSER a",
            "FROM ruby:3.3\nWORKDIR /app\nCOPY . .\nUSER root",
            "FROM ruby:3.3\nWORKDIR /gem\nCOPY . .\nUSER a",
            "FROM ruby:3.3\nWORKDIR /app\nCOPY lib /app/lib\nUSER a",
            "FROM node:22\nWORKDIR /app\nCOPY . .\nUSER a",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn another_owner_has_no_fix() {
        let text = "FROM ruby:3.3\nWORKDIR /app\nCOPY --chown=b . .\nUSER a\n";
        fixed(RULE, text, text);
    }
}
