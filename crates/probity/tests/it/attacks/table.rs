//! What a sandboxed process plants for git on the host, one row for each way.
//!
//! The scripts need nothing but a POSIX shell and busybox, so that they run in every image. They have
//! `$ROOT` (the workspace's own path), `$EVIL` (a program that leaves the row's mark), `$HOOKS` (a
//! directory of hooks that do), and these functions: `repo DIR` makes a git directory whose
//! configuration runs `$EVIL`, `settings` writes such settings, `program FILE` such a program.

/// One way to have the host run something.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) plant: &'static str,
    pub(crate) without: Without,
    /// Why the row held before every repository was protected; `None` if it did not.
    pub(crate) held: Option<&'static str>,
}

/// What happens if nothing protects the workspace.
#[derive(PartialEq)]
pub(crate) enum Without {
    Runs,
    /// Nothing on this file system, or with this git: the reason.
    Harmless(&'static str),
}

const fn row(name: &'static str, plant: &'static str) -> Row {
    Row { name, plant, without: Without::Runs, held: None }
}

const fn held(name: &'static str, plant: &'static str, why: &'static str) -> Row {
    Row { name, plant, without: Without::Runs, held: Some(why) }
}

const fn harmless(name: &'static str, plant: &'static str, why: &'static str) -> Row {
    Row { name, plant, without: Without::Harmless(why), held: None }
}

const CONFIG: &str = "the configuration of the root's repository was read-only";
const PINNED: &str = "the git directory of the root was a mount, which cannot be moved";
const MODULES: &str = "configuration and hooks of initialized submodules were read-only";

/// In this order they can all be planted in one workspace: those that move a directory come last.
pub(crate) const ROWS: &[Row] = &[
    held("a setting is added to the configuration", "settings >> .git/config", CONFIG),
    held("the configuration is replaced", "settings > c && mv -f c .git/config", CONFIG),
    held("the configuration by the host's path", "settings >> \"$ROOT/.git/config\"", CONFIG),
    held("the configuration through a link", "ln -s .git l04 && settings >> l04/config", CONFIG),
    held("the configuration through dots", "settings >> .husky/../.git/config", CONFIG),
    held(
        "the git directory is moved and remade",
        "mv .git .git6 && busybox cp -r .git6 .git && settings >> .git/config",
        PINNED,
    ),
    row("a hook of husky is replaced", "program .husky/_/pre-commit"),
    row("the script behind husky is replaced", "program .husky/pre-commit"),
    row("a new hook beside husky's", "program .husky/_/post-commit"),
    row(
        "husky's directory is remade",
        "mv .husky .h10 && mkdir -p .husky/_ && program .husky/_/pre-commit",
    ),
    row("an included file is extended", "settings >> conf/shared"),
    row("an included file is replaced", "settings > c && mv -f c conf/shared"),
    row(
        "the directory of an included file is remade",
        "mv conf conf13 && mkdir conf && settings > conf/shared",
    ),
    row("an included file that was missing", "settings > conf/missing"),
    row("a file that the user's own configuration includes", "settings >> conf/users"),
    row("the target of a link to an included file", "settings >> real/extra"),
    row(
        "a link to an included file is replaced",
        "rm linked && mkdir linked && settings > linked/extra",
    ),
    row("a filter that is a program of the tree", "program tools/tidy.sh"),
    row(
        "the directory of such a filter is remade",
        "mv tools t19 && mkdir tools && program tools/tidy.sh",
    ),
    row("a text converter of the tree", "program tools/convert.sh"),
    row("a filter that is found by a variable", "program by/variable.sh"),
    row("a filter that is found after `cd`", "program by/changed.sh"),
    row("a filter that is found by a command", "program by/top.sh"),
    row("a filter that is found by a pattern", "program by/star.sh"),
    row("a filter that a pattern finds first", "program by/star"),
    row("a filter whose path is quoted", "program by/quoted.sh"),
    row("a filter in a script in a script", "program by/nested.sh"),
    row("a filter in a directory that is not known", "program by/typed.sh"),
    row("a filter that was missing", "program by/late.sh"),
    row("the directory of filters is remade", "mv by b29 && mkdir by && program by/quoted.sh"),
    row("a nested repository's configuration", "settings >> nested/deep/.git/config"),
    row("a nested repository's hooks", "program nested/deep/.git/hooks/pre-commit"),
    row(
        "a nested repository's configuration by a hard link",
        "ln nested/deep/.git/config h23 && settings >> h23",
    ),
    row(
        "a nested repository is led elsewhere",
        "repo e24 && rm e24/HEAD && mkdir -p e24/refs/heads && echo \"$ROOT/e24\" > nested/deep/.git/commondir",
    ),
    held(
        "the root's repository is led elsewhere",
        "repo e25 && rm e25/HEAD && echo \"$ROOT/e25\" > .git/commondir",
        "a commondir in the root's git directory was removed when it appeared",
    ),
    row("a bare repository's configuration", "settings \"$ROOT\" >> fixture.git/config"),
    row("a bare repository's hooks", "program fixture.git/hooks/reference-transaction"),
    held("a submodule's configuration", "settings >> .git/modules/sub/config", MODULES),
    held("a submodule's hooks", "program .git/modules/sub/hooks/pre-commit", MODULES),
    row(
        "a submodule is led elsewhere by a commondir",
        "repo e30 && rm e30/HEAD && echo \"$ROOT/e30\" > .git/modules/sub/commondir",
    ),
    row(
        "a submodule's file leads elsewhere",
        "repo e31/x && echo \"gitdir: $ROOT/e31/x\" > sub/.git",
    ),
    row(
        "the repository of a submodule that is not there yet",
        "busybox cp -r .git/modules/sub .git/modules/later && settings > .git/modules/later/config",
    ),
    held(
        "another working tree is led elsewhere",
        "repo e33 && echo \"$ROOT/e33\" > .git/worktrees/tree/commondir",
        "the directory of other working trees was read-only",
    ),
    row("a fresh repository", "repo n34/.git"),
    row("a fresh repository deep in the tree", "repo n35/a/b/c/d/e/.git"),
    row("a fresh repository that is ignored", "echo n36 >> .gitignore && repo n36/.git"),
    row(
        "a file that names a git directory",
        "repo e37/x && mkdir n37 && echo 'gitdir: ../e37/x' > n37/.git",
    ),
    row("a link that is a git directory", "repo e38/x && mkdir n38 && ln -s ../e38/x n38/.git"),
    row("a directory that is a repository itself", "repo n39 \"$ROOT/n39\""),
    row(
        "a directory that is a repository by a commondir",
        "repo .e40/x \"$ROOT/n40\" && mkdir n40 && echo 'ref: refs/heads/main' > n40/HEAD && \
         echo \"$ROOT/.e40/x\" > n40/commondir",
    ),
    harmless(
        "a fresh repository in capitals",
        "repo n41/.GIT",
        "this file system tells case apart",
    ),
    harmless(
        "a fresh repository with a space",
        "repo 'n42/.git '",
        "this file system keeps spaces",
    ),
    harmless(
        "a fresh repository with a letter that HFS+ ignores",
        "repo \"n43/.g$(printf '\\342\\200\\214')it\"",
        "this file system keeps every letter",
    ),
    harmless(
        "a command in .gitmodules",
        "printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ../lib\\n\\tupdate = !%s\\n' \"$EVIL\" > .gitmodules",
        "git takes no command from .gitmodules",
    ),
    harmless(
        "a filter that no configuration has",
        "echo '* filter=unknown diff=unknown merge=unknown' >> .gitattributes",
        "attributes only choose among drivers of the configuration",
    ),
    row(
        "a rebase that goes on with a command",
        "read -r id < .git/refs/heads/main && r=.git/rebase-merge && mkdir $r && \
         echo refs/heads/main > $r/head-name && echo $id > $r/onto && echo $id > $r/orig-head && \
         echo \"exec $EVIL\" > $r/git-rebase-todo && : > $r/interactive && : > $r/done && \
         echo 0 > $r/msgnum && echo 1 > $r/end",
    ),
    row(
        "a nested repository is moved and led elsewhere",
        "repo e52 && rm e52/HEAD && mkdir -p e52/refs/heads && mv nested n52 && \
         echo \"$ROOT/e52\" > n52/deep/.git/commondir",
    ),
    row(
        "a nested repository is moved and remade",
        "mv nested n47 || mv n52 n47; repo nested/deep/.git",
    ),
    row("a submodule is moved and remade", "mv sub n48 && repo sub/.git"),
];
