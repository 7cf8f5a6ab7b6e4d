//! A file costs so many bytes a line at the peak, and no more: what rules share is kept small.
//!
//! Bytes are counted as they are asked for, so that the figure is the same on every machine. What the
//! program has in memory on top of it is for `script/bench memory` to tell.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use probity_lint::{DirectiveOptions, LintOptions, Preset, RuleSet, lint};
use probity_secrets::{Detector, Options};

/// Lines of the smaller file; the other has twice as many, and the difference is free of what is
/// built once.
const LINES: usize = 3_000;
/// Bytes a line, of which 43 are the text itself.
const MOST: isize = 830;

/// The instructions of an ordinary file.
const PARTS: &[&str] = &[
    "RUN apt-get update && apt-get install -y --no-install-recommends curl=7.88.1-10 \\\n    \
     && rm -rf /var/lib/apt/lists/*\n",
    "RUN set -eux; \\\n    # keep the cache small\n    for name in alpha beta; do \\\n      \
     echo \"$name\"; \\\n    done\n",
    "RUN --mount=type=cache,target=/root/.cache pip install --no-cache-dir gamma==1.7\n",
    "RUN curl -fsSL https://example.com/a/1/a-1-linux-amd64.tar.gz -o /tmp/a.tar.gz \
     && tar -C /opt -xzf /tmp/a.tar.gz --strip-components=1\n",
    "# what this comment says is as long as comments are where somebody cares for those who read\n",
    "RUN npm ci && npm run build --if-present -- --server\n",
    "COPY client/7.txt /srv/client/\n",
    "COPY --chown=1000:1000 worker worker /srv/\n",
    "ENV VENDOR_7=\"vendor 7\" VENDOR=${VENDOR:-vendor}\n",
    "ARG PUBLIC=7\n",
    "LABEL org.example.assets=\"7\"\n",
    "WORKDIR /srv/config\n",
    "EXPOSE 7000\n",
    "# alpha is what beta needs\n",
    "USER app\n",
];

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts what each thread holds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is made in no other way")]
// SAFETY: the system's allocator does the work; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(isize::try_from(layout.size()).unwrap_or(isize::MAX));
        // SAFETY: the caller keeps the promises that this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-isize::try_from(layout.size()).unwrap_or(isize::MAX));
        // SAFETY: the pointer comes from `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn count(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    PEAK.set(PEAK.get().max(HELD.get()));
}

/// How much more is held at the peak of some work than before it.
fn peak(work: impl FnOnce()) -> isize {
    let before = HELD.get();
    PEAK.set(before);
    work();
    PEAK.get() - before
}

fn text(lines: usize) -> String {
    let mut text = String::from("FROM debian:12-slim\n");
    let parts = PARTS.iter().cycle().scan(1, |count, part| {
        *count += part.matches('\n').count();
        (*count <= lines).then_some(*part)
    });
    text.extend(parts);
    text
}

#[test]
fn a_file_costs_no_more_than_so_many_bytes_a_line() {
    let detector = Detector::new(&Options::default()).unwrap();
    let rules = RuleSet::of(Preset::Recommended);
    let options = LintOptions {
        rules: &rules,
        uses: None,
        directives: DirectiveOptions::default(),
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: Some(&detector),
    };
    let [small, large] = [LINES, 2 * LINES].map(|lines| {
        let text = text(lines);
        peak(|| assert!(!lint(&text, &options).is_empty()))
    });
    let each = (large - small) / isize::try_from(LINES).unwrap();
    assert!(each <= MOST, "{each} bytes a line, {large} in all");
}
