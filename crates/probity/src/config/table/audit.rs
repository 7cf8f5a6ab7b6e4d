//! `[audit]`: which model or agent looks for vulnerabilities, and what it may read.

use std::{path::PathBuf, time::Duration};

use probity_audit::ReadScope;

use super::section;
use crate::config::{
    guard::Guard,
    kind::ValueKind,
    words::{AuditFailOn, AuditFormat, Sandbox},
};

/// Where a report goes for which nobody names another place.
pub(crate) const DEFAULT_REPORT: &str = ".tx3/audit/vulnerabilities.md";
/// Where skills are looked for; without that directory the embedded ones are used.
pub(crate) const DEFAULT_SKILLS: &str = "skills/vulnerabilities";

section! {
    audit Audit {
        {
            /// Analysis provider: openai, anthropic, ollama, acp, command, replay, heuristic (offline
            /// detectors, the default for *.ak sources) or scaffold (uses no model)
            provider: Option<String> = None, flag_of("provider", "NAME"), trix_default("scaffold"),
                guard(Guard::User);
            /// Complete URL of the provider's endpoint
            endpoint: Option<String> = None, flag_of("endpoint", "URL"), trix(), guard(Guard::User);
            /// Model to ask
            model: Option<String> = None, flag_of("model", "NAME"), trix(), guard(Guard::User);
            /// Variable that contains the API key
            api_key_env: Option<String> = None, flag_of("api-key-env", "NAME"), trix(),
                guard(Guard::User);
            /// Agent for the providers acp and command (a known name or a command), or the recording for
            /// replay (a file)
            agent: Option<String> = None, flag_of("agent", "AGENT"), guard(Guard::AgentName);
            /// Sandbox for the agent and the exploits; `auto` refuses to start if none works, and `none`
            /// runs them with all your rights
            sandbox: Sandbox = Sandbox::Auto,
                flag_of("sandbox", "KIND"), guard(Guard::User);
            /// Pass these environment variables to the sandboxed agent
            env: Vec<String> = Vec::new(), kind(ValueKind::Variables), flag_of("env", "NAME"),
                guard(Guard::User);
            /// Number of skills to run at the same time
            jobs: u16 = 1, kind(ValueKind::IntIn(1, 64)), flag_of("jobs", "N"), short('j'),
                guard(Guard::AtMost);
            /// Maximum number of tokens for all skills together
            budget: Option<u64> = None, kind(ValueKind::IntIn(1, i64::MAX)), flag_of("budget", "TOKENS"),
                guard(Guard::AtMost);
            /// Maximum number of tokens in one answer
            max_tokens: Option<u32> = None, kind(ValueKind::IntIn(1, u32::MAX as i64)),
                flag_of("max-tokens", "N"), guard(Guard::AtMost);
            /// Time limit for one answer, all attempts together
            timeout: Duration = Duration::from_secs(600), flag_of("timeout", "DURATION"),
                guard(Guard::AtMost);
            /// Files that the model may read
            read_scope: ReadScope = ReadScope::Workspace, flag_of("read-scope", "SCOPE"), trix(),
                guard(Guard::Tighten(&["strict", "workspace"]));
            /// Ask before each read
            interactive_permissions: bool = false, flag("interactive-permissions"), trix(),
                guard(Guard::Tighten(&["true", "false"]));
            /// Show line numbers to the model when it reads a file
            numbered_reads: bool = false, flag("numbered-reads"), guard(Guard::Open);
            /// Let the model read .git, .env and keys
            allow_sensitive: bool = false, flag("allow-sensitive"),
                guard(Guard::Tighten(&["false", "true"]));
            /// Audit files that git ignores too, and let the model read them
            allow_ignored: bool = false, flag("allow-ignored"),
                guard(Guard::Tighten(&["false", "true"]));
            /// Directory of vulnerability skills, builtin:full or builtin:web; several are combined
            skills_dir: Vec<String> = vec![DEFAULT_SKILLS.to_owned()], flag_of("skills-dir", "DIR"),
                trix(), guard(Guard::Below(&["builtin:"]));
            /// Source files to audit [default: every *.ak file]
            include: Vec<String> = Vec::new(), kind(ValueKind::Globs), flag_of("include", "GLOB"),
                guard(Guard::Open);
            /// File for the state of the analysis
            state_out: PathBuf = ".tx3/audit/state.json".into(), flag_of("state-out", "PATH"),
                trix(), guard(Guard::Below(&[]));
            /// File for the report
            report_out: PathBuf = DEFAULT_REPORT.into(), flag_of("report-out", "PATH"), trix(),
                guard(Guard::Below(&[]));
            /// Report format
            format: AuditFormat = AuditFormat::Markdown, flag_of("format", "FORMAT"), short('f'),
                guard(Guard::Open);
            /// Exit with 1 if a verified finding has at least this severity, this level, or
            /// SEVERITY:LEVEL
            fail_on: Option<AuditFailOn> = None, flag_of("fail-on", "BAR"), guard(Guard::LowerBar);
            /// Maximum number of exploits that the model may try for each finding
            prove_rounds: u16 = 4, kind(ValueKind::IntIn(1, 20)), flag_of("prove-rounds", "N"),
                guard(Guard::AtMost);
            /// Time limit for the exploits of all findings together
            prove_timeout: Duration = Duration::from_secs(1800),
                flag_of("prove-timeout", "DURATION"), guard(Guard::AtMost);
        }
    }
}
