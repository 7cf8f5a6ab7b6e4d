//! Installs by npm that may change what the lock file says.

use probity_dockerfile::{Action, Arguments, Instruction, Keyword, Manager, PackageCall};
use probity_finding::{Edit, Finding, Fix};

use crate::{
    ContextFiles,
    engine::context::Context,
    facts::{context_files::NPM_LOCKFILES, packages},
};

rule! {
    /// # What it does
    ///
    /// Flags an `npm install` without package names in a stage that contains a lock file.
    ///
    /// The rule knows `package-lock.json` and `npm-shrinkwrap.json`. The lock file can enter the
    /// stage in these ways:
    ///
    /// - A `COPY` or `ADD` names it or a pattern that matches it, such as `package*.json`.
    /// - A `COPY` or `ADD` takes a directory from the build context that contains it, as in
    ///   `COPY . .`.
    /// - A bind mount names it.
    ///
    /// The rule ignores `npm install -g` and an install with `--no-package-lock`, `--package-lock`,
    /// `--package-lock-only` or `--location`.
    ///
    /// # Why it is bad
    ///
    /// If `package.json` and the lock file disagree, `npm install` changes the lock file in the
    /// image and continues. The image then contains versions that nobody tested. `npm ci` installs
    /// exactly the versions in the lock file. It is faster, and it fails if the two files disagree.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// COPY package.json package-lock.json ./
    /// RUN npm install --omit=dev
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM node:22
    /// COPY package.json package-lock.json ./
    /// RUN npm ci --omit=dev
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// COPY package.json package-lock.json ./
    /// RUN npm ci --omit=dev
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix replaces `npm install` with `npm ci`. `npm ci` fails if the lock file is
    /// missing or disagrees with `package.json`. It also deletes an existing `node_modules`.
    NpmInstallWithLockfile {
        name: "probity/npm-install-with-lockfile",
        severity: Warning,
        category: Reproducibility,
        fixes: Suggestion,
    }
}

/// Flags that say that the lock file is not wanted, or that the install is not of the project.
const OTHERWISE: &[&str] =
    &["-g", "--global", "--no-package-lock", "--package-lock", "--package-lock-only", "--location"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, call) in packages::calls(context, &[Manager::Npm], &[Action::Install]) {
        let verb = packages::words(context, index, call).and_then(|words| words.subcommand(&[]));
        let is_of_project = call.packages.is_empty()
            && verb.is_some_and(|verb| verb != "ci" && verb != "clean-install");
        if !is_of_project || call.has_flag(OTHERWISE) || !has_lockfile(context, index) {
            continue;
        }
        let message = "a lock file is copied, but `npm install` may change it; use `npm ci`";
        findings.push(with_fix(call, context.finding(call.subcommand, message)));
    }
}

fn with_fix(call: &PackageCall, finding: Finding) -> Finding {
    let edit = Edit::replace(call.subcommand, "ci");
    finding.with_fix(Fix::suggestion("use `npm ci`", vec![edit]))
}

/// Whether an instruction before this one, in its stage or in those below, brings a lock file.
fn has_lockfile(context: &Context<'_>, index: usize) -> bool {
    let own = context.file.instructions.get(index);
    if own.is_some_and(mounts_lockfile) {
        return true;
    }
    let Some(stage) = context.facts.stage_of(index) else { return false };
    let mut below = context.with_bases(stage);
    below.any(|stage| {
        let end = stage.instructions.end.min(index);
        let before = context.file.instructions.get(stage.instructions.start..end);
        let files = context.context_files;
        before.unwrap_or_default().iter().any(|instruction| brings_lockfile(instruction, files))
    })
}

fn brings_lockfile(instruction: &Instruction, files: Option<&ContextFiles>) -> bool {
    let is_in_context =
        |name: &&str| files.is_some_and(|files| files.copied(instruction, name).is_some());
    if NPM_LOCKFILES.iter().any(is_in_context) {
        return true;
    }
    match (&instruction.arguments, instruction.keyword) {
        (Arguments::Transfer { sources, .. }, Keyword::Copy | Keyword::Add) => {
            sources.iter().any(|source| is_lockfile(&source.text))
        }
        _ => false,
    }
}

fn mounts_lockfile(run: &Instruction) -> bool {
    let mut mounts = run.flags_named("mount");
    mounts.any(|flag| {
        let source = ["source", "src"].iter().find_map(|key| flag.option(key));
        source.is_some_and(|source| is_lockfile(&source.text))
    })
}

fn is_lockfile(path: &str) -> bool {
    let name = path.trim_matches(['"', '\'']).rsplit('/').next().unwrap_or_default();
    // `package-lock.jso[n]` and `package-lock.json*` are how a file is copied that may be missing.
    let is_pattern = name.starts_with("package")
        && name.contains(['*', '?', '['])
        && !name.starts_with("package.");
    matches!(name, "package-lock.json" | "npm-shrinkwrap.json") || is_pattern
}

#[cfg(test)]
mod tests {
    use crate::{
        ContextFiles,
        engine::harness::{check, fixes, run_in_context},
    };

    const RULE: &str = "probity/npm-install-with-lockfile";
    const SAYS: &str = "a lock file is copied, but `npm install` may change it; use `npm ci`";

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a AS b
COPY ["package.json", "app/package-lock.json", "./"]
FROM b
RUN a && (npm --prefix app install) && b
                           ^^^^^^^ {SAYS}
FROM c
COPY package*.json ./
RUN ["npm", "i", "--omit=dev"]
             ^ {SAYS}
FROM d
RUN --mount=type=bind,source=package-lock.json,target=package-lock.json \
    npm install
        ^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn others_are_silent() {
        for text in [
            "COPY package.json ./\nRUN npm install",
            "COPY . .\nRUN npm install",
            "RUN npm install\nCOPY package-lock.json ./",
            "COPY package-lock.json ./\nRUN npm ci",
            "COPY package-lock.json ./\nRUN npm install -g pnpm@9",
            "COPY package-lock.json ./\nRUN npm install --no-package-lock",
            "COPY package-lock.json ./\nRUN npm install express@4",
            "COPY package-lock.json ./\nRUN echo npm install && npm run build",
            "COPY package.json* ./\nRUN npm install",
            "COPY package-lock.json ./\nFROM b\nRUN npm install",
            "COPY yarn.lock ./\nRUN yarn install",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn a_lock_file_of_a_copied_directory_counts() {
        let found = |lockfile: &str, text: &str| {
            let files = ContextFiles::new([(lockfile.to_owned(), String::new())]);
            run_in_context(RULE, &format!("FROM a\n{text}\n"), &files).len()
        };
        assert_eq!(found("package-lock.json", "COPY . .\nRUN npm install"), 1);
        assert_eq!(found("web/npm-shrinkwrap.json", "COPY ./web/ /app/\nRUN npm install"), 1);
        assert_eq!(found("web/package-lock.json", "COPY . .\nRUN npm install"), 0);
        assert_eq!(found("package-lock.json", "COPY --from=b . .\nRUN npm install"), 0);
        assert_eq!(found("package-lock.json", "COPY src /src\nRUN npm install"), 0);
    }

    #[test]
    fn the_subcommand_becomes_ci() {
        let fixed = |run: &str| format!("COPY package*.json ./\nRUN {run}");
        for (before, after) in [
            ("npm install", "npm ci"),
            ("npm i --production && a", "npm ci --production && a"),
            (r#"["npm", "install"]"#, r#"["npm", "ci"]"#),
        ] {
            fixes(RULE, &[(fixed(before).as_str(), fixed(after).as_str())]);
        }
    }
}
