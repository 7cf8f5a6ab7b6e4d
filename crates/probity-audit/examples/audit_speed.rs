//! How long reads take in this process and as commands, and what `--jobs` gains over a slow provider.
//!
//! Run with `cargo run -p probity-audit --example audit_speed`; it prints ratios and asserts nothing.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a product")]

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use probity_agent::{Cancel, ChatKind, ChatOptions, ChatProvider, Limits, Retry};
use probity_audit::{
    AuditOptions, Event, Observer, PermissionPrompt, Previous, Provider, ProviderSpec, ReadScope,
    ReadTools, Request, Rules, Skill, State, ToolOptions, embedded, run,
};

const ROUNDS: u32 = 200;
const SKILLS: usize = 20;
const THINKING: Duration = Duration::from_millis(200);

fn main() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let text = format!("validator v{number} {{\n{}}}\n", "  expect a == b\n".repeat(200));
        fs::write(dir.path().join(format!("v{number}.ak")), text).unwrap();
    }
    reads(dir.path());
    skills(dir.path());
}

fn reads(root: &Path) {
    let permission = PermissionPrompt::new(ReadScope::Workspace, false, false, &[]);
    let options = ToolOptions {
        numbered: false,
        allow_sensitive: false,
        allow_ignored: false,
        rules: Rules::Specification,
    };
    let tools = ReadTools::open(root, &[], permission, options).unwrap();
    let path = || "v7.ak".to_owned();
    let pattern = "validator".to_owned();
    let cases: [(Request, Vec<&str>); 4] = [
        (Request::ReadFile { path: path(), offset: 1, limit: None }, vec!["cat", "v7.ak"]),
        (
            Request::Grep { pattern, path: path(), context_lines: 2 },
            vec!["grep", "-n", "-C", "2", "--", "validator", "v7.ak"],
        ),
        (Request::ListDir { path: ".".to_owned() }, vec!["ls", "-la", "."]),
        (Request::FindFiles { path: ".".to_owned(), glob: None }, vec!["find", ".", "-type", "f"]),
    ];
    for (request, argv) in cases {
        let ours = timed(|| drop(tools.execute(&request, &|_, _| true).unwrap()));
        let theirs = timed(|| {
            let mut command = Command::new(argv[0]);
            drop(command.args(&argv[1..]).current_dir(root).output().unwrap());
        });
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!(
            "{:<10} {ours:>9.1?} in process, {theirs:>9.1?} spawned: {ratio:.1} times",
            request.action()
        );
    }
}

fn timed(work: impl Fn()) -> Duration {
    let began = Instant::now();
    (0..ROUNDS).for_each(|_| work());
    began.elapsed() / ROUNDS
}

fn skills(root: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    let chat = ChatProvider::new(ChatOptions {
        kind: ChatKind::Ollama,
        endpoint,
        model: "slow".to_owned(),
        key: None,
        max_tokens: None,
        extras: None,
        retry: Retry::USUAL,
    })
    .unwrap();
    let spec = ProviderSpec { name: "slow".into(), model: None, notes: String::new() };
    let provider =
        Provider::agent(spec, move |opening| Ok(Box::new(chat.conversation(opening.system))));
    let one = embedded().unwrap().remove(0);
    let skills: Vec<Skill> =
        (0..SKILLS).map(|number| Skill { id: format!("skill-{number}"), ..one.clone() }).collect();
    let time = |jobs| {
        let options = AuditOptions {
            rules: Rules::Specification,
            root,
            sources: &[],
            source_digest: None,
            skills: &skills,
            provider: &provider,
            permission: PermissionPrompt::new(ReadScope::Workspace, false, false, &[]),
            tools: ToolOptions {
                numbered: false,
                allow_sensitive: false,
                allow_ignored: false,
                rules: Rules::Specification,
            },
            limits: Limits::within(Duration::from_secs(60)),
            jobs,
            budget: None,
            earlier: Vec::new(),
            previous: Previous::default(),
            changed: None,
            refute: false,
            prove: None,
            cache: None,
        };
        let began = Instant::now();
        let state = run(options, &Quiet, &|_: &State| Ok(()), &Cancel::new()).unwrap();
        assert!(state.iterations.iter().all(|iteration| iteration.error.is_none()));
        began.elapsed()
    };
    let (alone, together) = (time(1), time(8));
    let ratio = alone.as_secs_f64() / together.as_secs_f64();
    println!(
        "{SKILLS} skills: {alone:.2?} with --jobs 1, {together:.2?} with --jobs 8: {ratio:.1} times"
    );
}

/// Thinks for a while, asks for a search first, and then is done.
fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut piece = [0; 65_536];
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(read @ 1..) => request.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    thread::sleep(THINKING);
    let is_first = !String::from_utf8_lossy(&request).contains("\"role\":\"assistant\"");
    let said = if is_first {
        r#"{\"action\":\"grep\",\"pattern\":\"validator\"}"#
    } else {
        r#"{\"action\":\"final\",\"findings\":[]}"#
    };
    let body = format!(r#"{{"choices":[{{"message":{{"content":"{said}"}}}}]}}"#);
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

struct Quiet;

impl Observer for Quiet {
    fn allow(&self, _: &str, _: &str) -> bool {
        true
    }
    fn event(&self, _: &Skill, _: &Event<'_>) {}
}
