//! A workspace in a temporary directory: tidy as it is, until a test spoils it.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;

const CRATES: &[&str] = &[
    "probity",
    "probity-acp",
    "probity-agent",
    "probity-audit",
    "probity-autofix",
    "probity-dockerfile",
    "probity-finding",
    "probity-image",
    "probity-lint",
    "probity-lsp",
    "probity-proof",
    "probity-proxy",
    "probity-registry",
    "probity-review",
    "probity-sandbox",
    "probity-scope",
    "probity-seat",
    "probity-secrets",
    "probity-shell",
    "probity-text",
    "probity-builds",
    "probity-check",
    "probity-containment",
    "probity-report",
];

pub(crate) struct Workspace {
    directory: TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workspace {
    /// Every crate of the table, without a dependency; packages of others are below `vendor`, so
    /// that no registry is needed.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        let workspace = Self { directory };
        let members: String = CRATES
            .iter()
            .map(|name| format!("{name} = {{ path = \"crates/{name}\" }}\n"))
            .collect();
        workspace.write(
            "Cargo.toml",
            &format!(
                "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"xtask\"]\n\
                 exclude = [\"vendor\"]\n[workspace.package]\nedition = \"2024\"\n\
                 rust-version = \"1.95\"\nversion = \"0.1.0\"\nlicense = \"MIT OR Apache-2.0\"\n\
                 [workspace.lints.rust]\nunsafe_code = \"deny\"\n[workspace.dependencies]\n{members}"
            ),
        );
        workspace.write("deny.toml", "[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = []\n");
        for name in CRATES {
            workspace.member(&format!("crates/{name}"), name);
        }
        workspace.member("xtask", "xtask");
        workspace
    }

    fn member(&self, directory: &str, name: &str) {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition.workspace = true\n\
             rust-version.workspace = true\nversion.workspace = true\nlicense.workspace = true\n\
             [lints]\nworkspace = true\n"
        );
        self.write(&format!("{directory}/Cargo.toml"), &manifest);
        let source = format!(
            "//! The crate {name}.\n#![cfg_attr(not(test), warn(clippy::disallowed_methods))]\n"
        );
        self.write(&format!("{directory}/src/lib.rs"), &source);
    }

    /// A package that is not ours, offered by the workspace under its own name.
    pub(crate) fn vendor(&self, name: &str, license: &str, more: &str) {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\nversion = \"1.2.3\"\n{license}\n{more}"
        );
        self.write(&format!("vendor/{name}/Cargo.toml"), &manifest);
        self.write(&format!("vendor/{name}/src/lib.rs"), "");
        self.append("Cargo.toml", &format!("{name} = {{ path = \"vendor/{name}\" }}\n"));
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let full = self.path().join(path);
        fs::create_dir_all(full.parent().expect("a parent")).expect("created");
        fs::write(full, text).expect("written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).expect("read")
    }

    pub(crate) fn append(&self, path: &str, text: &str) {
        self.write(path, &(self.read(path) + text));
    }

    pub(crate) fn replace(&self, path: &str, old: &str, new: &str) {
        let text = self.read(path);
        assert!(text.contains(old), "{path} has no {old:?}");
        self.write(path, &text.replace(old, new));
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Locks what there is, as every committed state is locked, and runs tidy on it.
    pub(crate) fn tidy(&self) -> Ran {
        let cargo = Command::new(env!("CARGO"))
            .args(["generate-lockfile", "--offline", "--quiet"])
            .current_dir(self.path())
            .stderr(Stdio::null())
            .status()
            .expect("cargo runs");
        // Cargo refuses to lock a circle; such a workspace has no lock file.
        assert!(cargo.success() || !self.path().join("Cargo.lock").exists());
        self.xtask(&["tidy"])
    }

    pub(crate) fn xtask(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
            .arg("--root")
            .arg(self.path())
            .output()
            .expect("xtask runs");
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Tidy finds exactly this, told as `file:line: what`.
    #[track_caller]
    pub(crate) fn expect(&self, problems: &[&str]) {
        let ran = self.tidy();
        let seen: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| !line.starts_with("    ") && !line.starts_with("tidy: "))
            .collect();
        assert_eq!(seen, problems, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(if problems.is_empty() { 0 } else { 1 }), "{}", ran.stderr);
    }
}
