//! A page that needs nothing besides itself: no script, no other file.

use std::fmt::Write as _;

use probity_text::visible;

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs, whatever an agent wrote.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A whole document. `more` is style that this page alone needs.
pub(crate) fn page(title: &str, more: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{more}</style>\n\
         </head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Words of a stranger: no markup, and nothing that hides.
pub(crate) fn escape(text: &str) -> String {
    let text = visible::block(text);
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(char),
        }
    }
    escaped
}

/// A table with a heading for each column.
pub(crate) fn table(caption: &str, headings: &[&str], rows: &[Vec<String>]) -> String {
    // Writing to a string cannot fail, here and below.
    let mut text = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<caption class=\"muted\">{0}</caption>\n<tr>",
        escape(caption)
    );
    for heading in headings {
        _ = write!(text, "<th scope=\"col\">{}</th>", escape(heading));
    }
    text.push_str("</tr>\n");
    for row in rows {
        text.push_str("<tr>");
        for cell in row {
            _ = write!(text, "<td>{cell}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}
