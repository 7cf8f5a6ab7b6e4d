//! Private keys, signed tokens, passwords in addresses and commands, and guesses.

use crate::{assignment, check, command_line, pem, rule::Rule, url};

pub(super) const RULES: &[Rule] = &[
    // PEM, OpenSSH and PGP armour.
    Rule::parsed("private-key", "private key", &["-----BEGIN "], pem::block)
        .checked(check::found_by_parser),
    // The armour of RFC 4716, as some servers use it for private keys.
    Rule::parsed(
        "ssh2-private-key",
        "SSH2 private key",
        &["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"],
        pem::ssh2,
    )
    .checked(check::found_by_parser),
    // The private lines of a key file, versions 2 and 3.
    Rule::parsed("putty-private-key", "PuTTY private key", &["Private-Lines:"], pem::putty)
        .checked(check::found_by_parser),
    // A PEM file in base64, as in a kubeconfig.
    Rule::parsed(
        "base64-private-key",
        "private key in base64",
        &["LS0tLS1CRUdJTi"],
        pem::in_base64,
    )
    .checked(check::found_by_parser),
    // Header, payload, signature.
    Rule::parsed("json-web-token", "JSON web token", &["eyJ"], pem::json_web_token),
    // The password of libpq's connection addresses.
    Rule::parsed(
        "postgres-url-password",
        "password in a PostgreSQL address",
        &["postgres://", "postgresql://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // The same for MySQL and MariaDB.
    Rule::parsed(
        "mysql-url-password",
        "password in a MySQL address",
        &["mysql://", "mariadb://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // The same for MongoDB, with its DNS form.
    Rule::parsed(
        "mongodb-url-password",
        "password in a MongoDB address",
        &["mongodb://", "mongodb+srv://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // The same for Redis; the user is often empty.
    Rule::parsed(
        "redis-url-password",
        "password in a Redis address",
        &["redis://", "rediss://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // The same for message brokers.
    Rule::parsed(
        "amqp-url-password",
        "password in an AMQP address",
        &["amqp://", "amqps://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // Basic authentication in the address.
    Rule::parsed(
        "http-url-password",
        "password in a web address",
        &["http://", "https://"],
        url::password,
    )
    .checked(check::judged_by_parser),
    // Any other scheme: ftp, smtp, ldap, cloudinary, dialects of a database.
    Rule::parsed("url-password", "password in an address", &["://"], url::password)
        .checked(check::judged_by_parser),
    // `-u user:password`.
    Rule::parsed(
        "curl-password",
        "password of a curl command",
        &["-u", "--user"],
        command_line::curl_user,
    )
    .checked(check::judged_by_parser),
    // `-p` of docker login, sshpass and the clients of MySQL.
    Rule::parsed(
        "command-password",
        "password of a command",
        &["-p"],
        command_line::short_password,
    )
    .checked(check::judged_by_parser),
    // `echo user:password | chpasswd`.
    Rule::parsed(
        "command-password",
        "password of a command",
        &["chpasswd"],
        command_line::piped_to_chpasswd,
    )
    .checked(check::judged_by_parser),
    // `echo password | docker login --password-stdin`.
    Rule::parsed(
        "command-password",
        "password of a command",
        &["--password-stdin"],
        command_line::piped_to_login,
    )
    .checked(check::judged_by_parser),
    // `htpasswd -bc file user password`.
    Rule::parsed(
        "command-password",
        "password of a command",
        &["htpasswd"],
        command_line::htpasswd,
    )
    .checked(check::judged_by_parser),
    // `redis-server --requirepass password`.
    Rule::parsed(
        "command-password",
        "password of a command",
        &["--requirepass", "--masterauth"],
        command_line::redis_password,
    )
    .checked(check::judged_by_parser),
    // Base64 of user and password.
    Rule::after(
        "basic-authorization",
        "basic authorization header",
        &["basic "],
        "([A-Za-z0-9+/]{8,512}={0,2})",
    )
    .checked(check::credentials_in_base64),
    // `Bearer` and `token` with a value that looks random.
    Rule::parsed(
        "authorization-header",
        "token in an authorization header",
        &["bearer", "token"],
        assignment::authorization,
    )
    .checked(check::guessed_by_parser),
    // The name promises a password.
    Rule::parsed(
        "generic-password",
        "password assigned to a variable",
        &["password", "passwd", "passphrase", "passwort", "pass", "pwd"],
        assignment::password,
    )
    .checked(check::guessed_by_parser),
    // The name promises a key.
    Rule::parsed(
        "generic-secret",
        "secret assigned to a variable",
        &[
            "secret",
            "token",
            "api_key",
            "api key",
            "access key",
            "secret key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "auth_key",
            "authkey",
            "private_key",
            "privatekey",
            "encryption_key",
            "encryptionkey",
            "signing_key",
            "master_key",
            "account_key",
            "accountkey",
            "credential",
            "credentials",
            "_auth",
            "jwt_key",
            "hmac_key",
            "license_key",
        ],
        assignment::key,
    )
    .checked(check::guessed_by_parser),
];
