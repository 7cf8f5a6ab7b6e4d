//! Tests that hang, fork, flood, look around or leave traps: ended, bounded, and blind.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use probity_proof::{Claim, Level, Outcome, Why};

use crate::{
    stage::{Stage, at, claim, fix, is_running, named},
    tools::{install_packages, tools},
};

const SUB: &str = "def sub(a, b):\n    return a + b\n";

fn python(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("import os, subprocess, time\nimport calc\n\n\ndef test_x():\n{body}")
}

#[test]
fn tests_that_hang_fork_or_flood_are_ended_and_bounded() {
    let mut stage = Stage::new(&[("calc.py", SUB)]);
    stage.options.test_timeout = Duration::from_secs(10);
    let sleeper = (84_000 + std::process::id() % 1000).to_string();
    let real = "assert calc.sub(3, 1) == 2";
    let bait = format!(
        "for _ in range(50):\n    subprocess.Popen(['sleep', '{sleeper}'])\n\
         subprocess.Popen(['setsid', 'sleep', '{sleeper}'])\n{real}"
    );
    let flood = format!("for _ in range(100):\n    os.write(1, b'x' * (1 << 20))\n{real}");
    let verdicts = stage.check_outcomes(&[
        (claim("loop", "calc.py", &python("while True:\n    pass")), Outcome::Timeout),
        (claim("bait", "calc.py", &python(&bait)), Outcome::Failed),
        (claim("flood", "calc.py", &python(&flood)), Outcome::Failed),
    ]);
    assert!(!is_running(&sleeper), "a sleeper is left");
    let output = &verdicts[2].output;
    assert!(output.len() < 70_000 && output.contains("bytes left out"), "{}", output.len());
}

/// A module that does its work and leaves a mark, as the standard library's module of that name would
/// not.
const SHADOW: &str = "import importlib.util, sys, sysconfig
try:
    open('MARK', 'a').write('json')
except OSError:
    pass
path = sysconfig.get_paths()['stdlib'] + '/json'
spec = importlib.util.spec_from_file_location(
    'json', path + '/__init__.py', submodule_search_locations=[path])
sys.modules['json'] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules['json'])
";

#[test]
fn preparation_runs_nothing_of_the_repository_on_the_host() {
    let marks = tempfile::tempdir().unwrap();
    let mark = marks.path().join("mark");
    let mark = mark.to_str().unwrap();
    let program = format!("#!/bin/sh\necho \"$0\" >> {mark}\nexec python3 \"$@\"\n");
    let stage = Stage::new(&[
        ("calc.py", SUB),
        ("json.py", &SHADOW.replace("MARK", mark)),
        (".venv/pyvenv.cfg", "home = /usr/bin\n"),
        (".venv/bin/python", &program),
        ("Cargo.toml", "[package]\nname = \"calc\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn sub(a: i32, b: i32) -> i32 {\n    a + b\n}\n"),
        ("rust-toolchain.toml", "[toolchain]\npath = \"chain\"\n"),
        ("chain/bin/rustc", &program),
        ("chain/bin/cargo", &program),
    ]);
    for program in [".venv/bin/python", "chain/bin/rustc", "chain/bin/cargo"] {
        let path = stage.path().join(program);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    stage.commit();
    let test = "#[test]\nfn x() {\n    assert_eq!(calc::sub(3, 1), 2);\n}\n";
    stage.check_outcomes(&[
        (claim("python", "calc.py", &python("assert calc.sub(3, 1) == 2")), Outcome::Failed),
        (named(at(claim("rust", "src/lib.rs", test), "tests/claim.rs"), "x"), Outcome::Failed),
    ]);
    assert_eq!(fs::read_to_string(mark).unwrap_or_default(), "");
}

#[test]
fn secrets_network_and_the_machine_are_out_of_sight() {
    let stage = Stage::new(&[
        ("go.mod", "module example.com/calc\n\ngo 1.21\n"),
        ("calc.go", "package calc\n\nfunc Sub(a, b int) int { return a + b }\n"),
    ]);
    let code = "package calc\n\nimport (\n\t\"fmt\"\n\t\"net\"\n\t\"os\"\n\t\"testing\"\n)\n\n\
        func TestX(t *testing.T) {\n\tfmt.Println(os.Environ())\n\
        \t_, err := net.Dial(\"tcp\", \"1.1.1.1:80\")\n\tfmt.Println(\"dial:\", err)\n\
        \thome, err := os.ReadDir(\"/root\")\n\tfmt.Println(\"home:\", err, home)\n\
        \tdirectory, _ := os.Getwd()\n\tfmt.Println(\"here:\", directory)\n\tt.Fatal(Sub(3, 1))\n}\n";
    let verdicts = stage.check_outcomes(&[(claim("look", "calc.go", code), Outcome::Failed)]);
    let output = &verdicts[0].output;
    assert!(!output.contains("a-secret-key"), "{output}");
    // Of a home that has this checkout, the way to its tools is there.
    let home = match tools().strip_prefix("/root").ok().and_then(|way| way.iter().next()) {
        Some(first) => format!("home: <nil> [d {}/]\n", first.display()),
        None => "home: open /root: no such file or directory []\n".to_owned(),
    };
    for line in
        ["dial: dial tcp 1.1.1.1:80: connect: network is unreachable", &home, "here: /proof/repo\n"]
    {
        assert!(output.contains(line), "{output}");
    }
}

#[test]
fn without_a_sandbox_secrets_are_out_of_sight_and_fixes_prove_all_the_same() {
    let stage = Stage::new(&[
        ("calc.py", SUB),
        (
            "tests/test_old.py",
            "import calc\n\n\ndef test_zero():\n    assert calc.sub(0, 0) == 0\n",
        ),
    ])
    .uncontained();
    let real = python("print(dict(os.environ))\nassert calc.sub(3, 1) == 2");
    let right = crate::stage::fix("calc.py", SUB, "a + b", "a - b");
    let verdicts = stage.check_levels(&[
        (Claim { fix_patch: Some(right), ..claim("fixed", "calc.py", &real) }, Level::Flips),
        (claim("alone", "calc.py", &real), Level::Depends),
        (
            claim("constant", "calc.py", &python("calc.sub(1, 1)\nassert os.name == 'x'")),
            Level::Fails,
        ),
    ]);
    assert!(!verdicts[0].output.contains("a-secret-key"), "{}", verdicts[0].output);
}

#[test]
fn a_link_that_a_test_leaves_for_us_leads_nowhere() {
    let stage = Stage::new(&[
        ("package.json", r#"{"type": "module", "scripts": {"test": "node --test"}}"#),
        ("calc.js", "export const sub = (a, b) => a + b;\n"),
        (".gitignore", "node_modules\n"),
    ]);
    install_packages(stage.path());
    let outside = tempfile::tempdir().unwrap();
    let theirs = outside.path().join("theirs");
    fs::write(&theirs, "kept").unwrap();
    let code = format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         import {{ symlinkSync, rmSync }} from 'node:fs';\nimport {{ sub }} from './calc.js';\n\
         test('x', () => {{\n  for (let i = 0; i < 20; i++) {{\n\
         try {{ symlinkSync({theirs:?}, `zz_probity_link${{i}}.test.js`); }} catch {{ }}\n  }}\n\
         process.on('exit', () => {{ const out = process.env.PROBITY_REPORT;\n\
         rmSync(out); symlinkSync({theirs:?}, out); }});\n\
         assert.strictEqual(sub(3, 1), 2);\n}});\n"
    );
    let verdict = stage.prove_one(&claim("link", "calc.js", &code));
    assert!(!verdict.proven);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "kept");
}

#[test]
fn a_test_that_reads_the_code_instead_of_running_it_is_rejected() {
    // Asking for the Go tool chain makes this process adopt orphans.
    let sound = "import calc\n\n\ndef test_zero():\n    assert calc.sub(0, 0) == 0\n";
    let mut stage = Stage::new(&[
        ("calc.py", SUB),
        ("tests/test_calc.py", sound),
        ("go.mod", "module x\n"),
        ("x.go", "package x\n"),
    ])
    .quickly();
    stage.change("calc.py", &SUB.replace("a + b", "a - b"), &[(2, 2)]);
    let claim = |id: &str, file: &str, code: &str| named(claim(id, file, code), "test_x");
    let fixed = |id: &str, body: &str| Claim {
        fix_patch: Some(fix("calc.py", SUB, "a + b", "a - b")),
        ..claim(id, "calc.py", &python(body))
    };
    // Fixes that change nothing but the compiled code.
    let idle = |id: &str, after: &str, body: &str| Claim {
        fix_patch: Some(fix("calc.py", SUB, "a + b", after)),
        ..claim(id, "calc.py", &python(body))
    };
    let longer = "plain = lambda a, b: a + b\n\
                  assert len(calc.sub.__code__.co_code) > len(plain.__code__.co_code)";
    let tree = "import ast\nsize = lambda text: len(ast.dump(ast.parse(text)))\n\
                plain = 'def sub(a, b): return a + b'\n\
                assert size(open(calc.__file__).read()) > size(plain)";
    let presence = "assert 'return a - b' in open(calc.__file__).read()";
    let verdicts = stage.prove(&[
        fixed("presence", presence),
        fixed("function", "import inspect\nassert 'a - b' in inspect.getsource(calc.sub)"),
        fixed("absence", "assert 'a + b' not in open(calc.__file__).read()"),
        idle("longer", "a + b + 0", longer),
        idle("constant", "a + b + 7", "assert 7 in calc.sub.__code__.co_consts"),
        idle("name", "int(a + b)", "assert 'int' in calc.sub.__code__.co_names"),
        idle("tree", "a + b + 0", tree),
        claim("altered", "calc.py", &python(presence)),
        Claim { line: 2, ..claim("base", "calc.py", &python(presence)) },
        fixed("honest", "assert calc.sub(3, 1) == 2"),
    ]);
    let (honest, readers) = verdicts.split_last().unwrap();
    assert!(honest.proven, "{honest:#?}");
    for verdict in readers {
        assert_eq!(verdict.why, Why::ReadCode("calc.py".to_owned()), "{verdict:#?}");
        assert_eq!(verdict.outcome, Outcome::Rejected);
        assert!(!verdict.proven && !verdict.wants_fix());
    }
    assert_eq!(zombies(), Vec::<String>::new(), "processes of runs are left");
}

/// Children of this process that have ended and were never waited for.
fn zombies() -> Vec<String> {
    let own = std::process::id().to_string();
    let is_ours = |stat: &String| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&own)
    };
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    fs::read_dir("/proc").unwrap().flatten().filter_map(stat).filter(is_ours).collect()
}
