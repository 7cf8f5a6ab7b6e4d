//! `[check]`: what is linted, by which rules, and what is reported.

use std::{path::PathBuf, time::Duration};

use probity_finding::Applicability;
use probity_lint::Preset;
use probity_report::Format;

use super::section;
use crate::config::{
    guard::{Guard, Usual},
    kind::ValueKind,
    own_rules::OwnRules,
    value::Sourced,
    words::{FailLevel, ShellcheckMode, SlowChecksMode},
};

section! {
    check Check {
        {
            /// Rule set: `recommended` finds defects, `strict` adds correctness, size and security,
            /// `all` adds layout and style
            preset: Preset = Preset::Recommended, flag_of("preset", "PRESET"), guard(Guard::Open);
            /// With --fix or --diff: apply suggestions and unsafe fixes too
            unsafe_fixes: Option<bool> = None, flag("fix-unsafe"), tally("unsafe-fixes"),
                also(&["TALLY_FIX_UNSAFE"]), guard(Guard::Open);
            /// Apply fixes up to this level: `safe` keeps the image as it is, `suggestion` may change
            /// it, `unsafe` may change behavior
            fix_level: Option<Applicability> = None, flag_of("fix-level", "LEVEL"), not_in_file();
            /// Apply safe fixes
            fix: bool = false, flag("fix"), tally("fix"), not_in_file();
            /// Apply only the fixes of these rules; all rules if empty
            fix_rule: Vec<String> = Vec::new(), flag_of("fix-rule", "RULE"), tally("fix-rule"),
                not_in_file();
            /// Skip files that match these globs
            exclude: Vec<String> = Vec::new(), kind(ValueKind::Globs), flag_of("exclude", "GLOB"),
                tally("exclude"), not_in_file();
            /// Build context directory, for rules that read it
            context: Option<PathBuf> = None, flag_of("context", "DIR"), tally("context"),
                not_in_file();
            /// Hide the findings that this file lists, and remove those that no longer exist from it
            baseline: Option<PathBuf> = None, flag_of("baseline", "FILE"),
                guard(Guard::Below(&[]));
            /// Rules of your own, each a table with name, message and when
            rule: OwnRules = OwnRules::default(), guard(Guard::Open);
        }
        output Output {
            /// Report format
            format: Format = Format::Text, flag_of("format", "FORMAT"), short('f'),
                tally("output.format"), also(&["TALLY_FORMAT"]), guard(Guard::Open);
            /// Report destination: `stdout` (or `-`), `stderr` or a file
            path: String = "stdout".to_owned(), flag_of("output", "PATH"), short('o'),
                tally("output.path"), guard(Guard::Below(&["stdout", "stderr", "-"]));
            /// Show the source lines of each finding
            show_source: bool = true, flag("show-source"),
                no_flag("hide-source", "Hide the source lines of findings; wins over --show-source"),
                tally("output.show-source"), guard(Guard::Open);
            /// Lowest severity that makes the exit code 1
            fail_level: FailLevel = FailLevel::Warning, flag_of("fail-level", "LEVEL"),
                tally("output.fail-level"), tally_default("style"), guard(Guard::Open);
        }
        rules RuleChoice {
            /// Rules to run: names, `namespace/*` or `*`; the flag runs only these, the key adds them
            include: Vec<Sourced<String>> = Vec::new(), flag_of("select", "RULE"),
                tally("rules.include"), also(&["TALLY_RULES_SELECT"]), appends(),
                guard(Guard::Open);
            /// Rules to disable: names, `namespace/*` or `*`; wins over selected rules
            exclude: Vec<Sourced<String>> = Vec::new(), flag_of("ignore", "RULE"),
                tally("rules.exclude"), also(&["TALLY_RULES_IGNORE"]), appends(),
                guard(Guard::Open);
        }
        inline_directives InlineDirectives {
            /// Apply the suppression comments in the files
            enabled: bool = true, tally("inline-directives.enabled"),
                no_flag("no-inline-directives", "Ignore the suppression comments in the files"),
                guard(Guard::Open);
            /// Report directives that name unknown rules
            validate_rules: bool = false, tally("inline-directives.validate-rules"),
                guard(Guard::Open);
            /// Report directives that suppress nothing
            warn_unused: bool = false, flag("warn-unused-directives"),
                tally("inline-directives.warn-unused"), guard(Guard::Open);
            /// Report directives without a reason
            require_reason: bool = false, flag("require-reason"),
                tally("inline-directives.require-reason"), guard(Guard::Open);
        }
        file_validation FileValidation {
            /// Maximum size of a checked file in bytes; 0 means no limit
            max_file_size: u64 = 0, tally("file-validation.max-file-size"),
                tally_default("102400"), guard(Guard::Limit(Usual::Unlimited));
        }
        slow_checks SlowChecks {
            /// Ask registries about base images; `auto` means in a terminal, not in CI
            mode: SlowChecksMode = SlowChecksMode::Auto, flag_of("slow-checks", "WHEN"),
                tally("slow-checks.mode"), also(&["TALLY_SLOW_CHECKS"]),
                guard(Guard::Tighten(&["off", "auto", "on"]));
            /// Time limit for all slow checks together
            timeout: Duration = Duration::from_secs(20), flag_of("slow-checks-timeout", "DURATION"),
                tally("slow-checks.timeout"), guard(Guard::AtMost);
            /// Skip slow checks for files that already have an error
            fail_fast: bool = true, tally("slow-checks.fail-fast"),
                guard(Guard::Tighten(&["true", "false"]));
            /// Registries to ask first: `registry=mirror`, or `mirror` for Docker Hub
            mirrors: Vec<String> = Vec::new(), guard(Guard::User);
            /// Registries on this machine to ask without TLS, such as `localhost:5000`
            insecure_registries: Vec<String> = Vec::new(), guard(Guard::User);
        }
        shellcheck Shellcheck {
            /// Source of ShellCheck findings: probity itself, an installed `shellcheck`, or none
            mode: ShellcheckMode = ShellcheckMode::Native, flag_of("shellcheck", "HOW"),
                tally("shellcheck.mode"), also(&["TALLY_SHELLCHECK"]), guard(Guard::Open);
            /// Time limit for one run of an installed `shellcheck`
            timeout: Duration = Duration::from_secs(60), tally("shellcheck.timeout"),
                guard(Guard::AtMost);
        }
    }
}
