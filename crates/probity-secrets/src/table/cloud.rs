//! Amazon, Google, Microsoft and other clouds.

use crate::{
    check, cloud_key, pem,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Sixteen characters of base32.
    Rule::token(
        "aws-access-key-id",
        "AWS access key id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        "[A-Z0-9]{16}",
    )
    .checked(check::amazon_key_id),
    // Forty characters of base64, so the name is needed.
    Rule::assigned(
        "aws-secret-access-key",
        "AWS secret access key",
        &["secret_access_key", "secretaccesskey", "aws_secret", "secret_key", "secretkey"],
        "[A-Za-z0-9/+]{40}",
    )
    .checked(check::mixed_base64),
    // The same, a short way behind its id.
    Rule::parsed(
        "aws-secret-access-key",
        "AWS secret access key",
        &["AKIA", "ASIA"],
        cloud_key::amazon_secret_behind_id,
    )
    .checked(check::mixed_base64),
    // Base64 of some length.
    Rule::assigned(
        "aws-session-token",
        "AWS session token",
        &["session_token", "sessiontoken", "security_token", "security-token"],
        "[A-Za-z0-9/+]{100,}={0,2}",
    )
    .checked(check::mixed_base64),
    // Base64 of user and secret.
    Rule::token(
        "aws-bedrock-key",
        "Amazon Bedrock API key",
        &["ABSK"],
        "[A-Za-z0-9+/]{109,269}={0,2}",
    ),
    // Thirty-five characters.
    Rule::token("google-api-key", "Google API key", &["AIza"], "[A-Za-z0-9_-]{35}"),
    // Twenty-eight characters.
    Rule::token(
        "google-oauth-secret",
        "Google OAuth client secret",
        &["GOCSPX-"],
        "[A-Za-z0-9_-]{28}",
    ),
    // Length not fixed by Google.
    Rule::token(
        "google-oauth-token",
        "Google OAuth access token",
        &["ya29."],
        "[A-Za-z0-9_-]{20,}",
    ),
    // Length not fixed by Google.
    Rule::token(
        "google-refresh-token",
        "Google OAuth refresh token",
        &["1//0"],
        "[A-Za-z0-9_-]{40,}",
    ),
    // The key in the JSON that Google hands out, with escaped line breaks.
    Rule::parsed(
        "gcp-service-account-key",
        "Google service account key",
        &["\"private_key\""],
        pem::in_json,
    )
    .checked(check::found_by_parser),
    // Sixty-four bytes in base64, in a connection string.
    Rule::after(
        "azure-storage-key",
        "Azure storage or Cosmos DB account key",
        &["accountkey="],
        "([A-Za-z0-9+/]{86}==)",
    ),
    // Base64 with Microsoft's mark of the service near its end.
    Rule::around(
        "azure-identifiable-key",
        "Azure service key",
        &["+ASt", "ACDb", "AzFu", "AzSe", "+ACR", "APIM", "AIoT", "+ABa", "AEhS", "+ASb"],
        76,
        r"[\w+/-]{33,76}(?:\+A(?:St|CR|Ba|Sb)|ACDb|Az(?:Fu|Se)|APIM|AIoT|AEhS)[\w+/-]{5,8}={0,2}",
    )
    .checked(check::mixed_base64),
    // Thirty-two bytes in base64: Service Bus, Event Hubs, IoT Hub.
    Rule::after(
        "azure-shared-access-key",
        "Azure shared access key",
        &["sharedaccesskey="],
        "([A-Za-z0-9+/]{43}=)",
    ),
    // The signature of an address that carries a version and an expiry.
    Rule::parsed(
        "azure-sas-signature",
        "Azure shared access signature",
        &["sig="],
        cloud_key::azure_signature,
    ),
    // Forty characters with the mark at the fifth.
    Rule::around(
        "azure-client-secret",
        "Microsoft Entra client secret",
        &["Q~"],
        4,
        "[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    // Sixteen to thirty characters in all.
    Rule::token(
        "alibaba-access-key-id",
        "Alibaba Cloud access key id",
        &["LTAI"],
        "[A-Za-z0-9]{12,26}",
    ),
    // Thirty characters, so the name is needed.
    Rule::assigned(
        "alibaba-secret-key",
        "Alibaba Cloud access key secret",
        &["alibaba", "aliyun"],
        "[A-Za-z0-9]{30}",
    ),
    // Thirty-two characters.
    Rule::token("tencent-secret-id", "Tencent Cloud secret id", &["AKID"], "[A-Za-z0-9]{32}"),
    // Forty-four characters, so the name is needed.
    Rule::assigned("ibm-cloud-key", "IBM Cloud API key", &["ibm", "bluemix"], "[A-Za-z0-9_-]{44}"),
    // Thirty-five characters and more.
    Rule::token("yandex-api-key", "Yandex Cloud API key", &["AQVN"], "[A-Za-z0-9_-]{35,38}"),
    // An identifier that the name makes a secret.
    Rule::assigned(
        "scaleway-secret-key",
        "Scaleway secret key",
        &["scw_secret_key", "scaleway"],
        UUID,
    )
    .checked(check::in_context),
    // Sixty-four hexadecimal digits, so the name is needed.
    Rule::assigned("linode-token", "Linode API token", &["linode"], "[0-9a-f]{64}"),
    // Sixty-four characters, so the name is needed.
    Rule::assigned(
        "hetzner-token",
        "Hetzner Cloud API token",
        &["hcloud", "hetzner"],
        "[A-Za-z0-9]{64}",
    ),
];
