//! The one table of keys: the strict reader, the environment, the schema, the printed
//! configuration and the documentation are all made from it.

use probity_seat::Sandbox;

use super::{Key, key, unset};
use crate::config::{
    kind::Kind,
    words::{AiContext, AutofixOutput, FailLevel, SecretsPolicy, ShellcheckMode, SlowChecksMode},
};

/// The formats of reports.
pub(crate) const FORMATS: &[&str] = &[
    "text",
    "json",
    "sarif",
    "github-actions",
    "markdown",
    "checkstyle",
    "codeclimate",
    "gitlab",
    "junit",
    "gnu",
    "sonarqube",
];

pub(crate) static KEYS: &[Key] = &[
    key("output.format", Kind::OneOf(FORMATS), "text", "The format of the report.")
        .also(&["TALLY_FORMAT"]),
    key(
        "output.path",
        Kind::String,
        "stdout",
        "Where the report goes: `stdout`, `stderr` or a file.",
    ),
    key("output.show-source", Kind::Bool, "true", "Whether the report quotes the source."),
    key(
        "output.fail-level",
        Kind::OneOf(FailLevel::WORDS),
        "style",
        "The least severity that makes the run fail.",
    ),
    key("rules.include", Kind::StringList, "", "Rules to run: a code, `namespace/*` or `*`.")
        .also(&["TALLY_RULES_SELECT"])
        .appends(),
    key("rules.exclude", Kind::StringList, "", "Rules not to run: a code, `namespace/*` or `*`.")
        .also(&["TALLY_RULES_IGNORE"])
        .appends(),
    key(
        "inline-directives.enabled",
        Kind::Bool,
        "true",
        "Whether comments in the file can silence findings.",
    ),
    key(
        "inline-directives.validate-rules",
        Kind::Bool,
        "false",
        "Whether directives that name unknown rules are reported.",
    ),
    key(
        "inline-directives.warn-unused",
        Kind::Bool,
        "false",
        "Whether directives that silence nothing are reported.",
    ),
    key(
        "inline-directives.require-reason",
        Kind::Bool,
        "false",
        "Whether directives without a reason are reported.",
    ),
    key(
        "ai.enabled",
        Kind::Bool,
        "false",
        "Whether an AI agent may propose fixes. The agent may send the file to third parties.",
    ),
    unset(
        "ai.command",
        Kind::Argv,
        "The agent to start: a program that speaks the Agent Client Protocol, and its arguments.",
    )
    .also(&["TALLY_ACP_COMMAND"]),
    unset(
        "ai.agent",
        Kind::String,
        "The agent to use by name: a table below `ai.agents`, or an agent that is known already.",
    ),
    key("ai.timeout", Kind::Duration, "90s", "How long one fix may take."),
    key(
        "ai.max-input-bytes",
        Kind::Int,
        "262144",
        "The size of a prompt above which a fix is skipped.",
    ),
    key(
        "ai.secrets-policy",
        Kind::OneOf(SecretsPolicy::WORDS),
        "deny",
        "What happens when the file holds secrets: `deny` does not start the agent, `tokenize` replaces them for the time being, `allow` sends them.",
    ),
    key(
        "ai.autofix-output",
        Kind::OneOf(AutofixOutput::WORDS),
        "patch",
        "Whether the agent answers with a patch or with the whole file.",
    ),
    unset(
        "ai.redact-secrets",
        Kind::Bool,
        "Deprecated: true means `secrets-policy = \"deny\"`, false means `\"allow\"`.",
    ),
    key(
        "ai.max-rounds",
        Kind::IntIn(1, 5),
        "2",
        "How often the agent may try before the fix is skipped.",
    ),
    key(
        "ai.sandbox",
        Kind::OneOf(Sandbox::WORDS),
        "auto",
        "Where the agent runs. `none` counts only from a flag or the environment.",
    ),
    key(
        "ai.context",
        Kind::OneOf(AiContext::WORDS),
        "none",
        "How much of the build context the agent gets to know.",
    ),
    unset("unsafe-fixes", Kind::Bool, "Whether fixing also applies suggestions and unsafe fixes.")
        .also(&["TALLY_FIX_UNSAFE"]),
    key(
        "file-validation.max-file-size",
        Kind::Int,
        "0",
        "The size in bytes above which a file is not checked; 0 means no limit.",
    ),
    key(
        "slow-checks.mode",
        Kind::OneOf(SlowChecksMode::WORDS),
        "auto",
        "Whether checks that ask a registry run; `auto` means not under continuous integration.",
    )
    .also(&["TALLY_SLOW_CHECKS"]),
    key(
        "slow-checks.timeout",
        Kind::Duration,
        "20s",
        "How long all slow checks together may take.",
    ),
    key(
        "slow-checks.fail-fast",
        Kind::Bool,
        "true",
        "Whether files that have an error already are spared slow checks.",
    ),
    key(
        "shellcheck.mode",
        Kind::OneOf(ShellcheckMode::WORDS),
        "native",
        "Where ShellCheck's findings come from: this program, an installed `shellcheck`, or nowhere.",
    )
    .also(&["TALLY_SHELLCHECK"]),
    key(
        "shellcheck.timeout",
        Kind::Duration,
        "1m",
        "How long one run of an installed `shellcheck` may take.",
    ),
    key("fix", Kind::Bool, "false", "Whether safe fixes are applied.").not_in_file(),
    key("fix-rule", Kind::StringList, "", "The rules whose fixes are applied; all when empty.")
        .not_in_file(),
    key("exclude", Kind::Globs, "", "Globs of files that are not checked.").not_in_file(),
    unset("context", Kind::String, "The directory of the build context.").not_in_file(),
];

/// The keys of a table below `ai.agents`, which stand in for their namesakes in `ai`.
pub(crate) static AGENT_KEYS: &[Key] = &[
    unset("command", Kind::Argv, "The program to start, and its arguments."),
    unset("timeout", Kind::Duration, "How long one fix may take with this agent."),
    unset(
        "max-input-bytes",
        Kind::Int,
        "The size of a prompt above which this agent is not asked.",
    ),
    unset(
        "autofix-output",
        Kind::OneOf(AutofixOutput::WORDS),
        "Whether this agent answers with a patch or with the whole file.",
    ),
];
