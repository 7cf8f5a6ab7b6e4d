//! The package managers: how they are called and what their arguments mean.

mod flags;

use probity_finding::Span;
use probity_shell::{Call, Word};

use self::flags::Flags;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Manager {
    AptGet,
    Apt,
    Aptitude,
    Apk,
    Yum,
    Dnf,
    Microdnf,
    Zypper,
    Pip,
    Pipx,
    Npm,
    Yarn,
    Pnpm,
    Gem,
    Go,
    Cargo,
    Composer,
    Chocolatey,
    Scoop,
    Winget,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Install,
    Remove,
    /// Refreshes the lists of packages.
    Update,
    /// Brings what is installed to newer versions.
    Upgrade,
    /// Removes what the manager has downloaded.
    Clean,
}

/// How a version is written behind a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `name=1.2`
    Equals,
    /// `name=1.2`, `name~1.2`, `name>1.2`
    Apk,
    /// `name=1.2`, `name>1.2`
    Zypper,
    /// `name-1.2`
    Dash,
    /// `name==1.2`, `name>=1.2`, `name[extra]~=1.2`
    Python,
    /// `name@1.2`, `@scope/name@1.2`
    At,
    /// `name:1.2`
    Colon,
}

/// One manager.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) manager: Manager,
    names: &'static [&'static str],
    actions: &'static [(&'static str, Action)],
    /// What the manager does when no subcommand is given.
    without: Option<Action>,
    pub(super) flags: Flags,
    pub(super) spelling: Spelling,
    /// Endings of files that are packages.
    pub(super) archives: &'static [&'static str],
    pub(super) file_flags: &'static [&'static str],
    pub(super) version_flags: &'static [&'static str],
    pub(super) virtual_flags: &'static [&'static str],
    pub(super) target_flags: &'static [&'static str],
}

impl Manager {
    /// The program, as it is called most often.
    #[must_use]
    pub fn name(self) -> &'static str {
        let rows = ROWS.iter().chain(&WINDOWS_ROWS).copied();
        let row = rows.chain([&PIP]).find(|row| row.manager == self);
        row.and_then(|row| row.names.first()).copied().unwrap_or_default()
    }
}

/// The row of a call, and how many words stand before the manager's name.
pub(super) fn row(call: &Call<'_>) -> Option<(&'static Row, usize)> {
    row_named(&call.name()?, call)
}

/// The same in PowerShell or cmd, where managers of Windows count and names have endings.
pub(super) fn windows_row(call: &Call<'_>) -> Option<(&'static Row, usize)> {
    let name = call.windows_name()?;
    let of_windows = WINDOWS_ROWS.iter().find(|row| row.names.contains(&name.as_str()));
    of_windows.map(|row| (*row, 0)).or_else(|| row_named(&name, call))
}

fn row_named(name: &str, call: &Call<'_>) -> Option<(&'static Row, usize)> {
    let has_version = |program: &str| {
        let rest = name.strip_prefix(program);
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    };
    let is_python = has_version("python");
    // `pip3.12` is that of one Python.
    if has_version("pip") {
        return Some((&PIP, 0));
    }
    if is_python || name == "uv" {
        let skip = if name == "uv" { 1 } else { 2 };
        let is_pip = call.words.get(skip).is_some_and(|word| word.is("pip"));
        let is_module = name == "uv" || call.words.get(1).is_some_and(|word| word.is("-m"));
        return (is_pip && is_module).then_some((&PIP, skip));
    }
    ROWS.iter().find(|row| row.names.contains(&name)).map(|row| (*row, 0))
}

impl Row {
    /// The place of the subcommand, what it does, and the words behind it; none for what is neither
    /// an action here nor of interest.
    pub(super) fn action<'w>(
        &self,
        positional: &[&'w Word],
    ) -> Option<(Span, Action, Vec<&'w Word>)> {
        let Some((first, rest)) = positional.split_first() else {
            return self.without.map(|action| (Span::at(0), action, Vec::new()));
        };
        let verb = first.literal()?;
        // `yarn workspace NAME install` does in one package what the rest says.
        if self.manager == Manager::Yarn && verb == "workspace" {
            return positional
                .get(2..)
                .filter(|rest| !rest.is_empty())
                .and_then(|word| self.action(word));
        }
        // `yarn global add`, `npm cache clean`: two words make the subcommand.
        if let Some((second, rest)) = rest.split_first() {
            let two = format!("{verb} {}", second.literal().unwrap_or_default());
            if let Some(action) = self.find(&two) {
                return Some((first.span().to(second.span()), action, rest.to_vec()));
            }
        }
        let action = self.find(&verb)?;
        Some((first.span(), action, rest.to_vec()))
    }

    fn find(&self, verb: &str) -> Option<Action> {
        self.actions.iter().find(|(known, _)| *known == verb).map(|&(_, action)| action)
    }
}

const APT_ACTIONS: &[(&str, Action)] = &[
    ("install", Action::Install),
    ("reinstall", Action::Install),
    ("remove", Action::Remove),
    ("purge", Action::Remove),
    ("autoremove", Action::Remove),
    ("update", Action::Update),
    ("upgrade", Action::Upgrade),
    ("dist-upgrade", Action::Upgrade),
    ("full-upgrade", Action::Upgrade),
    ("clean", Action::Clean),
    ("autoclean", Action::Clean),
];
const RPM_ACTIONS: &[(&str, Action)] = &[
    ("install", Action::Install),
    ("localinstall", Action::Install),
    ("groupinstall", Action::Install),
    ("group install", Action::Install),
    ("module install", Action::Install),
    ("reinstall", Action::Install),
    ("rei", Action::Install),
    ("in", Action::Install),
    ("remove", Action::Remove),
    ("erase", Action::Remove),
    ("autoremove", Action::Remove),
    ("makecache", Action::Update),
    ("update", Action::Upgrade),
    ("upgrade", Action::Upgrade),
    ("up", Action::Upgrade),
    ("upgrade-minimal", Action::Upgrade),
    ("clean", Action::Clean),
];
const NONE: &[&str] = &[];

/// What most rows have in common.
const PLAIN: Row = Row {
    manager: Manager::AptGet,
    names: NONE,
    actions: &[],
    without: None,
    flags: flags::NONE,
    spelling: Spelling::Equals,
    archives: NONE,
    file_flags: NONE,
    version_flags: NONE,
    virtual_flags: NONE,
    target_flags: NONE,
};

static PIP: Row = Row {
    manager: Manager::Pip,
    names: &["pip"],
    actions: &[
        ("install", Action::Install),
        ("uninstall", Action::Remove),
        ("cache purge", Action::Clean),
    ],
    flags: flags::PIP,
    spelling: Spelling::Python,
    archives: &[".whl", ".tar.gz", ".zip"],
    file_flags: &["-r", "--requirement", "-c", "--constraint"],
    target_flags: &["-t", "--target", "--prefix", "--root"],
    ..PLAIN
};

static ROWS: [&Row; 17] = [
    &Row {
        manager: Manager::AptGet,
        names: &["apt-get"],
        actions: APT_ACTIONS,
        flags: flags::APT,
        archives: &[".deb"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Apt,
        names: &["apt"],
        actions: APT_ACTIONS,
        flags: flags::APT,
        archives: &[".deb"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Aptitude,
        names: &["aptitude"],
        actions: APT_ACTIONS,
        flags: flags::APT,
        archives: &[".deb"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Apk,
        names: &["apk"],
        actions: &[
            ("add", Action::Install),
            ("del", Action::Remove),
            ("update", Action::Update),
            ("upgrade", Action::Upgrade),
            ("cache clean", Action::Clean),
        ],
        flags: flags::APK,
        spelling: Spelling::Apk,
        archives: &[".apk"],
        virtual_flags: &["-t", "--virtual"],
        target_flags: &["-p", "--root"],
        ..PLAIN
    },
    &Row { manager: Manager::Yum, names: &["yum"], ..RPM },
    &Row { manager: Manager::Dnf, names: &["dnf", "dnf5", "tdnf"], ..RPM },
    &Row { manager: Manager::Microdnf, names: &["microdnf"], ..RPM },
    &Row {
        manager: Manager::Zypper,
        names: &["zypper"],
        actions: &[
            ("install", Action::Install),
            ("in", Action::Install),
            ("source-install", Action::Install),
            ("si", Action::Install),
            ("remove", Action::Remove),
            ("rm", Action::Remove),
            ("refresh", Action::Update),
            ("ref", Action::Update),
            ("update", Action::Upgrade),
            ("up", Action::Upgrade),
            ("dist-upgrade", Action::Upgrade),
            ("dup", Action::Upgrade),
            ("patch", Action::Upgrade),
            ("clean", Action::Clean),
            ("cc", Action::Clean),
        ],
        flags: flags::ZYPPER,
        spelling: Spelling::Zypper,
        archives: &[".rpm"],
        target_flags: &["-R", "--root"],
        ..PLAIN
    },
    &PIP,
    &Row {
        manager: Manager::Pipx,
        names: &["pipx"],
        actions: &[("install", Action::Install), ("uninstall", Action::Remove)],
        flags: flags::PIPX,
        spelling: Spelling::Python,
        archives: &[".whl", ".tar.gz", ".zip"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Npm,
        names: &["npm"],
        actions: &[
            ("install", Action::Install),
            ("i", Action::Install),
            ("add", Action::Install),
            ("ci", Action::Install),
            ("uninstall", Action::Remove),
            ("update", Action::Upgrade),
            ("cache clean", Action::Clean),
        ],
        flags: flags::NPM,
        spelling: Spelling::At,
        archives: &[".tar", ".tgz", ".tar.gz"],
        target_flags: &["--prefix"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Yarn,
        names: &["yarn", "yarnpkg"],
        actions: &[
            ("install", Action::Install),
            ("add", Action::Install),
            ("global add", Action::Install),
            ("remove", Action::Remove),
            ("upgrade", Action::Upgrade),
            ("cache clean", Action::Clean),
        ],
        without: Some(Action::Install),
        flags: flags::YARN,
        spelling: Spelling::At,
        archives: &[".tgz", ".tar.gz"],
        target_flags: &["--modules-folder"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Pnpm,
        names: &["pnpm"],
        actions: &[
            ("install", Action::Install),
            ("i", Action::Install),
            ("add", Action::Install),
            ("remove", Action::Remove),
            ("update", Action::Upgrade),
            ("store prune", Action::Clean),
        ],
        flags: flags::PNPM,
        spelling: Spelling::At,
        archives: &[".tgz", ".tar.gz"],
        target_flags: &["-C", "--dir"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Gem,
        names: &["gem"],
        actions: &[
            ("install", Action::Install),
            ("i", Action::Install),
            ("uninstall", Action::Remove),
            ("update", Action::Upgrade),
            ("cleanup", Action::Clean),
        ],
        flags: flags::GEM,
        spelling: Spelling::Colon,
        archives: &[".gem"],
        version_flags: &["-v", "--version"],
        target_flags: &["-i", "--install-dir"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Go,
        names: &["go"],
        actions: &[
            ("install", Action::Install),
            ("get", Action::Install),
            ("clean", Action::Clean),
        ],
        flags: flags::GO,
        spelling: Spelling::At,
        ..PLAIN
    },
    &Row {
        manager: Manager::Cargo,
        names: &["cargo"],
        actions: &[
            ("install", Action::Install),
            ("uninstall", Action::Remove),
            ("update", Action::Upgrade),
        ],
        flags: flags::CARGO,
        spelling: Spelling::At,
        version_flags: &["--version", "--vers", "--tag", "--rev"],
        target_flags: &["--root"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Composer,
        names: &["composer", "composer.phar"],
        actions: &[
            ("install", Action::Install),
            ("require", Action::Install),
            ("global require", Action::Install),
            ("remove", Action::Remove),
            ("update", Action::Upgrade),
            ("clear-cache", Action::Clean),
            ("clearcache", Action::Clean),
        ],
        flags: flags::COMPOSER,
        spelling: Spelling::Colon,
        target_flags: &["-d", "--working-dir"],
        ..PLAIN
    },
];

/// Managers that only Windows has.
static WINDOWS_ROWS: [&Row; 3] = [
    &Row {
        manager: Manager::Chocolatey,
        names: &["choco", "cinst"],
        actions: &[
            ("install", Action::Install),
            ("uninstall", Action::Remove),
            ("upgrade", Action::Upgrade),
        ],
        flags: flags::CHOCOLATEY,
        archives: &[".nupkg", ".config"],
        version_flags: &["--version"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Scoop,
        names: &["scoop"],
        actions: &[
            ("install", Action::Install),
            ("uninstall", Action::Remove),
            ("update", Action::Upgrade),
            ("cache rm", Action::Clean),
        ],
        flags: flags::SCOOP,
        spelling: Spelling::At,
        archives: &[".json"],
        ..PLAIN
    },
    &Row {
        manager: Manager::Winget,
        names: &["winget"],
        actions: &[
            ("install", Action::Install),
            ("add", Action::Install),
            ("uninstall", Action::Remove),
            ("upgrade", Action::Upgrade),
        ],
        flags: flags::WINGET,
        version_flags: &["-v", "--version"],
        ..PLAIN
    },
];

const RPM: Row = Row {
    actions: RPM_ACTIONS,
    flags: flags::RPM,
    spelling: Spelling::Dash,
    archives: &[".rpm"],
    target_flags: &["--installroot"],
    ..PLAIN
};
