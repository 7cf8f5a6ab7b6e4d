//! The first step: a Dockerfile is linted, and what is safe to fix is fixed.

use super::stage::Stage;

const BEFORE: &str = include_str!("fixtures/orders.Dockerfile");

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Lint a Dockerfile, and fix what is safe to fix")?;
    stage.write("orders/before/Dockerfile", BEFORE)?;
    // The agents of the next step get one try each.
    stage.write("orders/.tally.toml", "[ai]\nmax-rounds = 1\n")?;
    let checked = stage.command("probity check --hide-source orders/before/Dockerfile")?;
    let (style, other): (Vec<&str>, Vec<&str>) =
        checked.stdout.lines().partition(|line| line.contains(": style: "));
    for line in other {
        match line.contains(" findings in ") {
            true => stage.show(&format!("{line} (those of style, {}, not shown)", style.len()))?,
            false => stage.show(line)?,
        }
    }
    let line = "cp orders/before/Dockerfile orders/ && probity check --fix --hide-source \
                orders/Dockerfile";
    let fixed = stage.command(line)?;
    if let Some(line) = fixed.line_with("Fixed ") {
        stage.show(line)?;
    }
    let after = stage.read("orders/Dockerfile");
    let left: Vec<&str> =
        fixed.stdout.lines().filter(|line| line.contains("Dockerfile:")).collect();
    let only_for_agents =
        left.len() == 1 && left.iter().all(|line| line.contains("tally/prefer-multi-stage-build"));
    let count = after.lines().filter(|line| !BEFORE.lines().any(|old| old == *line)).count();
    stage.proof(
        fixed.code == Some(1) && only_for_agents && starts_alike(&after),
        &format!(
            "{} lines are new, USER, ENTRYPOINT and CMD are as they were; one finding is left, \
             which no rule can fix ({})",
            count,
            fixed.exit()
        ),
        &format!("the safe fixes left {} findings, or changed how the image starts", left.len()),
    )
}

/// The lines that decide what runs, and as whom.
pub(super) fn starts_alike(after: &str) -> bool {
    let decisive = |text: &str| -> Vec<String> {
        let starts =
            |line: &&str| ["USER ", "ENTRYPOINT ", "CMD "].iter().any(|it| line.starts_with(it));
        text.lines().filter(starts).map(str::to_owned).collect()
    };
    decisive(BEFORE) == decisive(after)
}
