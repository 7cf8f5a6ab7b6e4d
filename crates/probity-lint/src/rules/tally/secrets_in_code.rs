//! Secrets in the file itself.

use probity_finding::{Finding, Span};
use probity_secrets::Confidence;

use crate::engine::{
    context::Context,
    rule::{OptionKind, OptionSpec},
};

rule! {
    /// # What it does
    ///
    /// Flags tokens, keys and passwords in the file.
    ///
    /// The rule checks values, commands, heredocs and comments. It recognizes secrets in these
    /// ways:
    ///
    /// - by the formats that their issuers publish;
    /// - by checksums, if the format has one;
    /// - by a name that suggests a secret, together with a value that looks random.
    ///
    /// The rule ignores placeholders, variables, digests and documented examples.
    ///
    /// probity does not print the secret. Reports show stars in its place, unless you pass
    /// `--show-secrets`.
    ///
    /// # Why it is bad
    ///
    /// Everyone who can read the repository or the image history can read the secret, as long as
    /// either exists. Remove the secret and revoke it. Pass the new one with
    /// `RUN --mount=type=secret` or at run time.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl --user deploy:q7Zr2LmX9tPw4KcV https://example.com/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN --mount=type=secret,id=netrc,target=/root/.netrc curl --netrc https://example.com/
    /// ```
    SecretsInCode {
        name: "tally/secrets-in-code",
        severity: Error,
        category: Security,
        options: &[
            OptionSpec {
                name: "allowed-values",
                kind: OptionKind::TextList,
                default: "[]",
                about: "Values that are not secrets, even if they look like one.",
            },
            OptionSpec {
                name: "allowed-patterns",
                kind: OptionKind::TextList,
                default: "[]",
                about: "Regular expressions; the rule ignores secrets that match one of them.",
            },
            OptionSpec {
                name: "allowed-kinds",
                kind: OptionKind::TextList,
                default: "[]",
                about: "Kinds of secrets that the rule ignores, such as `jwt`.",
            },
        ],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(detector) = context.secrets else { return };
    for secret in detector.find(context.file.text) {
        if secret.confidence == Confidence::FormatOnly {
            continue;
        }
        let message = format!("{} in the file", secret.name);
        let place = Span::new(secret.range.start, secret.range.end);
        findings.push(context.finding(place, message).with_detail(format!(
            "Take it out and revoke it; pass secrets with RUN --mount=type=secret or at run time. \
             Kind: {}.",
            secret.kind
        )));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::run;

    const RULE: &str = "tally/secrets-in-code";

    /// The texts that are flagged. Tokens are put together here, so that no file holds one.
    fn flagged(text: &str) -> Vec<&str> {
        let found = run(RULE, text);
        found.iter().map(|finding| finding.span.unwrap().slice(text).unwrap()).collect()
    }

    #[test]
    fn a_made_up_token_is_not_worth_a_finding() {
        let made_up = ["ghp_", "0123456789abcdef0123456789abcdef0123"].concat();
        assert_eq!(flagged(&format!("FROM a\nARG T={made_up}\n")), Vec::<&str>::new());
    }

    #[test]
    fn the_secret_alone_is_underlined_and_never_named() {
        let key = ["AKIA", "QYLPMN5HFIQR7XYA"].concat();
        let password = ["q7Zr2LmX", "9tPw4KcV"].concat();
        for line in [
            format!("ENV AWS_ACCESS_KEY_ID={key}"),
            format!("RUN echo \"{key}\" \\\n  > x"),
            format!("RUN <<EOF\nexport K='{key}'\nEOF"),
            format!("# {key}"),
        ] {
            assert_eq!(flagged(&format!("FROM a\n{line}\n")), [key.as_str()], "{line}");
        }
        let text = format!("FROM a\nRUN psql postgres://user:{password}@db/x\n");
        assert_eq!(flagged(&text), [password.as_str()]);
        let found = run(RULE, &text);
        let said = format!("{:?} {:?}", found[0].message, found[0].detail);
        assert!(!said.contains(&password), "{said}");
    }

    #[test]
    fn placeholders_variables_and_digests_are_silent() {
        let digest = "ab12".repeat(16);
        for line in [
            "ENV PASSWORD=changeme".to_owned(),
            "ENV TOKEN=${TOKEN}".to_owned(),
            "RUN curl -u \"$USER:$PASS\" https://example.com".to_owned(),
            format!("ADD --checksum=sha256:{digest} https://x/y /y"),
            "ARG AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE".to_owned(),
        ] {
            assert_eq!(flagged(&format!("FROM a\n{line}\n")), [""; 0], "{line}");
        }
    }
}
