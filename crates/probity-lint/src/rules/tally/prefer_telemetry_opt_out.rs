//! Tools that report what a build does.

mod tools;

use std::borrow::Cow;

use probity_dockerfile::{Action, Base, Keyword, PackageKind, Stage};
use probity_finding::{Finding, Fix, Span};
use probity_shell::{Call, Dialect, Opaque};

use self::tools::{TOOLS, Tool};
use crate::{engine::context::Context, facts::environment, text::stage_edits};

rule! {
    /// # What it does
    ///
    /// Flags the first use or install of a tool that sends usage data, if no `ENV` turns this off.
    ///
    /// The rule reports one place per stage. It knows Bun, the Azure CLI, Wrangler, Hugging Face,
    /// Yarn 2 and later, Next.js, Nuxt, Gatsby, Astro, Turborepo, .NET, PowerShell, vcpkg and
    /// Homebrew.
    ///
    /// # Why it is bad
    ///
    /// Builds send information about your project to the vendors of these tools. Each tool
    /// documents a variable that turns this off.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// RUN npx next build
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM node:22
    /// ENV NEXT_TELEMETRY_DISABLED=1
    /// RUN npx next build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// ENV NEXT_TELEMETRY_DISABLED=1
    /// RUN npx next build
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds an `ENV` with the variables. The variables become part of the
    /// image, so the tools also send no data from its containers.
    PreferTelemetryOptOut {
        name: "tally/prefer-telemetry-opt-out",
        severity: Info,
        category: Security,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-telemetry-opt-out/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut settled: Vec<u32> = Vec::new();
    for stage in context.facts.stages() {
        let below = match stage.base {
            Base::Stage(base) => settled.get(base).copied().unwrap_or_default(),
            _ => 0,
        };
        let own = environment::of_stage(context, stage.index).filter_map(|(name, value)| {
            TOOLS.iter().position(|tool| (tool.variable, tool.value) == (name, value))
        });
        let set = own.fold(below, |set, tool| set | 1 << tool);
        settled.push(set);
        let used = used(context, stage);
        let missing: Vec<&(usize, Span)> =
            used.iter().filter(|(tool, _)| set & (1 << tool) == 0).collect();
        let Some((first, span)) = missing.first().copied() else { continue };
        let mut tools: Vec<usize> = missing.iter().map(|(tool, _)| *tool).collect();
        tools.sort_unstable();
        tools.dedup();
        let pairs: Vec<String> = tools
            .iter()
            .filter_map(|tool| TOOLS.get(*tool))
            .map(|tool| format!("{}={}", tool.variable, tool.value))
            .collect();
        let name = TOOLS.get(*first).map(|tool| tool.name).unwrap_or_default();
        let message = format!("{name} sends usage data; set {}", pairs.join(" "));
        let finding = context.finding(*span, message);
        let edit = after_arguments(context, stage, &format!("ENV {}", pairs.join(" ")));
        let fix = edit.map(|edit| Fix::suggestion("switch it off", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Puts an instruction after the `FROM` of a stage and the `ARG`s that follow it.
fn after_arguments(
    context: &Context<'_>,
    stage: &Stage,
    written: &str,
) -> Option<probity_finding::Edit> {
    let own = context.file.instructions.get(stage.instructions.clone())?;
    let arguments =
        own.iter().skip(1).take_while(|instruction| instruction.keyword == Keyword::Arg).count();
    Some(stage_edits::insert_after(context, own.get(arguments)?, written))
}

/// The tools of a stage with the places that give them away, in the order of the source.
fn used(context: &Context<'_>, stage: &Stage) -> Vec<(usize, Span)> {
    let mut found = Vec::new();
    for index in stage.instructions.clone() {
        let Some(instruction) = context.file.instructions.get(index) else { continue };
        match instruction.keyword {
            Keyword::Shell => {
                let argv = context.facts.state(index + 1).map(|state| state.shell.argv.clone());
                let argv = argv.unwrap_or_default();
                if Dialect::of_shell(&argv) == Dialect::PowerShell {
                    found.extend(by_program("pwsh").map(|tool| (tool, instruction.span)));
                }
            }
            Keyword::Run | Keyword::Cmd | Keyword::Entrypoint => {
                for script in context.scripts(index) {
                    for call in script.all_commands().iter().map(|command| command.effective()) {
                        let name = match script.opaque {
                            Some(Opaque::Dialect) => call.windows_name(),
                            _ => call.name().map(Cow::into_owned),
                        };
                        let tool = name.and_then(|name| called(&call, &name));
                        found.extend(tool.and_then(|tool| Some((tool, call.span()?))));
                    }
                }
                found.extend(installed(context, index));
            }
            _ => {}
        }
    }
    found
}

fn by_program(name: &str) -> Option<usize> {
    TOOLS.iter().position(|tool| tool.programs.contains(&name))
}

/// The tool that a call runs, also by `npx` and the like.
fn called(call: &Call<'_>, name: &str) -> Option<usize> {
    if name == "yarn" && call.args().first().is_some_and(|word| word.is("set")) {
        return TOOLS.iter().position(|tool| tool.variable == "YARN_ENABLE_TELEMETRY");
    }
    if name.starts_with("python") {
        let module = call.args().iter().skip_while(|word| !word.is("-m")).nth(1)?.literal()?;
        return by_package(&module, |tool| tool.python);
    }
    let words = call.positional(&[]);
    let mut words = words.iter().filter_map(|word| word.literal());
    let run = match name {
        "npx" | "bunx" => words.next(),
        "pnpm" | "npm" | "yarn" => {
            let first = words.next();
            let is_runner = |verb: &str| matches!(verb, "exec" | "dlx" | "x");
            match first {
                Some(verb) if is_runner(&verb) => words.next(),
                // `yarn next build` runs a program of the project.
                Some(verb) if name == "yarn" => Some(verb),
                _ => None,
            }
        }
        _ => None,
    };
    let is_bun = name == "bunx" || name == "bun";
    run.and_then(|name| by_program(&name)).or_else(|| by_program(if is_bun { "bun" } else { name }))
}

fn by_package(name: &str, list: fn(&Tool) -> &'static [&'static str]) -> Option<usize> {
    TOOLS.iter().position(|tool| list(tool).contains(&name))
}

/// `dotnet-sdk-8.0` is a `dotnet-sdk`.
fn by_system_package(package: &str) -> Option<usize> {
    let is_of = |name: &&str| {
        package.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    TOOLS.iter().position(|tool| tool.system.iter().any(is_of))
}

fn installed(context: &Context<'_>, index: usize) -> Vec<(usize, Span)> {
    use probity_dockerfile::Manager::{Npm, Pip, Pipx, Pnpm, Yarn};
    let calls = context.all_package_calls(index);
    let mut found = Vec::new();
    for call in calls.iter().filter(|call| call.action == Action::Install) {
        for package in &call.packages {
            let PackageKind::Named { name, .. } = &package.kind else { continue };
            let tool = match call.manager {
                Npm | Pnpm | Yarn => by_package(name, |tool| tool.node),
                Pip | Pipx => by_package(name, |tool| tool.python),
                _ => by_system_package(name),
            };
            found.extend(tool.map(|tool| (tool, package.span)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/prefer-telemetry-opt-out";

    #[test]
    fn the_first_place_of_a_stage_is_underlined() {
        check(
            RULE,
            "\
FROM a AS b
RUN c && npx wrangler deploy && az login
         ^^^^^^^^^^^^^^^^^^^ Wrangler sends usage data; set AZURE_CORE_COLLECT_TELEMETRY=0 WRANGLER_SEND_METRICS=false
FROM b
ENV DO_NOT_TRACK=1
RUN bun install
",
        );
    }

    #[test]
    fn tools_are_found_by_what_runs_and_installs_them() {
        for text in [
            "RUN pip install transformers==4",
            "RUN python3 -m huggingface_hub scan-cache",
            "RUN apt-get install -y dotnet-sdk-8.0",
            "RUN npm i -g turbo@2",
            "RUN yarn set version berry",
            "RUN pnpm dlx astro build",
            "RUN yarn next build",
            "SHELL [\"pwsh\", \"-Command\"]\nRUN a",
            "ENTRYPOINT [\"dotnet\", \"a.dll\"]",
            "ENV DO_NOT_TRACK=0\nRUN bun install",
            "SHELL [\"cmd\", \"/C\"]\nRUN choco install -y azure-cli",
            "SHELL [\"cmd\", \"/C\"]\nRUN if exist x (dotnet.exe build)",
            "SHELL [\"cmd\", \"/C\"]\nENV A=b\nRUN npx.cmd next build",
        ] {
            assert_eq!(run(RULE, &format!("FROM a\n{text}\n")).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_tools_and_mentions_are_silent() {
        for text in [
            "RUN yarn install",
            "RUN npm run build",
            "RUN echo bun install",
            "SHELL [\"cmd\", \"/C\"]\nRUN echo dotnet & rem dotnet build",
            "RUN pip install requests",
            "RUN npm install left-pad",
            "ENV NEXT_TELEMETRY_DISABLED=1\nRUN next build",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn variables_follow_the_arguments() {
        fixed(
            RULE,
            "FROM a\nARG B\nRUN bun install && next build\n",
            "FROM a\nARG B\nENV DO_NOT_TRACK=1 NEXT_TELEMETRY_DISABLED=1\nRUN bun install && next build\n",
        );
    }
}
