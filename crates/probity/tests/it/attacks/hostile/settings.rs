//! The repository's own settings, and what whoever reads the console would obey.

use super::table::{Claim, Command, Hostile, Want};

const DOCKERFILE: &str = "FROM debian:12\nRUN sudo true ##vso[task.b]c ##[group]d\nWORKDIR srv\n";

pub(super) fn repositories() -> Vec<Hostile> {
    let mut all = vec![limits(), console(), titles()];
    // A line of any file is shown as a mistake.
    for (file, command) in [
        ("probity.toml", "check Dockerfile"),
        ("probity.toml", "review --agent @AGENT@ --no-history"),
        ("probity.toml", "config"),
        (".hadolint.yaml", "check Dockerfile"),
        (".tally.toml", "check Dockerfile"),
        ("tally.toml", "check Dockerfile"),
    ] {
        let hostile = Hostile::new("settings")
            .file("Dockerfile", DOCKERFILE)
            .link(file, "../home/secret/settings")
            .command(command)
            .row(16, format!("{command} shows what {file} leads to"), Want::says("settings"));
        all.push(hostile);
    }
    // From another directory, where the name in the file means a file of the victim's.
    for (file, section) in [("probity.toml", "[check.output]"), (".tally.toml", "[output]")] {
        let mut hostile = Hostile::new("report")
            .file("Dockerfile", DOCKERFILE)
            .file(file, format!("{section}\npath = \".bashrc\"\n"))
            .row(6, format!("{file} names the file of a report"), Want::changes(".bashrc"));
        hostile.commands.push(Command::AtHome("check ../repo/Dockerfile"));
        all.push(hostile);
    }
    let fixed = Hostile::new("fixed Dockerfile")
        .link("Dockerfile", "../home/Dockerfile")
        .beside("home/Dockerfile", DOCKERFILE)
        .command("check --fix --preset all Dockerfile")
        .row(13, "check --fix follows a link", Want::changes("Dockerfile"));
    all.push(fixed);
    all
}

/// Limits that only the user may raise.
fn limits() -> Hostile {
    let mut hostile = Hostile::new("limits").file(
        "probity.toml",
        "[ai]\nproof-disk = \"900t\"\ntimeout = \"9h\"\n[review]\nsuite-timeout = \"9h\"\n\
         [check.slow-checks]\nmode = \"on\"\n",
    );
    for (key, value, line) in [
        ("proof-disk", "900t", 2),
        ("timeout", "9h", 3),
        ("suite-timeout", "9h", 5),
        ("mode", "on", 7),
    ] {
        let shown = format!("{key} = \"{value}\"  # from probity.toml:{line}");
        hostile = hostile.row(16, format!("{key} is raised"), Want::Prints(shown));
    }
    hostile.command("config")
}

/// Runners obey these words anywhere in a line.
fn console() -> Hostile {
    let mut hostile = Hostile::new("console").file("Dockerfile", DOCKERFILE);
    for format in ["text", "markdown", "github-actions"] {
        hostile = hostile.command(&format!("check --preset all --format {format} Dockerfile"));
    }
    hostile
        .row(15, "the line of a finding has a command of Azure Pipelines", Want::prints("##vso["))
        .row(15, "the line of a finding has a command of GitHub", Want::prints("##[group]"))
}

fn titles() -> Hostile {
    let mut claim = Claim::new(
        "calc.js",
        "calc.test.js",
        "require('node:test').test('claimed', () => { throw new Error(); });\n",
    );
    claim.title = Some("https://evil.example/x ##vso[task.b]c ##[group]d");
    Hostile::new("titles")
        .file("package.json", "{}\n")
        .file("calc.js", "\n\n")
        .claim(claim)
        .review()
        .command("review report @ROOT@/out/review.json --format markdown")
        .row(
            15,
            "progress has a command of Azure Pipelines",
            Want::prints("calc.js:2: https://evil.example/x ##vso["),
        )
        .row(15, "a review has a command of GitHub", Want::prints("##[group]d"))
        .row(
            18,
            "the page of a pull request has a live link",
            Want::prints("| https://evil.example/x"),
        )
}
