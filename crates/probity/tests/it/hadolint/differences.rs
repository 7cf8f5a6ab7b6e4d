//! The differences from hadolint that are meant, each with its reason.

use probity_dockerfile::{Dockerfile, Facts, Instruction, Keyword};

/// A difference that is meant.
pub(super) struct Difference {
    pub(super) code: &'static str,
    pub(super) side: Side,
    pub(super) reason: &'static str,
    pub(super) holds: fn(&Seen<'_>) -> bool,
}

/// Who alone has something to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// What a difference is seen in.
pub(super) struct Seen<'a> {
    pub(super) file: &'a Dockerfile<'a>,
    pub(super) line: usize,
}

impl Seen<'_> {
    pub(super) fn instruction(&self) -> Option<&Instruction> {
        self.file.instructions.iter().find(|it| it.lines.0 == self.line)
    }

    /// The instruction's text, or the line where there is none.
    pub(super) fn source(&self) -> &str {
        let line = self.file.text.lines().nth(self.line.saturating_sub(1)).unwrap_or_default();
        self.instruction().and_then(|it| it.span.slice(self.file.text)).unwrap_or(line)
    }

    fn has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.source().contains(part))
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.instruction().is_some_and(|it| it.keyword == keyword)
    }

    /// Whether a word of the instruction, behind its name and flags, begins so.
    fn has_word(&self, beginning: &str) -> bool {
        let words = self.source().split_ascii_whitespace().skip(1);
        let mut words = words.filter(|word| !word.starts_with("--"));
        words.any(|word| word.trim_start_matches(['"', '\'']).starts_with(beginning))
    }

    /// Whether the last word of the instruction has a variable in it.
    fn ends_in_variable(&self) -> bool {
        self.source().split_ascii_whitespace().next_back().is_some_and(|it| it.contains('$'))
    }

    /// Whether the stage that this stands in is made from nothing.
    fn is_from_scratch(&self) -> bool {
        let mut before = self.file.instructions.iter().filter(|it| it.lines.0 <= self.line);
        let from = before.rfind(|it| it.keyword == Keyword::From);
        let source = from.and_then(|it| it.span.slice(self.file.text));
        source.is_some_and(|it| it.split_ascii_whitespace().nth(1) == Some("scratch"))
    }

    fn is_last_stage(&self) -> bool {
        let mut froms = self.file.instructions.iter().filter(|it| it.keyword == Keyword::From);
        froms.next_back().is_some_and(|it| it.lines.0 == self.line)
    }

    fn is_in_last_stage(&self) -> bool {
        let mut froms = self.file.instructions.iter().filter(|it| it.keyword == Keyword::From);
        froms.next_back().is_none_or(|from| from.lines.0 <= self.line)
    }

    /// How often the keyword of this instruction stands in the file.
    fn repeated(&self) -> bool {
        let own = self.instruction().map(|it| it.keyword);
        self.file.instructions.iter().filter(|it| Some(it.keyword) == own).count() > 1
    }
}

const fn theirs(
    code: &'static str,
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { code, side: Side::Theirs, reason, holds }
}

const fn ours(
    code: &'static str,
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { code, side: Side::Ours, reason, holds }
}

const LAST: &str = "of several only the last counts: we point at those that do not, hadolint at \
                    those behind the first";
const NOT_KEPT: &str = "what a stage leaves behind that only serves COPY --from is in no image";
const LAST_STAGE: &str = "only the image that is built in the end counts";
const STACKED: &str = "stacked pragmas, and one with a blank line behind it, hold here";

pub(super) const DIFFERENCES: &[Difference] = &[
    ours("DL1001", "a pragma for the file or a stage is one too", |it| {
        it.has(&["global", "stage"])
    }),
    theirs("DL3000", "below an absolute WORKDIR a relative one is certain", |it| {
        let mut before = it.file.instructions.iter().filter(|other| other.lines.0 < it.line);
        before.any(|other| other.keyword == Keyword::Workdir)
    }),
    ours("DL3000", "on Linux a drive is a directory like others, as BuildKit says", |it| {
        it.has(&["C:/"])
    }),
    theirs("DL3006", "a name with capitals is no image, and the build fails", |it| {
        it.has(&["Alpine"])
    }),
    theirs("DL3020", "a flag that only ADD has says why it is one", |it| {
        it.has(&["--keep-git-dir", "--unpack", "--checksum"])
    }),
    theirs("DL3022", "an image may be copied from, and a variable may be one", |it| {
        it.has(&["--from=$", "--from=evil.example/"])
    }),
    ours("DL3044", "a variable with a modifier is one too", |it| it.has(&["${"])),
    theirs("DL3045", "an image that is made from nothing starts in its root", |it| {
        it.is_from_scratch()
    }),
    theirs("DL3048", "a variable may be a key", |it| it.has_word("$")),
    theirs("DL3050", "a variable may be a key", |it| it.has_word("$")),
    theirs("DL3002", "only images count, and a script may start as root on purpose", |it| {
        !it.is_in_last_stage() || it.file.text.contains("entrypoint")
    }),
    theirs("DL3019", NOT_KEPT, |it| !it.is_in_last_stage()),
    theirs("DL3022", "stages that copy from each other have a rule of their own", |it| {
        let circle = |cycle: &Vec<usize>| cycle.len() > 1;
        Facts::of(it.file).graph().cycles().iter().any(circle)
    }),
    ours("DL3030", "an upgrade asks too", |it| it.has(&["update", "upgrade"])),
    theirs("DL3032", NOT_KEPT, |it| !it.is_in_last_stage()),
    theirs("DL3036", NOT_KEPT, |it| !it.is_in_last_stage()),
    ours("DL3038", "an upgrade asks too", |it| it.has(&["update", "upgrade"])),
    theirs("DL3040", NOT_KEPT, |it| !it.is_in_last_stage()),
    theirs("DL3042", NOT_KEPT, |it| !it.is_in_last_stage()),
    theirs("DL3003", "a subshell comes back by itself", |it| it.has(&["(cd"])),
    theirs("DL3003", STACKED, |it| {
        let lines: Vec<&str> = it.file.text.lines().take(it.line.saturating_sub(1)).collect();
        let above = lines.iter().rev().take_while(|line| line.is_empty() || line.starts_with('#'));
        above.into_iter().any(|line| line.contains("ignore=DL3003"))
    }),
    ours("DL3006", "a port is no tag", |it| it.has(&["localhost:5000/"])),
    ours("DL3009", "sudo runs what stands behind it", |it| it.has(&["sudo"])),
    ours("DL3012", LAST, |it| it.repeated()),
    theirs("DL3012", LAST, |it| it.repeated()),
    theirs("DL3013", "an address is left alone", |it| it.has(&["git+"])),
    ours("DL3016", "`npm i` is `npm install`", |it| it.has(&["npm i "])),
    theirs("DL3019", "the cache is removed in the same layer", |it| it.has(&["/var/cache/apk"])),
    theirs("DL3020", "a variable may be an address, and git is one", |it| {
        it.has_word("$") || it.has_word("git@")
    }),
    theirs("DL3021", "a variable may end with a slash", |it| it.ends_in_variable()),
    theirs("DL3025", "a probe gets no signals, so that its shell is in nobody's way", |it| {
        it.is(Keyword::Healthcheck)
    }),
    ours("DL3026", "a port is no tag", |it| it.has(&["localhost:5000/"])),
    theirs(
        "DL3029",
        "a platform that does not exist fails the build, and one with a variable is not constant",
        |it| it.has(&["=x86 ", "windws", "wi#ndows", "$TARGETARCH"]),
    ),
    ours("DL3036", "an upgrade leaves its cache behind too", |it| {
        it.has(&["dup", "dist-upgrade", "update"])
    }),
    theirs("DL3041", "an address names one file", |it| it.has(&["https://"])),
    theirs("DL3049", LAST_STAGE, |it| !it.is_last_stage()),
    theirs("DL3057", LAST_STAGE, |it| !it.is_last_stage()),
    ours("DL3060", "`yarn add` and `yarn` alone install too", |it| !it.has(&["yarn install"])),
    theirs("DL3062", "somebody chose `latest`; `go run` installs nothing", |it| {
        it.has(&["@latest", "go run"])
    }),
    ours("DL3064", "BuildKit's list of words is ours, and an ARG may have several names", |it| {
        it.has(&["AUTH", "auth"]) || it.is(Keyword::Arg)
    }),
    theirs(
        "DL3064",
        "paths, switches and nothing are no secrets, nor are names of something else",
        |it| it.has(&["=\"\"", "=/", "_ALIAS"]),
    ),
    theirs("DL3064", "BuildKit's list of words is ours", |it| it.has(&["_FILE"])),
    theirs("DL3066", "root is 0 everywhere, and a variable may be a number", |it| {
        it.has_word("root") || it.has_word("$") || it.has_word("0")
    }),
    theirs("DL3067", "an empty image that takes all is how layers are squashed", |it| {
        it.is_from_scratch()
    }),
    ours("DL4003", LAST, |it| it.repeated()),
    theirs("DL4003", LAST, |it| it.repeated()),
    ours("DL4004", LAST, |it| it.repeated()),
    theirs("DL4004", LAST, |it| it.repeated()),
    theirs("DL4006", "the command sets the option itself", |it| it.has(&["set -o pipefail"])),
];
