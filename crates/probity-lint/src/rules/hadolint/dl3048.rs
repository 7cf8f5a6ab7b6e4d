//! Keys of labels that Docker's guidelines do not allow.

use probity_finding::Finding;

use crate::{engine::context::Context, facts::labels};

rule! {
    /// # What it does
    ///
    /// Flags a label key that Docker's guidelines do not allow.
    ///
    /// The rule flags a key that:
    ///
    /// - contains a character other than a lowercase letter, a digit, a dot, a hyphen or an
    ///   underscore;
    /// - does not begin with a lowercase letter, or does not end with a letter or digit;
    /// - repeats a separator (`..` or `--`);
    /// - is in a namespace that Docker reserves: `com.docker.`, `io.docker.` or
    ///   `org.dockerproject.`.
    ///
    /// It ignores keys with a variable.
    ///
    /// # Why it is bad
    ///
    /// Tools that follow the guidelines may reject the key or mistake it for another one.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL +?not..valid--key="foo"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.example.team="foo"
    /// ```
    Dl3048 {
        name: "hadolint/DL3048",
        severity: Style,
        category: Style,
        equals: &["tally/labels/valid-key"],
        url: "https://github.com/hadolint/hadolint/wiki/DL3048",
    }
}

const RESERVED: &[&str] = &["com.docker.", "io.docker.", "org.dockerproject."];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for label in labels::all(context) {
        if let Some(reason) = fault(&label.key)
            && !label.key.contains('$')
        {
            let message = format!("label key {} {reason}", label.key);
            findings.push(context.finding(label.key_span, message));
        }
    }
}

fn fault(key: &str) -> Option<&'static str> {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte);
    let first = key.bytes().next();
    let last = key.bytes().last();
    if RESERVED.iter().any(|prefix| key.starts_with(prefix)) {
        return Some("is in a namespace that Docker keeps for itself");
    }
    if !key.bytes().all(allowed) {
        return Some("may have small letters, digits, dots, hyphens and underscores only");
    }
    if key.contains("..") || key.contains("--") {
        return Some("repeats a separator");
    }
    let begins = first.is_some_and(|byte| byte.is_ascii_lowercase());
    let ends = last.is_some_and(|byte| byte.is_ascii_alphanumeric());
    (!begins || !ends).then_some("must begin with a letter and end with a letter or digit")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL3048";

    #[test]
    fn the_key_is_underlined() {
        check(
            RULE,
            r#"
FROM a
LABEL a.b=1 "A"=2 \
            ^^^ label key A may have small letters, digits, dots, hyphens and underscores only
    com.docker.x=1
    ^^^^^^^^^^^^ label key com.docker.x is in a namespace that Docker keeps for itself
LABEL a..b=1
      ^^^^ label key a..b repeats a separator
LABEL 1a=1
      ^^ label key 1a must begin with a letter and end with a letter or digit
LABEL a- b
      ^^ label key a- must begin with a letter and end with a letter or digit
"#,
        );
    }

    #[test]
    fn proper_and_open_keys_are_silent() {
        check(RULE, "FROM a\nLABEL a=1 a-b.c2=3 $x=4 org.opencontainers.image.url=x\n");
    }
}
