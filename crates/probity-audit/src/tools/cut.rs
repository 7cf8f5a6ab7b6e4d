//! Output of a bounded length, and the words that stand for none.

use crate::coverage::ShownLines;

/// What a request comes to: the text for the model, and which lines of files it holds.
#[derive(Debug, Default)]
pub struct Reading {
    pub text: String,
    pub(crate) shown: Vec<ShownLines>,
}

impl From<String> for Reading {
    fn from(text: String) -> Self {
        Self { text, shown: Vec::new() }
    }
}

/// The most characters of one output.
pub(crate) const MOST_CHARS: usize = 30_000;

/// Collects output until there is enough of it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    chars: usize,
}

impl Output {
    /// Says whether more is wanted.
    pub(crate) fn push(&mut self, text: &str) -> bool {
        if self.chars <= MOST_CHARS {
            self.text.push_str(text);
            self.chars += text.chars().count();
        }
        !self.is_full()
    }

    /// Whether the whole of a text would be shown.
    pub(crate) fn has_room_for(&self, text: &str) -> bool {
        self.chars + text.chars().count() <= MOST_CHARS
    }

    pub(crate) fn is_full(&self) -> bool {
        self.chars > MOST_CHARS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// As the command with this exit status would have left it.
    pub(crate) fn end(self, status: u8) -> String {
        if self.text.is_empty() {
            return format!("(no output; command exited with status {status})");
        }
        let mut text = cut(&self.text);
        if status != 0 {
            text.push_str(&exited_with(status));
        }
        text
    }
}

/// The text after the output of a command that did not succeed.
pub(crate) fn exited_with(status: u8) -> String {
    format!("\n(command exited with status {status})")
}

/// What a command says on stderr before it ends with a status other than 0.
pub(crate) fn failed(message: &str, status: u8) -> String {
    let mut output = Output::default();
    output.push(message);
    output.end(status)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => {
            let kept = text.get(..at).unwrap_or_default();
            format!("{kept}\n...(truncated to {MOST_CHARS} chars)")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_at_30000_characters_with_the_marker() {
        let exactly = "ä".repeat(MOST_CHARS);
        let mut output = Output::default();
        assert!(output.push(&exactly));
        assert_eq!(output.end(0), exactly);
        let mut output = Output::default();
        assert!(!output.push(&format!("{exactly}b")));
        assert_eq!(output.end(0), format!("{exactly}\n...(truncated to 30000 chars)"));
    }

    #[test]
    fn nothing_and_failures_are_told_with_their_status() {
        assert_eq!(Output::default().end(1), "(no output; command exited with status 1)");
        assert_eq!(
            failed("cat: a: Is a directory", 1),
            "cat: a: Is a directory\n(command exited with status 1)"
        );
    }
}
