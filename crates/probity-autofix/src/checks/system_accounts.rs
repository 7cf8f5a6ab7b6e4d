//! Users and groups that images bring: those of their distribution, and those of the programs that they are
//! made for.
//!
//! Debian and Ubuntu have the list of base-passwd, Alpine that of alpine-baselayout, and the relatives of Red
//! Hat that of setup. A package may make more, mostly by its own name.

use super::image_kind::{Distribution, ImageKind, agree};

/// Names and numbers of users.
type Users = &'static [(&'static str, &'static str)];

const DEBIAN_USERS: Users = &[
    ("root", "0"),
    ("daemon", "1"),
    ("bin", "2"),
    ("sys", "3"),
    ("sync", "4"),
    ("games", "5"),
    ("man", "6"),
    ("lp", "7"),
    ("mail", "8"),
    ("news", "9"),
    ("uucp", "10"),
    ("proxy", "13"),
    ("www-data", "33"),
    ("backup", "34"),
    ("list", "38"),
    ("irc", "39"),
    ("_apt", ""),
    ("nobody", "65534"),
];

/// A user and group of Debian up to 11 and of Ubuntu up to 22.04.
const OLD_DEBIAN_USERS: Users = &[("gnats", "41")];

/// A user and group of Ubuntu since 24.04.
const UBUNTU_USERS: Users = &[("ubuntu", "1000")];

const DEBIAN_GROUPS: &[&str] = &[
    "root", "daemon", "bin", "sys", "adm", "tty", "disk", "lp", "mail", "news", "uucp", "man",
    "proxy", "kmem", "dialout", "fax", "voice", "cdrom", "floppy", "tape", "sudo", "audio", "dip",
    "www-data", "backup", "operator", "list", "irc", "src", "shadow", "utmp", "video", "sasl",
    "plugdev", "staff", "games", "users", "nogroup",
];

const ALPINE_USERS: Users = &[
    ("root", "0"),
    ("bin", "1"),
    ("daemon", "2"),
    ("lp", "4"),
    ("sync", "5"),
    ("shutdown", "6"),
    ("halt", "7"),
    ("mail", "8"),
    ("news", "9"),
    ("uucp", "10"),
    ("cron", "16"),
    ("ftp", "21"),
    ("sshd", "22"),
    ("games", "35"),
    ("ntp", "123"),
    ("guest", "405"),
    ("nobody", "65534"),
];

const ALPINE_GROUPS: &[&str] = &[
    "root", "bin", "daemon", "sys", "adm", "tty", "disk", "lp", "kmem", "wheel", "floppy", "mail",
    "news", "uucp", "cron", "audio", "cdrom", "dialout", "ftp", "sshd", "input", "tape", "video",
    "netdev", "kvm", "games", "shadow", "www-data", "users", "ntp", "abuild", "utmp", "ping",
    "nogroup", "nobody",
];

/// What Alpine had up to 3.19.
const OLD_ALPINE_USERS: Users = &[
    ("adm", "3"),
    ("operator", "11"),
    ("man", "13"),
    ("postmaster", "14"),
    ("at", "25"),
    ("squid", "31"),
    ("xfs", "33"),
    ("cyrus", "85"),
    ("vpopmail", "89"),
    ("smmsp", "209"),
];

const OLD_ALPINE_GROUPS: &[&str] = &[
    "mem", "man", "console", "at", "readproc", "squid", "xfs", "cdrw", "usb", "vpopmail",
    "nofiles", "smmsp", "locate",
];

const OLD_ALPINES: &[&str] =
    &["3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.16", "3.17", "3.18", "3.19"];

const RED_HAT_USERS: Users = &[
    ("root", "0"),
    ("bin", "1"),
    ("daemon", "2"),
    ("adm", "3"),
    ("lp", "4"),
    ("sync", "5"),
    ("shutdown", "6"),
    ("halt", "7"),
    ("mail", "8"),
    ("operator", "11"),
    ("games", "12"),
    ("ftp", "14"),
    ("nobody", "65534"),
];

const RED_HAT_GROUPS: &[&str] = &[
    "root", "bin", "daemon", "sys", "adm", "tty", "disk", "lp", "mem", "kmem", "wheel", "cdrom",
    "mail", "man", "dialout", "floppy", "games", "tape", "video", "ftp", "lock", "audio", "users",
    "nobody",
];

const DISTROLESS_USERS: Users = &[("root", "0"), ("nobody", "65534"), ("nonroot", "65532")];

const DISTROLESS_GROUPS: &[&str] = &["root", "nobody", "tty", "staff", "nonroot"];

/// Images that have an account for their program, with a group of the same name; the number is empty where
/// variants of the image differ.
const OF_PROGRAMS: &[(&str, &str, &str)] = &[
    ("bun", "bun", "1000"),
    ("cassandra", "cassandra", "999"),
    ("couchdb", "couchdb", "5984"),
    ("deno", "deno", "1993"),
    ("eclipse-mosquitto", "mosquitto", "1883"),
    ("elasticsearch", "elasticsearch", "1000"),
    ("ghost", "node", "1000"),
    ("gradle", "gradle", "1000"),
    ("haproxy", "haproxy", ""),
    ("influxdb", "influxdb", ""),
    ("jenkins", "jenkins", "1000"),
    ("jetty", "jetty", "999"),
    ("mariadb", "mysql", "999"),
    ("memcached", "memcache", ""),
    ("mongo", "mongodb", "999"),
    ("mysql", "mysql", ""),
    ("neo4j", "neo4j", "7474"),
    ("nginx", "nginx", "101"),
    ("node", "node", "1000"),
    ("postgres", "postgres", ""),
    ("rabbitmq", "rabbitmq", ""),
    ("redis", "redis", "999"),
    ("solr", "solr", "8983"),
    ("sonarqube", "sonarqube", "1000"),
    ("telegraf", "telegraf", ""),
    ("valkey", "valkey", "999"),
    ("varnish", "varnish", ""),
    ("zookeeper", "zookeeper", "1000"),
];

/// The accounts of one image, as far as its name tells.
pub(crate) struct Accounts {
    image: String,
    kind: Option<ImageKind>,
}

impl Accounts {
    pub(crate) fn of(image: &str) -> Self {
        Self { image: image.to_owned(), kind: ImageKind::of(image) }
    }

    fn is_distroless(&self) -> bool {
        self.image.starts_with("gcr.io/distroless/")
    }

    fn distribution(&self) -> Option<Distribution> {
        self.kind.as_ref().and_then(|kind| kind.distribution)
    }

    fn release(&self) -> Option<&str> {
        self.kind.as_ref().and_then(|kind| kind.release.as_deref())
    }

    /// What only some releases of Debian and Ubuntu have.
    fn of_release(&self) -> Users {
        match (self.distribution(), self.release()) {
            (Some(Distribution::Debian), Some("10" | "11"))
            | (Some(Distribution::Ubuntu), Some("20.04" | "22.04")) => OLD_DEBIAN_USERS,
            (Some(Distribution::Ubuntu), Some("24.04" | "24.10" | "25.04" | "25.10")) => {
                UBUNTU_USERS
            }
            _ => &[],
        }
    }

    fn is_old_alpine(&self) -> bool {
        self.release().is_some_and(|own| {
            own.contains('.') && OLD_ALPINES.iter().any(|release| agree(release, own))
        })
    }

    /// Names and numbers of the users of the distribution, where it is known.
    fn users(&self) -> Vec<(&'static str, &'static str)> {
        let (users, more): (Users, Users) = match self.distribution() {
            _ if self.is_distroless() => (DISTROLESS_USERS, &[]),
            Some(Distribution::Debian | Distribution::Ubuntu) => (DEBIAN_USERS, self.of_release()),
            Some(Distribution::Alpine) if self.is_old_alpine() => (ALPINE_USERS, OLD_ALPINE_USERS),
            Some(Distribution::Alpine) => (ALPINE_USERS, &[]),
            Some(Distribution::RedHat) => (RED_HAT_USERS, &[]),
            Some(Distribution::Bare) | None => (&[], &[]),
        };
        users.iter().chain(more).copied().collect()
    }

    /// Whether the image has a user of this name for certain.
    pub(crate) fn has_user(&self, name: &str) -> bool {
        let is_scratch = self.image == "scratch";
        let is_of_system = self.users().iter().any(|(own, _)| *own == name);
        let is_unknown = self.distribution().is_none() && !is_scratch;
        is_of_system || self.number_in_program(name).is_some() || (is_unknown && name == "nobody")
    }

    /// Whether the image has a group of this name, or nothing is known of its groups.
    pub(crate) fn may_have_group(&self, name: &str) -> bool {
        let is_in = |lists: &[&[&str]]| lists.iter().any(|list| list.contains(&name));
        let is_of_system = match self.distribution() {
            _ if self.is_distroless() => is_in(&[DISTROLESS_GROUPS]),
            Some(Distribution::Debian | Distribution::Ubuntu) => {
                is_in(&[DEBIAN_GROUPS]) || self.of_release().iter().any(|(own, _)| *own == name)
            }
            Some(Distribution::Alpine) if self.is_old_alpine() => {
                is_in(&[ALPINE_GROUPS, OLD_ALPINE_GROUPS])
            }
            Some(Distribution::Alpine) => is_in(&[ALPINE_GROUPS]),
            Some(Distribution::RedHat) => is_in(&[RED_HAT_GROUPS]),
            Some(Distribution::Bare) => false,
            None => is_in(&[DEBIAN_GROUPS, ALPINE_GROUPS, OLD_ALPINE_GROUPS, RED_HAT_GROUPS]),
        };
        is_of_system || self.number_in_program(name).is_some()
    }

    /// The numbers by which a user of the image goes.
    pub(crate) fn numbers(&self, name: &str) -> Vec<&'static str> {
        let users = self.users().into_iter();
        let own = users.filter(|(own, _)| *own == name).map(|(_, number)| number);
        own.chain(self.number_in_program(name)).filter(|number| !number.is_empty()).collect()
    }

    fn number_in_program(&self, name: &str) -> Option<&'static str> {
        let kind = self.kind.as_ref().filter(|_| !self.is_distroless())?;
        let major =
            kind.version.as_deref().and_then(|version| version.split('.').next()?.parse().ok());
        match (kind.language, name) {
            (Some("php"), "www-data") if kind.is_musl() => return Some("82"),
            (Some("dotnet"), "app") if major.is_some_and(|major: u32| major >= 8) => {
                return Some("1654");
            }
            _ => {}
        }
        let mut all = OF_PROGRAMS.iter();
        let found = all.find(|(image, user, _)| *image == kind.name && *user == name);
        found.map(|(.., number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_the_accounts_of_their_distribution_and_of_their_program() {
        let users = [
            ("debian:bookworm-slim", "www-data", true),
            ("alpine:3.20", "www-data", false),
            ("php:8.3-fpm-alpine", "www-data", true),
            ("alpine:3.19", "squid", true),
            ("alpine:3.21", "squid", false),
            ("rockylinux:9", "operator", true),
            ("node:20-alpine", "node", true),
            ("python:3.12-slim", "node", false),
            ("gcr.io/distroless/nodejs20-debian12", "nonroot", true),
            ("gcr.io/distroless/nodejs20-debian12", "node", false),
            ("mcr.microsoft.com/dotnet/aspnet:8.0", "app", true),
            ("mcr.microsoft.com/dotnet/aspnet:7.0", "app", false),
            ("scratch", "nobody", false),
            ("example.com/base:1", "nobody", true),
        ];
        for (image, user, has) in users {
            assert_eq!(Accounts::of(image).has_user(user), has, "{image} {user}");
        }
        let groups = [
            ("debian:12", "dialout", true),
            ("ubuntu:24.04", "plugdev", true),
            ("alpine:3.20", "plugdev", false),
            ("alpine:3.20", "netdev", true),
            ("fedora:41", "nogroup", false),
            ("debian:12", "wheel", false),
        ];
        for (image, group, has) in groups {
            assert_eq!(Accounts::of(image).may_have_group(group), has, "{image} {group}");
        }
        assert_eq!(Accounts::of("alpine:3.20").numbers("daemon"), ["2"]);
        assert_eq!(Accounts::of("debian:12").numbers("daemon"), ["1"]);
    }
}
