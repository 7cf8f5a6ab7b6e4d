//! Secrets that are known by what stands around them, and where exactly they begin and end.

use crate::{
    find,
    forge::{Dice, armour, base64, token},
};

/// Kind, text, the secret in it.
pub(crate) fn in_their_places(dice: &mut Dice) -> Vec<(&'static str, String, String)> {
    let mut cases = Vec::new();
    for (kind, place, recipe) in PLACES {
        let secret = token(recipe, dice);
        cases.push((*kind, place.replacen("{}", &secret, 1), secret));
    }
    for (kind, place, secret) in PASSWORDS {
        cases.push((*kind, place.replacen("{}", secret, 1), (*secret).to_owned()));
    }
    for (label, lines, line_break) in ARMOURS {
        let block = armour(label, *lines, line_break, dice);
        let body =
            block.split(line_break).skip(1).take(*lines).collect::<Vec<_>>().join(line_break);
        let kind = if *line_break == "\\n" { "gcp-service-account-key" } else { "private-key" };
        let text = match kind {
            "private-key" => format!("RUN cat <<EOF\n{block}\nEOF\n"),
            _ => format!("{{\"type\": \"service_account\", \"private_key\": \"{block}\\n\"}}"),
        };
        cases.push((kind, text, body));
    }
    let credentials = base64(format!("deploy:{}", token("@a14", dice)).as_bytes());
    for (kind, place) in [
        ("docker-config-auth", r#"{"auths": {"ghcr.io": {"auth": "{}"}}}"#),
        ("basic-authorization", r#"curl -H "Authorization: Basic {}" https://host/"#),
    ] {
        cases.push((kind, place.replacen("{}", &credentials, 1), credentials.clone()));
    }
    let wrapped = base64(armour("RSA PRIVATE KEY", 12, "\n", dice).as_bytes());
    cases.push(("base64-private-key", format!("client-key-data: {wrapped}\n"), wrapped));
    let header = base64(br#"{"alg":"HS256","typ":"JWT"}"#);
    let web_token =
        [header.trim_end_matches('='), &token("eyJ @u60", dice), &token("@u43", dice)].join(".");
    let text = format!("curl -H 'Authorization: Bearer {web_token}' https://host/");
    cases.push(("json-web-token", text, web_token));
    let lines = [token("@b64", dice), token("@b64", dice), token("@b40", dice)].join("\n");
    let putty =
        format!("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n{lines}\nPrivate-MAC: 00\n");
    cases.push(("putty-private-key", putty, lines.clone()));
    let ssh2 =
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----";
    cases.push(("ssh2-private-key", ssh2.replacen("{}", &lines, 1), lines));
    cases
}

/// Recipes whose result stands for `{}`.
const PLACES: &[(&str, &str, &str)] = &[
    ("aws-secret-access-key", "[default]\nregion = eu-west-1\nsecret_access_key={}\n", "@b40"),
    (
        "azure-storage-key",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};",
        "@b86 ==",
    ),
    (
        "azure-shared-access-key",
        "Endpoint=sb://b/;SharedAccessKeyName=n;SharedAccessKey={}",
        "@b43 =",
    ),
    ("azure-sas-signature", "https://h/c?sv=2022-11-02&se=2030-01-01&sp=r&sig={}", "@a43 %3D"),
    ("slack-webhook", "https://hooks.slack.com/services/{}", "T @U9 /B @U9 / @a24"),
    ("discord-webhook", "https://discord.com/api/webhooks/112233445566778899/{}", "@u68"),
    ("zapier-webhook", "https://hooks.zapier.com/hooks/catch/{}/", "@d7 / @l7"),
    (
        "teams-webhook",
        "https://x.webhook.office.com/webhookb2/7a7a7a7a-1111-2222-3333-444455556666@\
         7a7a7a7a-1111-2222-3333-444455556666/IncomingWebhook/{}",
        "@h32 / @uuid",
    ),
    ("authorization-header", "curl -H \"Authorization: Bearer {}\" https://host/", "@a40"),
    ("authorization-header", "Authorization: token {}", "@h40"),
    ("generic-secret", "ENV API_KEY={}", "@a32"),
    ("generic-secret", "ENV SESSION_SECRET {}", "@h64"),
    ("generic-secret", "# api key: {}", "@a32"),
    ("generic-secret", "# API Key = {} (rotate it)", "@a40"),
    ("generic-secret", "# the secret key: '{}'", "@h40"),
    ("generic-secret", "client_secret: \"{}\"", "@u40"),
    ("generic-secret", "const apiKey = '{}';", "@a24"),
    ("generic-secret", "RUN ./deploy --token {} --force", "@h40"),
    ("generic-secret", "RUN ./deploy --api-key={} --force", "@a20"),
    ("generic-secret", "{\"accessToken\":\"{}\"}", "@a48"),
    ("generic-secret", "<add key=\"ApiKey\" value=\"{}\" />", "@a32"),
    ("generic-secret", "SECRET_KEY_BASE={}", "@h128"),
    ("generic-secret", "app.jwt.secret={}", "@b44"),
    ("generic-secret", "credentials: {}", "@a40"),
    ("generic-password", "ENV DB_PASSWORD={}", "@a16"),
    ("generic-password", "machine host login me password {}", "@a20"),
    ("generic-password", "jdbc:postgresql://h/d?user=me&password={}&ssl=true", "@a18"),
];

/// Passwords that people choose.
const PASSWORDS: &[(&str, &str, &str)] = &[
    (
        "wallet-mnemonic",
        "mnemonic = \"{}\"\n",
        "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
    ),
    (
        "cardano-signing-key",
        "let key = \"{}\"\n",
        "addr_xsk1h3nlrlqwm7dyfv2k8x9szcgpwtu0a5rj4e6qlm3nyp8cv7ztk2sq9rw4xf",
    ),
    ("postgres-url-password", "ENV DATABASE_URL=postgres://shop:{}@db:5432/shop", "kT9vLq2x"),
    ("postgres-url-password", "postgresql://shop:{}@db/shop?sslmode=require", "p%40ssK3y"),
    ("mysql-url-password", "mysql://app:{}@10.0.0.5/app", "Gx7!tonne"),
    ("mongodb-url-password", "mongodb+srv://app:{}@cluster0.mongodb.net/x", "h3LLo-wOrld-88"),
    ("redis-url-password", "redis://:{}@cache:6379/0", "Qz81plmnB"),
    ("amqp-url-password", "amqp://worker:{}@mq:5672/v", "bunny7Hop2"),
    ("http-url-password", "RUN git clone https://ci:{}@git.host/x.git", "Wq8sT2pPz0"),
    ("http-url-password", "http://bob:{}@host/p", "a@b3Kq9"),
    ("url-password", "ftp://bob:{}@host/p", "Zx81kkQ2"),
    ("url-password", "postgresql+psycopg2://bob:{}@host/p", "Zx81kkQ2"),
    ("curl-password", "RUN curl -u deploy:{} https://host/file -o f", "R4venclaw77"),
    ("curl-password", "RUN curl -sSL --user 'deploy:{}' https://host/file", "R4venclaw77"),
    ("command-password", "RUN docker login -u bot -p {} registry.host", "Ld83kfPq1"),
    ("command-password", "RUN sshpass -p '{}' ssh me@host", "Ld83kfPq1"),
    ("command-password", "RUN mysql -uroot -p{} shop", "Ld83kfPq1"),
    ("command-password", "RUN echo 'root:{}' | chpasswd", "Tx82kd9s!"),
    ("command-password", "RUN echo root:{} | chpasswd && ls", "Tx82kd9s!"),
    ("command-password", "RUN echo {} | docker login -u bot --password-stdin host", "Ld83kfPq1"),
    ("command-password", "RUN echo -n '{}' | docker login --password-stdin", "Ld83kfPq1"),
    ("command-password", "RUN printf '%s' \"{}\" | podman login --password-stdin", "blue7whale"),
    ("command-password", "RUN docker login -u me --password-stdin <<< \"{}\"", "Ld83kfPq1"),
    ("command-password", "RUN htpasswd -bc /etc/nginx/.htpasswd admin {}", "Ld83kfPq1"),
    ("command-password", "RUN htpasswd -nbB admin '{}' > /etc/users", "Ld83kfPq1"),
    ("command-password", "RUN htpasswd -c -b users admin {} && ls", "sunflower9"),
    ("command-password", "CMD redis-server --requirepass {}", "Ld83kfPq1"),
    ("command-password", "CMD [\"redis-server\", \"--requirepass\", \"{}\"]", "Ld83kfPq1"),
    ("command-password", "CMD redis-server --masterauth={} --port 1", "Ld83kfPq1"),
    ("generic-password", "DB_PASSWORD={}", "hunter2"),
    ("generic-password", "ENV DB_PASSWORD={} A=b", "hunter2"),
    ("generic-password", "ENV DB_PASSWORD {}", "tiger77"),
    ("generic-password", "ARG MYSQL_PASS=\"{}\"", "blue-whale-7"),
    ("generic-password", "password: \"{}\"", "Tr0ub4dor&3"),
    ("generic-password", "password: {}", "Tr0ub4dor&3"),
    ("generic-password", "RUN adduser --password {} bob", "kd93Jf!ss0"),
    ("generic-password", "spring.datasource.password={}", "Xk2!mmPq9a"),
    ("generic-password", "Server=db;User Id=sa;Password={};", "Yukon900!Bear"),
    ("generic-password", "\"dbPass\": \"{}\"", "9lives-Of-Kats"),
    ("generic-password", "ENV DB_PASSWORD=\"{}\"", "kd93\\\"Jf!ss0"),
    ("generic-password", "ENV DB_PASSWORD=\"{}\" OTHER=1", "my Tr0ub4dor&3 horse"),
    ("generic-secret", "ENV NPM_TOKEN={}", "5f1d7a3e-90c2-4b6d-a8f4-2c7e61b05d93"),
    ("generic-secret", "client: {apiKey: \"{}\"}", "5f1d7a3e-90c2-4b6d-a8f4-2c7e61b05d93"),
];

/// Label, lines, what stands between lines.
const ARMOURS: &[(&str, usize, &str)] = &[
    ("RSA PRIVATE KEY", 13, "\n"),
    ("PRIVATE KEY", 3, "\n"),
    ("EC PRIVATE KEY", 2, "\r\n"),
    ("ENCRYPTED PRIVATE KEY", 20, "\n"),
    ("OPENSSH PRIVATE KEY", 6, "\n"),
    ("PGP PRIVATE KEY BLOCK", 30, "\n"),
    ("PRIVATE KEY", 26, "\\n"),
];

#[test]
fn the_secret_of_a_key_pair_is_found_beside_its_id() {
    let mut dice = Dice::new(3);
    let (id, secret) = (token("AKIA @B16", &mut dice), token("@b40", &mut dice));
    let text = format!("aws configure set {id} && echo {secret}\n");
    let found = find(&text);
    let values: Vec<_> = found.iter().map(|found| &text[found.range.clone()]).collect();
    assert_eq!(values, [id.as_str(), secret.as_str()]);
}

#[test]
fn a_certain_format_beats_the_name_that_it_is_assigned_to() {
    let token = token("ghp_ @a30 @crc", &mut Dice::new(5));
    let text = format!("ENV PASSWORD=\"{token}\" API_SECRET={token}");
    let kinds: Vec<_> = find(&text).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, ["github-personal-token", "github-personal-token"]);
}

#[test]
fn a_wrong_checksum_leaves_a_doubt() {
    let mut dice = Dice::new(9);
    let right = token("ghp_ @a30 @crc", &mut dice);
    let wrong = token("ghp_ @a36", &mut dice);
    let found = find(&format!("{right} {wrong}"));
    let confidence: Vec<_> = found.iter().map(|found| format!("{:?}", found.confidence)).collect();
    assert_eq!(confidence, ["High", "Medium"]);
}

#[test]
fn a_token_that_a_continuation_tears_is_found_whole() {
    let token = token("ghp_ @a30 @crc", &mut Dice::new(5));
    let (head, tail) = token.split_at(17);
    for (join, expected) in [("\\\n", true), ("`\r\n", true), ("\\ \n", true), ("\n", false)] {
        let text = format!("FROM a\nRUN x {head}{join}{tail} && y\n");
        let found = find(&text);
        let values: Vec<_> =
            found.iter().map(|found| text[found.range.clone()].replace(join, "")).collect();
        assert_eq!(values == [token.as_str()], expected, "{text}");
    }
    // Masked and told apart line by line: the line break stays.
    let text = format!("RUN x {head}\\\n{tail} \\\n  && y\n");
    let shown = probity_secrets::mask_same_length(&text, &find(&text));
    assert_eq!(shown, format!("RUN x {}\n{} \\\n  && y\n", "*".repeat(18), "*".repeat(tail.len())));
}
