//! A probe in the language of the image: `node -e`, `python -c`, `php -r`, `ruby -e`.
//!
//! The code is read as words, and every word has to be one that a request to this container needs. So
//! what is not known to be harmless is refused, whatever it does.

use super::{View, base_image::base, healthcheck::ports, image_kind::ImageKind};

/// A language: its programs, the flag before the code, and the words that a probe is made of.
struct Language {
    name: &'static str,
    programs: &'static [&'static str],
    flag: &'static str,
    words: &'static [&'static str],
    /// Whether an unanswered request ends the program with an error by itself.
    raises: bool,
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "node",
        programs: &["node"],
        flag: "-e",
        words: &[
            "Error",
            "async",
            "await",
            "catch",
            "connect",
            "const",
            "createConnection",
            "destroy",
            "e",
            "else",
            "end",
            "err",
            "error",
            "exit",
            "false",
            "fetch",
            "function",
            "get",
            "http",
            "if",
            "let",
            "net",
            "new",
            "ok",
            "on",
            "process",
            "r",
            "req",
            "request",
            "require",
            "res",
            "response",
            "return",
            "setTimeout",
            "status",
            "statusCode",
            "then",
            "throw",
            "timeout",
            "true",
            "var",
        ],
        raises: false,
    },
    Language {
        name: "python",
        programs: &["python", "python3"],
        flag: "-c",
        words: &[
            "HTTPConnection",
            "as",
            "assert",
            "c",
            "client",
            "code",
            "create_connection",
            "else",
            "exit",
            "from",
            "getcode",
            "getresponse",
            "http",
            "if",
            "import",
            "not",
            "r",
            "raise",
            "read",
            "request",
            "s",
            "socket",
            "status",
            "sys",
            "timeout",
            "urllib",
            "urlopen",
        ],
        raises: true,
    },
    Language {
        name: "php",
        programs: &["php"],
        flag: "-r",
        words: &["exit", "false", "file_get_contents", "fsockopen", "get_headers", "null", "true"],
        raises: false,
    },
    Language {
        name: "ruby",
        programs: &["ruby"],
        flag: "-e",
        words: &[
            "HTTP",
            "HTTPSuccess",
            "Net",
            "TCPSocket",
            "URI",
            "code",
            "exit",
            "get",
            "get_response",
            "http",
            "is_a",
            "net",
            "new",
            "require",
            "to_i",
        ],
        raises: false,
    },
];

/// Texts beside addresses that a probe may name.
const TEXTS: &[&str] =
    &["200", "GET", "end", "error", "http", "net", "net/http", "socket", "timeout"];
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// The language and the code, if a command is an interpreter with code.
fn code<'w>(name: &str, arguments: &'w [String]) -> Option<(&'static Language, &'w str)> {
    let program = name.rsplit('/').next().unwrap_or(name);
    let language = LANGUAGES.iter().find(|it| it.programs.contains(&program))?;
    let arguments = match arguments {
        [library, rest @ ..] if matches!(library.as_str(), "-rnet/http" | "-rsocket") => rest,
        all => all,
    };
    match arguments {
        [flag, code] if flag == language.flag => Some((language, code)),
        _ => None,
    }
}

pub(super) fn is_code(name: &str, arguments: &[String]) -> bool {
    code(name, arguments).is_some()
}

/// Whether the code asks this container once, does nothing else, and can fail.
pub(super) fn is_probe(view: &View<'_>, name: &str, arguments: &[String]) -> bool {
    let Some((language, code)) = code(name, arguments) else { return false };
    let kind = base(view).and_then(|image| ImageKind::of(&image));
    if kind.and_then(|kind| kind.language) != Some(language.name) {
        return false;
    }
    let Some(tokens) = tokens(code) else { return false };
    let exposed = |port: &str| {
        let ports = ports(view);
        ports.is_empty() || ports.iter().any(|it| it.split('/').next() == Some(port))
    };
    let is_fine = |index: usize, token: &Token<'_>| match token {
        Token::Word(word) => language.words.contains(word),
        Token::Text(text) => {
            TEXTS.contains(text) || LOCAL.contains(text) || is_own_address(text, &exposed)
        }
        Token::Number(number) => {
            let before = index.checked_sub(2).and_then(|it| tokens.get(it));
            let is_time = matches!(before, Some(Token::Word("timeout" | "setTimeout")));
            let is_small = number.parse::<u32>().is_ok_and(|it| it < 600);
            is_small || is_time || exposed(number)
        }
        Token::Sign(_) => true,
    };
    let asks = tokens.iter().any(|token| match token {
        Token::Text(text) => LOCAL.contains(text) || is_own_address(text, &exposed),
        _ => false,
    });
    let says = |wanted: &Token<'_>| tokens.contains(wanted);
    let is_condition = says(&Token::Number("1")) || language.name == "ruby";
    let fails = language.raises || (says(&Token::Word("exit")) && is_condition);
    asks && fails && tokens.iter().enumerate().all(|(index, token)| is_fine(index, token))
}

/// `http://localhost:3000/`: this container, an exposed port, and no path that somebody guessed.
fn is_own_address(text: &str, exposed: &impl Fn(&str) -> bool) -> bool {
    let Some(rest) = text.strip_prefix("http://") else { return false };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = LOCAL.iter().find(|host| authority.starts_with(**host));
    let port = host.and_then(|host| authority.strip_prefix(host));
    let port =
        port.and_then(|port| if port.is_empty() { Some("80") } else { port.strip_prefix(':') });
    path.is_empty() && port.is_some_and(exposed)
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'c> {
    Word(&'c str),
    Text(&'c str),
    Number(&'c str),
    Sign(char),
}

/// Words, texts, numbers and signs; nothing where there is a sign that probes do not need.
fn tokens(code: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut rest = code.trim();
    while let Some(first) = rest.chars().next() {
        let length = |is_part: fn(char) -> bool| rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let end = match first {
            '\'' | '"' => {
                let inner = rest.get(1..)?;
                let end = inner.find(first)?;
                let text = inner.get(..end)?;
                found.push(Token::Text(text));
                (!text.contains('\\')).then_some(end + 2)?
            }
            it if it.is_ascii_digit() => {
                let end = length(|it| it.is_ascii_digit());
                found.push(Token::Number(rest.get(..end)?));
                end
            }
            it if it.is_ascii_alphabetic() || it == '_' => {
                let end = length(|it| it.is_ascii_alphanumeric() || it == '_');
                found.push(Token::Word(rest.get(..end)?));
                end
            }
            it if it.is_whitespace() => first.len_utf8(),
            '(' | ')' | '{' | '}' | '.' | ',' | ';' | ':' | '?' | '!' | '=' | '<' | '>' | '&'
            | '@' | '|' => {
                found.push(Token::Sign(first));
                1
            }
            _ => return None,
        };
        rest = rest.get(end..)?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_to_this_container_are_probes() {
        let text = "FROM node:20\nEXPOSE 3000\nCMD [\"node\", \"x.js\"]\n";
        let view = View::of(text);
        let good = [
            "fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1))",
            "require('http').get('http://127.0.0.1:3000', r => process.exit(r.statusCode === 200 ? 0 : 1))",
        ];
        let bad = [
            "fetch('http://localhost:3000/up').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3001/').then(r => process.exit(r.ok ? 0 : 1))",
            "fetch('http://localhost:3000/').catch(() => process.exit(0))",
            "require('child_process').exec('rm x') || fetch('http://localhost:3000/') || process.exit(1)",
            "fetch('http://localhost:3000.example.com/').then(r => process.exit(1))",
            "fetch(`http://localhost:3000/`).then(r => process.exit(1))",
            "process.exit(1)",
        ];
        let judged = |code: &str| is_probe(&view, "node", &["-e".to_owned(), code.to_owned()]);
        for code in good {
            assert!(judged(code), "{code}");
        }
        for code in bad {
            assert!(!judged(code), "{code}");
        }
    }
}
