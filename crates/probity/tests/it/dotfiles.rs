//! A user who keeps configuration files in a repository, and works on that repository in a sandbox.

use std::{fs, os::unix::fs::symlink};

use crate::binary::{directory, probity};

/// What is a link, where it leads to in the workspace, and which file a session then tries to write.
const ROWS: &[(&str, &str, &str)] = &[
    ("home/.gitconfig", "work/gitconfig", "gitconfig"),
    ("home/.gitconfig", "work/first", "second"),
    ("home/.config", "work/config", "config/git/config"),
    ("home/.config/git", "work/git", "git/config"),
    ("home/.config/git", "work/git", "git/attributes"),
    ("home/.config/probity", "work/probity", "probity/probity.toml"),
    ("home/.config/containai/config.toml", "work/containai.toml", "containai.toml"),
    ("home/templates", "work/templates", "templates/hooks/post-checkout"),
    ("home/hooks", "work/hooks", "hooks/pre-commit"),
    ("home/shared", "work/shared", "shared"),
    ("home/bin", "work/bin", "bin/helper"),
];

#[test]
fn files_of_the_user_that_are_in_the_workspace_are_read_only() {
    for (link, target, file) in ROWS {
        let place = directory(&[
            ("home/x", ""),
            ("state/x", ""),
            ("work/gitconfig", ""),
            ("work/second", ""),
            ("work/shared", ""),
            ("work/bin/helper", ""),
            ("work/config/x", ""),
            ("work/git/config", ""),
            ("work/probity/x", ""),
            ("work/containai.toml", ""),
            ("work/templates/hooks/x", ""),
        ]);
        let place = place.path().canonicalize().unwrap();
        let at = |path: &str| place.join(path);
        symlink("second", at("work/first")).unwrap();
        let own = "[init]\n\ttemplateDir = ~/templates\n[core]\n\thooksPath = ~/hooks\n[include]\n\
                   \tpath = ~/shared\n[credential]\n\thelper = !\"$HOME\"/bin/helper x\n";
        let users = if *link == "home/.gitconfig" { "home/x" } else { "home/.gitconfig" };
        fs::write(at(users), own).unwrap();
        fs::create_dir_all(at(link).parent().unwrap()).unwrap();
        symlink(at(target), at(link)).unwrap();
        let read = || fs::read(at("work").join(file)).unwrap_or_default();
        let before = read();
        let script = format!(
            "mkdir -p \"$(dirname {file})\"; echo evil >> {file}; echo evil > new; mv new {file}; \
             rm -f {file}; echo evil > {file}; ln -sf x {file}; \
             mv \"$(dirname {file})\" moved; mkdir -p \"$(dirname {file})\"; echo evil > {file}; \
             rm -f first; echo evil > first; true"
        );
        let text = |path: &str| at(path).to_str().unwrap().to_owned();
        let run = probity().dir(at("work")).env("HOME", &text("home"));
        let run = run.env("XDG_STATE_HOME", &text("state"));
        let output =
            run.args(["exec", "--sandbox", "bwrap", "--", "sh", "-c", &script]).run().code(0);
        assert_eq!(read(), before, "{link}: {}", output.stderr);
        // A link of the workspace on the way is as it was, too.
        if *target == "work/first" {
            assert_eq!(
                fs::read_link(at("work/first")).unwrap(),
                "second".as_ref() as &std::path::Path
            );
        }
    }
}
