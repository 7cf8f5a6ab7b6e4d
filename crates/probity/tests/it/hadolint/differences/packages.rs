//! Differences in rules about packages: versions, confirmation, caches.

use super::{Difference, ours, theirs};

const PINNED: &[&str] =
    &["DL3008", "DL3013", "DL3016", "DL3018", "DL3028", "DL3033", "DL3037", "DL3041", "DL3062"];
const CLEANED: &[&str] = &["DL3009", "DL3019", "DL3032", "DL3036", "DL3040", "DL3042", "DL3060"];

pub(super) const ROWS: &[Difference] = &[
    theirs(
        PINNED,
        "hadolint mistakes the program after `exec` or `command` for a package.",
        |seen| seen.has(&["exec ", "command "]),
    ),
    theirs(
        CLEANED,
        "probity ignores stages that only serve `COPY --from`, because the image does not contain their caches.",
        |seen| !seen.is_in_last_stage(),
    ),
    ours(
        &["DL3009"],
        "probity accepts only a removal of `/var/lib/apt/lists` after the update; an earlier one has no effect.",
        |seen| seen.has(&["rm -rf"]),
    ),
    theirs(
        CLEANED,
        "probity accepts every command that removes the cache in the same `RUN`.",
        |seen| seen.has(&["rm -r", "rm /", "find ", "purge"]),
    ),
    theirs(
        CLEANED,
        "probity accepts a cache or tmpfs mount over the cache directory or one of its parents.",
        |seen| seen.has(&["--mount="]),
    ),
    theirs(
        &["DL3032", "DL3036", "DL3040", "DL3060"],
        "probity accepts a cleanup after the last installation, even if another cleanup comes before it.",
        |seen| seen.has(&["clean && ", "cc && ", "clean all && "]),
    ),
    ours(
        &["DL3060", "DL3036"],
        "probity does not accept a mount over a part of the cache, because the rest stays in the image.",
        |seen| seen.has(&["--mount="]),
    ),
    ours(
        &["DL3030", "DL3032", "DL3034", "DL3036", "DL3038", "DL3040"],
        "probity also checks upgrades and reinstallations, because they download packages and ask for confirmation.",
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
    ours(
        &["DL3038", "DL3041", "DL3040"],
        "probity also checks `dnf in`, `dnf5` and `tdnf`.",
        |seen| seen.has(&["dnf in ", "dnf -y in", "dnf5", "tdnf", "dnf"]),
    ),
    ours(
        &["DL3034", "DL3036", "DL3037"],
        "probity also checks `zypper source-install`, which installs packages.",
        |seen| seen.has(&["source-install", "zypper si", "zypper -n si", "zypper -n source"]),
    ),
    ours(
        &["DL3060"],
        "probity also checks `yarn`, `yarn add` and `yarn upgrade`, and does not accept `yarn cache dir` as a cleanup.",
        |seen| seen.has(&["yarn"]),
    ),
    theirs(
        &["DL3060"],
        "probity ignores `yarn run install` and `yarn info install`, which do not install packages.",
        |seen| seen.has(&["run install", "info install", "cache install"]),
    ),
    theirs(
        &["DL3042"],
        "probity ignores `pip-compile`, which does not install packages.",
        |seen| seen.has(&["pip-compile"]),
    ),
    theirs(
        &["DL3042"],
        "probity also accepts a `PIP_NO_CACHE_DIR` in quotes or in an `ARG`.",
        |seen| {
            seen.has(&["PIP_NO_CACHE_DIR=\"1\"", "--no-cache-dir=true"])
                || seen.file_has(&["ARG PIP_NO_CACHE_DIR", "PIP_NO_CACHE_DIR=$A"])
        },
    ),
    theirs(&["DL3042"], "probity accepts `--no-cache-dir` with any value.", |seen| {
        seen.has(&["--no-cache-dir="])
    }),
    ours(
        &["DL3042"],
        "probity uses the last value of `PIP_NO_CACHE_DIR`, and ignores shell variables that are not exported.",
        |seen| seen.file_has(&["PIP_NO_CACHE_DIR=0"]) || seen.has(&["PIP_NO_CACHE_DIR=1 &&"]),
    ),
    ours(
        &["DL3042"],
        "probity does not accept a mount over `~`, because BuildKit does not expand `~`.",
        |seen| seen.has(&["target=~"]),
    ),
    ours(&["DL3013", "DL3042"], "probity also checks `uv pip`.", |seen| seen.has(&["uv pip"])),
    ours(
        &["DL3014", "DL3015", "DL3030", "DL3038", "DL3042"],
        "probity does not read words after `--` as flags.",
        |seen| seen.has(&["-- "]),
    ),
    ours(
        &["DL3014", "DL3015", "DL3008"],
        "probity also checks `apt-get reinstall`, which installs packages.",
        |seen| seen.has(&["reinstall"]),
    ),
    theirs(
        &["DL3014"],
        "probity also accepts `-qqq`, `-q --quiet` and `--quiet=2`, which imply `-y` as `-qq` does.",
        |seen| seen.has(&["-qqq", "-q --quiet", "--quiet=2"]),
    ),
    ours(
        &["DL3032"],
        "probity also checks installations after the cleanup, because their downloads stay in the image.",
        |seen| seen.has(&["clean all && yum install"]),
    ),
    theirs(
        &["DL3015"],
        "probity accepts every spelling of the option `APT::Install-Recommends=false`.",
        |seen| seen.has(&["nstall-"]),
    ),
    theirs(PINNED, "hadolint mistakes the value of some flags for a package.", |seen| {
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
    theirs(PINNED, "hadolint mistakes `--` for a package.", |seen| seen.has(&[" -- "])),
    theirs(
        PINNED,
        "probity ignores local files and directories, because they have no version to pin.",
        |seen| {
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
        },
    ),
    theirs(
        &["DL3013", "DL3016", "DL3033", "DL3041"],
        "probity ignores a URL, with or without a commit, because it names one source.",
        |seen| seen.has(&["://"]),
    ),
    theirs(
        &["DL3033", "DL3041"],
        "probity ignores package groups, which have no version, and accepts the stream of a module.",
        |seen| seen.has(&["group install", "@a"]),
    ),
    ours(
        &["DL3033", "DL3041"],
        "probity also checks `reinstall` and `localinstall`, which accept versions.",
        |seen| seen.has(&["reinstall", "localinstall"]),
    ),
    ours(
        &["DL3013"],
        "probity also checks packages in a call with a requirements file, because the file does not pin them.",
        |seen| seen.has(&["-r "]),
    ),
    ours(&["DL3016"], "probity also checks `npm i`, `npm add` and `npm ci`.", |seen| {
        seen.has(&["npm i ", "npm add", "npm ci"])
    }),
    ours(
        &["DL3028"],
        "probity also checks the package after a flag without a value, such as `--no-document`.",
        |seen| seen.has(&["-N", "--no-document", "--user-install", "--prerelease", "--local"]),
    ),
    theirs(&["DL3028"], "probity also accepts a version without a space: `-v1`.", |seen| {
        seen.has(&["-v1"])
    }),
    theirs(
        &["DL3062"],
        "probity accepts `@latest` and `@none` as versions, and ignores `go run`, which does not install anything.",
        |seen| seen.has(&["@latest", "@none", "go run"]),
    ),
    ours(&["DL3062"], "probity does not accept an empty version or a range.", |seen| {
        seen.has(&["@ ", "@>=", "@\n", "c@"])
    }),
];
