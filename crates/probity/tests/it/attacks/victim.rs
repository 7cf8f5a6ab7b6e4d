//! A workspace with everything that git obeys, and the user who runs git in it afterwards.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::binary::Run;

pub(crate) struct Victim {
    place: TempDir,
}

/// Defines what the scripts of the table use, and stops nothing.
const PRELUDE: &str = r#"
EVIL=@ROOT@/evil-@NUMBER@.sh HOOKS=@ROOT@/hooks-@NUMBER@ ROOT=@ROOT@
program() { rm -f "$1"; printf '#!/bin/sh\ntouch @RAN@/@NUMBER@\n' > "$1"; busybox chmod +x "$1"; }
settings() {
    printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n\thooksPath = %s\n' "$EVIL" "$HOOKS"
    [ -z "$1" ] || printf '\tbare = false\n\tworktree = %s\n' "$1"
}
repo() {
    mkdir -p "$1/objects" "$1/refs/heads"
    echo 'ref: refs/heads/main' > "$1/HEAD"
    settings "$2" > "$1/config"
}
program "$EVIL"
mkdir -p "$HOOKS"
for hook in pre-commit post-commit post-checkout reference-transaction; do
    program "$HOOKS/$hook"
done
"#;

/// What a user does after a session: a look, a commit and a checkout, everywhere.
const DAY: &str = r#"
git status; git diff; git log -p -2; git stash list
for f in file.*; do echo more >> $f; done; git status; git diff; git add -A; git commit -m day
git checkout -q -b other; git checkout -q main; git submodule update --init --recursive
git rebase --continue; git rebase --abort
git -C ../tree status; git -C ../tree commit -q --allow-empty -m x
find . -type d -not -path '*/.git/*' -not -path './hooks-*' -not -path './bin-*' -not -path '*/objects*' \
    -not -path '*/refs*' -not -path './.h*/*' | while read -r directory; do
    (cd "$directory" && git status && git commit -q --allow-empty -m x; git branch -f day)
done
"#;

impl Victim {
    pub(crate) fn new() -> Self {
        let victim = Self { place: tempfile::tempdir().unwrap() };
        for directory in ["home", "ran", "users/containai", "lib", "work"] {
            fs::create_dir_all(victim.at(directory)).unwrap();
        }
        let users = "[user]\n\tname = u\n\temail = u@example.org\n[protocol \"file\"]\n\tallow = always\n\
                     [init]\n\tdefaultBranch = main\n[core]\n\tuntrackedCache = false\n[include]\n\tpath = ";
        let users = format!("{users}{}\n", victim.at("work/conf/users").display());
        fs::write(victim.at("home/.gitconfig"), users).unwrap();
        let husky = ".husky/_ .husky conf real tools nested/deep";
        let lines = [
            "cd lib && git init -q && echo x > x && git add . && git commit -qm lib && cd ../work",
            &format!("git init -q && mkdir -p {husky} && ln -s real linked"),
            "for f in conf/shared conf/users real/extra; do : > $f; done",
            "for f in .husky/pre-commit tools/tidy.sh; do printf '#!/bin/sh\\nexec cat\\n' > $f; done",
            "printf '#!/bin/sh\\nexec cat \"$1\"\\n' > tools/convert.sh; : > .husky/pre-commit",
            "printf '#!/bin/sh\\nsh \"$(dirname \"$0\")/../pre-commit\"\\n' > .husky/_/pre-commit",
            "chmod +x .husky/_/* .husky/pre-commit tools/*",
            "printf '*.txt filter=tidy\\n*.doc diff=word\\n' > .gitattributes; mkdir by",
            // Programs that settings reach by variables, patterns, quotes and other directories.
            "for f in variable changed top star quoted nested typed; do \
                printf '#!/bin/sh\\nexec cat\\n' > by/$f.sh; done; chmod +x by/*",
            "for f in variable changed top star quoted nested late typed; do echo text > file.$f; \
                printf '*.%s filter=%s\\n' $f $f >> .gitattributes; done",
            "echo text > file.txt; echo text > file.doc; printf 'nested\\nfixture.git\\n' > .gitignore",
            "git submodule --quiet add ../lib sub && git submodule --quiet add ../lib later",
            "git add -A && git commit -qm first && git worktree add -q ../tree",
            "git submodule --quiet deinit -f later && rm -rf .git/modules/later",
            "git -C nested/deep init -q && (cd nested/deep && echo x > x && git add x && git commit -qm x)",
            "git clone -q --bare ../lib fixture.git",
            "git config core.hooksPath .husky/_ && git config filter.tidy.clean ./tools/tidy.sh",
            "git config diff.word.textconv tools/convert.sh",
            "git config filter.variable.clean 'FOO=1 sh \"$PWD/by/variable.sh\"'",
            "git config filter.changed.clean 'cd by && ./changed.sh'",
            "git config filter.top.clean '$(git rev-parse --show-toplevel)/by/top.sh'",
            "git config filter.star.clean 'by/star*'",
            "git config filter.quoted.clean '\"by\"/quoted.sh'",
            "git config filter.nested.clean 'sh -c \"D=by; cd \\$D; ./nested.sh\"'",
            "git config filter.typed.clean '\"$(dirname by/x)\"/typed.sh'",
            "git config filter.late.clean 'test ! -e by/late.sh || by/late.sh'",
            "for f in conf/shared conf/missing linked/extra; do git config --add include.path ../$f; done",
        ];
        victim.host(&lines.join("\n"), "..");
        // Whatever stands in the way of a row would let it pass for nothing.
        assert!(victim.at("work/.git/modules/sub/config").exists());
        assert!(victim.at("work/fixture.git/config").exists() && victim.at("tree/.git").exists());
        assert!(!victim.at("work/.git/modules/later").exists());
        victim.host("mkdir saved && cp -a home ran users lib work tree saved", "..");
        victim
    }

    /// As it was in the beginning, at the same place: making it anew takes longer.
    pub(crate) fn reset(&self) {
        self.host("rm -rf home ran users lib work tree && cp -a saved/. .", "..");
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("work")
    }

    /// The script of a row, with its number.
    pub(crate) fn script(&self, number: usize, plant: &str) -> String {
        let prelude = self.filled(PRELUDE, number);
        // Nothing that one row does stops the next.
        format!("({prelude}\n{plant}) >/dev/null 2>&1\n")
    }

    pub(crate) fn filled(&self, text: &str, number: usize) -> String {
        text.replace("@ROOT@", self.root().to_str().unwrap())
            .replace("@PLACE@", self.at("").to_str().unwrap().trim_end_matches('/'))
            .replace("@RAN@", self.at("ran").to_str().unwrap())
            .replace("@NUMBER@", &number.to_string())
    }

    /// Whether the host has run the program of a row.
    pub(crate) fn has_run(&self, number: usize) -> bool {
        self.at("ran").join(number.to_string()).exists()
    }

    /// A run of ours in the workspace, as this user.
    pub(crate) fn place(&self, run: Run) -> Run {
        let text = |path: &str| self.at(path).to_str().unwrap().to_owned();
        run.env("HOME", &text("home"))
            .env("XDG_STATE_HOME", &text("users/state"))
            .env("XDG_CACHE_HOME", &text("users/cache"))
            .env("XDG_CONFIG_HOME", &text("users"))
            .dir(self.root())
    }

    /// What the user does with git afterwards.
    pub(crate) fn day(&self) {
        self.host(DAY, "work");
    }

    /// Runs a script as the user, outside of any sandbox.
    pub(crate) fn host(&self, script: &str, at: &str) {
        let at = if at == ".." { self.at("") } else { self.at(at) };
        let mut shell = Command::new("timeout");
        shell.args(["120", "sh", "-c", script]).current_dir(at).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.at("home"));
        shell.env("GIT_EDITOR", "true").env("GIT_TERMINAL_PROMPT", "0");
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert_ne!(shell.status().unwrap().code(), Some(124), "it takes for ever: {script}");
    }

    /// A program that leaves the mark of a row, made by the test itself.
    pub(crate) fn evil(&self, number: usize) -> PathBuf {
        let path = self.root().join(format!("evil-{number}.sh"));
        let text =
            format!("#!/bin/sh\ntouch {}\n", self.at("ran").join(number.to_string()).display());
        write_program(&path, &text);
        path
    }

    /// A directory in which every program that we might look for, and every hook, is the evil one.
    pub(crate) fn evil_programs(&self, number: usize) -> PathBuf {
        self.evil_programs_in(&self.root(), number)
    }

    pub(crate) fn evil_programs_in(&self, parent: &Path, number: usize) -> PathBuf {
        let directory = parent.join(format!("bin-{number}"));
        fs::create_dir_all(&directory).unwrap();
        let evil = self.evil(number);
        for name in ["bwrap", "docker", "podman", "sh", "git", "pre-commit"] {
            if !directory.join(name).exists() {
                fs::hard_link(&evil, directory.join(name)).unwrap();
            }
        }
        directory
    }

    /// A library that leaves the mark of a row when a program is started with it.
    pub(crate) fn evil_library(&self, number: usize) -> PathBuf {
        let (source, library) = (self.at("evil.c"), self.root().join(format!("evil-{number}.so")));
        let text = format!(
            "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) \
             {{ open(\"{}\", O_CREAT | O_WRONLY, 0600); }}\n",
            self.at("ran").join(number.to_string()).display()
        );
        fs::write(&source, text).unwrap();
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
        assert!(compile.status().unwrap().success());
        library
    }
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
