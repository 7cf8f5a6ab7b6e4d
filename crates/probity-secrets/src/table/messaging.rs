//! Chat, mail, telephone and social networks.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Ids of the workspace and the application, then the secret.
    Rule::token(
        "slack-token",
        "Slack token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-"],
        "(?:[0-9]+-){1,3}[A-Za-z0-9-]{20,80}",
    ),
    // Version, application, number, secret.
    Rule::token(
        "slack-app-token",
        "Slack app-level token",
        &["xapp-"],
        "[0-9]-[A-Z0-9]{9,13}-[0-9]{10,15}-[0-9a-f]{64}",
    ),
    // A version and base62.
    Rule::token(
        "slack-config-token",
        "Slack configuration token",
        &["xoxe.xoxp-", "xoxe.xoxb-", "xoxe-"],
        "[0-9]-[A-Za-z0-9]{100,250}",
    ),
    // Workspace, application, secret.
    Rule::after(
        "slack-webhook",
        "Slack webhook address",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/"],
        "([TA][A-Z0-9]{8,12}/[A-Z]?[A-Z0-9]{8,20}/[A-Za-z0-9]{18,30})",
    ),
    // An id and sixty-eight characters.
    Rule::after(
        "discord-webhook",
        "Discord webhook address",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        "[0-9]{17,20}/([A-Za-z0-9_-]{60,80})",
    ),
    // The bot's id in base64, a time, a signature.
    Rule::assigned(
        "discord-bot-token",
        "Discord bot token",
        &["discord"],
        r"[MNO][A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}",
    ),
    // The bot's id, a colon, thirty-five characters.
    Rule::around(
        "telegram-bot-token",
        "Telegram bot token",
        &[":AA"],
        12,
        "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    ),
    // Ids of group and tenant, then the secret.
    Rule::after(
        "teams-webhook",
        "Microsoft Teams webhook address",
        &["webhook.office.com/webhookb2/"],
        "[0-9a-f@-]{73,80}/IncomingWebhook/([0-9a-f]{32}/[0-9a-f-]{36})",
    ),
    // Thirty-two hexadecimal digits.
    Rule::token("twilio-api-key", "Twilio API key", &["SK"], "[0-9a-f]{32}"),
    // Thirty-two hexadecimal digits, so the name is needed.
    Rule::assigned("twilio-auth-token", "Twilio auth token", &["twilio"], "[0-9a-f]{32}"),
    // An id and a secret.
    Rule::token(
        "sendgrid-key",
        "SendGrid API key",
        &["SG."],
        r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    ),
    // Thirty-two hexadecimal digits.
    Rule::token("mailgun-key", "Mailgun API key", &["key-"], "[0-9a-f]{32}"),
    // Newer keys, so the name is needed.
    Rule::assigned(
        "mailgun-key",
        "Mailgun API key",
        &["mailgun"],
        "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}",
    ),
    // Thirty-two hexadecimal digits and the data centre.
    Rule::around("mailchimp-key", "Mailchimp API key", &["-us"], 32, "[0-9a-f]{32}-us[0-9]{1,2}"),
    // Twenty-two characters.
    Rule::token("mandrill-key", "Mandrill API key", &["md-"], "[A-Za-z0-9_-]{22}"),
    // Sixty-four hexadecimal digits and sixteen characters.
    Rule::token(
        "brevo-key",
        "Brevo API key",
        &["xkeysib-", "xsmtpsib-"],
        "[0-9a-f]{64}-[A-Za-z0-9]{16}",
    ),
    // An identifier that the name makes a secret.
    Rule::assigned("postmark-token", "Postmark server token", &["postmark"], UUID)
        .checked(check::in_context),
    // An id and a secret.
    Rule::token("resend-key", "Resend API key", &["re_"], "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    // Base62 of some length.
    Rule::token(
        "facebook-access-token",
        "Facebook access token",
        &["EAAM", "EAAC", "EAAG", "EAAB"],
        "[A-Za-z0-9]{80,400}",
    ),
    // The app's id, a bar, twenty-seven characters.
    Rule::assigned(
        "facebook-app-token",
        "Facebook app access token",
        &["facebook", "fb_app"],
        r"[0-9]{15,16}\|[A-Za-z0-9_-]{27}",
    ),
    // A run of zeros in base64, then the token.
    Rule::token(
        "twitter-bearer-token",
        "X (Twitter) bearer token",
        &["AAAAAAAAAAAAAAAAAAAAA"],
        "[A-Za-z0-9%]{60,120}",
    ),
    // Fifty characters for a key, forty-five for a token.
    Rule::assigned("twitter-secret", "X (Twitter) API secret", &["twitter"], "[A-Za-z0-9]{45,50}"),
    // Sixteen characters, so the name is needed.
    Rule::assigned("linkedin-secret", "LinkedIn client secret", &["linkedin"], "[A-Za-z0-9]{16}")
        .checked(check::mixed_base64),
];
