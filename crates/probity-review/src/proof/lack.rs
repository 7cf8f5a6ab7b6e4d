//! What a test asks of the machine and does not get.
//!
//! Words of an operating system are no verdict: this is asked only about a failure that does not
//! rest on the code, to say why it is there.

use super::{alter::words, constant::without_text};

/// Told in this way by the languages that have a runner.
const NETWORK: [&str; 11] = [
    "network is unreachable",
    "Network is unreachable",
    "no route to host",
    "No route to host",
    "no such host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "failed to lookup address information",
    "ENETUNREACH",
    "EAI_AGAIN",
    "ENOTFOUND",
];

const LATE: [&str; 5] =
    ["i/o timeout", "ETIMEDOUT", "connection timed out", "Connection timed out", "UND_ERR_CONNECT"];

/// Where nothing listens: a service that the test expects beside it.
const REFUSED: [&str; 3] = ["ECONNREFUSED", "connection refused", "Connection refused"];

const PROGRAM: [&str; 2] = ["executable file not found in $PATH", "command not found"];

const RIGHTS: [&str; 7] = [
    "permission denied",
    "Permission denied",
    "EACCES",
    "EPERM",
    "read-only file system",
    "Read-only file system",
    "EROFS",
];

const FILE: [&str; 3] = ["no such file or directory", "No such file or directory", "ENOENT"];

/// Whether a failure is one of the network, which no test has here. Node says why in the output alone.
pub(super) fn is_of_network(complaint: &str, output: &str) -> bool {
    let told = |text: &str| NETWORK.iter().any(|phrase| text.contains(phrase));
    told(complaint) || (complaint.contains("fetch failed") && told(output))
}

/// A clause that says what the machine lacks, if a complaint tells of that.
pub(super) fn of_machine(complaint: &str) -> Option<String> {
    let told = |phrases: &[&str]| phrases.iter().any(|phrase| complaint.contains(phrase));
    let spawned = complaint.contains("ENOENT") && complaint.contains("spawn");
    if told(&NETWORK) {
        Some("there is no network".to_owned())
    } else if told(&LATE) {
        Some("nobody answers".to_owned())
    } else if told(&REFUSED) {
        Some("nobody listens there".to_owned())
    } else if told(&PROGRAM) || spawned {
        Some("there is no such program".to_owned())
    } else if told(&RIGHTS) {
        Some("it may not do that".to_owned())
    } else {
        let line =
            complaint.lines().find(|line| FILE.iter().any(|phrase| line.contains(phrase)))?;
        Some(match outside(line) {
            Some(path) => format!("there is no file {path}"),
            // Rust names neither.
            None if line.contains("Os {") => "there is no such file or program".to_owned(),
            None => return None,
        })
    }
}

/// The name of a file that is not there, if the test asks for it by that name and the code does not.
pub(super) fn of_test(complaint: &str, test: &str, code: &str) -> Option<String> {
    let line = complaint.lines().find(|line| FILE.iter().any(|phrase| line.contains(phrase)))?;
    let end = |it: char| it.is_whitespace() || "'\"`,:;()".contains(it);
    let name = line.split(end).filter_map(|word| word.rsplit('/').next()).find(|name| {
        let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && !ending.is_empty() && ending.chars().all(char::is_alphanumeric)
        });
        is_file && test.contains(*name) && !code.contains(*name)
    })?;
    Some(format!("there is no file {name}"))
}

/// The first path in a line that leads out of the copy.
fn outside(line: &str) -> Option<&str> {
    let end = |it: char| it.is_whitespace() || "'\"`,:;()".contains(it);
    let is_outside = |word: &&str| {
        word.len() > 1
            && word.starts_with('/')
            && !word.starts_with("/proof/")
            && !word.starts_with("/tmp/")
    };
    line.split(end).find(is_outside)
}

/// Whether a test starts other programs, whose code no runner of ours sees.
pub(super) fn starts_process(source: &str) -> bool {
    let starters = ["Command", "CommandContext", "Popen", "subprocess", "StartProcess", "execa"];
    let words = words(source);
    starters.iter().any(|word| words.contains(*word))
        || source.contains("child_process")
        || without_text(source).contains("os.system(")
}

#[cfg(test)]
mod tests {
    use super::{is_of_network, of_machine, of_test, starts_process};

    #[test]
    fn a_file_that_only_the_test_asks_for_is_its_own() {
        let told = "open testdata/golden.csv: no such file or directory";
        let test = "want, err := os.ReadFile(\"testdata/golden.csv\")";
        let found = Some("there is no file golden.csv".to_owned());
        assert_eq!(of_test(told, test, "package a"), found);
        assert_eq!(of_test(told, test, "os.Create(\"golden.csv\")"), None);
        assert_eq!(of_test(told, "Load(name)", "package a"), None);
        assert_eq!(of_test("got 1.5, want 2.5", "1.5", ""), None);
    }

    #[test]
    fn a_failure_of_the_network_is_known_by_its_cause() {
        let cause = "TypeError: fetch failed\n  [cause]: getaddrinfo ENOTFOUND a.b";
        for (complaint, output, expected) in [
            ("dial tcp: lookup a.b: no such host", "", true),
            ("fetch failed", cause, true),
            ("fetch failed", "ECONNREFUSED 127.0.0.1", false),
            ("expected 1", cause, false),
        ] {
            assert_eq!(is_of_network(complaint, output), expected, "{complaint}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (complaint, expected) in [
            ("dial tcp 1.1.1.1:80: connect: network is unreachable", Some("there is no network")),
            ("Error: getaddrinfo EAI_AGAIN example.com", Some("there is no network")),
            ("dial tcp 10.0.0.1:80: i/o timeout", Some("nobody answers")),
            ("connect ECONNREFUSED 127.0.0.1:5432", Some("nobody listens there")),
            (
                "exec: \"nowhere\": executable file not found in $PATH",
                Some("there is no such program"),
            ),
            ("Error: spawn nowhere ENOENT", Some("there is no such program")),
            ("open /etc/shadow: permission denied", Some("it may not do that")),
            ("open /nowhere/x: no such file or directory", Some("there is no file /nowhere/x")),
            (
                "ENOENT: no such file or directory, open '/nowhere/x'",
                Some("there is no file /nowhere/x"),
            ),
            (
                "Os { code: 2, kind: NotFound, message: \"No such file or directory\" }",
                Some("there is no such file or program"),
            ),
            // What the copy does not have is a matter of the repository, and of its code.
            ("open testdata/x: no such file or directory", None),
            ("open /tmp/x: no such file or directory", None),
            ("got 4, want 2", None),
        ] {
            assert_eq!(of_machine(complaint).as_deref(), expected, "{complaint}");
        }
    }

    #[test]
    fn a_test_that_starts_programs_is_known_by_what_it_calls() {
        for (source, expected) in [
            ("exec.Command(\"x\")", true),
            ("subprocess.run(['x'])", true),
            ("import { spawn } from 'node:child_process'", true),
            ("// exec.Command(\"x\")", false),
            ("assert f(\"Command\") == 1", false),
        ] {
            assert_eq!(starts_process(source), expected, "{source}");
        }
    }
}
