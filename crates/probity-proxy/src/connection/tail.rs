//! The end of what an agent wrote to its standard error.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read},
    sync::{Mutex, PoisonError},
};

pub(crate) struct Tail {
    limit: usize,
    kept: Mutex<VecDeque<u8>>,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::new(VecDeque::new()) }
    }

    /// Reads to the end; an agent must never wait for somebody to read its log.
    pub(crate) fn follow(&self, mut source: impl Read) {
        let mut chunk = vec![0; 16 << 10];
        loop {
            match source.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => self.push(chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
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

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn only_the_end_is_kept() {
        let tail = Tail::new(5);
        for (news, expected) in [("ab", "ab"), ("cdef", "bcdef"), ("0123456789", "56789")] {
            tail.follow(news.as_bytes());
            assert_eq!(tail.text(), expected);
        }
    }
}
