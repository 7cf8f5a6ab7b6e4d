//! `WWW-Authenticate`: how a registry wants to be asked.

/// The first challenge that we can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    Basic,
    /// A token from another server, for a service.
    Bearer {
        realm: String,
        service: Option<String>,
    },
}

impl Challenge {
    /// From the values of all such headers. A token is preferred to a password.
    pub(crate) fn of<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut basic = None;
        for header in headers {
            for (scheme, parameters) in challenges(header) {
                let value = |name: &str| {
                    let found = parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.clone())
                };
                if scheme.eq_ignore_ascii_case("bearer")
                    && let Some(realm) = value("realm")
                {
                    return Some(Self::Bearer { realm, service: value("service") });
                }
                if scheme.eq_ignore_ascii_case("basic") {
                    basic = Some(Self::Basic);
                }
            }
        }
        basic
    }
}

type Parameters = Vec<(String, String)>;

/// The challenges of one header, each a scheme with its parameters.
fn challenges(header: &str) -> Vec<(String, Parameters)> {
    let mut found: Vec<(String, Parameters)> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            return found;
        }
        let Some(value) = after.trim_start().strip_prefix('=') else {
            found.push((word.to_owned(), Vec::new()));
            rest = after;
            continue;
        };
        let (value, after) = parameter_value(value.trim_start());
        if let Some((_, parameters)) = found.last_mut() {
            parameters.push((word.to_owned(), value));
        }
        rest = after;
    }
}

/// A token or a quoted string, and what is after it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, after) = text.split_at(end);
        return (value.to_owned(), after);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((index, char)) = chars.next() {
        match char {
            '"' => return (value, quoted.get(index + 1..).unwrap_or_default()),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_challenge_is_found() {
        let bearer = |realm: &str, service: Option<&str>| {
            let service = service.map(str::to_owned);
            Some(Challenge::Bearer { realm: realm.to_owned(), service })
        };
        for (headers, expected) in [
            (
                &[r#"Bearer realm="https://a/token",service="b",scope="c:d,e:pull""#][..],
                bearer("https://a/token", Some("b")),
            ),
            (&["bearer REALM=https://a , Service = \"x\\\"y\""], bearer("https://a", Some("x\"y"))),
            (&[r#"Basic realm="x", Bearer realm="https://a""#], bearer("https://a", None)),
            (&["Basic realm=\"x\"", "Bearer realm=\"https://a\""], bearer("https://a", None)),
            (&["Negotiate", "Basic realm=\"Registry Realm\""], Some(Challenge::Basic)),
            (&["Bearer service=\"x\""], None),
            (&["Bearer realm=\"open"], bearer("open", None)),
            (&["", ",,,", "=\"x\"", "Digest a=b"], None),
        ] {
            assert_eq!(Challenge::of(headers.iter().copied()), expected, "{headers:?}");
        }
    }
}
