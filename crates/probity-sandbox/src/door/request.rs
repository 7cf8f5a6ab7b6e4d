//! What a program says to a proxy before it is connected.

use std::io::{self, Read};

/// A head longer than this is none.
const LONGEST: usize = 32 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) target: Target,
    /// The head as the server shall get it; none where only a connection was asked for.
    pub(super) forward: Option<Vec<u8>>,
    /// What came after the head.
    pub(super) rest: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Request {
    /// None if it is not one that a proxy can serve.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                return Ok(Self::parse(&bytes, rest));
            }
            let read = stream.read(&mut buffer)?;
            if read == 0 || bytes.len() > LONGEST {
                return Ok(None);
            }
            bytes.extend(buffer.iter().take(read));
        }
    }

    fn parse(head: &[u8], rest: Vec<u8>) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            return Some(Self { target: Target::parse(target, None)?, forward: None, rest });
        }
        let (authority, path) = {
            let after = target.strip_prefix("http://")?;
            after.find('/').map_or((after, "/"), |at| after.split_at(at))
        };
        let target = Target::parse(authority, Some(80))?;
        let mut forward = format!("{method} {path} {version}\r\n");
        // The connection is closed after one answer, so that each request is looked at.
        for line in lines.filter(|line| !line.is_empty() && !is_of_the_connection(line)) {
            forward.push_str(line);
            forward.push_str("\r\n");
        }
        forward.push_str("Connection: close\r\n\r\n");
        Some(Self { target, forward: Some(forward.into_bytes()), rest })
    }
}

impl Target {
    fn parse(authority: &str, default: Option<u16>) -> Option<Self> {
        // A name in front is not the host, whatever it looks like.
        if authority.contains(['@', '\0']) {
            return None;
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, default?),
        };
        let host = host.strip_prefix('[').map_or(Some(host), |host| host.strip_suffix(']'))?;
        (!host.is_empty()).then(|| Self { host: host.to_owned(), port })
    }
}

fn is_of_the_connection(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(name.as_str(), "connection" | "keep-alive") || name.starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn requests_are_read_as_proxies_get_them() {
        for (text, expected) in [
            ("CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nrest", Some(("example.com", 443))),
            ("CONNECT [::1]:99 HTTP/1.1\r\n\r\n", Some(("::1", 99))),
            ("GET http://a.test/x?y HTTP/1.1\r\n\r\n", Some(("a.test", 80))),
            ("GET http://a.test:81 HTTP/1.0\r\n\r\n", Some(("a.test", 81))),
            ("GET http://[::1]/ HTTP/1.1\r\n\r\n", Some(("::1", 80))),
            ("GET http://good@evil/ HTTP/1.1\r\n\r\n", None),
            ("CONNECT example.com HTTP/1.1\r\n\r\n", None),
            ("GET / HTTP/1.1\r\n\r\n", None),
            ("GET ftp://x/ HTTP/1.1\r\n\r\n", None),
            ("GET http:///x HTTP/1.1\r\n\r\n", None),
            ("\u{5}\u{1}\u{0}", None),
            ("CONNECT a:1 HTTP/1.1\r\n", None),
        ] {
            let request = Request::read(&mut text.as_bytes()).unwrap();
            let seen =
                request.as_ref().map(|found| (found.target.host.as_str(), found.target.port));
            assert_eq!(seen, expected, "{text}");
        }
        let text = "POST http://a.test/p HTTP/1.1\r\nHost: a.test\r\nProxy-Connection: keep-alive\r\n\
                    Connection: keep-alive\r\n\r\nbody";
        let request = Request::read(&mut text.as_bytes()).unwrap().unwrap();
        let head = String::from_utf8(request.forward.unwrap()).unwrap();
        assert_eq!(head, "POST /p HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        assert_eq!(request.rest, b"body");
    }
}
