//! The end of what an agent wrote to its standard error.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::store::{STDERR_LINE, STDERR_SECOND, STDERR_TOTAL};

pub(crate) struct Tail {
    limit: usize,
    kept: Mutex<VecDeque<u8>>,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::new(VecDeque::new()) }
    }

    /// Reads to the end, and shows the lines; an agent must never wait for somebody to read its log.
    pub(crate) fn follow(&self, mut source: impl Read, mut show: impl FnMut(&str)) {
        let mut chunk = vec![0; 64 << 10];
        let mut lines = Lines::default();
        loop {
            match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => {
                    let news = chunk.get(..count).unwrap_or_default();
                    self.push(news);
                    lines.take(news, Instant::now(), &mut show);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        lines.finish(&mut show);
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let news = bytes.get(bytes.len().saturating_sub(self.limit)..).unwrap_or_default();
        let surplus = (kept.len() + news.len()).saturating_sub(self.limit).min(kept.len());
        kept.drain(..surplus);
        kept.extend(news);
    }

    pub(crate) fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
    }
}

/// Bytes into lines, each cut at its limit. Showing a line costs more than reading it, so there is a
/// limit for each second and one for all of them, and what is above them is only counted.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    shown: usize,
    second: Option<Second>,
    /// Lines that were not shown since the last one that was.
    dropped: usize,
}

/// A second that has begun, and the bytes shown in it.
struct Second {
    began: Instant,
    shown: usize,
}

impl Lines {
    fn take(&mut self, bytes: &[u8], now: Instant, show: &mut impl FnMut(&str)) {
        let is_over = |second: &Second| now.duration_since(second.began) >= Duration::from_secs(1);
        if self.second.as_ref().is_none_or(is_over) {
            self.second = Some(Second { began: now, shown: 0 });
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if !self.has_room() {
                self.dropped += rest.iter().filter(|byte| **byte == b'\n').count();
                self.line.clear();
                return;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
            let room = STDERR_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            rest = after.get(1..).unwrap_or_default();
            if end.is_some() {
                self.end(show);
            }
        }
    }

    fn has_room(&self) -> bool {
        let in_second = self.second.as_ref().map_or(0, |second| second.shown);
        self.shown < STDERR_TOTAL && in_second < STDERR_SECOND
    }

    fn end(&mut self, show: &mut impl FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return;
        }
        self.say_dropped(show);
        self.shown += line.len() + 1;
        if let Some(second) = &mut self.second {
            second.shown += line.len() + 1;
        }
        show(String::from_utf8_lossy(&line).trim_end());
    }

    fn finish(&mut self, show: &mut impl FnMut(&str)) {
        if self.has_room() {
            self.end(show);
        }
        self.say_dropped(show);
    }

    fn say_dropped(&mut self, show: &mut impl FnMut(&str)) {
        match std::mem::take(&mut self.dropped) {
            0 => {}
            1 => show("(1 line of its standard error is not shown)"),
            lines => show(&format!("({lines} lines of its standard error are not shown)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let tail = Tail::new(5);
        for (news, expected) in [("ab", "ab"), ("cdef", "bcdef"), ("0123456789", "56789")] {
            tail.follow(news.as_bytes(), |_| {});
            assert_eq!(tail.text(), expected);
        }
    }

    #[test]
    fn lines_are_shown_as_they_come_and_within_bounds() {
        let shown = |text: &str| {
            let mut lines = Vec::new();
            Tail::new(5).follow(text.as_bytes(), |line| lines.push(line.to_owned()));
            lines
        };
        assert_eq!(shown("one\n\ntwo\r\nlast"), ["one", "two", "last"]);
        let long = shown(&format!("{}\nnext\n", "x".repeat(3 * STDERR_LINE)));
        assert_eq!((long[0].len(), long[1].as_str()), (STDERR_LINE, "next"));
    }

    #[test]
    fn a_flood_is_cut_each_second_and_at_last_and_what_is_left_out_is_counted() {
        let flood = "a line of no use\n".repeat(STDERR_SECOND / 8);
        let (mut lines, mut shown) = (Lines::default(), Vec::new());
        let mut show = |line: &str| shown.push(line.to_owned());
        let began = Instant::now();
        let written = flood.lines().count();
        for half_second in 0..4 {
            lines.take(
                flood.as_bytes(),
                began + Duration::from_millis(500) * half_second,
                &mut show,
            );
        }
        lines.finish(&mut show);
        let is_count = |line: &&String| line.starts_with('(');
        let counts: Vec<&String> = shown.iter().filter(is_count).collect();
        assert_eq!(counts.len(), 2, "after each second: {counts:?}");
        let dropped = counts.iter().map(|line| {
            line.trim_start_matches('(').split(' ').next().unwrap().parse::<usize>().unwrap()
        });
        let dropped: usize = dropped.sum();
        assert_eq!(
            dropped + shown.len() - counts.len(),
            4 * written,
            "every line is accounted for"
        );
        let bytes: usize = shown.iter().map(|line| line.len() + 1).sum();
        assert!(bytes <= 2 * (STDERR_SECOND + 100), "{bytes}");

        let (mut lines, mut bytes) = (Lines::default(), 0);
        for second in 0..2 * STDERR_TOTAL / STDERR_SECOND {
            let now = began + Duration::from_secs(1) * u32::try_from(second).unwrap();
            lines.take(flood.as_bytes(), now, &mut |line| bytes += line.len() + 1);
        }
        assert!(bytes <= STDERR_TOTAL + STDERR_TOTAL / 64, "{bytes}");
    }
}
