//! Pages that one file holds: nothing is loaded, nothing runs, and strangers' text stays text.

/// A page of its own, readable on light and on dark screens. `title` is text; `body` is HTML.
///
/// The page allows itself no script, no frame and no request, so that a text that got past
/// [`escape`] could still do nothing.
#[must_use]
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         </body>\n</html>\n"
    )
}

/// Text for an element or a quoted attribute. Characters that no page may hold become a mark.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            hidden if hidden.is_control() || crate::is_hidden(hidden) => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

const STYLE: &str = include_str!("html/page.css");

#[cfg(test)]
mod tests {
    use super::{escape, page};

    #[test]
    fn text_stays_text() {
        for (text, expected) in [
            ("a < b && c > 'd'", "a &lt; b &amp;&amp; c &gt; &#39;d&#39;"),
            ("\"><script>alert(1)</script>", "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("x\u{202e}y\u{0}z\r\n\t", "x\u{fffd}y\u{fffd}z\u{fffd}\n\t"),
        ] {
            assert_eq!(escape(text), expected);
        }
        let page = page("</title><b>", "<p>hello</p>\n");
        assert!(page.contains("<title>&lt;/title&gt;&lt;b&gt;</title>"), "{page}");
        assert!(page.contains("<main>\n<p>hello</p>\n</main>"), "{page}");
        for word in ["<script", "http://", "https://", "url("] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
