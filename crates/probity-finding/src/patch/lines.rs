//! A text as lines and line ends, so that lines can be compared and every end given back.

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    Lf,
    CrLf,
    /// The text ends without a newline.
    None,
}

impl LineEnd {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::None => "",
        }
    }
}

/// The lines of a text, each with its end; only `\n` and `\r\n` end a line.
///
/// A text without a single character has no lines, and a final newline begins no further line.
pub fn split(text: &str) -> Vec<(&str, LineEnd)> {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => match line.strip_suffix('\r') {
                Some(line) => (line, LineEnd::CrLf),
                None => (line, LineEnd::Lf),
            },
            None => (line, LineEnd::None),
        })
        .collect()
}
