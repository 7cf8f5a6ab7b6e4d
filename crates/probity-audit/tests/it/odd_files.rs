//! Links, `..`, absolute paths, FIFOs, huge and binary files, against every action.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    process::Command,
    time::{Duration, Instant},
};

use probity_audit::{PermissionPrompt, ReadScope, ReadTools, Request, Rules, ToolOptions};

use crate::project::{SPEND, find, grep, list, project, read, told, tools};

fn every(path: &str) -> [Request; 4] {
    [read(path), grep("secret", path, 2), list(path), find(path, None)]
}

#[test]
fn nothing_outside_the_root_is_read_by_any_action() {
    let outside = project(&[("secret.txt", "secret words"), ("dir/secret.txt", "secret words")]);
    let dir = project(&[("inside/a.ak", SPEND)]);
    symlink(outside.path().join("secret.txt"), dir.path().join("link")).unwrap();
    symlink(outside.path().join("dir"), dir.path().join("linked")).unwrap();
    symlink("../../../../../../../../etc/passwd", dir.path().join("relative")).unwrap();
    let absolute = outside.path().join("secret.txt").to_str().unwrap().to_owned();
    let up = format!(
        "inside/../../{}/secret.txt",
        outside.path().file_name().unwrap().to_str().unwrap()
    );
    for scope in [ReadScope::Workspace, ReadScope::Strict] {
        let tools = tools(dir.path(), scope, &["link", "inside/a.ak"]);
        for path in [
            "link",
            "linked",
            "linked/secret.txt",
            "relative",
            &absolute,
            &up,
            "/",
            "..",
            "/proc/self/environ",
        ] {
            for request in every(path) {
                let text = told(&tools, &request);
                assert!(
                    text.starts_with("refused: Path escapes project root and is not allowed: "),
                    "{request:?}: {text}"
                );
                assert!(!text.contains("secret words"), "{request:?}");
            }
        }
    }
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    for request in every(".") {
        let text = told(&tools, &request);
        assert!(!text.contains("secret words"), "{text}");
        assert!(!text.contains(dir.path().to_str().unwrap()), "{text}");
        assert!(!text.contains(outside.path().to_str().unwrap()), "{text}");
    }
}

#[test]
fn fifos_never_make_anybody_wait() {
    let dir = project(&[("a.ak", SPEND)]);
    let made = Command::new("mkfifo").arg(dir.path().join("pipe.ak")).status().unwrap();
    assert!(made.success());
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    let texts = every("pipe.ak").map(|request| told(&tools, &request));
    assert_eq!(texts[0], "cat: pipe.ak: not a regular file\n(command exited with status 1)");
    assert_eq!(texts[1], "grep: pipe.ak: not a regular file\n(command exited with status 2)");
    assert!(texts[2].starts_with('p'), "{}", texts[2]);
    assert_eq!(texts[3], "(no output; command exited with status 0)");
    for request in every(".") {
        told(&tools, &request);
    }
}

#[test]
fn huge_files_cost_neither_memory_nor_time() {
    let dir = project(&[("a.ak", SPEND)]);
    let huge = File::create(dir.path().join("huge.ak")).unwrap();
    huge.set_len(1 << 40).unwrap();
    fs::write(dir.path().join("line.ak"), "x".repeat(12 << 20)).unwrap();
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    let began = Instant::now();
    for path in ["huge.ak", "line.ak", "."] {
        for request in every(path) {
            assert!(told(&tools, &request).chars().count() < 30_100, "{request:?}");
        }
    }
    // Whoever reads all of it needs many minutes.
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    let text = told(&tools, &read("line.ak"));
    assert!(text.ends_with("\n...(truncated to 30000 chars)"));
}

#[test]
fn binary_files_are_named_and_not_shown() {
    let dir = project(&[("a.ak", SPEND)]);
    fs::write(dir.path().join("data.bin"), b"secret\n\0\x01\x02 secret").unwrap();
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(
        told(&tools, &read("data.bin")),
        "cat: data.bin: binary file of 17 bytes\n(command exited with status 1)"
    );
    assert_eq!(
        told(&tools, &grep("secret", "data.bin", 0)),
        "grep: data.bin: binary file matches\n"
    );
    assert_eq!(told(&tools, &find("data.bin", None)), "data.bin\n");
    assert!(told(&tools, &list("data.bin")).ends_with("data.bin\n"));
}

#[test]
fn sensitive_files_are_refused_unless_allowed() {
    let files = [".git/config", ".env", "keys/payment.skey", "tls/server.pem"];
    let dir = project(&[]);
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "secret words").unwrap();
    }
    symlink(".env", dir.path().join("harmless.txt")).unwrap();
    let guarded = tools(dir.path(), ReadScope::Workspace, &[]);
    for file in files.into_iter().chain(["harmless.txt"]) {
        for request in every(file) {
            let text = told(&guarded, &request);
            assert_eq!(
                text,
                format!("refused: Path is a sensitive file and is not allowed: {file}")
            );
        }
    }
    assert!(!told(&guarded, &grep("secret", ".", 0)).contains("words"));
    let permission = PermissionPrompt::new(ReadScope::Workspace, false, true, &[]);
    let options = ToolOptions {
        numbered: false,
        allow_sensitive: true,
        allow_ignored: false,
        rules: Rules::Specification,
    };
    let open = ReadTools::open(dir.path(), &[], permission, options).unwrap();
    for file in files {
        assert_eq!(told(&open, &read(file)), "secret words", "{file}");
    }
}

#[test]
fn what_git_ignores_is_not_shown_except_dependencies() {
    let dir = project(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".gitignore", "local\nnode_modules\n"),
        ("local/notes.txt", "my words"),
        ("node_modules/p/index.js", "their words"),
    ]);
    let guarded = tools(dir.path(), ReadScope::Workspace, &[]);
    for request in every("local/notes.txt") {
        let refused = "refused: Path is ignored by git and is not allowed: local/notes.txt";
        assert_eq!(told(&guarded, &request), refused);
    }
    assert_eq!(told(&guarded, &read("node_modules/p/index.js")), "their words");
    assert!(!told(&guarded, &grep("words", ".", 0)).contains("my words"));
    assert!(!told(&guarded, &list(".")).contains("local"));
    let permission = PermissionPrompt::new(ReadScope::Workspace, false, false, &[]);
    let options = ToolOptions {
        numbered: false,
        allow_sensitive: false,
        allow_ignored: true,
        rules: Rules::Specification,
    };
    let open = ReadTools::open(dir.path(), &[], permission, options).unwrap();
    assert_eq!(told(&open, &read("local/notes.txt")), "my words");
}

#[test]
fn keys_in_ordinary_files_are_starred_out_and_hashes_are_not() {
    let key = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let hash = "const policy = #\"a0028f350aaabe0545fdcb56b039bfb08e4bb4d8c4d7c3c7d481c235\"";
    let dir = project(&[("a.ak", &format!("{hash}\n// {key}\n"))]);
    let tools = tools(dir.path(), ReadScope::Workspace, &[]);
    assert_eq!(told(&tools, &read("a.ak")), format!("{hash}\n// {}\n", "*".repeat(key.len())));
}
