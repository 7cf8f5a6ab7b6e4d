//! Differences from tally that are meant. The table of them is also in the guide.

use crate::hadolint::differences::{Difference, Seen, ours, theirs};

/// All differences; the first that explains a file counts.
pub(super) const ROWS: &[Difference] = &[
    ours(
        &[
            "tally/curl-should-follow-redirects",
            "tally/powershell/error-action-preference",
            "tally/prefer-add-unpack",
            "tally/prefer-copy-heredoc",
        ],
        "probity reads the commands in heredocs.",
        |seen| seen.file_has(&["RUN <<EOF"]),
    ),
    theirs(
        &["tally/invalid-json-form"],
        "An array begins with the first character after the keyword.",
        |seen| seen.file_has(&["CMD a ["]),
    ),
    ours(
        &["tally/labels/valid-key"],
        "Docker's guidelines ask for a letter at the beginning of a key.",
        |seen| seen.file_has(&["LABEL 1a"]),
    ),
    theirs(
        &["tally/labels/valid-key"],
        "hadolint's `DL3048`, which is the same rule in probity, accepts underscores.",
        |seen| seen.file_has(&["a_b"]),
    ),
    theirs(
        &["tally/newline-per-chained-call"],
        "probity splits a chain only if the script has no `;`.",
        |seen| seen.file_has(&["; a"]),
    ),
    theirs(
        &["tally/no-multi-spaces"],
        "probity does not change spaces within the shell commands of `RUN`.",
        |seen| seen.file_has(&["RUN a   b"]),
    ),
    ours(&["tally/prefer-add-git"], "probity also reads commands before `;`.", |seen| {
        seen.file_has(&["; a"])
    }),
    theirs(
        &["tally/prefer-copy-heredoc"],
        "probity reports only a `RUN` that does nothing but write the file.",
        does_more,
    ),
    theirs(
        &["tally/prefer-multi-stage-build", "tally/user-created-but-never-used"],
        "probity ignores an image that starts nothing, because it is a base image.",
        |seen| !seen.file_has(&["CMD", "ENTRYPOINT"]),
    ),
    theirs(
        &["tally/prefer-run-heredoc"],
        "In probity, `hadolint/DL3059` reports consecutive `RUN` instructions. The option \
         `check-consecutive-runs` makes this rule report them too.",
        |seen| seen.file_has(&["RUN a\nRUN b"]),
    ),
    theirs(
        &[
            "tally/ruby/prefer-bundler-cache-mount",
            "tally/ruby/prefer-gemfile-bind-mounts",
            "tally/ruby/prefer-network-none-install",
        ],
        "A syntax directive after another comment has no effect.",
        |seen| seen.file_has(&["# why\n# syntax", "# not\n# syntax"]),
    ),
    ours(
        &["tally/world-writable-state-path-workaround"],
        "`a+rwX` makes directories writable for everybody, as `a+rwx` does.",
        |seen| seen.file_has(&["rwX"]),
    ),
    theirs(
        &["tally/powershell/error-action-preference"],
        "Windows PowerShell does not have `$PSNativeCommandUseErrorActionPreference`.",
        |seen| seen.file_has(&["\"powershell\", \"-Command\", \"$ErrorActionPreference"]),
    ),
    theirs(
        &["tally/prefer-formatted-heredocs"],
        "probity accepts spaces as indentation and leaves the inside of lines as it is.",
        |seen| seen.file_has(&["RUN <<EOF"]),
    ),
    theirs(
        &["tally/prefer-formatted-heredocs"],
        "probity does not format YAML, TOML, XML and INI.",
        |seen| seen.file_has(&["/a.yaml", "/a.toml", "/a.xml", "/a.ini"]),
    ),
    ours(
        &["tally/require-secret-mounts"],
        "probity also finds programs after `sudo` and `env`, and in arrays.",
        |seen| seen.file_has(&["sudo", "env A=b", "RUN ["]),
    ),
];

fn does_more(seen: &Seen<'_>) -> bool {
    seen.file_has(&["&&", ";", "A=b"])
}
