//! What probity writes for the victim, where the repository has put a link. Old binaries followed links
//! to directories alone: a file was replaced as a whole, and with it a link that stood there.

use super::table::{Claim, Hostile, Want};

const CODE: &str = "exports.half = (number) => {\n  return number / 3;\n};\n";

const TEST: &str = "const { half } = require('./calc.js');\n\
    require('node:test').test('claimed', () => {\n  if (half(6) !== 3) throw new Error('no half');\n});\n";

const FIX: &str = "@@ -1,3 +1,3 @@\n exports.half = (number) => {\n-  return number / 3;\n\
    +  return number / 2;\n };\n";

pub(super) fn repositories() -> Vec<Hostile> {
    vec![beyond_a_link(), tests(), removed(), fix()]
}

fn repository(name: &'static str, directory: &str) -> Hostile {
    Hostile::new(name)
        .file("package.json", "{}\n")
        .file(&format!("{directory}calc.js"), CODE)
        .claim(Claim::new(
            &format!("{directory}calc.js"),
            &format!("{directory}calc.test.js"),
            TEST,
        ))
}

/// Everything that a person gives a name to, below a directory that is a link.
fn beyond_a_link() -> Hostile {
    let review = "review --agent @AGENT@ --no-history --report-only";
    let mut hostile = repository("output", "")
        .file("validators/a.ak", "validator a {}\n")
        .file("Dockerfile", "FROM debian:12\n")
        .link("away", "../home/empty");
    for (words, left) in [
        (format!("{review} --output @ROOT@/out --report markdown=away/review.md"), "review.md"),
        (format!("{review} --output away/review"), "review/review.json"),
        (
            "review ask --agent @AGENT@ --no-history --out away/claims.json".to_owned(),
            "claims.json",
        ),
        ("review ask --agent @AGENT@ --no-history --out @ROOT@/claims.json".to_owned(), ""),
        ("review prove @ROOT@/claims.json --out away/part.json".to_owned(), "part.json"),
        ("review prove @ROOT@/claims.json --out @ROOT@/part.json".to_owned(), ""),
        ("review merge @ROOT@/part.json --output away/merged".to_owned(), "merged/review.json"),
        ("review badge @ROOT@/out/review.json -o away/badge.svg".to_owned(), "badge.svg"),
        ("review report @ROOT@/out/review.json -o away/report.md".to_owned(), "report.md"),
        ("audit --provider heuristic --report-out away/audit.md".to_owned(), "audit.md"),
        ("audit --provider heuristic --state-out away/state.json".to_owned(), "state.json"),
    ] {
        hostile = hostile.command(&words);
        if !left.is_empty() {
            let command = words.split(' ').take(2).collect::<Vec<_>>().join(" ");
            hostile = hostile.row(
                7,
                format!("{command} writes {left} behind a link"),
                Want::leaves(&format!("empty/{left}")),
            );
        }
    }
    hostile
}

/// The directory of tests in the one for the review.
fn tests() -> Hostile {
    repository("tests of a review", "")
        .link("review/tests", "../../home/empty")
        .command("review --agent @AGENT@ --no-history --report-only")
        .row(7, "tests are left behind a link", Want::leaves("empty/ISS-001_claimed.test.js"))
}

/// A review that cannot begin removes the one before.
fn removed() -> Hostile {
    repository("an earlier review", "")
        .link("review", "../home/own")
        .command("review --agent @AGENT@ --no-history --report-only --config missing.yml")
        .row(7, "a review behind a link is removed", Want::changes("own/review.json"))
}

/// The test of a proven fix is committed where the agent wants it: in a directory that is not in the
/// copy, since a link stands for it.
fn fix() -> Hostile {
    let mut hostile = repository("fix", "src/").link("src/tests", "../../home/empty").review();
    for claim in &mut hostile.claims {
        claim.test_file = Some("src/tests/calc.test.js".to_owned());
        claim.code = TEST.replace("./calc.js", "../calc.js");
        claim.fix = Some(format!("--- a/src/calc.js\n+++ b/src/calc.js\n{FIX}"));
    }
    hostile.command("review fix --report @ROOT@/out/review.json --commit").row(
        13,
        "review fix --commit writes a test behind a link",
        Want::leaves("empty/zz_probity_ISS001.test.js"),
    )
}
