//! Shops and payments.

use crate::rule::{Rule, UUID};

pub(super) const RULES: &[Rule] = &[
    // Secret and restricted keys.
    Rule::token(
        "stripe-secret-key",
        "Stripe secret key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        "[A-Za-z0-9]{16,247}",
    ),
    // Base64 or base62; others who sign webhooks use the prefix too.
    Rule::token(
        "stripe-webhook-secret",
        "Stripe webhook signing secret",
        &["whsec_"],
        "[A-Za-z0-9+/=]{32,64}",
    ),
    // Sixty characters, or twenty-two behind the older prefix.
    Rule::token(
        "square-access-token",
        "Square access token",
        &["EAAA", "sq0atp-"],
        "(?:[A-Za-z0-9_-]{60}|[A-Za-z0-9_-]{22})",
    ),
    // Forty-three characters.
    Rule::token("square-oauth-secret", "Square OAuth secret", &["sq0csp-"], "[A-Za-z0-9_-]{43}"),
    // Merchant and secret.
    Rule::token(
        "braintree-access-token",
        "PayPal Braintree access token",
        &["access_token$production$", "access_token$sandbox$"],
        r"[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    // Eighty characters that begin with an E.
    Rule::assigned(
        "paypal-client-secret",
        "PayPal client secret",
        &["paypal"],
        "E[A-Za-z0-9_-]{79}",
    ),
    // The environment and an identifier.
    Rule::token(
        "plaid-access-token",
        "Plaid access token",
        &["access-sandbox-", "access-development-", "access-production-"],
        UUID,
    ),
    // Thirty hexadecimal digits, so the name is needed.
    Rule::assigned("plaid-secret", "Plaid secret", &["plaid"], "[0-9a-f]{30}"),
    // Thirty-two hexadecimal digits.
    Rule::token(
        "shopify-token",
        "Shopify token",
        &["shpat_", "shpss_", "shpca_", "shppa_", "shptka_", "shpua_"],
        "[0-9a-fA-F]{32}",
    ),
    // Twenty-four characters, so the name is needed.
    Rule::assigned("razorpay-secret", "Razorpay key secret", &["razorpay"], "[A-Za-z0-9]{24}"),
    // Thirty-two characters and a mark.
    Rule::token(
        "flutterwave-key",
        "Flutterwave secret key",
        &["FLWSECK-", "FLWSECK_TEST-"],
        "[0-9a-zA-Z]{32}-X",
    ),
    // Fifty-four characters.
    Rule::token("easypost-key", "EasyPost API key", &["EZAK", "EZTK"], "[A-Za-z0-9]{54}"),
    // Sixty-four characters, so the name is needed.
    Rule::assigned("coinbase-secret", "Coinbase secret", &["coinbase"], "[A-Za-z0-9_-]{64}"),
    // Forty-three characters.
    Rule::token(
        "duffel-token",
        "Duffel token",
        &["duffel_live_", "duffel_test_"],
        "[A-Za-z0-9_-]{43}",
    ),
];
