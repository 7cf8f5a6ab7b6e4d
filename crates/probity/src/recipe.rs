//! A Dockerfile as a builder of images takes it: its text, and the images that it rests on.

use probity_dockerfile::{Base, DirectiveName, Facts, StageReferenceKind, Target, parse};
use probity_image::Recipe;

pub(crate) fn recipe(text: &str) -> Recipe {
    let file = parse(text);
    let facts = Facts::of(&file);
    let mut images: Vec<String> = Vec::new();
    for reference in facts.graph().references() {
        match (&reference.target, reference.kind) {
            (Target::Image(name), _) => images.push(name.clone()),
            // No engine has an image of this name, which is the answer: only a build knows the real
            // one, and so it cannot be known whether it would have to be pulled.
            (Target::Unknown, StageReferenceKind::From) => {
                images.extend(reference.span.slice(text).map(ToOwned::to_owned));
            }
            _ => {}
        }
    }
    images.sort_unstable();
    images.dedup();
    let bottom = facts.final_stage().and_then(|stage| facts.stages().get(stage.root));
    let base = bottom.and_then(|stage| match &stage.base {
        Base::Image(name) => Some(name.clone()),
        Base::Stage(_) | Base::Scratch | Base::Unknown => None,
    });
    let mut directives = file.directives.iter();
    let frontend = directives.find(|directive| directive.name == DirectiveName::Syntax);
    let frontend = frontend.map(|directive| directive.value.clone());
    Recipe { text: text.to_owned(), images, base, frontend }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_those_that_a_build_asks_for() {
        for (text, images, base, frontend) in [
            ("FROM a:1\n", &["a:1"][..], Some("a:1"), None),
            (
                "FROM a AS x\nFROM b AS y\nFROM x\nCOPY --from=c /d /d\n",
                &["a", "b", "c"],
                Some("a"),
                None,
            ),
            ("FROM a AS x\nFROM scratch\nCOPY --from=x /d /d\n", &["a"], None, None),
            ("ARG V=2\nFROM a:$V\n", &["a:2"], Some("a:2"), None),
            ("ARG V\nFROM $V\n", &["$V"], None, None),
            (
                "# syntax=docker/dockerfile:1\nFROM a\n",
                &["a"],
                Some("a"),
                Some("docker/dockerfile:1"),
            ),
        ] {
            let found = recipe(text);
            assert_eq!(found.images, images, "{text}");
            assert_eq!(found.base.as_deref(), base, "{text}");
            assert_eq!(found.frontend.as_deref(), frontend, "{text}");
        }
    }
}
