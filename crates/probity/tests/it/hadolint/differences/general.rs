//! Differences that several kinds of rules share.

use super::{Difference, ours, theirs};

pub(super) const ROWS: &[Difference] = &[
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
];
