//! Secrets in ARG and ENV, by the names that people give them.

use probity_dockerfile::{Arguments, Expander, Keyword, Os, Pair};
use probity_finding::{Finding, Fix};

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::secret_names::names_a_secret,
};

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
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the mounts, because the file does not always show which commands
    /// read the variable. Afterward, the build needs `--secret id=…` instead of `--build-arg`.
    /// probity offers a fix only if the variable has no value in the file, and only `RUN` and `ENV`
    /// use it.
    SecretsUsedInArgOrEnv {
        name: "buildkit/SecretsUsedInArgOrEnv",
        severity: Warning,
        category: Security,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("60")],
        equals: &["hadolint/DL3064"],
        url: "https://docs.docker.com/go/dockerfile/rule/secrets-used-in-arg-or-env/",
    }
}

/// Values that only switch something.
const SWITCHES: &[&str] =
    &["true", "false", "yes", "no", "on", "off", "none", "enabled", "disabled", "0", "1"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let expander = Expander::new(context.file.escape, &|_| None);
    for (index, instruction) in context.each_nested() {
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
            let finding = context.finding(pair.key.span, message).with_detail(
                "The value can be read in the image's history; use RUN --mount=type=secret.",
            );
            findings.push(if is_for_commands_alone(context, index, pair) {
                finding.with_fix(by_agent(context))
            } else {
                finding
            });
        }
    }
}

fn by_agent(context: &Context<'_>) -> Fix {
    context.fix_by_agent("secret-mounts", "AI AutoFix: use RUN --mount=type=secret", 157)
}

/// Whether a mount can take the place of a variable: its value comes from the build, a RUN sees it, and
/// nothing but RUN and ENV names it.
fn is_for_commands_alone(context: &Context<'_>, index: usize, pair: &Pair) -> bool {
    let (facts, instructions) = (context.facts, &context.file.instructions);
    let name = pair.key.text.as_str();
    let is_open = match instructions.get(index).map(|instruction| instruction.keyword) {
        Some(Keyword::Arg) => {
            pair.value.as_ref().is_none_or(|value| value.text.trim_matches('"').is_empty())
        }
        Some(Keyword::Env) => pair.value.as_ref().is_some_and(|value| is_reference(&value.text)),
        // The trigger of an ONBUILD runs in another build.
        _ => false,
    };
    let is_unix = facts.stage_of(index).is_some_and(|stage| stage.os != Os::Windows);
    let is_own = |at: &usize| {
        facts.scope(*at).get(name).is_some_and(|variable| variable.instruction == Some(index))
    };
    let all = instructions.iter().enumerate();
    let mut runs = all
        .clone()
        .filter(|(_, instruction)| instruction.keyword == Keyword::Run)
        .map(|(at, _)| at);
    let is_used_elsewhere = all
        .filter(|(_, instruction)| !matches!(instruction.keyword, Keyword::Run | Keyword::Env))
        .any(|(at, _)| facts.references(at).iter().any(|reference| reference.name == name));
    is_open && is_unix && !is_used_elsewhere && runs.any(|at| is_own(&at))
}

/// `$NAME` or `${NAME}` and nothing else.
fn is_reference(value: &str) -> bool {
    let value = value.trim_matches('"');
    let Some(rest) = value.strip_prefix('$') else { return false };
    let name = rest.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(rest);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
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
    use crate::engine::harness::{check, run};

    const RULE: &str = "buildkit/SecretsUsedInArgOrEnv";

    #[test]
    fn an_agent_is_asked_only_where_a_mount_can_take_the_place() {
        let asks = |text: &str| {
            let found = run(RULE, &format!("FROM a AS b\n{text}\n"));
            found.iter().filter(|finding| !finding.fixes.is_empty()).count()
        };
        for (text, count) in [
            ("ARG TOKEN\nRUN x", 1),
            ("ARG TOKEN=\"\"\nRUN x", 1),
            ("ARG TOKEN\nENV TOKEN=${TOKEN}\nRUN x", 1),
            ("ARG TOKEN\nFROM b\nRUN x", 1),
            ("ARG TOKEN\nFROM c\nRUN x", 0),
            ("ENV TOKEN=$OTHER\nFROM b\nRUN x", 1),
            ("ARG TOKEN=abc\nRUN x", 0),
            ("ENV TOKEN=abc\nRUN x", 0),
            ("RUN x\nARG TOKEN", 0),
            ("ARG TOKEN\nLABEL a=$TOKEN\nRUN x", 0),
            ("ONBUILD ARG TOKEN\nRUN x", 0),
        ] {
            assert_eq!(asks(text), count, "{text}");
        }
    }

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
