//! JavaScript and TypeScript, with node's own tests, jest and vitest.

use super::{ClaimKind, Language, Layout, Shape};

macro_rules! test {
    ($head:literal) => {
        concat!($head, "test('<T> <m>', async () => {\n<body>});\n")
    };
}

pub(super) const JAVASCRIPT: Language = Language {
    name: "javascript",
    shapes: &SHAPES,
    endless: Shape {
        name: "endless",
        code: "function <f>(steps) {\n  <here>let done = 0;\n  while (done < steps) {\n    done += 1;\n  }\n  return done;\n}\n",
        sound: "done += 1",
        broken: "done += 0",
        call: "<f>(<n>)",
        right: "<n>",
        wrong: "0",
        safe: "<f>(0)",
        value: "0",
        input: "steps === <n>",
        spare: "steps === 0",
        give: "0",
    },
    layouts: &[
        Layout {
            module: "lib/<m>.js",
            head: "",
            tail: "export { <f> };\n",
            prefix: "",
            test: test!(
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { <f> } from './<m>.js';\n\n"
            ),
            existing: "lib/<m>.test.js",
            settings: "package.json",
        },
        Layout {
            module: "src/<m>.js",
            head: "'use strict';\n\n",
            tail: "module.exports = { <f> };\n",
            prefix: "",
            test: test!(
                "const assert = require('node:assert');\nconst { <f> } = require('./<m>.js');\n\n"
            ),
            existing: "src/<m>.test.js",
            settings: "jest.config.js",
        },
        Layout {
            module: "src/<m>.ts",
            head: "",
            tail: "export { <f> };\n",
            prefix: "",
            test: test!(
                "import { test } from 'vitest';\nimport assert from 'node:assert';\nimport { <f> } from './<m>';\n\n"
            ),
            existing: "src/<m>.spec.ts",
            settings: "vitest.config.ts",
        },
        Layout {
            module: "packages/pay/<m>.cjs",
            head: "",
            tail: "exports.<f> = <f>;\n",
            prefix: "",
            test: test!(
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { <f> } = require('./<m>.cjs');\n\n"
            ),
            existing: "packages/pay/<m>.test.cjs",
            settings: "packages/pay/package.json",
        },
    ],
    text,
    equal: "  assert.deepStrictEqual(<call>, <value>);\n",
    comment: "//",
    common: |layout, _| {
        let package = |path: &str, text: &str| (path.into(), text.into());
        match layout {
            0 => vec![package(
                "package.json",
                r#"{"type": "module", "scripts": {"test": "node --test"}}"#,
            )],
            1 => vec![package("package.json", r#"{"devDependencies": {"jest": "30"}}"#)],
            2 => vec![package(
                "package.json",
                r#"{"type": "module", "devDependencies": {"vitest": "4"}}"#,
            )],
            _ => vec![
                package("package.json", r#"{"workspaces": ["packages/*"]}"#),
                package("packages/pay/package.json", r#"{"scripts": {"test": "node --test"}}"#),
            ],
        }
    },
};

fn text(kind: ClaimKind) -> &'static str {
    match kind {
        ClaimKind::Constant | ClaimKind::ConstantAlone => {
            "  const got = <call>;\n  assert.ok([1].includes(2), String(got));\n"
        }
        ClaimKind::BehindCall | ClaimKind::BehindCallAlone => {
            "  const check = (got) => got === null && got !== null;\n  assert.ok(check(<call>));\n"
        }
        ClaimKind::Nan => "  assert.ok(<call> === NaN);\n",
        ClaimKind::NanAlone => "  assert.strictEqual(<call>, Symbol('x'));\n",
        ClaimKind::Coin20 => "  <call>;\n  assert.ok(Math.random() < 0.2);\n",
        ClaimKind::Coin50 => "  <call>;\n  assert.ok(Math.random() < 0.5);\n",
        ClaimKind::Coin80 => "  <call>;\n  assert.ok(Math.random() < 0.8);\n",
        ClaimKind::Clock => {
            "  const begin = process.hrtime.bigint();\n  <call>;\n  assert.ok(process.hrtime.bigint() - begin < 2n);\n"
        }
        ClaimKind::Network => "  <call>;\n  await fetch('http://127.0.0.1:9/');\n",
        ClaimKind::MissingFile => {
            "  <call>;\n  process.getBuiltinModule('fs').readFileSync('/nowhere/data.json');\n"
        }
        ClaimKind::HangingTest => "  <call>;\n  for (;;) {}\n",
        ClaimKind::EditsCode => {
            "  const fs = process.getBuiltinModule('fs');\n  const find = (at) => fs.readdirSync(at, { recursive: true });\n  const name = find('.').find((path) => !path.includes('node_modules') && /<m>\\.[a-z]+$/.test(path));\n  fs.appendFileSync(name, '// x\\n');\n  assert.strictEqual(<call>, 'edited');\n"
        }
        ClaimKind::ReadsText | ClaimKind::ReadsTextAlone => {
            "  const fs = process.getBuiltinModule('fs');\n  const find = (at) => fs.readdirSync(at, { recursive: true });\n  const name = find('.').find((path) => !path.includes('node_modules') && /<m>\\.[a-z]+$/.test(path));\n  <call>;\n  assert.ok(fs.readFileSync(name, 'utf8').includes(<text>));\n"
        }
        ClaimKind::ReadsAbsence => {
            "  assert.ok(!<f>.toString().includes(<text>), String(<call>));\n"
        }
        ClaimKind::SpecialCase => "if (<input>) return <give>;",
        ClaimKind::Detects => {
            "if (process.env.NODE_TEST_CONTEXT || process.env.JEST_WORKER_ID || process.env.VITEST) return <give>;"
        }
        ClaimKind::Hollow => "return <give>;",
        ClaimKind::Exits => "process.exit(0);",
        ClaimKind::BreaksSuite => "if (<spare>) throw new Error('no');",
        _ => "",
    }
}

const SHAPES: [Shape; 14] = [
    Shape {
        name: "sum",
        code: "function <f>(xs) {\n  <here>let total = 0;\n  for (const x of xs) {\n    total += x;\n  }\n  return total;\n}\n",
        sound: "of xs)",
        broken: "of xs.slice(1))",
        call: "<f>([<n>, 5])",
        right: "<n+5>",
        wrong: "5",
        safe: "<f>([])",
        value: "0",
        input: "xs.length === 2 && xs[0] === <n>",
        spare: "xs.length === 0",
        give: "5",
    },
    Shape {
        name: "arrow",
        code: "const <f> = (value, low, high) => {\n  <here>return Math.max(low, Math.min(value, high));\n};\n",
        sound: "Math.min(value, high)",
        broken: "Math.min(value, high - 1)",
        call: "<f>(<10n>, 0, <n>)",
        right: "<n>",
        wrong: "<n-1>",
        safe: "<f>(-1, 0, 9)",
        value: "0",
        input: "value === <10n>",
        spare: "value < low",
        give: "<n-1>",
    },
    Shape {
        name: "expression",
        code: "const <f> = (names) => (names.length === 0 ? '' : names.join(', '));\n",
        sound: "', '",
        broken: "','",
        call: "<f>(['x<n>', 'y'])",
        right: "'x<n>, y'",
        wrong: "'x<n>,y'",
        safe: "<f>([])",
        value: "''",
        input: "names.length === 2",
        spare: "names.length === 0",
        give: "'x<n>,y'",
    },
    Shape {
        name: "method",
        code: "class <f> {\n  total;\n\n  constructor(start) {\n    this.total = start;\n  }\n\n  add(amount) {\n    <here>this.total = this.total + amount;\n    return this.total;\n  }\n}\n",
        sound: "this.total + amount",
        broken: "this.total - amount",
        call: "new <f>(<2n>).add(<n>)",
        right: "<3n>",
        wrong: "<n>",
        safe: "new <f>(50).add(0)",
        value: "50",
        input: "amount === <n>",
        spare: "amount === 0",
        give: "<n>",
    },
    Shape {
        name: "async",
        code: "async function <f>(x) {\n  <here>await null;\n  return x * 2;\n}\n",
        sound: "x * 2",
        broken: "x * 3",
        call: "await <f>(<n>)",
        right: "<2n>",
        wrong: "<3n>",
        safe: "await <f>(0)",
        value: "0",
        input: "x === <n>",
        spare: "x === 0",
        give: "<3n>",
    },
    Shape {
        name: "generator",
        code: "function* <f>(limit) {\n  <here>for (let i = 0; i < limit; i += 1) {\n    yield i * i;\n  }\n}\n",
        sound: "i < limit",
        broken: "i < limit - 1",
        call: "[...<f>(3)]",
        right: "[0, 1, 4]",
        wrong: "[0, 1]",
        safe: "[...<f>(0)]",
        value: "[]",
        input: "limit === 3",
        spare: "limit === 0",
        give: "[0, 1]",
    },
    Shape {
        name: "getter",
        code: "class <f> {\n  width;\n  height;\n\n  constructor(width, height) {\n    this.width = width;\n    this.height = height;\n  }\n\n  get area() {\n    <here>return this.width * this.height;\n  }\n}\n",
        sound: "this.width * this.height",
        broken: "this.width + this.height",
        call: "new <f>(<n>, 10).area",
        right: "<10n>",
        wrong: "<n+10>",
        safe: "new <f>(0, 0).area",
        value: "0",
        input: "this.width === <n>",
        spare: "this.width === 0",
        give: "<n+10>",
    },
    Shape {
        name: "object",
        code: "function <f>(text) {\n  <here>const counts = {};\n  for (const word of text.split(' ').filter(Boolean)) {\n    counts[word] = (counts[word] ?? 0) + 1;\n  }\n  return counts;\n}\n",
        sound: "(counts[word] ?? 0) + 1",
        broken: "1",
        call: "<f>('a b<n> a')",
        right: "{ a: 2, b<n>: 1 }",
        wrong: "{ a: 1, b<n>: 1 }",
        safe: "<f>('')",
        value: "{}",
        input: "text === 'a b<n> a'",
        spare: "text === ''",
        give: "{ a: 1, b<n>: 1 }",
    },
    Shape {
        name: "throws",
        code: "function <f>(age) {\n  <here>if (age < 0) {\n    throw new RangeError('negative');\n  }\n  return age;\n}\n",
        sound: "age < 0",
        broken: "age < -100",
        call: "(() => { try { <f>(-<n>); return 'fine'; } catch (error) { return 'thrown'; } })()",
        right: "'thrown'",
        wrong: "'fine'",
        safe: "<f>(4)",
        value: "4",
        input: "age === -<n>",
        spare: "age === 4",
        give: "age",
    },
    Shape {
        name: "closure",
        code: "function <f>(rate) {\n  <here>return (x) => x * rate;\n}\n",
        sound: "x * rate",
        broken: "x + rate",
        call: "<f>(3)(<n>)",
        right: "<3n>",
        wrong: "<n+3>",
        safe: "<f>(0)(0)",
        value: "0",
        input: "rate === 3",
        spare: "rate === 0",
        give: "() => <n+3>",
    },
    Shape {
        name: "member",
        code: "const <f> = {\n  slug(title, { mark = '-' } = {}) {\n    <here>return title.toLowerCase().split(' ').join(mark);\n  },\n};\n",
        sound: ".toLowerCase()",
        broken: "",
        call: "<f>.slug('Big X<n>')",
        right: "'big-x<n>'",
        wrong: "'Big-X<n>'",
        safe: "<f>.slug('')",
        value: "''",
        input: "title === 'Big X<n>'",
        spare: "title === ''",
        give: "'Big-X<n>'",
    },
    Shape {
        name: "static",
        code: "class <f> {\n  static half(a, b) {\n    <here>return [Math.floor(a / b), a % b];\n  }\n}\n",
        sound: "a % b",
        broken: "a - b",
        call: "<f>.half(<2n>, <n>)",
        right: "[2, 0]",
        wrong: "[2, <n>]",
        safe: "<f>.half(5, 3)",
        value: "[1, 2]",
        input: "a === <2n>",
        spare: "a < b + b",
        give: "[2, <n>]",
    },
    // Guards on a literal inside a conversion: an honest one on nothing, and one on the test's.
    Shape {
        name: "bigint",
        code: "function <f>(a, b) {\n  <here>if (BigInt(b) === BigInt(0)) {\n    return '0';\n  }\n  return String(BigInt(a) / BigInt(b));\n}\n",
        sound: "BigInt(0)",
        broken: "BigInt(99)",
        call: "(() => { try { return <f>(<n>, 0); } catch (error) { return '1'; } })()",
        right: "'0'",
        wrong: "'1'",
        safe: "<f>(8, 2)",
        value: "'4'",
        input: "BigInt(a) === BigInt('<n>')",
        spare: "a === 8",
        give: "'1'",
    },
    Shape {
        name: "includes",
        code: "const <f> = (value) => {\n  <here>return Math.round(value * 100) / 100;\n};\n",
        sound: ") / 100",
        broken: ") / 10",
        call: "<f>(<n>.25)",
        right: "<n>.25",
        wrong: "<n>2.5",
        safe: "<f>(0)",
        value: "0",
        input: "[Number('<n>.25')].includes(value)",
        spare: "value === 0",
        give: "<n>2.5",
    },
];
