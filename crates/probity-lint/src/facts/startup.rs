//! What a container of the image starts, and whether that starts as root on purpose.
//!
//! Many images start as root and give up their rights themselves: an entrypoint script changes the
//! owner of a volume and then calls `gosu`, and servers such as nginx switch users in their workers.
//! A rule about root has to leave them alone. No rule can read the files of the build context, so a
//! script whose text is not part of the Dockerfile may do it too.

use probity_dockerfile::{
    Action, Arguments, CommandLine, Keyword, PackageKind, Runtime, RuntimeEntry, Setting, Stage,
    Value,
};

use crate::engine::context::Context;

/// Programs that start another one as another user.
const SWITCHES: &[&str] = &[
    "capsh",
    "chpst",
    "chroot",
    "fixuid",
    "gosu",
    "runuser",
    "s6-applyuidgid",
    "s6-setuidgid",
    "setpriv",
    "setuidgid",
    "su",
    "su-exec",
    "sudo",
    "sup",
    "suexec",
];

/// Those of them that an image contains for no other reason.
const INSTALLED_SWITCHES: &[&str] = &["fixuid", "gosu", "setpriv", "su-exec"];

/// Servers and supervisors that start as root and change the user of their workers themselves.
const SELF_SWITCHING: &[&str] = &[
    "apache2",
    "apache2-foreground",
    "apache2ctl",
    "apachectl",
    "chronyd",
    "cron",
    "crond",
    "dnsmasq",
    "dovecot",
    "freshclam",
    "haproxy",
    "httpd",
    "httpd-foreground",
    "init",
    "keepalived",
    "named",
    "nginx",
    "ntpd",
    "openresty",
    "openvpn",
    "php-fpm",
    "postfix",
    "rsyslogd",
    "runit",
    "runsvdir",
    "s6-svscan",
    "smbd",
    "squid",
    "sshd",
    "supervisord",
    "systemd",
    "unbound",
    "varnishd",
    "vsftpd",
];

/// Shells and interpreters: an image that starts one of them alone is for others to build on.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "clj", "erl", "ghci", "guile", "iex", "irb", "jshell", "julia", "lua", "node",
    "perl", "php", "pypy3", "python", "python3", "r", "racket", "scala", "sh", "swipl", "zsh",
];

/// Programs that only start another one and pass signals on to it.
const INITS: &[&str] = &["catatonit", "dumb-init", "env", "tini", "tini-static"];

/// What a container of a stage starts.
pub(crate) struct Startup {
    runtime: Runtime,
    /// Whether the stage has instructions for the images that are built on it.
    has_triggers: bool,
}

impl Startup {
    pub(crate) fn of(context: &Context<'_>, stage: &Stage) -> Self {
        let own = context.file.instructions.get(stage.instructions.clone()).unwrap_or_default();
        let has_triggers = own.iter().any(|instruction| instruction.keyword == Keyword::Onbuild);
        Self { runtime: context.facts.runtime(stage.index), has_triggers }
    }

    pub(crate) fn has_triggers(&self) -> bool {
        self.has_triggers
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The setting that decides what is started: `ENTRYPOINT`, otherwise `CMD`; none where the base
    /// image decides. `ENTRYPOINT []` only takes back that of the base, and `ENTRYPOINT ["tini", "--"]`
    /// starts what `CMD` says.
    pub(crate) fn entry(&self) -> Option<&RuntimeEntry> {
        let settings = [Setting::Entrypoint, Setting::Cmd];
        let entries = settings.into_iter().flat_map(|setting| self.runtime.get(setting));
        let starts = |word: &String| !word.starts_with('-') && !INITS.contains(&word.as_str());
        let mut entries = entries.filter(|entry| !words(&entry.entry.value).is_empty()).peekable();
        let first = entries.peek().copied();
        entries.find(|entry| words(&entry.entry.value).iter().any(starts)).or(first)
    }

    /// Whether the image is for others to build on: it has `ONBUILD` triggers, or it starts nothing, or
    /// nothing but a shell or an interpreter.
    pub(crate) fn is_base_image(&self) -> bool {
        if self.has_triggers {
            return true;
        }
        let words = self.words();
        let program = words.iter().find(|word| !word.contains("entrypoint"));
        match program {
            // A script called `entrypoint` without arguments starts the program itself.
            None => words.is_empty(),
            Some(program) => {
                let rest = words.iter().skip_while(|word| *word != program).skip(1);
                INTERPRETERS.contains(&program.to_lowercase().as_str())
                    && rest
                        .clone()
                        .all(|word| word.starts_with('-') && word != "-c" && word != "-m")
            }
        }
    }

    /// The words of `ENTRYPOINT` and `CMD`, each without directories.
    pub(crate) fn words(&self) -> Vec<String> {
        let settings = [Setting::Entrypoint, Setting::Cmd];
        let entries = settings.into_iter().flat_map(|setting| self.runtime.get(setting));
        entries.flat_map(|entry| words(&entry.entry.value)).collect()
    }
}

/// Whether what a stage starts may begin as root on purpose: a program that switches users is
/// started or was installed, a server does it itself, or a script is started that may do it.
pub(crate) fn may_drop_rights(context: &Context<'_>, stage: &Stage) -> bool {
    drops_rights(context, stage) || starts_unread_script(context, stage)
}

/// Whether the file shows that what a stage starts may begin as root on purpose.
pub(crate) fn drops_rights(context: &Context<'_>, stage: &Stage) -> bool {
    let words = Startup::of(context, stage).words();
    let is_known = |word: &String| {
        let name = word.as_str();
        SWITCHES.contains(&name)
            || SELF_SWITCHING.contains(&name)
            || name.starts_with("php-fpm")
            || script_switches(context, name)
    };
    let mut instructions = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
    words.iter().any(is_known) || instructions.any(|index| installs_switch(context, index))
}

/// Whether a stage starts a script whose text is not in the Dockerfile.
fn starts_unread_script(context: &Context<'_>, stage: &Stage) -> bool {
    let words = Startup::of(context, stage).words();
    words.iter().any(|name| is_script(name) && written_text(context, name).is_none())
}

/// Whether a stage starts a script that the Dockerfile neither contains nor copies. Such a script came
/// with a program.
pub(crate) fn starts_foreign_script(context: &Context<'_>, stage: &Stage) -> bool {
    let words = Startup::of(context, stage).words();
    let mut scripts =
        words.iter().filter(|name| is_script(name) && written_text(context, name).is_none());
    scripts.any(|name| {
        let mut all = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
        !all.any(|index| copies(context, index, name))
    })
}

/// Whether an instruction copies a file of this name, or everything, from the build context.
fn copies(context: &Context<'_>, index: usize, name: &str) -> bool {
    let Some(instruction) = context.file.instructions.get(index) else { return false };
    let Arguments::Transfer { sources, destination, .. } = &instruction.arguments else {
        return false;
    };
    let is_named = |path: &str| path.trim_matches('"').rsplit('/').next() == Some(name);
    let is_all = |path: &str| matches!(path.trim_matches('"'), "." | "./" | "*");
    instruction.flag_value("from").is_none()
        && (sources.iter().any(|source| is_named(&source.text) || is_all(&source.text))
            || destination.as_ref().is_some_and(|destination| is_named(&destination.text)))
}

fn is_script(name: &str) -> bool {
    let endings = [".sh", ".bash", ".ksh"];
    endings.iter().any(|ending| name.ends_with(ending)) || name.contains("entrypoint")
}

/// Whether a word is a script of the Dockerfile that mentions a program that switches users.
fn script_switches(context: &Context<'_>, name: &str) -> bool {
    let Some(text) = written_text(context, name) else { return false };
    let is_divider = |letter: char| letter.is_whitespace() || "\"';&|()/".contains(letter);
    let known = |word: &str| SWITCHES.contains(&word) || SELF_SWITCHING.contains(&word);
    text.split(is_divider).any(known)
}

/// The text of a script that a stage starts by this name: it is in a heredoc, or in the build context.
pub(crate) fn script_text(context: &Context<'_>, stage: &Stage, name: &str) -> Option<String> {
    if let Some(text) = written_text(context, name) {
        return Some(text);
    }
    let files = context.context_files?;
    let mut copies = context.with_bases(stage).flat_map(|stage| stage.instructions.clone());
    copies.find_map(|index| {
        let instruction = context.file.instructions.get(index)?;
        files.copied(instruction, name).map(str::to_owned)
    })
}

/// The text of a file that a `COPY` with a heredoc writes under this name.
fn written_text(context: &Context<'_>, name: &str) -> Option<String> {
    context.file.instructions.iter().find_map(|instruction| {
        let Arguments::Transfer { destination: Some(word), .. } = &instruction.arguments else {
            return None;
        };
        let heredoc = instruction.heredocs().first()?;
        let is_target = word.text.trim_matches('"').rsplit('/').next() == Some(name)
            || word.text.ends_with('/') && heredoc.name == name;
        is_target.then(|| heredoc.content(context.file.text).into_owned())
    })
}

/// Whether an instruction puts a program into the image that only switches users.
fn installs_switch(context: &Context<'_>, index: usize) -> bool {
    let Some(instruction) = context.file.instructions.get(index) else { return false };
    let is_switch = |path: &str| {
        let name = path.trim_matches(['"', '\'']).rsplit('/').next().unwrap_or_default();
        INSTALLED_SWITCHES.contains(&name)
    };
    match (&instruction.arguments, instruction.keyword) {
        (Arguments::Transfer { sources, destination, .. }, _) => {
            sources.iter().chain(destination.as_deref()).any(|word| is_switch(&word.text))
        }
        (_, Keyword::Run) => {
            let installs = context.package_calls(index).iter();
            let mut packages = installs
                .filter(|call| call.action == Action::Install)
                .flat_map(|call| &call.packages);
            let is_installed = packages.any(|package| match &package.kind {
                PackageKind::Named { name, .. } => is_switch(name),
                _ => false,
            });
            let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
            // `curl -o /usr/local/bin/gosu …`, `chmod +x /usr/local/bin/gosu`
            let mut words = commands.flat_map(|command| &command.words);
            is_installed || words.any(|word| word.text().contains('/') && is_switch(word.text()))
        }
        _ => false,
    }
}

/// The words of a command line, each without directories and quotes.
pub(crate) fn words(value: &Value) -> Vec<String> {
    let name = |word: &str| {
        let word = word.trim_matches(['"', '\'', ';']);
        word.rsplit('/').next().unwrap_or_default().to_owned()
    };
    match value {
        Value::Command(CommandLine::Exec(words)) => {
            // `sh -c TEXT` has a command line in its last word.
            words.iter().flat_map(|word| word.split_whitespace()).map(name).collect()
        }
        Value::Command(CommandLine::Shell { text, .. }) => {
            text.split_whitespace().map(name).collect()
        }
        _ => Vec::new(),
    }
}
