//! A slim or distroless image in the place of a full one.

use serde_json::{Map, Value, json};

use super::{ObjectiveKind, Retry};
use crate::checks::{View, base_image, base_needs, contract, packages, slim_packages};

pub(crate) const SMALLER_BASE_IMAGE: ObjectiveKind = ObjectiveKind {
    name: "smaller-base-image",
    goal: "Base the final stage on a smaller image: the slim or alpine variant of the same version, \
           or a distroless image.",
    constraints: &[
        "Keep the name and the version of the image; only the variant may change.",
        "If the program or a command of the stage needs what only the full image has (git, curl, \
         libpq5, libsqlite3-0), install it with one RUN; answer NO_CHANGE if it needs a compiler.",
        "A distroless image has no shell, so RUN and shell-form commands cannot work in it.",
        "Change nothing else.",
    ],
    hints,
    must: base_image::MUST_CHANGE_BASE,
    patch_checks: &[],
    after_checks: &[
        base_image::BASE_FAMILY,
        base_needs::NEEDS_SHELL,
        base_needs::NEEDS_TOOLS,
        slim_packages::SLIM_NEEDS,
    ],
    narrow_checks: &[contract::ONLY_BASE, slim_packages::ONLY_PACKAGES_ADDED],
    explains: slim_packages::explained,
    forgets: &[contract::forget_base, contract::forget_runs],
    settings: &[],
    addresses: &[],
    retry: Retry::USUAL,
};

fn hints(view: &View<'_>) -> Map<String, Value> {
    let members = [
        ("base_image", json!(base_image::base(view))),
        (
            "installed_packages",
            json!(packages::installed(view).into_iter().take(30).collect::<Vec<_>>()),
        ),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
