//! A page that needs nothing besides itself: no script, no other file.

use std::fmt::Write as _;

use probity_text::visible;

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs, whatever an agent wrote.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A whole document. `more` is style that this page alone needs.
pub fn page(title: &str, more: &str, body: &str) -> String {
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
pub fn escape(text: &str) -> String {
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

/// A name with slashes, which may go on in the next line after each of them.
pub fn path(name: &str) -> String {
    escape(name).replace('/', "/<wbr>")
}

/// A moment to the minute, in one line. What is not one is shown as it is.
pub fn moment(timestamp: &str) -> String {
    let is_in_form = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        b'T' => byte == b'T' || byte == b' ',
        other => byte == other,
    };
    let is_moment = timestamp.bytes().zip(*b"0000-00-00T00:00").all(is_in_form);
    match timestamp.split_at_checked(16) {
        Some((shown, rest)) if is_moment => {
            let is_utc = rest.ends_with('Z') || rest.ends_with("+00:00");
            let (shown, zone) = (shown.replace('T', " "), if is_utc { " UTC" } else { "" });
            format!("<time datetime=\"{}\">{shown}{zone}</time>", escape(timestamp))
        }
        _ => escape(timestamp),
    }
}

/// A count with a comma between thousands.
pub fn grouped(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let mut text = if count < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A table with a heading for each column. Columns of numbers are aligned on the right.
pub fn table(caption: &str, headings: &[&str], rows: &[Vec<String>]) -> String {
    let is_number = |cell: &str| {
        !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit() || b".,%".contains(&byte))
    };
    let class = |column: usize| {
        let mut cells =
            rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        let has_any = cells.clone().next().is_some();
        if has_any && cells.all(|cell| is_number(cell)) { " class=\"number\"" } else { "" }
    };
    let classes: Vec<&str> = (0..headings.len()).map(class).collect();
    // Writing to a string cannot fail, here and below.
    let mut text = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<caption class=\"muted\">{0}</caption>\n<tr>",
        escape(caption)
    );
    for (heading, class) in headings.iter().zip(&classes) {
        _ = write!(text, "<th scope=\"col\"{class}>{}</th>", escape(heading));
    }
    text.push_str("</tr>\n");
    for row in rows {
        text.push_str("<tr>");
        for (cell, class) in row.iter().zip(&classes) {
            _ = write!(text, "<td{class}>{cell}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_counts_and_columns_of_numbers_are_easy_to_read() {
        for (timestamp, shown) in [
            (
                "2026-11-17T07:30:20Z",
                "<time datetime=\"2026-11-17T07:30:20Z\">2026-11-17 07:30 UTC</time>",
            ),
            (
                "2026-11-17 07:30:20+01",
                "<time datetime=\"2026-11-17 07:30:20+01\">2026-11-17 07:30</time>",
            ),
            ("2026-11-17", "2026-11-17"),
            ("<b>6-11-17T07:30:20Z", "&lt;b&gt;6-11-17T07:30:20Z"),
            ("2026-11-17T07:3ü:20Z", "2026-11-17T07:3ü:20Z"),
            ("", ""),
        ] {
            assert_eq!(moment(timestamp), shown);
        }
        let counts = [0, 999, 1_000, 748_545, -12_345_678].map(grouped);
        assert_eq!(counts, ["0", "999", "1,000", "748,545", "-12,345,678"]);
        let row =
            |name: &str, count: &str, mixed: &str| [name, count, mixed].map(str::to_owned).to_vec();
        let rows = [row("a", "1,000", "1"), row("2", "", "none"), row("", "67%", "")];
        let text = table("", &["Name", "Count", "Mixed"], &rows);
        assert_eq!(text.matches("class=\"number\"").count(), 4, "{text}");
    }
}
