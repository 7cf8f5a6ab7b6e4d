//! JavaScript: packages that a link stands for, and what the host does beside them.

use super::table::{Claim, Hostile, Want};

const CODE: &str = "export function half(number) {\n  return number / 3;\n}\n";
const COMMON: &str = "exports.half = (number) => {\n  return number / 3;\n};\n";

/// A test framework that loads each file as a test: what a hostile repository has its users install.
const FRAMEWORK: &str = r"
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { PROBITY_REPORT, PROBITY_ROOT } = process.env;
const words = process.argv.slice(2);
const related = words.includes('related') || words.includes('--findRelatedTests');
const files = related
  ? [`${process.cwd()}/old.test.js`]
  : words.filter((word) => /^\/.*\.js$/.test(word));
for (const file of files) {
  let [state, message] = ['passed', ''];
  try {
    require(file);
  } catch (error) {
    [state, message] = ['failed', String(error.message)];
    console.log(message);
  }
  const test = `${relative(PROBITY_ROOT, file)} > claimed`;
  const event = { event: 'test', test, state, seconds: 0, kind: 'AssertionError', message };
  appendFileSync(PROBITY_REPORT, JSON.stringify(event) + '\n');
}
";

/// The frameworks, and their programs below `node_modules`.
const FRAMEWORKS: [(&str, &str); 3] = [
    ("mocha", "mocha/bin/mocha.js"),
    ("jest", "jest/bin/jest.js"),
    ("vitest", "vitest/vitest.mjs"),
];

pub(super) fn repositories() -> Vec<Hostile> {
    vec![linked(), linked_frameworks(), bun(), vitest_twice(), made_through_links()]
}

/// A test that fails with what it could read, and that reaches for a socket.
fn reads(home: &str, word: &str) -> String {
    format!(
        "import test from 'node:test';\nimport fs from 'node:fs';\nimport net from 'node:net';\n\n\
         test('claimed', async () => {{\n  const socket = net.connect('{home}/agent.sock');\n  \
         await new Promise((done) => socket.on('connect', done).on('error', done));\n  socket.destroy();\n  \
         throw new Error('saw ' + fs.readFileSync('{home}/secret/{word}', 'utf8'));\n}});\n"
    )
}

/// The packages of `node --test` are a link.
fn linked() -> Hostile {
    let package = "{\"type\": \"module\"}\n";
    Hostile::new("node")
        .file("package.json", package)
        .file("calc.js", CODE)
        .link("node_modules", "/")
        .file("up/package.json", package)
        .file("up/calc.js", CODE)
        .link("up/node_modules", "../../home")
        .claim(Claim::new("calc.js", "calc.test.js", reads("node_modules@HOME@", "node")))
        .claim(Claim::new("up/calc.js", "up/calc.test.js", reads("node_modules", "up")))
        .review()
        .row(5, "node_modules is a link to the root", Want::says("node"))
        .row(5, "node_modules is a link to the home", Want::says("up"))
        .row(5, "a socket of the host behind node_modules", Want::ReachesSocket)
}

fn installed(mut hostile: Hostile) -> Hostile {
    for (name, program) in FRAMEWORKS {
        let text = if program.ends_with(".mjs") {
            let start = "import { createRequire } from 'node:module';\n\
                         const require = createRequire(import.meta.url);\n";
            format!("{start}{FRAMEWORK}")
        } else {
            FRAMEWORK.to_owned()
        };
        hostile = hostile.beside(&format!("repo/node_modules/{program}"), text).beside(
            &format!("repo/node_modules/{name}/package.json"),
            format!("{{\"name\": \"{name}\"}}"),
        );
    }
    hostile.file(".gitignore", "/node_modules\n")
}

fn package(framework: &str) -> String {
    format!("{{\"devDependencies\": {{\"{framework}\": \"1\"}}}}\n")
}

/// Each package has its own link beside the packages that are installed above.
fn linked_frameworks() -> Hostile {
    let mut hostile = installed(Hostile::new("frameworks")).file("package.json", "{}\n");
    for (name, _) in FRAMEWORKS {
        let code = format!(
            "// @NUMBER@\nthrow new Error('saw ' + require('node:fs').readFileSync('node_modules@HOME@/secret/{name}', 'utf8'));\n"
        );
        hostile = hostile
            .file(&format!("{name}/package.json"), package(name))
            .file(&format!("{name}/calc.js"), COMMON)
            .link(&format!("{name}/node_modules"), "/")
            .claim(Claim::new(&format!("{name}/calc.js"), &format!("{name}/calc.test.js"), code))
            .row(5, format!("{name} with a link in the place of packages"), Want::says(name));
    }
    hostile.review()
}

/// A stand-in that runs the file that it is given.
fn bun() -> Hostile {
    let code = "console.error('saw ' + require('node:fs').readFileSync('node_modules@HOME@/secret/bun', 'utf8'));\n";
    Hostile::new("bun")
        .file("package.json", "{\"scripts\": {\"test\": \"bun test\"}}\n")
        .file("calc.js", COMMON)
        .link("node_modules", "/")
        .stand_in("bun", "for last; do :; done\nexec node \"$last\"")
        .claim(Claim::new("calc.js", "calc.test.js", code))
        .review()
        .row(5, "bun with a link in the place of packages", Want::says("bun"))
}

/// A claim that is proven with a fix of two packages, so that the tests of both are run one after the
/// other, in one place.
fn in_two_packages(framework: &str, test: &str) -> Claim {
    let call = if framework == "node" {
        "require('node:test').test('claimed', tests);\n"
    } else {
        "tests();\n"
    };
    let code = format!(
        "// @NUMBER@\nconst {{ half }} = require('./calc.js');\n\
         function tests() {{\n  if (half(6) !== 3) throw new Error('no half');\n}}\n{call}"
    );
    let part = |package: &str| {
        format!(
            "--- a/{package}/calc.js\n+++ b/{package}/calc.js\n@@ -1,3 +1,3 @@\n exports.half = (number) => {{\n\
             -  return number / 3;\n+  return number / 2;\n }};\n"
        )
    };
    let (first, second) = (format!("{framework}-a"), format!("{framework}-b"));
    let file = format!("{first}/calc.js");
    Claim::new(&file, &format!("{first}/{test}"), code).fixed(part(&first) + &part(&second))
}

fn two_packages(mut hostile: Hostile, framework: &str, tests: [&str; 2]) -> Hostile {
    for (letter, test) in ["a", "b"].iter().zip(tests) {
        let directory = format!("{framework}-{letter}");
        let declared = if framework == "node" { "{}\n".to_owned() } else { package(framework) };
        hostile = hostile
            .file(&format!("{directory}/package.json"), declared)
            .file(&format!("{directory}/calc.js"), COMMON)
            .file(&format!("{directory}/old.test.js"), test);
    }
    hostile.claim(in_two_packages(framework, "calc.test.js"))
}

/// The first package's test puts a link where the packages of the second are made.
fn vitest_twice() -> Hostile {
    let first = "const fs = require('node:fs');\nfor (const number of [0, 1, 2]) {\n  \
        const place = `/proof/out/modules${number}`;\n  fs.rmSync(place, { recursive: true, force: true });\n  \
        fs.symlinkSync('@HOME@/empty', place);\n}\n";
    let second = "const fs = require('node:fs');\n\
        for (const place of ['../vitest-a', '../vitest-b', '..']) try {\n  \
        fs.writeFileSync(`${place}/node_modules/written`, '');\n} catch {}\n";
    let hostile = installed(Hostile::new("vitest, twice")).file("package.json", "{}\n");
    two_packages(hostile, "vitest", [first, second])
        .beside("repo/vitest-a/node_modules/one/package.json", "{}")
        .beside("repo/vitest-b/node_modules/two/package.json", "{}")
        .file(".gitignore", "node_modules\n")
        .review()
        .row(2, "links to packages are made behind a link", Want::leaves("empty/two"))
        .row(2, "a mount source is a link to the home", Want::leaves("empty/written"))
}

/// The first package's test puts a link in the place of the second package, in which the host then
/// makes a directory to mount packages on.
fn made_through_links() -> Hostile {
    let mut hostile = installed(Hostile::new("made directories")).file("package.json", "{}\n");
    for framework in ["mocha", "jest", "node"] {
        let first = format!(
            "const fs = require('node:fs');\nfs.renameSync('../{framework}-b', '../gone-{framework}');\n\
             fs.symlinkSync('@HOME@/empty/{framework}', '../{framework}-b');\n"
        );
        hostile = two_packages(hostile, framework, [&first, ""])
            .beside(&format!("repo/{framework}-b/node_modules/two/package.json"), "{}")
            .beside(&format!("home/empty/{framework}/kept"), "")
            .row(
                3,
                format!("{framework}: a directory is made behind a link in the copy"),
                Want::leaves(&format!("empty/{framework}/node_modules")),
            );
    }
    hostile.file(".gitignore", "node_modules\n").review()
}
