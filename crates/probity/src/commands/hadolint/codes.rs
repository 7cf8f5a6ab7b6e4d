//! hadolint's codes: the severity and the text that each has there.

use probity_finding::Severity::{self, Error, Info, Style, Warning};

/// One of hadolint's rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    name: &'static str,
    pub(super) severity: Severity,
    /// `{}` stands for the name of a label.
    message: &'static str,
}

/// What a file gets that cannot be parsed, or here: that BuildKit rejects.
pub(super) const SYNTAX: &str = "DL1000";

/// All codes, in their order.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    CODES.iter().map(|code| code.name)
}

pub(super) fn find(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.name == name)
}

/// Whether a rule is silent unless it is given a severity.
pub(super) fn is_quiet(name: &str) -> bool {
    matches!(name, "DL1001" | "DL3057")
}

/// Whether the text of a code quotes nothing of the file.
pub(super) fn is_fixed(name: &str) -> bool {
    find(name).is_some_and(|code| !code.message.contains("{}"))
}

/// The text of a code, with the label that our own message names.
pub(super) fn message(code: &Code, own: &str) -> String {
    let label = own.strip_prefix("label ").and_then(|rest| rest.split_once(" is "));
    let label = label.map_or("", |(label, _)| label);
    code.message.replace("{}", label)
}

const fn code(name: &'static str, severity: Severity, message: &'static str) -> Code {
    Code { name, severity, message }
}

const CODES: &[Code] = &[
    code(
        "DL1001",
        Info,
        "Please refrain from using inline ignore pragmas  `# hadolint ignore=DLxxxx`.",
    ),
    code("DL3000", Error, "Use absolute WORKDIR"),
    code(
        "DL3001",
        Info,
        "For some bash commands it makes no sense running them in a Docker container like `ssh`, `vim`, `shutdown`, `service`, `ps`, `free`, `top`, `kill`, `mount`, `ifconfig`",
    ),
    code("DL3002", Warning, "Last USER should not be root"),
    code("DL3003", Warning, "Use WORKDIR to switch to a directory"),
    code(
        "DL3004",
        Error,
        "Do not use sudo as it leads to unpredictable behavior. Use a tool like gosu to enforce root",
    ),
    code("DL3006", Warning, "Always tag the version of an image explicitly"),
    code(
        "DL3007",
        Warning,
        "Using latest is prone to errors if the image will ever update. Pin the version explicitly to a release tag",
    ),
    code(
        "DL3008",
        Warning,
        "Pin versions in apt get install. Instead of `apt-get install <package>` use `apt-get install <package>=<version>`",
    ),
    code("DL3009", Info, "Delete the apt lists (/var/lib/apt/lists) after installing something"),
    code("DL3010", Info, "Use `ADD` for extracting archives into an image"),
    code("DL3011", Error, "Valid UNIX ports range from 0 to 65535"),
    code("DL3012", Error, "Multiple `HEALTHCHECK` instructions"),
    code(
        "DL3013",
        Warning,
        "Pin versions in pip. Instead of `pip install <package>` use `pip install <package>==<version>` or `pip install --requirement <requirements file>`",
    ),
    code(
        "DL3014",
        Warning,
        "Use the `-y` switch to avoid manual input `apt-get -y install <package>`",
    ),
    code("DL3015", Info, "Avoid additional packages by specifying `--no-install-recommends`"),
    code(
        "DL3016",
        Warning,
        "Pin versions in npm. Instead of `npm install <package>` use `npm install <package>@<version>`",
    ),
    code(
        "DL3018",
        Warning,
        "Pin versions in apk add. Instead of `apk add <package>` use `apk add <package>=<version>`",
    ),
    code(
        "DL3019",
        Info,
        "Use the `--no-cache` switch to avoid the need to use `--update` and remove `/var/cache/apk/*` when done installing packages",
    ),
    code("DL3020", Error, "Use COPY instead of ADD for files and folders"),
    code(
        "DL3021",
        Error,
        "COPY with more than 2 arguments requires the last argument to end with /",
    ),
    code("DL3022", Warning, "`COPY --from` should reference a previously defined `FROM` alias"),
    code("DL3023", Error, "`COPY --from` cannot reference its own `FROM` alias"),
    code("DL3024", Error, "FROM aliases (stage names) must be unique"),
    code("DL3025", Warning, "Use arguments JSON notation for CMD and ENTRYPOINT arguments"),
    code("DL3026", Error, "Use only an allowed registry in the FROM image"),
    code(
        "DL3027",
        Warning,
        "Do not use apt as it is meant to be an end-user tool, use apt-get or apt-cache instead",
    ),
    code(
        "DL3028",
        Warning,
        "Pin versions in gem install. Instead of `gem install <gem>` use `gem install <gem>:<version>`",
    ),
    code("DL3029", Warning, "Do not use --platform flag with FROM"),
    code("DL3030", Warning, "Use the -y switch to avoid manual input `yum install -y <package>`"),
    code("DL3032", Warning, "`yum clean all` missing after yum command."),
    code("DL3033", Warning, "Specify version with `yum install -y <package>-<version>`."),
    code(
        "DL3034",
        Warning,
        "Non-interactive switch missing from `zypper` command: `zypper install -y`",
    ),
    code("DL3035", Warning, "Do not use `zypper dist-upgrade`."),
    code("DL3036", Warning, "`zypper clean` missing after zypper use."),
    code("DL3037", Warning, "Specify version with `zypper install -y <package>=<version>`."),
    code("DL3038", Warning, "Use the -y switch to avoid manual input `dnf install -y <package>`"),
    code("DL3040", Warning, "`dnf clean all` missing after dnf command."),
    code("DL3041", Warning, "Specify version with `dnf install -y <package>-<version>`."),
    code(
        "DL3042",
        Warning,
        "Avoid use of cache directory with pip. Use `pip install --no-cache-dir <package>`",
    ),
    code(
        "DL3043",
        Error,
        "`ONBUILD`, `FROM` or `MAINTAINER` triggered from within `ONBUILD` instruction.",
    ),
    code(
        "DL3044",
        Error,
        "Do not refer to an environment variable within the same `ENV` statement where it is defined.",
    ),
    code("DL3045", Warning, "`COPY` to a relative destination without `WORKDIR` set."),
    code(
        "DL3046",
        Warning,
        "`useradd` without flag `-l` and high UID will result in excessively large Image.",
    ),
    code(
        "DL3047",
        Info,
        "Avoid use of wget without progress bar. Use `wget --progress=dot:giga <url>`. Or consider using `-q` or `-nv` (shorthands for `--quiet` or `--no-verbose`).",
    ),
    code("DL3048", Style, "Invalid label key."),
    code("DL3049", Info, "Label `{}` is missing."),
    code("DL3050", Info, "Superfluous label(s) present."),
    code("DL3051", Warning, "label `{}` is empty."),
    code("DL3052", Warning, "Label `{}` is not a valid URL."),
    code("DL3053", Warning, "Label `{}` is not a valid time format - must conform to RFC3339."),
    code("DL3054", Warning, "Label `{}` is not a valid SPDX identifier."),
    code("DL3055", Warning, "Label `{}` is not a valid git hash."),
    code("DL3056", Warning, "Label `{}` does not conform to semantic versioning."),
    code("DL3057", Info, "`HEALTHCHECK` instruction missing."),
    code("DL3058", Warning, "Label `{}` is not a valid email format - must conform to RFC5322."),
    code("DL3059", Info, "Multiple consecutive `RUN` instructions. Consider consolidation."),
    code("DL3060", Info, "`yarn cache clean` missing after `yarn install` was run."),
    code(
        "DL3061",
        Error,
        "Invalid instruction order. Dockerfile must begin with `FROM`, `ARG` or comment.",
    ),
    code(
        "DL3062",
        Warning,
        "Pin versions in go. Instead of `go install <package>` use `go install <package>@<version>`",
    ),
    code("DL3063", Warning, "stage name should not be a reserved word"),
    code(
        "DL3064",
        Warning,
        "Potentially sensitive data should not be used in the `ARG` or `ENV` commands",
    ),
    code(
        "DL3065",
        Warning,
        "Setting `FROM --platform` to predefined `$TARGETPLATFORM` in is redundant as this is the default behavior",
    ),
    code("DL3066", Info, "Non-numeric user-id may not be resolvable by host system"),
    code("DL3067", Warning, "Do not copy an entire filesystem from another stage"),
    code("DL4000", Error, "MAINTAINER is deprecated"),
    code("DL4001", Warning, "Either use Wget or Curl but not both"),
    code(
        "DL4003",
        Warning,
        "Multiple `CMD` instructions found. If you list more than one `CMD` then only the last `CMD` will take effect",
    ),
    code(
        "DL4004",
        Error,
        "Multiple `ENTRYPOINT` instructions found. If you list more than one `ENTRYPOINT` then only the last `ENTRYPOINT` will take effect",
    ),
    code("DL4005", Warning, "Use SHELL to change the default shell"),
    code(
        "DL4006",
        Warning,
        "Set the SHELL option -o pipefail before RUN with a pipe in it. If you are using /bin/sh in an alpine image or if your shell is symlinked to busybox then consider explicitly setting your SHELL to /bin/ash, or disable this check",
    ),
];
