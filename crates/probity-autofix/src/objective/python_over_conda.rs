//! A Python image with pip or uv in the place of an image with conda.

use probity_dockerfile::Setting;

use super::{ObjectiveKind, Retry, explains_nothing, no_hints};
use crate::checks::{base_needs, conda, conda_image};

pub(crate) const PYTHON_OVER_CONDA: ObjectiveKind = ObjectiveKind {
    name: "python-over-conda",
    goal: "Base the image on the official slim Python image, and install the packages of conda with pip or uv.",
    constraints: &[
        "Use `python:X.Y-slim` with the Python version that conda installed, on Debian and not on Alpine.",
        "Install the same packages by their names on PyPI, in the versions that the original asks for: \
         `numpy=1.26.4` is `numpy==1.26.4`, `numpy=1.26` is `numpy==1.26.*`. Quote requirements with \
         `>`, `<` or `*`.",
        "Install with apt-get the libraries that wheels lack, such as libgomp1 for lightgbm, and the \
         programs that conda installed.",
        "Use pip of the image, `uv pip install --system`, or a virtual environment on PATH.",
        "Start the same program without `conda run`, and remove every other use of conda.",
        "If the original image does not start as root, create a user and set USER.",
        "Keep every other step, in its order.",
    ],
    hints: no_hints,
    must: conda_image::MUST_LEAVE_CONDA,
    patch_checks: &[],
    after_checks: &[
        conda_image::PYTHON_IMAGE,
        conda_image::WHEELS_KEPT,
        conda_image::WHEELS_WORK,
        conda_image::ONLY_CONDA_LEAVES,
        conda_image::STARTS_THE_SAME,
        base_needs::NEEDS_TOOLS,
    ],
    narrow_checks: &[],
    explains: explains_nothing,
    forgets: &[],
    settings: &[
        Setting::Cmd,
        Setting::Entrypoint,
        Setting::Env,
        Setting::Healthcheck,
        Setting::Shell,
        Setting::User,
    ],
    addresses: &[conda::WHEELS, conda_image::UV_IMAGE],
    retry: Retry::USUAL,
};
