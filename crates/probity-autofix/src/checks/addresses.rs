//! Addresses that a build or a health check talks to.

use std::collections::BTreeSet;

use probity_dockerfile::Keyword;

use super::{Change, Check, Issue, View, probe};

pub(crate) const NEW_ADDRESS: Check = Check::new("new-address", new_address);

/// Instructions whose words reach programs that may take them for machines; copies and FROM have
/// checks of their own.
const TALKERS: &[Keyword] = &[
    Keyword::Run,
    Keyword::Healthcheck,
    Keyword::Env,
    Keyword::Arg,
    Keyword::Cmd,
    Keyword::Entrypoint,
    Keyword::Onbuild,
    Keyword::Shell,
];

const SCHEMES: &[&str] = &["http://", "https://", "ftp://", "git://", "ssh://", "git@"];

/// Ways to say "this machine".
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

/// Ends of file names that no machine's name has.
const FILES: &[&str] = &[
    "cfg",
    "conf",
    "config",
    "crt",
    "csproj",
    "gitconfig",
    "ini",
    "jar",
    "js",
    "json",
    "lock",
    "lockb",
    "log",
    "mjs",
    "mod",
    "netrc",
    "npmrc",
    "pem",
    "pid",
    "sock",
    "sqlite",
    "sum",
    "toml",
    "ts",
    "txt",
    "war",
    "whl",
    "xml",
    "yaml",
    "yml",
];

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
    // A host without a scheme looks like a file, and one that the original names is one to it too.
    new.filter(|address| has_scheme(address) || !change.before.text.contains(address.as_str()))
        .filter(|address| !taken_apart(address).is_some_and(|it| is_local(it.host)))
        .filter(|address| !change.limits.addresses.iter().any(|prefix| address.starts_with(prefix)))
        .map(|address| {
            let message = "an address that the original does not name must not be added";
            change.issue(check, message).quoting(&address)
        })
        .collect()
}

/// Every address in the instructions of a file, however it is quoted; comments do nothing.
fn of(view: &View<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (index, instruction) in view.file.instructions.iter().enumerate() {
        // `process.exit` looks like a host; what code may name is another check's business.
        let is_code = instruction.keyword == Keyword::Healthcheck && probe::is_code(view, index);
        let heredocs =
            instruction.heredocs().iter().map(|heredoc| heredoc.content(view.text).into_owned());
        let texts = std::iter::once(instruction.body_text().to_owned()).chain(heredocs);
        for text in texts {
            let plain = without_reads(&text.replace(['"', '\'', '\\'], ""));
            found.extend(in_text(&plain).map(without_credentials));
            if TALKERS.contains(&instruction.keyword) && !is_code {
                let hosts = words(&plain).filter(|word| !word.starts_with("--mount="));
                found.extend(hosts.filter_map(bare_host).map(str::to_owned));
            }
        }
    }
    found
}

/// `$(cat /run/secrets/x)` is a value like `$X`.
fn without_reads(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("$(cat /") {
        result.push_str(before);
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && !"/._-".contains(c));
        match end.and_then(|end| behind.split_at_checked(end)) {
            Some((_, after)) if after.starts_with(')') => {
                result.push_str("${}");
                rest = after.get(1..).unwrap_or_default();
            }
            _ => {
                result.push_str("$(cat /");
                rest = behind;
            }
        }
    }
    result.push_str(rest);
    result
}

/// Credentials out of a variable lead nowhere else.
fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((credentials, _)) if credentials.contains('$') => {
            format!("{scheme}://{}", rest.get(credentials.len() + 1..).unwrap_or_default())
        }
        _ => address.to_owned(),
    }
}

fn in_text(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter_map(|word| {
        let lower = word.to_ascii_lowercase();
        let start = SCHEMES.iter().filter_map(|scheme| lower.find(scheme)).min()?;
        let address = word.get(start..)?;
        // The end of a JSON array, unless it is that of an address in numbers.
        let is_array = !address.contains('[');
        Some(if is_array { address.trim_end_matches(']') } else { address })
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`()<>|;,\\".contains(c))
}

fn has_scheme(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| lower.starts_with(scheme))
}

/// The end of a word that names a machine as programs take it: `example.com:80/x`, `10.0.0.1`.
fn bare_host(word: &str) -> Option<&str> {
    let word = word.trim_matches(['[', ']']).rsplit(['=', '@']).next()?;
    let authority = word.split('/').next()?;
    let host = authority.split(':').next()?;
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let last = labels.last()?;
    let is_domain = last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !FILES.contains(last);
    let is_number = |label: &&str| label.parse::<u8>().is_ok();
    let is_host = labels.len() > 1 && labels.iter().all(is_label) && is_domain;
    (is_host || (labels.len() == 4 && labels.iter().all(is_number))).then_some(word)
}

/// What a command asks of which host: addresses with a scheme, and this machine without one.
pub(crate) fn asked(command: &str) -> Vec<Address<'_>> {
    words(command)
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

    #[test]
    fn credentials_out_of_a_variable_or_a_secret_do_not_make_an_address_new() {
        for (text, address) in [
            ("git clone https://x:${TOKEN}@example.com/a", "https://example.com/a"),
            ("git clone https://x:$(cat /run/secrets/t)@example.com/a", "https://example.com/a"),
            ("git clone https://x:y@example.com/a", "https://x:y@example.com/a"),
            ("git clone https://evil.test/$X@example.com/a", "https://evil.test/$X@example.com/a"),
        ] {
            let text = format!("FROM a\nRUN {text}\n");
            let view = View::of(&text);
            assert!(of(&view).contains(address), "{text}: {:?}", of(&view));
        }
    }
}
