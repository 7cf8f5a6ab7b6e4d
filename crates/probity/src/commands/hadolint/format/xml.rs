//! Text inside XML.

use probity_text::visible;

/// The text as it may stand in an attribute or between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in visible::line(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(char),
        }
    }
    out
}
