//! How well the detectors tell pairs of contracts apart that they were not written for.
//!
//! Run with `cargo run -p probity-audit --example twins -- DIR`. DIR has `CLASS/NUMBER/vulnerable` and
//! `CLASS/NUMBER/fixed`, and `clean/NUMBER` for projects without a vulnerability. It prints what was
//! missed and what was wrongly reported, for each half of the pairs, and asserts nothing.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a product")]

use std::{env, fs, path::Path};

use probity_audit::{Detected, detect, discover, is_contract};
use sha2::{Digest as _, Sha256};

/// Other names of classes.
const ALIASES: &[(&str, &str)] = &[
    ("loose-minting-policy", "minting-policy"),
    ("redeemer-mixup", "redeemer-mix-up"),
    ("reference-script-injection", "unvalidated-reference-script"),
];

fn main() {
    let root = env::args().nth(1).unwrap();
    let root = Path::new(&root);
    // Half of the pairs is for work on the detectors, the other one shows what the work is worth.
    let mut halves = [(0, 0, 0); 2];
    for class in names(root) {
        for number in names(&root.join(&class)) {
            let place = root.join(&class).join(&number);
            if class == "clean" {
                report_all(&format!("clean/{number}"), &found(&place));
                continue;
            }
            let alias = ALIASES.iter().find(|(other, _)| *other == class);
            let known = alias.map_or(class.as_str(), |(_, class)| class);
            let of = |twin: &str| found(&place.join(twin)).remove(known).unwrap_or_default();
            let (vulnerable, fixed) = (of("vulnerable"), of("fixed"));
            let name = format!("{class}/{number}");
            let half = usize::from(Sha256::digest(name.as_bytes())[0] % 2);
            let counts = &mut halves[half];
            counts.0 += 1;
            counts.1 += usize::from(!vulnerable.is_empty());
            counts.2 += usize::from(!fixed.is_empty());
            if vulnerable.is_empty() {
                println!("half {half}: missed {name}");
            }
            for finding in fixed {
                println!(
                    "half {half}: flagged {name}/fixed: {:?} {:?}",
                    finding.file, finding.line
                );
            }
        }
    }
    for (half, (all, found, flagged)) in halves.iter().enumerate() {
        println!("half {half}: {found} of {all} found, {flagged} fixed twins flagged");
    }
}

fn report_all(name: &str, detected: &Detected) {
    for (class, findings) in detected {
        for finding in findings {
            println!("flagged {name}: {class} {:?} {:?}", finding.file, finding.line);
        }
    }
}

fn found(place: &Path) -> Detected {
    let sources = discover(place, probity_audit::ignored_files(false), &is_contract).unwrap();
    let read = |source: String| (source.clone(), fs::read_to_string(place.join(source)).unwrap());
    detect(&sources.into_iter().map(read).collect::<Vec<_>>())
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| directory.join(name).is_dir());
    names.sort();
    names
}
