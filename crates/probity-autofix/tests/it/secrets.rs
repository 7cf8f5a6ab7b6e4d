//! Secrets: denied before anything starts, tokens that come back, and nothing of them in a report.

use probity_autofix::SecretsPolicy;

use super::{
    agents::{Case, MULTI_STAGE, diff, shown},
    objectives::{GO, two_stages},
};

/// Put together here, so that nobody takes this file for a leak.
fn secret() -> String {
    ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6", "LO0pINUx"].concat()
}

fn with_secret() -> String {
    GO.replace("EXPOSE", &format!("ENV GITHUB_TOKEN={}\nEXPOSE", secret()))
}

/// The conversion with the variable in the final stage.
fn converted(file: &str) -> String {
    let (build, run) = file.split_once("ENV").unwrap();
    let build = build.replacen("golang:1.22\n", "golang:1.22 AS build\n", 1);
    format!(
        "{build}FROM debian:12-slim\nWORKDIR /src\n\
         COPY --from=build /usr/local/bin/app /usr/local/bin/app\nENV{run}"
    )
}

#[test]
fn a_file_with_a_secret_is_not_sent() {
    let (text, rules) = (with_secret(), [MULTI_STAGE]);
    let ran = Case::new(&rules, &text).ask(|_, _| panic!("nothing may be sent"));
    assert_eq!(ran.outcomes(), ["secrets-found: line 6 contains a secret (github-personal-token)"]);
    assert_eq!(ran.prompts.len(), 0);
}

#[test]
fn without_a_detector_nothing_is_sent_unless_secrets_may_be() {
    for policy in [SecretsPolicy::Deny, SecretsPolicy::Tokenize] {
        let mut case = Case::new(&[MULTI_STAGE], GO);
        (case.detector, case.settings.secrets) = (None, policy);
        let ran = case.ask(|_, _| panic!("nothing may be sent"));
        assert!(ran.outcomes()[0].starts_with("secrets-found: "), "{:?}", ran.outcomes());
    }
    let mut case = Case::new(&[MULTI_STAGE], GO);
    (case.detector, case.settings.secrets) = (None, SecretsPolicy::Allow);
    assert_eq!(case.ask(|_, _| "NO_CHANGE".to_owned()).outcomes(), ["no-change"]);
}

#[test]
fn allowed_secrets_are_sent_and_counted() {
    let (text, rules) = (with_secret(), [MULTI_STAGE]);
    let mut case = Case::new(&rules, &text);
    case.settings.secrets = SecretsPolicy::Allow;
    let ran = case.ask(|_, prompt| diff(prompt, &converted(&shown(prompt))));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert!(ran.prompts[0].contains(&secret()));
    assert_eq!(ran.resolution.session.secrets, 1);
}

#[test]
fn tokens_are_sent_and_the_secret_comes_back_byte_for_byte() {
    let (text, rules) = (with_secret(), [MULTI_STAGE]);
    let mut case = Case::new(&rules, &text);
    case.settings.secrets = SecretsPolicy::Tokenize;
    let ran = case.ask(|count, prompt| match count {
        1 => diff(prompt, &converted(&shown(prompt)).replace("USER 65532\n", "")),
        _ => diff(prompt, &shown(prompt).replace("EXPOSE 8080\n", "EXPOSE 8080\nUSER 65532\n")),
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert_eq!(ran.text, converted(&text));
    for prompt in &ran.prompts {
        assert!(!prompt.contains(&secret()), "{prompt}");
        assert!(prompt.contains("_SECRET_0001_"), "{prompt}");
    }
}

#[test]
fn a_patch_that_loses_copies_or_moves_a_token_is_refused() {
    let edits: [fn(&str) -> String; 4] = [
        |file| {
            file.lines()
                .filter(|line| !line.contains("_SECRET_"))
                .map(|line| format!("{line}\n"))
                .collect()
        },
        |file| {
            let line = file.lines().find(|line| line.contains("_SECRET_")).unwrap().to_owned();
            file.replace("WORKDIR /src\nCOPY --from", &format!("{line}\nWORKDIR /src\nCOPY --from"))
        },
        |file| file.replace("ENV GITHUB_TOKEN=", "LABEL GITHUB_TOKEN="),
        |file| file.replace("ENV GITHUB_TOKEN=", "ENV GITHUB_TOKEN=x"),
    ];
    for edit in edits {
        let (text, rules) = (with_secret(), [MULTI_STAGE]);
        let mut case = Case::new(&rules, &text);
        (case.settings.secrets, case.settings.max_rounds) = (SecretsPolicy::Tokenize, 1);
        let ran = case.ask(move |_, prompt| diff(prompt, &edit(&converted(&shown(prompt)))));
        assert_eq!(ran.refused, [["patch/secret-tokens"]], "{:?}", ran.outcomes());
        assert_eq!(ran.text, text);
        assert!(!ran.outcomes()[0].contains(&secret()));
    }
}

#[test]
fn evidence_is_taken_from_the_text_that_is_sent() {
    let run = format!(
        "RUN curl -H 'Authorization: token {}' https://example.com/x.tar.gz | tar xz && go build",
        secret()
    );
    let text = GO.replace("RUN go build", &run);
    let rules = [MULTI_STAGE];
    let mut case = Case::new(&rules, &text);
    case.settings.secrets = SecretsPolicy::Tokenize;
    let ran = case.ask(|_, _| "NO_CHANGE".to_owned());
    assert_eq!(ran.outcomes(), ["no-change"]);
    assert!(ran.prompts[0].contains("\"evidence\": \"curl"), "{}", ran.prompts[0]);
    assert!(!ran.prompts[0].contains(&secret()));
}

#[test]
fn details_of_a_refusal_quote_no_secret() {
    let (text, rules) = (with_secret(), [MULTI_STAGE]);
    let mut case = Case::new(&rules, &text);
    (case.settings.secrets, case.settings.max_rounds) = (SecretsPolicy::Allow, 1);
    let ran = case.ask(|_, prompt| diff(prompt, &two_stages(&shown(prompt))));
    insta::assert_snapshot!(ran.outcomes()[0], @"validation-failed: runtime-invariants: ENV of the final stage must stay as it was: it was `ENV GITHUB_TOKEN=****************************************`, and now is not set");
    assert!(!ran.outcomes()[0].contains(&secret()), "{:?}", ran.outcomes());
}
