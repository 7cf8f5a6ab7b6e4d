//! A server on a loopback address that has files in memory: a registry, or a page of releases.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

type Files = Arc<Mutex<HashMap<String, Vec<u8>>>>;

pub(crate) struct FileServer {
    port: u16,
    files: Files,
}

impl FileServer {
    /// The thread ends with the test's process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = Files::default();
        let served = Arc::clone(&files);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let files = Arc::clone(&served);
                thread::spawn(move || answer(stream, &files));
            }
        });
        Self { port, files }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn serve(&self, path: &str, bytes: Vec<u8>) {
        self.files.lock().unwrap().insert(path.to_owned(), bytes);
    }
}

fn answer(mut stream: TcpStream, files: &Files) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    // The rest of the head says nothing that matters here.
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let found = files.lock().unwrap().get(path).cloned();
    let (status, bytes) = found.map_or(("404 Not Found", Vec::new()), |bytes| ("200 OK", bytes));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    // A client that goes away has what it wanted.
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes)).ok();
}
