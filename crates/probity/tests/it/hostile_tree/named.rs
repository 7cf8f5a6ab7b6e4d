//! What the files of a hostile repository name: other files, variables and commands.

use super::{BAD, GOOD, Home};
use crate::binary::probity;

#[test]
fn compose_reads_and_shows_nothing_outside_of_its_tree() {
    let inside = "services:\n  a:\n    build: .\n    image: \"${A_NAME:-none}\"\n";
    let elsewhere: &[(&str, &str)] = &[
        ("include", "include:\n  - path: inner.yaml\n    env_file: ../secret.env\n"),
        ("absolute", "include:\n  - path: inner.yaml\n    env_file: \"${HOME}/secret.env\"\n"),
        ("directory", "include:\n  - path: inner.yaml\n    project_directory: ../own\n"),
        ("included", "include:\n  - ../own/compose.yaml\n"),
        ("linked", "include:\n  - near.yaml\n"),
        (
            "extends",
            "services:\n  b:\n    extends:\n      file: ../own/compose.yaml\n      service: b\n",
        ),
        ("dockerfile", "services:\n  b:\n    build:\n      dockerfile: ../own/Dockerfile\n"),
        (
            "context",
            "services:\n  b:\n    build:\n      context: ../own\n      dockerfile: ../x/Dockerfile\n",
        ),
    ];
    let inner = "services:\n  c:\n    build:\n      target: \"${machine_secret}\"\n";
    let outer = "services:\n  b:\n    build: .\n    profiles: [hunter2]\n  hunter2: [hunter2]\n";
    for is_repository in [true, false] {
        for (name, text) in elsewhere {
            let files = [("compose.yaml", *text), ("inner.yaml", inner), ("plain.yaml", inside)];
            let home = Home::with(&files, is_repository);
            home.add("secret.env", "machine_secret=hunter2\n");
            home.add("own/.env", "machine_secret=hunter2\n");
            home.add("own/compose.yaml", outer);
            home.add("own/.dockerignore", "hunter2 [\n");
            home.link("x/near.yaml", "../own/compose.yaml");
            let run = probity().dir(home.at("x")).env("HOME", home.at("").to_str().unwrap());
            let output = run.args(["check", "-v", "compose.yaml"]).run();
            let said = format!("{}{}", output.stdout, output.stderr);
            let case = format!("{name} in a repository: {is_repository}: {said}");
            assert!(!said.contains("hunter2"), "{case}");
            assert!(said.contains("outside of"), "{case}");
        }
    }
    // A Dockerfile elsewhere is read if the user names it, too.
    let text = "services:\n  b:\n    build:\n      dockerfile: ../own/Dockerfile\n";
    let home = Home::with(&[("compose.yaml", text)], true);
    let run = probity().dir(home.at("x")).args(["check", "compose.yaml", "../own/Dockerfile"]);
    assert!(run.run().code(1).stdout.contains("Stage name 'Bad'"));
}

#[test]
fn descriptions_learn_no_secret_of_the_environment() {
    let compose = "services:\n  a:\n    build:\n      context: .\n      target: \"x${NAME}x\"\n";
    let bake = "target \"a\" {\n  target = \"x${NAME}x\"\n}\nvariable \"NAME\" {}\n";
    for (name, value, is_secret) in [
        ("MY_API_KEY", "hunter2", true),
        ("DATABASE_URL", "postgres://me:hunter2@db.example.org/x", true),
        ("NICE_NAME", "hunter2", false),
    ] {
        for (file, text) in [("compose.yaml", compose), ("docker-bake.hcl", bake)] {
            let home = Home::with(&[(file, &text.replace("NAME", name))], true);
            let run = probity().dir(home.at("x")).env(name, value);
            let output = run.args(["check", file]).run();
            let said = format!("{}{}", output.stdout, output.stderr);
            assert_eq!(said.contains("hunter2"), !is_secret, "{name} in {file}: {said}");
            assert_eq!(said.contains("hidden-secret"), is_secret, "{name} in {file}: {said}");
        }
    }
}

#[test]
fn a_command_of_a_repository_has_no_file_of_the_user_shown() {
    let dockerfile = "FROM debian:12\nRUN apt-get update && apt-get install -y gcc\nCOPY . /src\n\
                      RUN gcc -o /a /src/a.c\nCMD [\"/a\"]\n";
    for is_repository in [true, false] {
        let home = Home::with(&[("own.txt", "own-text\n")], is_repository);
        home.add("x/Dockerfile", dockerfile);
        home.link("x/linked.txt", "../secret");
        let (secret, own) = (home.at("secret"), home.at("x/own.txt"));
        let linked = home.at("x/linked.txt");
        for (file, is_shown) in [(&secret, false), (&linked, false), (&own, true)] {
            let text = format!(
                "[ai]\nenabled = true\ncommand = ['sh', '-c', 'cat \"$0\" >&2; exit 1', {file:?}]\n"
            );
            home.add("x/.tally.toml", &text);
            let run = probity().dir(home.at("x")).env("HOME", home.at("").to_str().unwrap());
            let args = ["check", "--slow-checks", "off", "--diff", "--fix-unsafe"];
            let output = run.args(args).run();
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(said.contains("bubblewrap"), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
            assert_eq!(said.contains("own-text"), is_shown, "{said}");
        }
    }
}

#[test]
fn a_compose_file_has_nothing_of_another_tree_fixed() {
    for is_repository in [true, false] {
        // Nothing behind a link is even read.
        for name in ["../own/Dockerfile", "linked/Dockerfile"] {
            let text = format!(
                "services:\n  a:\n    build:\n      context: .\n      dockerfile: {name}\n"
            );
            let home = Home::with(&[("compose.yaml", &text)], is_repository);
            home.link("x/linked", "../own");
            let run = probity().dir(home.at("x")).args(["check", "--fix", "compose.yaml"]);
            let output = run.run().code(2);
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(said.contains("outside of"), "{said}");
            assert_eq!(home.text("own/Dockerfile"), BAD);
        }
        // Named by the user, or in the same tree.
        let text = "services:\n  a:\n    build: .\n";
        let home = Home::with(&[("sub/compose.yaml", &text.replace('.', ".."))], is_repository);
        probity().dir(home.at("x")).args(["check", "--fix", "sub/compose.yaml"]).run().code(0);
        assert_eq!(home.text("x/Dockerfile"), GOOD);
    }
}
