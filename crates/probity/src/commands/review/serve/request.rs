//! The head of a request: all of it that matters here.

use std::io::{self, BufRead as _, BufReader, Read as _};

use super::connections::Connection;

const HEAD_BYTES: u64 = 16 << 10;
/// The name of the token in the query of a URL.
const TOKEN: &str = "token";

pub(super) struct Request {
    pub(super) method: String,
    target: String,
    pub(super) host: Option<String>,
    cookies: Vec<String>,
}

impl Request {
    pub(super) fn read(connection: &mut Connection) -> io::Result<Self> {
        let mut reader = BufReader::new(connection.take(HEAD_BYTES));
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next(), words.next());
        let mut request = Self {
            method: method.unwrap_or_default(),
            target: target.unwrap_or_default(),
            host: None,
            cookies: Vec::new(),
        };
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                return Ok(request);
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            match name.trim().to_ascii_lowercase().as_str() {
                "host" => request.host = Some(value.trim().to_ascii_lowercase()),
                "cookie" => {
                    request.cookies.extend(value.split(';').map(|pair| pair.trim().to_owned()));
                }
                _ => {}
            }
        }
    }

    /// The token in the URL; empty if there is none.
    pub(super) fn token(&self) -> &str {
        self.query().find_map(|(name, value)| (name == TOKEN).then_some(value)).unwrap_or_default()
    }

    /// The value of a cookie; empty if there is none.
    pub(super) fn cookie(&self, name: &str) -> &str {
        let mut pairs = self.cookies.iter().filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(own, value)| (own == name).then_some(value)).unwrap_or_default()
    }

    /// The path and what is asked of it, without the token.
    pub(super) fn page(&self) -> String {
        let path = self.target.split('?').next().unwrap_or_default();
        let mut page = path.to_owned();
        for (number, (name, value)) in self.query().filter(|(name, _)| *name != TOKEN).enumerate() {
            page.push(if number == 0 { '?' } else { '&' });
            page.push_str(&format!("{name}={value}"));
        }
        page
    }

    fn query(&self) -> impl Iterator<Item = (&str, &str)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('='))
    }
}
