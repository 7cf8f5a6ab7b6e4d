//! Any text as a Compose file, a Bake file and an `.env` file.
//!
//! A zero byte separates the file, the override beside it and the file that both may include.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_builds::{
    Described, Format, MOST_BUILDS, Recipe, Source, Surroundings, describe, env_variables,
};

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, '\0');
    let first = parts.next().unwrap_or_default();
    let beside = parts.next();
    let surroundings = Included(parts.next());
    for (name, format) in [
        ("compose.yaml", Format::Compose),
        ("docker-bake.hcl", Format::BakeHcl),
        ("docker-bake.json", Format::BakeJson),
    ] {
        let source = |text: &str| Source { name: name.to_owned(), format, text: text.to_owned() };
        let overrides: Vec<Source> = beside.map(source).into_iter().collect();
        let all = describe(&source(first), &overrides, &[], &surroundings);
        let again = describe(&source(first), &overrides, &[], &surroundings);
        assert_eq!(all, again, "the same text means the same builds");
        let Ok(described) = all else { continue };
        check(&described, first);
        // A service that was described can be asked for alone, and is the same then.
        if let (Format::Compose, Some(build)) = (format, described.builds.first()) {
            let only = [build.name.clone()];
            let alone = describe(&source(first), &overrides, &only, &surroundings);
            assert_eq!(alone.expect("the name is known").builds, [build.clone()]);
        }
    }
    drop(env_variables(first));
});

fn check(described: &Described, text: &str) {
    assert!(described.builds.len() <= MOST_BUILDS);
    assert!(described.builds.is_sorted_by(|a, b| a.name <= b.name), "{described:?}");
    for build in &described.builds {
        if let Recipe::Inline { place, .. } = &build.recipe {
            let (line, _) = place.in_file(1, 0);
            assert!((1..=text.lines().count().max(1)).contains(&line), "{place:?}");
        }
    }
}

/// One file, whatever path is asked for, and one variable.
struct Included<'a>(Option<&'a str>);

impl Surroundings for Included<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "A").then(|| "a".to_owned())
    }

    fn read(&self, _path: &str) -> Option<String> {
        self.0.map(str::to_owned)
    }
}
