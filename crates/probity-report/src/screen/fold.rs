//! Folds long lines between words.
//!
//! A line of a table goes on below the start of its last column, every other line two columns after its own
//! start. A word that is wider than the screen stays whole, because a cut URL or path is of no use.

use super::width::shown_width;

/// Columns that the last column of a table needs at least; a narrower one goes below the row.
const LEAST_COLUMN: usize = 24;
/// How far later lines go in.
const INDENT: usize = 2;

/// The text with every line that is wider than `width` folded. Lines of fenced code stay as they are.
pub(crate) fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || shown_width(line) <= width {
            folded.push_str(line);
        } else if let Some((row, last)) = narrow_column(line, width) {
            let below = " ".repeat(indent_of(line) + 2 * INDENT);
            push_folded(&mut folded, row, width, hang(row, width));
            folded.push('\n');
            push_folded(&mut folded, &format!("{below}{last}"), width, below.len());
        } else {
            push_folded(&mut folded, line, width, hang(line, width));
        }
        folded.push_str(end);
    }
    folded
}

/// The same with every line at the left edge, for a text that somebody else indents.
pub(crate) fn fold_flush(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        push_folded(&mut folded, line, width, 0);
    }
    folded
}

fn push_folded(folded: &mut String, line: &str, width: usize, hang: usize) {
    let hang = " ".repeat(hang);
    let start = folded.len();
    let mut column = 0;
    for (gap, word) in (Words { rest: line }) {
        let (gap_width, word_width) = (gap.len(), shown_width(word));
        let is_first = folded.len() == start;
        if !is_first && column + gap_width + word_width > width {
            folded.push('\n');
            folded.push_str(&hang);
            folded.push_str(word);
            column = hang.len() + word_width;
        } else {
            folded.push_str(gap);
            folded.push_str(word);
            column += gap_width + word_width;
        }
    }
}

/// The row and its last column, if that has too little room beside the others.
fn narrow_column(line: &str, width: usize) -> Option<(&str, &str)> {
    let start = indent_of(line);
    let at = start + line.get(start..)?.rfind("  ")?;
    let (row, last) = (line.get(..at)?.trim_end(), line.get(at + 2..)?);
    let column = shown_width(line.get(..at + 2)?);
    (column + LEAST_COLUMN > width && !last.is_empty()).then_some((row, last))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where later lines begin.
fn hang(line: &str, width: usize) -> usize {
    let start = indent_of(line);
    let text = line.get(start..).unwrap_or_default();
    // Items of a list go on below their first word.
    let bullet = if text.starts_with("- ") || text.starts_with("| ") { 2 } else { 0 };
    let last_column =
        text.rfind("  ").map(|at| shown_width(line.get(..start + at + 2).unwrap_or_default()));
    match last_column {
        Some(column) if column + LEAST_COLUMN <= width => column,
        None if bullet > 0 => start + bullet,
        _ => start + INDENT,
    }
}

/// The words of a line, each with the spaces before it. A number and its noun are one word.
struct Words<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Words<'t> {
    type Item = (&'t str, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let gap = self.rest.find(|c| c != ' ').unwrap_or(self.rest.len());
        let (gap, rest) = self.rest.split_at(gap);
        let mut end = rest.find(' ').unwrap_or(rest.len());
        // A number stays with the word that it counts.
        let is_number =
            rest.get(..end).is_some_and(|word| word.bytes().all(|c| c.is_ascii_digit()));
        let after = rest.get(end + 1..).unwrap_or_default();
        if is_number && end > 0 && !after.starts_with(' ') && !after.is_empty() {
            end += 1 + after.find(' ').unwrap_or(after.len());
        }
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some((gap, word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words() {
        let text = "\
a line of words that is too long for a screen of forty columns
    an indented line of words that is too long for it
- an item of a list whose text is too long for it
By rule: 2 buildkit/StageNameCasing, 1 hadolint/DL3008, 1 hadolint/DL3009
  check    lint every Dockerfile below this directory and fix it
  a-name-that-is-as-long-as-half-of-it    what it does in some words
  probity check --fix      apply fixes, and more
https://example.org/a/very/long/path/that/nobody/wants/to/see/cut
短い 日本語の文は 二倍の幅を 持つので 早く 折り返す 必要が ある

short
```
code that is longer than the screen and must stay as it is
```
";
        insta::assert_snapshot!(fold(text, 40), @r"
        a line of words that is too long for a
          screen of forty columns
            an indented line of words that is
              too long for it
        - an item of a list whose text is too
          long for it
        By rule: 2 buildkit/StageNameCasing,
          1 hadolint/DL3008, 1 hadolint/DL3009
          check    lint every Dockerfile below
                   this directory and fix it
          a-name-that-is-as-long-as-half-of-it
              what it does in some words
          probity check --fix
              apply fixes, and more
        https://example.org/a/very/long/path/that/nobody/wants/to/see/cut
        短い 日本語の文は 二倍の幅を 持つので
          早く 折り返す 必要が ある

        short
        ```
        code that is longer than the screen and must stay as it is
        ```
        ");
    }

    #[test]
    fn colors_take_no_room_and_folding_loses_nothing() {
        let text = "\u{1b}[1mten chars.\u{1b}[0m \u{1b}[31mten chars.\u{1b}[0m and some more words";
        assert_eq!(fold(text, 21).lines().next().map(shown_width), Some(21));
        for width in 20..60 {
            let folded = fold(text, width);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&folded), words(text));
            assert!(folded.lines().all(|line| shown_width(line) <= width), "{width}: {folded}");
        }
    }
}
