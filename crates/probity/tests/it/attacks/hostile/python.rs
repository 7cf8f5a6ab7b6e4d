//! Python: the environments that a repository brings, and what the machine's interpreter imports.

use super::table::{Claim, Hostile, Want, mark};

const CODE: &str = "def half(number):\n    return number / 3\n";

/// What a program of the repository's, run in the sandbox, leaves in the directory for what a run writes.
const LEAVES: &str = "mkdir -p /proof/out";

/// The kernel is asked, whatever it answers, unless the sandbox refuses.
const PAIR: &str = "import errno, socket\n\ndef test_claimed():\n    try:\n        \
    socket.socketpair(socket.AF_INET)\n    except OSError as error:\n        \
    assert error.errno == errno.EPERM, \"-\".join([\"kernel\", \"was\", \"asked\"])\n";

/// Reads the variables of all processes above.
const ENVIRONMENT: &str = "import os\n\ndef test_claimed():\n    process, saw = os.getppid(), \"\"\n    \
    while process > 1:\n        try:\n            saw += open(f\"/proc/{process}/environ\").read()\n        \
    except OSError:\n            pass\n        \
    process = int(open(f\"/proc/{process}/stat\").read().rsplit(\")\")[1].split()[1])\n    \
    assert \"-forge-\".join([\"a\", \"token\"]) not in saw, \"-\".join([\"variables\", \"were\", \"seen\"])\n";

/// A module that shows where it was imported.
fn module(word: &str) -> String {
    let open = |word: &str| format!("open(\"@HOME@/ran/{word}\", \"w\")");
    let keys = format!("\"FORGE_TOKEN\" in os.environ and {}", open(&format!("{word}-key")));
    format!("import os\n{}\n{keys}\ndef dumps(it): return \"{{}}\"\n", open(word))
}

fn claim() -> Claim {
    let code = "def test_claimed():\n    assert False\n";
    Claim::new("calc.py", "test_calc.py", code).named("test_claimed")
}

pub(super) fn repositories() -> Vec<Hostile> {
    let mut all = Vec::new();
    // Each program fails, so that the machine's interpreter is asked next.
    for (directory, name, variable) in [
        (".venv", "json.py", None),
        ("venv", "pytest.py", None),
        ("env", "json/__init__.py", None),
        ("tools/python", "pytest/__init__.py", Some("@REPO@/tools/python")),
    ] {
        let word = directory.replace('/', "-");
        let script = format!(
            "{LEAVES}; cd /proof/out && mkdir -p $(dirname {name}) && cat > {name} <<'END'\n{}END\nexit 1",
            module(&word)
        );
        let mut hostile = Hostile::new("python environment")
            .variant_if(["venv", "env"].contains(&directory))
            .file("calc.py", CODE)
            .file(&format!("{directory}/pyvenv.cfg"), "home = /usr/bin\n")
            .program(&format!("{directory}/bin/python"), script)
            .claim(claim())
            .variable("FORGE_TOKEN", "a-key")
            .review()
            .row(1, format!("{directory} leaves {name} where Python is asked"), Want::runs(&word))
            .row(
                1,
                format!("{directory} leaves {name}, which sees the keys of the caller"),
                Want::runs(&format!("{word}-key")),
            );
        if let Some(value) = variable {
            hostile = hostile.variable("VIRTUAL_ENV", value);
        }
        all.push(hostile);
    }
    all.push(
        Hostile::new("python on the path")
            .file("calc.py", CODE)
            .program("bin/python3", mark("python3"))
            .path("@REPO@/bin")
            .claim(claim())
            .review()
            .row(1, "python3 of a directory of the repository in PATH", Want::runs("python3")),
    );
    // The environment says that it was made from an installation in the home.
    let shows = "case \"$*\" in *import*) exit 0;; esac\ncat @HOME@/private/key >&2; exit 1";
    all.push(
        Hostile::new("python installation")
            .file("calc.py", CODE)
            .file(".venv/pyvenv.cfg", "home = @HOME@/private/bin\n")
            .program(".venv/bin/python", shows)
            .beside("home/private/bin/python3", "#!/bin/sh\n")
            .beside("home/private/key", "kumquat-installation.")
            .claim(claim())
            .review()
            .row(5, "an environment names a directory of the home", Want::says("installation")),
    );
    all.push(
        Hostile::new("socket pairs")
            .file("calc.py", CODE)
            .claim(Claim::new("calc.py", "test_calc.py", PAIR).named("test_claimed"))
            .review()
            .row(
                18,
                "a pair of sockets of another family",
                Want::Reports("kernel-was-asked".to_owned()),
            ),
    );
    all.push(
        Hostile::new("without a sandbox")
            .file("calc.py", CODE)
            .stand_in("bwrap", "exit 1")
            .variable("PROBITY_REVIEW__SANDBOX", "none")
            .variable("FORGE_TOKEN", "a-forge-token")
            .claim(Claim::new("calc.py", "test_calc.py", ENVIRONMENT).named("test_claimed"))
            .review()
            .row(
                8,
                "a test reads the variables of probity",
                Want::Reports("variables-were-seen".to_owned()),
            ),
    );
    all
}
