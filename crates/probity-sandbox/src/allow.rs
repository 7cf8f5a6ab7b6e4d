//! Which hosts a process without a network may reach all the same.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Hosts and ports. Of several lists that were put together every one must allow a host, so that
/// a second list can only narrow the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowlist {
    lists: Vec<Vec<Rule>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    host: Pattern,
    /// Those of the web where there is none.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// `*`: every host that is not private.
    Any,
    Name(String),
    /// `*.example.com`: what is below that name, and not the name itself.
    Below(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a host: write `example.com`, `*.example.com`, `*`, an address, or one with `:port`"
)]
pub struct AllowError(String);

const WEB: [u16; 2] = [443, 80];

impl Allowlist {
    pub fn parse<Word: AsRef<str>>(words: &[Word]) -> Result<Self, AllowError> {
        let list = words.iter().map(|word| rule(word.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { lists: vec![list] })
    }

    /// What both allow.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.lists.extend(other.lists);
        self
    }

    /// The addresses among these that may be connected to. A name leads to a private address only if
    /// that address is on the list itself, whoever answers for the name.
    pub(crate) fn permitted(
        &self,
        host: &str,
        port: u16,
        resolve: impl FnOnce() -> Vec<IpAddr>,
    ) -> Option<Vec<IpAddr>> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let literal = host.parse::<IpAddr>().ok().map(plain);
        let allowed = |list: &Vec<Rule>| list.iter().any(|rule| rule.allows(&host, literal, port));
        if !self.lists.iter().all(allowed) {
            return None;
        }
        let named = |address: &IpAddr, list: &Vec<Rule>| {
            list.iter().any(|rule| rule.host == Pattern::Address(*address) && rule.is_of(port))
        };
        let may_be_reached = |address: &IpAddr| {
            is_public(address) || self.lists.iter().all(|list| named(address, list))
        };
        let Some(literal) = literal else {
            return Some(resolve().into_iter().map(plain).filter(may_be_reached).collect());
        };
        may_be_reached(&literal).then(|| vec![literal])
    }
}

impl Rule {
    fn allows(&self, host: &str, literal: Option<IpAddr>, port: u16) -> bool {
        let fits = match &self.host {
            Pattern::Any => true,
            Pattern::Name(name) => host == name,
            Pattern::Below(parent) => {
                host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            Pattern::Address(address) => literal == Some(*address),
        };
        fits && self.is_of(port)
    }

    fn is_of(&self, port: u16) -> bool {
        self.port.map_or(WEB.contains(&port), |only| only == port)
    }
}

fn rule(word: &str) -> Result<Rule, AllowError> {
    let wrong = || AllowError(word.to_owned());
    if let Ok(address) = word.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(Rule { host: Pattern::Address(plain(address)), port: None });
    }
    let (host, port) = match word.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse::<u16>().map_err(|_| wrong())?)),
        None => (word, None),
    };
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(Rule { host: Pattern::Address(plain(address)), port });
    }
    let is_name = |name: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        name.split('.').all(|label| !label.is_empty() && label.bytes().all(letter))
    };
    let host = match name.strip_prefix("*.") {
        Some(parent) if is_name(parent) => Pattern::Below(parent.to_owned()),
        None if host == "*" => Pattern::Any,
        None if is_name(&name) => Pattern::Name(name),
        _ => return Err(wrong()),
    };
    Ok(Rule { host, port })
}

/// An address of the older kind in the clothes of the newer is what it is.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Neither this machine nor one near it, nor the ones that tell a cloud's machines their secrets.
fn is_public(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(*address),
        IpAddr::V6(address) => is_public_v6(*address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let special =
        a == 0 || a >= 240 || (a == 192 && b == 0 && c == 0) || (a == 198 && b & 254 == 18);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || shared
        || special)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, _, _, _, high, low] = address.segments();
    // Addresses that are translated to the older kind lead wherever those do.
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    if (first, second) == (0x64, 0xff9b) {
        return third == 0 && is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    if first == 0x2002 {
        let ([a, b], [c, d]) = (second.to_be_bytes(), third.to_be_bytes());
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    // What is given out to the public begins with these three bits.
    first & 0xe000 == 0x2000
        && (first, second) != (0x2001, 0x0db8)
        && (first, second) != (0x2001, 0)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{Allowlist, is_public};

    fn allows(list: &Allowlist, host: &str, port: u16) -> bool {
        list.permitted(host, port, || vec!["8.8.8.8".parse().unwrap()]).is_some()
    }

    #[test]
    fn hosts_are_allowed_by_name_by_parent_and_by_address() {
        let words = ["example.com", "*.Example.org.", "10.0.0.7:8080", "db.test:5432", "[::1]:99"];
        let list = Allowlist::parse(&words).unwrap();
        for (host, port, expected) in [
            ("example.com", 443, true),
            ("EXAMPLE.com.", 80, true),
            ("example.com", 22, false),
            ("evil-example.com", 443, false),
            ("sub.example.com", 443, false),
            ("a.b.example.org", 443, true),
            ("example.org", 443, false),
            ("evilexample.org", 443, false),
            (".example.org", 443, false),
            ("10.0.0.7", 8080, true),
            ("10.0.0.7", 443, false),
            ("10.0.0.8", 8080, false),
            ("::ffff:10.0.0.7", 8080, true),
            ("::1", 99, true),
            ("db.test", 5432, true),
            ("db.test", 443, false),
        ] {
            assert_eq!(allows(&list, host, port), expected, "{host}:{port}");
        }
        let narrowed = list.and(Allowlist::parse(&["*"]).unwrap());
        assert!(allows(&narrowed, "example.com", 443) && !allows(&narrowed, "other.com", 443));
        assert!(!allows(&narrowed, "10.0.0.7", 8080), "a star means no private address");
        let nothing = narrowed.and(Allowlist::parse::<&str>(&[]).unwrap());
        assert!(!allows(&nothing, "example.com", 443));
        for word in ["", "a b", "http://x", "x:y", "*", "*.", "a*.b", "a..b", "x:70000", "a/b"] {
            assert_eq!(Allowlist::parse(&[word]).is_ok(), word == "*", "{word}");
        }
    }

    #[test]
    fn a_name_leads_to_a_private_address_only_if_that_is_listed() {
        let answers =
            ["127.0.0.1", "169.254.169.254", "93.184.216.34", "::1", "fd00::1", "10.0.0.7"];
        let answers = answers.map(|text| text.parse::<IpAddr>().unwrap());
        let [.., public, _, _, private] = answers;
        for (words, left) in [
            (&["*"][..], &[public][..]),
            (&["*", "10.0.0.7"], &[public, private]),
            (&["*", "10.0.0.7:8080"], &[public]),
        ] {
            let list = Allowlist::parse(words).unwrap();
            let found = list.permitted("rebinding.test", 443, || answers.to_vec());
            assert_eq!(found.unwrap(), left, "{words:?}");
        }
        for (address, public) in [
            ("8.8.8.8", true),
            ("172.15.0.1", true),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("255.255.255.255", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("2606:4700::1", true),
            ("fe80::1", false),
            ("ff02::1", false),
            ("::", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", true),
            ("2002:7f00:1::", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_public(&address.parse().unwrap()), public, "{address}");
        }
    }
}
