//! TAP of several files: each file of tests is a subtest of the first level, and its tests are below.

use super::{MOST_MESSAGE, point};
use crate::{
    RunDetail,
    runner::report::{Report, State, TestReport},
};

/// What comes before the name of a subtest.
const SUBTEST: &str = "# Subtest: ";

/// What our own module writes that is loaded before a file of tests.
const LEFT: &str = r#"{"event":"left""#;

const SEPARATOR: &str = " > ";

/// What marks a test in the TAP of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Each line that is `ok` or `not ok` is a test.
    Points,
    /// A comment names the test of the lines after it.
    Comments,
}

impl Report {
    /// `path` makes of a name that the report has for a file the one that we have.
    pub(crate) fn of_tap_files(text: &str, marks: Marks, path: impl Fn(&str) -> String) -> Self {
        let mut reading = Reading {
            marks,
            frames: vec![Frame::default()],
            report: Self::default(),
            diagnostic: None,
            is_left: false,
        };
        for line in text.lines() {
            reading.line(line, &path);
        }
        reading.close(1);
        reading.report.has_ended =
            reading.frames.first().is_some_and(|root| root.planned.is_some());
        reading.report
    }
}

/// A subtest that is open, or all of the report.
#[derive(Debug, Default)]
struct Frame {
    name: String,
    planned: Option<usize>,
    /// Lines that are `ok` or `not ok`.
    points: usize,
    /// The number of the first test in it that the report has.
    first: usize,
    title: Option<String>,
    message: String,
    kind: Option<String>,
}

struct Reading {
    marks: Marks,
    frames: Vec<Frame>,
    report: Report,
    /// How far the lines are indented of what explains a failure, and the depth that they belong to.
    diagnostic: Option<(usize, usize)>,
    /// Whether the process of the open file has ended itself.
    is_left: bool,
}

impl Reading {
    fn line(&mut self, line: &str, path: &impl Fn(&str) -> String) {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if let Some((of_block, depth)) = self.diagnostic {
            return self.explain(line, of_block, depth);
        }
        if line.starts_with(LEFT) {
            self.is_left = true;
            return;
        }
        let depth = indent / 4;
        if text.trim_end() == "---" && indent % 4 == 2 {
            self.diagnostic = Some((indent, depth));
            return;
        }
        // What a test prints may be indented more than any subtest.
        if !indent.is_multiple_of(4) || depth >= self.frames.len() {
            return;
        }
        if let Some(name) = text.strip_prefix(SUBTEST) {
            self.close(depth + 1);
            let name = if depth == 0 { path(name.trim()) } else { name.trim().to_owned() };
            let first = self.report.tests.len();
            self.frames.push(Frame { name, first, ..Frame::default() });
        } else if let Some((test, is_ok)) = point(text) {
            self.point(depth, test, is_ok);
        } else if let Some(plan) = text.strip_prefix("1..") {
            let count = plan.split_whitespace().next().and_then(|count| count.parse().ok());
            if let Some(frame) = self.frames.get_mut(depth) {
                frame.planned = count;
            }
        } else if let Some(title) = text.strip_prefix("# ")
            && let Some(frame) = self.frames.get_mut(depth)
        {
            frame.title = Some(title.trim().to_owned());
        }
    }

    fn point(&mut self, depth: usize, mut test: TestReport, is_ok: bool) {
        self.close(depth + 2);
        let child = if self.frames.len() == depth + 2 { self.frames.pop() } else { None };
        let Some(frame) = self.frames.get_mut(depth) else { return };
        frame.points += 1;
        if let Some(closed) = child {
            if depth == 0 {
                return self.end_file(closed, &test, is_ok);
            }
            test.message = closed.message;
            test.kind = closed.kind;
            test.name = self.named(depth, &closed.name);
            return self.report.tests.push(test);
        }
        if depth != 1 {
            return;
        }
        match (self.marks, frame.title.clone()) {
            (Marks::Comments, Some(title)) => {
                test.name = self.named(depth, &title);
                let known = self.report.tests.iter_mut().find(|known| known.name == test.name);
                match known {
                    Some(known) => known.state = known.state.min(test.state),
                    None => self.report.tests.push(test),
                }
            }
            _ => {
                test.name = self.named(depth, &test.name);
                self.report.tests.push(test);
            }
        }
    }

    /// A file that told of no test failed before its first one, or ended itself, as one does that ends
    /// without a plan.
    fn end_file(&mut self, file: Frame, told: &TestReport, is_ok: bool) {
        if file.planned == Some(0) && !is_ok {
            // Crashes are told of as if they were tests.
            self.report.tests.truncate(file.first);
        }
        let is_left = std::mem::take(&mut self.is_left);
        if let Some(title) =
            file.title.filter(|_| self.marks == Marks::Comments && file.planned.is_none())
        {
            // Nobody catches what a test throws, which ends the process.
            let state = if is_ok || is_left { State::Began } else { State::Failed };
            self.report.tell(TestReport::new(format!("{}{SEPARATOR}{title}", file.name), state));
        }
        let tests = self.report.tests.get_mut(file.first..).unwrap_or_default();
        for test in tests.iter_mut() {
            test.seconds = test.seconds.or(told.seconds);
        }
        if tests.is_empty() && !is_ok {
            self.report.without_end.get_or_insert(RunDetail::Unbuilt);
            self.report.unloaded.insert(file.name);
        } else if tests.is_empty() && is_ok && !is_left && self.marks == Marks::Comments {
            // A pattern of files of tests may fit one that has none.
        } else if file.planned.is_none() || tests.is_empty() {
            self.report.without_end = Some(RunDetail::EndedEarly);
            self.report.left.insert(file.name);
        }
    }

    /// Closes the subtests from a depth on; those have begun and not ended.
    fn close(&mut self, depth: usize) {
        while self.frames.len() > depth {
            let Some(frame) = self.frames.pop() else { return };
            if self.frames.len() > 1 {
                let name = self.named(self.frames.len() - 1, &frame.name);
                self.report.tests.push(TestReport::new(name, State::Began));
            }
        }
    }

    /// The name of a test at a depth, behind those of what it is in.
    fn named(&self, depth: usize, name: &str) -> String {
        let outer = self.frames.iter().take(depth + 1).skip(1).map(|frame| frame.name.as_str());
        outer.chain([name]).collect::<Vec<_>>().join(SEPARATOR)
    }

    /// Of a failure its explanation is kept, with the test that it belongs to.
    fn explain(&mut self, line: &str, indent: usize, depth: usize) {
        let text = line.get(indent..).unwrap_or_default();
        if text.trim_end() == "..." && line.len() - line.trim_start_matches(' ').len() == indent {
            self.diagnostic = None;
            return;
        }
        let kind = text
            .trim_start()
            .strip_prefix("name: ")
            .map(|kind| kind.trim_matches(['\'', '"']).to_owned());
        let (known, message) = match self.report.tests.last_mut() {
            Some(test) if depth < 2 && test.state == State::Failed => {
                (&mut test.kind, &mut test.message)
            }
            _ => match self.frames.get_mut(depth) {
                Some(frame) => (&mut frame.kind, &mut frame.message),
                None => return,
            },
        };
        if kind.is_some() && known.is_none() {
            *known = kind;
        }
        if message.len() < MOST_MESSAGE {
            message.push_str(text);
            message.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Marks, Report, State};

    fn told(text: &str, marks: Marks) -> (Vec<(String, State)>, Report) {
        let report = Report::of_tap_files(text, marks, |name| name.replace("/repo/", ""));
        (report.tests.iter().map(|test| (test.name.clone(), test.state)).collect(), report)
    }

    fn is(told: &[(String, State)], expected: &[(&str, State)]) {
        assert!(
            told.iter().map(|(name, state)| (name.as_str(), *state)).eq(expected.iter().copied()),
            "{told:?}"
        );
    }

    /// As tap 16 wrote it, without times.
    #[test]
    fn subtests_are_tests_of_their_file() {
        let text = "TAP version 13\n\
            # Subtest: /repo/a.js\n    ok 1 - bare\n    # Subtest: adds\n        ok 1 - equal\n        1..1\n    \
            ok 2 - adds # time=20.01ms\n    \n    # Subtest: fails\n        not ok 1 - should be equal\n          \
            ---\n          compare: ===\n            --- expected\n          ...\n        \n        # Subtest: \
            inner\n            ok 1 - x\n            1..1\n        ok 2 - inner # time=0.7ms\n        \
            1..2\n    not ok 3 - fails\n    \n    ok 4 - sk # SKIP\n    1..4\n    # failed 1 of 4 tests\n\
            not ok 1 - /repo/a.js # time=317.277ms\n  ---\n  exitCode: 1\n  ...\n\n\
            # Subtest: /repo/b.js\n    1..0 # no tests found\nnot ok 2 - /repo/b.js # time=9ms\n\
            # Subtest: /repo/c.js\n    # Subtest: z\n        ok 1\nok 3 - /repo/c.js\n1..3\n";
        let (tests, report) = told(text, Marks::Points);
        is(
            &tests,
            &[
                ("a.js > bare", State::Passed),
                ("a.js > adds", State::Passed),
                ("a.js > fails > inner", State::Passed),
                ("a.js > fails", State::Failed),
                ("a.js > sk", State::Skipped),
                ("c.js > z", State::Began),
            ],
        );
        assert_eq!(report.tests[1].seconds, Some(0.02001));
        assert_eq!(report.tests[3].message, "compare: ===\n  --- expected\n");
        assert_eq!(report.unloaded, ["b.js".to_owned()].into());
        assert_eq!(report.left, ["c.js".to_owned()].into());
        assert!(report.has_ended);
    }

    /// As tape 5 and ava 6 write it, in the frame that we put around each file.
    #[test]
    fn comments_or_lines_are_tests_of_their_file() {
        let thrown = "# Subtest: a.js\n    # one\n    ok 1 x\n    # two\nnot ok 1 - a.js # time=9ms\n\
            # Subtest: b.js\n    # one\n{\"event\":\"left\",\"file\":\"b.js\"}\nnot ok 2 - b.js\n\
            # Subtest: c.js\nok 3 - c.js\n1..3\n";
        let (tests, report) = told(thrown, Marks::Comments);
        is(
            &tests,
            &[
                ("a.js > one", State::Passed),
                ("a.js > two", State::Failed),
                ("b.js > one", State::Began),
            ],
        );
        assert_eq!(report.left, ["a.js".to_owned(), "b.js".to_owned()].into());
        let tape = "# Subtest: a.js\n    TAP version 13\n    # adds\n    ok 1 should be\n    ok 2 should be\n    \
            # fails\n    ok 3 x\n    not ok 4 should be\n      ---\n        operator: equal\n      ...\n    \n    \
            1..4\n    # tests 4\n    # pass  2\nnot ok 1 - a.js # time=9ms\n\
            # Subtest: b.js\n    # one\n    ok 1 x\nok 2 - b.js # time=9ms\n";
        let (tests, report) = told(tape, Marks::Comments);
        is(
            &tests,
            &[
                ("a.js > adds", State::Passed),
                ("a.js > fails", State::Failed),
                ("b.js > one", State::Began),
            ],
        );
        assert_eq!((report.left, report.has_ended), (["b.js".to_owned()].into(), false));
        let ava = "# Subtest: a.js\n    TAP version 13\n    ok 1 - adds\n    # note\n    not ok 2 - fails\n      \
            ---\n        name: AssertionError\n        message: ''\n      ...\n    1..2\nnot ok 1 - a.js\n\
            # Subtest: b.js\n    not ok 1 - Error: no module\n    not ok 2 - b.js exited\n    1..0\n\
            not ok 2 - b.js\n1..2\n";
        let (tests, report) = told(ava, Marks::Points);
        is(&tests, &[("a.js > adds", State::Passed), ("a.js > fails", State::Failed)]);
        assert_eq!(report.tests[1].kind.as_deref(), Some("AssertionError"));
        assert_eq!(report.unloaded, ["b.js".to_owned()].into());
    }
}
