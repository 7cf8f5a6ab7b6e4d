//! Java: what Maven and Gradle made is copied from the copy of the repository to the next one.

use super::table::{Claim, Hostile, Want};

const CODE: &str = "public class Calc {\n    static int half(int it) { return it / 3; }\n}\n";

const TEST: &str = "class ClaimedTest {  // @NUMBER@\n    @Test\n    void claimed() {}\n}\n";

/// Each build tool, its file, and the directory that it fills.
const TOOLS: [(&str, &str, &str); 2] =
    [("mvn", "pom.xml", "target"), ("gradle", "build.gradle", "build")];

/// What a build does in its project, which is named after it; `@OUT@` is the directory that it fills.
const BUILDS: [(&str, &str); 3] = [
    (
        "over",
        "mkdir -p @OUT@ /proof/build/@OUT@; echo evil > @OUT@/note; \
         ln -s @HOME@/@TOOL@-precious /proof/build/@OUT@/note",
    ),
    (
        "into",
        "mkdir -p @OUT@; echo evil > @OUT@/@TOOL@-left; rm -rf /proof/build/@OUT@; \
         ln -s @HOME@/empty /proof/build/@OUT@",
    ),
    (
        "read",
        "case \"$*\" in *est-compile*|*testClasses*) rm -rf /proof/build/@OUT@; \
         ln -s @HOME@/secret /proof/build/@OUT@;; *) cat @OUT@/@TOOL@; exit 1;; esac",
    ),
];

pub(super) fn repositories() -> Vec<Hostile> {
    let script = "exec /bin/sh \"$PWD/build.sh\" \"$@\"";
    let mut hostile = Hostile::new("build tools").stand_in("javac", "exit 1");
    for (tool, file, out) in TOOLS {
        hostile = hostile.stand_in(tool, script);
        for (name, build) in BUILDS {
            let project = format!("{tool}-{name}");
            let build = build.replace("@OUT@", out).replace("@TOOL@", tool);
            let code = format!("{project}/src/main/java/Calc.java");
            hostile = hostile
                .file(&format!("{project}/{file}"), "")
                .file(&format!("{project}/build.sh"), build)
                .file(&code, CODE)
                .claim(Claim::new(&code, "", TEST));
        }
        hostile = hostile
            .row(
                3,
                format!("{tool}: what was built is copied over a link to a file"),
                Want::changes(&format!("{tool}-precious")),
            )
            .row(
                3,
                format!("{tool}: what was built is copied into a link to a directory"),
                Want::leaves(&format!("empty/{tool}-left")),
            )
            .row(
                3,
                format!("{tool}: a directory of the host is copied for tests"),
                Want::says(tool),
            );
    }
    vec![hostile.review()]
}
