//! PHP: the packages of composer.

use super::table::{Claim, Hostile, Want};

const CODE: &str = "<?php\nfunction half($number) { return $number / 3; }\n";

/// A test of PHPUnit with this body.
fn test(class: &str, body: &str) -> String {
    format!(
        "<?php\n// @NUMBER@\nfinal class {class} extends PHPUnit\\Framework\\TestCase\n{{\n    \
         public function testclaimed(): void\n    {{\n        {body}\n    }}\n}}\n"
    )
}

pub(super) fn repositories() -> Vec<Hostile> {
    vec![linked(), made_through_a_link()]
}

fn linked() -> Hostile {
    let mut hostile = Hostile::new("composer").review();
    for (project, target, path) in [
        ("above", "../..", "vendor/home/secret/above"),
        ("home", "../../home", "vendor/secret/home"),
    ] {
        let body = format!("$this->fail('saw ' . file_get_contents(__DIR__ . '/{path}'));");
        hostile = hostile
            .file(&format!("{project}/composer.json"), "{}\n")
            .file(&format!("{project}/calc.php"), CODE)
            .link(&format!("{project}/vendor"), target)
            .claim(
                Claim::new(
                    &format!("{project}/calc.php"),
                    &format!("{project}/ClaimedTest.php"),
                    test("ClaimedTest", &body),
                )
                .named("testclaimed"),
            )
            .row(
                5,
                format!("vendor is a link to a directory of the host ({project})"),
                Want::says(project),
            );
    }
    hostile
}

/// The first project's tests put a link in the place of the second project.
fn made_through_a_link() -> Hostile {
    let claimed =
        test("ClaimedTest", "require_once __DIR__ . '/calc.php'; $this->assertEquals(3, half(6));");
    let first = "rename(__DIR__ . '/../b', __DIR__ . '/../gone'); symlink('@HOME@/empty', __DIR__ . '/../b'); \
                 $this->assertTrue(true);";
    let fix = |project: &str| {
        format!(
            "--- a/{project}/calc.php\n+++ b/{project}/calc.php\n@@ -1,2 +1,2 @@\n <?php\n\
             -function half($number) {{ return $number / 3; }}\n\
             +function half($number) {{ return $number / 2; }}\n"
        )
    };
    let mut hostile = Hostile::new("two projects of composer").file(".gitignore", "vendor\n");
    for project in ["a", "b"] {
        hostile = hostile
            .file(&format!("{project}/composer.json"), "{}\n")
            .file(&format!("{project}/calc.php"), CODE)
            .beside(&format!("repo/{project}/vendor/autoload.php"), "<?php\n");
    }
    hostile
        .file("a/OldTest.php", test("OldTest", first))
        .file("b/OldTest.php", test("OldTest", "$this->assertTrue(true);"))
        .claim(
            Claim::new("a/calc.php", "a/ClaimedTest.php", claimed)
                .named("testclaimed")
                .fixed(fix("a") + &fix("b")),
        )
        .review()
        .row(3, "a directory for packages is made behind a link", Want::leaves("empty/vendor"))
}
