//! For each check of an objective, an answer that fails that check.

use super::{
    agents::{BASE_IMAGE, COMMAND_FAMILY, Case, HEALTHCHECK, MULTI_STAGE, diff, shown},
    checks::{refused, refused_by},
    objectives::{GO, PYTHON, TWO_TOOLS, WEB},
};

#[test]
fn a_patch_that_does_not_try_is_refused() {
    refused(MULTI_STAGE, GO, "patch/must-add-from", |file| file.replace("# The", "# A"));
    refused(HEALTHCHECK, WEB, "patch/must-add-healthcheck", |file| format!("# web\n{file}"));
    refused(COMMAND_FAMILY, TWO_TOOLS, "patch/must-use-one-tool", |file| format!("# x\n{file}"));
    refused(BASE_IMAGE, PYTHON, "patch/must-change-base", |file| format!("# x\n{file}"));
}

#[test]
fn one_stage_is_not_enough_and_the_last_one_must_not_build() {
    refused(MULTI_STAGE, GO, "patch/must-add-from", |file| {
        file.replace("COPY . .\n", "COPY . .\nCOPY <<EOF /stages\nFROM x\nEOF\n")
    });
    refused_by(MULTI_STAGE, GO, &["final-stage-builds", "gains-nothing"], |file| {
        file.replace("FROM golang:1.22\n", "FROM golang:1.22 AS base\nFROM base\n")
    });
}

#[test]
fn a_healthcheck_has_a_command_and_asks_this_container_for_nothing_special() {
    refused(HEALTHCHECK, WEB, "patch/must-add-healthcheck-cmd", |file| {
        file.replace("CMD [", "HEALTHCHECK NONE\nCMD [")
    });
    for address in ["http://localhost/health", "127.0.0.1:80/ready"] {
        let rules = [HEALTHCHECK];
        let mut case = Case::new(&rules, WEB);
        case.settings.max_rounds = 1;
        let ran = case.ask(move |_, prompt| {
            let check = format!("HEALTHCHECK CMD curl -f {address}\nCMD [");
            diff(prompt, &shown(prompt).replace("CMD [", &check))
        });
        assert_eq!(ran.failed(), ["healthcheck-endpoint"], "{address}");
    }
    let known = WEB.replace("EXPOSE", "ADD https://example.com/ /page\nEXPOSE");
    refused_by(HEALTHCHECK, &known, &["healthcheck-endpoint", "healthcheck-command"], |file| {
        file.replace("CMD [", "HEALTHCHECK CMD curl -f https://example.com/\nCMD [")
    });
}

#[test]
fn a_healthcheck_uses_what_is_there_and_installs_nothing() {
    let slim = WEB.replace("nginx:1.27", "nginx:1.27-alpine-slim").replace("curl=8.5", "jq=1.7");
    refused(HEALTHCHECK, &slim, "healthcheck-tool", |file| {
        file.replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost/\nCMD [")
    });
    // Beside another objective a RUN may change; a package may still not come in.
    let both = "FROM debian:12\nRUN curl https://example.com/a && wget https://example.com/b\nCMD [\"x\"]\n";
    let rules = [HEALTHCHECK, COMMAND_FAMILY];
    let mut case = Case::new(&rules, both);
    case.settings.max_rounds = 1;
    let ran = case.ask(|_, prompt| {
        let file = shown(prompt).replace("wget", "apt-get install -y jq && curl");
        diff(prompt, &file.replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost/\nCMD ["))
    });
    assert_eq!(ran.failed(), ["only-tool-calls-change"], "{:?}", ran.outcomes());
}

#[test]
fn an_objective_with_one_place_to_change_changes_that_place_alone() {
    refused(HEALTHCHECK, WEB, "runtime-invariants-except-healthcheck", |file| {
        file.replace("CMD [", "RUN touch /x\nHEALTHCHECK CMD curl -f http://localhost/\nCMD [")
    });
    refused(BASE_IMAGE, PYTHON, "only-base-changes", |file| {
        file.replace("3.12\n", "3.12-slim\n").replace("COPY app.py .", "COPY . .")
    });
    refused(COMMAND_FAMILY, TWO_TOOLS, "only-runs-change", |file| {
        file.replace(
            "wget -q https://example.com/b -O /b",
            "curl -fsSL https://example.com/b -o /b",
        )
        .replace("RUN curl", "COPY x /x\nRUN curl")
    });
}

#[test]
fn the_second_tool_goes_and_no_address_with_it() {
    let three = TWO_TOOLS.replace("CMD", "RUN wget https://example.com/c\nCMD");
    let rules = [COMMAND_FAMILY];
    let mut case = Case::new(&rules, &three);
    case.settings.max_rounds = 1;
    let ran = case.ask(|_, prompt| {
        let file =
            shown(prompt).replace("wget https://example.com/c", "curl https://example.com/c");
        diff(prompt, &file)
    });
    assert_eq!(
        ran.failed(),
        ["second-tool-gone", "only-tool-calls-change"],
        "{:?}",
        ran.outcomes()
    );
    refused(COMMAND_FAMILY, TWO_TOOLS, "only-tool-calls-change", |file| {
        file.replace("wget -q https://example.com/b -O /b", "curl -fsSLO")
    });
}

#[test]
fn another_version_another_image_and_a_missing_shell_are_refused() {
    for image in [
        "python:3.11-slim",
        "debian:12-slim",
        "example.com/python:3.12-slim",
        "python:3.12-bookworm",
    ] {
        let rules = [BASE_IMAGE];
        let mut case = Case::new(&rules, PYTHON);
        case.settings.max_rounds = 1;
        let ran = case
            .ask(move |_, p| diff(p, &shown(p).replace("python:3.12\n", &format!("{image}\n"))));
        assert_eq!(ran.refused, [["base-family"]], "{image}: {:?}", ran.outcomes());
    }
    let with_run = PYTHON.replace("COPY", "RUN mkdir -p /data\nCOPY");
    refused(BASE_IMAGE, &with_run, "needs-shell", |file| {
        file.replace("python:3.12\n", "gcr.io/distroless/python3-debian12\n")
    });
    let rules = [BASE_IMAGE];
    let ran = Case::new(&rules, PYTHON).ask(|_, p| {
        diff(p, &shown(p).replace("python:3.12\n", "gcr.io/distroless/python3-debian12\n"))
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert_eq!(ran.resolution.session.notes, ["new image: gcr.io/distroless/python3-debian12"]);
}
