//! Rows whose columns align, also with wide characters and with colors.

use super::width::{padded, shown_width};

/// What separates two columns; folding knows a column by it.
const GAP: &str = "  ";

#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns of numbers.
    right: &'static [usize],
}

impl Table {
    /// A table in which these columns, counted from 0, are aligned to the right.
    pub fn with_numbers(right: &'static [usize]) -> Self {
        Self { rows: Vec::new(), right }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// One line for each row, each with these spaces before it.
    pub fn text(&self, indent: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| shown_width(cell)).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.right.contains(&column) {
                    let missing = width.saturating_sub(shown_width(cell));
                    return format!("{}{cell}", " ".repeat(missing));
                }
                padded(cell, width)
            });
            let line = cells.collect::<Vec<_>>().join(GAP);
            text.push_str(&" ".repeat(indent));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_wide_characters_and_colors() {
        let mut table = Table::with_numbers(&[1]);
        table.row(["日本".to_owned(), "7".to_owned(), "last".to_owned()]);
        table.row(["\u{1b}[1mname\u{1b}[0m".to_owned(), "123".to_owned(), String::new()]);
        table.row(["grün".to_owned(), "45".to_owned(), "x".to_owned()]);
        let text = table.text(2);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text), @r"
          日本    7  last
          name  123
          grün   45  x
        ");
    }
}
