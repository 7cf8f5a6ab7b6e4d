//! Packages as projects have them: where a claim's test goes, what is not installed, and what of a test
//! script is not understood.

use std::{fs, os::unix::fs::symlink};

use probity_proof::{Outcome, PrepareNote, RunDetail, Trouble, Why, Workshop};

use super::{MOCHA, REAL};
use crate::{
    stage::{Stage, at, claim, named},
    tools::install_packages,
};

const CODE: (&str, &str) = ("lib/calc.js", "exports.half = (a) => a / 3;\n");
const TEST: &str = "it('x', () => {});\n";

fn with_script(script: &str) -> String {
    format!(r#"{{"scripts": {{"test": "{script}"}}}}"#)
}

#[test]
fn a_claims_test_is_named_like_the_tests_around_it() {
    for (script, existing, wanted, expected) in [
        ("mocha", "test/a.js", "test/x.test.js", "test/zz_probity_c.js"),
        ("node --test", "test/a.js", "test/anything.js", "test/zz_probity_c.js"),
        ("mocha 'spec/*'", "spec/a-spec.js", "spec/x.js", "spec/zz_probity_c-spec.js"),
        ("jasmine", "spec/aSpec.js", "spec/x.spec.js", "spec/zz_probity_cSpec.js"),
        ("tape test/*.js", "test/test-a.js", "test/x.js", "test/test-zz_probity_c.js"),
        ("jest", "__tests__/a.js", "__tests__/x.test.ts", "__tests__/zz_probity_c.ts"),
        // No test is where it wants to be, which says how it is named.
        ("vitest", "src/a.test.ts", "lib/x.spec.ts", "lib/zz_probity_c.spec.ts"),
        ("vitest", "src/a.spec.ts", "lib/x.ts", "lib/zz_probity_c.spec.ts"),
        ("ava", "test/a.js", "", "lib/zz_probity_c.test.js"),
    ] {
        let package = with_script(script);
        let stage = Stage::new(&[("package.json", &package), CODE, (existing, TEST)]);
        let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
        let placed = workshop.place(&at(claim("c", CODE.0, TEST), wanted)).unwrap();
        assert_eq!(placed.path, expected, "{script} {existing} {wanted}");
    }
}

#[test]
fn a_framework_that_is_not_installed_is_named_with_the_command_that_installs_it() {
    let listed = r#"{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "12"}}"#;
    let unlisted = with_script("mocha");
    for (package, lock, expected) in [
        (listed, ("package-lock.json", "{}"), "npm ci"),
        (listed, ("yarn.lock", "# yarn lockfile v1\n"), "yarn install"),
        (listed, ("pnpm-lock.yaml", ""), "pnpm install"),
        (listed, (".pnp.cjs", ""), "YARN_NODE_LINKER=node-modules yarn install"),
        (listed, ("README", ""), "npm install"),
        (&unlisted, ("README", ""), "npm install --save-dev mocha"),
    ] {
        let stage = Stage::new(&[("package.json", package), CODE, lock]);
        let verdict = stage.prove_one(&claim("c", CODE.0, TEST));
        let missing =
            Trouble::PackageMissing { package: "mocha".to_owned(), install: expected.to_owned() };
        assert_eq!(verdict.why, Why::Ran(RunDetail::Trouble(missing)), "{lock:?} {verdict:#?}");
    }
}

#[test]
fn what_is_not_understood_of_a_test_script_is_noted() {
    for (package, words, runs) in [
        (
            r#"{"scripts": {"test": "gulp test"}, "devDependencies": {"jest": "30"}}"#,
            Some("gulp test"),
            "jest",
        ),
        (r#"{"scripts": {"test": "mocha --odd a.js"}}"#, Some("--odd"), "mocha"),
        (r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#, None, ""),
        (r#"{"scripts": {"test": "eslint . && mocha"}}"#, None, ""),
    ] {
        let stage = Stage::new(&[("package.json", package), CODE]);
        let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
        let note = words.map(|words| PrepareNote::UnclearScript {
            package: "package.json".into(),
            words: words.to_owned(),
            runs,
        });
        assert_eq!(workshop.notes(), note.as_slice(), "{package}");
    }
}

/// Each package is in one directory, to which links lead.
#[test]
fn packages_that_pnpm_has_linked_are_found() {
    let stage = Stage::new(&[
        ("package.json", MOCHA.package),
        ("calc.js", MOCHA.code),
        (".gitignore", "node_modules\n"),
    ]);
    install_packages(stage.path());
    let modules = stage.path().join("node_modules");
    fs::create_dir_all(stage.path().join("store")).unwrap();
    fs::rename(&modules, stage.path().join("store/node_modules")).unwrap();
    fs::create_dir(&modules).unwrap();
    fs::rename(stage.path().join("store"), modules.join(".pnpm")).unwrap();
    symlink(".pnpm/node_modules/mocha", modules.join("mocha")).unwrap();
    let verdict = stage.check_outcomes(&[(named(MOCHA.claim("c", REAL), "x"), Outcome::Failed)]);
    assert_eq!(verdict[0].runner, Some("javascript"));
}
