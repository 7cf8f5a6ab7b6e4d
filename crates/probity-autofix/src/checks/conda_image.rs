//! A Python image with pip or uv in the place of an image with conda: the same Python, the same packages in
//! the same versions with the libraries that their wheels lack, the same other steps, and the same start.

mod packages;
mod pip;
mod plan;
mod script;
mod start;

use std::collections::BTreeSet;

use probity_dockerfile::{ImageRef, Keyword, Setting};
use probity_lint::{CONDA_PROGRAMS, CondaPackage, conda_package, conda_parts};

use self::{
    packages::{ImageParts, lacking},
    pip::{Pip, PipTarget, ROOTS, environments},
    plan::{Item, Step, items},
};
use super::{
    Change, Check, Issue, View,
    base_image::base,
    belongings::final_chain,
    commands::last_part,
    image_kind::{Distribution, ImageKind, agree},
};

pub(crate) use self::plan::UV_IMAGE;

pub(crate) const MUST_LEAVE_CONDA: Check = Check::new("patch/must-leave-conda", must_leave_conda);
pub(crate) const PYTHON_IMAGE: Check = Check::new("python-image", python_image);
pub(crate) const WHEELS_KEPT: Check = Check::new("wheels-kept", packages::wheels_kept);
pub(crate) const WHEELS_WORK: Check = Check::new("wheels-work", wheels_work);
pub(crate) const ONLY_CONDA_LEAVES: Check = Check::new("only-conda-leaves", only_conda_leaves);
pub(crate) const STARTS_THE_SAME: Check = Check::new("starts-the-same", start::starts_the_same);

/// The items of all stages that matter: those of the final image, and those of each other stage.
struct Plan {
    last: Vec<(usize, Item)>,
    others: Vec<(String, Vec<(usize, Item)>)>,
}

impl Plan {
    fn before(change: &Change<'_>) -> Self {
        Self::of(change.before, has_own_user(change))
    }

    fn after(change: &Change<'_>) -> Self {
        Self::of(change.after, has_own_user(change))
    }

    fn of(view: &View<'_>, has_own_user: bool) -> Self {
        let chain = final_chain(view);
        let others = view.facts.stages().iter().filter_map(|stage| {
            let indices: Vec<usize> = stage.instructions.clone().collect();
            let is_apart = indices.iter().all(|index| !chain.contains(index));
            let image = stage.image.pattern().to_owned();
            is_apart.then(|| (image, items(view, &indices, has_own_user)))
        });
        Self { last: items(view, &chain, has_own_user), others: others.collect() }
    }

    fn all(&self) -> impl Iterator<Item = &Item> {
        let others = self.others.iter().flat_map(|(_, items)| items);
        others.chain(&self.last).map(|(_, item)| item)
    }

    fn pips(&self) -> impl Iterator<Item = &Pip> {
        self.all().filter_map(|item| match item {
            Item::Pip(pip) => Some(pip),
            _ => None,
        })
    }
}

fn steps(items: &[(usize, Item)]) -> Vec<&Step> {
    let steps = items.iter().filter_map(|(_, item)| match item {
        Item::Step(step) => Some(step),
        _ => None,
    });
    steps.collect()
}

/// The packages of the distribution.
fn system(items: &[(usize, Item)]) -> BTreeSet<&str> {
    let lists = items.iter().filter_map(|(_, item)| match item {
        Item::System(names) => Some(names),
        _ => None,
    });
    lists.flatten().map(String::as_str).collect()
}

/// The images of micromamba start as a user that no other image has.
fn has_own_user(change: &Change<'_>) -> bool {
    base(change.before).is_some_and(|image| image.contains("micromamba"))
}

/// Packages that only compile others.
fn is_compiler(name: &str) -> bool {
    matches!(name, "build-essential" | "gcc" | "g++" | "make" | "pkg-config")
        || name.ends_with("-dev")
}

fn must_leave_conda(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut words = change.after.file.instructions.iter().flat_map(|instruction| {
        let text = instruction.body_text().to_owned();
        let words = text.split(|c: char| c.is_whitespace() || "\"'[],=:;$()".contains(c));
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    let left = words.find(|word| {
        CONDA_PROGRAMS.contains(&last_part(word))
            || word.contains("/conda/")
            || word.contains("MAMBA_")
            || matches!(last_part(word), "activate" | "_entrypoint.sh")
    });
    let Some(left) = left else { return Vec::new() };
    vec![change.issue(check, "the file still needs conda").quoting(&left)]
}

/// An official image of the same Python, on Debian: Alpine has another C library.
fn python_image(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(image) = base(change.after) else {
        return vec![
            change.issue(check, "probity cannot determine the base image of the final stage"),
        ];
    };
    let is_python = |image: &str| {
        // The images of uv with a Python are the official ones and uv.
        let own = image.strip_prefix(UV_IMAGE).and_then(|rest| rest.strip_prefix("python"));
        let image = own.map_or(image.to_owned(), |tag| format!("python:{tag}"));
        let Ok(name) = ImageRef::parse(&image) else { return None };
        let is_official = matches!(name.familiar_name().as_str(), "python")
            || name.name() == "public.ecr.aws/docker/library/python";
        let kind = ImageKind::of(&image)?;
        let is_debian = kind.distribution == Some(Distribution::Debian) && name.digest.is_none();
        (is_official && is_debian).then_some(kind)
    };
    let Some(kind) = is_python(&image) else {
        let message = format!("`{image}` is not an official Python image on Debian");
        return vec![change.issue(check, &message)];
    };
    let plan = Plan::after(change);
    let other = plan.others.iter().map(|(image, _)| image).find(|other| {
        let same = is_python(other)
            .is_some_and(|found| found.version == kind.version && found.release == kind.release);
        !same
    });
    if let Some(other) = other {
        let message =
            format!("`{other}` and `{image}` need not have the same Python and libraries");
        return vec![change.issue(check, &message)];
    }
    let has = kind.version.unwrap_or_default();
    let wanted = python_version(&Plan::before(change));
    let is_wanted = match &wanted {
        Some(wanted) => agree(wanted, &has),
        None => ["3.9", "3.10", "3.11", "3.12"].iter().any(|version| agree(version, &has)),
    };
    if has.contains('.') && is_wanted {
        return Vec::new();
    }
    let wanted = wanted.unwrap_or_else(|| "3.9 to 3.12".to_owned());
    let message = format!("`{image}` must have Python {wanted} and say so in its tag");
    vec![change.issue(check, &message)]
}

fn python_version(plan: &Plan) -> Option<String> {
    let packages = plan.all().filter_map(|item| match item {
        Item::Conda(packages) => Some(packages),
        _ => None,
    });
    let (_, version) = packages
        .flatten()
        .map(|package| conda_parts(package))
        .find(|(name, _)| conda_package(name) == Some(CondaPackage::Python))?;
    let version = version.trim_start_matches('=').trim_end_matches(".*");
    (!version.is_empty()).then(|| version.to_owned())
}

/// Wheels are installed where the program looks for them, by somebody who may, with what they need.
fn wheels_work(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let plan = Plan::after(change);
    let mut issues = Vec::new();
    if plan.pips().any(|pip| !pip.can_run) {
        let message = "an install needs root, and uv needs to be installed and to have `--system` or a \
                       virtual environment";
        issues.push(change.issue(check, message));
    }
    let image = base(change.after).and_then(|image| ImageKind::of(&image));
    let is_full = image.is_some_and(|kind| kind.is_full() && kind.name == "python");
    let stages = plan.others.iter().map(|(_, items)| (items, false));
    for (items, is_last) in stages.chain([(&plan.last, true)]) {
        let own = items.iter().filter_map(|(_, item)| match item {
            Item::Pip(pip) => Some(pip),
            _ => None,
        });
        for place in own.filter(|pip| !packages::is_tools(pip)).map(|pip| &pip.place) {
            if !arrives(change, &plan, place, is_last) {
                let message =
                    "the Python that the container starts does not find what pip installs here";
                issues.push(change.issue(check, message));
            }
        }
        let parts = ImageParts { here: system(items), last: system(&plan.last), is_full };
        let requirements = items.iter().filter_map(|(_, item)| match item {
            Item::Pip(pip) => Some(&pip.requirements),
            _ => None,
        });
        for requirement in requirements.flatten() {
            if let Some(package) = lacking(requirement, &parts) {
                let message =
                    format!("`{requirement}` does not work without the package {package}");
                issues.push(change.issue(check, &message));
            }
        }
    }
    issues.truncate(3);
    issues
}

/// Whether the final image finds what is installed in this place.
fn arrives(change: &Change<'_>, plan: &Plan, place: &PipTarget, is_last: bool) -> bool {
    let last = change.after.facts.final_stage().map_or(0, |stage| stage.index);
    let active = environments(change.after, last);
    let is_copied = |from: &str, to: &str| {
        plan.last
            .iter()
            .any(|(_, item)| matches!(item, Item::Taken(source, target) if source == from && target == to))
    };
    match place {
        PipTarget::Image if is_last => active.iter().all(|directory| !is_made(plan, directory)),
        PipTarget::Image => {
            let brings = |part: &str| {
                plan.last.iter().any(|(_, item)| {
                    matches!(item, Item::Taken(source, target)
                        if source == target && source.starts_with("/usr/local/") && source.ends_with(part))
                })
            };
            is_copied("/usr/local", "/usr/local") || (brings("/site-packages") && brings("/bin"))
        }
        PipTarget::Environment(directory) => {
            let starts = change.after.text.contains(&format!("\"{directory}/bin/"));
            // Root's own packages are in an environment that nobody has to make.
            let is_roots = directory == ROOTS
                && change.after.facts.final_runtime().get(Setting::User).is_empty();
            (is_made(plan, directory) || is_roots)
                && (active.contains(directory) || starts)
                && (is_last || is_copied(directory, directory))
        }
        PipTarget::Prefix(directory) => !is_last && is_copied(directory, "/usr/local"),
    }
}

fn is_made(plan: &Plan, directory: &str) -> bool {
    plan.all().any(|item| matches!(item, Item::Environment(it) if it == directory))
}

/// Every step but the installs stays, in its order, and finds what it found.
fn only_conda_leaves(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = (Plan::before(change), Plan::after(change));
    let files: Vec<&str> = old
        .pips()
        .flat_map(|pip| &pip.requirements)
        .filter_map(|requirement| requirement.strip_prefix("-r "))
        .map(last_part)
        .collect();
    // A list of requirements may stay in the stage that reads it.
    let is_list = |step: &Step| {
        let words: Vec<&str> = step.text.split_whitespace().skip(1).collect();
        let sources = words.split_last().map(|(_, sources)| sources).unwrap_or_default();
        step.keyword == Keyword::Copy
            && sources.iter().all(|source| files.contains(&last_part(source)))
    };
    let olds = steps(&old.last);
    let lent: Vec<&Step> = new.others.iter().flat_map(|(_, items)| steps(items)).collect();
    let is_lent = |step: &Step| is_list(step) && lent.iter().any(|other| other.text == step.text);
    let was: Vec<&str> =
        olds.iter().filter(|step| !is_lent(step)).map(|step| step.text.as_str()).collect();
    let news = steps(&new.last);
    let is: Vec<&str> =
        news.iter().filter(|step| !is_lent(step)).map(|step| step.text.as_str()).collect();
    let place = is.iter().zip(&was).find(|(new, old)| new != old).map(|(new, _)| *new);
    if was != is {
        let message = "only conda may go, and installs by pip, uv and apt-get may come; every other step \
                       must stay, in its order";
        return vec![change.issue(check, message).quoting(place.unwrap_or_default())];
    }
    if let Some(more) = lent.iter().find(|step| step.keyword != Keyword::Workdir && !is_list(step))
    {
        let message = "a stage for packages may only copy lists of requirements";
        return vec![change.issue(check, message).quoting(&more.text)];
    }
    if lent.iter().any(|step| is_list(step)) {
        return Vec::new();
    }
    is_late(&old, &new)
        .map(|name| {
            let message =
                format!("`{name}` is installed too early or too late for the steps around it");
            change.issue(check, &message)
        })
        .into_iter()
        .collect()
}

/// A file of requirements that is read before it is there, or an install after a step that may need it.
fn is_late(old: &Plan, new: &Plan) -> Option<String> {
    let olds = steps(&old.last);
    let installs = |items: &[(usize, Item)]| {
        let is_install = |item: &Item| match item {
            Item::Conda(_) | Item::Taken(..) => true,
            Item::Pip(pip) => !packages::is_tools(pip),
            _ => false,
        };
        let places = items.iter().filter(|(_, item)| is_install(item)).map(|(place, _)| *place);
        (places.clone().min(), places.max())
    };
    let file_of = |items: &[(usize, Item)]| {
        items.iter().find_map(|(place, item)| match item {
            Item::Pip(pip) => {
                let file =
                    pip.requirements.iter().find(|requirement| packages::is_file(requirement))?;
                Some((*place, file.clone()))
            }
            _ => None,
        })
    };
    let (_, was) = installs(&old.last);
    let (_, is) = installs(&new.last);
    let next = |place: usize| {
        let rest = olds.iter().enumerate().skip(place);
        rest.into_iter()
            .find(|(_, step)| step.keyword == Keyword::Run)
            .map_or(usize::MAX, |(at, _)| at)
    };
    if let (Some(was), Some(is)) = (was, is)
        && is > next(was)
    {
        return Some("a package".to_owned());
    }
    let ((was, file), (is, _)) = (file_of(&old.last)?, file_of(&new.last)?);
    (is < was).then_some(file)
}
