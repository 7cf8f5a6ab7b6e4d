//! The one way out of a sandbox without a network: a proxy of ours, with a list of hosts.
//!
//! Its listening socket belongs to the network namespace of the sandbox, where nothing but a
//! loopback is; the proxy itself is here, outside. So whoever does not use it reaches nothing, and
//! nothing has to run inside.

mod namespace;
mod request;

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    pipe::{PipeFlags, pipe_with},
    process::Pid,
};

use crate::Allowlist;
use request::{Request, Target};

/// Connections at a time; more wait to be accepted.
const MOST: usize = 256;

const PATIENCE: Duration = Duration::from_secs(20);

/// Held while the sandbox runs.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) port: u16,
    /// Its end is the end of the listening thread.
    _end: OwnedFd,
}

impl Door {
    /// Opens a door in the network namespace of a process, at this port or, for 0, at a free one.
    pub(crate) fn open(process: Pid, port: u16, allowed: &Allowlist) -> io::Result<Self> {
        let listener = namespace::listen(process, port)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let (ended, end) = pipe_with(PipeFlags::CLOEXEC)?;
        let allowed = Arc::new(allowed.clone());
        thread::Builder::new()
            .name("door".to_owned())
            .spawn(move || serve(&listener, &ended, &allowed))?;
        Ok(Self { port, _end: end })
    }
}

/// The variables by which programs find a proxy.
pub(crate) fn variables(port: u16) -> Vec<(&'static str, String)> {
    let proxy = format!("http://127.0.0.1:{port}");
    let mut variables: Vec<_> = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .map(|name| (name, proxy.clone()))
        .into();
    for name in ["NO_PROXY", "no_proxy"] {
        variables.push((name, "localhost,127.0.0.1,::1".to_owned()));
    }
    // Node obeys the others only if it is told to.
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    variables
}

fn serve(listener: &TcpListener, ended: &OwnedFd, allowed: &Arc<Allowlist>) {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let mut sources = [
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
            PollFd::new(ended, PollFlags::IN),
        ];
        match poll(&mut sources, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !sources[1].revents().is_empty() => return,
            Ok(_) => {}
        }
        if open.load(Ordering::Acquire) >= MOST {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let Ok((client, _)) = listener.accept() else { continue };
        let (allowed, counted) = (Arc::clone(allowed), Counted::new(&open));
        let started = thread::Builder::new().name("connection".to_owned()).spawn(move || {
            // A connection that fails is closed, and that is all its owner can be told.
            relay(client, &allowed).ok();
            drop(counted);
        });
        if started.is_err() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// One of the connections that are open.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn relay(mut client: TcpStream, allowed: &Allowlist) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(PATIENCE))?;
    let Some(Request { target: Target { host, port }, forward, rest }) =
        Request::read(&mut client)?
    else {
        return refuse(&mut client, "405 Method Not Allowed", "this is a proxy for http and https");
    };
    let resolve = || -> Vec<IpAddr> {
        let found = (host.as_str(), port).to_socket_addrs();
        found.map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
    };
    let Some(addresses) = allowed.permitted(&host, port, resolve) else {
        let why = format!("{host}:{port} is not on the list of allowed hosts (network.allow)");
        return refuse(&mut client, "403 Forbidden", &why);
    };
    let connected = addresses.iter().find_map(|address| {
        TcpStream::connect_timeout(&SocketAddr::new(*address, port), PATIENCE).ok()
    });
    let Some(mut server) = connected else {
        let why = format!("{host}:{port} has no public address that answers");
        return refuse(&mut client, "502 Bad Gateway", &why);
    };
    client.set_read_timeout(None)?;
    match &forward {
        Some(head) => server.write_all(head)?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    server.write_all(&rest)?;
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let upwards = thread::Builder::new()
        .name("connection".to_owned())
        .spawn(move || copy(from_client, to_server))?;
    copy(server, client);
    // It does not panic, and nobody waits for its result.
    drop(upwards.join());
    Ok(())
}

/// Until the end of the one, which is then told to the other.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if buffer.get(..read).is_none_or(|bytes| to.write_all(bytes).is_err()) {
            break;
        }
    }
    // Closed already is as good as closed.
    to.shutdown(Shutdown::Write).ok();
    from.shutdown(Shutdown::Read).ok();
}

fn refuse(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let text = format!("probity: {why}\n");
    let length = text.len();
    // In one piece: there are programs that read but once.
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    );
    client.write_all(answer.as_bytes())
}
