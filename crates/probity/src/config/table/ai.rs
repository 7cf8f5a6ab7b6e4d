//! `[ai]`: which agent proposes fixes, and what it may see and do.

use std::time::Duration;

use probity_agent::ChatKind;
use probity_autofix::{Expect, SecretsPolicy};

use super::{NamedTables, optional, section};
use crate::config::{
    guard::Guard,
    key::Key,
    kind::ValueKind,
    setting::Bytes,
    word::Word as _,
    words::{AiContext, Proof, ProofLevel, Sandbox},
};

section! {
    ai Ai {
        {
            /// Let an AI agent propose fixes; the agent may send the file to third parties
            enabled: bool = false, flag("ai"), tally("ai.enabled"),
                guard(Guard::Tighten(&["false", "true"])), free_in_tally();
            /// Agent command: a program that speaks the Agent Client Protocol, and its arguments, or
            /// cmd:COMMAND for one that reads a prompt on standard input
            command: Option<Vec<String>> = None, kind(ValueKind::Argv), flag_of("acp-command", "COMMAND"),
                tally("ai.command"), also(&["TALLY_ACP_COMMAND"]), guard(Guard::User),
                free_in_tally();
            /// Agent name: a table below `ai.agents`, or a known agent
            agent: Option<String> = None, tally("ai.agent"), guard(Guard::AgentName),
                free_in_tally();
            /// Chat API to ask instead of an agent command: openai, anthropic or ollama
            provider: Option<ChatKind> = None, flag_of("ai-provider", "NAME"), tally("ai.provider"),
                guard(Guard::User), free_in_tally();
            /// URL of the chat API [default: that of the provider]
            endpoint: Option<String> = None, flag_of("ai-endpoint", "URL"), tally("ai.endpoint"),
                guard(Guard::User);
            /// Model to ask [default: that of the provider]
            model: Option<String> = None, flag_of("ai-model", "NAME"), tally("ai.model"),
                guard(Guard::User), free_in_tally();
            /// Environment variable that contains the API key [default: that of the provider]
            api_key_env: Option<String> = None, flag_of("ai-api-key-env", "NAME"),
                tally("ai.api-key-env"), guard(Guard::User);
            /// Time limit for the AI fixes of one file
            timeout: Duration = Duration::from_secs(90), flag_of("ai-timeout", "DURATION"),
                tally("ai.timeout"), guard(Guard::AtMost);
            /// Maximum prompt size in bytes
            max_input_bytes: usize = 262_144, flag_of("ai-max-input-bytes", "BYTES"),
                tally("ai.max-input-bytes"), guard(Guard::AtMost);
            /// What happens if the file contains secrets: `deny` does not start the agent,
            /// `tokenize` replaces them, `allow` sends them
            secrets_policy: SecretsPolicy = SecretsPolicy::Deny, tally("ai.secrets-policy"),
                guard(Guard::Tighten(&["deny", "tokenize", "allow"])), free_in_tally();
            /// Form of the agent's answer: a patch or the whole file
            autofix_output: Expect = Expect::Patch, tally("ai.autofix-output"), guard(Guard::Open);
            /// Deprecated: true means `ai.secrets-policy = "deny"`, false means `"allow"`
            redact_secrets: Option<bool> = None, flag_of("ai-redact-secrets", "BOOL"),
                tally("ai.redact-secrets"), deprecated(), guard(Guard::Tighten(&["true"])),
                free_in_tally();
            /// Maximum number of attempts before the fix is skipped
            max_rounds: u32 = 2, kind(ValueKind::IntIn(1, 5)), tally("ai.max-rounds"),
                guard(Guard::AtMost);
            /// Sandbox of the agent; `auto` skips AI fixes if none works, and `none` runs the agent with all
            /// your rights
            sandbox: Sandbox = Sandbox::Auto, flag_of("ai-sandbox", "SANDBOX"),
                tally("ai.sandbox"), guard(Guard::User), free_in_tally();
            /// What the agent sees of the build context: `none`, `snapshot` (file names, manifests
            /// and lock files in the prompt), `read-only` (also reads files over ACP)
            context: AiContext = AiContext::None, tally("ai.context"),
                guard(Guard::Tighten(&["none", "snapshot", "read-only"])), free_in_tally();
            /// Show files of the build context that git ignores, too
            context_ignored: bool = false, guard(Guard::Tighten(&["false", "true"]));
            /// How to prove unsafe fixes: `static` checks the text, `build` also builds and
            /// compares both images, `run` also starts them, `auto` goes as far as the machine can
            proof: Proof = Proof::Auto, flag_of("prove", "LEVEL"), tally_default("static"),
                guard(Guard::Tighten(&["static", "build", "run", "auto"]));
            /// Lowest proof level at which a fix is applied
            proof_required: ProofLevel = ProofLevel::Static,
                guard(Guard::Tighten(&["run", "build", "static"]));
            /// Let proofs pull images that are not on this machine
            proof_pull: bool = false, guard(Guard::User);
            /// Let `RUN` and `ADD` use the network in proofs
            proof_network: bool = false, guard(Guard::User);
            /// Time limit for each build of a proof
            proof_timeout: Duration = Duration::from_secs(600), guard(Guard::AtMost);
            /// How many seconds a proof watches a started container
            proof_seconds: u32 = 5, kind(ValueKind::IntIn(1, 300)), guard(Guard::AtMost);
            /// Command that a proof runs in both containers; it must succeed in both
            proof_command: Option<Vec<String>> = None, kind(ValueKind::Argv), guard(Guard::User);
            /// Build arguments of a proof
            proof_build_args: Vec<String> = Vec::new(), kind(ValueKind::Assignments),
                flag_of("prove-build-arg", "NAME=VALUE"), guard(Guard::Open);
            /// Stage that a proof builds [default: the last one]
            proof_target: Option<String> = None, flag_of("prove-target", "STAGE"),
                guard(Guard::Open);
            /// Platform that a proof builds for, such as `linux/amd64` [default: that of the engine]
            proof_platform: Option<String> = None, flag_of("prove-platform", "PLATFORM"),
                guard(Guard::Open);
            /// Disk space that a proof may use for the files of its images
            proof_disk: Bytes = Bytes(20 << 30), guard(Guard::AtMost);
        }
    }
}

/// `[ai.agents.NAME]`: keys that replace those of `[ai]` for this agent.
pub(super) const AGENTS: NamedTables = NamedTables {
    path: "ai.agents",
    tally: Some("ai.agents"),
    containai: None,
    doc: "Agents by name, for `ai.agent`",
    keys: AGENT_KEYS,
};

const AGENT_KEYS: &[Key] = &[
    optional("command", ValueKind::Argv, "Program to start, and its arguments").tally("command"),
    optional(
        "timeout",
        ValueKind::Duration,
        "Time limit for the AI fixes of one file with this agent",
    )
    .tally("timeout"),
    optional("max-input-bytes", ValueKind::Int, "Maximum prompt size in bytes for this agent")
        .tally("max-input-bytes"),
    optional("autofix-output", ValueKind::OneOf(Expect::NAMES), "Form of this agent's answer")
        .tally("autofix-output"),
];
