//! The third step: of two findings in a contract one quotes what is there.

use std::collections::BTreeSet;

use super::{is_swapped, stage::Stage};

const CONTRACT: &str = include_str!("fixtures/escrow.ak");
const AGENT: &str = include_str!("fixtures/escrow-agent.ndjson");
const INVENTED: &str = "if self.signer == administrator { True }";

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Audit a contract, and detect an invented finding")?;
    stage.write("escrow/validators/escrow.ak", CONTRACT)?;
    let agent = if is_swapped("invented") {
        AGENT.replace(INVENTED, "expect [payment, ..] = self.outputs")
    } else {
        AGENT.to_owned()
    };
    stage.write("escrow.ndjson", &agent)?;
    let line = "(cd escrow && probity audit --fail-on critical --provider replay \\\n\
                --agent ../escrow.ndjson)";
    let ran = stage.command(line)?;
    let state = stage.json("escrow/.tx3/audit/state.json");
    let mut findings = BTreeSet::new();
    for skill in state["iterations"].as_array().into_iter().flatten() {
        for finding in skill["findings"].as_array().into_iter().flatten() {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            let quote = finding["evidence"][0].as_str().unwrap_or_default().to_owned();
            findings.insert((finding["verified"] == true, text("severity"), text("title"), quote));
        }
    }
    for (is_verified, severity, title, quote) in findings.iter().rev() {
        let verdict = if *is_verified { "verified" } else { "UNVERIFIED" };
        let place = CONTRACT.lines().position(|line| line.contains(quote.as_str()));
        let place = match place {
            Some(index) => format!("is in line {} of escrow.ak", index + 1),
            None => "does not occur in escrow.ak".to_owned(),
        };
        stage.show(&format!("{verdict}: {title} ({severity}); its quote {place}: `{quote}`"))?;
    }
    let notes = state["provider"]["notes"].as_str().unwrap_or_default();
    stage.show(notes)?;
    let verdicts: Vec<(bool, &str)> = findings
        .iter()
        .map(|(is_verified, severity, ..)| (*is_verified, severity.as_str()))
        .collect();
    stage.proof(
        verdicts == [(false, "critical"), (true, "high")] && ran.code == Some(0),
        &format!(
            "a verified critical finding fails this command; the invented one does not: {}",
            ran.exit()
        ),
        &format!("an invented quote was verified, or a true one was not ({})", ran.exit()),
    )
}
