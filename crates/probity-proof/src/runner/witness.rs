//! A run that shows what the sandbox refuses: the kernel counts the refused connections of the run's
//! own network, and writable places stand where the run before it named files.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    rc::Rc,
};

use probity_sandbox::Mount;
use probity_scope::HeldDirectory;

use super::context::OWN;
use crate::{
    mounts,
    places::{Leaf, Vault, read_text},
};

/// The kernel's counts, in the directory for what a run writes.
const RECORD: &str = "network";

/// Runs a command, then adds the counts to the file that its first argument names.
const SCRIPT: &str = "record=$1; shift; \"$@\"; status=$?; \
    cat /proc/net/snmp /proc/net/snmp6 >> \"$record\"; exit $status";

/// Without these a lookup of a name ends before it sends anything.
const LOOKUPS: [(&str, &str); 2] = [
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
];

/// Counts of packets and connections that nothing took.
const REFUSED: [(&str, &str); 3] =
    [("Ip:", "OutNoRoutes"), ("Tcp:", "AttemptFails"), ("Udp:", "NoPorts")];
const REFUSED_6: [&str; 2] = ["Ip6OutNoRoutes", "Udp6NoPorts"];

/// What stands where a test might write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A directory around the file.
    Around,
    /// A directory in its place.
    Directory,
    /// A file in its place.
    File,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::Around, Self::Directory, Self::File];
}

#[derive(Debug)]
pub(crate) struct Witness {
    vault: Vault,
    /// What programs read to look up names.
    lookups: Leaf,
    places: Vec<WitnessedPath>,
}

#[derive(Debug)]
struct WitnessedPath {
    /// As the test names it.
    path: PathBuf,
    /// The directory that is mounted, or that has the file which is.
    host: Rc<Leaf>,
    inside: PathBuf,
    shape: Shape,
}

/// The name of the file that is mounted in the place of another.
const FILE: &str = "file";

impl Witness {
    /// A witness in a vault of its own.
    pub(crate) fn new(vault: Vault) -> io::Result<Self> {
        let lookups = vault.fresh_leaf("lookups")?;
        for (name, text) in LOOKUPS {
            lookups.held.write(name, text.as_bytes())?;
        }
        Ok(Self { vault, lookups, places: Vec::new() })
    }

    /// Gives places of one shape to files. A file gets none where the sandbox has something else.
    pub(crate) fn watch(&mut self, paths: &[PathBuf], shape: Shape) -> io::Result<()> {
        for path in paths {
            let inside = match shape {
                Shape::Around => path.parent().unwrap_or(path),
                Shape::Directory | Shape::File => path,
            };
            // The sandbox has files of its own there, or makes directories for what is mounted.
            let is_taken = inside.parent().is_none()
                || inside == Path::new(OWN)
                || (shape != Shape::File && inside.starts_with("/etc"));
            if is_taken {
                continue;
            }
            let known = self.places.iter().find(|place| place.inside == inside);
            let host = match known {
                Some(place) => Rc::clone(&place.host),
                None => Rc::new(self.vault.fresh_leaf(&self.places.len().to_string())?),
            };
            if shape == Shape::File {
                host.held.write(FILE, b"")?;
            }
            let (path, inside) = (path.clone(), inside.to_owned());
            self.places.push(WitnessedPath { path, host, inside, shape });
        }
        Ok(())
    }

    pub(crate) fn has_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// The file that the test has written, if it has.
    pub(crate) fn written(&self) -> Option<&Path> {
        let is_written = |place: &&WitnessedPath| {
            let held = &place.host.held;
            match place.shape {
                Shape::Around => {
                    place.path.file_name().is_some_and(|name| held.kind(name).is_some())
                }
                Shape::Directory => held.entries("").is_ok_and(|entries| !entries.is_empty()),
                Shape::File => held.stat(FILE).is_some_and(|stat| stat.size > 0),
            }
        };
        self.places.iter().find(is_written).map(|place| place.path.as_path())
    }

    /// What the sandbox shows besides. Everything else covers it.
    pub(super) fn mounts(&self) -> io::Result<Vec<Mount>> {
        let mut made = Vec::new();
        for (name, _) in LOOKUPS {
            made.push(self.lookups.file_read_only(
                &mounts::LOOKUPS,
                name,
                Path::new("/etc").join(name),
            )?);
        }
        for place in &self.places {
            let mount = match place.shape {
                Shape::File => {
                    place.host.file_read_write(&mounts::WITNESSED, FILE, &place.inside)?
                }
                Shape::Around | Shape::Directory => {
                    place.host.read_write(&mounts::WITNESSED, &place.inside)?
                }
            };
            if !made.contains(&mount) {
                made.push(mount);
            }
        }
        Ok(made)
    }

    /// The same command, with the kernel's counts after it.
    pub(super) fn recorded(argv: Vec<OsString>, scratch: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["/bin/sh", "-c", SCRIPT, "sh"].map(Into::into).to_vec();
        words.push(scratch.join(RECORD).into());
        words.extend(argv);
        words
    }

    /// Whether a run that wrote here tried a connection that the sandbox refused.
    pub(super) fn refused_connection(scratch: &HeldDirectory) -> bool {
        read_text(scratch, RECORD).is_ok_and(|record| counts_refusal(&record))
    }
}

/// Reads `/proc/net/snmp`, where a line of names precedes each line of counts, and
/// `/proc/net/snmp6`, where each line has both.
fn counts_refusal(record: &str) -> bool {
    let is_counted = |count: Option<&str>| {
        count.and_then(|count| count.parse::<u64>().ok()).is_some_and(|count| count > 0)
    };
    let lines: Vec<Vec<&str>> =
        record.lines().map(|line| line.split_whitespace().collect()).collect();
    let in_pairs = lines.windows(2).any(|pair| {
        REFUSED.iter().any(|(section, name)| {
            let is_section = pair.iter().all(|line| line.first() == Some(section));
            let column = pair[0].iter().position(|word| word == name);
            is_section && is_counted(column.and_then(|column| pair[1].get(column).copied()))
        })
    });
    let is_refused = |line: &Vec<&str>| {
        line.first().is_some_and(|name| REFUSED_6.contains(name))
            && is_counted(line.get(1).copied())
    };
    in_pairs || lines.iter().any(is_refused)
}

#[cfg(test)]
mod tests {
    use super::counts_refusal;

    #[test]
    fn counts_of_the_kernel_tell_refused_connections() {
        let record = |no_routes: u32, fails: u32, no_ports: u32, six: u32| {
            format!(
                "Ip: Forwarding OutNoRoutes\nIp: 1 {no_routes}\n\
                 Tcp: MaxConn ActiveOpens AttemptFails\nTcp: -1 7 {fails}\n\
                 Udp: InDatagrams NoPorts\nUdp: 5 {no_ports}\n\
                 Ip6OutNoRoutes                  \t{six}\nIp6InReceives \t9\n"
            )
        };
        for (counts, expected) in [
            ((0, 0, 0, 0), false),
            ((1, 0, 0, 0), true),
            ((0, 2, 0, 0), true),
            ((0, 0, 1, 0), true),
            ((0, 0, 0, 1), true),
        ] {
            let (no_routes, fails, no_ports, six) = counts;
            assert_eq!(counts_refusal(&record(no_routes, fails, no_ports, six)), expected);
        }
        assert!(!counts_refusal("Tcp: AttemptFails\n"));
    }
}
