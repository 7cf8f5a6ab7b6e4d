//! `${NAME}` and its relatives in the values of a Compose file.

use crate::Surroundings;

/// The text with variables replaced as Compose does it. A variable that is not set is empty, and text
/// that only looks like a variable stays.
pub(super) fn interpolate(text: &str, surroundings: &dyn Surroundings) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let after = &from[1..];
        if let Some(escaped) = after.strip_prefix('$') {
            result.push('$');
            rest = escaped;
        } else if let Some((value, remaining)) = variable(after, surroundings) {
            result.push_str(&value);
            rest = remaining;
        } else {
            result.push('$');
            rest = after;
        }
    }
    result.push_str(rest);
    result
}

/// The value of the variable that begins here, after its `$`, and what follows it.
fn variable<'t>(text: &'t str, surroundings: &dyn Surroundings) -> Option<(String, &'t str)> {
    let Some(braced) = text.strip_prefix('{') else {
        let (name, rest) = name(text)?;
        return Some((surroundings.variable(name).unwrap_or_default(), rest));
    };
    let (name, rest) = name(braced)?;
    let end = closing_brace(rest)?;
    let (operation, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
    let set = surroundings.variable(name);
    let filled = set.clone().filter(|value| !value.is_empty());
    let value = if operation.is_empty() {
        set.unwrap_or_default()
    } else if let Some(default) = operation.strip_prefix(":-") {
        filled.unwrap_or_else(|| interpolate(default, surroundings))
    } else if let Some(default) = operation.strip_prefix('-') {
        set.unwrap_or_else(|| interpolate(default, surroundings))
    } else if let Some(other) = operation.strip_prefix(":+") {
        filled.map_or_else(String::new, |_| interpolate(other, surroundings))
    } else if let Some(other) = operation.strip_prefix('+') {
        set.map_or_else(String::new, |_| interpolate(other, surroundings))
    } else if operation.starts_with(":?") || operation.starts_with('?') {
        // Compose refuses to build without it; a linter can go on.
        set.unwrap_or_default()
    } else {
        return None;
    };
    Some((value, rest))
}

fn name(text: &str) -> Option<(&str, &str)> {
    let is_part = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    let starts_well =
        text.bytes().next().is_some_and(|byte| is_part(byte) && !byte.is_ascii_digit());
    starts_well.then(|| text.split_at(end))
}

/// Where the brace that is open at the beginning is closed. Braces inside it are a few levels deep at
/// most, because each level costs a call.
fn closing_brace(text: &str) -> Option<usize> {
    const DEEPEST: usize = 8;
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if depth == DEEPEST => return None,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Variables;

    impl Surroundings for Variables {
        fn variable(&self, name: &str) -> Option<String> {
            match name {
                "TAG" => Some("1.2".to_owned()),
                "EMPTY" => Some(String::new()),
                _ => None,
            }
        }

        fn read(&self, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn variables_are_replaced_as_compose_does_it() {
        for (text, expected) in [
            ("plain", "plain"),
            ("v$TAG", "v1.2"),
            ("${TAG}-slim", "1.2-slim"),
            ("$$TAG ${NONE}", "$TAG "),
            ("${NONE:-a} ${EMPTY:-b} ${EMPTY-c} ${NONE-d}", "a b  d"),
            ("${TAG:+x}${EMPTY:+y}${EMPTY+z}${NONE+w}", "xz"),
            ("${NONE:-${TAG:-0}}", "1.2"),
            ("${TAG:?is missing}", "1.2"),
            ("$1 $ ${ ${} ${TAG", "$1 $ ${ ${} ${TAG"),
            ("é$TAGé", "é1.2é"),
        ] {
            assert_eq!(interpolate(text, &Variables), expected, "{text}");
        }
    }
}
