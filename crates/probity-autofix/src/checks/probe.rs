//! The command of a health check is one probe of this container and nothing else.

use probity_dockerfile::{CommandLine, Keyword, Setting, Value};

use probity_shell::{Command, Pipeline};

use super::{
    Change, Check, Issue, View,
    base_image::{base, is_bare},
    endpoints::{Endpoints, LOCAL},
    healthcheck,
    patch::all,
    probe_code,
};

pub(crate) const COMMAND: Check = Check::new("healthcheck-command", command);
pub(crate) const PACE: Check = Check::new("healthcheck-pace", pace);

/// Programs that run whatever text they are given.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "ash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "env",
];

/// Words beside the address that make a probe quieter or shorter.
const HARMLESS: &[&str] = &[
    "-nv",
    "-qO-",
    "-O-",
    "-sO-",
    "--fail",
    "--fail-with-body",
    "--silent",
    "--show-error",
    "--head",
    "--insecure",
    "--location",
    "--quiet",
    "--spider",
    "--no-verbose",
    "--no-check-certificate",
    "--server-response",
];

/// Letters of short options that do the same, and may be written together.
const HARMLESS_LETTERS: &[(&str, &str)] = &[("curl", "fsSLIkv4"), ("wget", "qS"), ("nc", "zv")];

/// Options with a number behind them.
const NUMBERS: &[&str] =
    &["-m", "-w", "-t", "--max-time", "--connect-timeout", "--retry", "--timeout", "--tries"];

/// What a program may be asked for when it checks itself: nothing that it could mean otherwise.
const QUESTIONS: &[&str] = &[
    "check",
    "health",
    "healthcheck",
    "health-check",
    "healthz",
    "live",
    "ping",
    "probe",
    "ready",
    "status",
];

/// Flags of times, with the fewest and the most seconds that make sense.
const TIMES: &[(&str, u64, u64)] = &[
    ("interval", 5, 3600),
    ("timeout", 1, 600),
    ("start-period", 0, 3600),
    ("start-interval", 1, 600),
];
const MOST_RETRIES: u64 = 20;

fn command(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let new = new_checks(change);
    let [index] = new.as_slice() else {
        return vec![change.issue(check, "there must be exactly one new HEALTHCHECK")];
    };
    let mut endpoints = Endpoints::of(change);
    endpoints.has_any_path = healthcheck::guesses_path(change);
    if is_one_probe(after, *index, &endpoints) {
        return Vec::new();
    }
    let message = "the command must be one probe with curl, wget, nc, the image's own program or its \
                   interpreter, of an exposed port of localhost, at most followed by `| grep -q …` and \
                   `|| exit 1`, for curl with --fail, without anything that sends, stores or runs";
    vec![placed(change, change.issue(check, message), *index)]
}

/// A check that runs all the time or never, or that never fails, is none.
fn pace(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    for index in new_checks(change) {
        let Some(instruction) = change.after.file.instructions.get(index) else { continue };
        for (flag, least, most) in TIMES {
            let Some(value) = instruction.flag_value(flag) else { continue };
            if !seconds(&value.text).is_some_and(|time| (*least..=*most).contains(&time)) {
                let message =
                    format!("--{flag} must be from {least}s to {most}s, in whole seconds");
                issues.push(placed(change, change.issue(check, &message), index));
            }
        }
        let retries = instruction.flag_value("retries");
        let is_fine =
            |text: &str| text.parse().is_ok_and(|number| (1..=MOST_RETRIES).contains(&number));
        if retries.is_some_and(|value| !is_fine(&value.text)) {
            let message = format!("--retries must be from 1 to {MOST_RETRIES}");
            issues.push(placed(change, change.issue(check, &message), index));
        }
    }
    issues
}

/// The HEALTHCHECKs that the original does not have.
fn new_checks(change: &Change<'_>) -> Vec<usize> {
    let after = change.after;
    let known = all(change.before, Keyword::Healthcheck);
    let new = after.file.instructions.iter().enumerate().filter(|(_, instruction)| {
        instruction.keyword == Keyword::Healthcheck
            && !known.contains(&super::steps::written(after, instruction))
    });
    new.map(|(index, _)| index).collect()
}

fn placed(change: &Change<'_>, issue: Issue, index: usize) -> Issue {
    match change.after.file.instructions.get(index) {
        Some(instruction) => issue.at(change.after, instruction.span),
        None => issue,
    }
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

fn is_one_probe(view: &View<'_>, index: usize, endpoints: &Endpoints) -> bool {
    if opens_a_port(view, endpoints) {
        return true;
    }
    let [script] = view.facts.scripts(&view.file, index) else { return false };
    let [block] = &*script.blocks else { return false };
    let is_plain = script.errors().is_empty()
        && script.opaque.is_none()
        && block.pipelines.iter().all(|pipeline| !pipeline.background && !pipeline.negated);
    let stages: Vec<usize> = block.pipelines.iter().map(|pipeline| pipeline.stages.len()).collect();
    if !is_plain || script.commands.len() != stages.iter().sum::<usize>() {
        return false;
    }
    let (probe, filter, exit) = match (stages.as_slice(), &*script.commands) {
        ([1], [probe]) => (probe, None, None),
        ([1, 1], [probe, exit]) => (probe, None, Some(exit)),
        ([2], [probe, filter]) => (probe, Some(filter), None),
        ([2, 1], [probe, filter, exit]) => (probe, Some(filter), Some(exit)),
        _ => return false,
    };
    let last = block.pipelines.last().and_then(Pipeline::joiner_span);
    let joiner = last.and_then(|span| span.slice(view.text));
    let is_exit = exit.is_none_or(|exit| is_constant(exit, &["exit", "1"]) && joiner == Some("||"));
    let Some((name, arguments)) = plain_words(view, probe, endpoints) else { return false };
    if !is_exit || filter.is_some_and(|filter| !is_search(view, filter, endpoints)) {
        return false;
    }
    match name.as_str() {
        "curl" | "wget" => asks_this_container(endpoints, &name, &arguments),
        _ if filter.is_some() => false,
        "nc" => asks_this_container(endpoints, &name, &arguments),
        "pg_isready" => asks_this_database(endpoints, &arguments),
        "redis-cli" | "mysqladmin" => arguments == ["ping"],
        _ if probe_code::is_code(&name, &arguments) => {
            probe_code::is_probe(view, endpoints, &name, &arguments)
        }
        _ => is_own_program(view, &name) && asks_how_it_is(endpoints, &arguments),
    }
}

/// `bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080'`: fails unless somebody listens there.
fn opens_a_port(view: &View<'_>, endpoints: &Endpoints) -> bool {
    let Some((_, text)) = healthcheck::command(view) else { return false };
    let Some(image) = base(view) else { return false };
    let is_small = is_bare(&image) || image.contains("alpine") || image.contains("busybox");
    let code: String = text
        .chars()
        .filter(|character| !character.is_whitespace() && !"'\"".contains(*character))
        .collect();
    let code = code.strip_suffix("||exit1").unwrap_or(&code);
    let code = code.strip_prefix("/bin/").unwrap_or(code);
    let Some(code) = code.strip_prefix("bash-c") else { return false };
    let forms = [":>", "echo>", "exec3<>", "<"];
    let target = code.split_once("/dev/tcp/").filter(|(form, _)| forms.contains(form));
    let target = target.and_then(|(_, target)| target.split_once('/'));
    !is_small
        && target.is_some_and(|(host, port)| LOCAL.contains(&host) && endpoints.has_port(port))
}

fn is_constant(command: &Command, words: &[&str]) -> bool {
    let own: Vec<_> = command.words.iter().filter_map(|word| word.literal()).collect();
    own == words && command.redirections().is_empty()
}

/// `grep -q PATTERN`: fails where the answer lacks something.
fn is_search(view: &View<'_>, command: &Command, endpoints: &Endpoints) -> bool {
    let Some((name, arguments)) = plain_words(view, command, endpoints) else { return false };
    let is_quiet = |flag: &str| {
        let letters = flag.strip_prefix('-').unwrap_or_default();
        letters.contains('q') && letters.chars().all(|character| "qisEFwx".contains(character))
    };
    matches!(arguments.as_slice(), [flag, pattern] if is_quiet(flag) && !pattern.starts_with('-'))
        && name == "grep"
}

/// The name and the arguments of a command that sets and redirects nothing but its own output.
fn plain_words(
    view: &View<'_>,
    command: &Command,
    endpoints: &Endpoints,
) -> Option<(String, Vec<String>)> {
    let is_quiet = command.redirections().iter().all(|redirection| {
        let written = redirection.span.slice(view.text).unwrap_or_default();
        redirection.target.as_ref().is_some_and(|target| target.is("/dev/null"))
            || written == "2>&1"
    });
    let words: Option<Vec<String>> =
        command.words.iter().map(|word| endpoints.expanded(word)).collect();
    let mut words = words?.into_iter();
    let name = words.next()?;
    (is_quiet && command.assignments().is_empty()).then(|| (name, words.collect()))
}

/// Whether the command of a health check is code for an interpreter.
pub(super) fn is_code(view: &View<'_>, index: usize) -> bool {
    let scripts = view.facts.scripts(&view.file, index).iter();
    let mut commands = scripts.flat_map(|script| &script.commands);
    let endpoints = Endpoints::read(view, view);
    commands.any(|command| {
        let words = plain_words(view, command, &endpoints);
        words.is_some_and(|(name, words)| probe_code::is_code(&name, &words))
    })
}

/// One question, and at most where on this machine the program itself listens.
fn asks_how_it_is(endpoints: &Endpoints, arguments: &[String]) -> bool {
    let questions = |argument: &&String| QUESTIONS.contains(&argument.trim_start_matches('-'));
    let asked = arguments.iter().filter(questions).count();
    let rest = arguments.iter().filter(|argument| !questions(argument)).map(String::as_str);
    let is_harmless = |word: &str| {
        matches!(word, "--port" | "-p" | "--host" | "-q" | "--quiet")
            || LOCAL.contains(&word)
            || endpoints.has_port(word)
    };
    asked == 1 && rest.into_iter().all(is_harmless)
}

fn asks_this_database(endpoints: &Endpoints, arguments: &[String]) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_fine = match word {
            "-q" | "--quiet" => true,
            "-h" => words.next().is_some_and(|host| LOCAL.contains(&host)),
            "-p" => words.next().is_some_and(|port| endpoints.has_port(port)),
            // A whole connection string may stand in the place of the name of a database.
            "-U" | "-d" | "-t" => words.next().is_some_and(is_name),
            _ => false,
        };
        if !is_fine {
            return false;
        }
    }
    true
}

fn is_own_program(view: &View<'_>, name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let runtime = view.facts.final_runtime();
    let mut entries =
        [Setting::Entrypoint, Setting::Cmd].into_iter().flat_map(|setting| runtime.get(setting));
    let is_own = entries.any(|entry| match &entry.entry.value {
        Value::Command(CommandLine::Exec(words)) => words.first().is_some_and(|word| word == name),
        _ => false,
    });
    is_own && !INTERPRETERS.contains(&base)
}

fn asks_this_container(endpoints: &Endpoints, tool: &str, arguments: &[String]) -> bool {
    let mut targets = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_number = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        let is_fine = match flag {
            // The last letter of several takes the value.
            "-o" | "-O" | "--output" | "--output-document" => {
                matches!(
                    if value.is_empty() { words.next() } else { Some(value) },
                    Some("/dev/null" | "-")
                )
            }
            _ if NUMBERS.contains(&flag) || (flag == "-T" && tool == "wget") => {
                is_number(if value.is_empty() { words.next().unwrap_or_default() } else { value })
            }
            _ if tool == "wget"
                && matches!(flag.split_at_checked(2), Some(("-T" | "-t", it)) if is_number(it)) =>
            {
                true
            }
            _ if HARMLESS.contains(&word) || is_harmless_group(tool, word) => true,
            _ if word.starts_with('-') => {
                let output = word.strip_suffix(if tool == "curl" { 'o' } else { 'O' });
                output.is_some_and(|group| is_harmless_group(tool, group))
                    && matches!(words.next(), Some("/dev/null" | "-"))
            }
            _ => {
                targets.push(word);
                true
            }
        };
        if !is_fine {
            return false;
        }
    }
    // An error page is an answer to curl, unless it is told otherwise.
    let fails = arguments.iter().any(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        word.starts_with("--fail") || letters.is_some_and(|letters| letters.contains('f'))
    });
    // Without these words wget stores the answer, and fails where it cannot or where the file is there.
    let stores = !arguments.iter().any(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        matches!(word.as_str(), "--spider" | "--method=HEAD")
            || word.starts_with("--output-document")
            || letters.is_some_and(|letters| letters.contains('O'))
    });
    if (tool == "curl" && !fails) || (tool == "wget" && stores) {
        return false;
    }
    match (tool, targets.as_slice()) {
        ("nc", [host, port]) => LOCAL.contains(host) && endpoints.has_port(port),
        ("curl" | "wget", [address]) => endpoints.has_address(address),
        _ => false,
    }
}

/// `-fsS`: letters that change nothing but what is printed and what fails.
fn is_harmless_group(tool: &str, word: &str) -> bool {
    let letters = HARMLESS_LETTERS.iter().find(|(name, _)| *name == tool).map_or("", |row| row.1);
    let own = word.strip_prefix('-').unwrap_or_default();
    !own.is_empty() && own.chars().all(|character| letters.contains(character))
}
