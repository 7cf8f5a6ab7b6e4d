//! Places that keep source code and build it.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Thirty random base62 characters and their CRC32 in six digits of base62.
    Rule::token(
        "github-personal-token",
        "GitHub personal access token",
        &["ghp_"],
        "[A-Za-z0-9]{36,251}",
    )
    .checked(check::crc32_after_prefix),
    // As `ghp_`.
    Rule::token(
        "github-oauth-token",
        "GitHub OAuth access token",
        &["gho_"],
        "[A-Za-z0-9]{36,251}",
    )
    .checked(check::crc32_after_prefix),
    // As `ghp_`.
    Rule::token("github-user-token", "GitHub App user token", &["ghu_"], "[A-Za-z0-9]{36,251}")
        .checked(check::crc32_after_prefix),
    // As `ghp_`.
    Rule::token(
        "github-server-token",
        "GitHub App installation token",
        &["ghs_"],
        "[A-Za-z0-9]{36,251}",
    )
    .checked(check::crc32_after_prefix),
    // As `ghp_`, and longer.
    Rule::token(
        "github-refresh-token",
        "GitHub App refresh token",
        &["ghr_"],
        "[A-Za-z0-9]{36,251}",
    )
    .checked(check::crc32_after_prefix),
    // Twenty-two characters of id, fifty-nine of secret.
    Rule::token(
        "github-fine-grained-token",
        "GitHub fine-grained personal access token",
        &["github_pat_"],
        "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    ),
    // Twenty characters; routable tokens are longer and end in a version and a checksum.
    Rule::token(
        "gitlab-personal-token",
        "GitLab personal access token",
        &["glpat-"],
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    // Authentication and the older registration tokens of runners.
    Rule::token(
        "gitlab-runner-token",
        "GitLab runner token",
        &["glrt-", "glrtr-", "GR1348941"],
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    // The partition in up to five hexadecimal digits, an underscore, twenty characters.
    Rule::token(
        "gitlab-job-token",
        "GitLab CI job token",
        &["glcbt-"],
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    // Forty hexadecimal digits.
    Rule::token(
        "gitlab-trigger-token",
        "GitLab pipeline trigger token",
        &["glptt-"],
        "[0-9a-f]{40}",
    ),
    // Twenty characters.
    Rule::token("gitlab-deploy-token", "GitLab deploy token", &["gldt-"], "[A-Za-z0-9_-]{20,300}"),
    // SCIM, feed, incoming mail, agent, OAuth application and feature flag tokens.
    Rule::token(
        "gitlab-service-token",
        "GitLab service token",
        &["glsoat-", "glft-", "glimt-", "glagent-", "gloas-", "glffct-"],
        r"[A-Za-z0-9_-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    // Thirty-two characters, the last eight a checksum that is not published.
    Rule::token("bitbucket-app-password", "Bitbucket app password", &["ATBB"], "[A-Za-z0-9]{32}"),
    // Tokens of repositories, projects and workspaces.
    Rule::token(
        "bitbucket-access-token",
        "Bitbucket access token",
        &["ATCTT3"],
        "[A-Za-z0-9_=-]{60,300}",
    ),
    // One hundred and ninety-two characters in all, the last eight a checksum.
    Rule::token(
        "atlassian-api-token",
        "Atlassian API token",
        &["ATATT3"],
        "[A-Za-z0-9_=-]{60,300}",
    ),
    // Eighty-four characters with the mark at the seventy-seventh.
    Rule::around(
        "azure-devops-token",
        "Azure DevOps personal access token",
        &["AZDO"],
        76,
        "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    ),
    // Forty hexadecimal digits, so the name is needed.
    Rule::assigned(
        "gitea-token",
        "Gitea or Forgejo access token",
        &["gitea", "forgejo"],
        "[0-9a-f]{40}",
    ),
    // The instance, then forty hexadecimal digits.
    Rule::token(
        "sourcegraph-token",
        "Sourcegraph access token",
        &["sgp_"],
        "(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
    ),
    // Personal and project tokens.
    Rule::token(
        "circleci-token",
        "CircleCI token",
        &["CCIPAT_", "CCIPRJ_"],
        "[A-Za-z0-9]{22}_[0-9a-f]{40}",
    ),
    // Forty hexadecimal digits.
    Rule::token("buildkite-token", "Buildkite API token", &["bkua_"], "[0-9a-f]{40}"),
    // An identifier that the name makes a secret.
    Rule::assigned(
        "codecov-token",
        "Codecov upload token",
        &["codecov_token", "codecov-token"],
        UUID,
    )
    .checked(check::in_context),
    // Twenty-two characters, so the name is needed.
    Rule::assigned("travis-token", "Travis CI token", &["travis"], "[A-Za-z0-9]{22}"),
    // An identifier that the name makes a secret.
    Rule::assigned("snyk-token", "Snyk API token", &["snyk"], UUID).checked(check::in_context),
    // Key id and a signed token.
    Rule::token(
        "snyk-service-token",
        "Snyk OAuth token",
        &["snyk_uat.", "snyk_sat."],
        r"[0-9a-f]{8}\.[A-Za-z0-9_-]{32,}(?:\.[A-Za-z0-9_-]{40,}){1,2}",
    ),
    // User, project and global analysis tokens.
    Rule::token("sonarqube-token", "SonarQube token", &["squ_", "sqp_", "sqa_"], "[0-9a-f]{40}"),
    // Forty characters for keys, hexadecimal for OAuth.
    Rule::token(
        "linear-api-key",
        "Linear API key",
        &["lin_api_", "lin_oauth_"],
        "[A-Za-z0-9]{32,64}",
    ),
    // Forty characters and more.
    Rule::token(
        "figma-token",
        "Figma token",
        &["figd_", "figoh_", "figor_"],
        "[A-Za-z0-9_-]{40,80}",
    ),
    // Server SDK keys and access tokens.
    Rule::token("launchdarkly-key", "LaunchDarkly key", &["sdk-", "api-"], UUID),
    // Keys of users and of service accounts.
    Rule::token("prefect-key", "Prefect API key", &["pnu_", "pnb_"], "[A-Za-z0-9]{36}"),
];
