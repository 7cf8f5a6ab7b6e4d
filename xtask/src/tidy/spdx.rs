//! Licence expressions: can this one be satisfied with what we allow?

/// Whether the expression holds when exactly the allowed licences are true. `allowed` has
/// identifiers, or `ID WITH EXCEPTION`, which the bare identifier does not cover.
pub(crate) fn satisfied(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().peekable(), allowed, depth: 0 };
    let value = parser.any()?;
    match parser.words.next() {
        None => Ok(value),
        Some(word) => Err(format!("unexpected `{word}`")),
    }
}

/// Nobody writes deeper than this, and the descent must end.
const DEEPEST: usize = 50;

struct Parser<'text, Words: Iterator<Item = &'text str>> {
    words: std::iter::Peekable<Words>,
    allowed: &'text [String],
    depth: usize,
}

impl<'text, Words: Iterator<Item = &'text str>> Parser<'text, Words> {
    fn any(&mut self) -> Result<bool, String> {
        let mut value = self.all()?;
        while self.words.next_if_eq(&"OR").is_some() {
            value |= self.all()?;
        }
        Ok(value)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut value = self.one()?;
        while self.words.next_if_eq(&"AND").is_some() {
            value &= self.one()?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<bool, String> {
        match self.words.next() {
            None => Err("ends where a licence is expected".to_owned()),
            Some("(") => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err("nested too deeply".to_owned());
                }
                let value = self.any()?;
                self.depth -= 1;
                match self.words.next() {
                    Some(")") => Ok(value),
                    _ => Err("a parenthesis is not closed".to_owned()),
                }
            }
            Some(word @ (")" | "OR" | "AND" | "WITH")) => Err(format!("unexpected `{word}`")),
            Some(licence) => {
                if self.words.next_if_eq(&"WITH").is_none() {
                    // "This version or later" is satisfied by this version.
                    return Ok(self.allows(licence.strip_suffix('+').unwrap_or(licence)));
                }
                match self.words.next() {
                    None | Some("(" | ")" | "OR" | "AND" | "WITH") => {
                        Err("an exception is expected after WITH".to_owned())
                    }
                    Some(exception) => Ok(self.allows(&format!("{licence} WITH {exception}"))),
                }
            }
        }
    }

    fn allows(&self, licence: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed == licence)
    }
}

#[cfg(test)]
mod tests {
    use super::satisfied;

    #[test]
    fn expressions_hold_when_their_licences_do() {
        let allowed = ["MIT", "ISC", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(String::from);
        let cases = [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only OR MIT", true),
            ("MIT AND GPL-3.0-only", false),
            ("MIT AND ISC", true),
            ("GPL-3.0-only/MIT", true),
            ("GPL-3.0-only / MIT", true),
            ("(MIT OR GPL-3.0-only) AND ISC", true),
            ("(MIT OR ISC) AND GPL-3.0-only", false),
            // AND binds tighter than OR, so these differ from their left-to-right reading.
            ("MIT OR ISC AND GPL-3.0-only", true),
            ("GPL-3.0-only AND ISC OR MIT", true),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH LLVM-exception", false),
            ("((MIT))", true),
            ("Zlib+", true),
        ];
        for (expression, expected) in cases {
            assert_eq!(satisfied(expression, &allowed), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        let deep = "(".repeat(100_000);
        let cases =
            ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT ISC", "MIT WITH", "MIT WITH OR", &deep];
        for expression in cases {
            assert!(satisfied(expression, &["MIT".to_owned()]).is_err(), "{expression}");
        }
    }
}
