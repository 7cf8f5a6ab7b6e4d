//! Images that carry conda for packages that PyPI has.

use probity_dockerfile::{Base, ImageRef, Stage};
use probity_finding::Finding;
use probity_shell::{Command, Word};

use crate::{
    engine::{context::Context, rule::OptionSpec},
    facts::{
        conda::{
            CondaCall, CondaPackage, conda_call, conda_package, conda_parts, is_conda_image,
            is_into_base,
        },
        startup::Startup,
    },
};

rule! {
    /// # What it does
    ///
    /// Flags conda in an image whose conda packages are all available as wheels on PyPI.
    ///
    /// The rule knows `conda`, `mamba` and `micromamba`, on their own images or after a download of
    /// their installer. It checks only a Dockerfile with one stage and a `CMD` or an `ENTRYPOINT`.
    /// probity has a list of packages and their names on PyPI.
    ///
    /// The rule ignores these Dockerfiles:
    ///
    /// - One package is not on the list, such as `gdal`.
    /// - A package comes from a channel other than `conda-forge`, `defaults`, `anaconda` or
    ///   `pytorch`.
    /// - A file lists the packages, as in `conda env create -f environment.yml`.
    ///
    /// # Why it is bad
    ///
    /// A conda image contains a second package manager, a second Python and a package cache. The
    /// same packages on a slim Python image need a fraction of the space, and pip installs them
    /// faster.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM continuumio/miniconda3:24.7.1-0
    /// RUN conda install -y python=3.11 numpy=1.26.4 flask=3.0.3
    /// COPY app /app
    /// CMD ["python", "/app/main.py"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.11-slim-bookworm
    /// RUN pip install --no-cache-dir numpy==1.26.4 flask==3.0.3
    /// COPY app /app
    /// CMD ["python", "/app/main.py"]
    /// ```
    ///
    /// This image needs a library that PyPI does not have:
    ///
    /// ```dockerfile,good
    /// FROM continuumio/miniconda3:24.7.1-0
    /// RUN conda install -y python=3.11 gdal=3.9
    /// CMD ["python"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the Python image and the packages, because wheels are other builds
    /// than conda's packages. If conda installs a program in a version of its own, such as
    /// `ffmpeg=6.1`, Debian does not have that version. Then conda stays for its programs, and the
    /// agent proposes pip or uv for the Python packages alone.
    CondaForPypiPackages {
        name: "probity/conda-for-pypi-packages",
        severity: Info,
        category: BestPractice,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("0")],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let [stage] = context.facts.stages() else { return };
    if Startup::of(context, stage).entry().is_none() || !has_own_conda(context, stage) {
        return;
    }
    let mut wheels = 0;
    let mut first = None;
    let (mut has_pinned_program, mut is_base) = (false, true);
    for command in commands(context, stage) {
        let call = command.effective();
        let words: Option<Vec<String>> = call.words.iter().map(Word::pattern).collect();
        let name = call
            .name()
            .is_some_and(|program| crate::facts::conda::CONDA_PROGRAMS.contains(&program.as_ref()));
        let Some(words) = words else {
            // Names in variables are names that nobody knows.
            if name && !is_run(&call.args().first().map(|argument| argument.prefix().into_owned()))
            {
                return;
            }
            continue;
        };
        match conda_call(&words) {
            Some(CondaCall::Install(packages)) => {
                for package in &packages {
                    let (name, version) = conda_parts(package);
                    match conda_package(name) {
                        Some(CondaPackage::Wheel(_)) => wheels += 1,
                        Some(CondaPackage::System(_)) => has_pinned_program |= !version.is_empty(),
                        Some(_) => {}
                        None => return,
                    }
                }
                is_base &= is_into_base(&call);
                first = first.or_else(|| call.name_word().map(Word::span));
            }
            Some(CondaCall::Other) if !is_run(&words.get(1).cloned()) => return,
            _ => {}
        }
    }
    if wheels == 0 {
        return;
    }
    let Some(span) = first else { return };
    // Debian has its programs in one version, which is another than conda's.
    if has_pinned_program && is_base {
        let message = "PyPI has the Python packages that conda installs here; \
                       use pip or uv for them, and conda for its programs alone";
        let title = "AI AutoFix: install Python packages with uv or pip";
        let fix = context.fix_by_agent("pip-over-conda", title, 158);
        findings.push(context.finding(span, message).with_fix(fix));
        return;
    }
    let message = "PyPI has everything that conda installs here; \
                   use a slim Python image and pip or uv";
    let title = "AI AutoFix: replace conda with a Python image and pip or uv";
    let fix = context.fix_by_agent("python-over-conda", title, 158);
    findings.push(context.finding(span, message).with_fix(fix));
}

fn is_run(verb: &Option<String>) -> bool {
    verb.as_deref() == Some("run")
}

/// Whether the image brings conda, or the file downloads its installer.
fn has_own_conda(context: &Context<'_>, stage: &Stage) -> bool {
    let is_image = match &stage.base {
        Base::Image(name) => {
            ImageRef::parse(name).is_ok_and(|image| is_conda_image(&image.familiar_name()))
        }
        _ => false,
    };
    is_image
        || commands(context, stage).any(|command| {
            let call = command.effective();
            let is_installer = |word: &Word| {
                let address = word.prefix();
                ["/Miniconda3-", "/Miniforge3-", "/Mambaforge-", "micro.mamba.pm"]
                    .iter()
                    .any(|part| address.contains(part))
            };
            call.is_any(&["curl", "wget"]) && call.args().iter().any(is_installer)
        })
}

fn commands<'c>(context: &'c Context<'_>, stage: &Stage) -> impl Iterator<Item = &'c Command> {
    let scripts = stage.instructions.clone().flat_map(|index| context.scripts(index));
    scripts.flat_map(|script| &script.commands)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/conda-for-pypi-packages";
    const SAYS: &str =
        "PyPI has everything that conda installs here; use a slim Python image and pip or uv";

    #[test]
    fn the_first_install_is_underlined() {
        for (before, command) in [
            ("FROM continuumio/miniconda3\n", "conda install -y numpy"),
            ("FROM mambaorg/micromamba:1.5\n", "micromamba install -y -n base python=3.11 flask"),
            ("FROM condaforge/miniforge3\n", "mamba create -n a pandas && conda clean -afy"),
            (
                "FROM debian:12\nRUN curl -O https://repo.anaconda.com/miniconda/Miniconda3-latest-Linux-x86_64.sh\n",
                "conda install -y numpy",
            ),
            (
                "FROM continuumio/miniconda3\n",
                "conda install -y numpy && conda run -n base python $X",
            ),
        ] {
            let marks = "^".repeat(command.find(' ').unwrap());
            check(RULE, &format!("{before}RUN {command}\n    {marks} {SAYS}\nCMD [\"python\"]\n"));
        }
    }

    #[test]
    fn other_images_packages_and_files_are_silent() {
        for text in [
            "FROM debian:12\nRUN conda install numpy\nCMD [\"python\"]",
            "FROM continuumio/anaconda3\nRUN conda install numpy\nCMD [\"python\"]",
            "FROM continuumio/miniconda3\nRUN conda install numpy",
            "FROM continuumio/miniconda3\nRUN conda install numpy gdal\nCMD [\"python\"]",
            "FROM continuumio/miniconda3\nRUN conda install numpy $MORE\nCMD [\"python\"]",
            "FROM continuumio/miniconda3\nRUN conda install -c bioconda numpy\nCMD [\"python\"]",
            "FROM continuumio/miniconda3\nRUN conda install nomkl\nCMD [\"python\"]",
            "FROM continuumio/miniconda3\nRUN conda env create -f e.yml\nRUN conda install numpy\nCMD [\"a\"]",
            "FROM continuumio/miniconda3 AS a\nRUN conda install numpy\nFROM debian:12\nCMD [\"a\"]",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }
}
