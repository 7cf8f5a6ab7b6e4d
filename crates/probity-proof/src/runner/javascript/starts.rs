//! A test that does nothing, for each framework: where it does not run, no test does.

use std::path::Path;

use probity_scope::HeldDirectory;

use super::{
    ending,
    framework::Framework,
    setup::{Package, Setup, package_of},
};

pub(super) fn source(repo: &HeldDirectory, setup: &Setup, path: &str) -> String {
    match setup.framework {
        Framework::Vitest => "import { it } from 'vitest';\nit('starts', () => {});\n",
        Framework::Mocha if is_tdd(setup) => "test('starts', () => {});\n",
        Framework::Jest | Framework::Mocha | Framework::Jasmine => "it('starts', () => {});\n",
        // How node loads a module depends on more than its name.
        Framework::Node => "import('node:test').then(({ test }) => test('starts', () => {}));\n",
        Framework::Tap => {
            "import('tap').then(({ default: t }) => t.test('starts', (t) => { t.pass(); t.end(); }));\n"
        }
        Framework::Tape => {
            "import('tape').then(({ default: test }) => test('starts', (t) => { t.pass(); t.end(); }));\n"
        }
        Framework::Ava if is_module(repo, path) => {
            "import test from 'ava';\ntest('starts', (t) => t.pass());\n"
        }
        Framework::Ava => "const test = require('ava');\ntest('starts', (t) => t.pass());\n",
        Framework::Bun => "import { test } from 'bun:test';\ntest('starts', () => {});\n",
        Framework::Deno => "Deno.test('starts', () => {});\n",
    }
    .to_owned()
}

fn is_tdd(setup: &Setup) -> bool {
    setup.invocation.options.iter().any(|option| option == "tdd" || option.ends_with("=tdd"))
}

fn is_module(repo: &HeldDirectory, path: &str) -> bool {
    match ending(path) {
        Some("cjs" | "cts") => false,
        Some("js" | "jsx") => {
            let directory = Path::new(path).parent().unwrap_or(Path::new(""));
            Package::of(repo, &package_of(repo, directory)).is_module()
        }
        _ => true,
    }
}
