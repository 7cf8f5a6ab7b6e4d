//! Wheels for another CUDA than that of the image.

use probity_finding::{Finding, Span};
use probity_shell::{Call, Word};

use crate::{
    engine::context::Context,
    facts::cuda::{self, CudaImage, Version},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` on `nvidia/cuda` that installs Python packages for a different CUDA version.
    ///
    /// The rule reads the CUDA version of the packages from these places:
    ///
    /// - package versions such as `torch==2.0.0+cu118`;
    /// - index URLs that end with a version such as `/cu118`;
    /// - `uv --torch-backend`;
    /// - conda's `pytorch-cuda` and `cudatoolkit`.
    ///
    /// The rule ignores packages for an earlier minor version of the same major version, because
    /// they work.
    ///
    /// # Why it is bad
    ///
    /// The packages fail when they start, or they use the CPU without a warning.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nvidia/cuda:12.1.0-runtime-ubuntu22.04
    /// RUN pip install --index-url https://download.pytorch.org/whl/cu118 torch
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.6.0-runtime-ubuntu22.04
    /// RUN pip install --index-url https://download.pytorch.org/whl/cu121 torch
    /// ```
    GpuCudaVersionMismatch {
        name: "tally/gpu/cuda-version-mismatch",
        severity: Warning,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/gpu/cuda-version-mismatch/",
    }
}

const INDEX_FLAGS: &[&str] = &["--index-url", "-i", "--extra-index-url"];
const CONDA_PACKAGES: &[&str] = &["cudatoolkit", "pytorch-cuda"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for stage in context.facts.stages() {
        let Some(image) = CudaImage::below(context, stage) else { continue };
        let Some(own) = image.version else { continue };
        for index in stage.instructions.clone() {
            let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
            let wanted = commands.flat_map(|command| versions(&command.effective()));
            let mut wrong = wanted.filter(|(_, version)| !works_on(*version, own));
            let Some((span, version)) = wrong.next() else { continue };
            let message = format!(
                "this is for CUDA {}.{}, but the base image has CUDA {}.{}",
                version.0, version.1, own.0, own.1
            );
            let more = wrong.map(|(span, _)| span);
            findings.push(context.finding(span, message).with_more_places(more));
        }
    }
}

fn works_on(wanted: Version, own: Version) -> bool {
    wanted.0 == own.0 && wanted.1 <= own.1
}

/// The versions of CUDA that a call names.
fn versions(call: &Call<'_>) -> Vec<(Span, Version)> {
    let Some(name) = call.name() else { return Vec::new() };
    let installs = call.args().iter().any(|word| word.is("install"));
    match name.as_ref() {
        _ if !installs => Vec::new(),
        "conda" | "mamba" | "micromamba" => of_each(call, conda_version),
        "pip" | "pip3" | "uv" | "python" | "python3" => {
            let mut found = of_each(call, local_version);
            found.extend(flagged(call));
            found
        }
        _ => Vec::new(),
    }
}

fn of_each(call: &Call<'_>, version: fn(&str) -> Option<Version>) -> Vec<(Span, Version)> {
    let named = |word: &Word| Some((word.span(), version(&word.literal()?)?));
    call.args().iter().filter_map(named).collect()
}

/// `torch==2.0.0+cu118`
fn local_version(package: &str) -> Option<Version> {
    cuda::suffix(package.rsplit_once('+')?.1)
}

/// `pytorch-cuda=11.8`
fn conda_version(package: &str) -> Option<Version> {
    let (name, version) = package.split_once('=')?;
    if !CONDA_PACKAGES.contains(&name) {
        return None;
    }
    cuda::dotted(version.trim_start_matches('='))
}

/// `--index-url https://download.pytorch.org/whl/cu118`, `--torch-backend=cu118`
fn flagged(call: &Call<'_>) -> Option<(Span, Version)> {
    if let Some((word, value)) = call.flag_value(INDEX_FLAGS) {
        let last = value.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        return Some((word.span(), cuda::suffix(last)?));
    }
    let (word, value) = call.flag_value(&["--torch-backend"])?;
    Some((word.span(), cuda::suffix(&value)?))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/gpu/cuda-version-mismatch";

    #[test]
    fn the_word_with_the_version_is_underlined() {
        check(
            RULE,
            "\
FROM nvidia/cuda:12.1.0-devel-ubuntu20.04 AS a
RUN pip install torch==2.0.0+cu118 && uv pip install --torch-backend=cu124 x
                ^^^^^^^^^^^^^^^^^^ this is for CUDA 11.8, but the base image has CUDA 12.1
                                                     ^^^^^^^^^^^^^^^^^^^^^ likewise
FROM a
RUN conda install -y pytorch-cuda=11.8
                     ^^^^^^^^^^^^^^^^^ this is for CUDA 11.8, but the base image has CUDA 12.1
",
        );
    }

    #[test]
    fn what_fits_and_what_is_not_known_is_silent() {
        for text in [
            "FROM nvidia/cuda:12.6.0-base-ubuntu22.04\nRUN pip install torch==2.0.0+cu121",
            "FROM nvidia/cuda:12.6.0-base-ubuntu22.04\nRUN pip download torch==2.0.0+cu118",
            "FROM nvidia/cuda:12.6.0-base-ubuntu22.04\nRUN pip install torch==2.0.0+cpu curl+cu",
            "ARG V=12.1.0\nFROM nvidia/cuda:${V}-base-ubuntu22.04\nRUN pip install a+cu118",
            "FROM debian:12\nRUN pip install torch==2.0.0+cu118",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
