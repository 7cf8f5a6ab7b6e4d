//! The ports of EXPOSE: `[address:][host-port:]port[-port][/protocol]`.
//!
//! An address or a host port is pointless, but a matter for a rule: BuildKit takes them.

/// Why BuildKit would refuse a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPort<'a> {
    #[error("invalid protocol {protocol:?} in port {text:?}")]
    Protocol { protocol: &'a str, text: &'a str },
    #[error("no port specified: {0:?}")]
    Missing(&'a str),
    #[error("invalid port: {0:?}")]
    Port(&'a str),
    #[error("invalid host port: {0:?}")]
    HostPort(&'a str),
    #[error("port ranges of different length: {0:?}")]
    Lengths(&'a str),
}

/// Checks a port of `EXPOSE`, without variables.
///
/// # Errors
///
/// Says why BuildKit would refuse it.
pub fn check(text: &str) -> Result<(), BadPort<'_>> {
    let (rest, protocol) = text.split_once('/').unwrap_or((text, "tcp"));
    let known = ["tcp", "udp", "sctp"].iter().any(|known| protocol.eq_ignore_ascii_case(known));
    if !known && !protocol.is_empty() {
        return Err(BadPort::Protocol { protocol, text });
    }
    let (host, port) = rest.rsplit_once(':').unwrap_or(("", rest));
    if port.is_empty() {
        return Err(BadPort::Missing(text));
    }
    let ports = range(port).ok_or(BadPort::Port(port))?;
    let host_port = host.rsplit_once(':').map_or(host, |(_, port)| port);
    let is_address = host_port.ends_with(']') || host_port.contains('.');
    if host_port.is_empty() || is_address {
        return Ok(());
    }
    let host_ports = range(host_port).ok_or(BadPort::HostPort(host_port))?;
    if host_ports.1 - host_ports.0 != ports.1 - ports.0 && ports.0 != ports.1 {
        return Err(BadPort::Lengths(text));
    }
    Ok(())
}

fn range(text: &str) -> Option<(u16, u16)> {
    let port = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u16>().ok()).flatten()
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then_some((first, last))
}
