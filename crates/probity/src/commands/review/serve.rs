//! `review serve`: read-only pages of the history on a loopback address, for whoever has the URL.

mod connections;
mod pages;
mod request;
mod token;

use std::{
    io::Write as _,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use probity_review::History;

use self::{
    connections::{Connection, Connections},
    request::Request,
    token::Token,
};
use super::history::{ChosenHistory, open};
use crate::{exit::Exit, failure::Failure, streams};

/// Why a request gets no page of the history.
enum Refused {
    /// The request names another host than this address.
    Host(SocketAddr),
    /// The request has neither the token nor a cookie with it.
    Token,
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
            Self::Host(_) | Self::Token => "403 Forbidden",
            Self::Method => "405 Method Not Allowed",
            Self::Page | Self::Repository(_) | Self::Review(_) => "404 Not Found",
            Self::History => "500 Internal Server Error",
        }
    }
}

pub(crate) fn serve(place: &ChosenHistory, port: u16) -> anyhow::Result<Exit> {
    let history = Mutex::new(open(place)?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        let what = format!("cannot listen on 127.0.0.1:{port}");
        Failure::new(what, "name another port with --port; 0 takes a free one")
    })?;
    let address = listener.local_addr().context("cannot find the port")?;
    let token = Token::new().context("cannot read /dev/urandom, which the token is made from")?;
    // The line is for people and for programs that wait for it.
    let mut out = streams::stdout().lock();
    writeln!(out, "http://{address}/?token={}", token.text())
        .and_then(|()| out.flush())
        .context("cannot write the URL")?;
    drop(out);
    let server = Arc::new(Server { address, token, history });
    let connections = Arc::new(Connections::default());
    for stream in listener.incoming() {
        let begun = stream
            .and_then(|stream| connections.admit(stream))
            .and_then(|connection| server.clone().begin(connection));
        if let Err(error) = begun {
            tracing::debug!("a connection was not served: {error}");
        }
    }
    Ok(Exit::Clean)
}

struct Server {
    address: SocketAddr,
    token: Token,
    history: Mutex<History>,
}

impl Server {
    /// Serves one connection beside all others, so that nobody waits for one who says nothing.
    fn begin(self: Arc<Self>, connection: Connection) -> std::io::Result<()> {
        let serve = move || {
            if let Err(error) = self.serve(connection) {
                tracing::debug!("a request was not answered: {error}");
            }
        };
        std::thread::Builder::new().name("page".to_owned()).spawn(serve).map(drop)
    }

    fn serve(&self, mut connection: Connection) -> std::io::Result<()> {
        let request = Request::read(&mut connection)?;
        connection.begin_answer();
        let (status, body) = match self.answer(&request) {
            Ok(body) => ("200 OK", body),
            Err(refused) => (refused.status(), pages::refused(&refused)),
        };
        let cookie = if self.is_own_host(&request) && self.token.is(request.token()) {
            format!("Set-Cookie: {}\r\n", self.token.cookie(self.address.port()))
        } else {
            String::new()
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n{cookie}\r\n",
            body.len()
        );
        connection.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            connection.write_all(body.as_bytes())?;
        }
        connection.flush()
    }

    fn answer(&self, request: &Request) -> Result<String, Refused> {
        if !self.is_own_host(request) {
            // A page of another site that resolves to this address must not read the history.
            return Err(Refused::Host(self.address));
        }
        let cookie = request.cookie(&token::cookie_name(self.address.port()));
        if !self.token.is(request.token()) && !self.token.is(cookie) {
            // Every user of this machine reaches a loopback address.
            return Err(Refused::Token);
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Err(Refused::Method);
        }
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        pages::answer(&request.page(), &mut history)
    }

    fn is_own_host(&self, request: &Request) -> bool {
        let port = self.address.port();
        let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        request.host.as_ref().is_some_and(|host| own.contains(host))
    }
}
