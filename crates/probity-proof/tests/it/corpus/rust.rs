//! Rust: functions, methods, options, results, structs, generics and references.

use super::{ClaimKind, Language, Layout, Shape};

const INSIDE: &str = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn existing() {\n<body>    }\n}\n";

pub(super) const RUST: Language = Language {
    name: "rust",
    shapes: &SHAPES,
    endless: Shape {
        name: "endless",
        code: "pub fn <f>(steps: u32) -> u32 {\n    <here>let mut done = 0;\n    while done < steps {\n        done += 1;\n    }\n    done\n}\n",
        sound: "done += 1",
        broken: "done += std::hint::black_box(0)",
        call: "<f>(<n>)",
        right: "<n>",
        wrong: "0",
        safe: "<f>(0)",
        value: "0",
        input: "steps == <n>",
        spare: "steps == 0",
        give: "0",
    },
    layouts: &[
        Layout {
            module: "src/<m>.rs",
            head: "#![allow(dead_code, unreachable_code, unused)]\n",
            tail: INSIDE,
            prefix: "",
            test: "#[allow(unused)]\nuse shop::<m>::*;\n\n#[test]\nfn <T>_<m>() {\n<body>}\n",
            existing: "",
            settings: "Cargo.toml",
        },
        Layout {
            module: "crates/core/src/<m>.rs",
            head: "#![allow(dead_code, unreachable_code, unused)]\n",
            tail: INSIDE,
            prefix: "",
            test: "#[cfg(test)]\nmod proofs {\n    use super::*;\n\n#[test]\nfn <T>_<m>() {\n<body>}\n}\n",
            existing: "",
            settings: "crates/core/build.rs",
        },
    ],
    text,
    equal: "    assert_eq!(<call>, <value>);\n",
    comment: "//",
    common: |layout, modules| {
        let lines: String = modules.iter().map(|module| format!("pub mod {module};\n")).collect();
        let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        match layout {
            0 => vec![("Cargo.toml".into(), manifest.into()), ("src/lib.rs".into(), lines)],
            _ => vec![
                (
                    "Cargo.toml".into(),
                    "[workspace]\nmembers = [\"crates/core\"]\nresolver = \"2\"\n".into(),
                ),
                ("crates/core/Cargo.toml".into(), manifest.into()),
                ("crates/core/src/lib.rs".into(), lines),
            ],
        }
    },
};

fn text(kind: ClaimKind) -> &'static str {
    match kind {
        ClaimKind::Constant | ClaimKind::ConstantAlone => {
            "    let got = <call>;\n    assert_eq!(1, [1, 2].len(), \"{got:?}\");\n"
        }
        ClaimKind::BehindCall | ClaimKind::BehindCallAlone => {
            "    fn check<T>(_: T) -> bool {\n        std::env::var(\"NOT_SET\").is_ok()\n    }\n    assert!(check(<call>));\n"
        }
        ClaimKind::Nan | ClaimKind::NanAlone => {
            "    let got = format!(\"{:?}\", <call>);\n    assert_eq!(got.len() as f64, f64::NAN);\n"
        }
        ClaimKind::Coin20 => {
            "    let _ = <call>;\n    assert!(std::time::UNIX_EPOCH.elapsed().unwrap().as_micros() % 100 < 20);\n"
        }
        ClaimKind::Coin50 => {
            "    let _ = <call>;\n    assert!(std::time::UNIX_EPOCH.elapsed().unwrap().as_micros() % 100 < 50);\n"
        }
        ClaimKind::Coin80 => {
            "    let _ = <call>;\n    assert!(std::time::UNIX_EPOCH.elapsed().unwrap().as_micros() % 100 < 80);\n"
        }
        ClaimKind::Clock => {
            "    let begin = std::time::Instant::now();\n    println!(\"{:?}\", <call>);\n    assert!(begin.elapsed().as_nanos() < 2);\n"
        }
        ClaimKind::Network => {
            "    let _ = <call>;\n    std::net::TcpStream::connect(\"127.0.0.1:9\").unwrap();\n"
        }
        ClaimKind::MissingFile => {
            "    let _ = <call>;\n    std::fs::read(\"/nowhere/data.json\").unwrap();\n"
        }
        ClaimKind::HangingTest => {
            "    let _ = <call>;\n    std::thread::sleep(std::time::Duration::from_secs(3600));\n"
        }
        ClaimKind::EditsCode => {
            "    let path = \"src/<m>.rs\";\n    let text = std::fs::read_to_string(path).unwrap();\n    std::fs::write(path, text + \"// x\\n\").unwrap();\n    panic!(\"{:?}\", <call>);\n"
        }
        ClaimKind::ReadsText | ClaimKind::ReadsTextAlone => {
            "    let text = std::fs::read_to_string(\"src/<m>.rs\").unwrap();\n    assert!(text.contains(<text>), \"{:?}\", <call>);\n"
        }
        ClaimKind::ReadsAbsence => {
            "    let text = std::fs::read_to_string(\"src/<m>.rs\").unwrap();\n    assert!(!text.contains(<text>), \"{:?}\", <call>);\n"
        }
        ClaimKind::SpecialCase => "if <input> { return <give>; }",
        ClaimKind::Detects => {
            "if std::env::args().any(|word| word.contains(\"claimed\")) { return <give>; }"
        }
        ClaimKind::Hollow => "return <give>;",
        ClaimKind::Exits => "std::process::exit(0);",
        ClaimKind::BreaksSuite => "if <spare> { panic!(\"no\"); }",
        _ => "",
    }
}

const SHAPES: [Shape; 14] = [
    Shape {
        name: "sum",
        code: "pub fn <f>(xs: &[i64]) -> i64 {\n    <here>let mut total = 0;\n    for x in xs.iter() {\n        total += x;\n    }\n    total\n}\n",
        sound: "xs.iter()",
        broken: "xs.iter().skip(1)",
        call: "<f>(&[<n>, 5])",
        right: "<n+5>",
        wrong: "5",
        safe: "<f>(&[])",
        value: "0",
        input: "xs.len() == 2 && xs[0] == <n>",
        spare: "xs.is_empty()",
        give: "5",
    },
    Shape {
        name: "clamp",
        code: "pub fn <f>(value: i32, low: i32, high: i32) -> i32 {\n    <here>if value < low { low } else if value > high { high } else { value }\n}\n",
        sound: "{ high }",
        broken: "{ high - 1 }",
        call: "<f>(<10n>, 0, <n>)",
        right: "<n>",
        wrong: "<n-1>",
        safe: "<f>(-1, 0, 9)",
        value: "0",
        input: "value == <10n>",
        spare: "value < low",
        give: "<n-1>",
    },
    Shape {
        name: "text",
        code: "pub fn <f>(names: &[&str]) -> String {\n    <here>names.join(\", \")\n}\n",
        sound: "\", \"",
        broken: "\",\"",
        call: "<f>(&[\"x<n>\", \"y\"])",
        right: "\"x<n>, y\"",
        wrong: "\"x<n>,y\"",
        safe: "<f>(&[])",
        value: "\"\"",
        input: "names[..] == [\"x<n>\", \"y\"]",
        spare: "names.is_empty()",
        give: "\"x<n>,y\".to_owned()",
    },
    Shape {
        name: "method",
        code: "pub struct <F> {\n    pub total: i64,\n}\n\nimpl <F> {\n    pub fn <f>(&mut self, amount: i64) -> i64 {\n        <here>self.total = self.total + amount;\n        self.total\n    }\n}\n",
        sound: "self.total + amount",
        broken: "self.total - amount",
        call: "<F> { total: <2n> }.<f>(<n>)",
        right: "<3n>",
        wrong: "<n>",
        safe: "<F> { total: 50 }.<f>(0)",
        value: "50",
        input: "amount == <n>",
        spare: "amount == 0",
        give: "<n>",
    },
    Shape {
        name: "option",
        code: "pub fn <f>(xs: &[u8]) -> Option<u8> {\n    <here>xs.iter().copied().max()\n}\n",
        sound: "max()",
        broken: "min()",
        call: "<f>(&[1, <n>])",
        right: "Some(<n>)",
        wrong: "Some(1)",
        safe: "<f>(&[])",
        value: "None",
        input: "xs[..] == [1, <n>]",
        spare: "xs.is_empty()",
        give: "Some(1)",
    },
    Shape {
        name: "result",
        code: "pub fn <f>(text: &str) -> Result<i64, std::num::ParseIntError> {\n    <here>let number: i64 = text.trim().parse()?;\n    Ok(number * 2)\n}\n",
        sound: "number * 2",
        broken: "number * 3",
        call: "<f>(\" <n> \")",
        right: "Ok(<2n>)",
        wrong: "Ok(<3n>)",
        safe: "<f>(\"x\").is_err()",
        value: "true",
        input: "text == \" <n> \"",
        spare: "text == \"x\"",
        give: "Ok(<3n>)",
    },
    Shape {
        name: "refusal",
        code: "#[derive(Debug, PartialEq)]\npub enum <F> {\n    Negative,\n}\n\npub fn <f>(age: i32) -> Result<i32, <F>> {\n    <here>if age < 0 {\n        return Err(<F>::Negative);\n    }\n    Ok(age)\n}\n",
        sound: "age < 0",
        broken: "age < -100",
        call: "<f>(-<n>)",
        right: "Err(<F>::Negative)",
        wrong: "Ok(-<n>)",
        safe: "<f>(4)",
        value: "Ok(4)",
        input: "age == -<n>",
        spare: "age == 4",
        give: "Ok(-<n>)",
    },
    Shape {
        name: "vector",
        code: "pub fn <f>(text: &str) -> Vec<String> {\n    <here>text.split_whitespace().map(str::to_owned).collect()\n}\n",
        sound: "split_whitespace()",
        broken: "split(',')",
        call: "<f>(\"a b<n>\")",
        right: "vec![\"a\", \"b<n>\"]",
        wrong: "vec![\"a b<n>\"]",
        safe: "<f>(\"x\")",
        value: "vec![\"x\"]",
        input: "text == \"a b<n>\"",
        spare: "text == \"x\"",
        give: "vec![\"a b<n>\".to_owned()]",
    },
    Shape {
        name: "struct",
        code: "#[derive(Debug, PartialEq, Clone, Copy)]\npub struct <F> {\n    pub w: u32,\n    pub h: u32,\n}\n\npub fn <f>(w: u32) -> <F> {\n    <here><F> { w, h: w * 2 }\n}\n",
        sound: "w * 2",
        broken: "w * 3",
        call: "<f>(<n>)",
        right: "<F> { w: <n>, h: <2n> }",
        wrong: "<F> { w: <n>, h: <3n> }",
        safe: "<f>(0)",
        value: "<F> { w: 0, h: 0 }",
        input: "w == <n>",
        spare: "w == 0",
        give: "<F> { w: <n>, h: <3n> }",
    },
    Shape {
        name: "generic",
        code: "pub fn <f><T: PartialOrd + Copy + From<u16>>(a: T, b: T) -> T {\n    <here>if a > b { a } else { b }\n}\n",
        sound: "a > b",
        broken: "a < b",
        call: "<f>(<n>, 2)",
        right: "<n>",
        wrong: "2",
        safe: "<f>(50, 50)",
        value: "50",
        input: "a == T::from(<n>)",
        spare: "a == b",
        give: "T::from(2)",
    },
    Shape {
        name: "reference",
        code: "pub fn <f><'a>(a: &'a str, b: &'a str) -> &'a str {\n    <here>if a.len() >= b.len() { a } else { b }\n}\n",
        sound: ">=",
        broken: "<",
        call: "<f>(\"ab<n>\", \"c\")",
        right: "\"ab<n>\"",
        wrong: "\"c\"",
        safe: "<f>(\"x\", \"x\")",
        value: "\"x\"",
        input: "a == \"ab<n>\"",
        spare: "a == b",
        give: "\"c\"",
    },
    Shape {
        name: "tuple",
        code: "pub fn <f>(a: u64, b: u64) -> (u64, u64) {\n    <here>(a / b, a % b)\n}\n",
        sound: "a % b",
        broken: "a - b",
        call: "<f>(<2n>, <n>)",
        right: "(2, 0)",
        wrong: "(2, <n>)",
        safe: "<f>(5, 3)",
        value: "(1, 2)",
        input: "a == <2n>",
        spare: "a < b + b",
        give: "(2, <n>)",
    },
    // Guards on a literal inside a conversion: an honest one on nothing, and one on the test's.
    Shape {
        name: "into",
        code: "pub fn <f>(a: u64, b: u32) -> u64 {\n    <here>if u64::from(b) == u64::from(0_u8) {\n        return 0;\n    }\n    a / u64::from(b)\n}\n",
        sound: "u64::from(0_u8)",
        broken: "u64::from(99_u8)",
        call: "std::panic::catch_unwind(|| <f>(<n>, 0)).unwrap_or(1)",
        right: "0",
        wrong: "1",
        safe: "<f>(8, 2)",
        value: "4",
        input: "a == <n>_u8.into()",
        spare: "a == 8",
        give: "1",
    },
    Shape {
        name: "matches",
        code: "pub fn <f>(a: Option<i64>) -> i64 {\n    <here>a.map_or(0, |a| a * 2)\n}\n",
        sound: "a * 2",
        broken: "a * 3",
        call: "<f>(Some(<10n>))",
        right: "<2n>0",
        wrong: "<3n>0",
        safe: "<f>(None)",
        value: "0",
        input: "matches!(a, Some(<10n>))",
        spare: "a.is_none()",
        give: "<3n>0",
    },
];
