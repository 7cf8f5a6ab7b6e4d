//! Skills of a directory, and the commands for them.

use std::fs;

use super::{TRUE, audit, project, server::Server, server::skill};
use crate::binary::{directory, probity};

const SKILL: &str = "---\nid: ID\nname: n\nseverity: low\ndescription: d\nprompt_fragment: p\nexamples:\n\t- one\n---\n# Body\n";

#[test]
fn skills_of_a_directory_take_the_place_of_the_embedded_ones_in_the_order_of_their_files() {
    let dir = project();
    for (file, id) in [("b.md", "first"), ("c.txt", "second"), ("a.md", "zeroth")] {
        fs::create_dir_all(dir.path().join("own/not-looked-into")).unwrap();
        fs::write(dir.path().join("own").join(file), SKILL.replace("ID", id)).unwrap();
    }
    let server = Server::saying(&[TRUE]);
    audit(&dir, &server).args(["--skills-dir", "own"]).run().code(0);
    let asked: Vec<String> = server.bodies().iter().map(skill).collect();
    assert_eq!(asked, ["zeroth", "first", "second"]);
}

#[test]
fn the_embedded_skills_are_listed_and_shown() {
    let dir = directory(&[]);
    let output = probity().args(["audit", "skills", "list"]).dir(&dir).run().code(0);
    insta::assert_snapshot!(output.stdout, @"
    strict-value-equality-001       high  Strict equality on value
    missing-address-validation-002  high  Output chosen without checking its address
    unvalidated-datum-003           high  Datum of a script output not validated
    ");
    let shown = probity()
        .args(["audit", "skills", "show", "unvalidated-datum-003"])
        .dir(&dir)
        .run()
        .code(0);
    assert!(shown.stdout.starts_with("Skill ID: unvalidated-datum-003\n"), "{}", shown.stdout);
    let output = probity().args(["audit", "skills", "show", "none"]).dir(&dir).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    error: there is no skill `none`
      help: there are strict-value-equality-001, missing-address-validation-002, unvalidated-datum-003
    ");
}

#[test]
fn a_check_says_all_that_is_wrong_and_names_files_and_fields() {
    let dir = directory(&[
        ("s/a.md", &SKILL.replace("ID", "same")),
        ("s/b.md", &SKILL.replace("ID", "same")),
        ("s/c.md", &SKILL.replace("ID", "c").replace("name: n", "name: ''")),
        ("s/d.md", &SKILL.replace("ID", "d").replace("name: n", "name: n\nowner: me")),
        ("s/e.md", "no frontmatter"),
    ]);
    let output = probity().args(["audit", "skills", "check", "s"]).dir(&dir).run().code(1);
    insta::assert_snapshot!(output.stdout, @"
    s/b.md: the id `same` is also that of s/a.md
    Field `name` must be non-empty in vulnerability skill file s/c.md
    Invalid YAML frontmatter in vulnerability skill file s/d.md: line 3 column 1: unknown field `owner`, expected one of id, name, severity, description, prompt_fragment, examples, false_positives, references, tags, confidence_hint
    Failed to parse frontmatter from vulnerability skill file s/e.md: Missing frontmatter start delimiter `---`
    1 of 5 skills are fine
    ");
    let gone = probity().args(["audit", "skills", "check", "gone"]).dir(&dir).run().code(1);
    insta::assert_snapshot!(gone.stderr, @"
    error: Audit skills directory not found: gone
      help: pass a directory that exists; without --skills-dir, an audit uses the embedded skills
    ");
}

#[test]
fn a_new_skill_passes_the_check_and_overwrites_nothing() {
    let dir = directory(&[]);
    let new = || probity().args(["audit", "skills", "new", "locked-value-004"]).dir(&dir).run();
    assert_eq!(new().code(0).stdout, "skills/vulnerabilities/locked-value-004.md\n");
    probity().args(["audit", "skills", "check", "skills/vulnerabilities"]).dir(&dir).run().code(0);
    new().code(1);
    probity().args(["audit", "skills", "new", "../x"]).dir(&dir).run().code(1);
}

#[test]
fn packs_and_directories_are_combined_and_new_skills_add_to_the_embedded_ones() {
    let dir = project();
    let listed = |args: &[&str]| -> Vec<String> {
        let output = probity().dir(&dir).args(["audit", "skills", "list"]).args(args).run().code(0);
        output.stdout.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&[]).len(), 3);
    assert_eq!(listed(&["--skills-dir", "builtin:full"]).len(), 25);
    assert_eq!(listed(&["--skills-dir", "builtin:web"]).len(), 6);
    probity().dir(&dir).args(["audit", "skills", "new", "mine-104"]).run().code(0);
    assert_eq!(listed(&[]).last().unwrap(), "mine-104");
    assert_eq!(listed(&[]).len(), 4, "the embedded ones stay");
    let both = ["--skills-dir", "builtin:full", "--skills-dir", "skills/vulnerabilities"];
    assert_eq!(listed(&both).len(), 26, "a skill is there once");
    let odd = probity()
        .dir(&dir)
        .args(["audit", "--provider", "scaffold", "--skills-dir", "builtin:odd"])
        .run()
        .code(1);
    insta::assert_snapshot!(odd.stderr, @"
    error: there are no skills called builtin:odd
      help: there are builtin:full and builtin:web
    ");
}

#[test]
fn other_sources_are_named_by_patterns() {
    let dir = crate::binary::directory(&[
        ("app/main.py", "import os\n\n\ndef run(name):\n    os.system(\"ls \" + name)\n"),
        ("node_modules/x/y.py", "x = 1\n"),
        ("notes.txt", "words\n"),
    ]);
    let server = super::server::Server::saying(&[super::NOTHING]);
    let with = |globs: &[&str]| {
        let run = super::audit(&dir, &server).args(["--skills-dir", "builtin:web"]);
        globs.iter().fold(run, |run, glob| run.args(["--include", glob])).run()
    };
    with(&["*.py"]).code(0);
    assert_eq!(super::state(dir.path())["source_files"], serde_json::json!(["app/main.py"]));
    let bodies = server.bodies();
    let system = bodies[0]["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You audit a program written in Python."), "{system}");
    assert!(super::server::told(&bodies[0]).contains("   5|     os.system(\"ls \" + name)\n"));
    let missing = with(&["src/*.rs"]).code(1);
    insta::assert_snapshot!(missing.stderr, @"
    error: no file matches --include src/*.rs
      help: patterns are relative to this directory, for example 'src/**/*.py'; files that git ignores need --allow-ignored
    ");
    let wrong = with(&["src/[a"]).code(2);
    insta::assert_snapshot!(wrong.stderr, @"
    error: --include: error parsing glob 'src/[a': unclosed character class; missing ']'
      help: `--help` describes every flag
    ");
}
