//! Where the final stage looks for programs.

use probity_dockerfile::{Setting, Value};

use super::{View, base_image::base, image_kind::ImageKind};

/// What images have that say nothing else.
const USUAL: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Whether a directory is on the search path of the final stage.
pub(crate) fn is_on_path(view: &View<'_>, directory: &str) -> bool {
    named(view).iter().any(|other| other == directory)
        || USUAL.contains(&directory)
        || is_images_own(view, directory)
}

/// The directories that the final stage and every image look in.
pub(crate) fn directories(view: &View<'_>) -> Vec<String> {
    named(view).into_iter().chain(USUAL.iter().copied().map(str::to_owned)).collect()
}

/// The directories that the final stage itself puts on its search path.
pub(crate) fn named(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let variables = runtime.get(Setting::Env).iter().filter(|setting| setting.entry.key == "PATH");
    let values = variables.flat_map(|variable| pattern_of(&variable.entry.value).split(':'));
    values.filter(|value| value.starts_with('/')).map(str::to_owned).collect()
}

pub(super) fn pattern_of(value: &Value) -> &str {
    match value {
        Value::Text(text) => text.pattern(),
        _ => "",
    }
}

fn is_images_own(view: &View<'_>, directory: &str) -> bool {
    of_image(view).contains(&directory)
}

/// The directories that the image of the final stage puts on its search path beside the usual ones.
pub(crate) fn of_image(view: &View<'_>) -> &'static [&'static str] {
    let language =
        base(view).and_then(|image| ImageKind::of(&image)).and_then(|kind| kind.language);
    match language {
        Some("go") => &["/go/bin", "/usr/local/go/bin"],
        Some("rust") => &["/usr/local/cargo/bin"],
        Some("ruby") => &["/usr/local/bundle/bin"],
        Some("java") => &["/opt/java/openjdk/bin", "/usr/local/tomcat/bin"],
        _ => &[],
    }
}
