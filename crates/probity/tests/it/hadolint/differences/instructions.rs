//! Differences in rules about single instructions and stages.

use probity_dockerfile::Keyword;

use super::{Difference, ours, theirs};

pub(super) const ROWS: &[Difference] = &[
    ours(&["DL4005"], "`/usr/bin/sh` is `/bin/sh` on a system with merged directories.", |seen| {
        seen.has(&["/usr/bin/sh"])
    }),
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
    theirs(&["DL4006"], "A list of words has no shell, so `|` is only a word.", |seen| {
        seen.has(&["RUN [\""])
    }),
    ours(&["DL4006"], "Two parentheses can be two subshells.", |seen| seen.has(&["(("])),
];
