//! Reading on a model's behalf: what the outputs look like, and who may read what.

use std::process::Command;

use probity_audit::{PermissionPrompt, ReadScope, ReadTools, Rules, ToolOptions};

use crate::project::{SPEND, find, grep, list, project, read, told, tools};

#[test]
fn read_file_gives_the_bytes_of_the_file() {
    let dir = project(&[("a.ak", SPEND), ("empty", ""), ("latin", "")]);
    std::fs::write(dir.path().join("latin"), b"caf\xe9\n").unwrap();
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(told(&tools, &read("a.ak")), SPEND);
    assert_eq!(
        told(&tools, &read("./x/../a.ak")),
        "refused: Path does not exist or is inaccessible: ./x/../a.ak"
    );
    assert_eq!(told(&tools, &read("empty")), "(no output; command exited with status 0)");
    assert_eq!(told(&tools, &read("latin")), "caf\u{fffd}\n");
    assert_eq!(told(&tools, &read(".")), "cat: .: Is a directory\n(command exited with status 1)");
}

#[test]
fn read_file_numbers_lines_only_when_asked_to() {
    let dir = project(&[("a.ak", "one\ntwo\n")]);
    let permission = PermissionPrompt::new(ReadScope::Workspace, false, false, &[]);
    let options = ToolOptions {
        numbered: true,
        allow_sensitive: false,
        allow_ignored: false,
        rules: Rules::Specification,
    };
    let tools = ReadTools::open(dir.path(), &[], permission, options).unwrap();
    assert_eq!(told(&tools, &read("a.ak")), "     1\tone\n     2\ttwo\n");
}

/// The program itself is asked, so that the shape is not a matter of memory.
#[test]
fn grep_prints_what_the_program_prints() {
    let text = "alpha\nbeta(\ngamma\ndelta\nepsilon\nzeta\nbeta|x\neta\n";
    let dir = project(&[("a.ak", text)]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    for (pattern, context) in [
        ("beta", 0),
        ("beta", 1),
        ("beta", 2),
        ("beta(", 1),
        (r"\(alpha\|zeta\)", 1),
        ("^a.*a$", 0),
        ("beta|x", 0),
        ("", 0),
        ("e[lp]", 1),
        ("missing", 2),
    ] {
        let output = Command::new("grep")
            .args(["-n", "-C", &context.to_string(), "--", pattern])
            .arg(dir.path().join("a.ak"))
            .output()
            .unwrap();
        let mut expected = String::from_utf8(output.stdout).unwrap();
        if expected.is_empty() {
            expected = "(no output; command exited with status 1)".to_owned();
        }
        assert_eq!(told(&tools, &grep(pattern, "a.ak", context)), expected, "{pattern}");
    }
}

#[test]
fn grep_takes_a_pattern_as_basic_and_then_as_extended() {
    let dir = project(&[("a.ak", "value\nlovelace\nhas(x)\nState {\n")]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    for (pattern, expected) in [
        ("value|lovelace", "1:value\n2:lovelace\n"),
        (r"has\(", "3:has(x)\n"),
        ("has(", "3:has(x)\n"),
        (r"State\s+{", "4:State {\n"),
        (r"(has|value)\b", "1:value\n--\n3:has(x)\n"),
    ] {
        assert_eq!(told(&tools, &grep(pattern, "a.ak", 0)), expected, "{pattern}");
    }
    let broken = told(&tools, &grep(r"\(a(", "a.ak", 0));
    insta::assert_snapshot!(broken, @"
    grep: no line matches as a basic expression, and as an extended one it is not valid: unclosed group
    (command exited with status 2)
    ");
}

#[test]
fn grep_searches_directories_and_names_the_files() {
    let dir = project(&[("lib/a.ak", "x\nhit\n"), ("lib/b/c.ak", "hit\ny\n"), (".env", "hit\n")]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(told(&tools, &grep("hit", ".", 0)), "lib/a.ak:2:hit\n--\nlib/b/c.ak:1:hit\n");
    assert_eq!(
        told(&tools, &grep("hit", "lib", 1)),
        "lib/a.ak-1-x\nlib/a.ak:2:hit\n--\nlib/b/c.ak:1:hit\nlib/b/c.ak-2-y\n"
    );
}

#[test]
fn find_files_prints_relative_paths_in_order() {
    let dir = project(&[("lib/b.ak", ""), ("lib/a.ak", ""), ("z.txt", ""), (".git/config", "")]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(told(&tools, &find(".", None)), "lib/a.ak\nlib/b.ak\nz.txt\n");
    assert_eq!(told(&tools, &find("lib", Some("b*"))), "lib/b.ak\n");
    assert_eq!(told(&tools, &find(".", Some("lib/*.ak"))), "lib/a.ak\nlib/b.ak\n");
    assert_eq!(
        told(&tools, &find(".", Some("-exec"))),
        "(no output; command exited with status 0)"
    );
    assert_eq!(told(&tools, &find("z.txt", None)), "z.txt\n");
}

#[test]
fn list_dir_looks_like_ls_and_names_no_user_and_no_place() {
    let dir = project(&[("lib/a.ak", "123")]);
    std::os::unix::fs::symlink("/etc", dir.path().join("lib/out")).unwrap();
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    let listed = told(&tools, &list("lib"));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 5, "{listed}");
    assert!(lines[0].starts_with("total "));
    assert!(lines[1].starts_with('d') && lines[1].ends_with(" ."));
    assert!(lines[2].ends_with(" .."));
    assert!(lines[3].starts_with("-rw") && lines[3].ends_with(" a.ak"), "{listed}");
    assert!(lines[3].contains(" user group        3 "), "{listed}");
    assert!(
        lines[4].starts_with('l') && lines[4].ends_with(" out"),
        "no absolute target: {listed}"
    );
}

#[test]
fn output_is_cut_at_30000_characters() {
    let line = format!("{}\n", "ä".repeat(99));
    let dir = project(&[("big.ak", &line.repeat(1_000)), ("exact.ak", &line.repeat(300))]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(told(&tools, &read("exact.ak")), line.repeat(300));
    let marker = "\n...(truncated to 30000 chars)";
    for request in [read("big.ak"), grep("ä", "big.ak", 0)] {
        let text = told(&tools, &request);
        assert!(text.ends_with(marker), "{}", &text[text.len() - 100..]);
        assert_eq!(text.chars().count(), 30_000 + marker.chars().count());
    }
}

#[test]
fn an_action_whose_command_is_not_allowed_is_refused() {
    let dir = project(&[("a.ak", SPEND)]);
    let requests = [read("a.ak"), grep("x", "a.ak", 0), list("."), find(".", None)];
    for request in &requests {
        let mut permission = PermissionPrompt::new(ReadScope::Workspace, false, false, &[]);
        permission.allowed_commands.retain(|command| command != request.command());
        let options = ToolOptions {
            numbered: false,
            allow_sensitive: false,
            allow_ignored: false,
            rules: Rules::Specification,
        };
        let tools = ReadTools::open(dir.path(), &[], permission, options).unwrap();
        for other in &requests {
            let refused = told(&tools, other)
                == format!(
                    "refused: Command '{}' is not permitted by permission prompt",
                    other.command()
                );
            assert_eq!(refused, other == request, "{other:?}");
        }
    }
}

#[test]
fn the_strict_scope_allows_known_files_and_no_listing() {
    let dir = project(&[("validators/spend.ak", SPEND), ("other.ak", SPEND)]);
    let tools = tools(dir.path(), ReadScope::Strict, &["validators/spend.ak"]);
    assert_eq!(told(&tools, &read("validators/spend.ak")), SPEND);
    insta::assert_snapshot!(told(&tools, &grep("spend", "validators/spend.ak", 0)), @"
    1:validator spend {
    2:  spend(datum, redeemer, ref, self) {
    ");
    let listing = "refused: Request denied by strict read scope: directory listing and file discovery are not allowed";
    assert_eq!(told(&tools, &list("validators")), listing);
    assert_eq!(told(&tools, &find(".", None)), listing);
    assert_eq!(
        told(&tools, &grep("x", "validators", 0)),
        "refused: Request denied by strict read scope: only known source files can be accessed"
    );
    assert_eq!(
        told(&tools, &read("other.ak")),
        "refused: Request denied by strict read scope: 'other.ak' is not an allowed source file"
    );
}

#[test]
fn interactive_mode_asks_for_each_read_and_anything_but_yes_denies() {
    let dir = project(&[("a.ak", SPEND)]);
    let permission = PermissionPrompt::new(ReadScope::Workspace, true, false, &[]);
    let options = ToolOptions {
        numbered: false,
        allow_sensitive: false,
        allow_ignored: false,
        rules: Rules::Specification,
    };
    let tools = ReadTools::open(dir.path(), &[], permission, options).unwrap();
    let asked = std::cell::RefCell::new(Vec::new());
    let answer = |yes: bool| {
        tools.execute(&read("./a.ak"), &|summary, path| {
            asked.borrow_mut().push(format!("{summary} -> {path}"));
            yes
        })
    };
    assert_eq!(answer(true).unwrap().text, SPEND);
    assert_eq!(
        answer(false).unwrap_err().to_string(),
        "Request denied by user confirmation: read file './a.ak'"
    );
    assert_eq!(asked.into_inner(), ["read file './a.ak' -> a.ak", "read file './a.ak' -> a.ak"]);
}

const TOKEN: &str = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";

#[test]
fn single_lines_of_a_key_and_halves_of_a_token_are_not_shown() {
    let body: String = ('A'..'M')
        .map(|c| format!("MIIEpAIBAAKCAQEA{c}x7Kd93kfLqPz0vB2nM4cV6tYuWeRsTgHjK8\n"))
        .collect();
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n");
    let filler = "x ".repeat(14_985);
    let dir = project(&[
        ("notes.txt", &format!("hello\n{key}")),
        ("pad.txt", &format!("{filler}TOKEN={TOKEN}\n")),
        ("long.txt", &format!("{}\n{key}", "x ".repeat(14_900))),
        ("shown.txt", &format!("the token is {TOKEN}\n")),
    ]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    for (request, secret) in [
        (grep("MIIE", "notes.txt", 0), "MIIE"),
        (grep("Dx7Kd", ".", 0), "Dx7Kd"),
        (grep("hello", "notes.txt", 3), "MIIE"),
        (grep("ghp_aB3dE5fG7", "shown.txt", 0), "ghp_aB3d"),
        (read("pad.txt"), "ghp_aB3d"),
        (read("long.txt"), "MIIE"),
    ] {
        let output = told(&tools, &request);
        assert!(!output.contains(secret), "{request:?}: …{secret} is shown");
    }
    assert_eq!(
        told(&tools, &grep("token", "shown.txt", 0)),
        format!("1:the token is {}\n", "*".repeat(TOKEN.len()))
    );
}
