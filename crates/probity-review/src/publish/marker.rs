//! The hidden words by which a comment of ours is recognized.

/// What a comment of ours is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Summary,
    Issue(String),
    /// An issue that is done, on a forge that cannot resolve threads.
    DoneIssue(String),
}

const START: &str = "<!-- probity:";
const END: &str = " -->";

impl Marker {
    /// The body with the marker in its last line.
    pub(super) fn mark(&self, body: &str) -> String {
        let words = match self {
            Self::Summary => "review".to_owned(),
            Self::Issue(identity) => format!("issue {identity}"),
            Self::DoneIssue(identity) => format!("done {identity}"),
        };
        format!("{}\n\n{START}{words}{END}", body.trim_end())
    }

    /// Only the last line counts: what an agent wrote may contain anything.
    pub(super) fn of(body: &str) -> Option<Self> {
        let line = body.trim_end().lines().next_back()?.trim();
        let words = line.strip_prefix(START)?.strip_suffix(END)?;
        let is_identity = |identity: &str| {
            !identity.is_empty() && identity.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        match words.split_once(' ') {
            None if words == "review" => Some(Self::Summary),
            Some(("issue", identity)) if is_identity(identity) => {
                Some(Self::Issue(identity.to_owned()))
            }
            Some(("done", identity)) if is_identity(identity) => {
                Some(Self::DoneIssue(identity.to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_back_from_the_last_line_alone() {
        for marker in [
            Marker::Summary,
            Marker::Issue("0a1b".to_owned()),
            Marker::DoneIssue("0a1b".to_owned()),
        ] {
            assert_eq!(Marker::of(&marker.mark("text\n")), Some(marker.clone()));
            assert_eq!(Marker::of(&format!("{}\nmore", marker.mark("text"))), None);
        }
        assert_eq!(Marker::of("<!-- probity:issue a b -->"), None);
        assert_eq!(Marker::of(""), None);
    }
}
