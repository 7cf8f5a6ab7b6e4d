//! What the words of a `SHELL` say.

use crate::{Dialect, Invocation};

#[test]
fn dialects_of_shell_words() {
    let cases: &[(&[&str], Dialect)] = &[
        (&["/bin/sh", "-c"], Dialect::Sh),
        (&["/bin/bash", "-o", "pipefail", "-c"], Dialect::Bash),
        (&["/usr/bin/env", "bash"], Dialect::Bash),
        (&["env", "-S", "A=b", "zsh", "-c"], Dialect::Zsh),
        (&["/bin/busybox", "sh", "-c"], Dialect::Sh),
        (&["busybox"], Dialect::Ash),
        (&["/bin/ash", "-eo", "pipefail", "-c"], Dialect::Ash),
        (&["dash"], Dialect::Dash),
        (&["ksh93"], Dialect::Ksh),
        (&["mksh"], Dialect::Mksh),
        (&["powershell", "-Command"], Dialect::PowerShell),
        (&[r"C:\Windows\System32\WindowsPowerShell\v1.0\PowerShell.exe"], Dialect::PowerShell),
        (&["pwsh", "-c"], Dialect::PowerShell),
        (&["cmd", "/S", "/C"], Dialect::Cmd),
        (&["python3", "-c"], Dialect::Other),
        (&[], Dialect::Other),
    ];
    for (argv, dialect) in cases {
        assert_eq!(Dialect::of_shell(argv), *dialect, "{argv:?}");
    }
}

#[test]
fn options_of_shell_words() {
    let cases: &[(&[&str], &str)] = &[
        (&["/bin/sh", "-c"], "c"),
        (&["/bin/bash", "-o", "pipefail", "-c"], "pc"),
        (&["/bin/bash", "-euxo", "pipefail", "-c"], "euxpc"),
        (&["/bin/bash", "-eo", "pipefail", "+e", "-c"], "pc"),
        (&["/bin/bash", "--login", "-ec"], "ec"),
        (&["/bin/bash", "script", "-e"], ""),
        (&["cmd", "/S", "/C"], "c"),
        (&["powershell", "-NoProfile", "-Command"], "c"),
        (&["bash"], ""),
    ];
    for (argv, options) in cases {
        let found = Invocation::of_argv(argv);
        let flags = [
            (found.errexit, 'e'),
            (found.nounset, 'u'),
            (found.xtrace, 'x'),
            (found.pipefail, 'p'),
            (found.takes_command, 'c'),
        ];
        let found: String = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
        assert_eq!(&found, options, "{argv:?}");
    }
}
