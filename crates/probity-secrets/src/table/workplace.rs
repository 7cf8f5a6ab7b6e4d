//! Documents, tables, tasks and other tools of the office.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Since 2024; forty-six characters.
    Rule::token("notion-token", "Notion integration token", &["ntn_"], "[A-Za-z0-9]{40,50}"),
    // Before that.
    Rule::token("notion-token", "Notion integration token", &["secret_"], "[A-Za-z0-9]{43}")
        .checked(check::mixed_base64),
    // An id and a secret.
    Rule::token(
        "airtable-token",
        "Airtable personal access token",
        &["pat"],
        r"[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    ),
    // An id and a secret.
    Rule::token("postman-key", "Postman API key", &["PMAK-"], "[0-9a-f]{24}-[0-9a-f]{34}"),
    // A version, the user, a secret.
    Rule::assigned(
        "asana-token",
        "Asana access token",
        &["asana"],
        "[0-9]/[0-9]{13,17}(?:/[0-9]{13,17})?:[0-9a-f]{32}",
    ),
    // Fifty-nine characters.
    Rule::token("typeform-token", "Typeform token", &["tfp_"], "[A-Za-z0-9_.=-]{59}"),
    // Short-lived tokens.
    Rule::token("dropbox-token", "Dropbox access token", &["sl."], "[A-Za-z0-9_=-]{130,160}")
        .checked(check::mixed_base64),
    // The region and an identifier.
    Rule::token(
        "hubspot-token",
        "HubSpot private app token",
        &["pat-na1-", "pat-eu1-", "pat-na2-", "pat-ap1-"],
        UUID,
    ),
    // The user and a secret.
    Rule::token("clickup-token", "ClickUp API token", &["pk_"], "[0-9]{6,9}_[A-Z0-9]{32}"),
    // Seventy characters.
    Rule::token("readme-key", "ReadMe API key", &["rdme_"], "[a-z0-9]{70}"),
    // Base64 that begins with `tok:`.
    Rule::token("intercom-token", "Intercom access token", &["dG9rO"], "[A-Za-z0-9+/=]{50,60}"),
    // Forty characters, so the name is needed.
    Rule::assigned("zendesk-token", "Zendesk API token", &["zendesk"], "[A-Za-z0-9]{40}"),
    // The account and the hook.
    Rule::after(
        "zapier-webhook",
        "Zapier webhook address",
        &["hooks.zapier.com/hooks/catch/"],
        "([0-9]{5,10}/[A-Za-z0-9]{6,10})",
    ),
    // Sixty-four characters.
    Rule::token("frameio-token", "Frame.io token", &["fio-u-"], "[A-Za-z0-9_-]{64}"),
];
