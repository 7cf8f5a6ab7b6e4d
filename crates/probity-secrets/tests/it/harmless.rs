//! What is no secret, though it looks like one: text as it stands in real repositories.

/// Every line, those that must be put together included.
pub(crate) fn lines() -> impl Iterator<Item = String> {
    let plain = [DOCKERFILE, CONFIGURATION, LOCK_FILES, CODE].into_iter().flat_map(str::lines);
    plain.map(str::to_owned).chain(documented())
}

/// Keys that a vendor's manual prints, and stand-ins in a vendor's format. Put together here, because
/// other scanners are less kind.
fn documented() -> Vec<String> {
    let x = "x".repeat(36);
    let dashes = "-".repeat(5);
    vec![
        ["ENV AWS_ACCESS_KEY_ID=AKIA", "IOSFODNN7EXAMPLE"].concat(),
        ["ENV AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "/K7MDENG/bPxRfiCYEXAMPLEKEY"].concat(),
        ["STRIPE_KEY=sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"].concat(),
        format!("ARG GITHUB_TOKEN=ghp_{x}"),
        format!("//registry.npmjs.org/:_authToken=npm_{x}"),
        format!("SLACK_TOKEN=xoxb-{}", "your-token-here"),
        format!("AKIA{}", "A".repeat(16)),
        format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}"),
        format!("grep -q '{dashes}BEGIN PRIVATE KEY{dashes}' key.pem || exit 1"),
        format!("{dashes}BEGIN PRIVATE KEY{dashes} ... {dashes}END PRIVATE KEY{dashes}"),
        format!("{dashes}BEGIN PUBLIC KEY{dashes}"),
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1c7HsRyB2YDk5bXwT0pQ".to_owned(),
        format!("{dashes}END PUBLIC KEY{dashes}"),
    ]
}

const DOCKERFILE: &str = r##"
# syntax=docker/dockerfile:1.7@sha256:a57df69d0ea827fb7266491f2813635de6f17269be881f696fbfdf2d83dda33e
FROM golang:1.22.3-bookworm@sha256:d996c645c9934e770e64f05fc2bc103755197b43fd999b3aa5419142e1ee6d78 AS build
FROM --platform=$BUILDPLATFORM node:20.11.1-alpine3.19 AS web
ARG GITHUB_TOKEN
ARG NPM_TOKEN=""
ARG API_KEY=changeme
ARG PASSWORD=${DEFAULT_PASSWORD}
ARG SECRET_KEY=$SECRET_KEY
ARG TOKEN=<your-token>
ENV DB_PASSWORD=password
ENV POSTGRES_PASSWORD=postgres
ENV MYSQL_ROOT_PASSWORD=secret
ENV ADMIN_PASSWORD changeme123
ENV API_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx
ENV JWT_SECRET=your-256-bit-secret
ENV SECRET_KEY_BASE=dummy-value-for-assets-precompile
ENV DB_PASSWORD_FILE=/run/secrets/db_password
ENV GOOGLE_APPLICATION_CREDENTIALS=/secrets/gcp-service-account-3f9a2b.json
ENV TOKEN_URL=https://auth.host.io/realms/main/protocol/openid-connect/token
ENV PASSWORD_MIN_LENGTH=12 TOKEN_TTL=3600s SECRET_NAME=prod-db-credentials-v2
ENV SSH_AUTH_SOCK=/tmp/ssh-XXXXXXabcdef/agent.1234
ENV PATH=/usr/local/cargo/bin:/opt/venv/bin:$PATH
ENV GIT_COMMIT=9fceb02d0ae598e95dc970b74767f19372d61af8
ENV YARN_CHECKSUM=9b8f7c3c2b1a0e5d4f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7081920
ENV RUSTUP_SHA256=0b2f6c8f85a3d02fde2efc0ced4657869d73fccfce59defb4e8d29233116e6db
ENV GPG_KEYS="B42F6819007F00F88E364FD4036A9C25BF357DD4 A48449044AAD5C5A1A1A1A1A5D4E3C2B1A098765"
ENV NODE_OPTIONS=--max-old-space-size=4096 TOKENIZERS_PARALLELISM=false
ENV LICENSE_KEY_PATH=/etc/license/key.lic
ENV TENANT_KEY=5f1d7a3e-90c2-4b6d-a8f4-2c7e61b05d93 TOKEN_ID=5f1d7a3e-90c2-4b6d-a8f4-2c7e61b05d93
ENV API_TOKEN=00000000-0000-4000-8000-000000000000
LABEL password.hint="at least 8 characters, one of them a digit!"
LABEL password="Use Base64 or SHA-256, see the manual"
ENV PASSWORD="the one you were sent by mail"
ENV KEYCLOAK_VERSION=24.0.4 VAULT_VERSION=1.16.2 CONSUL_VERSION=1.18.1
RUN --mount=type=secret,id=npm_token,env=NPM_TOKEN npm ci
RUN --mount=type=secret,id=aws,target=/root/.aws/credentials,required=true aws s3 cp s3://bucket/key .
RUN --mount=type=ssh git clone git@github.com:acme/private.git
RUN curl -fsSL https://github.com/krallin/tini/releases/download/v0.19.0/tini-amd64 -o /tini
RUN echo "93dcc18adc78c65a028a84799ecf8ad40c936fdfc5f2a57b1acda5a8117fa82c  /tini" | sha256sum -c -
RUN curl -H "Authorization: Bearer $TOKEN" https://host/api
RUN curl -H "Authorization: Bearer ${GITHUB_TOKEN}" -H "Accept: application/vnd.github.v3+json" https://api.github.com
RUN curl -H "Authorization: token $(cat /run/secrets/token)" https://host/api
RUN curl -u "$USER:$PASSWORD" https://host/file
RUN curl -u ${NEXUS_USER}:${NEXUS_PASSWORD} -O https://nexus.host/repository/raw/app.tar.gz
RUN git clone https://${GIT_USER}:${GIT_TOKEN}@github.com/acme/app.git
RUN git clone https://x-access-token:$TOKEN@github.com/acme/app.git
RUN git clone https://user:password@git.host/app.git
RUN pip install --index-url https://__token__:${PYPI_TOKEN}@pypi.host/simple app==1.2.3
RUN pip install numpy==1.26.4 --hash=sha256:2a02aba9ed12e4ac4eb3ea9421c420301a0c6460d9830d74a9df87efa4912010
RUN useradd --password '*' --uid 1000 app && passwd -d app
RUN mysql -uroot -p$MYSQL_ROOT_PASSWORD -e "create database app"
RUN docker login -u bot -p "${REGISTRY_PASSWORD}" registry.host
RUN echo "$REGISTRY_PASSWORD" | docker login -u bot --password-stdin registry.host
RUN cat /run/secrets/registry | docker login -u bot --password-stdin registry.host
RUN docker login -u bot --password-stdin registry.host < /run/secrets/registry
RUN docker login -u bot --password-stdin <<< "$REGISTRY_PASSWORD"
RUN aws ecr get-login-password | docker login -u AWS --password-stdin 123456789012.dkr.ecr.eu-west-1.amazonaws.com
RUN echo "logging in" && docker login --password-stdin < /run/secrets/login
RUN htpasswd -c /etc/nginx/.htpasswd admin2024
RUN htpasswd -bc /etc/nginx/.htpasswd admin "$ADMIN_PASSWORD"
RUN htpasswd -bc /etc/nginx/.htpasswd admin password
RUN apt-get install -y apache2-utils htpasswd-generator1 nginx-extras2 && ls
CMD redis-server --requirepass ${REDIS_PASSWORD}
CMD ["redis-server", "--requirepass", "$REDIS_PASSWORD"]
CMD redis-server --requirepass changeme
# api key: see the manual, section 4.2
# api key: <your key>
# The access key: AKIA is what its id begins with
# secret key = $SECRET_KEY
ENV MYSQL_PASSWORD=test123 REDIS_PASSWORD=secret1 POSTGRES_PASSWORD=mypass99
ENV KEYSTORE_PASSWORD=changeit1 PGPASSWORD=/run/secrets/pg1 SMTP_PASS=${SMTP_PASS1}
ENV DB_PASSWORD=v1.2.3 APP_PASSWORD=demo2024 X_PASSWORD=@@PASSWORD1@@
password = hunter2
password: user2name
RUN echo "root:${ROOT_PASSWORD}" | chpasswd && echo 'app:password' | chpasswd
RUN mkdir -p /app && cp -p src/file /app && tar -xzpf x.tar.gz
RUN apt-get install -y --no-install-recommends libsecret-1-dev=0.20.5-3 passwd=1:4.13+dfsg1-1+b1
RUN gpg --batch --keyserver hkps://keys.openpgp.org --recv-keys 595E85A6B1B4779EA4DAAEC70B588DFF0527A9B7
RUN npm config set //registry.npmjs.org/:_authToken ${NPM_TOKEN}
RUN printf '//npm.pkg.github.com/:_authToken=%s\n' "$NODE_AUTH_TOKEN" > .npmrc
RUN bundle config set --local gems.contribsys.com "$BUNDLE_GEMS_KEY"
RUN openssl rand -hex 32 > /etc/secret && echo "secret: $(cat /etc/secret)"
RUN test -n "$API_KEY" || (echo "API_KEY is required: pass --build-arg API_KEY=<key>" && exit 1)
RUN sed -i 's/password=.*/password=${DB_PASSWORD}/' /etc/app.conf
RUN dotnet user-secrets set "ConnectionStrings:Default" "Server=db;User Id=sa;Password=${SA_PASSWORD};"
ADD --checksum=sha256:24454f830cdb571e2c4ad15481119c43b3cafd48dd869a9b2945d1036d1dc68d https://mirrors.edge.kernel.org/pub/linux/kernel/v0.x/linux-0.01.tar.gz /
COPY --from=build /go/bin/token-service-7f4d /usr/local/bin/
COPY --chown=10001:10001 secrets/README.md /app/secrets/
HEALTHCHECK CMD curl -f http://localhost:8080/healthz?token=health || exit 1
LABEL org.opencontainers.image.revision="3f2a1b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a"
LABEL org.opencontainers.image.source="https://github.com/acme/app" maintainer="Platform <platform@acme.io>"
CMD ["server", "--token-file", "/run/secrets/token", "--password-stdin"]
ENTRYPOINT ["/bin/sh", "-c", "exec app --secret=$APP_SECRET"]
"##;

const CONFIGURATION: &str = r##"
password: ""
password: null
password: changeit
password: "{{ .Values.password }}"
password: ${{ secrets.DB_PASSWORD }}
password: !vault |
token: ${TOKEN:-none}
token: "%TOKEN%"
token: true
secret: projects/acme-prod/secrets/db-password/versions/latest
secretName: acme-tls-cert-2024
secretKeyRef: { name: db-credentials, key: password }
api_key: <API_KEY>
api_key: "@@API_KEY@@"
api-key-header: X-Api-Key
apiKeyRef: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
access_key_rotation_days: 90
credentials: env:GOOGLE_CREDENTIALS
credentialsId: 'github-deploy-key-2023'
auth: basic
authToken: process.env.AUTH_TOKEN
tokenizer: bert-base-uncased-finetuned-sst-2-english
max_tokens: 4096
pad_token: "[PAD]"
stop_tokens: ["<|endoftext|>", "<|im_end|>"]
client_id: 123e4567-e89b-12d3-a456-426614174000
tenant_id: 7d1e9f3a-2b4c-4d5e-8f6a-1b2c3d4e5f60
kms_key_id: arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab
image: ghcr.io/acme/app@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef
digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
uses: actions/checkout@b4ffde65f46336ab88eb53be808477a3936bae11 # v4.1.1
DATABASE_URL=postgres://postgres:postgres@localhost:5432/app_test
DATABASE_URL=postgresql://user:password@db/app
DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@db/app
DATABASE_URL=mysql://root:root@127.0.0.1/app
DATABASE_URL=mysql://USER:PASSWORD@HOST:PORT/DATABASE
MONGO_URL=mongodb://localhost:27017,localhost:27018/app?replicaSet=rs0
REDIS_URL=redis://:changeme@redis:6379/0
AMQP_URL=amqp://guest:guest@rabbit:5672/
PROXY=http://proxy.acme.io:3128
SENTRY_DSN=https://examplePublicKey@o0.ingest.sentry.io/0
ssh://git@github.com:22/acme/app.git
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDRXyW0gM2q7ZbWSV4dPFnBRTpUxz9Qw2Xr5 dev@host
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl git@host
PUBLIC_KEY=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1c7HsRyB2YDk5bXwT0pQ
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURCVENDQWUyZ0F3SUJBZ0lJ
passwordHash: $2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW
encrypted_password: ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=]
description: cGxhY2Vob2xkZXIgZm9yIHRoZSBwYXNzd29yZA==
password: cGFzc3dvcmQ=
spring.security.oauth2.client.registration.github.client-secret=${GITHUB_SECRET}
secret_rotation=2024-01-15T10:00:00Z
private_key_path = "~/.ssh/id_ed25519"
secret_key = "arn:aws:iam::123456789012:role/build-secret-reader"
"##;

const LOCK_FILES: &str = r##"
"integrity": "sha512-9rM2J2Z1Xo7bHwPyqQ4b1VgjS0x7lCqOUzDb8w8vKxVQ1r8yJ9nQx9mJ3v0Q3w5gY1xZ7p8sT2kF4hR6dN0aBg==",
  resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#19203fb59991df98e3a287050d4647cdeaf32499"
  integrity sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==
checksum = "3e2e94d0d2f4f5d3a9f9c5b6a7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f90"
name = "secrecy"
github.com/golang-jwt/jwt/v5 v5.2.1 h1:OuVbFODueb089Lh128TAcimifWaLhJwVflnrgM17wHk=
golang.org/x/crypto v0.23.0/go.mod h1:CKFgDieR+mRhux2Lsu27y0fO304Db0wZe70UKqHu0v8=
    {file = "cryptography-42.0.5-cp37-abi3-macosx.whl", hash = "sha256:a30596bae9403a342c978fb47d9b0ee277699fa53bbafad14706af51fe543d16"},
source = "registry+https://github.com/rust-lang/crates.io-index"
  "token-types@npm:^4.2.0": 4.2.1
  js-tokens@^3.0.0 || ^4.0.0:
    password-prompt (1.1.3)
    bcrypt-pbkdf (1.1.0-x64-mingw32)
9fceb02d0ae598e95dc970b74767f19372d61af8 refs/heads/secret-scanning
secrets.lock: 7c211433f02071597741e6ff5a8ea34789abbf43
"##;

const CODE: &str = r##"
password = get_password()
password = config.database.password
password = os.environ["DB_PASSWORD"]
const token = await fetchToken(user.id);
let token: Token = Token::new(kind, span);
if (password == "correcthorse1") return;
api_key = settings.API_KEY_STAGING
private String passwordResetTokenExpiration;
"password": { "type": "string", "minLength": 12 }
func (t *Token) String() string { return t.Secret.Name }
token := lexer.NextToken()
secret := &corev1.Secret{ObjectMeta: meta}
<input type="password" name="password" placeholder="Password123!" />
document.querySelector('#password-confirmation-field').value
export const SECRET_SANTA_PARTICIPANTS_ENDPOINT = '/api/v2/participants';
self.token_embedding = nn.Embedding(vocab_size=32000, dim=4096)
AccessToken: session.accessToken,
Authorization: Bearer <token>
Authorization: Bearer YOUR_API_TOKEN_HERE
Authorization: Basic <credentials>
the bearer token authenticates the caller, and basic authentication is off
--password-stdin --token-file=/run/token --secret id=npm,src=.npmrc
usage: deploy --token TOKEN --password PASSWORD --api-key API_KEY
task-runner disk-usage risk-assessment sk-learn pat-terns
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
f47ac10b-58cc-4372-a567-0e02b2c3d479
color: #a3b2c1d4; id=deadbeefdeadbeefdeadbeefdeadbeef
PROBITY_K7Q_SECRET_0001_K7Q_END
PASSWORD=PROBITY_K7Q_SECRET_0001_K7Q_END
"##;
