//! Asking: what is under review, what the agent claims about it, and what an earlier review knew.

use std::time::Duration;

use probity_proof::Note;

use super::{
    AskOptions, Checkout, Events, Failed, admit::admitted, conversation::Conversation,
    follow::Today, ground::Ground, page::Page,
};
use crate::{
    claims::{
        CLAIMS_VERSION, ClaimSettings, ClaimedFinding, Claims, ClaimsDocument, DroppedFinding,
        Earlier, KnownIssue, Settled, id,
    },
    findings::AgentFinding,
    redact::Redactor,
    wording,
};

pub(super) fn settings(options: &AskOptions<'_>) -> ClaimSettings {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    ClaimSettings {
        config: options.config.clone(),
        bar: options.bar,
        max_fix_rounds: options.max_fix_rounds,
        suite_milliseconds: milliseconds(options.suite_timeout),
        proof_milliseconds: options.proof_timeout.map(milliseconds),
        prove_all_known: options.prove_all_known,
    }
}

/// What the agent claims, and the conversation in which it can be asked again. There is none if
/// nothing is under review.
pub(super) fn findings<'a>(
    checkout: &Checkout,
    options: &'a AskOptions<'a>,
    settings: ClaimSettings,
    ground: &Ground,
    page: &mut Page,
    redactor: &Redactor,
    events: &Events<'_>,
) -> Result<(Claims, Option<Conversation<'a>>), Failed> {
    let Ground { names, change, scope, .. } = ground;
    page.metadata.merge_base = change.as_ref().map(|change| change.merge_base.clone());
    let files = ground.files(&options.config);
    page.metadata.files_reviewed = files.len() as u64;
    if !names.iter().any(|path| options.config.should_review(path)) {
        return Err(Failed::nothing_to_review(&options.config));
    }
    let mut claims = blank(checkout, settings, ground, page);
    let since = options.previous.as_ref();
    let since = since.map_or("", |previous| previous.review.metadata.commit.as_str());
    let mut today = Today::new(&checkout.repo, since, names, scope);
    let earlier = |previous| Earlier::new(previous, &mut today, redactor);
    claims.earlier = options.previous.as_ref().map(earlier);
    let is_reviewed = |path: &str| ground.is_known_reviewed(&claims.settings, path);
    let known = claims.earlier.as_ref().map(|earlier| earlier.known(&mut today, &is_reviewed));
    let known = known.unwrap_or_default();
    let mut number = 0;
    let mut next_id = || {
        number += 1;
        id(number - 1)
    };
    if files.is_empty() {
        for (issue, was_fixed) in known {
            claims.known.push(KnownIssue { id: next_id(), issue, was_fixed });
        }
        // No money is spent on looking at nothing, and the reader is told.
        claims.notes.push("no file is under review, so the agent was not asked".to_owned());
        claims.milliseconds = page.milliseconds();
        return Ok((claims, None));
    }
    let mut conversation = Conversation::open(checkout, options, ground)?;
    let found = conversation.findings(scope, names, &files, change.as_ref(), events);
    // A review that failed has its cost too.
    page.cost = conversation.cost();
    let found = found?;
    let admitted = admitted(found, options, names, scope, change.as_ref());
    for mut finding in admitted.kept {
        conceal(&mut finding, redactor);
        let id = finding.test_code.is_some().then(&mut next_id);
        claims.findings.push(ClaimedFinding { id, finding });
    }
    for (mut finding, reason) in admitted.dropped {
        conceal(&mut finding, redactor);
        claims.dropped.push(DroppedFinding { finding, reason });
    }
    claims.notes.extend(admitted.notes.iter().map(|note| redactor.text(note)));
    for (issue, was_fixed) in known {
        claims.known.push(KnownIssue { id: next_id(), issue, was_fixed });
    }
    claims.milliseconds = page.milliseconds();
    Ok((claims, Some(conversation)))
}

fn blank(checkout: &Checkout, settings: ClaimSettings, ground: &Ground, page: &Page) -> Claims {
    let is_change = ground.change.is_some();
    let notes = page.git_notes.iter().map(|note| match note {
        // Of the files that are reviewed the tests see what is there now.
        Note::Dirty if is_change => wording::DIRTY_BESIDE_A_CHANGE,
        other => wording::note(*other),
    });
    let output = checkout.output.as_ref().and_then(|output| {
        let (output, root) = (output.canonicalize().ok()?, checkout.repo.canonicalize().ok()?);
        output.strip_prefix(root).ok()?.to_str().map(str::to_owned)
    });
    Claims {
        document: ClaimsDocument::Claims,
        schema_version: CLAIMS_VERSION.to_owned(),
        probity: env!("CARGO_PKG_VERSION").to_owned(),
        fix_rounds: 0,
        tree: ground.digest(checkout),
        output,
        metadata: page.metadata.clone(),
        settings,
        findings: Vec::new(),
        dropped: Vec::new(),
        known: Vec::new(),
        earlier: None,
        settled: Settled::default(),
        agent_isolation: page.isolation.agent.clone(),
        cost: None,
        notes: notes.map(str::to_owned).collect(),
        milliseconds: 0,
    }
}

/// Takes the keys of this run out of what is written down. Other secrets stay, since a test without
/// them may be another test.
fn conceal(finding: &mut AgentFinding, redactor: &Redactor) {
    for text in [&mut finding.title, &mut finding.description, &mut finding.file] {
        *text = redactor.without_keys(text);
    }
    for text in [
        &mut finding.test_code,
        &mut finding.test_file,
        &mut finding.test_name,
        &mut finding.fix_patch,
    ] {
        *text = text.as_ref().map(|text| redactor.without_keys(text));
    }
    for fix in &mut finding.other_fixes {
        *fix = redactor.without_keys(fix);
    }
}
