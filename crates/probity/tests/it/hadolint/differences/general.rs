//! Differences that several kinds of rules share.

use super::{Difference, ours, theirs};

pub(super) const ROWS: &[Difference] = &[
    theirs(
        &[],
        "hadolint parses PowerShell and `cmd` scripts as POSIX shell; probity does not.",
        |seen| {
            seen.file_has(&[
                "SHELL [\"powershell\"",
                "SHELL [\"pwsh\"",
                "SHELL [\"cmd\"",
                "hadolint shell=powershell",
                "hadolint shell=pwsh",
                "hadolint shell=cmd",
            ])
        },
    ),
    ours(
        &[],
        "probity also checks programs that `sudo`, `env`, `nice`, `timeout`, `xargs`, `exec` or `sh -c` runs, and programs called by their path.",
        |seen| {
            // That path is not the program's: DL4005 has a reason of its own for it.
            let is_linked = seen.has(&["ln "]) && seen.has(&["/usr/bin/sh"]);
            !is_linked
                && seen.has(&[
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
        "probity ignores a word that contains a variable, because its value can be a flag, a subcommand or a pinned package.",
        |seen| seen.has(&["$"]),
    ),
];
