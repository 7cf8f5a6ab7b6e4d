//! How long to wait before asking once more.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

/// When a question is asked again, and when it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Requests in all, the first one included.
    pub requests: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// A server that asks for a longer wait than this is not waited for.
    pub longest_asked: Duration,
}

impl Retry {
    /// Enough to get over a rate limit of one minute, and no more than a person would wait.
    pub const USUAL: Self = Self {
        requests: 4,
        first_wait: Duration::from_millis(500),
        longest_wait: Duration::from_secs(8),
        longest_asked: Duration::from_secs(60),
    };

    /// The wait after so many requests. Between half and the whole of it, by chance, so that
    /// clients that failed together do not come back together.
    pub(crate) fn wait(&self, requests: u32) -> Duration {
        let doublings = requests.saturating_sub(1).min(16);
        let whole = self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait);
        let chance = RandomState::new().hash_one(requests) % 1_000;
        whole / 2 + whole.mul_f64(chance as f64 / 2_000.0)
    }
}

/// Whether the same request may well succeed a little later.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_with_chance_in_them() {
        let retry = Retry {
            requests: 9,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_millis(350),
            longest_asked: Duration::ZERO,
        };
        for (requests, whole) in [(1, 100), (2, 200), (3, 350), (40, 350), (u32::MAX, 350)] {
            let waits: Vec<u128> = (0..50).map(|_| retry.wait(requests).as_millis()).collect();
            assert!(waits.iter().all(|wait| (whole / 2..=whole).contains(wait)), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let passing: Vec<u16> = (100..=600).filter(|&status| is_passing(status)).collect();
        let expected: Vec<u16> = [408, 409, 429].into_iter().chain(500..=599).collect();
        assert_eq!(passing, expected);
    }
}
