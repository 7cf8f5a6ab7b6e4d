//! Answers that are none, each with its own outcome.

use probity_agent::StopReason;
use probity_autofix::{Issue, Proof};

use super::{
    agents::{Case, MULTI_STAGE, diff, shown},
    objectives::{GO, two_stages},
};

#[test]
fn an_unreadable_answer_is_asked_for_once_more_in_each_round() {
    for (answer, name) in [
        ("", "answer_empty"),
        ("Here is what I would do: use two stages.", "answer_prose"),
        ("```diff\na\n```\n```diff\nb\n```\n", "answer_several_blocks"),
        ("```diff\n--- a/Dockerfile", "answer_unclosed_block"),
    ] {
        let ran = Case::new(&[MULTI_STAGE], GO).ask(move |_, _| answer.to_owned());
        let outcome = &ran.outcomes()[0];
        assert!(outcome.starts_with(&format!("malformed-output: {name}")), "{outcome}");
        assert_eq!((ran.prompts.len(), ran.resolution.session.rounds), (2, 1), "{name}");
        assert!(ran.prompts[1].len() < ran.prompts[0].len(), "the second prompt is short");
        assert!(!ran.prompts[1].contains("What the file shows"));
        assert_eq!(shown(&ran.prompts[1]), GO);
    }
    // Malformed, then refused, then malformed again, then good: one retry in each round.
    let ran = Case::new(&[MULTI_STAGE], GO).ask(|count, prompt| match count {
        1 | 3 => "Sorry?".to_owned(),
        2 => diff(prompt, &shown(prompt).replace("# The", "# A\n# The")),
        _ => diff(prompt, &two_stages(&shown(prompt))),
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert_eq!((ran.prompts.len(), ran.resolution.session.rounds), (4, 2));
}

#[test]
fn a_patch_that_cannot_be_read_or_applied_is_an_issue_of_the_next_round() {
    let hunk = "@@ -1,2 +1,2 @@\n # The service.\n-FROM golang:1.22\n+FROM golang:1.23\n";
    for (block, name) in [
        ("no patch at all\n".to_owned(), "patch_"),
        (format!("--- a/Makefile\n+++ b/Makefile\n{hunk}"), "patch_file_mismatch"),
        (
            format!("--- a/Dockerfile\n+++ b/Dockerfile\n{}", hunk.replace("The", "My")),
            "patch_apply_failed",
        ),
    ] {
        let ran = Case::new(&[MULTI_STAGE], GO).ask(move |count, prompt| match count {
            1 => format!("```diff\n{block}```\n"),
            _ => diff(prompt, &two_stages(&shown(prompt))),
        });
        assert!(ran.refused[0][0].starts_with(name), "{:?}", ran.refused);
        assert_eq!(ran.outcomes(), ["applied"], "{name}: what did not apply is no base");
        assert!(ran.prompts[1].contains(&format!("\"rule\": \"{name}")), "{}", ran.prompts[1]);
    }
}

#[test]
fn what_an_experiment_refuses_is_an_issue_of_the_next_round() {
    let lost = || Issue::new("image/paths", "/app/a.html is not in the new image", "Dockerfile");
    let case = |proofs: Vec<Proof>| {
        let mut case = Case::new(&[MULTI_STAGE], GO);
        case.proofs = proofs;
        case.ask(|count, prompt| match count {
            1 => diff(prompt, &two_stages(&shown(prompt))),
            _ => diff(prompt, &shown(prompt).replace("# The", "# This is the")),
        })
    };
    let ran = case(vec![Proof::Refused(vec![lost()])]);
    assert_eq!(ran.refused[0], ["image/paths"]);
    assert!(ran.prompts[1].contains("/app/a.html is not in the new image"), "{}", ran.prompts[1]);
    let ran = case(vec![Proof::Refused(vec![lost()]), Proof::Refused(vec![lost()])]);
    assert_eq!(ran.text, GO);
    // The agent cannot help where the experiment cannot be made.
    let ran = case(vec![Proof::Unproven("no engine".to_owned())]);
    assert_eq!(ran.outcomes(), ["unproven: no engine"]);
    assert_eq!((ran.prompts.len(), ran.text.as_str()), (1, GO));
}

#[test]
fn wrong_numbers_are_put_right_and_said() {
    let ran = Case::new(&[MULTI_STAGE], GO).ask(|_, prompt| {
        let answer = diff(prompt, &two_stages(&shown(prompt)));
        let header = answer.lines().find(|line| line.starts_with("@@")).unwrap();
        answer.replacen(header, "@@ -4,2 +4,9 @@", 1)
    });
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
    assert!(!ran.resolution.session.notes.is_empty());
    assert_eq!(ran.text, two_stages(GO));
}

#[test]
fn an_agent_that_stops_early_has_failed_whatever_it_said() {
    for (stop, says) in [
        (StopReason::Refusal, "the agent refused"),
        (StopReason::MaxTokens, "the answer is cut off: the agent reached its limit of tokens"),
        (StopReason::Cancelled, "the agent says that it was cancelled"),
        (
            StopReason::Other("max_turn_requests".to_owned()),
            "the agent stopped for an unknown reason",
        ),
    ] {
        let ran = Case::new(&[MULTI_STAGE], GO)
            .ask_as(|_, prompt| diff(prompt, &two_stages(&shown(prompt))), stop);
        assert_eq!(ran.outcomes(), [format!("agent-failed: {says}")]);
        assert_eq!(ran.text, GO);
    }
}

#[test]
fn a_prompt_over_the_limit_is_not_sent() {
    let mut case = Case::new(&[MULTI_STAGE], GO);
    case.settings.max_input_bytes = 1_000;
    let ran = case.ask(|_, _| panic!("nothing may be sent"));
    insta::assert_snapshot!(ran.outcomes()[0], @"prompt-too-large: the prompt has 2959 bytes, and 1000 are the most");
    assert_eq!(ran.resolution.session.prompts, 0);
}

#[test]
fn time_that_is_up_is_a_timeout() {
    let mut case = Case::new(&[MULTI_STAGE], GO);
    case.settings.timeout = std::time::Duration::from_millis(20);
    let ran = case.ask(|_, _| {
        std::thread::sleep(std::time::Duration::from_millis(40));
        "what?".to_owned()
    });
    assert_eq!(ran.outcomes(), ["agent-timeout: no accepted answer within 0.02 s"]);
}
