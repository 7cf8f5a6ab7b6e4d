//! A `postgres://` URL, and what libpq's variables and password file add to it.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use tokio_postgres::{Config, config::SslMode};
use url::Url;

use crate::history::HistoryError;

#[derive(Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

/// How far a server must show who it is, and the files for it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) verification: Verification,
    pub(super) authorities: Option<PathBuf>,
    /// The certificate and the key by which we say who we are.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Verification {
    /// As libpq does for `prefer` and `require`.
    #[default]
    None,
    Authority,
    AuthorityAndName,
}

/// The parameters that we know, with the variable that speaks where the URL is silent.
const PARAMETERS: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
];

impl Address {
    /// An error never repeats the URL, since that may hold a password.
    pub(super) fn parse(
        url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, HistoryError> {
        let bad = || HistoryError::BadAddress;
        let url = Url::parse(url).map_err(|_| bad())?;
        let in_query = |name: &str| {
            let pair = url.query_pairs().filter(|(key, _)| key == name).last();
            pair.map(|(_, value)| value.into_owned())
        };
        let in_url = |name: &str| match name {
            // An IPv6 address is written in brackets.
            "host" => decoded(url.host_str()?.trim_matches(['[', ']'])),
            "port" => url.port().map(|port| port.to_string()),
            "user" => decoded(url.username()),
            "password" => url.password().and_then(decoded),
            "dbname" => decoded(url.path().trim_start_matches('/')),
            _ => None,
        };
        let value = |name: &str| {
            let variable_name =
                PARAMETERS.iter().find(|(known, _)| *known == name).map(|row| row.1);
            in_query(name)
                .or_else(|| in_url(name))
                .or_else(|| variable_name.and_then(variable))
                .filter(|value| !value.is_empty())
        };
        let port = value("port").unwrap_or_else(|| "5432".to_owned());
        let host = value("host").unwrap_or_else(|| nearest_server(&port));
        let user = value("user").or_else(|| variable("USER")).unwrap_or_else(|| "postgres".into());
        let database = value("dbname").unwrap_or_else(|| user.clone());
        let mut config = Config::new();
        config.port(port.parse().map_err(|_| bad())?);
        let password = value("password")
            .or_else(|| from_password_file(variable, [&host, &port, &database, &user]));
        if let Some(password) = password {
            config.password(password);
        }
        let name = value("application_name");
        config.application_name(name.unwrap_or_else(|| "probity".to_owned()));
        if let Some(options) = value("options") {
            config.options(options);
        }
        config.host(host).user(user).dbname(database);
        let mode = value("sslmode");
        let (mode, verification) = match mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, Verification::None),
            "allow" | "prefer" => (SslMode::Prefer, Verification::None),
            "require" => (SslMode::Require, Verification::None),
            "verify-ca" => (SslMode::Require, Verification::Authority),
            "verify-full" => (SslMode::Require, Verification::AuthorityAndName),
            _ => return Err(bad()),
        };
        config.ssl_mode(mode);
        let tls = Tls {
            verification,
            authorities: value("sslrootcert").map(PathBuf::from),
            identity: value("sslcert").map(PathBuf::from).zip(value("sslkey").map(PathBuf::from)),
        };
        Ok(Self { config, tls })
    }
}

/// The directory of a local server's socket, as libpq is built to look for it, or the loopback name.
fn nearest_server(port: &str) -> String {
    let has_socket =
        |directory: &&str| Path::new(directory).join(format!(".s.PGSQL.{port}")).exists();
    let directory = ["/run/postgresql", "/var/run/postgresql", "/tmp"].into_iter().find(has_socket);
    directory.unwrap_or("localhost").to_owned()
}

/// Without percent signs; nothing for an empty text.
fn decoded(text: &str) -> Option<String> {
    let pair = format!("x={}", text.replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(pair.as_bytes()).next()?.1.into_owned();
    (!decoded.is_empty()).then_some(decoded)
}

/// From `~/.pgpass` or `PGPASSFILE`, which libpq ignores too if others can read it.
fn from_password_file(
    variable: &dyn Fn(&str) -> Option<String>,
    wanted: [&str; 4],
) -> Option<String> {
    let path = variable("PGPASSFILE")
        .or_else(|| variable("HOME").map(|home| format!("{home}/.pgpass")))?;
    if fs::metadata(&path).ok()?.mode() & 0o077 != 0 {
        return None;
    }
    fs::read_to_string(path).ok()?.lines().find_map(|line| password_of(line, wanted))
}

/// The fifth field if the first four are the wanted ones or `*`. A backslash escapes a colon.
fn password_of(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(characters.next()),
            _ => field.push(character),
        }
    }
    fields.push(field);
    let (fits, [password]) = fields.split_at_checked(4)? else { return None };
    let is_wanted = fits.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    (is_wanted && !line.starts_with('#')).then(|| password.clone())
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Address {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|row| row.1.to_owned())
        };
        Address::parse(url, &variable).unwrap()
    }

    #[test]
    fn a_url_speaks_before_the_variables_and_its_query_before_both() {
        let address = parsed(
            "postgres://me%40corp:p%3Aw%2B+@db.example:6000/re%20views?sslmode=verify-full&sslrootcert=/ca.pem",
            &[
                ("PGUSER", "other"),
                ("PGSSLMODE", "disable"),
                ("PGSSLCERT", "/c"),
                ("PGSSLKEY", "/k"),
            ],
        );
        let config = &address.config;
        assert_eq!(config.get_user(), Some("me@corp"));
        assert_eq!(config.get_password(), Some(&b"p:w++"[..]));
        assert_eq!(config.get_dbname(), Some("re views"));
        assert_eq!(
            (config.get_hosts(), config.get_ports()),
            (&[Host::Tcp("db.example".into())][..], &[6000][..])
        );
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        let tls = Tls {
            verification: Verification::AuthorityAndName,
            authorities: Some("/ca.pem".into()),
            identity: Some(("/c".into(), "/k".into())),
        };
        assert_eq!(address.tls, tls);
        let address = parsed("postgres://localhost/db?host=/run/pg&user=u", &[("PGPASSWORD", "s")]);
        assert_eq!(address.config.get_hosts(), [Host::Unix("/run/pg".into())]);
        assert_eq!(address.config.get_user(), Some("u"));
        assert_eq!(address.config.get_password(), Some(&b"s"[..]));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Prefer);
    }

    #[test]
    fn a_wrong_mode_or_port_is_an_error_that_does_not_repeat_the_password() {
        for url in ["postgres://a:hunter22@h/d?sslmode=maybe", "postgres://a:hunter22@h/d?port=x"] {
            let error = Address::parse(url, &|_| None).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter22"));
        }
    }

    #[test]
    fn a_line_of_the_password_file_fits_by_its_four_fields() {
        let wanted = ["h", "5432", "d:b", "u"];
        assert_eq!(password_of(r"h:5432:d\:b:u:se\:cret:x", wanted), Some("se:cret:x".to_owned()));
        assert_eq!(password_of("*:*:*:u:p", wanted), Some("p".to_owned()));
        assert_eq!(password_of("h:5432:other:u:p", wanted), None);
        assert_eq!(password_of("#*:*:*:u:p", wanted), None);
        assert_eq!(password_of("h:5432", wanted), None);
    }
}
