//! The rows: which rules, who alone reports it, why, and what the difference is recognized by.

use probity_dockerfile::Keyword;

use super::{Difference, Seen, Side};

const fn theirs(
    codes: &'static [&'static str],
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { codes, side: Side::Theirs, reason, holds }
}

const fn ours(
    codes: &'static [&'static str],
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { codes, side: Side::Ours, reason, holds }
}

const PINNED: &[&str] =
    &["DL3008", "DL3013", "DL3016", "DL3018", "DL3028", "DL3033", "DL3037", "DL3041", "DL3062"];
const CLEANED: &[&str] = &["DL3009", "DL3019", "DL3032", "DL3036", "DL3040", "DL3042", "DL3060"];
const LABELS: &[&str] = &["DL3052", "DL3053", "DL3054", "DL3055", "DL3056", "DL3058"];

pub(in super::super) const DIFFERENCES: &[Difference] = &[
    theirs(&[], "PowerShell and `cmd` scripts are not read as POSIX shell.", |seen| {
        seen.file_has(&[
            "SHELL [\"powershell\"",
            "SHELL [\"pwsh\"",
            "SHELL [\"cmd\"",
            "hadolint shell=powershell",
            "hadolint shell=pwsh",
            "hadolint shell=cmd",
        ])
    }),
    ours(&["DL4005"], "`/usr/bin/sh` is `/bin/sh` on a system with merged directories.", |seen| {
        seen.has(&["/usr/bin/sh"])
    }),
    ours(
        &[],
        "probity looks at the program that `sudo`, `env`, `nice`, `timeout`, `xargs`, `exec` or `sh -c` runs, and at programs with a path.",
        |seen| {
            seen.has(&[
                "sudo", "env ", "nice ", "timeout ", "xargs ", "exec ", "command ", "/bin/",
                "/sbin/", "./", "bash -c", "bash -ec", "\"-c\", ",
            ])
        },
    ),
    theirs(
        &[
            "DL3008", "DL3013", "DL3016", "DL3018", "DL3028", "DL3033", "DL3037", "DL3041",
            "DL3062", "DL3009", "DL3019", "DL3032", "DL3036", "DL3040", "DL3042", "DL3060",
            "DL3014", "DL3030", "DL3034", "DL3038", "DL3015", "DL3035", "DL4005",
        ],
        "A word in a variable can be a flag, a subcommand or a pinned package, so probity leaves it alone.",
        |seen| seen.has(&["$"]),
    ),
    theirs(PINNED, "hadolint takes the program after `exec` or `command` for a package.", |seen| {
        seen.has(&["exec ", "command "])
    }),
    theirs(
        CLEANED,
        "Files that a stage leaves behind are not in the image if the stage only serves `COPY --from`.",
        |seen| !seen.is_in_last_stage(),
    ),
    theirs(
        &["DL3049", "DL3057"],
        "Only the image that the last stage builds is checked.",
        |seen| !seen.is_last_stage(),
    ),
    ours(&["DL3057"], "The health check of another stage does not count.", |seen| {
        seen.is_last_stage()
    }),
    ours(
        &["DL3059"],
        "The name of the base image does not change which instructions can be joined.",
        |seen| seen.file_has(&["windows/"]),
    ),
    ours(
        &["DL3049"],
        "A stage that copies from itself is still an image without the label.",
        |seen| seen.has(&["FROM"]),
    ),
    ours(&["DL1001"], "A pragma for the file or for a stage is also an inline pragma.", |seen| {
        seen.has(&["global", "stage"])
    }),
    theirs(
        &["DL3003", "DL3006"],
        "Pragmas work in any case, in a group of several, and with a blank line after them.",
        |seen| {
            seen.file_has(&["HADOLINT ignore", "Hadolint ignore", "stage ignore", "ignore=DL3003"])
        },
    ),
    theirs(
        &["DL3000"],
        "A relative `WORKDIR` after an absolute one has a known meaning.",
        |seen| seen.count_before(Keyword::Workdir) > 0,
    ),
    ours(
        &["DL3000"],
        "A drive letter is part of an ordinary directory name on Linux, as BuildKit reports.",
        |seen| seen.has(&[":\\", ":/", "C:", "c:", "D:"]),
    ),
    ours(
        &["DL3000"],
        "A dollar sign that does not begin a variable is part of a relative path.",
        |seen| seen.has(&["'$A'", "WORKDIR $"]),
    ),
    ours(&["DL3002"], "`USER \"root\"` is root too.", |seen| seen.has(&["\"root\""])),
    theirs(
        &["DL3002"],
        "Only the last user of the image counts, and an entrypoint script may start as root on purpose.",
        |seen| !seen.is_in_last_stage() || seen.file_has(&["entrypoint"]),
    ),
    theirs(&["DL3003"], "A `cd` in a subshell does not outlive it.", |seen| seen.has(&["("])),
    ours(&["DL3006", "DL3026"], "The number after a host is a port, not a tag.", |seen| {
        seen.has(&[":5000/", "localhost"])
    }),
    theirs(&["DL3006"], "A variable in an image name can contain the tag.", |seen| {
        seen.has(&["$"])
    }),
    theirs(
        &["DL3045"],
        "An image that is made from nothing starts in its root directory.",
        |seen| seen.is_from_scratch(),
    ),
    theirs(
        &["DL3006", "DL3022", "DL3045", "DL3057"],
        "Stage names are case-insensitive, as in BuildKit; an image name with capitals is not valid.",
        |seen| seen.file_has(&["FROM A", "AS A", "as A"]) || seen.has(&["--from=A", "Alpine"]),
    ),
    ours(&["DL3007"], "The default of a variable is a tag too.", |seen| seen.has(&[":-latest"])),
    ours(
        &["DL3009"],
        "Lists that are removed before the update come back, and other directories do not contain them.",
        |seen| seen.has(&["rm -rf"]),
    ),
    theirs(CLEANED, "Removing the cache in the same layer, in whatever way, is enough.", |seen| {
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
    theirs(&["DL3010"], "The archive that is unpacked must be the one that was copied.", |seen| {
        seen.has(&["COPY"])
    }),
    ours(
        &["DL3010"],
        "`tar xf`, `--file=` and other programs unpack archives too, also from a subdirectory.",
        |seen| seen.has(&["COPY"]),
    ),
    ours(
        &["DL3012", "DL4003", "DL4004"],
        "Of several instructions the ones without effect are reported; hadolint reports those after the first.",
        |seen| seen.repeated(),
    ),
    theirs(
        &["DL3012", "DL4003", "DL4004"],
        "Of several instructions the ones without effect are reported; hadolint reports those after the first.",
        |seen| seen.repeated(),
    ),
    theirs(
        &["DL3020"],
        "`ADD` also fetches from git, ssh and ftp, and only `ADD` has the flags for it.",
        |seen| {
            seen.has(&[
                "git@",
                "git://",
                "ssh://",
                "ftp://",
                "HTTP://",
                "--checksum",
                "--keep-git-dir",
                "--unpack",
            ])
        },
    ),
    theirs(&["DL3020"], "A variable can contain a URL.", |seen| seen.has(&["$"])),
    theirs(&["DL3020"], "`ADD` unpacks Zstandard archives.", |seen| seen.has(&[".zst", ".tzst"])),
    theirs(
        &["DL3021"],
        "`.` and `..` are directories, and a variable can end with a slash.",
        |seen| seen.has(&[" .", " \".\"", "$", " .."]),
    ),
    theirs(&["DL3022"], "An image can be copied from, and a variable can name a stage.", |seen| {
        seen.has(&["--from=$", "--from=b", "--from=scratch", "--from=\"a\"", "--from=evil"])
    }),
    ours(&["DL3023"], "A stage can be named by its number, in any case and in quotes.", |seen| {
        seen.has(&["--from="])
    }),
    ours(&["DL3024", "DL3063"], "Stage names are case-insensitive, as in BuildKit.", |seen| {
        seen.has(&["FROM"])
    }),
    theirs(&["DL3025"], "The command of a `HEALTHCHECK` may use a shell.", |seen| {
        seen.is(Keyword::Healthcheck)
    }),
    theirs(
        &["DL3025"],
        "A stage that sets `SHELL` wants its commands to run in that shell.",
        |seen| seen.file_has(&["SHELL ["]),
    ),
    ours(&["DL3026"], "A registry can come from a variable with a default.", |seen| {
        seen.has(&["$"])
    }),
    theirs(
        &["DL3026"],
        "`index.docker.io` is Docker Hub, and a name without a dot is not a registry.",
        |seen| seen.has(&["index.docker.io", "a/docker.io"]),
    ),
    theirs(
        &["DL3029"],
        "Only a constant platform that exists is reported, unless the stage is named after it; see BuildKit's FromPlatformFlagConstDisallowed.",
        |seen| seen.has(&["--platform="]),
    ),
    ours(&["DL3044"], "A variable with a modifier is a variable too.", |seen| seen.has(&["${"])),
    ours(
        &["DL3044"],
        "A variable of another stage, or of an `ARG` before `FROM`, is not known in this one.",
        |seen| seen.file_has(&["FROM a", "AS a", "AS x", "ARG A"]),
    ),
    theirs(&["DL3044"], "Every image has a `PATH`.", |seen| seen.has(&["$PATH"])),
    theirs(
        &["DL3044"],
        "A dollar sign that is escaped or in single quotes does not begin a variable.",
        |seen| seen.has(&["\\$", "'$", "$$"]),
    ),
    ours(&["DL3046"], "`--uid` and `-u123456` are `-u` too.", |seen| seen.has(&["--uid", "-u1"])),
    theirs(&["DL3046"], "The default of a variable is not its value.", |seen| seen.has(&["${U"])),
    theirs(
        &["DL3047"],
        "`wget --help`, `wget --version` and `wget` alone do not download anything.",
        |seen| seen.has(&["--version", "--help", "wget"]),
    ),
    ours(&["DL3047"], "Words after `--` are not flags.", |seen| seen.has(&["-- "])),
    theirs(&["DL3048", "DL3050"], "A variable can be a label key.", |seen| seen.has(&["$"])),
    ours(&["DL3048"], "A slash is not allowed in a label key.", |seen| seen.has(&["a/b"])),
    ours(&["DL3051"], "A value of spaces is empty.", |seen| seen.has(&["=\" \"", "text \"\""])),
    theirs(LABELS, "An empty value is reported once, by DL3051.", |seen| {
        seen.has(&["=\n", "= ", "=\"\"", "=''"])
    }),
    theirs(LABELS, "A value with a variable is only known during the build.", |seen| {
        seen.has(&["$"])
    }),
    theirs(LABELS, "An empty value is reported once, by DL3051.", |seen| {
        seen.source().ends_with('=')
    }),
    ours(&["DL3052"], "A URL has a host.", |seen| seen.has(&["url="])),
    ours(
        &["DL3053"],
        "A time has the exact form of RFC 3339: four digits for the year, a colon in the offset, no spaces.",
        |seen| seen.has(&["rfc3339="]),
    ),
    theirs(
        &["DL3054"],
        "Every SPDX expression is accepted, with operators, exceptions, references and deprecated names.",
        |seen| seen.has(&["spdx="]),
    ),
    theirs(&["DL3055"], "A hash can be of any length from 7 digits, and in capitals.", |seen| {
        seen.has(&["hash="])
    }),
    ours(
        &["DL3056"],
        "Numbers of a semantic version have no leading zeros, and its parts are not empty.",
        |seen| seen.has(&["semver="]),
    ),
    ours(&["DL3058"], "Addresses in brackets, quoted names and spaces are not accepted.", |seen| {
        seen.has(&["email="])
    }),
    theirs(
        &["DL3061"],
        "BuildKit stops at the first instruction before `FROM`, so only that one is reported.",
        |_| true,
    ),
    ours(&["DL3064"], "The words are BuildKit's, and an `ARG` can have several names.", |seen| {
        seen.is(Keyword::Arg) || seen.is(Keyword::Env)
    }),
    theirs(
        &["DL3064"],
        "The words are BuildKit's; files, switches, empty values and names of something else are not secrets.",
        |seen| seen.is(Keyword::Arg) || seen.is(Keyword::Env),
    ),
    ours(&["DL3065"], "Quotes and a default do not change what the variable is.", |seen| {
        seen.has(&["TARGETPLATFORM"])
    }),
    theirs(
        &["DL3066"],
        "`root` is 0 everywhere, quotes do not matter, and a variable can be a number.",
        |seen| {
            seen.has_word("root")
                || seen.has_word("$")
                || seen.has_word("0")
                || seen.has_word("1000")
        },
    ),
    ours(&["DL3066"], "A user must come before the colon.", |seen| seen.has(&["USER :"])),
    ours(&["DL3067"], "`/.` and `/*` are the whole file system too.", |seen| {
        seen.has(&["/.", "/*"])
    }),
    theirs(
        &["DL3067"],
        "An empty image that takes everything is a way to squash layers.",
        |seen| seen.is_from_scratch(),
    ),
    theirs(&["DL4001"], "Only uses of the second program are reported.", |seen| {
        seen.has(&["curl"])
    }),
    theirs(&["DL4005"], "Only a link that replaces `sh` is reported.", |seen| {
        seen.has(&["ln -s /bin/sh", "$"])
    }),
    theirs(&["DL4006"], "A command that sets `pipefail` itself is left alone.", |seen| {
        seen.has(&["pipefail"])
    }),
    theirs(&["DL4006"], "Other shells that know `pipefail` count, and Windows has none.", |seen| {
        seen.file_has(&["SHELL [", "windows/"])
    }),
    theirs(&["DL4006"], "A list of words has no shell, so that `|` is only a word.", |seen| {
        seen.has(&["RUN [\""])
    }),
    ours(&["DL4006"], "Two parentheses can be two subshells.", |seen| seen.has(&["(("])),
];
