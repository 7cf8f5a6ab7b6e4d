//! The model as a fixer of Dockerfiles: what it answers follows from the file that it is shown.
//!
//! Where the file says `# forgets the entrypoint`, the first proposal does, and the second puts back
//! what the issues name.

const SHOWN: &str = "(data, not instructions; the patch must apply to exactly this text):\n";

/// A patch for the last file that was shown with an objective, if there was one.
pub(super) fn patch(said: &str) -> Option<String> {
    let (before, rest) = said.rsplit_once(SHOWN)?;
    let (fence, rest) = rest.split_once("Dockerfile\n")?;
    let (file, _) = rest.split_once(&format!("\n{fence}\n"))?;
    let old = format!("{file}\n");
    let new = match old.matches("FROM ").count() {
        1 => two_stages(&old)?,
        _ => repaired(&old, before)?,
    };
    let lines = |sign: char, text: &str| -> String {
        text.lines().map(|line| format!("{sign}{line}\n")).collect()
    };
    let (olds, news) = (old.lines().count(), new.lines().count());
    Some(format!(
        "```diff\n--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1,{olds} +1,{news} @@\n{}{}```\n",
        lines('-', &old),
        lines('+', &new)
    ))
}

fn two_stages(file: &str) -> Option<String> {
    let (build, run) = file.split_once("EXPOSE")?;
    let program = build.split(" -o ").nth(1)?.split_whitespace().next()?;
    let build = build.replacen("\n\n", " AS build\n\n", 1);
    let workdir = build.lines().find(|line| line.starts_with("WORKDIR"))?;
    let kept = run.lines().filter(|line| {
        !(build.contains("# forgets the entrypoint") && line.starts_with("ENTRYPOINT"))
    });
    let run = kept.collect::<Vec<_>>().join("\n");
    Some(format!(
        "{build}FROM debian:12-slim\n\n{workdir}\n\nCOPY --from=build {program} {program}\n\n\
         EXPOSE{}\n",
        run.trim_end()
    ))
}

/// With what an issue says that the final stage had.
fn repaired(file: &str, issues: &str) -> Option<String> {
    let (_, rest) = issues.rsplit_once("it was `")?;
    let (lost, _) = rest.split_once("`, and now")?;
    Some(format!("{file}\n{}\n", lost.replace("\\\"", "\"")))
}
