//! JUnit's XML, which test tools of most languages can write: one element for each test.
//!
//! Read by hand, because only elements and attributes matter, and a report that a test could write
//! must neither be trusted nor expand into more than it is: no document type, no entities of its own.

use super::{MalformedReport, Report, State, TestReport};

/// Between the class of a test and its name.
const SEPARATOR: &str = " > ";

/// Bytes that are kept of a message.
const MOST_MESSAGE: usize = 4 << 10;

impl Report {
    /// Every test as it stands in the report; a name may be there more than once.
    pub(crate) fn of_junit(text: &str) -> Result<Self, MalformedReport> {
        let mut report = Self::default();
        let mut open: Vec<&str> = Vec::new();
        let mut test: Option<TestReport> = None;
        let mut reader = Reader { text, rest: text };
        while let Some(piece) = reader.next()? {
            match piece {
                Piece::Text(text) => {
                    let in_failure = matches!(open.last(), Some(&("failure" | "error")));
                    if let Some(test) = &mut test
                        && in_failure
                        && test.message.len() < MOST_MESSAGE
                    {
                        test.message.push_str(&text);
                    }
                }
                Piece::Open { name, attributes, is_empty } => {
                    let is_root = open.is_empty();
                    if is_root && !matches!(name, "testsuites" | "testsuite") {
                        return Err(reader.fault(format!("<{name}> is not a JUnit report")));
                    }
                    match (name, test.as_mut()) {
                        ("testcase", None) => test = Some(started(&attributes)),
                        (kind, Some(test)) => note(test, kind, &attributes),
                        _ => {}
                    }
                    if !is_empty {
                        open.push(name);
                    } else if name == "testcase" {
                        report.tests.extend(test.take());
                    }
                }
                Piece::Close(name) => {
                    if open.pop() != Some(name) {
                        return Err(reader.fault(format!("</{name}> closes nothing")));
                    }
                    if name == "testcase" {
                        report.tests.extend(test.take());
                    }
                    if open.is_empty() {
                        return Ok(report);
                    }
                }
            }
        }
        let within = open.last().map_or("nothing".to_owned(), |name| format!("<{name}>"));
        // An empty root is a report of no tests.
        if open.is_empty() && text.contains("/>") {
            return Ok(report);
        }
        Err(reader.fault(format!("the report ends inside {within}")))
    }
}

/// Whether a test of a report is the one that is called so, with its class or without it.
pub(crate) fn is_named(test: &str, wanted: &str) -> bool {
    let (class, name) = test.rsplit_once(SEPARATOR).unwrap_or(("", test));
    let bare = name.strip_suffix("()").unwrap_or(name);
    let plain = wanted.strip_suffix("()").unwrap_or(wanted);
    let short = class.rsplit(['.', '\\', '$']).next().unwrap_or(class);
    let with_class = |class: &str| {
        let rest = plain.strip_prefix(class).and_then(|rest| rest.strip_suffix(bare));
        rest.is_some_and(|between| matches!(between, "." | "#" | "::" | " " | "/" | SEPARATOR))
    };
    wanted == name || plain == bare || wanted == test || with_class(class) || with_class(short)
}

fn started(attributes: &Attributes) -> TestReport {
    let own = attributes.get("name");
    let class =
        attributes.get("classname").filter(|class| !class.is_empty() && Some(*class) != own);
    let name = match (class, own) {
        (Some(class), Some(name)) => format!("{class}{SEPARATOR}{name}"),
        (_, name) => name.unwrap_or_default().to_owned(),
    };
    let is_left_out = matches!(attributes.get("status"), Some("notrun" | "disabled"));
    let state = if is_left_out { State::Skipped } else { State::Passed };
    let seconds = attributes.get("time").and_then(|time| time.replace(',', "").parse().ok());
    let file = attributes.get("file").map(str::to_owned);
    TestReport { file, seconds, ..TestReport::new(name, state) }
}

/// What an element inside of a test says about it.
fn note(test: &mut TestReport, element: &str, attributes: &Attributes) {
    match element {
        "failure" | "error" => {
            test.state = State::Failed;
            test.kind = attributes.get("type").filter(|kind| !kind.is_empty()).map(str::to_owned);
            test.message = attributes.get("message").unwrap_or_default().to_owned();
        }
        "skipped" if test.state == State::Passed => test.state = State::Skipped,
        _ => {}
    }
}

struct Attributes(Vec<(String, String)>);

impl Attributes {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

enum Piece<'a> {
    Open { name: &'a str, attributes: Attributes, is_empty: bool },
    Close(&'a str),
    Text(String),
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<Piece<'a>>, MalformedReport> {
        loop {
            if self.rest.is_empty() {
                return Ok(None);
            }
            if !self.rest.starts_with('<') {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                return Ok(Some(Piece::Text(unescaped(self.take(end)))));
            }
            if self.skip("<!--", "-->")?.is_some() || self.skip("<?", "?>")?.is_some() {
                continue;
            }
            if let Some(text) = self.skip("<![CDATA[", "]]>")? {
                return Ok(Some(Piece::Text(text.to_owned())));
            }
            if self.rest.starts_with("<!") {
                return Err(self.fault("a document type is not allowed".to_owned()));
            }
            if let Some(name) = self.skip("</", ">")? {
                return Ok(Some(Piece::Close(name.trim_end())));
            }
            return self.element().map(Some);
        }
    }

    fn element(&mut self) -> Result<Piece<'a>, MalformedReport> {
        self.take(1);
        let is_name = |letter: char| letter.is_alphanumeric() || "_-.:".contains(letter);
        let length = |text: &str| text.find(|letter| !is_name(letter)).unwrap_or(text.len());
        let name = self.take(length(self.rest));
        if name.is_empty() {
            return Err(self.fault("`<` is not the start of an element".to_owned()));
        }
        let mut attributes = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            for (end, is_empty) in [("/>", true), (">", false)] {
                if self.rest.starts_with(end) {
                    self.take(end.len());
                    return Ok(Piece::Open { name, attributes: Attributes(attributes), is_empty });
                }
            }
            let key = self.take(length(self.rest));
            self.rest = self.rest.trim_start().strip_prefix('=').unwrap_or("").trim_start();
            let quote = if self.rest.starts_with('\'') { "'" } else { "\"" };
            let value = self.skip(quote, quote)?;
            let (false, Some(value)) = (key.is_empty(), value) else {
                return Err(self.fault(format!("an attribute of <{name}> has no value")));
            };
            attributes.push((key.to_owned(), unescaped(value)));
        }
    }

    /// What is between two marks, if the rest starts with the first one.
    fn skip(&mut self, from: &str, to: &str) -> Result<Option<&'a str>, MalformedReport> {
        let Some(inner) = self.rest.strip_prefix(from) else { return Ok(None) };
        let Some((inner, rest)) = inner.split_once(to) else {
            return Err(self.fault(format!("`{from}` has no end")));
        };
        self.rest = rest;
        Ok(Some(inner))
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn fault(&self, what: String) -> MalformedReport {
        let read = self.text.len().saturating_sub(self.rest.len());
        let line = self.text.get(..read).unwrap_or_default().matches('\n').count() + 1;
        MalformedReport { line, what }
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('&');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let known = part.split_once(';').and_then(|(entity, rest)| {
            let number = |digits: &str, radix| {
                u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
            };
            let letter = match entity {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => match entity.strip_prefix("#x") {
                    Some(digits) => number(digits, 16)?,
                    None => number(entity.strip_prefix('#')?, 10)?,
                },
            };
            Some((letter, rest))
        });
        match known {
            Some((letter, rest)) => {
                plain.push(letter);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Report, State, is_named};

    #[test]
    fn tests_are_read_with_their_ends() {
        let text = "<?xml version=\"1.0\"?>\n<!-- <testcase name=\"no\"/> -->\n<testsuites><testsuite name='s'>\
            <properties><property name=\"a\" value=\"x>y\"/></properties>\
            <testcase name=\"adds()\" classname=\"p.CalcTest\" time=\"1,000.5\"/>\
            <testcase name=\"a &lt; b &#38; &#x63;\" classname=\"K\"><failure type=\"E\" message=\"m\">\n\
            <![CDATA[<testcase name=\"no\"/>]]></failure><system-out>x</system-out></testcase>\
            <testcase name=\"e\"><error>boom</error></testcase>\
            <testcase name=\"s\" classname=\"s\"><skipped/></testcase>\
            <testcase name=\"d\" status=\"disabled\"></testcase>\
            </testsuite></testsuites>\n";
        let report = Report::of_junit(text).unwrap();
        let told: Vec<_> =
            report.tests.iter().map(|test| (test.name.as_str(), test.state)).collect();
        assert_eq!(
            told,
            [
                ("p.CalcTest > adds()", State::Passed),
                ("K > a < b & c", State::Failed),
                ("e", State::Failed),
                ("s", State::Skipped),
                ("d", State::Skipped),
            ]
        );
        let failed = &report.tests[1];
        assert_eq!(failed.message, "m\n<testcase name=\"no\"/>");
        assert_eq!((failed.kind.as_deref(), report.tests[0].seconds), (Some("E"), Some(1000.5)));
        assert_eq!(Report::of_junit("<testsuites/>").unwrap().tests.len(), 0);
    }

    #[test]
    fn what_is_broken_is_said_with_its_line() {
        for (text, expected) in [
            ("<html><body/></html>", "line 1: <html> is not a JUnit report"),
            ("<testsuite>\n<testcase name=\"a\">", "line 2: the report ends inside <testcase>"),
            ("<testsuite><testcase></testsuite>", "line 1: </testsuite> closes nothing"),
            ("<testsuite>\n<testcase name=>", "line 2: an attribute of <testcase> has no value"),
            ("<testsuite>\n\n<testcase name=\"a", "line 3: `\"` has no end"),
            (
                "<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>",
                "line 1: a document type is not allowed",
            ),
            ("<testsuite><!-- ", "line 1: `<!--` has no end"),
            ("< >", "line 1: `<` is not the start of an element"),
            ("", "line 1: the report ends inside nothing"),
        ] {
            let fault = Report::of_junit(text).unwrap_err();
            assert_eq!(fault.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_test_is_known_by_any_of_its_names() {
        for (test, wanted, expected) in [
            ("p.CalcTest > adds()", "adds", true),
            ("p.CalcTest > adds()", "CalcTest.adds", true),
            ("p.CalcTest > adds()", "p.CalcTest#adds", true),
            ("p.CalcTest > adds()", "CalcTest::adds()", true),
            ("p.CalcTest > adds()", "p.CalcTest > adds()", true),
            ("A\\CalcTest > testAdds", "CalcTest::testAdds", true),
            ("Calc.Adds", "Calc.Adds", true),
            ("p.CalcTest > adds()", "add", false),
            ("p.CalcTest > adds()", "OtherTest.adds", false),
            ("adds more", "adds", false),
        ] {
            assert_eq!(is_named(test, wanted), expected, "{test} / {wanted}");
        }
    }
}
