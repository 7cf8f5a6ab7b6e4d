//! The parser of command lines is named in `cli` alone.

use crate::workspace::Workspace;

#[test]
fn a_command_that_parses_flags_is_named_with_its_line() {
    let workspace = Workspace::new();
    let text = "//! A part.\n// clap::Parser is only spoken of.\nuse std::fmt;\n";
    for part in ["commands/x.rs", "config/x.rs", "containment.rs", "report/x.rs", "cli/x.rs"] {
        workspace.write(&format!("crates/probity/src/{part}"), text);
    }
    workspace.write("crates/probity/src/cli/y.rs", "//! Flags.\nuse clap::Parser;\n");
    workspace.expect(&[]);
    for (part, line, word) in [
        ("commands/x.rs", "use clap::Args;", "clap::"),
        ("config/x.rs", "use crate::cli::check;", "crate::cli"),
        ("containment.rs", "    cli::cai::ExecArgs,", "cli::"),
        ("report/x.rs", "#[derive(clap::ValueEnum)]", "clap::"),
    ] {
        let path = format!("crates/probity/src/{part}");
        workspace.write(&path, &format!("//! A part.\n{line}\n"));
        workspace.expect(&[&format!("{path}:2: names `{word}`")]);
        workspace.write(&path, text);
    }
}
