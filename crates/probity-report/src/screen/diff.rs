//! A unified diff in colors. Its lines are never folded: they are lines of files.

use crate::{Paint, Screen};

impl Screen {
    pub fn painted_diff(self, diff: &str) -> String {
        if !self.is_colored {
            return diff.to_owned();
        }
        let mut painted = String::with_capacity(diff.len() * 2);
        let mut is_hunk = false;
        for line in diff.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            // In a hunk a line that begins with `--- ` is a removed one.
            is_hunk = !line.starts_with("diff ") && (is_hunk || line.starts_with("@@"));
            let paint = match line.bytes().next() {
                Some(b'@') => Some(Paint::Place),
                Some(b'+' | b'-' | b'd') if !is_hunk => Some(Paint::Strong),
                Some(b'+') => Some(Paint::Added),
                Some(b'-') => Some(Paint::Removed),
                _ => None,
            };
            match paint {
                Some(paint) => painted.push_str(&self.painted(paint, line)),
                None => painted.push_str(line),
            }
            painted.push_str(end);
        }
        painted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_have_their_colors_and_the_text_stays() {
        let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n same\n--- was a list\n+new\n\\ No newline at end of file\n";
        let screen = Screen { is_colored: true, ..Screen::PLAIN };
        let painted = screen.painted_diff(diff);
        insta::assert_snapshot!(painted.replace('\u{1b}', "␛"), @r"
        ␛[1m--- a/f␛[0m
        ␛[1m+++ b/f␛[0m
        ␛[36m@@ -1,3 +1,3 @@␛[0m
         same
        ␛[31m--- was a list␛[0m
        ␛[32m+new␛[0m
        \ No newline at end of file
        ");
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), diff);
        assert_eq!(Screen::PLAIN.painted_diff(diff), diff);
    }
}
