//! Python packages by pip or uv in the place of conda: the same packages in the same versions, for the same
//! Python, and every other step as it was.

mod cuda;
mod install;
mod plan;

use std::collections::BTreeSet;

use self::{
    install::Conda,
    plan::{Item, Plan, Spot},
};
use super::{Change, Check, Explained, Issue, View, steps::written};

pub(crate) const MUST_REPLACE_CONDA: Check =
    Check::new("patch/must-replace-conda", must_replace_conda);
pub(crate) const CONDA_PACKAGES_KEPT: Check = Check::new("conda-packages-kept", packages_kept);
pub(crate) const CUDA_KEPT: Check = Check::new("cuda-kept", cuda::cuda_kept);
pub(crate) const ONLY_CONDA_CALLS: Check = Check::new("only-conda-calls-change", only_conda_calls);

/// The index of wheels for each version of CUDA.
pub(crate) const WHEELS: &str = "https://download.pytorch.org/whl/";

/// Conda's names of Python packages that PyPI has, where the names differ.
const RENAMED: &[(&str, &[&str])] = &[
    ("pytorch", &["torch"]),
    ("opencv", &["opencv-python", "opencv-python-headless"]),
    ("py-opencv", &["opencv-python", "opencv-python-headless"]),
];

/// Packages that pip installs by the same name and that need no build for a version of CUDA.
const SAME: &[&str] = &[
    "accelerate",
    "boto3",
    "click",
    "datasets",
    "diffusers",
    "einops",
    "fastapi",
    "flask",
    "gunicorn",
    "h5py",
    "ipython",
    "jupyter",
    "jupyterlab",
    "librosa",
    "lightning",
    "matplotlib",
    "networkx",
    "nltk",
    "notebook",
    "numpy",
    "omegaconf",
    "pandas",
    "peft",
    "pillow",
    "pyarrow",
    "pydantic",
    "pytorch-lightning",
    "pyyaml",
    "requests",
    "rich",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "seaborn",
    "sentencepiece",
    "sqlalchemy",
    "sympy",
    "tensorboard",
    "tokenizers",
    "torchaudio",
    "torchvision",
    "tqdm",
    "transformers",
    "uvicorn",
    "wandb",
];

/// Channels that offer what PyPI does.
const CHANNELS: &[&str] =
    &["anaconda", "conda-forge", "defaults", "huggingface", "main", "nvidia", "pytorch"];

fn must_replace_conda(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let packages = |view: &View<'_>| {
        let plan = Plan::of(view, &|_| false);
        plan.items.iter().filter_map(Item::conda).map(|it| it.packages.len()).sum::<usize>()
    };
    if packages(change.after) < packages(change.before) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch takes no Python package away from conda")]
}

/// The packages that conda no longer installs, each at the spot where it did.
fn gone<'p>(old: &'p Spot<'_>, new: &Spot<'_>) -> Vec<(&'p Conda, &'p str)> {
    let mut gone = Vec::new();
    for conda in &old.condas {
        let is_kept = |package: &str| {
            let same = new.condas.iter().filter(|it| it.is_same_call(conda));
            same.flat_map(|it| &it.packages).any(|it| it == package)
        };
        let lost = conda.packages.iter().filter(|package| !is_kept(package));
        gone.extend(lost.map(|package| (*conda, package.as_str())));
    }
    gone
}

fn packages_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = plans(change);
    let mut issues = Vec::new();
    for (was, is) in &spots(&old, &new) {
        let gone = gone(was, is);
        let mut used = Vec::new();
        for (conda, package) in &gone {
            if cuda::is_marker(package) {
                continue;
            }
            match replacement(conda, package, is) {
                Ok(requirement) => used.push(requirement),
                Err(message) => issues.push(change.issue(check, &message)),
            }
        }
        for pip in &is.pips {
            let is_wanted = |it: &str| used.contains(&it) || (it == "uv" && !pip.is_uv);
            if let Some(more) = pip.packages.iter().find(|it| !is_wanted(it)) {
                let message = format!("conda did not install `{more}` here");
                issues.push(change.issue(check, &message));
            }
            if pip.is_uv && !new.has_uv_before(pip) {
                let message = "no earlier step installs uv; run `pip install uv` before";
                issues.push(change.issue(check, message));
            }
        }
    }
    issues
}

/// The pip requirement for a package of conda, or the reason why pip has none.
fn replacement<'p>(conda: &Conda, package: &str, new: &Spot<'p>) -> Result<&'p str, String> {
    if let Some(why) = conda.is_apart() {
        return Err(format!("`{package}` must stay with conda: {why}"));
    }
    let (name, version) = install::conda_parts(package);
    let renamed = RENAMED.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    let same = [name];
    let names = match renamed {
        Some(names) => names,
        None if SAME.contains(&name) => same.as_slice(),
        None => {
            return Err(format!(
                "`{package}` must stay with conda: probity does not know that PyPI has it"
            ));
        }
    };
    let mut requirements = new
        .pips
        .iter()
        .filter(|pip| pip.is_of(conda))
        .flat_map(|pip| pip.packages.iter().map(String::as_str));
    let found = requirements.find(|it| names.contains(&install::pip_parts(it).0));
    let found = found.ok_or_else(|| {
        let names = names.join("` or `");
        format!(
            "pip of the Python that conda served must install `{names}` in the place of `{package}`"
        )
    })?;
    match install::is_same_version(version, install::pip_parts(found).1) {
        true => Ok(found),
        false => Err(format!("`{found}` is not the version that `{package}` asks for")),
    }
}

/// The other steps stay, in their order, and installs stay between the same two of them.
fn only_conda_calls(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = plans(change);
    let (was, is) = (old.rest(), new.rest());
    if was != is {
        let place = is.iter().zip(&was).find(|(new, old)| new != old).map(|(new, _)| *new);
        let message = "only installs by conda may change, to installs by pip or uv without options that \
                       change where packages come from or go to; every other step must stay";
        return vec![change.issue(check, message).quoting(place.unwrap_or_default())];
    }
    let mut issues = Vec::new();
    for (was, is) in &spots(&old, &new) {
        let is_old = |conda: &Conda| {
            was.condas.iter().any(|old| {
                old.is_same_call(conda) && conda.packages.iter().all(|it| old.packages.contains(it))
            })
        };
        if let Some(more) = is.condas.iter().find(|it| !is_old(it)) {
            let message = format!("`{}` installs something else than before", more.program);
            issues.push(change.issue(check, &message));
        }
        if gone(was, is).is_empty()
            && !is.pips.is_empty()
            && !is.pips.iter().all(|it| it.is_for_uv())
        {
            issues.push(change.issue(check, "conda installed nothing here"));
        }
    }
    issues
}

/// The RUNs that changed, if nothing in them did but installs by conda and pip.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let installs = |view: &View<'_>, other: &View<'_>| -> BTreeSet<usize> {
        let kept: Vec<String> =
            other.file.instructions.iter().map(|it| written(other, it)).collect();
        let all = view.file.instructions.iter().enumerate();
        let changed = all.filter(|(_, it)| !kept.contains(&written(view, it)));
        let has_install = |index: &usize| {
            let one = Plan::of(view, &|other| other != *index);
            one.items.iter().any(|item| matches!(item, Item::Conda(_) | Item::Pip(..)))
        };
        changed.map(|(index, _)| index).filter(has_install).collect()
    };
    let before = installs(change.before, change.after);
    let after = installs(change.after, change.before);
    let mut old = Plan::of(change.before, &|index| !before.contains(&index));
    let mut new = Plan::of(change.after, &|index| !after.contains(&index));
    new.keep_known(&old);
    old.keep_all_pips();
    match old.rest() == new.rest() {
        true => Explained { before, after },
        false => Explained::default(),
    }
}

/// What is installed at the same place of both files. Where steps moved, the files are one place each.
fn spots<'p>(old: &'p Plan, new: &'p Plan) -> Vec<(Spot<'p>, Spot<'p>)> {
    let (olds, news) = (old.spots(), new.spots());
    match old.rest() == new.rest() {
        true => olds.into_iter().zip(news).collect(),
        false => vec![(Spot::joined(olds), Spot::joined(news))],
    }
}

fn plans(change: &Change<'_>) -> (Plan, Plan) {
    let explained = &change.limits.explained;
    let mut old = Plan::of(change.before, &|index| explained.before.contains(&index));
    let mut new = Plan::of(change.after, &|index| explained.after.contains(&index));
    // An install by pip that was there before is a step like any other.
    new.keep_known(&old);
    old.keep_all_pips();
    (old, new)
}
