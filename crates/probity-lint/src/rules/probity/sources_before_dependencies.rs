//! Copies of everything before the dependencies are installed.

use probity_dockerfile::{
    Action, Arguments, Instruction, Keyword, Manager, PackageCall, PackageKind, Stage,
};
use probity_finding::{Finding, Span};
use probity_shell::Call;

use crate::engine::{context::Context, rule::OptionSpec};

rule! {
    /// # What it does
    ///
    /// Flags a `COPY . …` before the same stage installs the project's dependencies.
    ///
    /// The rule knows these installs: `npm ci`, `yarn install`, `pnpm install`, `pip install -r`,
    /// `bundle install`, `composer install`, `go mod download`, `cargo fetch`, `poetry install`,
    /// `pipenv install`, `pipenv sync`, `uv sync`, `dotnet restore`, `mix deps.get`,
    /// `gradle dependencies` and `mvn dependency:…`.
    ///
    /// The rule ignores the copy in these cases:
    ///
    /// - The same tool has installed dependencies before the copy.
    /// - The install uses a cache mount.
    ///
    /// # Why it is bad
    ///
    /// A change to any project file invalidates all layers after the copy. Each build then
    /// downloads and installs all dependencies again. Copy only the manifest and the lock file
    /// first. The layer with the dependencies then stays valid until one of these two files
    /// changes.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// WORKDIR /app
    /// COPY . .
    /// RUN npm ci
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// WORKDIR /app
    /// COPY package.json package-lock.json ./
    /// RUN npm ci
    /// COPY . .
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe. The Dockerfile does not say which files the install reads, so an agent must propose
    /// them.
    SourcesBeforeDependencies {
        name: "probity/sources-before-dependencies",
        severity: Info,
        category: Performance,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("90")],
    }
}

/// Tools that no package manager of the table stands for, with the subcommand that installs.
const TOOLS: &[(&str, &[&str])] = &[
    ("bundle", &["install"]),
    ("cargo", &["fetch"]),
    ("dotnet", &["restore"]),
    ("go", &["mod"]),
    ("mix", &["deps.get"]),
    ("pipenv", &["install", "sync"]),
    ("poetry", &["install"]),
    ("uv", &["sync"]),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let mut copied: Option<(usize, Span)> = None;
        for index in stage.instructions.clone() {
            let Some(instruction) = triggered(context, index) else { continue };
            if let Some(span) = copies_everything(instruction) {
                copied.get_or_insert((index, span));
            }
            let Some((at, span)) = copied else { continue };
            let Some((tool, install)) = installs(context, index).into_iter().next() else {
                continue;
            };
            let is_cached = instruction.passing_mounts().next().is_some();
            if is_cached || installed_before(context, stage, at, &tool) {
                continue;
            }
            let message = format!(
                "every change to the sources installs all dependencies again; copy the manifest and \
                 the lock file first, then run `{tool}`, then copy the rest"
            );
            let related = "the dependencies are installed here";
            let title = "AI AutoFix: install the dependencies before the sources are copied";
            let finding = context.finding(span, message).with_related(install, related);
            findings.push(finding.with_fix(context.fix_by_agent("manifests-first", title, 158)));
            break;
        }
    }
}

/// An instruction, or the one that an `ONBUILD` makes of it in images that are built with this one.
fn triggered<'a>(context: &Context<'a>, index: usize) -> Option<&'a Instruction> {
    let instruction = context.file.instructions.get(index)?;
    match &instruction.arguments {
        Arguments::Onbuild(nested) => nested.as_deref(),
        _ => Some(instruction),
    }
}

/// The source of a `COPY` or `ADD` that is the whole build context.
fn copies_everything(instruction: &Instruction) -> Option<Span> {
    let Arguments::Transfer { sources, .. } = &instruction.arguments else { return None };
    if instruction.flags_named("from").next().is_some() {
        return None;
    }
    let is_all = |text: &str| matches!(text.trim_matches('"'), "." | "./" | "./.");
    sources.iter().find(|source| is_all(&source.text)).map(|source| source.span)
}

/// The installs of dependencies in a `RUN`, by their tools.
fn installs(context: &Context<'_>, index: usize) -> Vec<(String, Span)> {
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    if !triggered(context, index).is_some_and(is_run) {
        return Vec::new();
    }
    let calls = context.package_calls(index).iter().filter(|call| is_of_manifest(call));
    let by_manager = calls.filter_map(|call| {
        let name = call.name_span.slice(context.file.text)?;
        Some((name.trim_matches(['"', '\'']).to_owned(), call.span))
    });
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let by_tool = commands.filter_map(|command| {
        let call = command.effective();
        Some((tool(&call)?, call.span()?))
    });
    let mut found: Vec<(String, Span)> = by_manager.chain(by_tool).collect();
    found.sort_by_key(|(_, span)| *span);
    found
}

/// Whether a call installs what a file of the project says.
fn is_of_manifest(call: &PackageCall) -> bool {
    let is_local = |kind: &PackageKind| matches!(kind, PackageKind::Local);
    match call.manager {
        Manager::Npm | Manager::Yarn | Manager::Pnpm | Manager::Composer => {
            call.action == Action::Install
                && call.packages.is_empty()
                && !call.has_flag(&["-g", "--global"])
        }
        // `pip install .` needs the sources.
        Manager::Pip => {
            !call.files.is_empty() && !call.packages.iter().any(|package| is_local(&package.kind))
        }
        _ => false,
    }
}

fn tool(call: &Call<'_>) -> Option<String> {
    let name = call.name()?;
    let positional = call.positional(&[]);
    let mut words = positional.iter().filter_map(|word| word.literal());
    if matches!(name.as_ref(), "mvn" | "mvnw") {
        return words.any(|word| word.starts_with("dependency:")).then(|| name.into_owned());
    }
    if matches!(name.as_ref(), "gradle" | "gradlew") {
        let is_list = words.any(|word| word.rsplit(':').next() == Some("dependencies"));
        return is_list.then(|| name.into_owned());
    }
    let (_, verbs) = TOOLS.iter().find(|(tool, _)| *tool == name)?;
    let verb = words.next().filter(|verb| verbs.contains(&verb.as_ref()))?;
    let is_download = name != "go" || words.next().as_deref() == Some("download");
    is_download.then(|| format!("{name} {verb}")).map(|text| match text.as_str() {
        "go mod" => "go mod download".to_owned(),
        _ => text,
    })
}

/// Whether the same tool has installed before an instruction, in its stage or in those below.
fn installed_before(context: &Context<'_>, stage: &Stage, at: usize, tool: &str) -> bool {
    let mut below = context.with_bases(stage);
    below.any(|stage| {
        let before = stage.instructions.start..stage.instructions.end.min(at);
        before.into_iter().any(|index| installs(context, index).iter().any(|(own, _)| own == tool))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "probity/sources-before-dependencies";

    #[test]
    fn the_context_is_underlined() {
        for (install, tool) in [
            ("npm ci", "npm"),
            ("cd x && (npm install --omit=dev)", "npm"),
            ("yarn", "yarn"),
            ("corepack enable && pnpm install --frozen-lockfile", "pnpm"),
            ("pip install --no-cache-dir -r requirements.txt", "pip"),
            ("python -m pip install -r requirements.txt", "pip"),
            ("bundle install", "bundle install"),
            ("composer install --no-dev", "composer"),
            ("go mod download && go build ./...", "go mod download"),
            ("poetry install --no-root", "poetry install"),
            ("dotnet restore", "dotnet restore"),
            ("./mvnw -B dependency:go-offline", "mvnw"),
            ("./gradlew --no-daemon dependencies", "gradlew"),
        ] {
            let says = format!(
                "every change to the sources installs all dependencies again; copy the manifest and \
                 the lock file first, then run `{tool}`, then copy the rest"
            );
            check(
                RULE,
                &format!("FROM a\nCOPY --chown=a . /x\n               ^ {says}\nRUN {install}\n"),
            );
        }
    }

    #[test]
    fn one_copy_is_flagged_once_and_says_where_the_install_is() {
        let text = "FROM a\nADD ./ .\nRUN npm ci\nRUN npm ci --omit=dev\n";
        let found = run(RULE, text);
        let related = found[0].related[0].span.slice(text);
        assert_eq!((found.len(), related), (1, Some("npm ci")));
    }

    #[test]
    fn manifests_first_and_other_installs_are_silent() {
        for text in [
            "COPY package*.json ./\nRUN npm ci\nCOPY . .\nRUN npm run build",
            "COPY package*.json ./\nRUN npm ci\nCOPY . .\nRUN npm ci --omit=dev",
            "COPY --from=b . .\nRUN npm ci",
            "COPY src .\nRUN npm ci",
            "COPY . .\nRUN npm install -g serve@14",
            "COPY . .\nRUN pip install .",
            "COPY . .\nRUN pip install flask==3.0",
            "COPY . .\nRUN --mount=type=cache,target=/root/.npm npm ci",
            "COPY . .\nRUN go build ./... && go mod verify",
            "COPY . .\nRUN yarn --version && echo npm ci",
            "COPY . .\nFROM b\nRUN npm ci",
            "RUN npm ci\nFROM a\nCOPY . .",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
        check(
            RULE,
            "FROM a AS b\nCOPY go.mod .\nRUN go mod download\nFROM b\nCOPY . .\nRUN go mod download\n",
        );
    }
}
