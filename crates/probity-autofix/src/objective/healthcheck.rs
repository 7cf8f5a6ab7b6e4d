//! A HEALTHCHECK where there is none, if one can be told from the file at all.

use probity_dockerfile::Setting;
use serde_json::{Map, Value, json};

use super::{ObjectiveKind, Retry};
use crate::checks::{
    View, base_image, base_needs, contract, healthcheck, patch::MUST_ADD_HEALTHCHECK, probe,
};

pub(crate) const HEALTHCHECK: ObjectiveKind = ObjectiveKind {
    name: "healthcheck",
    goal: "Add one HEALTHCHECK instruction with CMD to the final stage, if the file shows how the \
           service can be probed.",
    constraints: &[
        "Answer NO_CHANGE unless you are sure: most files do not show enough, and no check is \
         better than a wrong one.",
        "Install nothing for it, and use only a tool that is there: `probe_tools` are those that \
         the file shows.",
        "Over HTTP ask this container for `/` on a port that it exposes; guess no other path.",
        "An --interval from 5s to 1h, a --timeout from 1s to 10m, and 1 to 20 --retries are usual.",
        "Change nothing else.",
    ],
    hints,
    must: MUST_ADD_HEALTHCHECK,
    patch_checks: &[healthcheck::MUST_ADD_HEALTHCHECK_CMD],
    after_checks: &[
        healthcheck::ENDPOINT,
        healthcheck::TOOL,
        probe::COMMAND,
        probe::PACE,
        base_needs::NEEDS_SHELL,
    ],
    narrow_checks: &[contract::ONLY_HEALTHCHECK],
    explains: healthcheck::explained,
    forgets: &[contract::forget_healthcheck],
    settings: &[Setting::Healthcheck],
    addresses: &[],
    retry: Retry::USUAL,
};

fn hints(view: &View<'_>) -> Map<String, Value> {
    let members = [
        ("base_image", json!(base_image::base(view))),
        ("exposed_ports", json!(healthcheck::ports(view))),
        ("probe_tools", json!(healthcheck::probe_tools(view))),
        ("server_hints", json!(healthcheck::server_hints(view))),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
