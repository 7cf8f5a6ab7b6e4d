//! A probe in the language of the image: `node -e`, `python -c`, `php -r`, `ruby -e`.
//!
//! The code is read as words, and every word has to be one that a request to this container needs. So
//! what is not known to be harmless is refused, whatever it does.

mod failure;
mod tokens;

use self::tokens::{Syntax, Token, tokens};
use super::{
    View,
    base_image::{base, is_bare},
    belongings::final_chain,
    commands,
    endpoints::{Endpoints, LOCAL},
    image_kind::ImageKind,
};

/// A language: its programs, the flags before the code, and the words that a probe is made of.
pub(super) struct Language {
    name: &'static str,
    syntax: Syntax,
    programs: &'static [&'static str],
    /// Packages of a distribution that bring it.
    packages: &'static [&'static str],
    flags: &'static [&'static str],
    words: &'static [&'static str],
    /// Whether what it calls ends the program with an error by itself.
    raises: Raises,
}

/// Asked whether the code has certain words one behind the other.
type Raises = fn(&dyn Fn(&[&str]) -> bool) -> bool;

const LANGUAGES: &[Language] = &[
    Language {
        name: "node",
        syntax: Syntax::Node,
        programs: &["node"],
        packages: &["nodejs"],
        flags: &["-e", "--eval"],
        words: &[
            "Error",
            "abort",
            "agent",
            "async",
            "await",
            "c",
            "catch",
            "close",
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
            "exitCode",
            "false",
            "fetch",
            "function",
            "get",
            "host",
            "hostname",
            "http",
            "if",
            "let",
            "method",
            "net",
            "new",
            "ok",
            "on",
            "once",
            "path",
            "port",
            "process",
            "r",
            "req",
            "request",
            "require",
            "res",
            "response",
            "resume",
            "return",
            "s",
            "setTimeout",
            "socket",
            "status",
            "statusCode",
            "then",
            "throw",
            "timeout",
            "true",
            "var",
        ],
        // A connection that nobody accepts is an error that nobody handles.
        raises: |says| says(&["connect", "createConnection"]) && says(&["exit", "end", "destroy"]),
    },
    Language {
        name: "python",
        syntax: Syntax::Python,
        programs: &["python", "python3"],
        packages: &["python3", "python3-minimal"],
        flags: &["-c"],
        words: &[
            "HTTPConnection",
            "Request",
            "as",
            "assert",
            "c",
            "client",
            "close",
            "code",
            "conn",
            "connect",
            "create_connection",
            "else",
            "exit",
            "from",
            "getcode",
            "getresponse",
            "http",
            "if",
            "import",
            "in",
            "method",
            "not",
            "os",
            "r",
            "raise",
            "read",
            "req",
            "request",
            "resp",
            "response",
            "s",
            "socket",
            "status",
            "sys",
            "timeout",
            "u",
            "url",
            "urllib",
            "urlopen",
        ],
        raises: |says| {
            says(&["urlopen", "create_connection"]) || (says(&["socket"]) && says(&["connect"]))
        },
    },
    Language {
        name: "php",
        syntax: Syntax::Php,
        programs: &["php"],
        packages: &["php-cli", "php"],
        flags: &["-r"],
        words: &[
            "c",
            "ctx",
            "die",
            "errno",
            "errstr",
            "exit",
            "false",
            "f",
            "file_get_contents",
            "fp",
            "fsockopen",
            "get_headers",
            "h",
            "headers",
            "http",
            "if",
            "null",
            "or",
            "r",
            "s",
            "strpos",
            "str_contains",
            "stream_context_create",
            "timeout",
            "true",
        ],
        raises: |_| false,
    },
    Language {
        name: "ruby",
        syntax: Syntax::Ruby,
        programs: &["ruby"],
        packages: &["ruby"],
        flags: &["-e"],
        words: &[
            "HTTP",
            "HTTPOK",
            "HTTPRedirection",
            "HTTPSuccess",
            "Net",
            "TCPSocket",
            "URI",
            "abort",
            "close",
            "code",
            "exit",
            "get",
            "get_response",
            "head",
            "http",
            "if",
            "is_a",
            "kind_of",
            "net",
            "new",
            "open",
            "open_timeout",
            "parse",
            "r",
            "raise",
            "read",
            "read_timeout",
            "require",
            "res",
            "s",
            "start",
            "to_i",
            "unless",
            "uri",
            "value",
        ],
        raises: |says| says(&["open", "TCPSocket", "value"]),
    },
];

/// Texts beside addresses that a probe may name.
const TEXTS: &[&str] = &[
    "",
    "200",
    "2",
    "GET",
    "HEAD",
    "close",
    "connect",
    "end",
    "error",
    "http",
    "method",
    "net",
    "net/http",
    "node:http",
    "node:net",
    "open-uri",
    "socket",
    "timeout",
];

/// Libraries that `ruby -r` loads.
const LIBRARIES: &[&str] = &["net/http", "socket", "open-uri", "uri"];

/// The language and the code, if a command is an interpreter with code.
fn code<'w>(name: &str, arguments: &'w [String]) -> Option<(&'static Language, &'w str)> {
    let program = name.rsplit('/').next().unwrap_or(name);
    let language = LANGUAGES.iter().find(|language| language.programs.contains(&program))?;
    let mut arguments = arguments;
    while let [first, rest @ ..] = arguments {
        let library = first.strip_prefix("-r").filter(|_| language.syntax == Syntax::Ruby);
        arguments = match (library, rest) {
            (Some(""), [library, rest @ ..]) if LIBRARIES.contains(&library.as_str()) => rest,
            (Some(library), rest) if LIBRARIES.contains(&library) => rest,
            _ => break,
        };
    }
    match arguments {
        [flag, code] if language.flags.contains(&flag.as_str()) => Some((language, code)),
        _ => None,
    }
}

pub(super) fn is_code(name: &str, arguments: &[String]) -> bool {
    code(name, arguments).is_some()
}

/// Whether the code asks this container once, does nothing else, and fails when its service does.
pub(super) fn is_probe(
    view: &View<'_>,
    endpoints: &Endpoints,
    name: &str,
    arguments: &[String],
) -> bool {
    let Some((language, code)) = code(name, arguments) else { return false };
    if !has_interpreter(view, language, name) {
        return false;
    }
    let Some(tokens) = tokens(language.syntax, code, endpoints) else { return false };
    let is_path = |text: &str| text.starts_with('/') && endpoints.has_path(text);
    let is_address = |text: &str| text.contains("://") && endpoints.has_address(text);
    let is_fine = |index: usize, token: &Token| match token {
        Token::Word(word) => language.words.contains(&word.as_str()),
        Token::Text(text) => {
            TEXTS.contains(&text.as_str())
                || LOCAL.contains(&text.as_str())
                || is_path(text)
                || is_address(text)
                || endpoints.has_port(text)
        }
        Token::Number(number) => {
            let before = tokens.get(index.saturating_sub(2)..index).unwrap_or_default();
            let is_port = before.iter().any(|earlier| earlier.is_word(&["port"]));
            let is_time = before.iter().any(|earlier| earlier.is_word(&["timeout", "setTimeout"]))
                || tokens.iter().any(|other| other.is_word(&["setTimeout"]));
            let is_small = number.parse::<u32>().is_ok_and(|value| value < 600);
            (is_small && !is_port) || is_time || endpoints.has_port(number)
        }
        Token::Sign(_) => true,
    };
    let asks = tokens.iter().any(|token| match token {
        Token::Text(text) => LOCAL.contains(&text.as_str()) || is_address(text),
        _ => false,
    });
    asks && failure::is_told(language, &tokens)
        && tokens.iter().enumerate().all(|(index, token)| is_fine(index, token))
}

/// Whether the final image has the interpreter under the name that the command calls.
fn has_interpreter(view: &View<'_>, language: &Language, name: &str) -> bool {
    let Some(image) = base(view) else { return false };
    let kind = ImageKind::of(&image).and_then(|kind| kind.language);
    // Not on the search path of that image.
    if is_bare(&image) && language.name == "node" {
        return kind == Some("node") && name == "/nodejs/bin/node";
    }
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    if kind == Some(language.name) {
        return matches!(directory, "" | "/usr/local/bin")
            || (directory == "/usr/bin" && is_bare(&image));
    }
    let installed = final_chain(view).into_iter().any(|index| {
        let calls = view.facts.package_calls(&view.file, index);
        let names = calls.iter().filter(|call| !commands::is_language_manager(call.manager));
        names.flat_map(commands::names).any(|package| language.packages.contains(&package.as_str()))
    });
    installed && matches!(directory, "" | "/usr/bin") && name != "python"
}

#[cfg(test)]
mod tests;
