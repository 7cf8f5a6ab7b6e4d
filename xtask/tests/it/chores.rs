//! Sources, quoted paths, lengths, and the command line itself.

use crate::workspace::Workspace;

#[test]
fn sources_below_every_directory_of_ours_are_read() {
    let workspace = Workspace::new();
    workspace.write("fuzz/fuzz_targets/parse.rs", "fn main() {}\n");
    workspace.write("xtask/src/a/mod.rs", "//! A.\n");
    workspace
        .write("crates/probity/tests/it/helpers.rs", "//! B.\n#[ignore]\nfn c() { todo!() }\n");
    workspace.write("crates/probity/tests/it/fixtures/app/src/main.rs", "fn main() { todo!() }\n");
    workspace.write("fuzz/target/generated.rs", "todo!()\n");
    workspace.expect(&[
        "crates/probity/tests/it/helpers.rs: a module named `helpers`",
        "crates/probity/tests/it/helpers.rs:2: an ignored test",
        "crates/probity/tests/it/helpers.rs:3: `todo!` in code",
        "fuzz/fuzz_targets/parse.rs:1: the first line is not a `//!` line",
        "xtask/src/a/mod.rs: a file named mod.rs",
    ]);
}

#[test]
fn a_crate_with_an_empty_name_is_refused() {
    let workspace = Workspace::new();
    let manifest = workspace.read("crates/probity-scope/Cargo.toml");
    let manifest = manifest.replace("probity-scope", "probity-core");
    workspace.write("crates/probity-core/Cargo.toml", &manifest);
    workspace.write("crates/probity-core/src/lib.rs", "//! Everything.\n");
    workspace.expect(&[
        "crates/probity-core/Cargo.toml: a crate named `probity-core`",
        "crates/probity-core/Cargo.toml: probity-core: this crate has no row in the arrow table",
    ]);
}

#[test]
fn documents_point_at_what_exists() {
    let workspace = Workspace::new();
    let text = "See `crates/probity/src/lib.rs:3`, `crates/probity/src/gone.rs` and `tally/x`.\n\n\
                ```sh\ncat `docs/gone.md`\n```\n[a](docs/guide.md#b) [c](docs/gone.md)\n";
    workspace.write("README.md", text);
    workspace.write("docs/guide.md", "[up](../README.md) [gone](README.md)\n");
    workspace.write("docs/rules/tally/a.md", "`script/gone`\n");
    workspace.write("NOTES.md", "`crates/gone/src/lib.rs`\n");
    workspace.expect(&[
        "README.md:1: quotes `crates/probity/src/gone.rs`, which does not exist",
        "README.md:6: links to `docs/gone.md`, which does not exist",
        "docs/guide.md:1: links to `README.md`, which does not exist",
        "docs/rules/tally/a.md:1: quotes `script/gone`, which does not exist",
    ]);
}

#[test]
fn long_files_are_noted_and_longer_ones_refused() {
    for (lines, said, code) in [
        (500, "", 0),
        (501, "note: xtask/src/a.rs: 501 lines, above 500\n", 0),
        (800, "note: xtask/src/a.rs: 800 lines, above 500\n", 0),
        (801, "xtask/src/a.rs: 801 lines; no file may have more than 800\n", 1),
    ] {
        let workspace = Workspace::new();
        workspace.write("xtask/src/a.rs", &format!("//! A.\n{}", "\n".repeat(lines - 1)));
        let ran = workspace.tidy();
        assert_eq!(ran.code, Some(code), "{lines} {}", ran.stdout);
        assert!(ran.stdout.starts_with(said), "{lines} {}", ran.stdout);
        assert_eq!(ran.stdout.contains("a.rs"), !said.is_empty(), "{lines} {}", ran.stdout);
    }
}

#[test]
fn a_wrong_command_line_is_a_failure_and_not_a_finding() {
    let workspace = Workspace::new();
    for (arguments, said) in [
        (&["nonsense"][..], "no command named `nonsense`"),
        (&["tidy", "--fix"], "unexpected argument `--fix`"),
        (&["docs", "extra"], "unexpected argument `extra`"),
        (&["docs", "--binary"], "`--binary` needs a value"),
    ] {
        let ran = workspace.xtask(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?} {}", ran.stdout);
        assert!(ran.stderr.contains(said), "{arguments:?} {}", ran.stderr);
    }
}
