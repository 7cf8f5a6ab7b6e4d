//! Several objectives of one file: one session, one prompt, every member accounted for.

use super::{
    agents::{BASE_IMAGE, COMMAND_FAMILY, Case, HEALTHCHECK, MULTI_STAGE, diff, shown},
    objectives::{GO, two_stages},
};

const ALL: &[&str] = &[MULTI_STAGE, HEALTHCHECK];

fn with_check(file: &str) -> String {
    file.replace("USER", "HEALTHCHECK CMD [\"/usr/local/bin/app\", \"check\"]\nUSER")
}

#[test]
fn one_prompt_holds_all_objectives_by_priority() {
    let ran =
        Case::new(ALL, GO).ask(|_, prompt| diff(prompt, &with_check(&two_stages(&shown(prompt)))));
    assert_eq!(ran.outcomes(), ["applied", "applied"], "{:?}", ran.refused);
    assert_eq!(ran.text, with_check(&two_stages(GO)));
    let prompt = &ran.prompts[0];
    let place = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("{text} in {prompt}"));
    assert!(
        place("Objective 1 (tally/prefer-multi-stage-build)")
            < place("Objective 2 (hadolint/DL3057)")
    );
    assert_eq!(ran.prompts.len(), 1);
}

#[test]
fn an_objective_that_was_not_tried_is_no_change_and_the_other_stands() {
    let ran = Case::new(ALL, GO).ask(|_, prompt| diff(prompt, &two_stages(&shown(prompt))));
    // Members come in the order of the findings, which is that of the text.
    assert_eq!(ran.outcomes(), ["no-change", "applied"], "{:?}", ran.refused);
    let ran = Case::new(ALL, GO).ask(|_, prompt| diff(prompt, &with_check(&shown(prompt))));
    assert_eq!(ran.outcomes(), ["applied", "no-change"], "{:?}", ran.refused);
}

#[test]
fn a_patch_that_tries_nothing_is_told_of_every_objective() {
    let ran = Case::new(ALL, GO).ask(|_, prompt| diff(prompt, &format!("# x\n{}", shown(prompt))));
    assert_eq!(ran.refused[0], ["patch/must-add-from", "patch/must-add-healthcheck"]);
    let outcomes = ran.outcomes();
    assert!(outcomes[1].starts_with("patch-rejected: "), "{outcomes:?}");
    assert_eq!(outcomes[0], "batched: it went with tally/prefer-multi-stage-build: patch-rejected");
}

#[test]
fn what_one_member_allows_is_allowed_and_nothing_more() {
    // The healthcheck may change beside the conversion; the port may not.
    let mut case = Case::new(ALL, GO);
    case.settings.max_rounds = 1;
    let ran = case.ask(|_, prompt| {
        diff(prompt, &with_check(&two_stages(&shown(prompt))).replace("EXPOSE 8080", "EXPOSE 80"))
    });
    assert_eq!(ran.refused, [["runtime-invariants"]]);
}

#[test]
fn several_findings_of_one_kind_are_one_objective() {
    let text = "FROM python:3.12\nRUN curl https://example.com/a\nRUN wget https://example.com/b\n\
                RUN wget https://example.com/c\nCMD [\"x\"]\n";
    let rules = [COMMAND_FAMILY, BASE_IMAGE];
    let ran = Case::new(&rules, text).ask(|_, p| diff(p, &shown(p).replace("wget", "curl -fsSLO")));
    assert_eq!(ran.outcomes(), ["no-change", "applied", "applied"], "{:?}", ran.refused);
    assert_eq!(ran.prompts[0].matches("second_tool").count(), 2);
}
