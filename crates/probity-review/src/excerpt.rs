//! The few lines of a test's output that say what went wrong.
//!
//! Runners frame a complaint with what helps their own authors: names of steps, summaries, stacks of
//! the framework. A reader wants the complaint, and where in the flagged file it came from.

use crate::clean::one_line;

/// Frames of the flagged file that are shown beside the complaint.
const FRAMES: usize = 2;
/// Enough for both values of nearly every comparison; beyond it, the reader learns how much is missing.
const COMPLAINT_CHARS: usize = 2_000;
/// Lines with values beyond the others; a difference of two long texts has many.
const MOST_VALUES: usize = 40;

/// At most this many lines of the output; `file` is the flagged one.
#[must_use]
pub fn excerpt(output: &str, file: &str, most: usize) -> String {
    let (told, mut frames) = sorted(output, file);
    frames.truncate(FRAMES.min(most / 2));
    let room = most - frames.len();
    let complaint = told.iter().position(|line| is_complaint(line));
    let from = match complaint {
        _ if told.len() <= room => 0,
        // Python shows the failing statement in the line above.
        Some(at) => {
            at - usize::from(at > 0 && told.get(at - 1).is_some_and(|line| is_quoted(line)))
        }
        None => told.len() - room,
    };
    let shown = told.iter().skip(from).take(room).map(|line| line.trim_end().to_owned());
    let mut lines: Vec<String> = shown.collect();
    // Without the expected and the actual value nobody can judge the complaint.
    let mut rest = told.iter().skip(from + room).filter(|line| is_value(line));
    lines.extend(rest.by_ref().take(MOST_VALUES).map(|line| line.trim_end().to_owned()));
    match rest.count() {
        0 => {}
        1 => lines.push("… 1 more line with values".to_owned()),
        more => lines.push(format!("… {more} more lines with values")),
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    // What is deep inside a report of the runner need not be deep inside ours.
    let depth = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let least = lines.iter().filter(|line| !line.is_empty()).map(depth).min().unwrap_or(0);
    for line in &mut lines {
        line.drain(..least.min(depth(line)));
    }
    frames.retain(|frame| !lines.iter().any(|line| line.contains(frame.as_str())));
    lines.extend(frames.into_iter().map(|frame| format!("at {frame}")));
    lines.join("\n")
}

/// The first line that says what is wrong.
pub(crate) fn complaint(output: &str) -> Option<String> {
    let (told, _) = sorted(output, "");
    let line = told.into_iter().find(|line| is_complaint(line))?.trim();
    let whole = one_line(line.strip_prefix("E ").unwrap_or(line), usize::MAX);
    let cut = whole.chars().count().saturating_sub(COMPLAINT_CHARS);
    if cut == 0 {
        return Some(whole);
    }
    Some(format!("{} ({cut} more characters)", one_line(&whole, COMPLAINT_CHARS)))
}

/// What is told, without framing; and the places in the flagged file that a stack names.
fn sorted<'a>(output: &'a str, file: &str) -> (Vec<&'a str>, Vec<String>) {
    let mut told: Vec<&str> = Vec::new();
    let mut frames = Vec::new();
    let mut in_stack = false;
    for line in output.lines() {
        let words = line.trim();
        // Only repeats what was said above it.
        if words.starts_with("===") && words.contains("short test summary info") {
            break;
        }
        in_stack |= words.starts_with("goroutine ") && words.ends_with("]:");
        if in_stack || words.starts_with("at ") {
            frames.extend(place_in(words, file));
            continue;
        }
        let is_blank = words.is_empty();
        if is_framing(words) || (is_blank && told.last().is_none_or(|line| line.trim().is_empty()))
        {
            continue;
        }
        told.push(line);
    }
    frames.dedup();
    (told, frames)
}

fn is_framing(words: &str) -> bool {
    const STARTS: &[&str] = &[
        "=== RUN",
        "=== NAME",
        "=== PAUSE",
        "=== CONT",
        "--- PASS:",
        "--- FAIL:",
        "FAIL\t",
        "ok  \t",
        "coverage: ",
        "exit status ",
        "=====",
        "_____",
        "note: run with `RUST_BACKTRACE",
        "[signal ",
        // Frames of Python outside of the repository, whose own paths are relative.
        "File \"/",
        "File \"<frozen ",
        "Thread 0x",
    ];
    matches!(words, "FAIL" | "PASS")
        || STARTS.iter().any(|start| words.starts_with(start))
        || (words.ends_with("%]") && words.starts_with(['.', 'F', 'E']))
}

fn is_quoted(line: &str) -> bool {
    line.starts_with('>')
}

/// A line that has one of the two values of a comparison.
fn is_value(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches("E ").trim_start().to_ascii_lowercase();
    let names = ["expected", "actual", "received", "got", "want", "left", "right"];
    let is_named = names.iter().any(|name| {
        words.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with([':', '=']))
    });
    is_named || words.starts_with("+ ") || words.starts_with("- ")
}

fn is_complaint(line: &str) -> bool {
    const STARTS: &[&str] =
        &["panic:", "fatal error:", "E ", "Error", "error", "expect(", "assertion "];
    const PARTS: &[&str] = &["Error:", "Error [", "panicked at", "_test.go:"];
    let words = line.trim_start();
    STARTS.iter().any(|start| words.starts_with(start))
        || PARTS.iter().any(|part| words.contains(part))
        || names_go_place(words)
}

/// `FILE.go:LINE:COLUMN: …`, as the compiler writes it.
fn names_go_place(words: &str) -> bool {
    let after = words.split_once(".go:").map(|(_, after)| after).unwrap_or_default();
    let mut parts = after.splitn(3, ':');
    let mut is_number = || parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    is_number() && is_number()
}

/// `FILE:LINE`, if that is what the words name.
fn place_in(words: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return None;
    }
    let after = words.split_once(file)?.1.strip_prefix(':')?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("{file}:{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_shows_its_message_and_the_frame_of_the_flagged_file() {
        let output = "=== RUN   TestView\n--- FAIL: TestView (0.00s)\n\
            panic: nil pointer dereference [recovered]\n[signal SIGSEGV: code=0x1]\n\n\
            goroutine 22 [running]:\ntesting.tRunner.func1()\n\t/go/src/testing.go:2128 +0x329\n\
            m/api.(*server).view(0x1)\n\tapi/api.go:67 +0x232\n\
            m/api.TestView(0x2)\n\tapi/zz_test.go:13 +0x15a\ncreated by testing.(*T).Run\n";
        assert_eq!(
            excerpt(output, "api/api.go", 8),
            "panic: nil pointer dereference [recovered]\nat api/api.go:67"
        );
    }

    #[test]
    fn framing_goes_and_the_complaint_stays_however_long_the_rest_is() {
        let go = "=== RUN   TestSum\n=== NAME  TestSum\n    zz_test.go:20: got 3\n\
                  --- FAIL: TestSum (0.00s)\n=== NAME  \nFAIL\ncoverage: 23.1% of statements\n";
        assert_eq!(excerpt(go, "a.go", 8), "zz_test.go:20: got 3");
        let diff = "E         line\n".repeat(30);
        let python = format!(
            "F     [100%]\n===== FAILURES =====\n____ test_a ____\n\n    def test_a():\n        \
             first = one()\n        second = two()\n>       assert first == second\n\
             E       AssertionError: assert 1 == 2\n{diff}\ntests/test_a.py:7: AssertionError\n\
             ==== short test summary info ====\nFAILED tests/test_a.py::test_a\n"
        );
        assert_eq!(
            excerpt(&python, "a.py", 3),
            ">       assert first == second\nE       AssertionError: assert 1 == 2\nE         line"
        );
        let hang = format!(
            "Timeout (0:00:30)!\nThread 0x0f (most recent call first):\n  File \"a.py\", line 3 in f\n  \
             File \"t.py\", line 4 in test_f\n{}  File \"<frozen runpy>\", line 88 in _run_code\n",
            "  File \"/usr/lib/pluggy.py\", line 1 in call\n".repeat(30)
        );
        assert_eq!(
            excerpt(&hang, "a.py", 8),
            "Timeout (0:00:30)!\n  File \"a.py\", line 3 in f\n  File \"t.py\", line 4 in test_f"
        );
        let nothing = "one\ntwo\nthree";
        assert_eq!(excerpt(nothing, "a.go", 2), "two\nthree");
        assert_eq!(excerpt("", "", 0), "");
    }

    #[test]
    fn expected_and_actual_values_are_shown_however_much_is_between_them() {
        let between = "  some context\n".repeat(30);
        for (output, values) in [
            (
                format!("assertion `left == right` failed\n{between}  left: 6\n right: 3\n"),
                "left: 6\nright: 3",
            ),
            (
                format!(
                    "Error: expect(received).toBe(expected)\n{between}Expected: 3\nReceived: 6\n"
                ),
                "Expected: 3\nReceived: 6",
            ),
            (format!("AssertionError [ERR_ASSERTION]: not equal\n{between}+ 6\n- 3\n"), "+ 6\n- 3"),
        ] {
            let shown = excerpt(&output, "a.rs", 4);
            let lines: Vec<&str> = shown.lines().map(str::trim).collect();
            assert_eq!(lines[4..].join("\n"), values, "{shown}");
        }
    }

    #[test]
    fn what_a_compiler_or_a_loader_complains_of_is_one_line() {
        for (output, says) in [
            (
                "# m/a [m/a.test]\na/zz_test.go:6:5: undefined: x\n",
                "a/zz_test.go:6:5: undefined: x",
            ),
            (
                "error[E0433]: cannot find `p`\n --> tests/zz.rs:3:5\n",
                "error[E0433]: cannot find `p`",
            ),
            (
                "Traceback:\nE   ModuleNotFoundError: No module named 'x'\n",
                "ModuleNotFoundError: No module named 'x'",
            ),
            (
                "failed to load config\n\nError: ENOENT: mkdir\n    at x (y:1:2)\n",
                "Error: ENOENT: mkdir",
            ),
        ] {
            assert_eq!(complaint(output).as_deref(), Some(says), "{output}");
        }
        assert_eq!(complaint("nothing of the kind\n"), None);
    }

    #[test]
    fn long_values_are_whole_and_what_is_cut_is_counted() {
        let value = |length: usize| "x".repeat(length);
        let said = |length| complaint(&format!("E   AssertionError: {}\n", value(length))).unwrap();
        assert_eq!(said(1_900), format!("AssertionError: {}", value(1_900)));
        assert_eq!(
            said(3_000),
            format!("AssertionError: {}… (1016 more characters)", value(1_984))
        );
        let many = "+ 6\n".repeat(60);
        let shown = excerpt(&format!("Error: not equal\n{many}"), "a.rs", 4);
        assert_eq!(shown.lines().count(), 4 + MOST_VALUES + 1);
        assert!(shown.ends_with("\n… 17 more lines with values"), "{shown}");
    }
}
