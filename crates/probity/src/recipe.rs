//! A Dockerfile as a builder of images takes it: its text, the images that it rests on, and what it asks
//! of the builder.

mod reach;

use probity_dockerfile::{Base, BuildValues, Facts, StageReferenceKind, Target, parse};
use probity_image::{Recipe, Variant};

/// The images are those of this variant.
pub(crate) fn recipe(text: &str, variant: &Variant) -> Recipe {
    let file = parse(text);
    let facts = Facts::of_build(&file, &values(variant));
    let mut images: Vec<String> = Vec::new();
    for reference in facts.graph().references() {
        match (&reference.target, reference.kind) {
            (Target::Image(name), _) => images.push(name.clone()),
            // No engine has an image of this name, which is the answer: only a build knows the real
            // one, and so it cannot be known whether it would have to be pulled.
            (Target::Unknown, StageReferenceKind::From) => {
                images.extend(reference.span.slice(text).map(ToOwned::to_owned));
            }
            (Target::Unknown, StageReferenceKind::Copy | StageReferenceKind::Mount)
                if reference.text.contains('$') =>
            {
                images.push(reference.text.clone());
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
    Recipe {
        text: text.to_owned(),
        images,
        base,
        frontend: reach::frontend(text),
        sources: reach::sources(&file, &facts),
        flags: reach::flags(&file),
    }
}

fn values(variant: &Variant) -> BuildValues {
    let known = |(name, value): &(String, String)| (name.clone(), Some(value.clone()));
    BuildValues {
        arguments: variant.arguments.iter().map(known).collect(),
        target: variant.target.clone(),
        ..BuildValues::default()
    }
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
            let found = recipe(text, &Variant::default());
            assert_eq!(found.images, images, "{text}");
            assert_eq!(found.base.as_deref(), base, "{text}");
            assert_eq!(found.frontend.as_deref(), frontend, "{text}");
        }
    }

    #[test]
    fn arguments_and_a_target_choose_the_images() {
        let text = "ARG V=2 W\nFROM a:$V AS x\nARG V=3\nRUN b\nFROM $W AS Y\nFROM c\n";
        let given = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let arguments = vec![given("V", "9"), given("W", "d/e:1"), given("Z", "0")];
        let variant = Variant { arguments, target: Some("y".to_owned()), platform: None };
        let found = recipe(text, &variant);
        assert_eq!(found.images, ["a:9", "c", "d/e:1"]);
        assert_eq!(found.base.as_deref(), Some("d/e:1"));
        assert_eq!(found.text, text, "the builder gets the text as it is");
    }
}
