//! Differences in rules about single instructions and stages.

use probity_dockerfile::Keyword;

use super::{Difference, ours, theirs};

pub(super) const ROWS: &[Difference] = &[
    ours(
        &["DL4005"],
        "probity also checks `/usr/bin/sh`, because many systems have `/bin` as a link to `/usr/bin`.",
        |seen| seen.has(&["/usr/bin/sh"]),
    ),
    theirs(
        &["DL3049", "DL3057"],
        "probity checks only the last stage, because the other stages are not in the final image.",
        |seen| !seen.is_last_stage(),
    ),
    ours(
        &["DL3057"],
        "probity does not accept a `HEALTHCHECK` in a stage that the last stage is not based on.",
        |seen| seen.is_last_stage(),
    ),
    ours(
        &["DL3059"],
        "probity also checks Windows images, because their `RUN` instructions can be joined too.",
        |seen| seen.file_has(&["windows/"]),
    ),
    ours(
        &["DL3049"],
        "probity also checks a stage that copies from itself, because its image lacks the label too.",
        |seen| seen.has(&["FROM"]),
    ),
    ours(
        &["DL1001"],
        "probity also checks `global ignore` and `stage ignore`, which are inline pragmas too.",
        |seen| seen.has(&["global", "stage"]),
    ),
    theirs(
        &["DL3003", "DL3006"],
        "probity also applies pragmas in any case, several pragmas together, and pragmas with a blank line after them.",
        |seen| {
            seen.file_has(&["HADOLINT ignore", "Hadolint ignore", "stage ignore", "ignore=DL3003"])
        },
    ),
    theirs(
        &["DL3000"],
        "probity ignores a relative `WORKDIR` after an absolute one, because its full path is known.",
        |seen| seen.count_before(Keyword::Workdir) > 0,
    ),
    ours(
        &["DL3000"],
        "probity reports a path with a drive letter, because it is a relative path on Linux. BuildKit reports it too.",
        |seen| seen.has(&[":\\", ":/", "C:", "c:", "D:"]),
    ),
    ours(
        &["DL3000"],
        "probity reports a path that begins with a dollar sign but not with a variable, because it is relative.",
        |seen| seen.has(&["'$A'", "WORKDIR $"]),
    ),
    ours(&["DL3002"], "probity also reads a name in quotes: `USER \"root\"`.", |seen| {
        seen.has(&["\"root\""])
    }),
    theirs(
        &["DL3002"],
        "probity checks only the last `USER` of the image, and ignores images whose entrypoint script may change the user.",
        |seen| !seen.is_in_last_stage() || seen.file_has(&["entrypoint"]),
    ),
    theirs(
        &["DL3003"],
        "probity ignores a `cd` in a subshell, because it ends with the subshell.",
        |seen| seen.has(&["("]),
    ),
    ours(
        &["DL3006", "DL3026"],
        "probity reads the number after a host name as a port, not as a tag.",
        |seen| seen.has(&[":5000/", "localhost"]),
    ),
    theirs(
        &["DL3006"],
        "probity ignores an image name with a variable, because the variable can contain the tag.",
        |seen| seen.has(&["$"]),
    ),
    theirs(
        &["DL3045"],
        "probity ignores stages from `scratch`, because they always start in `/`.",
        |seen| seen.is_from_scratch(),
    ),
    theirs(
        &["DL3006", "DL3022", "DL3045", "DL3057"],
        "probity ignores the case of stage names, as BuildKit does.",
        |seen| seen.file_has(&["FROM A", "AS A", "as A"]) || seen.has(&["--from=A", "Alpine"]),
    ),
    ours(&["DL3007"], "probity also checks the default of a variable: `${TAG:-latest}`.", |seen| {
        seen.has(&[":-latest"])
    }),
    theirs(
        &["DL3010"],
        "probity reports a `COPY` only if the `RUN` unpacks the same archive.",
        |seen| seen.has(&["COPY"]),
    ),
    ours(
        &["DL3010"],
        "probity also recognizes `tar xf`, `--file=`, other programs that unpack archives, and archives in a subdirectory.",
        |seen| seen.has(&["COPY"]),
    ),
    ours(
        &["DL3012", "DL4003", "DL4004"],
        "probity reports the earlier instructions, which have no effect. hadolint reports every instruction after the first.",
        |seen| seen.repeated(),
    ),
    theirs(
        &["DL3012", "DL4003", "DL4004"],
        "probity reports the earlier instructions, which have no effect. hadolint reports every instruction after the first.",
        |seen| seen.repeated(),
    ),
    theirs(
        &["DL3020"],
        "probity ignores Git, SSH and FTP sources and flags that only `ADD` has, because `COPY` cannot replace them.",
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
    theirs(
        &["DL3020"],
        "probity ignores a source with a variable, because the variable can contain a URL.",
        |seen| seen.has(&["$"]),
    ),
    theirs(
        &["DL3020"],
        "probity ignores Zstandard archives, because `ADD` unpacks them.",
        |seen| seen.has(&[".zst", ".tzst"]),
    ),
    theirs(
        &["DL3021"],
        "probity ignores `.` and `..`, which are directories, and a variable, which can end with a slash.",
        |seen| seen.has(&[" .", " \".\"", "$", " .."]),
    ),
    theirs(
        &["DL3022"],
        "probity accepts images, stage names in quotes, and names with a variable, which can be a stage.",
        |seen| seen.has(&["--from=$", "--from=b", "--from=scratch", "--from=\"a\"", "--from=evil"]),
    ),
    ours(
        &["DL3023"],
        "probity also recognizes a stage by its number, in another case and in quotes.",
        |seen| seen.has(&["--from="]),
    ),
    ours(
        &["DL3024", "DL3063"],
        "probity also reports stage names that differ only in case, as BuildKit does.",
        |seen| seen.has(&["FROM"]),
    ),
    theirs(
        &["DL3025"],
        "probity ignores the command of a `HEALTHCHECK`, which can use a shell.",
        |seen| seen.is(Keyword::Healthcheck),
    ),
    theirs(
        &["DL3025"],
        "probity ignores a stage with a `SHELL`, because its author chose the shell on purpose.",
        |seen| seen.file_has(&["SHELL ["]),
    ),
    ours(&["DL3026"], "probity also checks a registry in the default of a variable.", |seen| {
        seen.has(&["$"])
    }),
    theirs(
        &["DL3026"],
        "probity treats `index.docker.io` as Docker Hub, and `a/docker.io` as an image on Docker Hub.",
        |seen| seen.has(&["index.docker.io", "a/docker.io"]),
    ),
    theirs(
        &["DL3029"],
        "probity reports only constant, valid platforms, and accepts a stage named after its platform, as BuildKit does.",
        |seen| seen.has(&["--platform="]),
    ),
    ours(
        &["DL3044"],
        "probity also checks variables with a modifier, such as `${A:-b}`.",
        |seen| seen.has(&["${"]),
    ),
    ours(
        &["DL3044"],
        "probity also reports variables that only another stage or an `ARG` before `FROM` defines.",
        |seen| seen.file_has(&["FROM a", "AS a", "AS x", "ARG A"]),
    ),
    theirs(&["DL3044"], "probity ignores `$PATH`, because every image sets it.", |seen| {
        seen.has(&["$PATH"])
    }),
    theirs(
        &["DL3044"],
        "probity ignores an escaped dollar sign and one in single quotes, because neither begins a variable.",
        |seen| seen.has(&["\\$", "'$", "$$"]),
    ),
    ours(&["DL3046"], "probity also checks `--uid` and `-u123456`.", |seen| {
        seen.has(&["--uid", "-u1"])
    }),
    theirs(
        &["DL3046"],
        "probity ignores a UID from a variable, because the build can set another value than the default.",
        |seen| seen.has(&["${U"]),
    ),
    theirs(
        &["DL3047"],
        "probity ignores `wget --help`, `wget --version` and `wget` without a URL, which do not download anything.",
        |seen| seen.has(&["--version", "--help", "wget"]),
    ),
    ours(&["DL3047"], "probity does not read words after `--` as flags.", |seen| {
        seen.has(&["-- "])
    }),
    theirs(
        &["DL3061"],
        "probity reports only the first instruction before `FROM`, because BuildKit stops there.",
        |_| true,
    ),
    ours(
        &["DL3064"],
        "probity uses BuildKit's list of words, and checks every name of an `ARG`.",
        |seen| seen.is(Keyword::Arg) || seen.is(Keyword::Env),
    ),
    theirs(
        &["DL3064"],
        "probity uses BuildKit's list of words, and ignores paths, switches, empty values and names such as `TOKEN_TTL`.",
        |seen| seen.is(Keyword::Arg) || seen.is(Keyword::Env),
    ),
    ours(&["DL3065"], "probity also checks the variable in quotes or with a default.", |seen| {
        seen.has(&["TARGETPLATFORM"])
    }),
    theirs(
        &["DL3066"],
        "probity ignores `root`, which is always 0, numbers in quotes, and variables, which can be numbers.",
        |seen| {
            seen.has_word("root")
                || seen.has_word("$")
                || seen.has_word("0")
                || seen.has_word("1000")
        },
    ),
    ours(&["DL3066"], "probity reports a group without a user: `USER :group`.", |seen| {
        seen.has(&["USER :"])
    }),
    ours(
        &["DL3067"],
        "probity also checks `/.` and `/*`, which are the whole file system.",
        |seen| seen.has(&["/.", "/*"]),
    ),
    theirs(
        &["DL3067"],
        "probity ignores stages from `scratch`, because such a copy is a known way to squash layers.",
        |seen| seen.is_from_scratch(),
    ),
    theirs(&["DL4001"], "probity reports only calls of the second program.", |seen| {
        seen.has(&["curl"])
    }),
    theirs(
        &["DL4005"],
        "probity reports only links that replace `sh`, not links to `sh`.",
        |seen| seen.has(&["ln -s /bin/sh", "$"]),
    ),
    theirs(&["DL4006"], "probity ignores a script that sets `pipefail` itself.", |seen| {
        seen.has(&["pipefail"])
    }),
    theirs(
        &["DL4006"],
        "probity also accepts other shells with `pipefail`, and ignores Windows shells, which do not have it.",
        |seen| seen.file_has(&["SHELL [", "windows/"]),
    ),
    theirs(
        &["DL4006"],
        "probity ignores `|` in a JSON array, because no shell reads it.",
        |seen| seen.has(&["RUN [\""]),
    ),
    ours(&["DL4006"], "probity reads `((` as two subshells if it is not arithmetic.", |seen| {
        seen.has(&["(("])
    }),
];
