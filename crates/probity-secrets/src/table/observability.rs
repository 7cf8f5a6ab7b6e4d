//! Measuring, logging and error reports.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Thirty-two hexadecimal digits for an API key, forty for an application key.
    Rule::assigned(
        "datadog-key",
        "Datadog API or application key",
        &["datadog", "dd_api_key", "dd_app_key", "dd-api-key"],
        "(?:[0-9a-f]{40}|[0-9a-f]{32})",
    ),
    // User, insert, query and REST keys.
    Rule::token(
        "new-relic-key",
        "New Relic key",
        &["NRAK-", "NRII-", "NRIQ-", "NRRA-"],
        "[A-Za-z0-9_-]{27,48}",
    ),
    // Forty characters that end in the mark.
    Rule::around(
        "new-relic-license-key",
        "New Relic license key",
        &["NRAL"],
        36,
        "[0-9a-zA-Z]{36}NRAL",
    ),
    // Facts about the organization in base64, and a secret.
    Rule::token(
        "sentry-org-token",
        "Sentry organization token",
        &["sntrys_"],
        "eyJ[A-Za-z0-9+/=_-]{40,400}_[A-Za-z0-9+/]{43}",
    ),
    // Sixty-four hexadecimal digits.
    Rule::token("sentry-user-token", "Sentry user token", &["sntryu_"], "[0-9a-f]{64}"),
    // The same without its prefix, so the name is needed.
    Rule::assigned(
        "sentry-legacy-token",
        "Sentry authentication token",
        &["sentry_auth"],
        "[0-9a-f]{64}",
    ),
    // JSON in base64.
    Rule::token(
        "grafana-cloud-token",
        "Grafana Cloud token",
        &["glc_eyJ"],
        "[A-Za-z0-9+/]{40,400}={0,2}",
    ),
    // Thirty-two characters and a checksum.
    Rule::token(
        "grafana-service-token",
        "Grafana service account token",
        &["glsa_"],
        "[A-Za-z0-9]{32}_[0-9a-f]{8}",
    ),
    // JSON in base64 that begins with the key.
    Rule::token("grafana-api-key", "Grafana API key", &["eyJrIjoi"], "[A-Za-z0-9+/]{60,400}={0,2}"),
    // A public and a secret part.
    Rule::token(
        "dynatrace-token",
        "Dynatrace token",
        &["dt0c01.", "dt0s01.", "dt0s16."],
        r"[A-Z0-9]{24}\.[A-Z0-9]{64}",
    ),
    // Ingest and configuration keys.
    Rule::token(
        "honeycomb-key",
        "Honeycomb key",
        &["hcaik_", "hcbik_", "hcxik_"],
        "[a-z0-9_]{32,64}",
    ),
    // Forty-three characters.
    Rule::token("posthog-key", "PostHog personal API key", &["phx_"], "[A-Za-z0-9]{40,60}"),
    // Twenty characters.
    Rule::assigned(
        "pagerduty-key",
        "PagerDuty API key",
        &["pagerduty", "pager_duty"],
        "[uy][+][A-Za-z0-9_-]{18}",
    ),
    // Thirty-two hexadecimal digits, so the name is needed.
    Rule::assigned("rollbar-token", "Rollbar access token", &["rollbar"], "[0-9a-f]{32}"),
    // An identifier that the name makes a secret.
    Rule::assigned("splunk-hec-token", "Splunk HEC token", &["splunk"], UUID)
        .checked(check::in_context),
    // Sixty-four characters, so the name is needed.
    Rule::assigned(
        "sumologic-key",
        "Sumo Logic access key",
        &["sumologic", "sumo_access_key"],
        "[A-Za-z0-9]{64}",
    ),
    // Thirty-two letters, so the name is needed.
    Rule::assigned("logzio-token", "Logz.io token", &["logzio", "logz_io"], "[A-Za-z]{32}"),
    // Thirty-two characters.
    Rule::assigned(
        "honeybadger-key",
        "Honeybadger or Bugsnag key",
        &["honeybadger", "bugsnag"],
        "(?:hbp_[A-Za-z0-9]{32}|[0-9a-f]{32})",
    ),
];
