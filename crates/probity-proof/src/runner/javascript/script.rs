//! What a script of `package.json` starts, through the scripts, package managers and wrappers that it
//! names.

use std::collections::BTreeMap;

use super::{
    framework::Framework,
    options::{self, Kept},
    words::{Word, commands},
};

/// Scripts that name scripts, before it is taken for a circle.
const DEEPEST: usize = 8;

/// Programs that run another one with more variables, or look for it.
const PREFIXES: [&str; 5] = ["cross-env", "cross-env-shell", "env", "exec", "time"];

/// How tests are started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) program: Program,
    pub(super) variables: Vec<(String, String)>,
    /// For node itself.
    pub(super) node: Vec<String>,
    /// For the runner.
    pub(super) options: Vec<String>,
    /// The files, directories and patterns that are given to the runner.
    pub(super) files: Vec<Word>,
    /// Words that only the project's shell or runner understands.
    pub(super) left_out: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Program {
    Runner(Framework),
    /// A file that node runs as it is.
    #[default]
    File,
}

/// All invocations of test programs that a script leads to, in their order.
pub(super) fn invocations(scripts: &BTreeMap<String, String>, name: &str) -> Vec<Invocation> {
    let mut reader = Reader { scripts, found: Vec::new() };
    reader.script(name, &[], &Invocation::default(), 0);
    reader.found
}

struct Reader<'a> {
    scripts: &'a BTreeMap<String, String>,
    found: Vec<Invocation>,
}

impl Reader<'_> {
    fn script(&mut self, name: &str, more: &[Word], outer: &Invocation, depth: usize) {
        let Some(text) = self.scripts.get(name).filter(|_| depth < DEEPEST) else { return };
        let mut all = commands(text).unwrap_or_default();
        // A package manager adds words to the end of the text.
        if let Some(last) = all.last_mut() {
            last.extend_from_slice(more);
        }
        for command in all {
            self.command(&command, outer.clone(), depth + 1);
        }
    }

    fn command(&mut self, words: &[Word], mut outer: Invocation, depth: usize) {
        let Some((word, rest)) = words.split_first() else { return };
        if let Some((name, value)) = assignment(word) {
            if word.is_dynamic {
                outer.left_out.push(word.text.clone());
            } else {
                outer.variables.push((name.to_owned(), value.to_owned()));
            }
            return self.command(rest, outer, depth);
        }
        let name = program_name(&word.text);
        match name {
            _ if PREFIXES.contains(&name) => self.command(rest, outer, depth),
            "npx" | "bunx" | "pnpx" => self.command(without_options(rest), outer, depth),
            "npm" | "pnpm" | "yarn" | "bun" => self.manager(name, rest, &outer, depth),
            "npm-run-all" | "run-s" | "run-p" => {
                for word in rest.iter().take_while(|word| word.text != "--") {
                    for script in self.named(&word.text) {
                        self.script(&script, &[], &outer, depth);
                    }
                }
            }
            "nyc" | "c8" => {
                let rest = unwrapped(name, rest, &mut outer);
                self.command(rest, outer, depth);
            }
            "node" | "nodejs" => self.node(rest, outer, depth),
            "tsx" => {
                outer.node.push("--import=tsx".to_owned());
                self.node(rest, outer, depth);
            }
            "ts-mocha" => {
                outer.options.push("--require=ts-mocha/src/index.js".to_owned());
                self.runner(Framework::Mocha, rest, outer);
            }
            "deno" => match rest.split_first() {
                Some((verb, rest)) if verb.text == "test" => {
                    self.runner(Framework::Deno, rest, outer);
                }
                Some((verb, rest)) if verb.text == "task" => {
                    if let Some((task, more)) = without_options(rest).split_first() {
                        self.script(&task.text, more, &outer, depth);
                    }
                }
                _ => {}
            },
            _ => {
                if let Some(framework) = Framework::of_program(name) {
                    self.runner(framework, rest, outer);
                }
            }
        }
    }

    fn runner(&mut self, framework: Framework, words: &[Word], outer: Invocation) {
        let Kept { options, mut files, unclear } = options::of_runner(framework, words);
        if framework == Framework::Vitest {
            let verbs = ["run", "watch", "dev", "related"];
            files.retain(|word| !verbs.contains(&word.text.as_str()));
        }
        self.found.push(Invocation {
            program: Program::Runner(framework),
            options: [outer.options, options].concat(),
            files,
            left_out: [outer.left_out, unclear].concat(),
            ..outer
        });
    }

    /// Node itself: its test runner, the program of another one, or a file.
    fn node(&mut self, words: &[Word], mut outer: Invocation, depth: usize) {
        let (Kept { options, unclear, .. }, rest) = options::of_node(words);
        outer.left_out.extend(unclear.into_iter().filter(|word| word != "--run"));
        let own = words.get(..words.len() - rest.len()).unwrap_or_default();
        let has = |option: &str| own.iter().any(|word| word.text == option);
        if ["-e", "--eval", "-p", "--print"].iter().any(|option| has(option)) {
            return;
        }
        if has("--run") {
            // The name of the script is the first word that is not an option.
            if let Some((script, more)) = rest.split_first() {
                self.script(&script.text, more, &outer, depth);
            }
            return;
        }
        outer.node.extend(options);
        if has("--test") {
            return self.runner(Framework::Node, rest, outer);
        }
        let Some((file, rest)) = rest.split_first() else { return };
        let package = file.text.rsplit("node_modules/").next().unwrap_or_default();
        let package = package.trim_start_matches(".bin/").split('/').next().unwrap_or_default();
        match Framework::of_program(package) {
            Some(framework) if file.text.contains("node_modules/") => {
                self.runner(framework, rest, outer);
            }
            _ => self.found.push(Invocation { files: vec![file.clone()], ..outer }),
        }
    }

    /// `npm`, `pnpm`, `yarn` and `bun`, which run scripts by name and programs of packages.
    fn manager(&mut self, manager: &str, words: &[Word], outer: &Invocation, depth: usize) {
        let silent = ["-s", "--silent", "-q", "--quiet"];
        let quiet = words.iter().take_while(|word| silent.contains(&word.text.as_str())).count();
        let Some((verb, rest)) = words.get(quiet..).and_then(<[Word]>::split_first) else { return };
        match (manager, verb.text.as_str()) {
            ("bun", "test") => self.runner(Framework::Bun, rest, outer.clone()),
            (_, "run" | "run-script" | "rum" | "urn") => {
                if let Some((script, more)) = without_options(rest).split_first() {
                    self.script(&script.text, arguments(manager, more), outer, depth);
                }
            }
            ("npm" | "pnpm" | "yarn", "test" | "tst" | "t") => {
                self.script("test", arguments(manager, rest), outer, depth);
            }
            ("yarn", "node") => self.node(rest, outer.clone(), depth),
            (_, "exec" | "x") => self.command(without_options(rest), outer.clone(), depth),
            ("npm", _) => {}
            (_, name) if self.scripts.contains_key(name) => {
                self.script(name, arguments(manager, rest), outer, depth);
            }
            _ => self.command(words.get(quiet..).unwrap_or_default(), outer.clone(), depth + 1),
        }
    }

    /// The scripts of a name in which a star may stand for a part.
    fn named(&self, pattern: &str) -> Vec<String> {
        let Some((start, end)) = pattern.split_once('*') else { return vec![pattern.to_owned()] };
        let end = end.trim_start_matches('*');
        let fits = |name: &&String| {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        };
        self.scripts.keys().filter(fits).cloned().collect()
    }
}

/// npm passes on only what is behind two dashes; the others pass on everything.
fn arguments<'a>(manager: &str, words: &'a [Word]) -> &'a [Word] {
    match words.iter().position(|word| word.text == "--") {
        Some(at) => words.get(at + 1..).unwrap_or_default(),
        None if manager == "npm" => &[],
        None => words,
    }
}

/// What a wrapper that measures coverage runs. It loads modules of its own before that.
fn unwrapped<'a>(wrapper: &str, words: &'a [Word], outer: &mut Invocation) -> &'a [Word] {
    let mut rest = words;
    while let Some((word, next)) = rest.split_first() {
        if !word.text.starts_with('-') {
            break;
        }
        rest = next;
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.text.as_str(), None),
        };
        let is_loaded = wrapper == "nyc" && ["--require", "-i"].contains(&name);
        // Some of its options have a value, and what it runs is a program.
        let following = next.first().filter(|next| {
            value.is_none() && !next.text.starts_with('-') && (is_loaded || !is_program(&next.text))
        });
        if following.is_some() {
            rest = next.get(1..).unwrap_or_default();
        }
        if is_loaded {
            let value = value.or_else(|| following.map(|word| word.text.clone()));
            outer.node.extend(value.map(|value| format!("--require={value}")));
        }
    }
    rest
}

fn without_options(words: &[Word]) -> &[Word] {
    let count = words.iter().take_while(|word| word.text.starts_with('-')).count();
    words.get(count..).unwrap_or_default()
}

fn is_program(text: &str) -> bool {
    let name = program_name(text);
    let known = ["node", "nodejs", "tsx", "ts-mocha", "npx", "npm", "pnpm", "yarn", "bun", "deno"];
    known.contains(&name) || PREFIXES.contains(&name) || Framework::of_program(name).is_some()
}

fn assignment(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once('=')?;
    let is_name = |name: &str| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    is_name(name).then_some((name, value))
}

/// The name of a program that may be given by its path.
fn program_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Invocation, Program, invocations};

    fn shown(invocation: &Invocation) -> String {
        let program = match invocation.program {
            Program::Runner(framework) => format!("{framework:?}"),
            Program::File => "File".to_owned(),
        };
        let variables = invocation.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let files: Vec<&str> = invocation.files.iter().map(|word| word.text.as_str()).collect();
        let mut text = variables.collect::<Vec<_>>();
        text.push(program);
        for (mark, words) in [("node", &invocation.node), ("with", &invocation.options)] {
            if !words.is_empty() {
                text.push(format!("{mark}[{}]", words.join(" ")));
            }
        }
        if !files.is_empty() {
            text.push(format!("on[{}]", files.join(" ")));
        }
        if !invocation.left_out.is_empty() {
            text.push(format!("without[{}]", invocation.left_out.join(" ")));
        }
        text.join(" ")
    }

    #[test]
    fn scripts_lead_to_runners() {
        for (test, expected) in [
            ("mocha", "Mocha"),
            (
                "eslint . && NODE_ENV=test mocha --require @babel/register 'test/**'",
                "NODE_ENV=test Mocha with[--require @babel/register] on[test/**]",
            ),
            (
                "cross-env TS_NODE_PROJECT=t.json nyc --reporter lcov mocha -r ts-node/register",
                "TS_NODE_PROJECT=t.json Mocha with[-r ts-node/register]",
            ),
            ("nyc --require esm --check-coverage --lines 90 ava", "Ava node[--require=esm]"),
            (
                "c8 -r lcov node --import ./loader.mjs --test test/",
                "Node node[--import ./loader.mjs] on[test/]",
            ),
            ("npm run lint && npm run unit -- -t x", "Jest with[--config jest.unit.js]"),
            ("yarn unit", "Jest with[--config jest.unit.js]"),
            ("pnpm run unit", "Jest with[--config jest.unit.js]"),
            ("run-s lint unit", "Jest with[--config jest.unit.js]"),
            ("npm-run-all lint 'part:*'", "Tape on[test/*.js], Tap"),
            (
                "node --expose-gc node_modules/.bin/_mocha -u tdd",
                "Mocha node[--expose-gc] with[-u tdd]",
            ),
            ("node ./node_modules/jest/bin/jest.js --coverage", "Jest"),
            ("tsx --test src/*.test.ts", "Node node[--import=tsx] on[src/*.test.ts]"),
            ("node -r esm test/index.js", "File node[-r esm] on[test/index.js]"),
            ("npx --no-install vitest run --coverage.enabled", "Vitest"),
            ("bun test --preload ./setup.ts", "Bun with[--preload ./setup.ts]"),
            ("deno test -A", "Deno with[-A]"),
            ("jasmine --config=spec/j.json", "Jasmine with[--config=spec/j.json]"),
            ("X=$HOME mocha --require $SETUP", "Mocha without[X=$HOME --require]"),
            ("gulp test", ""),
            ("npm test", ""),
            ("echo \"Error: no test specified\" && exit 1", ""),
            ("node -e 'require(\"mocha\")'", ""),
        ] {
            let scripts = [
                ("test", test),
                ("lint", "eslint ."),
                ("unit", "jest --config jest.unit.js"),
                ("part:a", "tape test/*.js | tap-spec"),
                ("part:b", "tap --no-coverage"),
            ];
            let scripts = scripts.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
            let found: Vec<String> = invocations(&scripts, "test").iter().map(shown).collect();
            assert_eq!(found.join(", "), expected, "{test}");
        }
    }
}
