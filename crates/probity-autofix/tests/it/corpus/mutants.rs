//! Good proposals that lost one COPY, without which the container cannot start.

use std::cell::LazyCell;

use super::{
    Verdict, judged,
    project::{Half, Project, Proposal},
};

/// Fewer cases than this would show nothing.
const LEAST: usize = 25;

/// Where the lines of the final stage begin.
fn final_stage(lines: &[&str]) -> usize {
    lines.iter().rposition(|line| line.starts_with("FROM ")).map_or(0, |place| place + 1)
}

/// The paths that a COPY from a stage takes, if it is written in one line.
fn taken(line: &str) -> Vec<&str> {
    let mut words = line.split_whitespace();
    if words.next() != Some("COPY") || !line.contains("--from=") || line.ends_with('\\') {
        return Vec::new();
    }
    let mut paths: Vec<&str> = words.filter(|word| !word.starts_with("--")).collect();
    paths.pop();
    paths.iter().map(|path| path.trim_end_matches('/')).collect()
}

/// Whether the container starts what is at a path, and only this line brings it.
fn is_all_there_is(lines: &[&str], place: usize, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let parts = |line: &str| -> Vec<String> {
        let words = line.split(|it: char| it.is_whitespace() || "\"'[],/=".contains(it));
        words.map(str::to_owned).collect()
    };
    let is_start = |line: &str| line.starts_with("CMD ") || line.starts_with("ENTRYPOINT ");
    let begin = final_stage(lines);
    let others = || {
        let all = lines.iter().enumerate().skip(begin).filter(|(other, _)| *other != place);
        all.map(|(_, line)| *line)
    };
    // A directory may have the name of a program that is elsewhere.
    let is_program = path.rsplit('/').nth(1).is_some_and(|part| part.ends_with("bin"));
    let is_named = |line: &str| {
        if is_program {
            parts(line).iter().any(|part| part == name)
        } else {
            let mut words = line.split([' ', '"', '\'', ',']);
            words.any(|word| word.contains('/') && word.split('/').any(|part| part == name))
                || line.contains(&format!(", \"{name}\""))
        }
    };
    let is_started = others().filter(|line| is_start(line)).any(is_named);
    let is_brought = others().filter(|line| !is_start(line)).any(|line| {
        let is_around = taken(line).iter().any(|other| path.starts_with(&format!("{other}/")));
        // The context, an install or a mount may bring it as well.
        is_around || parts(line).iter().any(|part| part == name) || line.contains("COPY .")
    });
    name.len() > 2 && is_started && !is_brought
}

#[test]
fn a_patch_without_what_the_container_starts_is_refused() {
    let projects = Project::all().into_iter().chain(Project::unseen());
    let projects = projects
        .filter(|project| project.half() == Half::Tuning && project.objective == "multi-stage");
    let (mut tried, mut wrong) = (0, Vec::new());
    for project in projects {
        let proposals = project.proposals();
        let is_plain = |it: &&Proposal| it.is_good && it.variant == 0 && !it.is_disputed;
        for proposal in proposals.iter().filter(is_plain) {
            // What is refused anyway tells nothing about the COPY.
            let is_accepted = LazyCell::new(|| judged(&project, proposal) == Verdict::Accepted);
            let lines: Vec<&str> = proposal.after.lines().collect();
            let is_lost = |place: &usize| {
                let paths = taken(lines[*place]);
                paths.iter().any(|path| is_all_there_is(&lines, *place, path))
            };
            for place in (final_stage(&lines)..lines.len()).filter(is_lost) {
                if !*is_accepted {
                    continue;
                }
                let mut left = lines.clone();
                let line = left.remove(place);
                let mutant = Proposal {
                    name: proposal.name.clone(),
                    is_good: false,
                    is_disputed: false,
                    variant: 0,
                    before: proposal.before.clone(),
                    after: format!("{}\n", left.join("\n")),
                };
                tried += 1;
                if judged(&project, &mutant) == Verdict::Accepted {
                    wrong.push(format!("{} {} without {line}", project.name, proposal.name));
                }
            }
        }
    }
    assert!(tried >= LEAST, "{tried} mutants");
    assert!(wrong.is_empty(), "{} of {tried} mutants:\n{}", wrong.len(), wrong.join("\n"));
}
