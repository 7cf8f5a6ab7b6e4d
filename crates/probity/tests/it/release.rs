//! `script/release`: what is in the archive, and that two of the same program are the same.

use std::{fs, path::Path, process::Command};

fn pack(program: &Path, to: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(root.join("script/release"))
        .arg("--binary")
        .arg(program)
        .arg("--to")
        .arg(to)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
}

#[test]
fn the_archive_holds_a_program_that_runs_and_its_sum_is_right() {
    let place = tempfile::tempdir().unwrap();
    // As a release is: what a debugger needs would be most of the archive.
    let program = place.path().join("stripped");
    let stripped =
        Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_probity")).status();
    assert!(stripped.unwrap().success());
    let archive = pack(&program, &place.path().join("one"));
    let again = pack(&program, &place.path().join("two"));
    assert_eq!(fs::read(&archive).unwrap(), fs::read(&again).unwrap(), "two runs, two archives");

    let mut sums = Command::new("sha256sum");
    sums.arg("-c").arg(format!("{archive}.sha256")).current_dir(place.path().join("one"));
    let sums = sums.output().unwrap();
    assert!(sums.status.success(), "{}", String::from_utf8_lossy(&sums.stdout));

    let unpacked = Command::new("tar").args(["-xzf", &archive]).current_dir(&place).status();
    assert!(unpacked.unwrap().success());
    let name = Path::new(&archive).file_name().unwrap().to_str().unwrap();
    let inside = place.path().join(name.strip_suffix(".tar.gz").unwrap());
    for file in [
        "LICENSE-MIT",
        "completions/probity.bash",
        "man/man1/probity.1",
        "man/man1/probity-check.1",
    ] {
        assert!(fs::metadata(inside.join(file)).is_ok_and(|it| it.len() > 100), "{file}");
    }
    let run = Command::new(inside.join("probity")).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).starts_with("probity "));
    let bash = Command::new("bash").arg("-n").arg(inside.join("completions/probity.bash")).status();
    assert!(bash.unwrap().success());
}
