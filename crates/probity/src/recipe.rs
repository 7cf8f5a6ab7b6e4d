//! A Dockerfile as a builder of images takes it: its text, and the images that it rests on.

use probity_dockerfile::{
    Arguments, Base, DirectiveName, Facts, Keyword, StageReferenceKind, Target, parse,
};
use probity_image::{Recipe, Variant};

/// The images are those of this variant.
pub(crate) fn recipe(text: &str, variant: &Variant) -> Recipe {
    let given = with_arguments(text, &variant.arguments);
    let file = parse(&given);
    let facts = Facts::of(&file);
    let mut images: Vec<String> = Vec::new();
    for reference in facts.graph().references() {
        match (&reference.target, reference.kind) {
            (Target::Image(name), _) => images.push(name.clone()),
            // No engine has an image of this name, which is the answer: only a build knows the real
            // one, and so it cannot be known whether it would have to be pulled.
            (Target::Unknown, StageReferenceKind::From) => {
                images.extend(reference.span.slice(&given).map(ToOwned::to_owned));
            }
            _ => {}
        }
    }
    images.sort_unstable();
    images.dedup();
    let built = match variant.target.as_deref().map(str::to_lowercase) {
        Some(name) => facts.stages().iter().find(|stage| stage.key().as_ref() == Some(&name)),
        None => facts.final_stage(),
    };
    let bottom = built.and_then(|stage| facts.stages().get(stage.root));
    let base = bottom.and_then(|stage| match &stage.base {
        Base::Image(name) => Some(name.clone()),
        Base::Stage(_) | Base::Scratch | Base::Unknown => None,
    });
    let mut directives = file.directives.iter();
    let frontend = directives.find(|directive| directive.name == DirectiveName::Syntax);
    let frontend = frontend.map(|directive| directive.value.clone());
    Recipe { text: text.to_owned(), images, base, frontend }
}

/// The text with the values that a build gives to its `ARG`s.
fn with_arguments(text: &str, arguments: &[(String, String)]) -> String {
    let mut given = text.to_owned();
    if arguments.is_empty() {
        return given;
    }
    let file = parse(text);
    for instruction in file.instructions.iter().rev() {
        let (Keyword::Arg, Arguments::Pairs { pairs, .. }) =
            (instruction.keyword, &instruction.arguments)
        else {
            continue;
        };
        for pair in pairs.iter().rev() {
            let argument = arguments.iter().rev().find(|(name, _)| *name == pair.key.text);
            if let Some((name, value)) = argument {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
                given.replace_range(pair.span.start..pair.span.end, &format!("{name}=\"{value}\""));
            }
        }
    }
    given
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
