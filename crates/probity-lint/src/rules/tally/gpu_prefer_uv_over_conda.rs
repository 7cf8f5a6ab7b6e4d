//! Python packages for a GPU by a slow installer.

use probity_dockerfile::{Base, ImageRef, Stage};
use probity_finding::{Finding, Fix};
use probity_shell::Call;

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::conda::is_into_base,
};

rule! {
    /// # What it does
    ///
    /// Flags a `conda install` of Python packages on an image for GPUs.
    ///
    /// The rule also knows `mamba` and `micromamba`. Images for GPUs are `nvidia/cuda`,
    /// `nvidia/cudagl`, `nvcr.io/nvidia/*` and `pytorch/pytorch`. If any stage runs
    /// `conda env create`, the rule ignores the whole Dockerfile.
    ///
    /// # Why it is bad
    ///
    /// These images use conda only to install packages. `uv` resolves packages faster, and its
    /// wheel index names the CUDA version.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nvidia/cuda:12.1.0-runtime-ubuntu22.04
    /// RUN conda install -y pytorch pytorch-cuda=12.1 -c pytorch -c nvidia
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.1.0-runtime-ubuntu22.04
    /// RUN uv pip install --system --index-url https://download.pytorch.org/whl/cu121 torch
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the packages, because PyPI has other names and other builds than
    /// conda's channels. probity offers no fix for `micromamba`, and none for an install into an
    /// environment other than `base` or from a file.
    GpuPreferUvOverConda {
        name: "tally/gpu/prefer-uv-over-conda",
        severity: Info,
        category: BestPractice,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("50")],
        url: "https://tally.wharflab.com/rules/tally/gpu/prefer-uv-over-conda/",
    }
}

const CONDA: &[&str] = &["conda", "mamba", "micromamba"];

const PACKAGES: &[&str] = &[
    "accelerate",
    "bitsandbytes",
    "cudatoolkit",
    "cupy",
    "datasets",
    "deepspeed",
    "diffusers",
    "flash-attn",
    "jax",
    "jaxlib",
    "jupyter",
    "jupyterlab",
    "keras",
    "lightning",
    "matplotlib",
    "numpy",
    "onnxruntime",
    "opencv",
    "pandas",
    "peft",
    "pillow",
    "pytorch",
    "pytorch-cuda",
    "pytorch-lightning",
    "scikit-learn",
    "scipy",
    "sentencepiece",
    "tensorflow",
    "tokenizers",
    "torch",
    "torchaudio",
    "torchvision",
    "tqdm",
    "transformers",
    "triton",
    "vllm",
    "xformers",
];

/// Flags of conda whose value is the next word.
const VALUED: &[&str] = &["-c", "--channel", "-n", "--name", "-p", "--prefix"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let calls = |stage: &Stage| {
        let scripts = stage.instructions.clone().flat_map(|index| context.scripts(index));
        let commands = scripts.flat_map(|script| &script.commands);
        commands.map(|command| command.effective()).filter(|call| call.is_any(CONDA))
    };
    let makes_environment = |call: Call<'_>| {
        let words = call.positional(VALUED);
        matches!(words.as_slice(), [env, create, ..] if env.is("env") && create.is("create"))
    };
    if context.facts.stages().iter().flat_map(calls).any(makes_environment) {
        return;
    }
    for stage in context.facts.stages().iter().filter(|stage| is_for_gpus(context, stage)) {
        let mut installs = calls(stage).filter(|call| installs_python(call));
        let Some(call) = installs.next() else { continue };
        let Some(name) = call.name_word() else { continue };
        let message = "conda only installs Python packages here; uv does it faster";
        let finding = context.finding(name.span(), message);
        findings.push(if is_into_base(&call) {
            finding.with_fix(by_agent(context))
        } else {
            finding
        });
    }
}

fn by_agent(context: &Context<'_>) -> Fix {
    context.fix_by_agent(
        "pip-over-conda",
        "AI AutoFix: install Python packages with uv or pip",
        159,
    )
}

fn is_for_gpus(context: &Context<'_>, stage: &Stage) -> bool {
    let root = context.facts.stages().get(stage.root);
    let Some(Base::Image(name)) = root.map(|root| &root.base) else { return false };
    let Ok(image) = ImageRef::parse(name) else { return false };
    let name = image.familiar_name();
    matches!(name.as_str(), "nvidia/cuda" | "nvidia/cudagl" | "pytorch/pytorch")
        || name.starts_with("nvcr.io/nvidia/")
}

fn installs_python(call: &Call<'_>) -> bool {
    let words = call.positional(VALUED);
    let Some((verb, packages)) = words.split_first() else { return false };
    let is_known = |value: &str| {
        let name = value.split(['=', '<', '>', '~', '!']).next().unwrap_or_default();
        PACKAGES.contains(&name)
    };
    verb.is("install") && packages.iter().any(|word| is_known(&word.prefix()))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "tally/gpu/prefer-uv-over-conda";

    #[test]
    fn an_agent_is_asked_for_installs_into_the_base_environment() {
        for (command, count) in [
            ("conda install -y numpy", 1),
            ("mamba install -n base numpy", 1),
            ("micromamba install numpy", 0),
            ("conda install -n train numpy", 0),
            ("conda install --prefix=/env numpy", 0),
            ("conda install --file a.txt numpy", 0),
        ] {
            let found = run(RULE, &format!("FROM nvidia/cuda:12\nRUN {command}\n"));
            assert_eq!(found.len(), 1, "{command}");
            assert_eq!(found[0].fixes.len(), count, "{command}");
        }
    }

    #[test]
    fn the_first_install_of_a_stage_is_underlined() {
        check(
            RULE,
            "\
FROM pytorch/pytorch:2.1.0 AS a
RUN conda install -y gcc && mamba install -c x numpy=1
                            ^^^^^ conda only installs Python packages here; uv does it faster
RUN conda install scipy
",
        );
    }

    #[test]
    fn other_images_packages_and_environments_are_silent() {
        for text in [
            "FROM debian:12\nRUN conda install numpy",
            "FROM nvidia/cuda:12\nRUN conda install -c numpy gcc",
            "FROM nvidia/cuda:12\nRUN conda env create -f a.yml\nRUN conda install numpy",
            "FROM nvidia/cuda:12\nRUN conda create -n x numpy",
            "FROM nvidia/cuda:12\nRUN pip install numpy",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
