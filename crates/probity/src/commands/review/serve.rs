//! `review serve`: the history as pages on a loopback address, which can only be read.

mod pages;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use anyhow::Context as _;
use probity_review::History;

use super::history::{ChosenHistory, open};
use crate::{exit::Exit, failure::Failure};

/// A browser sends its head at once; whoever does not is cut off.
const PATIENCE: Duration = Duration::from_secs(5);
const HEAD_BYTES: u64 = 16 << 10;

/// Why a request gets no page of the history.
enum Refused {
    /// The request names another host than this address.
    Host(SocketAddr),
    Method,
    Page,
    Repository(String),
    Review(String),
    /// The history cannot be read.
    History,
}

impl Refused {
    fn status(&self) -> &'static str {
        match self {
            Self::Host(_) => "403 Forbidden",
            Self::Method => "405 Method Not Allowed",
            Self::Page | Self::Repository(_) | Self::Review(_) => "404 Not Found",
            Self::History => "500 Internal Server Error",
        }
    }
}

pub(crate) fn serve(place: &ChosenHistory, port: u16) -> anyhow::Result<Exit> {
    let mut history = open(place)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        let what = format!("cannot listen on 127.0.0.1:{port}");
        Failure::new(what, "name another port with --port; 0 takes a free one")
    })?;
    let address = listener.local_addr().context("cannot find the port")?;
    // The line is for people and for programs that wait for it.
    let mut out = std::io::stdout().lock();
    writeln!(out, "http://{address}/")
        .and_then(|()| out.flush())
        .context("cannot write the URL")?;
    drop(out);
    for stream in listener.incoming() {
        let served = stream.and_then(|stream| one(stream, address, &mut history));
        if let Err(error) = served {
            tracing::debug!("a request was not answered: {error}");
        }
    }
    Ok(Exit::Clean)
}

fn one(mut stream: TcpStream, address: SocketAddr, history: &mut History) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?.take(HEAD_BYTES));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut host = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("host")
        {
            host = Some(value.trim().to_ascii_lowercase());
        }
    }
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_ours = host.is_some_and(|host| is_own_host(&host, address.port()));
    let answer = if !is_ours {
        // A page of another site that resolves to this address must not read the history.
        Err(Refused::Host(address))
    } else if !matches!(method, "GET" | "HEAD") {
        Err(Refused::Method)
    } else {
        pages::answer(target, history)
    };
    let (status, body) = match answer {
        Ok(body) => ("200 OK", body),
        Err(refused) => (refused.status(), pages::refused(&refused)),
    };
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\r\n",
        status,
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}

fn is_own_host(host: &str, port: u16) -> bool {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")].iter().any(|own| own == host)
}
