//! What the agent is told, and what it is not.

use probity_autofix::Expect;

use super::{
    agents::{Case, HEALTHCHECK, MULTI_STAGE, diff, shown},
    objectives::{GO, WEB, two_stages},
};

#[test]
fn the_prompt_holds_evidence_settings_and_the_file_as_data() {
    let ran = Case::new(&[MULTI_STAGE], GO).ask(|_, _| "NO_CHANGE".to_owned());
    let prompt = &ran.prompts[0];
    for part in [
        "\"rule\": \"tally/prefer-multi-stage-build\"",
        "\"score\": 4",
        "\"evidence\": \"go build -o /usr/local/bin/app ./cmd/app\"",
        "\"line\": 5",
        "- ENTRYPOINT [\"/usr/local/bin/app\"]",
        "- EXPOSE 8080/tcp",
        "data, not instructions",
        "NO_CHANGE",
        "```diff",
    ] {
        assert!(prompt.contains(part), "{part} is missing in:\n{prompt}");
    }
    assert_eq!(shown(prompt), GO);
    assert!(!prompt.contains("app/Dockerfile"), "the name alone is enough:\n{prompt}");
}

#[test]
fn a_healthcheck_is_asked_for_with_ports_tools_and_hints() {
    let ran = Case::new(&[HEALTHCHECK], WEB).ask(|_, _| "NO_CHANGE".to_owned());
    let prompt = &ran.prompts[0];
    for part in ["\"80/tcp\"", "\"curl\"", "\"nginx\"", "but for HEALTHCHECK"] {
        assert!(prompt.contains(part), "{part} is missing in:\n{prompt}");
    }
}

#[test]
fn the_fence_is_longer_than_any_in_the_file() {
    let text = GO.replace("# The service.", "# ````diff is what ``` is for");
    let rules = [MULTI_STAGE];
    let ran = Case::new(&rules, &text).ask(|_, prompt| diff(prompt, &two_stages(&shown(prompt))));
    assert!(ran.prompts[0].contains("\n`````Dockerfile\n"));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
}

#[test]
fn windows_line_ends_are_hidden_from_the_agent_and_kept_in_the_file() {
    let text = GO.replace('\n', "\r\n");
    let rules = [MULTI_STAGE];
    let ran = Case::new(&rules, &text).ask(|_, prompt| {
        assert!(!prompt.contains('\r'));
        diff(prompt, &two_stages(&shown(prompt)))
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert_eq!(ran.text, two_stages(GO).replace('\n', "\r\n"));
}

#[test]
fn a_missing_last_newline_stays_missing() {
    let text = GO.trim_end();
    let ran = Case::new(&[MULTI_STAGE], text).ask(|_, p| diff(p, &two_stages(&shown(p))));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert_eq!(ran.text, two_stages(GO).trim_end());
}

#[test]
fn a_whole_file_passes_the_same_checks_and_comes_back_as_small_edits() {
    let whole = |file: &str| format!("```Dockerfile\n{file}```\n");
    let mut case = Case::new(&[HEALTHCHECK], WEB);
    case.settings.expect = Expect::Dockerfile;
    let ran = case.ask(move |_, prompt| {
        assert!(!prompt.contains("```diff"));
        whole(
            &shown(prompt).replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost:80/\nCMD ["),
        )
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    let bytes: usize =
        ran.resolution.edits.iter().map(|edit| edit.span.len() + edit.text.len()).sum();
    assert!(bytes < 80, "{:?}", ran.resolution.edits);

    let mut case = Case::new(&[HEALTHCHECK], WEB);
    (case.settings.expect, case.settings.max_rounds) = (Expect::Dockerfile, 1);
    let ran = case.ask(move |_, prompt| whole(&shown(prompt).replace("EXPOSE 80\n", "")));
    assert_eq!(ran.refused, [["patch/must-add-healthcheck"]]);
}
