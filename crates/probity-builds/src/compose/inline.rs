//! Where the lines of an inline Dockerfile are in the file around it.

use serde_saphyr::Spanned;

/// The place of `dockerfile_inline` in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinePlace {
    /// 1-based line of the file that holds the first line of the Dockerfile; the line of the key if
    /// lines do not correspond.
    pub first_line: usize,
    /// Bytes of indentation before each line of the Dockerfile.
    pub indentation: usize,
    /// Whether each line of the Dockerfile is a line of the file: true for a literal block (`|`).
    pub is_line_by_line: bool,
}

impl InlinePlace {
    /// `source` is the file, or `None` if the value is from another file.
    pub(super) fn of(source: Option<&str>, inline: &Spanned<String>) -> Self {
        let line = usize::try_from(inline.defined.line()).unwrap_or(1).max(1);
        let nowhere = Self { first_line: line, indentation: 0, is_line_by_line: false };
        let Some(source) = source else { return Self { first_line: 1, ..nowhere } };
        let lines: Vec<&str> = source.lines().collect();
        // The parser reports the content of a block, or the line with its `|`.
        let header = [line.wrapping_sub(2), line - 1].into_iter().find(|at| {
            lines.get(*at).is_some_and(|text| {
                text.split(" #").next().unwrap_or_default().trim_end().ends_with(['|', '-', '+'])
                    && text.contains('|')
            })
        });
        let Some(header) = header else { return nowhere };
        let content = lines.iter().enumerate().skip(header + 1);
        let Some((_, text)) = content.clone().find(|(_, text)| !text.trim().is_empty()) else {
            return nowhere;
        };
        let indentation = text.len() - text.trim_start_matches(' ').len();
        Self { first_line: header + 2, indentation, is_line_by_line: true }
    }

    /// The 1-based line and the 0-based byte column of the file for those of the Dockerfile.
    #[must_use]
    pub fn in_file(&self, line: usize, column: usize) -> (usize, usize) {
        if self.is_line_by_line {
            (self.first_line + line.saturating_sub(1), column + self.indentation)
        } else {
            (self.first_line, 0)
        }
    }
}
