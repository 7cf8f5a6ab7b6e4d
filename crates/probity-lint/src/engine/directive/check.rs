//! BuildKit's `check=skip=A,B;error=true;experimental=C`.

use probity_finding::Span;

use crate::engine::directive::Named;

/// What a `check` directive says.
#[derive(Debug, Default)]
pub(crate) struct CheckDirective {
    pub(crate) skip: Rules,
    pub(crate) experimental: Rules,
    pub(crate) error: bool,
}

/// The rules of a list, as BuildKit names them: bare, and with their case.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) all: bool,
    pub(crate) named: Vec<Named>,
}

impl Rules {
    /// Reads a list. A later one replaces an earlier one, but `all` stays.
    fn read(&mut self, list: &str, offset: usize) {
        if list.trim() == "all" {
            self.all = true;
        } else {
            self.named = names(list, offset).collect();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.named.is_empty()
    }
}

/// The value of a `check=` comment, and its offset in `text`; it ends at the first blank.
pub(crate) fn comment_value(text: &str) -> Option<(&str, usize)> {
    let (key, rest) = text.split_once('=')?;
    if !key.trim().eq_ignore_ascii_case("check") {
        return None;
    }
    let value = rest.trim_start();
    let offset = text.len() - value.len();
    let end = value.find([' ', '\t']).unwrap_or(value.len());
    Some((value.get(..end)?, offset))
}

/// How many parts BuildKit cuts a value into; the last one keeps what follows.
const MOST_PARTS: usize = 3;

/// Why BuildKit cannot read a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadCheck<'v> {
    #[error("invalid check option {0:?}")]
    Option(&'v str),
    #[error("failed to parse check option {0:?}: expected true or false")]
    Boolean(&'v str),
}

/// Parses a directive's value, which begins at `offset` in the source, as BuildKit does.
pub(crate) fn parse(value: &str, offset: usize) -> Result<CheckDirective, BadCheck<'_>> {
    let mut found = CheckDirective::default();
    if value.trim().is_empty() {
        return Ok(found);
    }
    let mut at = offset;
    for part in value.splitn(MOST_PARTS, ';') {
        let Some((key, list)) = part.split_once('=') else {
            return Err(BadCheck::Option(part));
        };
        let list_at = at + key.len() + 1;
        match key.trim() {
            "skip" => found.skip.read(list, list_at),
            "experimental" => found.experimental.read(list, list_at),
            "error" => found.error = boolean(list.trim()).ok_or(BadCheck::Boolean(part))?,
            other => return Err(BadCheck::Option(other)),
        }
        at += part.len() + 1;
    }
    Ok(found)
}

/// What Go takes for a truth value.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The names of a comma-separated list that begins at `offset` in the source.
pub(crate) fn names(list: &str, offset: usize) -> impl Iterator<Item = Named> {
    let mut at = offset;
    list.split(',').filter_map(move |item| {
        let start = at + (item.len() - item.trim_start().len());
        at += item.len() + 1;
        let name = item.trim();
        let span = Span::new(start, start + name.len());
        (!name.is_empty()).then(|| Named { name: name.to_owned(), span })
    })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::engine::harness::{check, run};

    #[test]
    fn values_are_read_as_buildkit_reads_them() {
        let values = [
            ("skip=A, B;error=T", "A B / false false / true"),
            ("skip=all;skip=A", "A / true false / false"),
            ("skip=A;skip=B", "B / false false / false"),
            ("skip=A,all;experimental=all", "A all / false true / false"),
            (" ", " / false false / false"),
            ("SKIP=A", "invalid check option \"SKIP\""),
            ("skip=A;reason=why", "invalid check option \"reason\""),
            ("skip", "invalid check option \"skip\""),
            ("skip=A;", "invalid check option \"\""),
            ("error=0;skip=A;experimental=B;error=1", "A / false false / false"),
            ("error=yes", "failed to parse check option \"error=yes\": expected true or false"),
        ];
        for (value, expected) in values {
            let actual = parse(value, 0).map_or_else(
                |error| error.to_string(),
                |found| {
                    let names: Vec<&str> =
                        found.skip.named.iter().map(|named| named.name.as_str()).collect();
                    let all = (found.skip.all, found.experimental.all);
                    format!("{} / {} {} / {}", names.join(" "), all.0, all.1, found.error)
                },
            );
            assert_eq!(actual, expected, "{value}");
        }
    }

    #[test]
    fn names_are_bare_and_have_their_case() {
        let cases = [
            ("MaintainerDeprecated", 0),
            ("all", 0),
            ("maintainerDeprecated", 1),
            ("buildkit/MaintainerDeprecated", 1),
            ("MaintainerDeprecated,all", 0),
            ("all,X", 1),
            ("All", 1),
        ];
        for (names, count) in cases {
            let rule = "buildkit/MaintainerDeprecated";
            let of_file = format!("# check=skip={names}\nFROM a\nMAINTAINER b\n");
            assert_eq!(run(rule, &of_file).len(), count, "{of_file}");
            let of_one = format!("FROM a\n# check=skip={names} why\nMAINTAINER b\n");
            assert_eq!(run(rule, &of_one).len(), count, "{of_one}");
        }
    }

    #[test]
    fn an_invalid_directive_of_the_file_is_a_syntax_error() {
        check(
            "tally/syntax-error",
            "\
# check=skip=A;reason=b
        ^^^^^^^^^^^^^^^ failed to parse check options: invalid check option \"reason\"
FROM a
",
        );
    }

    #[test]
    fn an_invalid_comment_is_a_warning_and_hides_the_next() {
        check(
            "tally/invalid-ignore-directive",
            "\
FROM a
# check=skip=A;reason=b
        ^^^^^^^^^^^^^^^ invalid check option \"reason\"
# check=skip=all
MAINTAINER b
",
        );
        let text = "FROM a\n# check=skipp=A\n# check=skip=all\nMAINTAINER b\n";
        assert_eq!(run("buildkit/MaintainerDeprecated", text).len(), 1);
    }
}
