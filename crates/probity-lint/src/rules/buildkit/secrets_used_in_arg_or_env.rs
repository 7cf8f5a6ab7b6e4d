//! Secrets in ARG and ENV, by the names that people give them.

use probity_dockerfile::{Arguments, Expander, Keyword};
use probity_finding::Finding;

use crate::{context::Context, secret_names::names_a_secret};

rule! {
    /// # What it does
    ///
    /// Flags an `ARG` or `ENV` whose name suggests a secret.
    ///
    /// The rule splits the name at underscores and ignores case. It flags two kinds of names:
    ///
    /// - One part is `apikey`, `auth`, `credential`, `credentials`, `key`, `password`, `pword`,
    ///   `passwd`, `passphrase`, `secret` or `token`.
    /// - The name has several parts, and the last one is `pat` or `pwd`.
    ///
    /// BuildKit's check flags many names that do not contain a secret. Unlike BuildKit, this rule
    /// ignores:
    ///
    /// - names with the part `public`, `pub`, `file` or `version`;
    /// - names whose last part describes something other than the secret itself: `KMS_KEY_ALIAS`,
    ///   `AUTH_MODE`, `TOKEN_TTL`, `AUTH_URL`, `KEY_SIZE`, `PASSWORD_MIN_LENGTH`, `SSH_AUTH_SOCK`.
    ///   The rule still flags `AWS_ACCESS_KEY_ID`, because it is half of a login;
    /// - keys that are not secret: `GPG_KEY`, `SORT_KEY`, `CACHE_KEY`;
    /// - an `ENV` whose value is empty or a switch (`AUTH=true`);
    /// - an `ENV` whose value is an absolute path of at least two parts
    ///   (`SSH_KEY=/run/secrets/key`);
    /// - values that are the fingerprint of a public key: 40 uppercase hexadecimal digits.
    ///
    /// Unlike BuildKit, the rule also checks an `ARG` before the first `FROM` and instructions
    /// after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// The image history and the build provenance contain the values of both. Everyone who can pull
    /// the image can read them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// ARG NPM_TOKEN
    /// RUN npm ci
    /// ```
    ///
    /// A secret mount exists only while its command runs and leaves nothing in the image:
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN --mount=type=secret,id=npm,env=NPM_TOKEN npm ci
    /// ```
    SecretsUsedInArgOrEnv {
        name: "buildkit/SecretsUsedInArgOrEnv",
        severity: Warning,
        category: Security,
        equals: &["hadolint/DL3064"],
        url: "https://docs.docker.com/go/dockerfile/rule/secrets-used-in-arg-or-env/",
    }
}

/// Values that only switch something.
const SWITCHES: &[&str] =
    &["true", "false", "yes", "no", "on", "off", "none", "enabled", "disabled", "0", "1"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let expander = Expander::new(context.file.escape, &|_| None);
    for (_, instruction) in context.each_nested() {
        let (Keyword::Arg | Keyword::Env, Arguments::Pairs { pairs, .. }) =
            (instruction.keyword, &instruction.arguments)
        else {
            continue;
        };
        for pair in pairs {
            // A name may be quoted. One that is made of variables says nothing by itself.
            let Ok(name) = expander.expand(&pair.key.text) else { continue };
            let is_open = !name.unmatched.is_empty() || !names_a_secret(&name.text);
            let value = pair.value.as_ref().map(|value| value.text.trim_matches(['"', '\'']));
            if is_open || value.is_some_and(|value| is_harmless(instruction.keyword, value)) {
                continue;
            }
            let message = format!(
                "Do not use ARG or ENV instructions for sensitive data ({} {:?})",
                instruction.keyword, name.text
            );
            findings.push(context.finding(pair.key.span, message).with_detail(
                "The value can be read in the image's history; use RUN --mount=type=secret.",
            ));
        }
    }
}

/// Whether a value cannot be a secret. An `ARG` with an empty default gets its value from the build.
fn is_harmless(keyword: Keyword, value: &str) -> bool {
    let is_path = value.starts_with('/') && value.split('/').count() > 2 && !value.contains("//");
    let is_empty = value.is_empty() && keyword == Keyword::Env;
    let is_switch = SWITCHES.contains(&value.to_ascii_lowercase().as_str());
    is_empty || is_fingerprint(value) || keyword == Keyword::Env && (is_path || is_switch)
}

/// Whether a value is the fingerprint of a public key, as `gpg` prints it.
fn is_fingerprint(value: &str) -> bool {
    let is_upper_hex = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    value.len() == 40 && value.bytes().all(is_upper_hex)
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "buildkit/SecretsUsedInArgOrEnv";

    #[test]
    fn the_one_name_of_several_is_underlined() {
        check(
            RULE,
            r#"
ARG TOKEN
    ^^^^^ Do not use ARG or ENV instructions for sensitive data (ARG "TOKEN")
FROM a
ENV A=1 API_KEY=2 \
        ^^^^^^^ Do not use ARG or ENV instructions for sensitive data (ENV "API_KEY")
  B=3 "db_password"=4
      ^^^^^^^^^^^^^ Do not use ARG or ENV instructions for sensitive data (ENV "db_password")
ONBUILD ARG NPM_TOKEN
            ^^^^^^^^^ Do not use ARG or ENV instructions for sensitive data (ARG "NPM_TOKEN")
env SECRET some value
    ^^^^^^ Do not use ARG or ENV instructions for sensitive data (ENV "SECRET")
"#,
        );
    }

    #[test]
    fn what_merely_looks_like_a_secret_is_silent() {
        check(RULE, "FROM a\nARG KEYBOARD\nENV A=token MONKEY=1\nARG $X_KEY\nLABEL api_key=1\n");
        check(RULE, "FROM a\nENV A=\"x SECRET=1\"\nRUN TOKEN=1 b\n");
    }

    #[test]
    fn paths_switches_and_nothing_are_no_secrets() {
        check(RULE, "FROM a\nENV AUTH=true SSH_KEY=/run/secrets/key \\\n  TOKEN=\"\"\n");
        check(
            RULE,
            r#"
FROM a
ARG TOKEN=""
    ^^^^^ Do not use ARG or ENV instructions for sensitive data (ARG "TOKEN")
ENV PASSWORD=/x
    ^^^^^^^^ Do not use ARG or ENV instructions for sensitive data (ENV "PASSWORD")
"#,
        );
    }
}
