//! As much of HTTP as the model needs: one request a connection, and an answer or a stream of events.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

pub(super) struct Received {
    pub(super) path: String,
    pub(super) body: Value,
}

pub(super) struct Responder(TcpStream);

pub(super) fn receive(stream: TcpStream) -> io::Result<(Received, Responder)> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        match header.split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => chunked = value.contains("chunked"),
            Some(("expect", _)) => (&stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let body = if chunked { read_chunks(&mut reader)? } else { read_exactly(&mut reader, length)? };
    // What is not JSON is kept as text, so that a test can show it.
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    Ok((Received { path, body }, Responder(stream)))
}

fn read_exactly(reader: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        body.extend(read_exactly(reader, size)?);
        line.clear();
        reader.read_line(&mut line)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

impl Responder {
    pub(super) fn json(mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        write!(
            self.0,
            "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    }

    pub(super) fn begin_stream(&mut self) -> io::Result<()> {
        self.0.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n",
        )
    }

    /// An event, with a name where the provider gives events names.
    pub(super) fn event(&mut self, name: Option<&str>, data: &Value) -> io::Result<()> {
        if let Some(name) = name {
            writeln!(self.0, "event: {name}")?;
        }
        write!(self.0, "data: {data}\n\n")
    }

    /// The last event of a chat completion, which is not JSON.
    pub(super) fn done(&mut self) -> io::Result<()> {
        self.0.write_all(b"data: [DONE]\n\n")
    }

    pub(super) fn wait_for_hang_up(mut self) {
        // The end of the connection, or its breaking: either way nobody listens any more.
        while matches!(self.0.read(&mut [0; 256]), Ok(1..)) {}
    }
}
