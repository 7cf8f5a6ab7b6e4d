//! Counts instructions by function with valgrind's callgrind, which is exact: the same work gives the
//! same count on every machine, however busy it is.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Instructions by function, with those of everything that it called.
pub(crate) type Counts = BTreeMap<String, u64>;

/// What one run of a program did.
pub(crate) struct Profile {
    pub(crate) printed: String,
    lines: String,
}

pub(crate) fn profile(program: &Path, arguments: &[&str]) -> Profile {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("profile");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", path.display()))
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("valgrind is installed by script/tools");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{arguments:?}: {said}");
    let printed = String::from_utf8(ran.stdout).unwrap();
    Profile { printed, lines: fs::read_to_string(path).unwrap() }
}

impl Profile {
    /// The cost of what the named functions called directly.
    pub(crate) fn called_by(&self, callers: &[&str]) -> Counts {
        let mut counts = Counts::new();
        for call in self.calls().filter(|call| callers.contains(&call.caller)) {
            *counts.entry(call.callee.to_owned()).or_default() += call.cost;
        }
        counts
    }

    /// How often a function was called.
    pub(crate) fn calls_of(&self, callee: &str) -> u64 {
        self.calls().filter(|call| call.callee == callee).map(|call| call.count).sum()
    }

    /// Below `fn=` come the lines of a function; a call has its callee, its count, and its cost in the
    /// line after that.
    fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        let mut lines = self.lines.lines();
        let (mut caller, mut callee) = ("", "");
        std::iter::from_fn(move || {
            loop {
                let line = lines.next()?;
                if let Some(name) = line.strip_prefix("fn=") {
                    caller = name;
                } else if let Some(name) = line.strip_prefix("cfn=") {
                    callee = name;
                } else if let Some(call) = line.strip_prefix("calls=") {
                    let count = call.split(' ').next().unwrap().parse().unwrap();
                    let cost = lines.next()?.split(' ').nth(1).unwrap().parse().unwrap();
                    return Some(Call { caller, callee, count, cost });
                }
            }
        })
    }
}

struct Call<'p> {
    caller: &'p str,
    callee: &'p str,
    count: u64,
    cost: u64,
}

/// An example of this crate, which cargo builds together with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("examples").join(name)
}

/// How far the steps for one, two and four times a size are from a straight line, as a share of the last.
/// A straight line has `f(4n) - 3 f(2n) + 2 f(n) = 0`; a square has three eighths of `f(4n)` there.
pub(crate) fn bend([one, two, four]: [u64; 3]) -> f64 {
    (four as f64 - 3.0 * two as f64 + 2.0 * one as f64) / four as f64
}
