//! EXPOSE: ports as an image's configuration spells them.

use std::cmp::Ordering;

/// `80` becomes `80/tcp`; addresses and host ports, which BuildKit drops, are gone. None for what is
/// no port.
pub(super) fn normalise(text: &str) -> Option<String> {
    let container = text.rsplit(':').next()?;
    let (port, protocol) = container.split_once('/').unwrap_or((container, "tcp"));
    let protocol = if protocol.is_empty() { "tcp" } else { protocol };
    let protocol = protocol.to_ascii_lowercase();
    if !matches!(protocol.as_str(), "tcp" | "udp" | "sctp") {
        return None;
    }
    let (start, end) = port.split_once('-').unwrap_or((port, port));
    let (start, end) = (number(start)?, number(end)?);
    match start.cmp(&end) {
        Ordering::Less => Some(format!("{start}-{end}/{protocol}")),
        Ordering::Equal => Some(format!("{start}/{protocol}")),
        Ordering::Greater => None,
    }
}

/// By number, then by protocol.
pub(super) fn order(a: &str, b: &str) -> Ordering {
    let first = |port: &str| port.split(['-', '/']).next().and_then(number);
    first(a).cmp(&first(b)).then_with(|| a.cmp(b))
}

/// Digits only, as a sign is no part of a port.
fn number(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn a_port_gets_its_protocol_and_loses_its_host() {
        let cases = [
            ("80", Some("80/tcp")),
            ("53/UDP", Some("53/udp")),
            ("080/", Some("80/tcp")),
            ("8000-8010/tcp", Some("8000-8010/tcp")),
            ("8000-8000", Some("8000/tcp")),
            ("127.0.0.1:8080:80", Some("80/tcp")),
            ("[::1]:8080:80/sctp", Some("80/sctp")),
            ("9000-8000", None),
            ("+80", None),
            ("80/icmp", None),
            ("70000", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(normalise(text).as_deref(), expected, "{text}");
        }
    }
}
