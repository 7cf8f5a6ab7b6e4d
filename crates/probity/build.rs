//! Tells the program from which commit it was built, where that can be known.
//!
//! Only for release: a development build would be compiled anew at every commit.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-env-changed=PROBITY_COMMIT");
    println!("cargo::rustc-env=PROBITY_TARGET={}", env::var("TARGET").unwrap_or_default());
    let profile = env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=PROBITY_PROFILE={profile}");
    let commit = match env::var("PROBITY_COMMIT") {
        Ok(commit) => commit,
        Err(_) if profile == "release" => of_the_checkout(),
        Err(_) => String::new(),
    };
    println!("cargo::rustc-env=PROBITY_COMMIT={commit}");
    // A debug build has 340,000 addresses that the loader would write anew at each of the thousands of
    // starts of a test run.
    if profile == "debug" && env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Nothing where the source is no checkout, or where there is no git.
fn of_the_checkout() -> String {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let log = root.join(".git/logs/HEAD");
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    // The checkout above a copy of the source is not the one that it came from.
    if !root.join(".git").exists() {
        return String::new();
    }
    let asked = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .current_dir(root)
        .output();
    match asked {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => String::new(),
    }
}
