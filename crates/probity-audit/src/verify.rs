//! `audit verify`: the kept exploits of a report, run again on the code of today, without a model.

use std::path::Path;

use probity_proof::{Exploit, Refusal, Replay, Standing, Workshop, wording};

use crate::{Report, Reported, Status, evidence::Evidence, ignores::Ignores, sources::whole};

/// Runs every kept exploit again and sets the status of its finding. `on_done` hears of each.
pub fn verify(
    report: &mut Report,
    root: &Path,
    workshop: &Workshop,
    on_done: &mut dyn FnMut(&Reported),
) {
    let scope = whole(root).ok();
    let mut ignores = Ignores::new(whole(root).ok());
    let all = report.findings.iter_mut().chain(&mut report.elsewhere).chain(&mut report.previous);
    for reported in all {
        let Some(exploit) = reported.finding.exploit.as_ref().filter(|exploit| exploit.is_kept())
        else {
            continue;
        };
        let exploit = exploit.exploit(&reported.finding);
        let mut today = reported.finding.clone();
        if let (Some(scope), Some(file)) = (&scope, today.file.clone()) {
            // Once its code is gone it has no line, and no comment is about it.
            Evidence::new(scope, &[file]).find(&mut today);
        }
        let excuse = ignores.excuse(&reported.skill_id, &today);
        let (status, reason) = replayed(workshop, &exploit);
        (reported.status, reported.status_reason) = match (status, excuse) {
            (Status::Open, Some(excuse)) => (Status::Accepted, Some(excuse.reason)),
            _ => (status, Some(reason)),
        };
        on_done(reported);
    }
}

/// What a kept exploit shows on the code of today, and why.
pub(crate) fn replayed(workshop: &Workshop, exploit: &Exploit) -> (Status, String) {
    let Replay { standing, output } = workshop.replay(exploit);
    match standing {
        Standing::Fixed => {
            (Status::Fixed, "the exploit no longer succeeds, and the control passes".to_owned())
        }
        Standing::Open => {
            (Status::Open, "the exploit still succeeds, and the control passes".to_owned())
        }
        standing => (Status::Unclear, unclear(&standing, &output)),
    }
}

fn unclear(standing: &Standing, output: &str) -> String {
    match standing {
        Standing::Refused(Refusal::FlaggedFileMissing(file)) => {
            format!("{file} does not exist any more")
        }
        Standing::Refused(refusal) => wording::refusal(refusal),
        Standing::Unclear { exploit, control } => {
            let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
            let said = last.map(|line| format!(": {}", probity_text::one_line(line, 300)));
            format!(
                "the tests of the report do not fit today's code (exploit {exploit}, control \
                 {control}){}",
                said.unwrap_or_default()
            )
        }
        Standing::Open | Standing::Fixed => String::new(),
    }
}
