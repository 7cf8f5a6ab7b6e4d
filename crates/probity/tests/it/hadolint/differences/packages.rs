//! Differences in rules about packages: versions, confirmation, caches.

use super::{Difference, ours, theirs};

const PINNED: &[&str] =
    &["DL3008", "DL3013", "DL3016", "DL3018", "DL3028", "DL3033", "DL3037", "DL3041", "DL3062"];
const CLEANED: &[&str] = &["DL3009", "DL3019", "DL3032", "DL3036", "DL3040", "DL3042", "DL3060"];

pub(super) const ROWS: &[Difference] = &[
    theirs(PINNED, "hadolint takes the program after `exec` or `command` for a package.", |seen| {
        seen.has(&["exec ", "command "])
    }),
    theirs(
        CLEANED,
        "Files that a stage leaves behind are not in the image if the stage only serves `COPY --from`.",
        |seen| !seen.is_in_last_stage(),
    ),
    ours(
        &["DL3009"],
        "Lists that are removed before the update come back, and other directories do not contain them.",
        |seen| seen.has(&["rm -rf"]),
    ),
    theirs(CLEANED, "Any way of removing the cache in the same layer is enough.", |seen| {
        seen.has(&["rm -r", "rm /", "find ", "purge"])
    }),
    theirs(
        CLEANED,
        "A cache or memory mount over the directory, or over one above it, is enough.",
        |seen| seen.has(&["--mount="]),
    ),
    theirs(
        &["DL3032", "DL3036", "DL3040", "DL3060"],
        "A cleaning after the last install counts, even if there is another one before it.",
        |seen| seen.has(&["clean && ", "cc && ", "clean all && "]),
    ),
    ours(
        &["DL3060", "DL3036"],
        "A mount over a part of the cache leaves the rest in the image.",
        |seen| seen.has(&["--mount="]),
    ),
    ours(
        &["DL3030", "DL3032", "DL3034", "DL3036", "DL3038", "DL3040"],
        "Upgrades and reinstallations also download packages and ask for confirmation.",
        |seen| {
            seen.has(&[
                "update",
                "upgrade",
                "reinstall",
                "groupinstall",
                "localinstall",
                "dup",
                "dist-upgrade",
                " up ",
                "patch",
                "rei ",
            ])
        },
    ),
    ours(&["DL3038", "DL3041", "DL3040"], "`dnf in`, `dnf5` and `tdnf` are dnf too.", |seen| {
        seen.has(&["dnf in ", "dnf -y in", "dnf5", "tdnf", "dnf"])
    }),
    ours(
        &["DL3034", "DL3036", "DL3037"],
        "`zypper source-install` installs packages too.",
        |seen| seen.has(&["source-install", "zypper si", "zypper -n si", "zypper -n source"]),
    ),
    ours(
        &["DL3060"],
        "`yarn`, `yarn add` and `yarn upgrade` also fill the cache, and `yarn cache dir` does not empty it.",
        |seen| seen.has(&["yarn"]),
    ),
    theirs(
        &["DL3060"],
        "`yarn run install` and `yarn info install` do not install packages.",
        |seen| seen.has(&["run install", "info install", "cache install"]),
    ),
    theirs(&["DL3042"], "`pip-compile` does not install packages.", |seen| {
        seen.has(&["pip-compile"])
    }),
    theirs(
        &["DL3042"],
        "Quotes do not change the value of `PIP_NO_CACHE_DIR`, and `ARG` sets it too.",
        |seen| {
            seen.has(&["PIP_NO_CACHE_DIR=\"1\"", "--no-cache-dir=true"])
                || seen.file_has(&["ARG PIP_NO_CACHE_DIR", "PIP_NO_CACHE_DIR=$A"])
        },
    ),
    theirs(&["DL3042"], "`--no-cache-dir` switches the cache off whatever its value is.", |seen| {
        seen.has(&["--no-cache-dir="])
    }),
    ours(
        &["DL3042"],
        "The value of `PIP_NO_CACHE_DIR` that is set last counts, and only an exported one.",
        |seen| seen.file_has(&["PIP_NO_CACHE_DIR=0"]) || seen.has(&["PIP_NO_CACHE_DIR=1 &&"]),
    ),
    ours(&["DL3042"], "BuildKit does not expand `~` in the target of a mount.", |seen| {
        seen.has(&["target=~"])
    }),
    ours(&["DL3013", "DL3042"], "`uv pip` is pip too.", |seen| seen.has(&["uv pip"])),
    ours(
        &["DL3014", "DL3015", "DL3030", "DL3038", "DL3042"],
        "Words after `--` are not flags.",
        |seen| seen.has(&["-- "]),
    ),
    ours(&["DL3014", "DL3015", "DL3008"], "`apt-get reinstall` installs packages too.", |seen| {
        seen.has(&["reinstall"])
    }),
    theirs(
        &["DL3014"],
        "`-qqq`, `-q --quiet` and `--quiet=2` imply `-y`, as `-qq` does.",
        |seen| seen.has(&["-qqq", "-q --quiet", "--quiet=2"]),
    ),
    ours(
        &["DL3032"],
        "Packages that are installed after the cleaning leave their downloads behind.",
        |seen| seen.has(&["clean all && yum install"]),
    ),
    theirs(
        &["DL3015"],
        "Every spelling of the option `APT::Install-Recommends=false` is accepted.",
        |seen| seen.has(&["nstall-"]),
    ),
    theirs(PINNED, "The value of a flag is not a package.", |seen| {
        seen.has(&[
            " -c ",
            " -a ",
            " -x ",
            " -p ",
            " -r ",
            " -t ",
            " -R ",
            " -C ",
            "-tags ",
            "-ldflags",
            "--root",
            "--prefix",
            "--enablerepo ",
            "--disablerepo ",
            "--setopt ",
            "--releasever ",
            "--installroot ",
            "--keys-dir",
            "--repositories-file",
            "--wait",
            "--arch",
            "--cache",
            "--progress-fd",
            "--timeout",
            "--log",
            "--retries",
            "--cert",
            "--global-option",
            "--install-option",
            "--exists-action",
            "--omit",
            "--only",
            "--repo",
            "--from",
            "--src",
            "--implementation",
            "--python-version",
            "--abi",
        ])
    }),
    theirs(PINNED, "Words after `--` are packages, and `--` itself is not one.", |seen| {
        seen.has(&[" -- "])
    }),
    theirs(PINNED, "A local file or directory has no version to pin.", |seen| {
        seen.has(&[
            ".deb",
            ".rpm",
            ".gem",
            ".whl",
            ".zip",
            ".tar",
            ".[",
            "install .",
            "file:",
            "./",
            "apk add --no-cache /",
            " ...",
        ])
    }),
    theirs(
        &["DL3013", "DL3016", "DL3033", "DL3041"],
        "A URL names one source, so probity leaves it alone, also without a commit in it.",
        |seen| seen.has(&["://"]),
    ),
    theirs(&["DL3033", "DL3041"], "A group or the stream of a module is not a version.", |seen| {
        seen.has(&["group install", "@a"])
    }),
    ours(&["DL3033", "DL3041"], "`reinstall` and `localinstall` take versions too.", |seen| {
        seen.has(&["reinstall", "localinstall"])
    }),
    ours(&["DL3013"], "A requirements file does not pin the packages beside it.", |seen| {
        seen.has(&["-r "])
    }),
    ours(&["DL3016"], "`npm i`, `npm add` and `npm ci` are `npm install` too.", |seen| {
        seen.has(&["npm i ", "npm add", "npm ci"])
    }),
    ours(
        &["DL3028"],
        "A switch such as `--no-document` does not take the package after it for its value.",
        |seen| seen.has(&["-N", "--no-document", "--user-install", "--prerelease", "--local"]),
    ),
    theirs(&["DL3028"], "`-v1` gives a version, as `-v 1` does.", |seen| seen.has(&["-v1"])),
    theirs(
        &["DL3062"],
        "`@latest` and `@none` are choices, and `go run` does not install anything.",
        |seen| seen.has(&["@latest", "@none", "go run"]),
    ),
    ours(&["DL3062"], "An empty version or a range is not a version.", |seen| {
        seen.has(&["@ ", "@>=", "@\n", "c@"])
    }),
];
