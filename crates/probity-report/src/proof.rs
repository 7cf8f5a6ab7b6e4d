//! What an experiment with two images came to, as reports show it.

use probity_check::{DifferenceReport, ProofReport};
use probity_image::{Difference, Verdict};
use serde_json::{Value, json};

use super::stages::stages_json;

pub fn proof_of(verdict: &Verdict) -> ProofReport {
    let shown = |difference: &Difference| DifferenceReport {
        check: difference.check(),
        message: difference.to_string(),
        is_harmful: difference.is_harmful(),
    };
    ProofReport {
        level: verdict.level.name(),
        summary: verdict.to_string(),
        obstacle: verdict.obstacle.as_ref().map(ToString::to_string),
        sizes: verdict.evidence.sizes.map(|sizes| (sizes.before, sizes.after)),
        ports: verdict.evidence.ports.clone(),
        is_running: verdict.evidence.is_running,
        health: verdict.evidence.health.clone(),
        is_watched: verdict.evidence.is_watched,
        differences: verdict.differences.iter().map(shown).collect(),
        stages: None,
    }
}

pub fn proof_json(proof: &ProofReport) -> Value {
    let ports = proof.ports.iter().map(|(port, status)| json!({"port": port, "status": status}));
    let differences = proof.differences.iter().map(|difference| {
        json!({
            "check": difference.check,
            "message": difference.message,
            "harmful": difference.is_harmful,
        })
    });
    json!({
        "level": proof.level,
        "summary": proof.summary,
        "obstacle": proof.obstacle,
        "sizes": proof.sizes.map(|(before, after)| json!({"before": before, "after": after})),
        "ports": ports.collect::<Value>(),
        "running": proof.is_running,
        "health": proof.health,
        "openedFilesSeen": proof.is_watched,
        "differences": differences.collect::<Value>(),
        "stages": proof.stages.as_ref().map(stages_json),
    })
}
