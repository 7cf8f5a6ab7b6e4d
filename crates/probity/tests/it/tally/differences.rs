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
        "probity also checks the commands in heredocs.",
        |seen| seen.file_has(&["RUN <<EOF"]),
    ),
    theirs(
        &["tally/invalid-json-form"],
        "probity ignores a bracket that is not the first character after the keyword, because BuildKit reads no array there.",
        |seen| seen.file_has(&["CMD a ["]),
    ),
    ours(
        &["tally/labels/valid-key"],
        "probity does not accept a key that begins with a digit, because Docker's guidelines require a letter.",
        |seen| seen.file_has(&["LABEL 1a"]),
    ),
    theirs(
        &["tally/labels/valid-key"],
        "probity accepts underscores in keys. The rule is the same as `hadolint/DL3048`, and hadolint accepts them.",
        |seen| seen.file_has(&["a_b"]),
    ),
    theirs(
        &["tally/newline-per-chained-call"],
        "probity ignores scripts that contain `;`.",
        |seen| seen.file_has(&["; a"]),
    ),
    theirs(
        &["tally/no-multi-spaces"],
        "probity ignores spaces in the shell commands of a `RUN`, because a shell reads them.",
        |seen| seen.file_has(&["RUN a   b"]),
    ),
    ours(
        &["tally/prefer-add-git"],
        "probity also checks a `git clone` in a script that contains `;`.",
        |seen| seen.file_has(&["; a"]),
    ),
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
        "probity ignores a file whose `# syntax=` line comes after another comment, because the line has no effect there.",
        |seen| seen.file_has(&["# why\n# syntax", "# not\n# syntax"]),
    ),
    ours(
        &["tally/world-writable-state-path-workaround"],
        "probity also checks `a+rwX`, which lets everybody write to directories, as `a+rwx` does.",
        |seen| seen.file_has(&["rwX"]),
    ),
    theirs(
        &["tally/powershell/error-action-preference"],
        "probity requires `$PSNativeCommandUseErrorActionPreference` only in `pwsh`, because Windows PowerShell does not have it.",
        |seen| seen.file_has(&["\"powershell\", \"-Command\", \"$ErrorActionPreference"]),
    ),
    theirs(
        &["tally/prefer-formatted-heredocs"],
        "probity accepts spaces as indentation, and ignores spaces within a line.",
        |seen| seen.file_has(&["RUN <<EOF"]),
    ),
    theirs(
        &["tally/prefer-formatted-heredocs"],
        "probity does not format YAML, TOML, XML and INI.",
        |seen| seen.file_has(&["/a.yaml", "/a.toml", "/a.xml", "/a.ini"]),
    ),
    ours(
        &["tally/require-secret-mounts"],
        "probity also checks programs after `sudo` and `env`, and programs in JSON arrays.",
        |seen| seen.file_has(&["sudo", "env A=b", "RUN ["]),
    ),
];

fn does_more(seen: &Seen<'_>) -> bool {
    seen.file_has(&["&&", ";", "A=b"])
}
