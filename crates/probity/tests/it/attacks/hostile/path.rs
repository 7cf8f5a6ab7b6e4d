//! Programs of a directory of the repository in `PATH`, as direnv and npm add one. They run sandboxed;
//! but what is around a program is shown to tests, and around these is the repository with all that git
//! ignores and `.git`, where CI keeps its tokens.

use super::table::{Claim, Hostile, Want, mark};

/// A runner: the program that is looked for, the flagged file and what it needs, and a test.
struct Runner {
    program: &'static str,
    files: &'static [(&'static str, &'static str)],
    test_file: &'static str,
    test: &'static str,
}

const RUNNERS: [Runner; 10] = [
    Runner {
        program: "node",
        files: &[("node/calc.js", "\n\n"), ("node/package.json", "{}")],
        test_file: "node/calc.test.js",
        test: "require('node:test').test('claimed', () => {});\n",
    },
    Runner {
        program: "bats",
        files: &[("bats/calc.sh", "\n\n")],
        test_file: "bats/claimed.bats",
        test: "@test \"claimed\" {\n  true\n}\n",
    },
    Runner {
        program: "rspec",
        files: &[("rspec/spec/one", ""), ("rspec/calc.rb", "\n\n")],
        test_file: "rspec/spec/claimed_spec.rb",
        test: "RSpec.describe 'it' do\n  it 'claimed' do\n  end\nend\n",
    },
    Runner {
        program: "phpunit",
        files: &[("unit/calc.php", "<?php\n\n")],
        test_file: "unit/OtherTest.php",
        test: "<?php\nclass OtherTest extends PHPUnit\\Framework\\TestCase { function testclaimed() {} }\n",
    },
    Runner {
        program: "javac",
        files: &[("plain/Calc.java", "class Calc {\n\n}\n")],
        test_file: "plain/ClaimedTest.java",
        test: "class ClaimedTest {\n    @Test\n    void claimed() {}\n}\n",
    },
    Runner {
        program: "mvn",
        files: &[
            ("maven/src/main/java/Calc.java", "class Calc {\n\n}\n"),
            ("maven/pom.xml", "<project/>"),
        ],
        test_file: "",
        test: "class ClaimedTest {\n    @Test\n    void claimed() {}\n}\n",
    },
    Runner {
        program: "gradle",
        files: &[
            ("gradle/src/main/java/Calc.java", "class Calc {\n\n}\n"),
            ("gradle/build.gradle", ""),
        ],
        test_file: "",
        test: "class ClaimedTest {\n    @Test\n    void claimed() {}\n}\n",
    },
    Runner {
        program: "bun",
        files: &[
            ("bun/calc.js", "\n\n"),
            ("bun/package.json", "{\"scripts\": {\"test\": \"bun test\"}}"),
        ],
        test_file: "bun/calc.test.js",
        test: "require('bun:test').test('claimed', () => {});\n",
    },
    // A command of the user's configuration, which names a program and not its place.
    Runner {
        program: "prove-it",
        files: &[("perl/Calc.pm", "\n\n")],
        test_file: "perl/claimed.t",
        test: "print 'ok';\n",
    },
    Runner {
        program: "cmake",
        files: &[("cmake/calc.cpp", "\n\n"), ("cmake/CMakeLists.txt", "")],
        test_file: "cmake/calc_test.cpp",
        test: "#include <gtest/gtest.h>\nTEST(it, claimed) {}\n",
    },
];

const COMMAND: &str = "[[review.runner]]\nmatch = \"**/*.pm\"\ncommand = [\"prove-it\", \"{file}\"]\n\
    report = \"-\"\n";

pub(super) fn repositories() -> Vec<Hostile> {
    let mut all = vec![own_programs()];
    for Runner { program, files, test_file, test } in RUNNERS {
        let token = format!("@REPO@/.git/token-of-{program}");
        // PHP reads its program, and skips a first line for shells.
        let shows = match program {
            "phpunit" => format!("<?php echo file_get_contents('{token}');"),
            _ => format!("cat {token} >&2; exit 1"),
        };
        let mut hostile = Hostile::new("path")
            .variant_if(!["node", "javac", "prove-it"].contains(&program))
            .program(&format!("bin/{program}"), shows)
            .path("@REPO@/bin")
            .beside("runners.toml", COMMAND)
            .variable("PROBITY_REVIEW__RUNNERS", "@ROOT@/runners.toml")
            .beside(&format!("repo/.git/token-of-{program}"), format!("kumquat-{program}."))
            .claim(Claim::new(
                files.iter().find(|file| file.1.contains("\n\n")).unwrap().0,
                test_file,
                test,
            ))
            .review_anyhow()
            .row(
                5,
                format!("{program}: its directory in PATH is the repository's"),
                Want::says(program),
            );
        for (path, text) in files {
            hostile = hostile.file(path, *text);
        }
        all.push(hostile);
    }
    all
}

/// What probity itself starts, which no sandbox is around.
fn own_programs() -> Hostile {
    let mut hostile = Hostile::new("own programs").file("calc.py", "\n\n").path("@REPO@/bin");
    for name in ["git", "bwrap", "docker", "podman"] {
        hostile = hostile.program(&format!("bin/{name}"), format!("{}; exit 1", mark(name))).row(
            1,
            format!("{name} of a directory of the repository in PATH"),
            Want::runs(name),
        );
    }
    hostile
        .claim(Claim::new("calc.py", "", "def test_claimed(): pass\n").named("test_claimed"))
        .review_anyhow()
        .command("exec --sandbox auto -- true")
}
