//! Programs that run another one: what of the words is theirs, and where the other begins.

use crate::{Call, Word};

/// How a wrapper reads its words.
struct Wrapper {
    name: &'static str,
    /// Flags whose value is the next word.
    valued: &'static [&'static str],
    /// Flags that make it do something else than to run the rest.
    other: &'static [&'static str],
    /// Whether `A=b` may stand before the program.
    assignments: bool,
    /// How many words of its own come first: the duration of `timeout`.
    own: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], own: usize) -> Wrapper {
    Wrapper { name, valued, other: &[], assignments: false, own }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        valued: &[
            "-u",
            "--user",
            "-g",
            "--group",
            "-h",
            "--host",
            "-p",
            "--prompt",
            "-C",
            "--close-from",
            "-D",
            "--chdir",
            "-R",
            "--chroot",
            "-T",
            "--command-timeout",
            "-r",
            "--role",
            "-t",
            "--type",
            "-U",
            "--other-user",
        ],
        other: &["-e", "--edit", "-l", "--list", "-v", "--validate", "-V", "--version"],
        assignments: true,
        own: 0,
    },
    Wrapper {
        name: "env",
        valued: &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"],
        other: &["-S", "--split-string"],
        assignments: true,
        own: 0,
    },
    Wrapper { name: "command", valued: &[], other: &["-v", "-V"], assignments: false, own: 0 },
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("time", &["-f", "--format", "-o", "--output"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "--class", "-n", "--classdata"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
    wrapper("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("gosu", &[], 1),
    wrapper("su-exec", &[], 1),
    wrapper("eatmydata", &[], 0),
    // First processes of containers.
    wrapper("tini", &["-p", "-e"], 0),
    wrapper("dumb-init", &["-r", "--rewrite"], 0),
    wrapper("catatonit", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper(
        "xargs",
        &[
            "-a",
            "--arg-file",
            "-d",
            "--delimiter",
            "-E",
            "-I",
            "-L",
            "--max-lines",
            "-n",
            "--max-args",
            "-P",
            "--max-procs",
            "-s",
            "--max-chars",
        ],
        0,
    ),
];

impl<'w> Call<'w> {
    /// The program that is run in the end. A wrapper that runs nothing stays what it is.
    #[must_use]
    pub fn peeled(self) -> Self {
        let mut at = 0;
        while let Some(inner) = self.words.get(at..).and_then(inner) {
            at += inner;
        }
        let (wrappers, words) = self.words.split_at(at.min(self.words.len()));
        Self { wrappers, words }
    }
}

/// Where the program within a wrapper begins.
fn inner(words: &[Word]) -> Option<usize> {
    let name = Call::of(words).name()?;
    if name == "find" {
        // `find . -exec chmod 755 {} +`
        let exec = ["-exec", "-execdir", "-ok", "-okdir"];
        let at = words.iter().position(|word| exec.iter().any(|flag| word.is(flag)))? + 1;
        return (at < words.len()).then_some(at);
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let mut own = wrapper.own;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.prefix();
        if text == "--" {
            at += 1;
            break;
        }
        if text.len() > 1 && text.starts_with('-') {
            if wrapper.other.iter().any(|flag| super::gives(&text, flag)) {
                return None;
            }
            let takes = wrapper.valued.iter().any(|flag| super::wants_next(&text, flag));
            at += if takes { 2 } else { 1 };
        } else if wrapper.assignments && word.assigned_name().is_some() {
            at += 1;
        } else if own > 0 {
            own -= 1;
            at += 1;
        } else {
            break;
        }
    }
    (at + own < words.len()).then_some(at + own)
}
