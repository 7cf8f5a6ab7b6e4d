//! The differences from ShellCheck that are known, each with its reason.

/// Who alone has something to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// A difference that is known.
pub(super) struct Difference {
    pub(super) code: &'static str,
    pub(super) side: Side,
    pub(super) reason: &'static str,
    /// Whether it may be seen in this line of this text.
    pub(super) holds: fn(&str, &str) -> bool,
}

const fn theirs(
    code: &'static str,
    reason: &'static str,
    holds: fn(&str, &str) -> bool,
) -> Difference {
    Difference { code, side: Side::Theirs, reason, holds }
}

pub(super) const DIFFERENCES: &[Difference] = &[
    theirs("SC1072", "the parser takes an expansion without its end for a word", |_, text| {
        text.contains("${other") && !text.contains("${other}") && !text.contains("${other:")
    }),
    theirs(
        "SC1072",
        "the parser goes on with an operator that stands behind a here-document",
        |_, text| {
            let after = text.split("\nEOF\n").skip(1);
            after.map(str::trim_start).any(|rest| rest.starts_with(['&', '|', ';', '\\']))
        },
    ),
    theirs(
        "SC2015",
        "a branch that is `false`, or a last one that writes, counts as a choice",
        |line, _| line.contains("&& false ||") || line.contains("|| sudo echo x > /etc/x"),
    ),
    theirs(
        "SC2034",
        "a name that is declared twice, or used in a quoted here-document",
        |line, text| line.contains("declare -a list") || text.contains("<<'EOF'\n$name"),
    ),
    theirs("SC2065", "a test may be silenced", |line, _| line.contains("test -f /opt/app 2>&1 >")),
    theirs("SC2070", "a test of several parts is not taken apart", |line, _| {
        line.contains(" -a -n $HOME ")
    }),
    theirs("SC2086", "what cannot be reached is taken to know its variables", |line, text| {
        text.starts_with("return 1") && line.contains("$KNOWN")
    }),
    theirs("SC2094", "a loop and its input are not seen together", |line, _| {
        line.contains("done < $HOME")
    }),
    theirs("SC2116", "backticks within a substitution are not looked into", |line, _| {
        line.contains("$(echo `curl")
    }),
    theirs("SC2179", "an array that was expanded before is not known to be one", |line, _| {
        line == "args+=\"x\""
    }),
];
