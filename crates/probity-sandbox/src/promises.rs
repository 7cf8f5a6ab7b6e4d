//! What each sandbox promises: one table that tests and the documentation read.

use crate::BackendKind;

/// Whether a sandbox keeps a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Yes,
    /// In part, or not; what happens instead.
    Not(&'static str),
}

/// One promise, and who keeps it.
#[derive(Debug)]
pub struct Promise {
    pub name: PromiseName,
    pub words: &'static str,
    bubblewrap: Kept,
    docker: Kept,
    podman: Kept,
    landlock: Kept,
}

/// By which a test asks for a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseName {
    FilesClosed,
    FilesUnseen,
    OtherPath,
    KeptParts,
    MovesAround,
    EmptyPlaces,
    SizeOfPlaces,
    ProcessesUnseen,
    SignalsInside,
    MemoryClosed,
    SocketsClosed,
    NetworkClosed,
    OwnLoopback,
    HostList,
    SharedMemoryClosed,
    EndsWithUs,
    ProcessesCounted,
    TogetherLimited,
    OrdinaryUser,
    MachineUnnamed,
    Terminals,
}

use Kept::{Not, Yes};
use PromiseName as Name;

/// A promise that every sandbox keeps.
const fn all(name: Name, words: &'static str) -> Promise {
    Promise { name, words, bubblewrap: Yes, docker: Yes, podman: Yes, landlock: Yes }
}

/// A promise that takes namespaces.
const fn not_landlock(name: Name, words: &'static str, instead: &'static str) -> Promise {
    Promise { name, words, bubblewrap: Yes, docker: Yes, podman: Yes, landlock: Not(instead) }
}

const APPROXIMATELY: &str = "with a cgroup; without one approximately";
const POWERLESS_ROOT: &str = "is user 0 without capabilities";

pub const PROMISES: &[Promise] = &[
    all(
        Name::FilesClosed,
        "opens, changes and runs no files but those of the system, the workspace and its own",
    ),
    not_landlock(
        Name::FilesUnseen,
        "does not see that other files exist",
        "sees names that it knows already, with size, owner and times",
    ),
    not_landlock(
        Name::OtherPath,
        "sees the workspace at `/home/agent/workspace`, too",
        "sees it at its own path only",
    ),
    all(
        Name::KeptParts,
        "cannot write parts of a writable directory, such as the configuration of git",
    ),
    not_landlock(
        Name::MovesAround,
        "can move a directory that has a repository in it",
        "cannot move it while the repository is in it",
    ),
    not_landlock(
        Name::EmptyPlaces,
        "has an empty `/tmp`, `/run`, `/var` and `/dev/shm`",
        "has empty directories in `HOME` and `TMPDIR`, and cannot open the others",
    ),
    not_landlock(
        Name::SizeOfPlaces,
        "writes no more temporary files than the limit allows",
        "has no limit for them",
    ),
    not_landlock(
        Name::ProcessesUnseen,
        "does not see other processes",
        "sees their names and command lines",
    ),
    all(Name::SignalsInside, "sends signals to its own processes only"),
    all(
        Name::MemoryClosed,
        "does not read or change the memory, files or settings of other processes",
    ),
    all(Name::SocketsClosed, "does not reach named or abstract sockets of the machine"),
    all(Name::NetworkClosed, "without a network, connects to no address and receives from none"),
    not_landlock(
        Name::OwnLoopback,
        "without a network, has a loopback of its own",
        "has none: tests that start a server fail",
    ),
    Promise {
        name: Name::HostList,
        words: "reaches the hosts of a list and no others",
        bubblewrap: Yes,
        docker: Not("only if root starts it, otherwise refused"),
        podman: Yes,
        landlock: Not("refused"),
    },
    all(Name::SharedMemoryClosed, "does not reach shared memory, queues or keys of the machine"),
    all(Name::EndsWithUs, "ends with all processes that it started, even if probity is killed"),
    not_landlock(
        Name::ProcessesCounted,
        "starts no more processes than the limit allows, even where probity cannot create a cgroup",
        "without a cgroup, is limited together with other processes of the user, and root is not",
    ),
    Promise {
        name: Name::TogetherLimited,
        words: "uses no more memory and CPU time, all its processes together, than the limit allows",
        bubblewrap: Not(APPROXIMATELY),
        docker: Yes,
        podman: Yes,
        landlock: Not(APPROXIMATELY),
    },
    Promise {
        name: Name::OrdinaryUser,
        words: "is not user 0 inside if root starts it",
        bubblewrap: Yes,
        docker: Not(POWERLESS_ROOT),
        podman: Not(POWERLESS_ROOT),
        landlock: Not(POWERLESS_ROOT),
    },
    not_landlock(Name::MachineUnnamed, "does not see the name of the machine", "sees it"),
    not_landlock(Name::Terminals, "can open pseudo-terminals", "cannot open any"),
];

impl Promise {
    /// Without a sandbox nothing is promised.
    pub fn kept(&self, kind: BackendKind) -> Option<Kept> {
        match kind {
            BackendKind::None => None,
            BackendKind::Bubblewrap => Some(self.bubblewrap),
            BackendKind::Docker => Some(self.docker),
            BackendKind::Podman => Some(self.podman),
            BackendKind::Landlock => Some(self.landlock),
        }
    }
}

/// Whether a sandbox keeps a promise in full.
pub fn keeps(kind: BackendKind, name: PromiseName) -> bool {
    PROMISES.iter().any(|promise| promise.name == name && promise.kept(kind) == Some(Yes))
}

/// The table of the documentation.
pub fn promises_table() -> String {
    let kinds =
        [BackendKind::Bubblewrap, BackendKind::Docker, BackendKind::Podman, BackendKind::Landlock];
    let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    let mut table = format!("| a command | {} |\n|---|---|---|---|---|\n", names.join(" | "));
    for promise in PROMISES {
        let cells = kinds.map(|kind| match promise.kept(kind) {
            Some(Yes) => "yes",
            Some(Not(instead)) => instead,
            None => "no",
        });
        table.push_str(&format!("| {} | {} |\n", promise.words, cells.join(" | ")));
    }
    table
}
