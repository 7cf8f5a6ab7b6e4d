//! Limits of a whole tree where no cgroup can be had: a look at its memory now and then, and a few of the
//! machine's processors. Between two looks a tree can take more, so they are called approximate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::thread::CpuSet;

use crate::{Exit, keeper::Shared, tree};

/// A look reads a file of every process of the machine.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// What the kernel does with a tree that takes too much memory.
const ENDED: Exit = Exit::Signal(9);

/// Ends the tree when it has more than these bytes of memory.
pub(crate) fn watch(shared: &Arc<Shared>, memory: u64) -> std::io::Result<()> {
    let watched = Arc::clone(shared);
    let look = move || {
        while watched.wait_until(Instant::now() + BETWEEN_LOOKS).is_none() {
            if tree::memory(watched.pid()).is_some_and(|taken| taken > memory) {
                watched.kill(Some(ENDED));
            }
        }
    };
    thread::Builder::new().name("limits".to_owned()).stack_size(256 * 1024).spawn(look).map(drop)
}

/// As many of our processors as a tree may have the time of, rounded up. Trees begin at different ones.
pub(crate) fn processors(wanted: f64) -> Option<CpuSet> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let ours = rustix::thread::sched_getaffinity(None).ok()?;
    let ours: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|number| ours.is_set(*number)).collect();
    let wanted = (1..ours.len()).find(|count| f64_of(*count) >= wanted)?;
    let first = NEXT.fetch_add(wanted, Ordering::Relaxed) % ours.len();
    let mut chosen = CpuSet::new();
    ours.iter().cycle().skip(first).take(wanted).for_each(|number| chosen.set(*number));
    Some(chosen)
}

fn f64_of(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_gets_as_many_processors_as_it_may_use() {
        let all = thread::available_parallelism().unwrap().get();
        for (wanted, expected) in [(0.2, 1), (1.0, 1), (1.5, 2)] {
            let count = processors(wanted).map(|chosen| chosen.count());
            // All of them are no limit.
            let limits = expected < all;
            assert_eq!(count, limits.then(|| u32::try_from(expected).unwrap()), "{wanted}");
        }
        assert!(processors(f64_of(all)).is_none());
    }
}
