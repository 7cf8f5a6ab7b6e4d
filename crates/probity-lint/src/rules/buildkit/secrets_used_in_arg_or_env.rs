//! Secrets in ARG and ENV, by the names that people give them.

use probity_dockerfile::{Arguments, Expander, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ARG` or `ENV` whose name says that it holds a secret: one of its parts between
    /// underscores is `apikey`, `auth`, `credential`, `credentials`, `key`, `password`, `pword`,
    /// `passwd`, `secret` or `token`, in whatever case.
    ///
    /// A name with a part `public`, `file` or `version` is taken for harmless. Values are not looked
    /// at, and neither is what stands behind `ONBUILD`. Unlike BuildKit, this rule looks at an `ARG`
    /// before the first `FROM` too.
    ///
    /// # Why it is bad
    ///
    /// The values of both are kept in the image's history and in the provenance of the build, where
    /// everybody who can pull the image can read them.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// ARG NPM_TOKEN
    /// RUN npm ci
    /// ```
    ///
    /// A secret mount lasts as long as its command and leaves nothing behind:
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

const SECRET: [&str; 10] = [
    "apikey",
    "auth",
    "credential",
    "credentials",
    "key",
    "password",
    "pword",
    "passwd",
    "secret",
    "token",
];

const HARMLESS: [&str; 3] = ["public", "file", "version"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let expander = Expander::new(context.file.escape, &|_| None);
    for instruction in &context.file.instructions {
        let (Keyword::Arg | Keyword::Env, Arguments::Pairs { pairs, .. }) =
            (instruction.keyword, &instruction.arguments)
        else {
            continue;
        };
        for pair in pairs {
            // A name may be quoted. One that is made of variables says nothing by itself.
            let Ok(name) = expander.expand(&pair.key.text) else { continue };
            if !name.unmatched.is_empty() || !names_a_secret(&name.text) {
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

fn names_a_secret(name: &str) -> bool {
    let has_part = |parts: &[&str]| {
        name.split('_').any(|own| parts.iter().any(|part| own.eq_ignore_ascii_case(part)))
    };
    has_part(&SECRET) && !has_part(&HARMLESS)
}

#[cfg(test)]
mod tests {
    use super::names_a_secret;
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
env SECRET some value
    ^^^^^^ Do not use ARG or ENV instructions for sensitive data (ENV "SECRET")
"#,
        );
    }

    #[test]
    fn what_merely_looks_like_a_secret_is_silent() {
        check(RULE, "FROM a\nARG KEYBOARD\nENV A=token MONKEY=1\nARG $X_KEY\nLABEL api_key=1\n");
        check(RULE, "FROM a\nENV A=\"x SECRET=1\"\nRUN TOKEN=1 b\nONBUILD ARG TOKEN\n");
    }

    #[test]
    fn names_are_judged_by_their_parts() {
        for name in ["auth", "KEY_ID", "My_Passwd", "_token_", "x__secret", "AWS_credentials"] {
            assert!(names_a_secret(name), "{name}");
        }
        let harmless =
            ["", "author", "tokens", "PUBLIC_KEY", "SECRET_FILE", "token_version", "API-KEY"];
        for name in harmless {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
