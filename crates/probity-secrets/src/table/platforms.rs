//! Places that run applications and databases.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Personal, OAuth and refresh tokens.
    Rule::token(
        "digitalocean-token",
        "DigitalOcean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        "[0-9a-f]{64}",
    ),
    // Since 2025 with a prefix and base64.
    Rule::token("heroku-api-key", "Heroku API key", &["HRKU-"], "AA[A-Za-z0-9_-]{58}"),
    // For a while with a prefix and an identifier.
    Rule::token("heroku-api-key", "Heroku API key", &["HRKU-"], UUID),
    // Before that an identifier.
    Rule::assigned("heroku-api-key", "Heroku API key", &["heroku"], UUID)
        .checked(check::in_context),
    // Forty characters and a checksum whose making is not published.
    Rule::token(
        "cloudflare-token",
        "Cloudflare API token",
        &["cfut_", "cfat_", "cfk_"],
        "[A-Za-z0-9]{40}[0-9a-f]{8}",
    ),
    // Older tokens have no prefix.
    Rule::assigned(
        "cloudflare-token",
        "Cloudflare API token",
        &["cloudflare", "cf_api"],
        "[A-Za-z0-9_-]{40}",
    ),
    // Thirty-seven hexadecimal digits.
    Rule::assigned(
        "cloudflare-global-key",
        "Cloudflare global API key",
        &["cloudflare", "cf_api"],
        "[0-9a-f]{37}",
    ),
    // Two hexadecimal numbers.
    Rule::token(
        "cloudflare-origin-ca-key",
        "Cloudflare origin CA key",
        &["v1.0-"],
        "[0-9a-f]{24}-[0-9a-f]{146}",
    ),
    // Thirty-two characters, so the name is needed.
    Rule::assigned("fastly-token", "Fastly API token", &["fastly"], "[A-Za-z0-9_-]{32}"),
    // Thirty-six characters.
    Rule::token(
        "netlify-token",
        "Netlify access token",
        &["nfp_", "nfc_", "nfo_", "nfu_"],
        "[A-Za-z0-9]{36}",
    ),
    // Personal, integration, application, refresh and gateway tokens.
    Rule::token(
        "vercel-token",
        "Vercel token",
        &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        "[A-Za-z0-9]{24,64}",
    ),
    // Older tokens have no prefix.
    Rule::assigned("vercel-token", "Vercel token", &["vercel", "now_token"], "[A-Za-z0-9]{24}"),
    // Forty hexadecimal digits.
    Rule::token("supabase-token", "Supabase access token", &["sbp_"], "(?:oauth_)?[0-9a-f]{40}"),
    // Twenty-two characters and a checksum whose making is not published.
    Rule::token(
        "supabase-secret-key",
        "Supabase secret key",
        &["sb_secret_"],
        "[A-Za-z0-9_-]{22}_[A-Za-z0-9_-]{8}",
    ),
    // Thirty-two characters and more.
    Rule::token(
        "planetscale-token",
        "PlanetScale token or password",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        "[A-Za-z0-9=_.-]{32,64}",
    ),
    // Sixty-four characters.
    Rule::token("neon-api-key", "Neon API key", &["napi_"], "[a-z0-9]{64}"),
    // Macaroons, and the older tokens of organizations.
    Rule::token(
        "fly-token",
        "Fly.io token",
        &["fo1_", "fm1r_", "fm1a_", "fm2_"],
        "[A-Za-z0-9+/=_-]{40,}",
    ),
    // Twenty-eight characters and more.
    Rule::token("render-api-key", "Render API key", &["rnd_"], "[A-Za-z0-9]{28,40}"),
    // An identifier that the name makes a secret.
    Rule::assigned("railway-token", "Railway token", &["railway"], UUID).checked(check::in_context),
    // Thirty-two hexadecimal digits.
    Rule::token("databricks-token", "Databricks token", &["dapi"], "[0-9a-f]{32}(?:-[0-9])?"),
    // An identifier that the name makes a secret.
    Rule::assigned(
        "mongodb-atlas-key",
        "MongoDB Atlas private key",
        &["atlas_private", "mongodb_atlas"],
        UUID,
    )
    .checked(check::in_context),
    // Thirty-two hexadecimal digits, so the name is needed.
    Rule::assigned("algolia-key", "Algolia API key", &["algolia"], "[0-9a-f]{32}"),
    // A payload and a signature.
    Rule::token(
        "mapbox-secret-token",
        "Mapbox secret token",
        &["sk.eyJ"],
        r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,24}",
    ),
    // Forty-three characters.
    Rule::token(
        "contentful-token",
        "Contentful management token",
        &["CFPAT-"],
        "[A-Za-z0-9_-]{43}",
    ),
    // Sixty-four characters in all.
    Rule::token("confluent-key", "Confluent Cloud secret", &["cflt"], "[A-Za-z0-9+/]{60}"),
    // Forty hexadecimal digits.
    Rule::token(
        "shippo-token",
        "Shippo API token",
        &["shippo_live_", "shippo_test_"],
        "[0-9a-f]{40}",
    ),
];
