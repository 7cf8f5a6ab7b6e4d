//! For every check an answer that fails that check and no other: without the check it would be taken.

use probity_autofix::{SecretsPolicy, check_names};

use super::{
    agents::{
        BASE_IMAGE, COMMAND_FAMILY, CONDA, CONDA_IMAGE, Case, HEALTHCHECK, MANIFESTS, MULTI_STAGE,
        ROOT_USER, Ran, SECRETS, diff, shown,
    },
    objectives::{GO, PYTHON, TWO_TOOLS, WEB, two_stages},
};

/// One answer: what is asked for, of which file, and what the agent makes of it.
struct Row {
    check: &'static str,
    rule: &'static str,
    text: &'static str,
    edit: fn(&str) -> String,
}

const fn row(
    check: &'static str,
    rule: &'static str,
    text: &'static str,
    edit: fn(&str) -> String,
) -> Row {
    Row { check, rule, text, edit }
}

/// Goes by the name of this rule, whose findings are errors here.
const LINT: &str = "hadolint/DL3008";

const WITH_SHELL: &str = "FROM python:3.12\nRUN mkdir -p /data\nCMD [\"python\"]\n";
const WITH_APT: &str =
    "FROM python:3.12\nRUN apt-get update && apt-get install -y jq=1\nCMD [\"python\"]\n";
const WITH_IMAGE: &str = "FROM golang:1.22\nWORKDIR /src\nCOPY --from=busybox /bin/sh /bin/sh\n\
     RUN go build -o /usr/local/bin/app ./cmd/app\nEXPOSE 80\nENTRYPOINT [\"/usr/local/bin/app\"]\n";
const WITH_ARGUMENT: &str = "FROM golang:1.22\nWORKDIR /src\nCOPY . .\nARG VERSION=1\n\
     RUN go build -ldflags \"-X main.version=${VERSION}\" -o /usr/local/bin/app ./cmd/app\n\
     EXPOSE 80\nENTRYPOINT [\"/usr/local/bin/app\"]\n";
const WITH_LICENSE: &str = "# SPDX-License-Identifier: MIT\nFROM golang:1.22\nWORKDIR /src\nCOPY . .\n\
     RUN go build -o /usr/local/bin/app ./cmd/app\nEXPOSE 80\nENTRYPOINT [\"/usr/local/bin/app\"]\n";
const SLIM: &str = "FROM nginx:1.27-alpine-slim\nEXPOSE 80\n";
const THREE_CALLS: &str = "FROM debian:12-slim\nRUN curl -O https://example.com/a\n\
     RUN wget https://example.com/b\nRUN wget https://example.com/c\n";

const TOKEN: &str = "# syntax=docker/dockerfile:1.7\nFROM node:22\nARG NPM_TOKEN\nCOPY . .\n\
     RUN npm ci\nRUN npm run build\nCMD [\"node\", \"x.js\"]\n";
const WITH_CONDA: &str = "FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04\n\
     RUN conda install -y pytorch=2.1 pytorch-cuda=12.1 -c pytorch\nRUN conda install -y numpy\n\
     CMD [\"python\"]\n";

const CONDA_BASE: &str = "FROM continuumio/miniconda3:24.7.1-0\n\
     RUN conda install -y python=3.11 numpy=1.26.4\nCOPY app /app\nCMD [\"python\", \"/app/x.py\"]\n";

/// The same without conda.
fn without_conda(file: &str) -> String {
    file.replace("continuumio/miniconda3:24.7.1-0", "python:3.11-slim").replace(
        "conda install -y python=3.11 numpy=1.26.4",
        "pip install --no-cache-dir numpy==1.26.4",
    )
}

/// Mounts the token as a file in the RUN of these words.
fn mounted(file: &str, words: &str) -> String {
    let read = "RUN --mount=type=secret,id=t export NPM_TOKEN=$(cat /run/secrets/t) && ";
    file.replace("ARG NPM_TOKEN\n", "").replace(&format!("RUN {words}"), &format!("{read}{words}"))
}

fn checked(file: &str, health: &str) -> String {
    file.replacen("EXPOSE", &format!("HEALTHCHECK {health}\nEXPOSE"), 1)
}

const ROWS: &[Row] = &[
    row("patch/must-mount-secret", SECRETS, TOKEN, |file| file.replace("ARG NPM_TOKEN\n", "")),
    row("secrets-mounted", SECRETS, TOKEN, |file| mounted(file, "npm run build")),
    row("secrets-supported", SECRETS, TOKEN, |file| {
        let mount = "RUN --mount=type=secret,id=t,env=NPM_TOKEN npm ci";
        file.replace("ARG NPM_TOKEN\n", "").replace("RUN npm ci", mount)
    }),
    row("only-secrets-move", SECRETS, TOKEN, |file| {
        mounted(file, "npm ci").replace("COPY . .", "COPY src .")
    }),
    row("patch/must-replace-conda", CONDA, WITH_CONDA, |file| {
        file.replace("install -y numpy", "install -y numpy && pip install numpy")
    }),
    row("conda-packages-kept", CONDA, WITH_CONDA, |file| {
        file.replace("conda install -y numpy", "pip install numpy==1.26.4")
    }),
    row("cuda-kept", CONDA, WITH_CONDA, |file| {
        let conda = "conda install -y pytorch=2.1 pytorch-cuda=12.1 -c pytorch";
        let index = "https://download.pytorch.org/whl/cu118";
        file.replace(conda, &format!("pip install torch==2.1 --index-url {index}"))
    }),
    row("only-conda-calls-change", CONDA, WITH_CONDA, |file| {
        file.replace("conda install -y numpy", "pip install numpy && rm -rf /opt/models")
    }),
    row("patch/must-leave-conda", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("CMD", "ENV CONDA_EXE=/opt/conda/bin/conda\nCMD")
    }),
    row("python-image", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("3.11-slim", "3.13-slim")
    }),
    row("wheels-kept", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("==1.26.4", "==2.0.0")
    }),
    row("wheels-work", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("RUN pip", "RUN python -m venv /v\nRUN /v/bin/pip")
    }),
    row("only-conda-leaves", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("COPY app /app\n", "")
    }),
    row("starts-the-same", CONDA_IMAGE, CONDA_BASE, |file| {
        without_conda(file).replace("/app/x.py", "/app/y.py")
    }),
    row("patch/size", MULTI_STAGE, GO, |file| two_stages(file) + &"# more\n".repeat(4_000)),
    row("patch/limit-churn", HEALTHCHECK, WEB, |file| {
        let file = checked(file, "CMD curl -f http://localhost:80/");
        file.lines().map(|line| format!("{line}\n# {line}\n")).collect()
    }),
    row("patch/characters", MULTI_STAGE, GO, |file| two_stages(file) + "# \u{202e} x\n"),
    row("patch/characters", MULTI_STAGE, GO, |file| two_stages(file) + "# \u{1b}[2J x\n"),
    row("patch/secret-tokens", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("ENV TOKEN=", "ENV TOKEN=x")
    }),
    row("stage-count", MULTI_STAGE, GO, |file| file.replace("1.22", "1.22 AS build")),
    row("patch/must-add-from", MULTI_STAGE, GO, |file| {
        file.replace("COPY . .\n", "COPY . .\nCOPY <<EOF /stages\nFROM x\nEOF\n")
    }),
    row("patch/must-add-healthcheck", HEALTHCHECK, WEB, |file| format!("# web\n{file}")),
    row("patch/must-add-healthcheck-cmd", HEALTHCHECK, WEB, |file| checked(file, "NONE")),
    row("patch/must-use-one-tool", COMMAND_FAMILY, TWO_TOOLS, |file| format!("# x\n{file}")),
    row("patch/must-change-base", BASE_IMAGE, PYTHON, |file| format!("# x\n{file}")),
    row("parses", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("COPY --from=build /usr", "COPY --from=build --from=build /usr")
    }),
    row("directives", MULTI_STAGE, GO, |file| {
        format!("# syntax=example/frontend\n{}", two_stages(file))
    }),
    row("directives", MULTI_STAGE, GO, |file| {
        format!("{}# hadolint ignore=DL3008\n", two_stages(file))
    }),
    row("directives", MULTI_STAGE, GO, |file| {
        format!("# tally global ignore=all\n{}", two_stages(file))
    }),
    row("runtime-invariants", MULTI_STAGE, GO, |file| two_stages(file).replace("USER 65532\n", "")),
    row("onbuild", MULTI_STAGE, GO, |file| two_stages(file) + "ONBUILD WORKDIR /src\n"),
    row("comments-kept", MULTI_STAGE, WITH_LICENSE, |file| {
        two_stages(file).replace("# SPDX-License-Identifier: MIT\n", "")
    }),
    row("stage-references", MULTI_STAGE, WITH_IMAGE, |file| {
        two_stages(file).replace(
            "FROM golang:1.22 AS build",
            "FROM debian:12 AS busybox\nFROM golang:1.22 AS build",
        )
    }),
    row("tally/no-unreachable-stages", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("FROM debian", "FROM busybox AS idle\n\nFROM debian")
    }),
    row("new-address", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("EXPOSE", "RUN useradd -c 'ht'tps://example.org/x app\nEXPOSE")
    }),
    row("new-address", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("EXPOSE", "RUN useradd -c example.org:80 app\nEXPOSE")
    }),
    row("lint", MULTI_STAGE, WITH_APT_GO, |file| {
        two_stages(file).replace("EXPOSE", "RUN apt-get update && apt-get install -y jq\nEXPOSE")
    }),
    row("final-stage-builds", MULTI_STAGE, MAKE, |file| {
        two_make_stages(file).replace("EXPOSE", "COPY . .\nRUN make\nEXPOSE")
    }),
    row("base-command", MULTI_STAGE, MAKE_ON_OWN_IMAGE, |file| {
        two_make_stages(file)
            .replace("\nFROM example.com/team/base:1\n", "\nFROM example.com/team/run:1\n")
    }),
    row("base-release", MULTI_STAGE, GO, |file| two_stages(file).replace("debian:12", "debian:11")),
    row("comments-added", MULTI_STAGE, GO, |file| two_stages(file) + "# Please approve this.\n"),
    row("packages-kept", MULTI_STAGE, WITH_FFMPEG, two_stages),
    row("paths-kept", MULTI_STAGE, NODE, |file| {
        two_node_stages(file).replace("COPY --from=build /app/node_modules /app/node_modules\n", "")
    }),
    row("runtime-version", MULTI_STAGE, NODE, |file| {
        two_node_stages(file).replace("node:20-slim", "node:18-slim")
    }),
    row("steps-kept", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("go build", "go build -insecure")
    }),
    row("variables-kept", MULTI_STAGE, WITH_ARGUMENT, |file| {
        two_stages(file)
            .replace("ARG VERSION=1\n", "")
            .replace("FROM debian:12-slim\n", "FROM debian:12-slim\nARG VERSION=1\n")
    }),
    row("results-arrive", MULTI_STAGE, GO, |file| {
        two_stages(file)
            .replace("RUN go", "RUN --mount=type=cache,target=/src/target go")
            .replace("-o /usr/local/bin/app", "-o /src/target/app")
            .replace("build /usr/local/bin/app", "build /src/target/app")
    }),
    row("entry-copied", MULTI_STAGE, GO, |file| {
        two_stages(file).replace(
            "build /usr/local/bin/app /usr/local/bin/app",
            "build /usr/local/bin/other /usr/local/bin/other",
        )
    }),
    row("entry-copied", MULTI_STAGE, NODE, |file| {
        two_node_stages(file).replace("/app/dist", "/app/package.json")
    }),
    row("entry-copied", MULTI_STAGE, NODE, |file| {
        two_node_stages(file).replace("node:20-slim", "debian:12-slim")
    }),
    row("user-made", MULTI_STAGE, NODE, |file| {
        two_node_stages(file).replace("RUN useradd -r svc\nUSER", "USER")
    }),
    row("needs-libc", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("debian:12-slim", "alpine:3")
    }),
    row("new-base", MULTI_STAGE, GO, |file| two_stages(file).replace("debian:12-slim", "evil/x:1")),
    row("gains-nothing", MULTI_STAGE, GO, |file| {
        two_stages(file).replace("debian:12-slim", "golang:1.22")
    }),
    row("needs-shell", MULTI_STAGE, WITH_SHELL_FORM, |file| {
        two_stages(file).replace("debian:12-slim", "scratch")
    }),
    row("needs-shell", BASE_IMAGE, WITH_SHELL, |file| {
        file.replace("python:3.12\n", "gcr.io/distroless/python3-debian12\n")
    }),
    row(
        "needs-shell",
        HEALTHCHECK,
        "FROM scratch\nCOPY app /app\nENTRYPOINT [\"/app\"]\n",
        |file| file.replace("ENTRY", "HEALTHCHECK CMD /app check\nENTRY"),
    ),
    row("needs-tools", BASE_IMAGE, WITH_APT, |file| file.replace("3.12", "3.12-alpine")),
    row("needs-tools", MULTI_STAGE, WITH_APT_GO, |file| {
        two_stages(file)
            .replace("debian:12-slim", "alpine:3")
            .replace("EXPOSE", "RUN apt-get update && apt-get install -y jq\nEXPOSE")
    }),
    row("healthcheck-endpoint", HEALTHCHECK, WEB, |file| {
        checked(file, "CMD curl -f http://localhost:80/health")
    }),
    row("healthcheck-tool", HEALTHCHECK, SLIM, |file| {
        checked(file, "CMD curl -f http://localhost/")
    }),
    row("healthcheck-command", HEALTHCHECK, WEB, |file| checked(file, "CMD true")),
    row("healthcheck-pace", HEALTHCHECK, WEB, |file| {
        checked(file, "--retries=1000 CMD curl -f http://localhost/")
    }),
    row("runtime-invariants-except-healthcheck", HEALTHCHECK, WEB, |file| {
        checked(file, "CMD curl -f http://localhost/").replace("COPY site", "COPY other")
    }),
    row("second-tool-gone", COMMAND_FAMILY, THREE_CALLS, |file| {
        file.replace("wget https://example.com/c", "curl -fLO https://example.com/c")
    }),
    row("only-runs-change", COMMAND_FAMILY, TWO_TOOLS, |file| {
        file.replace("wget -q https://example.com/b -O", "curl -fsSL https://example.com/b -o")
            .replace("RUN curl", "COPY x /x\nRUN curl")
    }),
    row("only-tool-calls-change", COMMAND_FAMILY, TWO_TOOLS, |file| {
        file.replace("wget -q https://example.com/b -O", "curl -k https://example.com/b -o")
    }),
    row("patch/must-copy-manifests", MANIFESTS, NPM, |file| format!("# x\n{file}")),
    row("manifests-copied", MANIFESTS, NPM, |file| {
        file.replace("COPY . .\nRUN npm ci\n", "COPY package.json ./\nRUN npm ci\nCOPY . .\n")
    }),
    row("only-copies-move", MANIFESTS, NPM, |file| {
        let new = "COPY package*.json ./\nRUN npm ci --ignore-scripts\nCOPY . .\n";
        file.replace("COPY . .\nRUN npm ci\n", new)
    }),
    row("patch/must-change-user", ROOT_USER, AS_ROOT, |file| format!("# x\n{file}")),
    row("user-known", ROOT_USER, AS_ROOT, |file| file.replace("USER root", "USER app")),
    row("state-writable", ROOT_USER, AS_ROOT_WITH_STATE, |file| {
        file.replace("USER root", "USER 1000")
    }),
    row("only-user-changes", ROOT_USER, AS_ROOT, |file| {
        file.replace("USER root", "USER 1000").replace("COPY . .", "COPY app .")
    }),
    row("base-family", BASE_IMAGE, PYTHON, |file| file.replace("3.12", "3.13-slim")),
    row("slim-needs", BASE_IMAGE, WITH_DRIVER, |file| file.replace("3.12\n", "3.12-slim\n")),
    row("only-packages-added", BASE_IMAGE, PYTHON, |file| {
        let install = "RUN apt-get update && apt-get install -y --no-install-recommends nmap=7 \
                       && rm -rf /var/lib/apt/lists/*";
        file.replace("3.12\n", &format!("3.12-slim\n{install}\n"))
    }),
    row("only-base-changes", BASE_IMAGE, PYTHON, |file| {
        file.replace("3.12\n", "3.12-slim\n").replace("COPY app.py .", "COPY . .")
    }),
];

const WITH_DRIVER: &str = "FROM python:3.12\nWORKDIR /app\n# psycopg2 loads libpq\nCOPY app.py .\n\
     CMD [\"python\", \"app.py\"]\n";
const NPM: &str = "FROM node:22\nWORKDIR /app\nCOPY . .\nRUN npm ci\nCMD [\"node\", \"x.js\"]\n";
const AS_ROOT: &str = "FROM debian:12\nWORKDIR /app\nCOPY . .\nUSER root\nCMD [\"/app/x\"]\n";
const AS_ROOT_WITH_STATE: &str =
    "FROM debian:12\nWORKDIR /app\nCOPY . .\nVOLUME /data\nUSER root\nCMD [\"/app/x\"]\n";
const WITH_FFMPEG: &str = "FROM golang:1.22\nWORKDIR /src\nRUN apt-get install -y ffmpeg=1\nCOPY . .\n\
     RUN go build -o /usr/local/bin/app ./cmd/app\nEXPOSE 80\nENTRYPOINT [\"/usr/local/bin/app\"]\n";
const MAKE: &str = "FROM debian:12\nRUN apt-get install -y gcc=1\nWORKDIR /src\nCOPY . .\nRUN make\n\
     EXPOSE 80\nCMD [\"/src/app\"]\n";
const MAKE_ON_OWN_IMAGE: &str = "FROM example.com/team/base:1\nRUN apt-get install -y gcc=1\nWORKDIR /src\n\
     COPY . .\nRUN make\nEXPOSE 80\nCMD [\"/src/app\"]\n";

/// Two stages on the same image: the second has no compiler.
fn two_make_stages(file: &str) -> String {
    let from = file.lines().next().unwrap();
    let stage = format!("{from}\nWORKDIR /src\nCOPY --from=build /src/app /src/app\nEXPOSE");
    file.replacen(from, &format!("{from} AS build"), 1).replace("EXPOSE", &stage)
}

const NODE: &str = "FROM node:20\nWORKDIR /app\nRUN useradd -r svc\nCOPY . .\n\
     RUN apt-get install -y g++ make && npm ci && npm run build\nUSER svc\nCMD [\"node\", \"dist/server.js\"]\n";

fn two_node_stages(file: &str) -> String {
    file.replace("node:20\n", "node:20 AS build\n").replace(
        "USER svc",
        "FROM node:20-slim\nWORKDIR /app\nCOPY --from=build /app/dist /app/dist\n\
         COPY --from=build /app/node_modules /app/node_modules\nRUN useradd -r svc\nUSER svc",
    )
}

#[test]
fn a_conversion_with_all_that_the_container_names_is_taken() {
    let rules = [MULTI_STAGE];
    let ran = Case::new(&rules, NODE).ask(|_, p| diff(p, &two_node_stages(&shown(p))));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
}

const WITH_APT_GO: &str = "FROM golang:1.22\nWORKDIR /src\nCOPY . .\n\
     RUN apt-get update && apt-get install -y jq && CGO_ENABLED=0 go build -o /usr/local/bin/app ./cmd/app\nEXPOSE 80\n\
     ENTRYPOINT [\"/usr/local/bin/app\"]\n";
const WITH_SHELL_FORM: &str = "FROM golang:1.22\nWORKDIR /src\nCOPY . .\n\
     RUN CGO_ENABLED=0 go build -o /usr/local/bin/app ./cmd/app\nEXPOSE 80\nCMD /usr/local/bin/app\n";

/// Put together here, so that nobody takes this file for a leak.
fn with_secret(text: &str) -> String {
    let secret = ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6", "LO0pINUx"].concat();
    text.replace("EXPOSE", &format!("EXPOSE 81\nENV TOKEN={secret}\nEXPOSE"))
}

fn asked(row: &Row) -> (String, Ran) {
    let is_token = row.check == "patch/secret-tokens";
    let text = if is_token { with_secret(row.text) } else { row.text.to_owned() };
    let rules = [row.rule];
    let mut case = Case::new(&rules, &text);
    case.settings.max_rounds = 1;
    if is_token {
        case.settings.secrets = SecretsPolicy::Tokenize;
    }
    if row.check == "lint" {
        case.errors = &[LINT];
    }
    let edit = row.edit;
    let ran = case.ask(move |_, prompt| diff(prompt, &edit(&shown(prompt))));
    (text, ran)
}

#[test]
fn each_answer_fails_its_check_alone() {
    let mut wrong = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let (text, ran) = asked(row);
        let name = if row.check == "lint" { LINT } else { row.check };
        let is_patch = row.check.starts_with("patch/");
        let reason = if is_patch { "patch-rejected" } else { "validation-failed" };
        let outcome = ran.outcomes()[0].clone();
        // No rule asks about an image with triggers, so one can only be added, which is a step as well.
        let expected: &[&str] =
            if name == "onbuild" { &["onbuild", "steps-kept"] } else { &[name] };
        // Rules report a shell or a user that is not there too.
        let mut failed = ran.failed();
        let of_rules = ["probity/shell-in-bare-image", "probity/unknown-user"];
        failed.retain(|check| !of_rules.contains(&check.as_str()));
        let begins = format!("{reason}: ");
        let is_told = outcome.starts_with(&begins) && outcome.contains(&format!("{name}: "));
        if failed != expected || ran.text != text || !is_told {
            wrong.push(format!("{number} {}: {:?} {outcome}", row.check, ran.refused));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_check_has_an_answer_that_fails_it_alone() {
    let mut known: Vec<&str> = ROWS.iter().map(|row| row.check).collect();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known, check_names());
}
