//! Targets of builds that the file does not have.

use probity_finding::Finding;

use crate::engine::{context::Context, uses::BuildUses};

rule! {
    /// # What it does
    ///
    /// Flags a build target in a Compose or Bake file that is not a stage of the Dockerfile.
    ///
    /// If no such file uses the Dockerfile, the rule reports nothing.
    ///
    /// # Why it is bad
    ///
    /// BuildKit cannot find the stage, so the build fails.
    ///
    /// # Examples
    ///
    /// With `target: final` in `compose.yaml`:
    ///
    /// ```dockerfile,needs-context
    /// FROM alpine:3.20 AS runtime
    /// CMD ["sh"]
    /// ```
    UnknownBuildTarget {
        name: "probity/unknown-build-target",
        severity: Error,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(uses) = context.uses else { return };
    let stages = context.facts.stages();
    for (target, builds) in uses.targets() {
        let is_index = target.parse::<usize>().is_ok_and(|index| index < stages.len());
        let is_stage = stages.iter().any(|stage| {
            stage.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(target))
        });
        if is_index || is_stage {
            continue;
        }
        let names: Vec<&str> = stages.iter().filter_map(|stage| stage.name.as_deref()).collect();
        let known = match names.as_slice() {
            [] => "its stages have no names".to_owned(),
            names => format!("its stages are {}", names.join(", ")),
        };
        let builds = BuildUses::list(&builds);
        let message = format!("`{target}`, the target of {builds}, is not a stage; {known}");
        findings.push(context.finding_of_file(message));
    }
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::BuildValues;

    use crate::{BuildUse, BuildUses, engine::harness::run_with_uses};

    fn targets(targets: &[&str]) -> BuildUses {
        let build = |target: &&str| {
            let values =
                BuildValues { target: Some((*target).to_owned()), ..BuildValues::default() };
            BuildUse { name: "api".to_owned(), values }
        };
        BuildUses { builds: targets.iter().map(build).collect(), ..BuildUses::default() }
    }

    #[test]
    fn only_missing_stages_are_reported() {
        let found = run_with_uses(
            "probity/unknown-build-target",
            "FROM a AS Build\nFROM b AS final\n",
            &targets(&["build", "final", "1", "2", "fnial"]),
        );
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`2`, the target of api, is not a stage; its stages are Build, final",
                "`fnial`, the target of api, is not a stage; its stages are Build, final",
            ]
        );
    }
}
