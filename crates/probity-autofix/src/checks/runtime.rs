//! What a container starts with stays what it was, but for what the objectives allow.

use probity_dockerfile::{Runtime, Setting, Step, Value};

use super::{
    Change, Check, Issue, View,
    base_image::base,
    belongings::{final_chain, is_within, text_of},
    image_kind::ImageKind,
    moved::copied,
    search_path::of_image,
};

const LONGEST_LIST: usize = 150;

pub(crate) const RUNTIME: Check = Check::new("runtime-invariants", runtime).once_called("runtime");
pub(crate) const ONBUILD: Check = Check::new("onbuild", onbuild);

fn runtime(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = (change.before.facts.final_runtime(), change.after.facts.final_runtime());
    let changed = old.differences(&new);
    let forbidden = changed.into_iter().filter(|setting| {
        let is_same = *setting == Setting::Env && differs_in_search_path(change, &old, &new);
        !change.limits.settings.contains(setting) && !is_same
    });
    forbidden
        .map(|setting| {
            let (name, was, is) = (setting.name(), listed(&old, setting), listed(&new, setting));
            let message = format!(
                "{name} of the final stage must stay as it was: it was {was}, and now is {is}"
            );
            let issue = change.issue(check, &message);
            match new.get(setting).first() {
                Some(entry) => issue.at(change.after, entry.span),
                None => issue.quoting(&was),
            }
        })
        .collect()
}

/// Directories that only compilers and package managers are in.
const TOOLS: &[&str] =
    &["/root/.cargo/bin", "/usr/local/cargo/bin", "/usr/local/go/bin", "/go/bin", "/root/go/bin"];

const USUAL: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Variables that the images of a language set, which one of another kind may get by ENV.
const OF_IMAGES: &[(&str, &str, &str)] = &[
    ("dotnet", "APP_UID", "1654"),
    ("dotnet", "DOTNET_RUNNING_IN_CONTAINER", "true"),
    ("python", "LANG", "C.UTF-8"),
    ("ruby", "BUNDLE_APP_CONFIG", "/usr/local/bundle"),
    ("ruby", "BUNDLE_SILENCE_ROOT_WARNING", "1"),
    ("ruby", "GEM_HOME", "/usr/local/bundle"),
    ("ruby", "LANG", "C.UTF-8"),
];

/// Whether a variable only is again what the image of the original set.
fn is_of_old_image(change: &Change<'_>, key: &str, value: &str) -> bool {
    let kind = base(change.before).and_then(|image| ImageKind::of(&image));
    let language = kind.and_then(|kind| kind.language);
    OF_IMAGES
        .iter()
        .any(|(own, name, text)| language == Some(*own) && *name == key && *text == value)
}

/// Whether the environments differ in nothing but what the image of the original set, and the search path,
/// which gained what a stage brings and lost what only a build needs.
fn differs_in_search_path(change: &Change<'_>, old: &Runtime, new: &Runtime) -> bool {
    let olds: Vec<String> =
        old.get(Setting::Env).iter().map(|setting| setting.entry.key.clone()).collect();
    let others = |runtime: &Runtime| -> Vec<String> {
        let entries = runtime.get(Setting::Env).iter();
        let mut texts: Vec<String> = entries
            .filter(|entry| !matches!(entry.entry.key.as_str(), "PATH" | "VIRTUAL_ENV"))
            .filter(|entry| {
                let value = text_of(&entry.entry.value).unwrap_or_default();
                olds.contains(&entry.entry.key)
                    || !is_of_old_image(change, &entry.entry.key, &value)
            })
            .map(|entry| entry.entry.to_string())
            .collect();
        texts.sort_unstable();
        texts
    };
    let path = |runtime: &Runtime, key: &str| -> Vec<String> {
        let mut entries = runtime.get(Setting::Env).iter();
        let value =
            entries.find(|entry| entry.entry.key == key).map(|entry| entry.entry.value.clone());
        match value {
            Some(Value::Text(text)) => text.pattern().split(':').map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let (was, is) = (path(old, "PATH"), path(new, "PATH"));
    let brought = |directory: &str| {
        let chain = final_chain(change.after);
        chain.into_iter().any(|index| {
            let instruction = change.after.file.instructions.get(index);
            let places =
                instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
            places.iter().any(|place| is_within(directory, place) || is_within(place, directory))
        })
    };
    let is_base = |part: &str| part.starts_with('$');
    let is_gain = |part: &String| {
        was.contains(part) || is_base(part) || USUAL.contains(&part.as_str()) || brought(part)
    };
    let is_loss = |part: &String| {
        is.contains(part)
            || (is_base(part) && !is.is_empty())
            || TOOLS.contains(&part.as_str())
            || (is_base(part)
                && was.iter().all(|other| is_base(other) || TOOLS.contains(&other.as_str())))
    };
    let is_environment = path(new, "VIRTUAL_ENV") == path(old, "VIRTUAL_ENV")
        || path(new, "VIRTUAL_ENV").iter().all(|part| brought(part));
    let keeps_images_own = is.is_empty()
        || is.iter().any(|part| is_base(part))
        || of_image(change.after).iter().all(|own| {
            is.iter().any(|part| part == own) || TOOLS.contains(own) || own.contains("tomcat")
        });
    others(old) == others(new)
        && keeps_images_own
        && is.iter().all(is_gain)
        && was.iter().all(is_loss)
        && is_environment
}

/// Triggers are no setting of the container, and yet what the image does to those built on it.
fn onbuild(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let triggers = |view: &View<'_>| -> Vec<Step> {
        let last = view.facts.contract().stages.last();
        let steps = last.into_iter().flat_map(|stage| &stage.steps);
        steps.filter(|step| matches!(step, Step::Onbuild { .. })).cloned().collect()
    };
    if triggers(change.before) == triggers(change.after) {
        return Vec::new();
    }
    vec![change.issue(check, "the ONBUILD triggers of the final stage must stay as they were")]
}

fn listed(runtime: &Runtime, setting: Setting) -> String {
    let entries = runtime.get(setting).iter();
    let texts: Vec<String> = entries.map(|entry| format!("`{}`", entry.entry)).collect();
    if texts.is_empty() {
        return "not set".to_owned();
    }
    // Whole entries only, and the first in any case: an entry that ends in the middle says less.
    let mut length = 0;
    let fitting = texts.iter().take_while(|text| {
        length += text.len();
        length <= LONGEST_LIST
    });
    let shown = fitting.count().max(1);
    let first = texts.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    match texts.len() - shown {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
