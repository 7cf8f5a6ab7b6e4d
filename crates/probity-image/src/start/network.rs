//! The sockets of a container that listen, and one question to each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// Ports with a listening TCP socket, as the kernel shows them.
pub(super) fn listening(pid: i32) -> BTreeSet<u16> {
    const LISTENS: &str = "0A";
    let tables = ["tcp", "tcp6"].map(|name| format!("/proc/{pid}/net/{name}"));
    let texts = tables.iter().filter_map(|path| fs::read_to_string(path).ok());
    let mut ports = BTreeSet::new();
    for text in texts {
        for line in text.lines().skip(1) {
            let mut words = line.split_whitespace().skip(1);
            let (address, state) = (words.next(), words.nth(1));
            let port = address.and_then(|address| address.rsplit(':').next());
            let port = port.and_then(|port| u16::from_str_radix(port, 16).ok());
            if state == Some(LISTENS) {
                ports.extend(port);
            }
        }
    }
    ports
}

/// One GET for each port, from inside the container's network; nothing where that needs more rights
/// than we have.
#[cfg(target_os = "linux")]
pub(super) fn answers(pid: i32, ports: &BTreeSet<u16>) -> BTreeMap<u16, String> {
    use std::{fs::File, os::fd::AsFd as _, thread};

    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

    let Ok(namespace) = File::open(format!("/proc/{pid}/ns/net")) else { return BTreeMap::new() };
    let ports = ports.clone();
    // The thread stays in that network, and so has to end here.
    let asking = thread::spawn(move || {
        let network = Some(LinkNameSpaceType::Network);
        if move_into_link_name_space(namespace.as_fd(), network).is_err() {
            return BTreeMap::new();
        }
        ports.into_iter().map(|port| (port, get(port))).collect()
    });
    asking.join().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn answers(_pid: i32, _ports: &BTreeSet<u16>) -> BTreeMap<u16, String> {
    BTreeMap::new()
}

#[cfg(target_os = "linux")]
fn get(port: u16) -> String {
    use std::{
        io::{Read as _, Write as _},
        net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
        time::Duration,
    };

    const PATIENCE: Duration = Duration::from_secs(3);
    const NOTHING: &str = "no HTTP";
    let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let stream = addresses.into_iter().find_map(|address| {
        TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE).ok()
    });
    let Some(mut stream) = stream else { return "no connection".to_owned() };
    let limits =
        stream.set_read_timeout(Some(PATIENCE)).and(stream.set_write_timeout(Some(PATIENCE)));
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    if limits.and_then(|()| stream.write_all(request)).is_err() {
        return NOTHING.to_owned();
    }
    let mut head = Vec::new();
    // A peer that sends nothing more has said what it has to say.
    stream.take(4096).read_to_end(&mut head).ok();
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    match (words.next(), words.next()) {
        (Some(protocol), Some(status)) if protocol.starts_with("HTTP/") => status.to_owned(),
        _ => NOTHING.to_owned(),
    }
}
