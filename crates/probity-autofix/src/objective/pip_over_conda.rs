//! Python packages by uv or pip where conda does nothing else.

use super::{ObjectiveKind, Retry, no_hints};
use crate::checks::{conda, contract};

pub(crate) const PIP_OVER_CONDA: ObjectiveKind = ObjectiveKind {
    name: "pip-over-conda",
    goal: "Install Python packages with uv or pip instead of conda, for the same Python.",
    constraints: &[
        "Replace `conda install` by `pip install --no-cache-dir` of the same directory, or by `pip \
         install uv` and `uv pip install --system`.",
        "Install the same packages by their names on PyPI, in the versions that the original asks for: \
         `numpy=1.26` is `numpy==1.26.*`. Quote every requirement with `>`, `<` or `*`.",
        "If the original names a CUDA version, install torch, torchvision and torchaudio with a \
         command of their own and `--index-url https://download.pytorch.org/whl/cuNNN`.",
        "Leave packages that are not Python packages, or that you are not sure of, with conda.",
        "Keep conda itself and every other step.",
    ],
    hints: no_hints,
    must: conda::MUST_REPLACE_CONDA,
    patch_checks: &[],
    after_checks: &[conda::CONDA_PACKAGES_KEPT, conda::CUDA_KEPT],
    narrow_checks: &[contract::ONLY_RUNS, conda::ONLY_CONDA_CALLS],
    explains: conda::explained,
    forgets: &[contract::forget_runs],
    settings: &[],
    addresses: &[conda::WHEELS],
    retry: Retry::USUAL,
};
