//! From one stage to several: build in one, run in another.

use super::{ObjectiveKind, Retry, explains_nothing, no_hints};
use crate::checks::{
    arrival, base_needs, belongings, final_image, kept, kept_packages, new_bases,
    patch::MUST_ADD_FROM, scope, stages, steps, user_made,
};

pub(crate) const MULTI_STAGE: ObjectiveKind = ObjectiveKind {
    name: "multi-stage",
    goal: "Convert the single stage into a multi-stage build: one or more stages that build, and a \
           final stage that holds only what runs.",
    constraints: &[
        "Move compilers, build packages and sources into a build stage, and copy the results into \
         the final stage with COPY --from.",
        "Repeat in the final stage every ENTRYPOINT, CMD, EXPOSE, USER, WORKDIR, ENV, LABEL, \
         HEALTHCHECK, SHELL, STOPSIGNAL and VOLUME of the original, with the same values, also \
         where the build stage needs them too.",
        "Keep every RUN, COPY, ADD, ARG, ONBUILD and SHELL as it is written and in its order. A build \
         stage may also move files, mount caches and write its result elsewhere. The final stage gets \
         results at the places where they were, and adds only directories, users, run-time \
         libraries, and packages that the original installs.",
        "Declare every ARG and ENV in each stage whose steps read it.",
        "Give every build stage a name, and use every stage.",
        "Choose a final base image on which the program runs: the same distribution in a smaller \
         variant is safe; scratch or distroless only for a program that needs no shell and no \
         system libraries.",
    ],
    hints: no_hints,
    must: MUST_ADD_FROM,
    patch_checks: &[],
    after_checks: &[
        stages::STAGE_COUNT,
        stages::FINAL_STAGE_BUILDS,
        steps::STEPS_KEPT,
        scope::VARIABLES_KEPT,
        arrival::RESULTS_ARRIVE,
        belongings::ENTRY_COPIED,
        user_made::USER_MADE,
        kept::PATHS_KEPT,
        kept_packages::PACKAGES_KEPT,
        new_bases::NEW_BASE,
        new_bases::GAINS_NOTHING,
        final_image::BASE_COMMAND,
        final_image::BASE_RELEASE,
        final_image::RUNTIME_VERSION,
        base_needs::NEEDS_SHELL,
        base_needs::NEEDS_TOOLS,
        final_image::NEEDS_LIBC,
    ],
    narrow_checks: &[],
    explains: explains_nothing,
    forgets: &[],
    settings: &[],
    addresses: &[],
    retry: Retry::USUAL,
};
