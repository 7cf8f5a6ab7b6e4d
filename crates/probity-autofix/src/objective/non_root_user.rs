//! A user that is not root, for containers that end with root.

use probity_dockerfile::Setting;

use super::{ObjectiveKind, Retry, no_hints};
use crate::checks::{base_needs, contract, user};

pub(crate) const NON_ROOT_USER: ObjectiveKind = ObjectiveKind {
    name: "non-root-user",
    goal: "Let the container run as a user that is not root.",
    constraints: &[
        "End the final stage with a USER that is not root, after the last RUN, COPY and ADD.",
        "Use a user of the image, a number, or a system account that you create with one RUN.",
        "Give the user the volumes and the directories that the file creates, with chown.",
        "Answer NO_CHANGE if the program needs root.",
        "Change nothing else.",
    ],
    hints: no_hints,
    must: user::MUST_CHANGE_USER,
    patch_checks: &[],
    after_checks: &[
        user::USER_KNOWN,
        user::STATE_WRITABLE,
        base_needs::NEEDS_SHELL,
        base_needs::NEEDS_TOOLS,
    ],
    narrow_checks: &[user::ONLY_USER_CHANGES],
    explains: user::explained,
    forgets: &[contract::forget_runs, contract::forget_user],
    settings: &[Setting::User],
    addresses: &[],
    retry: Retry::USUAL,
};
