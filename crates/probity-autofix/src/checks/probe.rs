//! The command of a health check is one probe of this container and nothing else.

use probity_dockerfile::{CommandLine, Keyword, Setting, Value};

use super::{Change, Check, Issue, View, healthcheck::ports, patch::all};

pub(crate) const COMMAND: Check = Check { name: "healthcheck-command", run: command };

const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Programs that run whatever text they are given.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "ash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "env",
];

/// Words beside the address that make a probe quieter or shorter.
const HARMLESS: &[&str] = &[
    "-f",
    "-s",
    "-S",
    "-L",
    "-I",
    "-k",
    "-q",
    "-fs",
    "-sf",
    "-fsS",
    "-sSf",
    "-fsSL",
    "-fL",
    "-nv",
    "-z",
    "-v",
    "-zv",
    "-vz",
    "-qO-",
    "--fail",
    "--silent",
    "--show-error",
    "--head",
    "--insecure",
    "--quiet",
    "--spider",
    "--no-verbose",
    "--tries=1",
    "--no-check-certificate",
];

fn command(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let known = all(change.before, Keyword::Healthcheck);
    let new = after.file.instructions.iter().enumerate().filter(|(_, it)| {
        it.keyword == Keyword::Healthcheck && !known.contains(&super::steps::written(after, it))
    });
    let new: Vec<_> = new.collect();
    let [(index, instruction)] = new.as_slice() else {
        return vec![change.issue(check, "there must be exactly one new HEALTHCHECK")];
    };
    let is_hasty = instruction
        .flag_value("interval")
        .is_some_and(|value| seconds(&value.text).is_none_or(|seconds| seconds < 5));
    let message = match (is_hasty, is_one_probe(after, *index)) {
        (false, true) => return Vec::new(),
        (true, _) => "the interval must be five seconds or more",
        (_, false) => {
            "the command must be one probe with curl, wget, nc or the image's own program, of an \
             exposed port of localhost, at most followed by `|| exit 1`, without flags that send, \
             store or run anything"
        }
    };
    vec![change.issue(check, message).at(after, instruction.span)]
}

/// Whole seconds of `30s`, `5m`, `1m30s`; nothing for what is written otherwise.
fn seconds(text: &str) -> Option<u64> {
    let (mut total, mut number) = (0_u64, String::new());
    for sign in text.chars() {
        let unit = match sign {
            '0'..='9' => {
                number.push(sign);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    number.is_empty().then_some(total)
}

fn is_one_probe(view: &View<'_>, index: usize) -> bool {
    let [script] = view.facts.scripts(&view.file, index) else { return false };
    let [block] = script.blocks.as_slice() else { return false };
    let is_plain = script.errors.is_empty()
        && script.opaque.is_none()
        && block.pipelines.iter().all(|it| it.stages.len() == 1 && !it.background && !it.negated)
        && script.commands.len() == block.pipelines.len();
    let fallback = match (block.pipelines.as_slice(), script.commands.as_slice()) {
        ([_], [_]) => true,
        ([_, second], [_, exit]) => {
            let joiner = second.joiner_span.and_then(|span| span.slice(view.text));
            let words: Vec<_> = exit.words.iter().filter_map(|word| word.literal()).collect();
            joiner == Some("||") && words == ["exit", "1"] && exit.redirections.is_empty()
        }
        _ => false,
    };
    let Some(probe) = script.commands.first().filter(|_| is_plain && fallback) else {
        return false;
    };
    let is_quiet = probe.redirections.iter().all(|it| {
        let written = it.span.slice(view.text).unwrap_or_default();
        it.target.as_ref().is_some_and(|target| target.is("/dev/null")) || written == "2>&1"
    });
    let words: Option<Vec<String>> = probe.words.iter().map(|word| word.literal()).collect();
    let Some(words) = words.filter(|_| is_quiet && probe.assignments.is_empty()) else {
        return false;
    };
    let Some((name, arguments)) = words.split_first() else { return false };
    match name.as_str() {
        "curl" | "wget" | "nc" => asks_this_container(view, name, arguments),
        "pg_isready" => true,
        "redis-cli" | "mysqladmin" => arguments == ["ping"],
        _ => is_own_program(view, name),
    }
}

fn is_own_program(view: &View<'_>, name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let runtime = view.facts.final_runtime();
    let mut entries =
        [Setting::Entrypoint, Setting::Cmd].into_iter().flat_map(|it| runtime.get(it));
    let is_own = entries.any(|entry| match &entry.entry.value {
        Value::Command(CommandLine::Exec(words)) => words.first().is_some_and(|it| it == name),
        _ => false,
    });
    is_own && !INTERPRETERS.contains(&base)
}

fn asks_this_container(view: &View<'_>, tool: &str, arguments: &[String]) -> bool {
    let exposed = ports(view);
    let is_exposed = |port: &str| {
        exposed.is_empty() || exposed.iter().any(|it| it.split('/').next() == Some(port))
    };
    let mut targets = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_fine = match word {
            "-o" | "-O" | "-qO" | "-so" => matches!(words.next(), Some("/dev/null" | "-")),
            "-m" | "-w" | "-t" | "--max-time" | "--connect-timeout" => {
                words.next().is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
            }
            "-T" if tool == "wget" => {
                words.next().is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
            }
            word if word.starts_with('-') => HARMLESS.contains(&word),
            word => {
                targets.push(word);
                true
            }
        };
        if !is_fine {
            return false;
        }
    }
    match (tool, targets.as_slice()) {
        ("nc", [host, port]) => LOCAL.contains(host) && is_exposed(port),
        ("curl" | "wget", [address]) => {
            let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
            // What path is asked for is the endpoint check's business.
            let authority = rest.split('/').next().unwrap_or_default();
            let host = LOCAL.iter().find(|host| authority.starts_with(**host));
            let port = host.and_then(|host| authority.strip_prefix(host));
            let usual = if scheme == "https" { "443" } else { "80" };
            let port = port.and_then(|port| match port {
                "" => Some(usual),
                port => port.strip_prefix(':'),
            });
            matches!(scheme, "http" | "https")
                && !rest.contains(['?', '#', '@'])
                && port.is_some_and(|port| {
                    port.bytes().all(|it| it.is_ascii_digit()) && is_exposed(port)
                })
        }
        _ => false,
    }
}
