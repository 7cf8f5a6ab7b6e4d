//! The token that a URL must have: a loopback address is open to every user of the machine.

use std::{
    hint::black_box,
    io::{self, Read as _},
    path::Path,
};

use probity_scope::open_file;

const BYTES: usize = 32;

pub(super) struct Token(String);

impl Token {
    pub(super) fn new() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        open_file(Path::new("/dev/urandom"))?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Compares without telling by the time how many letters are right.
    pub(super) fn is(&self, given: &str) -> bool {
        if given.len() != self.0.len() {
            return false;
        }
        let pairs = self.0.bytes().zip(given.bytes());
        let difference =
            pairs.fold(0, |difference, (own, given)| black_box(difference | (own ^ given)));
        difference == 0
    }

    /// What a browser sends from now on, to this server and to no page of another site.
    pub(super) fn cookie(&self, port: u16) -> String {
        let name = cookie_name(port);
        format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.0)
    }
}

/// Cookies know no ports, so the name does.
pub(super) fn cookie_name(port: u16) -> String {
    format!("probity-review-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_is_right_and_no_two_are_the_same() {
        let token = Token::new().unwrap();
        let text = token.text().to_owned();
        assert_eq!(text.len(), 2 * BYTES);
        assert!(token.is(&text));
        let last = if text.ends_with('0') { "1" } else { "0" };
        let other = format!("{}{last}", &text[..text.len() - 1]);
        for wrong in ["", &text[1..], &other, &format!("{text}0"), &"0".repeat(2 * BYTES)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!token.is(Token::new().unwrap().text()));
    }
}
