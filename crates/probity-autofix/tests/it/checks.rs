//! For each check that every proposal passes, an answer that fails that check.

use super::{
    agents::{Case, HEALTHCHECK, MULTI_STAGE, Ran, diff, shown},
    objectives::{GO, WEB, two_stages},
};

/// Asks once; the agent makes of the file what `edit` makes of it.
pub(crate) fn once(rule: &str, text: &str, edit: fn(&str) -> String) -> Ran {
    let rules = [rule];
    let mut case = Case::new(&rules, text);
    case.settings.max_rounds = 1;
    case.ask(move |_, prompt| diff(prompt, &edit(&shown(prompt))))
}

/// Refused by exactly this check.
#[track_caller]
pub(crate) fn refused(rule: &str, text: &str, check: &str, edit: fn(&str) -> String) {
    refused_by(rule, text, &[check], edit);
}

/// Refused by exactly these checks, in this order.
#[track_caller]
pub(crate) fn refused_by(rule: &str, text: &str, checks: &[&str], edit: fn(&str) -> String) {
    let ran = once(rule, text, edit);
    assert_eq!(ran.failed(), checks, "{:?}", ran.outcomes());
    assert_eq!(ran.text, text);
    let is_patch = checks.iter().all(|check| check.starts_with("patch"));
    let reason = if is_patch { "patch-rejected" } else { "validation-failed" };
    assert!(ran.outcomes()[0].starts_with(&format!("{reason}: ")), "{:?}", ran.outcomes());
}

#[test]
fn a_file_that_grows_beyond_measure_is_refused() {
    refused(MULTI_STAGE, GO, "patch/size", |file| two_stages(file) + &"# more\n".repeat(4_000));
}

#[test]
fn a_rewrite_is_refused_where_one_line_is_wanted() {
    let edit: fn(&str) -> String = |file| {
        let file = file.replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost:80/\nCMD [");
        file.lines().map(|line| format!("{line}\n# {line}\n")).collect()
    };
    refused(HEALTHCHECK, WEB, "patch/limit-churn", edit);
    let few: fn(&str) -> String = |file| {
        file.replace("CMD [", "# a\n# b\n# c\nHEALTHCHECK CMD curl -f http://localhost:80/\nCMD [")
    };
    assert_eq!(once(HEALTHCHECK, WEB, few).outcomes(), ["applied"], "a few lines are few");
}

#[test]
fn what_does_not_parse_is_refused() {
    refused_by(MULTI_STAGE, GO, &["parses", "steps-kept"], |file| two_stages(file) + "FRON x\n");
}

#[test]
fn another_frontend_and_silenced_findings_are_refused() {
    refused(MULTI_STAGE, GO, "directives", |file| {
        format!("# syntax=example/frontend\n{}", two_stages(file))
    });
    refused(MULTI_STAGE, GO, "directives", |file| {
        format!("{}# hadolint ignore=DL3008\n", two_stages(file))
    });
    refused(MULTI_STAGE, GO, "directives", |file| {
        format!("# tally global ignore=all\n{}", two_stages(file))
    });
}

#[test]
fn every_setting_of_the_final_stage_is_kept() {
    let original = GO.replace(
        "EXPOSE",
        "ENV MODE=fast\nLABEL a=b\nVOLUME /data\nSTOPSIGNAL SIGINT\n\
         SHELL [\"/bin/bash\", \"-c\"]\nHEALTHCHECK CMD [\"/usr/local/bin/app\", \"check\"]\n\
         CMD [\"serve\"]\nEXPOSE",
    );
    // In the good conversion all of them follow EXPOSE's part, which stays as it is.
    let good = |file: &str| {
        let (build, run) = file.split_once("ENV MODE").unwrap();
        let build = build.replacen("golang:1.22\n", "golang:1.22 AS build\n", 1);
        format!(
            "{build}FROM debian:12-slim\nWORKDIR /src\n\
             COPY --from=build /usr/local/bin/app /usr/local/bin/app\nENV MODE{run}"
        )
    };
    let rules = [MULTI_STAGE];
    let kept = Case::new(&rules, &original).ask(move |_, p| diff(p, &good(&shown(p))));
    assert_eq!(kept.outcomes(), ["applied"], "{:?}", kept.refused);
    for setting in [
        "ENV",
        "LABEL",
        "VOLUME",
        "STOPSIGNAL",
        "SHELL",
        "HEALTHCHECK",
        "CMD",
        "EXPOSE",
        "USER",
        "ENTRYPOINT",
        "WORKDIR",
    ] {
        let mut case = Case::new(&rules, &original);
        case.settings.max_rounds = 1;
        let ran = case.ask(move |_, prompt| {
            let file = good(&shown(prompt));
            let (build, last) = file.split_once("FROM debian").unwrap();
            // It stays where it does not count.
            let (moved, kept): (Vec<&str>, Vec<&str>) =
                last.lines().partition(|line| line.starts_with(setting));
            let (moved, kept) = (moved.join("\n"), kept.join("\n"));
            diff(prompt, &format!("{build}{moved}\nFROM debian{kept}\n"))
        });
        assert_eq!(ran.failed(), ["runtime-invariants"], "{setting}: {:?}", ran.outcomes());
        let message =
            format!("runtime-invariants: {setting} of the final stage must stay as it was");
        assert!(ran.outcomes()[0].contains(&message), "{:?}", ran.outcomes());
    }
}

#[test]
fn copies_come_from_stages_and_known_images_alone() {
    refused_by(MULTI_STAGE, GO, &["stage-references", "steps-kept"], |file| {
        two_stages(file).replace("EXPOSE", "COPY --from=busybox /bin/sh /bin/sh\nEXPOSE")
    });
    refused_by(MULTI_STAGE, GO, &["stage-references", "steps-kept"], |file| {
        two_stages(file).replace("EXPOSE", "RUN --mount=from=example/tools,target=/t /t/x\nEXPOSE")
    });
    let known = GO.replace("COPY . .\n", "COPY . .\nCOPY --from=busybox /bin/sh /bin/sh\n");
    let rules = [MULTI_STAGE];
    let ran = Case::new(&rules, &known).ask(|_, p| diff(p, &two_stages(&shown(p))));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
}

#[test]
fn a_new_stage_that_nobody_needs_is_refused_whatever_is_ignored() {
    refused(MULTI_STAGE, GO, "tally/no-unreachable-stages", |file| {
        two_stages(file).replace("FROM debian", "FROM busybox AS idle\n\nFROM debian")
    });
    let ignored = format!("# tally global ignore=tally/no-unreachable-stages\n{GO}");
    refused(MULTI_STAGE, &ignored, "tally/no-unreachable-stages", |file| {
        two_stages(file).replace("FROM debian", "FROM busybox AS idle\n\nFROM debian")
    });
}

#[test]
fn an_address_that_nobody_named_is_refused() {
    refused_by(MULTI_STAGE, GO, &["new-address", "steps-kept"], |file| {
        two_stages(file).replace("EXPOSE", "ADD https://example.org/x /x\nEXPOSE")
    });
}

#[test]
fn a_new_error_of_a_rule_is_refused_and_an_old_one_is_not() {
    let unpinned = "RUN apt-get update && apt-get install -y ca-certificates\nEXPOSE";
    let ask = |text: &str| {
        let rules = [MULTI_STAGE];
        let mut case = Case::new(&rules, text);
        (case.errors, case.settings.max_rounds) = (&["hadolint/DL3008"], 1);
        case.ask(move |_, prompt| {
            let file = shown(prompt)
                .replace("RUN apt-get update && apt-get install -y ca-certificates\n", "");
            diff(prompt, &two_stages(&file).replace("EXPOSE", unpinned))
        })
    };
    let ran = ask(GO);
    assert_eq!(ran.failed(), ["hadolint/DL3008"], "{:?}", ran.outcomes());
    let ran = ask(&GO.replace("EXPOSE", unpinned));
    assert_eq!(ran.outcomes(), ["applied"], "{:?}", ran.refused);
}

#[test]
fn what_a_safe_fix_mends_does_not_count_unless_fixes_are_restricted() {
    for (only, expected) in
        [(vec![], "applied"), (vec![MULTI_STAGE.to_owned()], "validation-failed")]
    {
        let rules = [MULTI_STAGE];
        let mut case = Case::new(&rules, GO);
        (case.errors, case.only) = (&["tally/no-trailing-spaces"], only);
        case.settings.max_rounds = 1;
        let ran = case.ask(|_, prompt| {
            diff(prompt, &two_stages(&shown(prompt)).replace("slim\n", "slim  \n"))
        });
        assert!(ran.outcomes()[0].starts_with(expected), "{:?}", ran.outcomes());
    }
}
