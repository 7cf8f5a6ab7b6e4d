//! Names of rules that other tools have and that are not implemented here yet.
//!
//! A configuration or a directive that names one of them is no mistake; it is accepted with a warning.

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
    "tally/named-identity-in-passwdless-stage",
    "tally/newline-per-chained-call",
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
    "tally/shell-run-in-scratch",
    "tally/stateful-root-runtime",
    "tally/user-explicit-group-drops-supplementary-groups",
    "tally/windows/no-chown-flag",
    "tally/windows/no-run-mounts",
];

/// Whether another tool has a rule of this name: one of the list, or a numbered code of hadolint or
/// ShellCheck.
pub(crate) fn is_known_elsewhere(name: &str) -> bool {
    let bare =
        name.strip_prefix("hadolint/").or_else(|| name.strip_prefix("shellcheck/")).unwrap_or(name);
    let number = bare.strip_prefix("DL").or_else(|| bare.strip_prefix("SC"));
    let is_code = number.is_some_and(|digits| {
        digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_code || ELSEWHERE.iter().any(|rule| crate::ruleset::same_rule(name, rule))
}
