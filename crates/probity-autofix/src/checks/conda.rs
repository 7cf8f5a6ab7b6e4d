//! Python packages by pip or uv in the place of conda: the same packages in the same versions, for the same
//! Python, and every other step as it was.

mod cuda;
mod install;
mod plan;

use std::collections::BTreeSet;

use probity_lint::{CondaPackage, conda_package, conda_parts};

pub(super) use self::install::{is_same_version, pip_parts};
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

/// Packages whose wheels on PyPI are for one version of CUDA or for none.
const OTHER_BUILDS: &[&str] = &[
    "faiss",
    "faiss-cpu",
    "jax",
    "jaxlib",
    "keras",
    "onnxruntime",
    "tensorflow",
    "tensorflow-cpu",
];

/// Channels that offer what PyPI does.
const CHANNELS: &[&str] =
    &["anaconda", "conda-forge", "defaults", "huggingface", "main", "nvidia", "pytorch"];

fn must_replace_conda(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let packages = |view: &View<'_>| {
        let plan = Plan::of(view, &|_| false);
        plan.items.iter().filter_map(Item::conda).map(|conda| conda.packages.len()).sum::<usize>()
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
            let same = new.condas.iter().filter(|other| other.is_same_call(conda));
            same.flat_map(|other| &other.packages).any(|it| it == package)
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
            let is_wanted =
                |package: &str| used.contains(&package) || (package == "uv" && !pip.is_uv);
            if let Some(more) = pip.packages.iter().find(|package| !is_wanted(package)) {
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
    let (name, version) = conda_parts(package);
    let wheel = conda_package(name).filter(|_| !OTHER_BUILDS.contains(&name));
    let Some(CondaPackage::Wheel(names)) = wheel else {
        return Err(format!(
            "`{package}` must stay with conda: probity does not know that PyPI has it"
        ));
    };
    let mut requirements = new
        .pips
        .iter()
        .filter(|pip| pip.is_of(conda))
        .flat_map(|pip| pip.packages.iter().map(String::as_str));
    let found = requirements.find(|requirement| names.contains(&install::pip_parts(requirement).0));
    let found = found.ok_or_else(|| {
        let names = names.join("` or `");
        format!(
            "pip of the Python that conda served must install `{names}` in the place of `{package}`"
        )
    })?;
    if install::is_same_version(version, install::pip_parts(found).1) {
        Ok(found)
    } else {
        Err(format!("`{found}` is not the version that `{package}` asks for"))
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
                old.is_same_call(conda)
                    && conda.packages.iter().all(|package| old.packages.contains(package))
            })
        };
        if let Some(more) = is.condas.iter().find(|conda| !is_old(conda)) {
            let message = format!("`{}` installs something else than before", more.program);
            issues.push(change.issue(check, &message));
        }
        if gone(was, is).is_empty()
            && !is.pips.is_empty()
            && !is.pips.iter().all(|pip| pip.is_for_uv())
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
            other.file.instructions.iter().map(|instruction| written(other, instruction)).collect();
        let all = view.file.instructions.iter().enumerate();
        let changed = all.filter(|(_, instruction)| !kept.contains(&written(view, instruction)));
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
    if old.rest() == new.rest() { Explained { before, after } } else { Explained::default() }
}

/// What is installed at the same place of both files. Where steps moved, the files are one place each.
fn spots<'p>(old: &'p Plan, new: &'p Plan) -> Vec<(Spot<'p>, Spot<'p>)> {
    let (olds, news) = (old.spots(), new.spots());
    if old.rest() == new.rest() {
        olds.into_iter().zip(news).collect()
    } else {
        vec![(Spot::joined(olds), Spot::joined(news))]
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
