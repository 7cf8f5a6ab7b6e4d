//! PyTorch is built for one version of CUDA each: the one that conda was asked for, or that of the image.

use probity_lint::conda_parts;

use super::{WHEELS, gone, install, plan::Spot, plans, spots};
use crate::checks::{Change, Check, Issue, View, base_image::base};

/// Packages that the index of PyTorch has in a build for each version of CUDA, by conda's and pip's names.
const BUILT_FOR_CUDA: &[&str] = &["pytorch", "torch", "torchaudio", "torchvision"];

/// Packages of conda that only choose the build of others.
pub(super) fn is_marker(package: &str) -> bool {
    marked(package).is_some()
}

/// The build that such a package chooses, as the index names it.
fn marked(package: &str) -> Option<String> {
    let (name, version) = conda_parts(package);
    match name {
        "cpuonly" => Some("cpu".to_owned()),
        "pytorch-cuda" | "cudatoolkit" => build_of(version.trim_start_matches('=')),
        _ => None,
    }
}

/// `12.1.1` is `cu121` to the index.
fn build_of(version: &str) -> Option<String> {
    let mut numbers = version.split('.').take(2).map(|part| part.parse::<u32>().ok());
    Some(format!("cu{}{}", numbers.next()??, numbers.next()??))
}

/// The build for the version of CUDA that the tag of the base image names.
fn build_of_base(view: &View<'_>) -> Option<String> {
    let image = base(view)?;
    let (name, tag) = image.rsplit_once(':')?;
    let part = tag.split('-').find_map(|part| part.strip_prefix("cuda"));
    match part {
        Some(version) => build_of(version),
        None if name.ends_with("nvidia/cuda") => build_of(tag.split('-').next()?),
        None => None,
    }
}

pub(super) fn cuda_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = plans(change);
    let mut faults = Vec::new();
    for (was, is) in &spots(&old, &new) {
        faults.extend(fault(was, is, build_of_base(change.before)));
    }
    faults.iter().map(|message| change.issue(check, message)).collect()
}

fn fault(was: &Spot<'_>, is: &Spot<'_>, of_base: Option<String>) -> Option<String> {
    let gone = gone(was, is);
    let is_built = |name: &str| BUILT_FOR_CUDA.contains(&name);
    let leaves = gone.iter().any(|(_, package)| is_built(conda_parts(package).0));
    let all = was.condas.iter().flat_map(|conda| &conda.packages);
    let stated = all.clone().find_map(|package| marked(package));
    let stays = is.condas.iter().flat_map(|conda| &conda.packages);
    let stays = stays.into_iter().any(|package| is_built(conda_parts(package).0));
    let marker = gone.iter().find(|(_, package)| is_marker(package));
    if let Some((_, marker)) = marker
        && (stays || !leaves)
    {
        return Some(format!(
            "`{marker}` must stay beside the packages that it chooses a build of"
        ));
    }
    for pip in &is.pips {
        let has_built = pip.packages.iter().any(|package| is_built(install::pip_parts(package).0));
        let Some(index) = pip.index.as_ref().or(pip.extra_index.as_ref()) else {
            match &stated {
                Some(build) if has_built => {
                    return Some(format!(
                        "`{}` is where the build for this CUDA is",
                        WHEELS.to_owned() + build
                    ));
                }
                _ => continue,
            }
        };
        let build = index.strip_prefix(WHEELS);
        let Some(build) = build.filter(|_| has_built) else {
            return Some(format!("nothing here needs the index `{index}`"));
        };
        let wanted = stated.as_ref().or(of_base.as_ref());
        if wanted.is_none_or(|wanted| wanted != build) {
            let wanted = wanted.map_or("not in the file", String::as_str);
            return Some(format!(
                "the index is for `{build}`, but the build for this image is {wanted}"
            ));
        }
        let other = pip.packages.iter().find(|package| !is_built(install::pip_parts(package).0));
        if let (Some(other), Some(_)) = (other, &pip.index) {
            return Some(format!(
                "`{index}` does not have `{other}`; install it with another command"
            ));
        }
    }
    None
}
