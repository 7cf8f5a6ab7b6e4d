//! `[review]`: which agent reviews, what it reviews, and what passes.

use std::{path::PathBuf, time::Duration};

use probity_proof::Level;
use probity_report::review::ReviewFormat;

use super::section;
use crate::config::{
    guard::{Guard, Usual},
    kind::ValueKind,
    runner::Runners,
    words::{FailRisk, Sandbox},
};

section! {
    review Review {
        {
            /// Reviewing agent: NAME (see `probity agent list`), acp:COMMAND, cmd:COMMAND or
            /// replay:FILE, a recording or a list of findings
            agent: String = "claude".to_owned(), flag_of("agent", "AGENT"), step("AGENT_CLI"),
                guard(Guard::AgentName);
            /// Model for the agent [default: the agent chooses]
            model: Option<String> = None, flag_of("model", "NAME"), step("AGENT_MODEL"),
                guard(Guard::User);
            /// Profile of weights and paths: default, security or strict
            profile: String = "default".to_owned(), flag_of("profile", "NAME"),
                step("REVIEW_PROFILE"), guard(Guard::Tighten(&["strict", "default", "security"]));
            /// Apply this review.yml over the profile; without it, probity reads no review.yml
            config: Option<PathBuf> = None, flag_of("config", "FILE"), step("REVIEW_CONFIG"),
                guard(Guard::User);
            /// Lowest score that passes
            threshold: f64 = 7.0, kind(ValueKind::Score), flag_of("threshold", "SCORE"),
                step("SCORE_THRESHOLD"), guard(Guard::AtLeast);
            /// Fail if a critical issue is proven, whatever the score
            fail_on_critical: bool = false, flag("fail-on-critical"), step("FAIL_ON_CRITICAL"),
                guard(Guard::Tighten(&["true", "false"]));
            /// Fail if an issue of this severity or above is proven, whatever the score: low, medium,
            /// high, critical or none (not under the name ci-agent-review)
            fail_on: FailRisk = FailRisk::High, flag_of("fail-on", "SEVERITY"),
                guard(Guard::Tighten(&["low", "medium", "high", "critical", "none"]));
            /// Review only files that match these globs
            paths: Vec<String> = Vec::new(), flag_of("paths", "GLOBS"), step("REVIEW_PATHS"),
                guard(Guard::User);
            /// Review only files that changed since the base [default on a branch with commits of its own]
            diff_only: bool = false, flag("diff-only"), step("REVIEW_DIFF_ONLY"),
                guard(Guard::Open);
            /// Review the whole repository on a branch, too
            whole: bool = false, flag("whole"), guard(Guard::User);
            /// Review only files that changed since this git reference [default: the default branch; under
            /// the name ci-agent-review, main]
            base: Option<String> = None, flag_of("base", "REF"), step("BASE_REF"),
                guard(Guard::User);
            /// Database for the history: postgres://… or sqlite:FILE [default: a file in the state
            /// directory]
            database_url: Option<String> = None, flag_of("database-url", "URL"),
                shared("DATABASE_URL"), guard(Guard::User), secret();
            /// Store the review and compare it with earlier ones
            history: bool = true,
                no_flag("no-history", "Do not store the review or compare it with earlier ones"),
                guard(Guard::User);
            /// Exit with 0 after writing review.json; `probity review gate` decides later
            report_only: bool = false, flag("report-only"), step("REVIEW_REPORT_ONLY"),
                guard(Guard::User);
            /// Maximum cost of the agent in US dollars; probity stops an agent that reports a higher cost
            budget: Option<f64> = None, flag_of("budget", "USD"), guard(Guard::AtMost);
            /// Lowest proof level that counts: P1 (the test fails), P2 (it depends on the flagged
            /// function) or P3 (a fix makes it pass) [default: that of review.yml, otherwise P3]
            proof_level: Option<Level> = None, flag_of("proof-level", "LEVEL"),
                step("REVIEW_PROOF_LEVEL"), guard(Guard::User);
            /// Maximum number of times to ask the agent for a better fix
            max_fix_rounds: u32 = 1, flag_of("max-fix-rounds", "N"), guard(Guard::AtMost);
            /// Time limit for each run of the existing tests that a fix must not break
            suite_timeout: Duration = Duration::from_secs(120),
                flag_of("suite-timeout", "DURATION"), guard(Guard::AtMost);
            /// Time limit for all proofs together; findings without a finished proof become
            /// observations
            proof_timeout: Option<Duration> = None, flag_of("proof-timeout", "DURATION"),
                guard(Guard::AtMost);
            /// Commands that run the tests of files in other languages, each a table with match, command
            /// and report, and optionally build and suite
            runner: Runners = Runners::default(), guard(Guard::MergeBase);
            /// File with [[review.runner]] tables to use instead of those in probity.toml
            runners: Option<PathBuf> = None, flag_of("runners", "FILE"), guard(Guard::User);
            /// Maximum number of findings; probity drops the others
            max_findings: usize = 50, kind(ValueKind::IntIn(1, 10_000)),
                flag_of("max-findings", "N"), guard(Guard::AtLeast);
            /// Time limit for the agent
            timeout: Duration = Duration::from_secs(600), flag_of("timeout", "DURATION"),
                guard(Guard::AtMost);
            /// Number of tests to run at the same time; 0 means one for each processor
            jobs: usize = 0, flag_of("jobs", "N"), short('j'),
                guard(Guard::Limit(Usual::Processors));
            /// Sandbox for the agent and the tests; `auto` refuses to start if none works, and `none` runs
            /// them with all your rights
            sandbox: Sandbox = Sandbox::Auto,
                flag_of("sandbox", "KIND"), step("REVIEW_SANDBOX"), own_in_step(), guard(Guard::User);
            /// Pass these environment variables to the agent
            env: Vec<String> = Vec::new(), kind(ValueKind::Variables), flag_of("env", "NAME"),
                guard(Guard::User);
            /// Hosts that clients reach while they fetch the dependencies of tests, beside public ones: a
            /// private registry, for example; also for `audit --prove`
            fetch_hosts: Vec<String> = Vec::new(), kind(ValueKind::Hosts), guard(Guard::User);
            /// Environment variables that these clients get, by name, such as a registry's token
            fetch_env: Vec<String> = Vec::new(), kind(ValueKind::Variables), guard(Guard::User);
            /// Files and directories that these clients read, absolute or below the home directory, such
            /// as .npmrc
            fetch_files: Vec<String> = Vec::new(), guard(Guard::User);
            /// Format for standard output [default: text; in GitHub Actions, annotations]
            format: Option<ReviewFormat> = None, flag_of("format", "FORMAT"), short('f'),
                guard(Guard::Open);
            /// Directory for review.json, the tests and the reports
            output: PathBuf = "review".into(), flag_of("output", "DIR"), short('o'),
                step("OUTPUT_DIR"), guard(Guard::Below(&[]));
        }
    }
}
