//! Secrets as mounts of the commands that need them, for builds that keep none in the image.

use probity_dockerfile::Setting;

use super::{ObjectiveKind, Retry, no_hints};
use crate::checks::{contract, secret_mounts};

pub(crate) const SECRET_MOUNTS: ObjectiveKind = ObjectiveKind {
    name: "secret-mounts",
    goal: "Move secrets from ARG and ENV to secret mounts of the RUN instructions that read them.",
    constraints: &[
        "Remove the ARG and the ENV of the secret, and add `--mount=type=secret,id=ID,env=NAME` with \
         the name of the variable to each RUN that names it or installs packages with it; leave the \
         commands as they are.",
        "With a `# syntax` older than 1.10, mount a file instead, and replace `$NAME` by \
         `$(cat /run/secrets/ID)`.",
        "Use one id for each secret.",
        "Answer NO_CHANGE if the container's program may read the variable, or if an instruction other \
         than RUN needs it.",
        "Change nothing else.",
    ],
    hints: no_hints,
    must: secret_mounts::MUST_MOUNT_SECRET,
    patch_checks: &[],
    after_checks: &[secret_mounts::SECRETS_MOUNTED, secret_mounts::SECRETS_SUPPORTED],
    narrow_checks: &[secret_mounts::ONLY_SECRETS_MOVE],
    explains: secret_mounts::explained,
    forgets: &[contract::forget_runs, contract::forget_variables],
    settings: &[Setting::Env],
    addresses: &[],
    retry: Retry::USUAL,
};
