//! Addresses that a build or a health check talks to.

use std::collections::BTreeSet;

use super::{Change, Check, Issue, View};

pub(crate) const NEW_ADDRESS: Check = Check { name: "new-address", run: new_address };
pub(crate) const ADDRESSES_KEPT: Check = Check { name: "addresses-kept", run: addresses_kept };

const SCHEMES: &[&str] = &["http://", "https://", "ftp://", "git://", "ssh://", "git@"];

/// Ways to say "this machine".
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

/// An address and where it leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address<'t> {
    pub(crate) host: &'t str,
    /// From the first slash behind the host.
    pub(crate) path: &'t str,
}

/// A dependency that nobody asked for would come from somewhere.
fn new_address(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let known = of(change.before);
    let new = of(change.after).into_iter().filter(|address| !known.contains(address));
    new.filter(|address| !taken_apart(address).is_some_and(|it| is_local(it.host)))
        .map(|address| {
            let message = "an address that the original does not name must not be added";
            change.issue(check, message).quoting(address)
        })
        .collect()
}

fn addresses_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let now = of(change.after);
    let lost = of(change.before).into_iter().filter(|address| !now.contains(address));
    lost.map(|address| change.issue(check, "this address is no longer used").quoting(address))
        .collect()
}

/// Every address in the instructions of a file; comments do nothing.
fn of<'a>(view: &View<'a>) -> BTreeSet<&'a str> {
    let texts = view.file.instructions.iter().filter_map(|it| it.span.slice(view.text));
    texts.flat_map(in_text).collect()
}

fn in_text(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`()<>|;,\\".contains(c));
    words.filter_map(|word| {
        let lower = word.to_ascii_lowercase();
        let start = SCHEMES.iter().filter_map(|scheme| lower.find(scheme)).min()?;
        word.get(start..)
    })
}

/// What a command asks of which host: addresses with a scheme, and this machine without one.
pub(crate) fn asked(command: &str) -> Vec<Address<'_>> {
    let words = command.split(|c: char| c.is_whitespace() || "\"'`()<>|;,\\".contains(c));
    words
        .filter_map(|word| {
            let bare = LOCAL.iter().filter_map(|host| word.find(host)).min();
            let start = in_text(word).next().map(|found| word.len() - found.len()).or(bare)?;
            taken_apart(word.get(start..)?)
        })
        .collect()
}

pub(crate) fn is_local(host: &str) -> bool {
    LOCAL.contains(&host)
}

fn taken_apart(address: &str) -> Option<Address<'_>> {
    let rest = match address.split_once("://") {
        Some((_, rest)) => rest,
        None => address.strip_prefix("git@").unwrap_or(address),
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let authority = authority.rsplit('@').next()?;
    let host = match authority.find(']') {
        Some(end) => authority.get(..=end)?,
        None => authority.split(':').next()?,
    };
    Some(Address { host, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_paths_are_found_in_commands() {
        for (command, host, path) in [
            ("curl -f http://localhost:8080/ || exit 1", "localhost", "/"),
            ("[\"curl\", \"https://u@example.com/a/b\"]", "example.com", "/a/b"),
            ("wget -qO- 127.0.0.1:80/health", "127.0.0.1", "/health"),
            ("nc -z localhost 80", "localhost", ""),
            ("curl http://[::1]:8080/", "[::1]", "/"),
            ("curl HTTPS://example.com/x", "example.com", "/x"),
        ] {
            assert_eq!(asked(command), [Address { host, path }], "{command}");
        }
        assert_eq!(asked("pg_isready -U postgres"), []);
    }
}
