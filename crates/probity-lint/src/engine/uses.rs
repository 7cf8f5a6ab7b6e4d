//! How builds use a Dockerfile, if a Compose or Bake file says it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use probity_dockerfile::{Arguments, BuildValues, Dockerfile, Facts, Keyword};
use probity_secrets::FindSecrets;

use crate::engine::parsed::Parsed;

/// All builds of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildUses {
    pub builds: BTreeSet<BuildUse>,
    /// Platforms that builds ask for.
    pub platforms: BTreeSet<String>,
}

/// One build of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildUse {
    /// The service or the target, for messages.
    pub name: String,
    pub values: BuildValues,
}

/// Facts that some builds share.
pub(crate) struct View<'f> {
    pub(crate) facts: Cow<'f, Facts>,
    /// Empty if no description of a build is known.
    pub(crate) builds: BTreeSet<String>,
}

impl View<'_> {
    /// Whether these builds build the stage; what is in none concerns every build.
    pub(crate) fn builds_stage(&self, stage: Option<usize>) -> bool {
        stage.is_none_or(|stage| self.facts.is_built(stage))
    }
}

impl BuildUses {
    /// The wanted ones of the arguments that builds pass, each with the names of these builds.
    pub(crate) fn arguments(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> BTreeMap<&str, BTreeSet<String>> {
        let passed = self
            .builds
            .iter()
            .flat_map(|build| build.values.arguments.keys().map(move |name| (name, build)));
        by_value(passed.filter(|(name, _)| is_wanted(name)))
    }

    /// Stages that builds ask for, each with the names of these builds.
    pub(crate) fn targets(&self) -> BTreeMap<&str, BTreeSet<String>> {
        by_value(
            self.builds.iter().filter_map(|build| Some((build.values.target.as_ref()?, build))),
        )
    }

    /// `a, b and 3 others`, for messages.
    pub(crate) fn list(builds: &BTreeSet<String>) -> String {
        const SHOWN: usize = 3;
        let shown: Vec<&str> = builds.iter().take(SHOWN).map(String::as_str).collect();
        match builds.len().saturating_sub(SHOWN) {
            0 => shown.join(", "),
            others => format!("{} and {others} more", shown.join(", ")),
        }
    }

    /// The different values that builds give this file. Arguments that it does not declare make no
    /// difference, and a secret is a value that no message may show.
    fn values(
        &self,
        parsed: &Parsed<'_>,
        secrets: Option<&dyn FindSecrets>,
    ) -> BTreeMap<BuildValues, BTreeSet<String>> {
        let file = &parsed.file;
        let declared = declared_arguments(file);
        // Many builds share most values, and searching one costs more than all else here.
        let mut known: HashMap<(String, String), bool> = HashMap::new();
        let mut is_secret = |name: &str, value: &str| {
            let Some(secrets) = secrets else { return false };
            *known
                .entry((name.to_owned(), value.to_owned()))
                .or_insert_with(|| !secrets.find(&format!("ARG {name}={value}")).is_empty())
        };
        // A build without a context often does not build the stage that needs it.
        let contexts: BTreeSet<String> =
            self.builds.iter().flat_map(|build| build.values.contexts.iter().cloned()).collect();
        let mut values: BTreeMap<BuildValues, BTreeSet<String>> = BTreeMap::new();
        for BuildUse { name, values: given } in &self.builds {
            let mut given = given.clone();
            given.contexts.clone_from(&contexts);
            given.target = given.target.and_then(|target| one_name(&parsed.facts, target));
            given.arguments.retain(|name, _| declared.contains(name.as_str()));
            for (name, value) in &mut given.arguments {
                *value = value.take().filter(|value| !is_secret(name, value));
            }
            values.entry(given).or_default().insert(name.clone());
        }
        values
    }
}

/// What the builds of a file make of it, each different one once; without builds what the file says
/// itself.
pub(crate) fn views<'p>(
    parsed: &'p Parsed<'_>,
    uses: Option<&BuildUses>,
    secrets: Option<&dyn FindSecrets>,
) -> Vec<View<'p>> {
    let values = uses.map(|uses| uses.values(parsed, secrets)).unwrap_or_default();
    if values.is_empty() {
        return vec![View { facts: Cow::Borrowed(&parsed.facts), builds: BTreeSet::new() }];
    }
    let view = |(values, builds): (BuildValues, BTreeSet<String>)| View {
        facts: Cow::Owned(Facts::of_build(&parsed.file, &values)),
        builds,
    };
    values.into_iter().map(view).collect()
}

/// One name for the stage that a target means: its number, and none for the last stage, which a build
/// without a target builds. A target that is not a stage stays.
fn one_name(facts: &Facts, target: String) -> Option<String> {
    match facts.target_stage(&target) {
        Some(stage) if stage + 1 == facts.stages().len() => None,
        Some(stage) => Some(stage.to_string()),
        None => Some(target),
    }
}

/// The names that the `ARG`s of a file declare.
pub(crate) fn declared_arguments<'f>(file: &'f Dockerfile<'_>) -> HashSet<&'f str> {
    let mut declared = HashSet::new();
    for arg in file.instructions.iter().filter(|instruction| instruction.keyword == Keyword::Arg) {
        let Arguments::Pairs { pairs, .. } = &arg.arguments else { continue };
        declared.extend(pairs.iter().map(|pair| pair.key.text.as_str()));
    }
    declared
}

fn by_value<'b>(
    pairs: impl Iterator<Item = (&'b String, &'b BuildUse)>,
) -> BTreeMap<&'b str, BTreeSet<String>> {
    let mut builds: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (value, build) in pairs {
        builds.entry(value).or_default().insert(build.name.clone());
    }
    builds
}
