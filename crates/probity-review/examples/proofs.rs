//! What a proof costs: our own part of it in a repository of a thousand files, and fifty proofs in
//! fifty Go packages beside one `go test` over all of them.
//!
//! `cargo run -p probity-review --example proofs`, with `go` and a Python that has pytest in `PATH`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "it measures and says what it found")]

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use probity_review::{Claim, ProofOptions, Workshop};
use probity_sandbox::{Backend, probe};

const PACKAGES: usize = 50;
const FILES: usize = 1000;

fn main() {
    let repository = tempfile::tempdir().unwrap();
    let caches = tempfile::tempdir().unwrap();
    fill(repository.path());
    let sandbox = match probe().bubblewrap {
        Ok(found) => Backend::Bubblewrap { program: found.program },
        Err(why) => {
            println!("uncontained: {why}");
            Backend::None
        }
    };
    let mut options = ProofOptions::new(repository.path(), sandbox);
    options.caches = Some(caches.path().to_owned());
    options.reruns = 1;
    options.jobs = 1;
    let began = Instant::now();
    let workshop = Workshop::prepare(options.clone(), &|step| println!("  {step}")).unwrap();
    println!("preparing {FILES} files: {:?}", began.elapsed());

    let passing = Claim {
        id: "own".to_owned(),
        file: "tool.py".to_owned(),
        line: 1,
        test_code: "def test_x():\n    pass\n".to_owned(),
        ..Claim::default()
    };
    let claims = vec![passing; 10];
    let began = Instant::now();
    let verdicts = workshop.prove_all(&claims, &|_, _| {});
    let elapsed = began.elapsed();
    let runs: Duration =
        verdicts.iter().flat_map(|verdict| &verdict.runs).map(|run| run.duration).sum();
    let own = elapsed.saturating_sub(runs) / 10;
    println!("our own part of a proof (copy, start, parse, clean): {own:?}");

    options.jobs = 0;
    let workshop = Workshop::prepare(options, &|_| {}).unwrap();
    let claims: Vec<Claim> = (0..PACKAGES).map(go_claim).collect();
    let began = Instant::now();
    let verdicts = workshop.prove_all(&claims, &|_, _| {});
    let proven = verdicts.iter().filter(|verdict| verdict.proven).count();
    println!("{PACKAGES} Go proofs, one run each: {:?}, {proven} proven", began.elapsed());

    for number in 0..PACKAGES {
        let file = repository.path().join(format!("p{number}/zz_test.go"));
        fs::write(file, go_claim(number).test_code).unwrap();
    }
    let mut go = Command::new("go");
    go.args(["test", "-vet=off", "-count=1", "./..."]).current_dir(repository.path());
    go.env("GOCACHE", caches.path().join("go-build"));
    let began = Instant::now();
    go.output().unwrap();
    println!("one go test over all of them: {:?}", began.elapsed());
}

fn fill(root: &Path) {
    fs::write(root.join("go.mod"), "module example.com/many\n\ngo 1.21\n").unwrap();
    fs::write(root.join("tool.py"), "def tool():\n    return 1\n").unwrap();
    for number in 0..FILES {
        let package = number % PACKAGES;
        let directory = root.join(format!("p{package}"));
        fs::create_dir_all(&directory).unwrap();
        let source = format!(
            "package p{package}\n\nfunc F{number}(a int) int {{\n\treturn a + {number}\n}}\n"
        );
        fs::write(directory.join(format!("f{number}.go")), source).unwrap();
    }
}

fn go_claim(package: usize) -> Claim {
    Claim {
        id: format!("p{package}"),
        file: format!("p{package}/f{package}.go"),
        line: 4,
        test_code: format!(
            "package p{package}\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {{\n\
             \tif got := F{package}(1); got != 0 {{\n\t\tt.Fatal(got)\n\t}}\n}}\n"
        ),
        ..Claim::default()
    }
}
