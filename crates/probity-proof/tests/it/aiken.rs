//! Aiken: a project with its compiler, which is the real one where the machine has it, and otherwise a
//! stand-in that knows one validator.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use probity_proof::{Claim, Exploit, ExploitFault, ExploitLevel, RunDetail, Why, Workshop};

use crate::stage::{Stage, fix};

/// Compiles nothing: it reads what the only handler says, and writes what the compiler would.
const STAND_IN: &str = r#"#!/bin/sh
[ "$1" = check ] && [ -d build/packages/stdlib ] || exit 1
file=validators/swap.ak
grep -q 'no such word' $file && exit 1
body=$(sed -n 's/^  spend(.*) { *\(.*[^ ]\) *}$/\1/p' $file)
exploit=fail control=pass
[ "$body" = True ] || exploit=pass
[ "$body" = False ] && control=fail
test() { grep -q "^test $1()" $file && tests="$tests${tests:+,}{\"title\":\"$1\",\"status\":\"$2\"}"; }
tests=
test exploit $exploit
test control $control
test old pass
echo "{\"seed\":1,\"modules\":[{\"name\":\"swap\",\"tests\":[$tests]}]}"
[ $exploit = pass ]
"#;

const SWAP: &str = "validator swap {\n  spend(paid: Int) { True }\n}\n\ntest old() {\n  True\n}\n";
const TESTS: &str =
    "test exploit() {\n  !swap.spend(0)\n}\n\ntest control() {\n  swap.spend(9)\n}\n";

/// A project whose packages are installed and ignored, as projects have them, and a compiler.
fn stage(bin: &Path) -> Stage {
    let mut stage = Stage::new(&[
        ("aiken.toml", "name = \"a/swap\"\nversion = \"0.0.0\"\n"),
        ("validators/swap.ak", SWAP),
        (".gitignore", "build/\n"),
    ]);
    stage.write("build/packages/stdlib/aiken.toml", "name = \"b/stdlib\"\n");
    let program = bin.join("aiken");
    fs::write(&program, STAND_IN).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = stage.options.environment.iter_mut().find(|(name, _)| name == "PATH").unwrap();
    let mut first = bin.as_os_str().to_owned();
    first.push(":");
    first.push(&path.1);
    path.1 = first;
    stage
}

fn exploit(tests: &str) -> Exploit {
    Exploit {
        claim: Claim {
            id: "swap".to_owned(),
            file: "validators/swap.ak".to_owned(),
            line: 2,
            test_code: tests.to_owned(),
            test_name: Some("exploit".to_owned()),
            ..Claim::default()
        },
        control_name: "control".to_owned(),
    }
}

#[test]
fn a_validator_that_allows_everything_is_exploited_and_fixed() {
    let bin = tempfile::tempdir().unwrap();
    let stage = stage(bin.path());
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let verdict = workshop.exploit(&exploit(TESTS));
    assert_eq!(verdict.level, ExploitLevel::Exploited, "{verdict:#?}");
    assert_eq!(verdict.rejecting.as_deref(), Some("spend"));
    assert_eq!(verdict.exploit.runner, Some("aiken"));

    let mut fixed = exploit(TESTS);
    fixed.claim.fix_patch = Some(fix("validators/swap.ak", SWAP, "{ True }", "{ paid > 5 }"));
    let verdict = workshop.exploit(&fixed);
    assert_eq!(verdict.level, ExploitLevel::ExploitedAndFixed, "{verdict:#?}");

    let verdict = workshop.exploit(&exploit(&format!("{TESTS}// no such word\n")));
    assert_eq!(verdict.fault, Some(ExploitFault::NotShown), "{verdict:#?}");
}

const PRICE: &str = "pub fn accepts(paid: Int, price: Int) -> Bool {\n  paid >= 0 && price >= 0\n}\n\n\
    pub fn change(paid: Int, price: Int) -> Int {\n  paid - price\n}\n";
const PRICE_TESTS: &str = "use price\n\ntest exploit() {\n  !price.accepts(1, 5)\n}\n\ntest control() \
    {\n  price.accepts(5, 5)\n}\n";

/// Where `script/test --with-aiken` puts the compiler, or where the machine has it.
fn compiler() -> Option<std::path::PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/aiken/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(installed).chain(std::env::split_paths(&path));
    directories.into_iter().find(|directory| directory.join("aiken").is_file())
}

/// The evaluator sets no bound: it goes on until it is ended. Says nothing without a compiler.
#[test]
fn a_real_test_that_never_ends_is_ended_and_says_so() {
    let Some(bin) = compiler() else {
        println!("aiken is not installed; `script/test --with-aiken` installs it");
        return;
    };
    let mut stage = price_stage(&bin);
    stage.options.test_timeout = Duration::from_secs(5);
    stage.options.build_timeout = Duration::from_secs(20);
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let mut endless = exploit(
        "use price\n\nfn count(n: Int) -> Int {\n  1 + count(n + 1)\n}\n\n\
         test exploit() {\n  price.accepts(count(0), 5)\n}\n\n\
         test control() {\n  price.accepts(5, 5)\n}\n",
    );
    endless.claim.file = "lib/price.ak".to_owned();
    let verdict = workshop.exploit(&endless);
    assert_eq!((verdict.level, &verdict.fault), (ExploitLevel::Quoted, &Some(ExploitFault::Hangs)));
    let limit = stage.options.test_timeout;
    assert_eq!(verdict.exploit.why, Why::Ran(RunDetail::Timeout(limit)), "{verdict:#?}");
    // Nothing is gained by waiting for it again.
    assert_eq!(verdict.exploit.runs.len(), 1);
}

/// A project with one module, and the compiler of this machine.
fn price_stage(bin: &Path) -> Stage {
    let mut stage = Stage::new(&[
        ("aiken.toml", "name = \"probity/price\"\nversion = \"0.0.0\"\nplutus = \"v3\"\n"),
        ("lib/price.ak", PRICE),
        (".gitignore", "build/\n"),
    ]);
    let path = stage.options.environment.iter_mut().find(|(name, _)| name == "PATH").unwrap();
    path.1 = bin.canonicalize().unwrap().into_os_string();
    stage
}

/// Says nothing without a compiler: `script/test --with-aiken` installs one.
#[test]
fn the_real_compiler_is_understood() {
    let Some(bin) = compiler() else {
        println!("aiken is not installed; `script/test --with-aiken` installs it");
        return;
    };
    let stage = price_stage(&bin);
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let mut price = exploit(PRICE_TESTS);
    price.claim.file = "lib/price.ak".to_owned();
    let (attack, exploited) = ("!price.accepts(1, 5)", ExploitLevel::Exploited);
    for (attack, head, level, fault) in [
        (attack, "exploit()", exploited, ExploitFault::NotFixed),
        ("price.accepts(1, 5)", "exploit() fail", exploited, ExploitFault::NotFixed),
        ("expect !price.accepts(1, 5)\n  True", "exploit()", exploited, ExploitFault::NotFixed),
        ("price.accepts(1, 5)", "exploit()", ExploitLevel::Quoted, ExploitFault::Passes),
        ("1 == 2", "exploit()", ExploitLevel::Quoted, ExploitFault::FailsAlways),
        ("no_such_name", "exploit()", ExploitLevel::Quoted, ExploitFault::NotShown),
    ] {
        let code = PRICE_TESTS.replace("!price.accepts(1, 5)", attack);
        price.claim.test_code = code.replace("exploit()", head);
        let verdict = workshop.exploit(&price);
        assert_eq!((verdict.level, &verdict.fault), (level, &Some(fault)), "{verdict:#?}");
    }
    // A function that cannot say `False` can still fail.
    price.claim.line = 6;
    price.claim.test_code =
        "use price\n\ntest exploit() fail {\n  price.change(1, 5) < 0\n}\n\ntest \
        control() {\n  price.change(5, 1) == 4\n}\n"
            .to_owned();
    let verdict = workshop.exploit(&price);
    assert_eq!(verdict.level, ExploitLevel::Exploited, "{verdict:#?}");
    assert_eq!(verdict.rejecting.as_deref(), Some("change"));
    price.claim.line = 2;
    price.claim.test_code = PRICE_TESTS.to_owned();
    let sound = fix("lib/price.ak", PRICE, "paid >= 0 && price >= 0", "paid >= price");
    price.claim.fix_patch = Some(sound);
    let verdict = workshop.exploit(&price);
    assert_eq!(verdict.level, ExploitLevel::ExploitedAndFixed, "{verdict:#?}");
}
