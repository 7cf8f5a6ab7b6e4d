//! The first step: a Dockerfile is linted, and what is safe to fix is fixed.

use super::stage::Stage;

const BEFORE: &str = include_str!("fixtures/orders.Dockerfile");

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Lint a Dockerfile, and apply the safe fixes")?;
    stage.write("orders/before/Dockerfile", BEFORE)?;
    // The agents of the next step get one try each.
    stage.write("orders/.tally.toml", "[ai]\nmax-rounds = 1\n")?;
    let checked = stage.command("probity check --hide-source orders/before/Dockerfile")?;
    for line in checked.stdout.lines().filter(|line| !is_hint(line)) {
        stage.show(line)?;
    }
    let line = "cp orders/before/Dockerfile orders/ && probity check --fix --hide-source \
                orders/Dockerfile";
    let fixed = stage.command(line)?;
    for line in ["Fixed ", "findings in "].into_iter().filter_map(|part| fixed.line_with(part)) {
        stage.show(line)?;
    }
    let after = stage.read("orders/Dockerfile");
    let left = fixed.stdout.lines().filter(|line| line.contains("Dockerfile:")).count();
    let count = after.lines().filter(|line| !BEFORE.lines().any(|old| old == *line)).count();
    stage.proof(
        fixed.code == Some(0) && left == 0 && starts_alike(&after),
        &format!(
            "{} lines are new, USER, ENTRYPOINT and CMD are unchanged, and no finding is left \
             ({})",
            count,
            fixed.exit()
        ),
        &format!("the safe fixes left {left} findings, or changed how the image starts"),
    )
}

/// The lines that decide what runs, and as whom.
pub(super) fn starts_alike(after: &str) -> bool {
    let decisive = |text: &str| -> Vec<String> {
        let starts = |line: &&str| {
            ["USER ", "ENTRYPOINT ", "CMD "].iter().any(|prefix| line.starts_with(prefix))
        };
        text.lines().filter(starts).map(str::to_owned).collect()
    };
    decisive(BEFORE) == decisive(after)
}

/// Lines of a report for somebody who wants to read on.
fn is_hint(line: &str) -> bool {
    line.starts_with("By rule: ") || line.starts_with("Explain: ")
}
