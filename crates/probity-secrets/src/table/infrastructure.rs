//! Secret stores, provisioning and networks.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Service, batch and recovery tokens since Vault 1.10.
    Rule::token(
        "vault-token",
        "HashiCorp Vault token",
        &["hvs.", "hvb.", "hvr."],
        "[A-Za-z0-9_-]{24,300}",
    ),
    // Before that a letter and twenty-four characters.
    Rule::assigned(
        "vault-token",
        "HashiCorp Vault token",
        &["vault_token", "x-vault-token"],
        r"[sbr]\.[A-Za-z0-9]{24}",
    ),
    // Fourteen characters of id, the mark, sixty-seven of secret.
    Rule::around(
        "terraform-cloud-token",
        "HCP Terraform token",
        &[".atlasv1."],
        14,
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}",
    ),
    // Forty hexadecimal digits.
    Rule::token("pulumi-token", "Pulumi access token", &["pul-"], "[0-9a-f]{40}"),
    // Personal, service, command line, account, SCIM and audit tokens.
    Rule::token(
        "doppler-token",
        "Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    // JSON in base64.
    Rule::token(
        "1password-service-token",
        "1Password service account token",
        &["ops_eyJ"],
        "[A-Za-z0-9+/_-]{200,}={0,3}",
    ),
    // Thirty-four characters in groups.
    Rule::token(
        "1password-secret-key",
        "1Password secret key",
        &["A3-"],
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    // Thirty-two bytes in Bech32 with its checksum.
    Rule::token(
        "age-secret-key",
        "age secret key",
        &["AGE-SECRET-KEY-1"],
        "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    ),
    // An id and a secret.
    Rule::token(
        "tailscale-key",
        "Tailscale key",
        &["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"],
        "[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,60}",
    ),
    // An identifier that the name makes a secret.
    Rule::assigned(
        "consul-token",
        "Consul or Nomad token",
        &["consul_http_token", "nomad_token", "x-consul-token"],
        UUID,
    )
    .checked(check::in_context),
    // An id and a secret.
    Rule::assigned(
        "ngrok-token",
        "ngrok token",
        &["ngrok"],
        "[A-Za-z0-9]{20,32}_[A-Za-z0-9]{18,24}",
    ),
    // Thirty-two characters.
    Rule::token("infracost-key", "Infracost API key", &["ico-"], "[A-Za-z0-9]{32}"),
    // Forty-two characters that begin with two zeros.
    Rule::assigned("okta-token", "Okta API token", &["okta"], "00[A-Za-z0-9_-]{40}"),
    // Sixty-four characters, so the name is needed.
    Rule::assigned("auth0-secret", "Auth0 client secret", &["auth0"], "[A-Za-z0-9_-]{64}"),
];
