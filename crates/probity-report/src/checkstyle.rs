//! Checkstyle's XML, which most code review tools read.
//!
//! Severities are written as they are called here: hadolint's users are used to `style`, which
//! Checkstyle itself does not know. What is true of a whole file is at line 1 and has no column.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use probity_finding::LineIndex;
use probity_text::visible;

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
};

/// The version is that of the format, not ours.
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n";

#[derive(Debug, Default)]
pub(crate) struct Checkstyle {
    begun: bool,
}

impl Checkstyle {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            out.write_all(HEAD.as_bytes())?;
        }
        self.begun = true;
        Ok(())
    }
}

impl Reporter for Checkstyle {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        self.begin(out)?;
        let lines = LineIndex::new(file.text);
        writeln!(out, "  <file name=\"{}\">", attribute(file.path))?;
        for finding in file.findings {
            match finding.span.map(|span| LineRange::shown(&lines, span, Unit::Character)) {
                Some(place) => {
                    write!(out, "    <error line=\"{}\" column=\"{}\"", place.line, place.column)?;
                }
                None => write!(out, "    <error line=\"1\"")?,
            }
            writeln!(
                out,
                " severity=\"{}\" message=\"{}\" source=\"{}\"/>",
                finding.severity,
                attribute(&finding.message),
                attribute(&finding.rule)
            )?;
        }
        out.write_all(b"  </file>\n")
    }

    fn finish(mut self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.begin(out)?;
        out.write_all(b"</checkstyle>\n")
    }
}

/// Escapes the value of an attribute. Line ends and tabs need numbers, or a parser makes spaces of
/// them; what XML forbids altogether was made visible before.
fn attribute(text: &str) -> Cow<'_, str> {
    let text = visible::except(text, &['\t', '\n', '\r']);
    if !text.contains(['<', '>', '&', '"', '\'', '\t', '\n', '\r']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            _ => escaped.push(char),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use crate::{Format, samples};

    #[test]
    fn every_file_is_an_element_and_nothing_breaks_out_of_an_attribute() {
        insta::assert_snapshot!(samples::report(Format::Checkstyle), @r#"
<?xml version="1.0" encoding="UTF-8"?>
<checkstyle version="4.3">
  <file name="app/Dockerfile">
    <error line="1" severity="info" message="no stage sets a user" source="tally/no-user"/>
    <error line="1" column="6" severity="warning" message="the image is not tagged; pin a version" source="hadolint/DL3006"/>
    <error line="1" column="13" severity="style" message="`as` and `FROM` differ in case" source="buildkit/FromAsCasing"/>
    <error line="2" column="15" severity="error" message="sudo does not work as it seems to" source="hadolint/DL3004"/>
  </file>
  <file name="clean.Dockerfile">
  </file>
  <file name="a b/ü%20&amp;,:.Dockerfile">
    <error line="1" column="1" severity="warning" message="a | b ` * _x_ &lt;b&gt;&amp;amp; [l](u)\" source="x/from"/>
    <error line="2" column="1" severity="warning" message="&lt;&gt;&amp;&quot;&apos; 100% ␛[31mred␀&#10;second, line: &lt;U+009B&gt;&lt;U+202E&gt;" source="x/run"/>
  </file>
  <file name="empty.Dockerfile">
    <error line="1" severity="error" message="the file is empty" source="buildkit/empty"/>
  </file>
</checkstyle>
"#);
    }
}
