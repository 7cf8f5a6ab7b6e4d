//! Names of rules that other tools have and that are not implemented here yet.
//!
//! A configuration or a directive that names one of them is no mistake; it is accepted with a warning.

use std::ops::Range;

/// tally's rules that this version does not have. A name leaves the list when its rule arrives.
pub static ELSEWHERE: &[&str] = &[
    "tally/circular-stage-deps",
    "tally/consistent-indentation",
    "tally/copy-from-empty-scratch-stage",
    "tally/epilogue-order",
    "tally/gpu/cuda-version-mismatch",
    "tally/gpu/no-buildtime-gpu-queries",
    "tally/gpu/no-container-runtime-in-image",
    "tally/gpu/no-hardcoded-visible-devices",
    "tally/gpu/no-redundant-cuda-install",
    "tally/gpu/prefer-minimal-driver-capabilities",
    "tally/gpu/prefer-runtime-final-stage",
    "tally/gpu/prefer-uv-over-conda",
    "tally/invalid-json-form",
    "tally/invalid-onbuild-trigger",
    "tally/js/node-gyp-cache-mounts",
    "tally/labels/no-buildx-git-overlap",
    "tally/labels/no-duplicate-keys",
    "tally/labels/no-stale-base-digest",
    "tally/labels/prefer-grouped",
    "tally/labels/prefer-stable-order",
    "tally/php/composer-no-dev-in-production",
    "tally/php/enable-opcache-in-production",
    "tally/php/no-xdebug-in-final-image",
    "tally/platform-mismatch",
    "tally/powershell/error-action-preference",
    "tally/powershell/prefer-shell-instruction",
    "tally/powershell/progress-preference",
    "tally/prefer-add-git",
    "tally/prefer-add-unpack",
    "tally/prefer-curl-config",
    "tally/prefer-formatted-heredocs",
    "tally/prefer-telemetry-opt-out",
    "tally/prefer-vex-attestation",
    "tally/prefer-wget-config",
    "tally/require-secret-mounts",
    "tally/ruby/asset-precompile-without-dummy-key",
    "tally/ruby/bootsnap-precompile-without-j1",
    "tally/ruby/deprecated-bundler-install-flags",
    "tally/ruby/eol-ruby-version",
    "tally/ruby/healthcheck-rails-up-endpoint",
    "tally/ruby/jemalloc-installed-but-not-preloaded",
    "tally/ruby/leftover-bundler-cache",
    "tally/ruby/missing-bundle-deployment",
    "tally/ruby/missing-bundle-without-development",
    "tally/ruby/prefer-bundler-cache-mount",
    "tally/ruby/prefer-gemfile-bind-mounts",
    "tally/ruby/prefer-network-none-install",
    "tally/ruby/prefer-secret-mounts-for-build-credentials",
    "tally/ruby/redundant-bundler-install",
    "tally/ruby/secrets-in-arg-or-env",
    "tally/ruby/state-paths-not-writable-as-non-root",
    "tally/ruby/yjit-not-enabled-on-supported-runtime",
    "tally/windows/no-chown-flag",
    "tally/windows/no-run-mounts",
];

/// hadolint's codes that no rule here has: what it cannot parse, and what it gave up.
const HADOLINT: &[u32] = &[1000, 3005, 3017, 3031, 3039, 4002];

/// The numbers that ShellCheck gives. It goes on with every version, so that the hundred in which it
/// has got counts as a whole.
const SHELLCHECK: &[Range<u32>] = &[1000..1200, 2000..2400, 3000..3100];

/// Whether another tool has a rule of this name: one of the list, or a code of hadolint or ShellCheck.
pub(crate) fn is_known_elsewhere(name: &str) -> bool {
    is_foreign_code(name) || ELSEWHERE.iter().any(|rule| crate::ruleset::same_rule(name, rule))
}

/// Whether hadolint or ShellCheck has a code of this name, which may go without its namespace.
#[must_use]
pub fn is_foreign_code(name: &str) -> bool {
    let number = |namespace: &str, letters: &str| {
        let digits = name.strip_prefix(namespace).unwrap_or(name).strip_prefix(letters)?;
        let is_number = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|_| is_number)
    };
    let is_hadolints = number("hadolint/", "DL").is_some_and(|it| HADOLINT.contains(&it));
    let is_shellchecks = number("shellcheck/", "SC")
        .is_some_and(|it| SHELLCHECK.iter().any(|numbers| numbers.contains(&it)));
    is_hadolints || is_shellchecks
}
