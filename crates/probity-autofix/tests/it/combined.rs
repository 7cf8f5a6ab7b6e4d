//! Proposals that do more than one thing: taken where each was asked for, refused with a reason otherwise.

use super::agents::{
    BASE_IMAGE, COMMAND_FAMILY, CONDA, Case, HEALTHCHECK, MANIFESTS, MULTI_STAGE, ROOT_USER, Ran,
    SECRETS, diff, shown,
};

const NODE: &str = "\
FROM node:22
USER root
WORKDIR /app
ARG NPM_TOKEN
COPY . .
RUN npm ci
EXPOSE 3000
CMD [\"node\", \"server.js\"]
";

type Edit = (&'static str, &'static str);

const SECRET: [Edit; 2] = [
    ("ARG NPM_TOKEN\n", ""),
    ("RUN npm ci", "RUN --mount=type=secret,id=npm,env=NPM_TOKEN npm ci"),
];
const USER: [Edit; 2] = [("USER root\n", ""), ("EXPOSE 3000\n", "EXPOSE 3000\nUSER node\n")];
const BASE: [Edit; 1] = [("FROM node:22\n", "FROM node:22-slim\n")];
const PROBE: [Edit; 1] = [(
    "CMD [",
    "HEALTHCHECK CMD node -e \"fetch('http://localhost:3000/').then(r => process.exit(r.ok ? 0 : 1)).catch(() => process.exit(1))\"\nCMD [",
)];
const COPIES: [Edit; 2] = [
    ("COPY . .\n", "COPY package.json package-lock.json ./\n"),
    ("npm ci\n", "npm ci\nCOPY . .\n"),
];

fn proposed(rules: &[&str], text: &str, edits: &[&[Edit]]) -> Ran {
    let mut case = Case::new(rules, text);
    case.settings.max_rounds = 1;
    let edits: Vec<Edit> = edits.concat();
    case.ask(move |_, prompt| {
        let new = edits.iter().fold(shown(prompt), |text, (old, new)| {
            assert!(text.contains(old), "{old:?} is not in:\n{text}");
            text.replacen(old, new, 1)
        });
        diff(prompt, &new)
    })
}

#[test]
fn two_objectives_that_were_asked_for_are_met_by_one_patch() {
    let pairs: [(&[&str], [&[Edit]; 2]); 7] = [
        (&[ROOT_USER, SECRETS], [&USER, &SECRET]),
        (&[ROOT_USER, BASE_IMAGE], [&USER, &BASE]),
        (&[ROOT_USER, MANIFESTS], [&USER, &COPIES]),
        (&[BASE_IMAGE, SECRETS], [&BASE, &SECRET]),
        (&[BASE_IMAGE, MANIFESTS], [&BASE, &COPIES]),
        (&[HEALTHCHECK, ROOT_USER], [&PROBE, &USER]),
        (&[HEALTHCHECK, SECRETS], [&PROBE, &SECRET]),
    ];
    for (rules, edits) in pairs {
        let ran = proposed(rules, NODE, &edits);
        assert_eq!(ran.outcomes(), ["applied", "applied"], "{rules:?}: {:?}", ran.refused);
    }
    let rules = [ROOT_USER, SECRETS, BASE_IMAGE, HEALTHCHECK];
    let ran = proposed(&rules, NODE, &[&USER, &SECRET, &BASE, &PROBE]);
    assert_eq!(ran.outcomes(), ["applied"; 4], "{:?}", ran.refused);
}

#[test]
fn a_change_that_another_rule_would_ask_for_is_refused_until_it_does() {
    for (rule, own, other, check) in [
        (ROOT_USER, &USER[..], &SECRET[..], "only-user-changes"),
        (SECRETS, &SECRET, &BASE, "only-secrets-move"),
        (MANIFESTS, &COPIES, &BASE, "only-copies-move"),
        (BASE_IMAGE, &BASE, &COPIES, "only-base-changes"),
        (SECRETS, &SECRET, &USER, "runtime-invariants"),
    ] {
        let ran = proposed(&[rule], NODE, &[own, other]);
        assert!(ran.failed().contains(&check.to_owned()), "{rule}: {:?}", ran.refused);
    }
}

/// What one objective explains hides nothing that it does not.
#[test]
fn harm_beside_two_objectives_is_refused() {
    let mount = ("RUN npm ci", "RUN --mount=type=secret,id=npm,env=NPM_TOKEN npm ci");
    let more = ("RUN npm ci", "RUN --mount=type=secret,id=npm,env=NPM_TOKEN npm ci && rm -rf /srv");
    let unread = ("RUN npm ci", "RUN --mount=type=secret,id=npm npm ci");
    let sources = ("COPY . .", "COPY src .");
    for (harm, checks) in [
        (&[more][..], &["only-user-changes", "only-secrets-move"][..]),
        (&[mount, sources], &["only-user-changes", "only-secrets-move"]),
        (&[unread], &["only-user-changes", "only-secrets-move"]),
    ] {
        let ran = proposed(&[ROOT_USER, SECRETS], NODE, &[&USER, &SECRET[..1], harm]);
        assert_eq!(ran.failed(), checks, "{harm:?}: {:?}", ran.outcomes());
    }
}

/// Two objectives that change one command are two patches.
#[test]
fn a_command_changes_for_one_objective() {
    let text = "\
FROM debian:12
ARG API_TOKEN
RUN curl -fsSLO https://example.com/a && wget --header \"Token: $API_TOKEN\" https://example.com/b
";
    let edits = [
        ("ARG API_TOKEN\n", ""),
        ("RUN curl", "RUN --mount=type=secret,id=api,env=API_TOKEN curl"),
        ("wget --header", "curl -fsSLO --header"),
    ];
    let ran = proposed(&[COMMAND_FAMILY, SECRETS], text, &[&edits]);
    assert!(ran.outcomes().iter().all(|outcome| outcome != "applied"), "{:?}", ran.outcomes());
}

#[test]
fn a_conversion_also_moves_secrets_and_changes_the_user() {
    let text = "\
FROM golang:1.23
USER root
WORKDIR /src
ARG GOPROXY_PASSWORD
COPY . .
RUN GOPROXY=https://x:$GOPROXY_PASSWORD@go.example.com go mod download
RUN CGO_ENABLED=0 go build -o /app ./cmd/app
CMD [\"/app\"]
";
    let conversion = [
        ("FROM golang:1.23\n", "FROM golang:1.23 AS build\n"),
        (
            "CMD [",
            "FROM gcr.io/distroless/static-debian12\nWORKDIR /src\nCOPY --from=build /app /app\nUSER 65532\nCMD [",
        ),
        ("USER root\n", ""),
    ];
    let secret = [
        ("ARG GOPROXY_PASSWORD\n", ""),
        ("RUN GOPROXY", "RUN --mount=type=secret,id=goproxy,env=GOPROXY_PASSWORD GOPROXY"),
    ];
    let rules = [MULTI_STAGE, ROOT_USER, SECRETS];
    let ran = proposed(&rules, text, &[&conversion, &secret]);
    assert_eq!(ran.outcomes(), ["applied"; 3], "{:?}", ran.refused);
    // Without its mount, the download cannot log in, whatever else is fine.
    let ran = proposed(&rules, text, &[&conversion, &secret[..1]]);
    assert!(ran.outcomes().iter().all(|outcome| outcome != "applied"), "{:?}", ran.outcomes());
}

#[test]
fn conda_goes_while_a_secret_moves() {
    let text = "\
FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime
ARG HF_TOKEN
RUN conda install -y numpy=1.26
RUN ./fetch-model.sh
CMD [\"python\", \"serve.py\"]
";
    let edits = [
        ("ARG HF_TOKEN\n", ""),
        ("conda install -y numpy=1.26", "pip install --no-cache-dir \"numpy==1.26.*\""),
        ("RUN ./fetch", "RUN --mount=type=secret,id=hf,env=HF_TOKEN ./fetch"),
    ];
    let ran = proposed(&[CONDA, SECRETS], text, &[&edits]);
    assert_eq!(ran.outcomes(), ["applied", "applied"], "{:?}", ran.refused);
    let other = ("numpy==1.26.*", "numpy==2.0.*");
    let ran = proposed(&[CONDA, SECRETS], text, &[&edits, &[other]]);
    assert_eq!(ran.failed(), ["conda-packages-kept"], "{:?}", ran.outcomes());
}
