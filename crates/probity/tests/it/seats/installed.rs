//! Agents as people install them: behind the shims of version managers, and below their home.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{User, session_with_path};
use crate::{agent::executable, binary::probity};

/// An agent whose interpreter only its own installation has.
const AGENT: &str = "#!/usr/bin/env interpreter\n";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    executable(path);
}

struct Installed {
    name: &'static str,
    /// Puts the agent below this home, and says which directories come into the `PATH`.
    install: fn(&Path) -> Vec<PathBuf>,
    /// The end of the path of what runs in the end.
    runs: &'static str,
}

/// A program that says what it is.
fn says(path: &Path) -> String {
    format!("#!/bin/sh\necho \"ran {}\" > ~/report\nexit 3\n", path.display())
}

fn program(path: &Path) {
    write(path, &says(path));
}

const WAYS: &[Installed] = &[
    Installed {
        name: "nvm: a link into the packages of a version",
        install: |home| {
            let version = home.join(".nvm/versions/node/v22.1.0");
            let main = version.join("lib/node_modules/@x/agent/dist/index.js");
            write(&main, AGENT);
            // The interpreter is in the same version's directory, as node is.
            let text = "#!/bin/sh\necho \"ran $1\" > ~/report\nexit 3\n";
            write(&version.join("bin/interpreter"), text);
            symlink(
                "../lib/node_modules/@x/agent/dist/index.js",
                version.join("bin/claude-agent-acp"),
            )
            .unwrap();
            vec![version.join("bin")]
        },
        runs: "claude-agent-acp",
    },
    Installed {
        name: "nvm, in an editor that has no PATH of a shell",
        install: |home| {
            program(&home.join(".nvm/versions/node/v22.1.0/bin/claude-agent-acp"));
            Vec::new()
        },
        runs: ".nvm/versions/node/v22.1.0/bin/claude-agent-acp",
    },
    Installed {
        name: "pyenv: a script that asks pyenv",
        install: |home| {
            let root = home.join(".pyenv");
            let version = root.join("versions/3.12.1/bin");
            program(&version.join("claude-agent-acp"));
            write(
                &root.join("libexec/pyenv"),
                &format!(
                    "#!/bin/sh\n[ \"$1\" = which ] && echo {}/\"$2\" && exit\n[ \"$1\" = exec ] && shift && exec {0}/\"$@\"\n",
                    version.display()
                ),
            );
            let shim = format!(
                "#!/usr/bin/env bash\nset -e\n\nprogram=\"${{0##*/}}\"\n\nexport PYENV_ROOT=\"{0}\"\nexec \"{0}/libexec/pyenv\" exec \"$program\" \"$@\"\n",
                root.display()
            );
            write(&root.join("shims/claude-agent-acp"), &shim);
            vec![root.join("shims")]
        },
        runs: ".pyenv/versions/3.12.1/bin/claude-agent-acp",
    },
    Installed {
        name: "asdf: a script that asks asdf in the PATH",
        install: |home| {
            let root = home.join(".asdf");
            let version = root.join("installs/nodejs/20.1.0/bin");
            program(&version.join("claude-agent-acp"));
            write(
                &root.join("bin/asdf"),
                &format!("#!/bin/sh\n[ \"$1\" = which ] && echo {}/\"$2\"\n", version.display()),
            );
            let shim = "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\nexec asdf exec \"claude-agent-acp\" \"$@\"\n";
            write(&root.join("shims/claude-agent-acp"), shim);
            vec![root.join("shims"), root.join("bin")]
        },
        runs: ".asdf/installs/nodejs/20.1.0/bin/claude-agent-acp",
    },
    Installed {
        name: "volta: a link to one program for all",
        install: |home| {
            let root = home.join(".volta");
            let image = root.join("tools/image/packages/agent/bin");
            program(&image.join("claude-agent-acp"));
            write(&root.join("bin/volta-shim"), "#!/bin/sh\nexit 9\n");
            write(
                &root.join("bin/volta"),
                &format!("#!/bin/sh\n[ \"$1\" = which ] && echo {}/\"$2\"\n", image.display()),
            );
            symlink("volta-shim", root.join("bin/claude-agent-acp")).unwrap();
            vec![root.join("bin")]
        },
        runs: ".volta/tools/image/packages/agent/bin/claude-agent-acp",
    },
    Installed {
        name: "mise: a link to mise itself",
        install: |home| {
            let install = home.join(".local/share/mise/installs/npm-agent/1/bin");
            program(&install.join("claude-agent-acp"));
            let mise = home.join(".local/bin/mise");
            write(
                &mise,
                &format!("#!/bin/sh\n[ \"$1\" = which ] && echo {}/\"$2\"\n", install.display()),
            );
            let shims = home.join(".local/share/mise/shims");
            fs::create_dir_all(&shims).unwrap();
            symlink(mise, shims.join("claude-agent-acp")).unwrap();
            vec![shims]
        },
        runs: ".local/share/mise/installs/npm-agent/1/bin/claude-agent-acp",
    },
    Installed {
        name: "a native installer: a link to a version below ~/.local",
        install: |home| {
            let version = home.join(".local/share/agent/versions/2.0.1");
            program(&version);
            fs::create_dir_all(home.join(".local/bin")).unwrap();
            symlink(&version, home.join(".local/bin/claude-agent-acp")).unwrap();
            vec![home.join(".local/bin")]
        },
        runs: ".local/share/agent/versions/2.0.1",
    },
    Installed {
        name: "a wrapper that becomes the program",
        install: |home| {
            let real = home.join(".agent/local/node_modules/.bin/agent");
            program(&real);
            write(
                &home.join("bin/claude-agent-acp"),
                &format!("#!/bin/bash\nexec \"{}\" \"$@\"\n", real.display()),
            );
            vec![home.join("bin")]
        },
        runs: ".agent/local/node_modules/.bin/agent",
    },
    Installed {
        name: "pipx: a link into a virtual environment",
        install: |home| {
            let venv = home.join(".local/share/pipx/venvs/agent/bin");
            program(&venv.join("claude-agent-acp"));
            fs::create_dir_all(home.join(".local/bin")).unwrap();
            symlink(venv.join("claude-agent-acp"), home.join(".local/bin/claude-agent-acp"))
                .unwrap();
            vec![home.join(".local/bin")]
        },
        runs: ".local/share/pipx/venvs/agent/bin/claude-agent-acp",
    },
];

#[test]
fn agents_start_however_they_are_installed_for_questions_and_sessions_alike() {
    for Installed { name, install, runs } in WAYS {
        let user = User::new();
        for program in ["claude-agent-acp", "claude"] {
            fs::remove_file(user.path("bin").join(program)).unwrap();
        }
        let home = user.path("home");
        let mut path: Vec<PathBuf> = install(&home);
        path.extend(["/usr/bin".into(), "/bin".into()]);
        let path = std::env::join_paths(path).unwrap().into_string().unwrap();
        let report = || {
            let homes = fs::read_dir(user.path("state/probity/homes")).into_iter().flatten();
            let mut reports = homes.map(|home| home.unwrap().path().join("report"));
            let report = reports.find(|report| report.exists())?;
            let text = fs::read_to_string(&report).unwrap();
            fs::remove_file(report).unwrap();
            Some(text.trim().to_owned())
        };
        let output = user
            .settle(probity())
            .env("PATH", &path)
            .args(["agent", "ask", "claude", "hello"])
            .run();
        let said = report().unwrap_or_default();
        assert!(said.ends_with(runs), "{name}: {said:?}\n{}", output.stderr);
        session_with_path(&user, &user.path("repo"), &path);
        let said = report().unwrap_or_default();
        assert!(said.ends_with(runs), "{name}, in a session: {said:?}");
    }
}
