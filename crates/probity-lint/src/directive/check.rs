//! BuildKit's `check=skip=A,B;error=true;experimental=C`.

use probity_finding::Span;

use crate::directive::Named;

/// What a `check` directive says.
#[derive(Debug, Default)]
pub(crate) struct CheckDirective {
    pub(crate) skip: Vec<Named>,
    pub(crate) experimental: Vec<String>,
    pub(crate) error: bool,
    pub(crate) has_reason: bool,
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

/// Parses a directive's value, which begins at `offset` in the source.
pub(crate) fn parse(value: &str, offset: usize) -> Result<CheckDirective, String> {
    let mut found = CheckDirective::default();
    let mut at = offset;
    for part in value.split(';') {
        let Some((key, list)) = part.split_once('=') else {
            return Err(format!("invalid check option `{}`, expected key=value", part.trim()));
        };
        let list_at = at + key.len() + 1;
        match key.trim().to_ascii_lowercase().as_str() {
            "skip" => found.skip.extend(names(list, list_at)),
            "experimental" => {
                found.experimental.extend(names(list, list_at).map(|named| named.name));
            }
            "error" => {
                found.error = list.trim().parse().map_err(|_| {
                    format!("invalid value `{}` for error, expected true or false", list.trim())
                })?;
            }
            "reason" => found.has_reason = !list.trim().is_empty(),
            other => {
                return Err(format!(
                    "unknown check option `{other}`, expected skip, error or experimental"
                ));
            }
        }
        at += part.len() + 1;
    }
    Ok(found)
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
