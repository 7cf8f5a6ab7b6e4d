//! `audit verify`: the kept exploits of a report, run again on the code of today, without a model.

use std::path::Path;

use probity_proof::{Refusal, Replay, Standing, Workshop, wording};

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
    for reported in report.findings.iter_mut().chain(&mut report.elsewhere) {
        let Some(exploit) = reported.finding.exploit.as_ref().filter(|it| it.is_kept()) else {
            continue;
        };
        let exploit = exploit.exploit(&reported.finding);
        let mut today = reported.finding.clone();
        if let (Some(scope), Some(file)) = (&scope, today.file.clone()) {
            // The line may have moved since.
            today.line = None;
            Evidence::new(scope, &[file]).check(&mut today);
        }
        let excuse = ignores.excuse(&reported.skill_id, &today);
        let Replay { standing, output } = workshop.replay(&exploit);
        (reported.status, reported.status_reason) = match (standing, excuse) {
            (Standing::Fixed, _) => (
                Status::Fixed,
                Some("the exploit no longer succeeds, and the control passes".to_owned()),
            ),
            (Standing::Open, Some(excuse)) => (Status::Accepted, Some(excuse.reason)),
            (Standing::Open, None) => (
                Status::Open,
                Some("the exploit still succeeds, and the control passes".to_owned()),
            ),
            (standing, _) => (Status::Unclear, Some(unclear(&standing, &output))),
        };
        on_done(reported);
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
