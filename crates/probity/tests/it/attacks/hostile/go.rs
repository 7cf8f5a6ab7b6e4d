//! Go: which program is asked, and which modules tests see.

use super::table::{Claim, Hostile, Want, mark};

const MODULE: &str = "module example.org/calc\n\ngo 1.21\n";
const CODE: &str = "package calc\nfunc Half(number int) int { return number / 3 }\n";

/// A test that fails with the text of a file.
fn reads(path: &str) -> String {
    format!(
        "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestClaimed(t *testing.T) {{\n\t\
         text, _ := os.ReadFile(\"{path}\")\n\tt.Fatal(\"saw \" + string(text))\n}}\n"
    )
}

fn claim(path: &str) -> Claim {
    Claim::new("calc.go", "claimed_test.go", reads(path)).named("TestClaimed")
}

fn module(name: &'static str) -> Hostile {
    let mut hostile = Hostile::new(name).file("go.mod", MODULE).file("calc.go", CODE);
    hostile.shares_caches = true;
    hostile
}

pub(super) fn repositories() -> Vec<Hostile> {
    let key = "go/pkg/mod/private.example.org/own@v1.0.0/key";
    vec![
        module("modules")
            .beside(&format!("home/{key}"), "kumquat-modules.")
            .claim(claim(&format!("@HOME@/{key}")))
            .review()
            .row(10, "private modules of the user", Want::says("modules")),
        module("go on the path")
            .program("bin/go", mark("go"))
            .path("@REPO@/bin")
            .claim(claim("/"))
            .review()
            .row(1, "go of a directory of the repository in PATH", Want::runs("go")),
    ]
}
