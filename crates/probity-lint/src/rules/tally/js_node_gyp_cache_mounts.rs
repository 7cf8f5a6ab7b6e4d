//! Headers of Node.js that every build downloads again.

use probity_dockerfile::{
    Action, Arguments, Command, Instruction, Manager, Os, PackageKind, Stage,
};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::context::Context,
    facts::{base_image, environment, packages},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that installs Node.js packages without a cache mount for `node-gyp`.
    ///
    /// The rule checks only stages that compile packages. A stage compiles packages if it does one
    /// of the following:
    ///
    /// - It installs a compiler or build tool, such as `gcc`, `make` or `python3`.
    /// - It installs or calls `node-gyp`, `node-pre-gyp` or `prebuild-install`.
    /// - It calls `npm rebuild`, `pnpm rebuild` or `yarn rebuild`.
    ///
    /// The rule ignores installs with `--ignore-scripts`.
    ///
    /// # Why it is bad
    ///
    /// Each time the packages change, `node-gyp` downloads the Node.js headers again.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// RUN apt-get update && apt-get install -y make g++
    /// RUN npm ci
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM node:22
    /// RUN apt-get update && apt-get install -y make g++
    /// RUN --mount=type=cache,target=/root/.cache/node-gyp,id=node-gyp,sharing=locked npm ci
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// RUN npm ci
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix mounts a cache over `/root/.cache/node-gyp`. A builder other than
    /// BuildKit may reject the flag.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The `RUN` does not run as root.
    /// - The `RUN` is in JSON form.
    /// - A variable moves the `node-gyp` directory.
    JsNodeGypCacheMounts {
        name: "tally/js/node-gyp-cache-mounts",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/js/node-gyp-cache-mounts/",
    }
}

const COMPILERS: &[&str] = &["build-base", "build-essential", "g++", "gcc", "make", "python3"];
const HELPERS: &[&str] = &["node-gyp", "node-pre-gyp", "prebuild-install"];
const MANAGERS: &[Manager] = &[Manager::Npm, Manager::Pnpm, Manager::Yarn];
const VARIABLES: &[&str] =
    &["NPM_CONFIG_DEVDIR", "npm_config_devdir", "npm_package_config_node_gyp_devdir"];
const DIRECTORY: &str = "/root/.cache/node-gyp";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages().iter().filter(|stage| stage.os == Os::Linux) {
        let installs: Vec<(usize, Span)> = stage
            .instructions
            .clone()
            .filter_map(|index| Some((index, install(context, index)?)))
            .collect();
        if installs.is_empty() || !compiles(context, stage) {
            continue;
        }
        for (index, span) in installs {
            let Some(run) = context.file.instructions.get(index) else { continue };
            let moved = VARIABLES.iter().find_map(|name| environment::before(context, index, name));
            if packages::mounts(run, &[moved.unwrap_or(DIRECTORY)]) {
                continue;
            }
            let message = "mount a cache for the headers that node-gyp downloads";
            let finding = context.finding(span, message);
            let is_known = moved.is_none() && base_image::is_root(context, index);
            let fix = if is_known { fix(run) } else { None };
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// Where an instruction installs or rebuilds packages.
fn install(context: &Context<'_>, index: usize) -> Option<Span> {
    let calls = context.package_calls(index).iter();
    let mut installs = calls.filter(|call| {
        MANAGERS.contains(&call.manager)
            && call.action == Action::Install
            && !call.has_flag(&["--ignore-scripts"])
    });
    installs.next().map(|call| call.span).or_else(|| rebuild(context, index))
}

fn rebuild(context: &Context<'_>, index: usize) -> Option<Span> {
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let mut calls = commands.map(|command| command.effective());
    let found = calls.find(|call| {
        call.is_any(&["npm", "pnpm", "yarn"])
            && call.args().first().is_some_and(|word| word.is("rebuild"))
    });
    found?.span()
}

fn compiles(context: &Context<'_>, stage: &Stage) -> bool {
    stage.instructions.clone().any(|index| {
        let calls = context.package_calls(index).iter();
        let mut packages =
            calls.filter(|call| call.action == Action::Install).flat_map(|call| &call.packages);
        let mut commands = context.scripts(index).iter().flat_map(|script| &script.commands);
        packages.any(|package| match &package.kind {
            PackageKind::Named { name, .. } => {
                COMPILERS.contains(&name.as_str()) || HELPERS.contains(&name.as_str())
            }
            _ => false,
        }) || commands.any(|command| command.effective().is_any(HELPERS))
            || rebuild(context, index).is_some()
    })
}

fn fix(run: &Instruction) -> Option<Fix> {
    let Arguments::Command(Command::Shell(_)) = run.arguments else { return None };
    let flag = format!("--mount=type=cache,target={DIRECTORY},id=node-gyp,sharing=locked ");
    let at = run.line.offset(run.rest().start);
    Some(Fix::suggestion("mount a cache", vec![Edit::insert(at, flag)]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/js/node-gyp-cache-mounts";

    #[test]
    fn the_install_is_underlined() {
        check(
            RULE,
            "\
FROM a
RUN apk add build-base
RUN b && npm ci
         ^^^^^^ mount a cache for the headers that node-gyp downloads
FROM a
RUN yarn rebuild
    ^^^^^^^^^^^^ mount a cache for the headers that node-gyp downloads
",
        );
    }

    #[test]
    fn mounted_and_plain_installs_are_silent() {
        for text in [
            "RUN npm ci",
            "RUN apk add make\nRUN npm run build",
            "RUN apk add make\nRUN npm ci --ignore-scripts",
            "RUN apk add make\nRUN --mount=type=cache,target=/root/.cache/node-gyp npm ci",
            "RUN apk add make\nENV npm_config_devdir=/cache\nRUN --mount=type=cache,target=/cache npm ci",
            "RUN echo make\nRUN npm ci",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
        check(RULE, "FROM a/windows/servercore\nRUN npm rebuild\n");
    }

    #[test]
    fn other_users_and_forms_have_no_fix() {
        for text in
            ["FROM node:22\nUSER node\nRUN npm rebuild", "FROM node:22\nRUN [\"npm\", \"rebuild\"]"]
        {
            fixed(RULE, &format!("{text}\n"), &format!("{text}\n"));
            assert_eq!(run(RULE, &format!("{text}\n")).len(), 1, "{text}");
        }
    }
}
