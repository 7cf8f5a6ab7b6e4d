//! One stage as a list of what its instructions do for Python, with everything else as steps that must stay.

use probity_dockerfile::{Action, Instruction, Keyword};
use probity_lint::{CondaCall, conda_call};

use super::{
    pip::{Pip, Surroundings, read_pip},
    script::{Part, parts},
};
use crate::checks::{View, slim_packages::FLAGS, steps::written};

/// The image that has uv and nothing else.
pub(crate) const UV_IMAGE: &str = "ghcr.io/astral-sh/uv:";

pub(super) enum Item {
    /// Packages as conda is asked for them.
    Conda(Vec<String>),
    Pip(Pip),
    /// Packages of the distribution.
    System(Vec<String>),
    /// A virtual environment at this path.
    Environment(String),
    /// A copy from another stage: its source and its target.
    Taken(String, String),
    Uv,
    /// A new group or user.
    Account,
    Step(Step),
}

pub(super) struct Step {
    pub(super) keyword: Keyword,
    pub(super) text: String,
}

/// Programs that fetch, unpack and tidy up conda.
const CONDA_CARE: &[&str] = &[
    "bash", "bzip2", "chmod", "curl", "echo", "eval", "find", "ln", "mkdir", "mv", "rm", "sh",
    "tar", "wget",
];

/// The items of these instructions, in order, each with the number of steps before it. Where the image of
/// the original has a user of its own, another check compares users.
pub(super) fn items(view: &View<'_>, indices: &[usize], has_own_user: bool) -> Vec<(usize, Item)> {
    let mut around = Surroundings::of(view, indices, has_own_user);
    let mut found: Vec<(usize, Item)> = Vec::new();
    let mut steps = 0;
    for index in indices {
        let Some(instruction) = view.file.instructions.get(*index) else { continue };
        around.pass(*index, instruction);
        for item in read(view, instruction, &mut around) {
            let place = steps;
            steps += usize::from(matches!(item, Item::Step(_)));
            found.push((place, item));
        }
    }
    found
}

fn read(view: &View<'_>, instruction: &Instruction, around: &mut Surroundings) -> Vec<Item> {
    let keyword = instruction.keyword;
    let step = || vec![Item::Step(Step { keyword, text: written(view, instruction) })];
    let body = instruction.body_text();
    match keyword {
        Keyword::Copy if instruction.flag_value("from").is_some() => copied(instruction, around),
        Keyword::Arg if body.contains("MAMBA") || body.starts_with("DEBIAN_FRONTEND") => Vec::new(),
        Keyword::User if around.has_own_user => Vec::new(),
        Keyword::Copy | Keyword::Add if body.contains("--chown") && around.has_own_user => {
            let text = body.split_whitespace().filter(|word| !word.starts_with("--chown"));
            let text = format!("{keyword} {}", text.collect::<Vec<_>>().join(" "));
            vec![Item::Step(Step { keyword, text })]
        }
        Keyword::Copy if is_list(view, instruction, around) => Vec::new(),
        Keyword::Arg | Keyword::Copy | Keyword::Add | Keyword::Workdir => step(),
        Keyword::User | Keyword::Onbuild => step(),
        Keyword::Run => {
            if instruction.flags_named("mount").any(|flag| {
                flag.value
                    .as_ref()
                    .is_some_and(|value| value.text.as_str().contains("astral-sh/uv"))
            }) {
                around.has_uv = true;
            }
            parts(view, instruction).iter().filter_map(|part| ran(part, around)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a heredoc makes a list of requirements.
fn is_list(view: &View<'_>, instruction: &Instruction, around: &mut Surroundings) -> bool {
    let [heredoc] = instruction.heredocs() else { return false };
    let target = instruction.rest_text().split_whitespace().last().unwrap_or_default();
    target.ends_with(".txt") && around.keep_list(target, &heredoc.content(view.text))
}

fn copied(instruction: &Instruction, around: &mut Surroundings) -> Vec<Item> {
    let from = instruction.flag_value("from").map(|value| value.text.as_str().to_owned());
    let words: Vec<&str> = instruction.rest_text().split_whitespace().collect();
    let Some((target, sources)) = words.split_last() else { return Vec::new() };
    if from
        .is_some_and(|image| image.starts_with(UV_IMAGE) || image == UV_IMAGE.trim_end_matches(':'))
    {
        let is_program = |source: &&str| matches!(*source, "/uv" | "/uvx");
        let is_found = ["/bin/", "/usr/local/bin/", "/usr/bin/", "/usr/local/bin/uv", "/bin/uv"];
        if sources.iter().all(is_program) && is_found.contains(target) {
            around.has_uv = true;
            return vec![Item::Uv];
        }
    }
    let clean = |path: &str| path.trim_end_matches('/').to_owned();
    sources.iter().map(|source| Item::Taken(clean(source), clean(target))).collect()
}

fn ran(part: &Part, around: &mut Surroundings) -> Option<Item> {
    let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
    match conda_call(&part.words) {
        Some(CondaCall::Install(packages)) => return Some(Item::Conda(packages)),
        Some(CondaCall::Helper) => return None,
        _ => {}
    }
    if let Some(pip) = read_pip(&words, around) {
        if pip
            .requirements
            .iter()
            .any(|requirement| requirement.split(['=', '<', '>', '~']).next() == Some("uv"))
        {
            around.has_uv = true;
        }
        return Some(Item::Pip(pip));
    }
    if let Some(directory) = environment(&words, around) {
        return Some(Item::Environment(directory));
    }
    if let Some(call) = &part.package_call {
        let is_known = call.flags.iter().all(|flag| FLAGS.contains(&flag.as_str()));
        return match call.action {
            Action::Install if is_known => Some(Item::System(call.names.clone())),
            Action::Update | Action::Clean => None,
            // Compilers may go again.
            Action::Remove if call.names.iter().all(|name| super::is_compiler(name)) => None,
            _ => Some(step(part)),
        };
    }
    let lower = part.text.to_lowercase();
    let cares = part.programs.iter().all(|program| CONDA_CARE.contains(&program.as_str()));
    if cares && (lower.contains("conda") || lower.contains("mamba") || lower.contains("miniforge"))
    {
        return None;
    }
    match words.as_slice() {
        ["rm", rest @ ..] if rest.iter().all(|word| word.starts_with('-') || is_cache(word)) => {
            None
        }
        ["apt-get" | "apt", "clean" | "autoremove" | "update", ..] => None,
        ["useradd" | "adduser" | "groupadd" | "addgroup", ..] if around.has_own_user => {
            Some(Item::Account)
        }
        _ => Some(step(part)),
    }
}

fn step(part: &Part) -> Item {
    Item::Step(Step { keyword: Keyword::Run, text: format!("RUN {}", part.text) })
}

fn is_cache(path: &str) -> bool {
    path.starts_with("/var/lib/apt/lists")
        || path.starts_with("/var/cache/apt")
        || path.contains("/.cache")
}

/// `python -m venv DIR`, `virtualenv DIR`, `uv venv DIR`
fn environment(words: &[&str], around: &Surroundings) -> Option<String> {
    let rest = match words {
        ["python", "-m", "venv", rest @ ..] | ["virtualenv", rest @ ..] => rest,
        ["uv", "venv", rest @ ..] if around.has_uv => rest,
        _ => return None,
    };
    const OPTIONS: &[&str] = &["--seed", "--upgrade-deps", "--copies", "--clear"];
    let (flags, places): (Vec<&str>, Vec<&str>) =
        rest.iter().partition(|word| word.starts_with('-'));
    let directory = match places.as_slice() {
        [] if words.first() == Some(&"uv") => ".venv",
        [one] => one,
        _ => return None,
    };
    let directory = around.absolute(directory)?;
    flags.iter().all(|flag| OPTIONS.contains(flag)).then_some(directory)
}
