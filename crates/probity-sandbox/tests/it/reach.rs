//! What a process without a network reaches through the list of allowed hosts, and what it does not.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use probity_sandbox::{Allowlist, Backend, Network, SpawnError, spawn};

use crate::stage::{Workspace, bubblewrap, text};

/// A server that answers every request with a word, on a free port of the host.
pub(crate) fn server(word: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte).unwrap_or(0) > 0 {
                head.extend(byte);
            }
            let length = word.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{word}");
            client.write_all(head.as_bytes()).ok();
        }
    });
    port
}

/// Asks the proxy of the environment for each of its arguments, plainly and by CONNECT.
const CLIENT: &str = r"
import os, socket, sys
port = int(os.environ['http_proxy'].rsplit(':', 1)[1])
def ask(words):
    s = socket.create_connection(('127.0.0.1', port), timeout=20)
    s.sendall(words.encode())
    return s
def rest(s):
    data = b''
    while True:
        more = s.recv(65536)
        if not more: return data.decode()
        data += more
for host in sys.argv[1:]:
    print(host, rest(ask(f'GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n')).split('\r\n')[0].split()[1], end=' ')
    s = ask(f'CONNECT {host} HTTP/1.1\r\n\r\n')
    answer = s.recv(4096).decode()
    if ' 200 ' in answer.split('\r\n')[0]:
        s.sendall(b'GET / HTTP/1.1\r\n\r\n')
        print('connected', rest(s).split('\r\n\r\n')[-1])
    else:
        print(answer.split()[1], answer.split('\r\n\r\n')[-1].strip())
";

#[test]
fn listed_hosts_are_reached_through_the_proxy_and_nothing_else_is() {
    let workspace = Workspace::new();
    let (open, closed) = (server("welcome"), server("bait"));
    let listed = format!("127.0.0.1:{open}");
    let unlisted = format!("127.0.0.1:{closed}");
    let by_name = format!("localhost:{open}");
    let by_name_alone = format!("localhost:{closed}");
    let asked = [&listed, &unlisted, &by_name, &by_name_alone];
    let asked = asked.map(String::as_str).into_iter().chain(["no.test:80"]);
    let words: Vec<&str> = ["python3", "-c", CLIENT].into_iter().chain(asked).collect();
    let mut spec = workspace.spec(&words);
    // A name leads to a private address only if the list has that too.
    let list = [&listed, &by_name, &by_name_alone].map(String::as_str);
    spec.reach = Some(Allowlist::parse(&list).unwrap());
    let (outcome, stdout) = text(&bubblewrap(), &spec);
    let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    let not_listed = "is not on the list of allowed hosts (network.allow)";
    let expected = format!(
        "{listed} 200 connected welcome\n\
         {unlisted} 403 403 probity: {unlisted} {not_listed}\n\
         {by_name} 200 connected welcome\n\
         {by_name_alone} 502 502 probity: {by_name_alone} has no public address that answers\n\
         no.test:80 403 403 probity: no.test:80 {not_listed}\n"
    );
    assert_eq!(stdout, expected, "{told}");

    // Past the proxy there is nothing.
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{open} && echo connected");
    spec.argv = ["bash", "-c", &script].map(Into::into).to_vec();
    assert_eq!(text(&bubblewrap(), &spec).1, "");
    spec.argv = ["sh", "-c", "tail -n +2 /proc/net/route | wc -l"].map(Into::into).to_vec();
    assert_eq!(text(&bubblewrap(), &spec).1, "0\n");
}

#[test]
fn a_list_that_cannot_be_enforced_is_refused() {
    let workspace = Workspace::new();
    let mut spec = workspace.spec(&["true"]);
    spec.reach = Some(Allowlist::parse(&["example.com"]).unwrap());
    let error = spawn(&Backend::None, &spec).unwrap_err();
    assert!(matches!(error, SpawnError::Setup { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "none could not prepare the sandbox: a list of allowed hosts cannot be enforced on the network of \
         the host"
    );
    spec.network = Network::Open;
    assert!(spawn(&bubblewrap(), &spec).is_err());
}
