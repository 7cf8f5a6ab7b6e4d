//! The few commands that a conversion may add: what prepares a stage and brings nothing new into it.

use probity_dockerfile::{Action, Arguments, Keyword, Manager, PackageCall, Setting};
use probity_shell::Command;

use super::{
    Change, View,
    belongings::is_within,
    commands::{self, Segment, words},
    kept_packages::is_twin,
};

/// Packages that programs of any kind need of a small image.
const USUAL: &[&str] = &["ca-certificates", "tzdata", "zlib", "zlib1g"];

/// Flags of package managers that choose neither what is installed nor where it comes from.
const HARMLESS: &[&str] = &[
    "-y",
    "-q",
    "-qq",
    "-yq",
    "-qy",
    "-yqq",
    "-qqy",
    "--yes",
    "--quiet",
    "--assume-yes",
    "--no-install-recommends",
    "--no-cache",
    "--no-cache-dir",
    "--omit",
    "--production",
    "--frozen-lockfile",
    "--no-audit",
    "--no-fund",
    "--no-dev",
    "--no-warn-script-location",
    "--disable-pip-version-check",
    "--no-compile",
    "--no-progress",
    "--prefer-offline",
    "--silent",
    "--virtual",
    "--nodocs",
    "--no-deps",
    "--no-index",
    "--find-links",
    "-f",
    "--requirement",
    "-r",
];

/// Where package managers keep what they have downloaded.
const LISTS: &[&str] = &[
    "/root/.cache",
    "/root/.npm",
    "/tmp",
    "/var/cache/apk",
    "/var/cache/apt",
    "/var/cache/dnf",
    "/var/lib/apt/lists",
    "/var/tmp",
];

/// Directories of programs and libraries, which belong to root.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib64",
    "/sbin",
    "/usr/bin",
    "/usr/lib",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/sbin",
];

pub(super) const ACCOUNTS: &[&str] = &["useradd", "adduser", "groupadd", "addgroup"];

/// Options that say no more of an account than one to run a program as needs.
const ACCOUNT_FLAGS: &[&str] = &[
    "-r",
    "-m",
    "-M",
    "-l",
    "-S",
    "-D",
    "-H",
    "-s",
    "-d",
    "-h",
    "-c",
    "-g",
    "-u",
    "-G",
    "--system",
    "--group",
    "--create-home",
    "--no-create-home",
    "--no-log-init",
    "--disabled-password",
    "--disabled-login",
    "--shell",
    "--home",
    "--home-dir",
    "--comment",
    "--gecos",
    "--gid",
    "--uid",
    "--ingroup",
];

/// What would make of an account more than that.
const POWERS: &[&str] = &["0", "root", "sudo", "wheel", "docker", "shadow", "disk", "adm"];

/// Whether a part of a RUN installs what the original installs, cleans up, or makes directories and
/// users.
pub(crate) fn is_harmless(change: &Change<'_>, part: &Segment) -> bool {
    let [command] = part.commands.as_slice() else { return false };
    let assigns =
        command.assignments().iter().any(|assignment| assignment.name != "DEBIAN_FRONTEND");
    if is_library_path(change, command) {
        return true;
    }
    if assigns || !command.redirections().is_empty() || !command.effective().wrappers.is_empty() {
        return false;
    }
    if let Some(call) = part.calls.first() {
        let words = words(command).unwrap_or_default();
        return is_known_call(change.before, call)
            || is_pruning(change.before, command)
            || words.split_first().is_some_and(|(_, arguments)| is_cleaning(arguments));
    }
    let Some(words) = words(command) else { return false };
    let Some((name, arguments)) = words.split_first() else { return false };
    match name.as_str() {
        "rm" => arguments.iter().all(|argument| {
            let is_flag = matches!(argument.as_str(), "-r" | "-f" | "-rf" | "-fr");
            is_flag || is_list(argument) || is_passing(change, argument)
        }),
        "mkdir" => arguments.iter().all(|argument| {
            // A directory in the place of a file would take the file in.
            argument == "-p" || (!argument.starts_with('-') && !is_copied_file(change, argument))
        }),
        "install" => is_owned_directory(change, arguments),
        "chown" => is_known_owner(change, arguments),
        "chmod" => match arguments.split_first() {
            Some((mode, paths)) => {
                matches!(mode.as_str(), "+x" | "a+x" | "755" | "0755" | "555" | "0555")
                    && paths.iter().all(|path| is_copied_file(change, path))
            }
            None => false,
        },
        "docker-php-ext-enable" => are_extensions_known(change.before, arguments),
        "ldconfig" | "update-ca-certificates" => arguments.is_empty(),
        "npm" | "yarn" | "pnpm" if is_cleaning(arguments) => true,
        "npm" => is_pruning(change.before, command),
        name if ACCOUNTS.contains(&name) => is_plain_account(name, arguments),
        _ => false,
    }
}

/// A place that the original does not know: a COPY brought something there for a step, as wheels.
fn is_passing(change: &Change<'_>, path: &str) -> bool {
    let place = path.trim_end_matches("/*").trim_end_matches('/');
    place.len() > 1 && !change.before.text.contains(place) && is_copied_file(change, place)
}

/// `npm cache clean --force`
fn is_cleaning(arguments: &[String]) -> bool {
    matches!(arguments, [cache, clean, ..] if cache == "cache" && clean == "clean")
}

/// `echo DIRECTORY > /etc/ld.so.conf.d/NAME.conf` for a directory that a COPY brings.
fn is_library_path(change: &Change<'_>, command: &Command) -> bool {
    let Some(words) = words(command) else { return false };
    let [redirection] = command.redirections() else { return false };
    let file = redirection.target.as_ref().and_then(|word| word.pattern()).unwrap_or_default();
    match words.as_slice() {
        [echo, directory] => {
            echo == "echo"
                && file.starts_with("/etc/ld.so.conf.d/")
                && file.ends_with(".conf")
                && change.after.text.contains(&format!(" {directory}"))
        }
        _ => false,
    }
}

/// `install -d -o USER DIRECTORY`, for a user that the original gives files to.
fn is_owned_directory(change: &Change<'_>, arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    let mut makes = false;
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-d" => makes = true,
            "-o" | "-g" => match rest.next() {
                Some(owner) if is_owner(change, owner) => {}
                _ => return false,
            },
            "-m" => match rest.next() {
                Some(mode) if is_closed(mode) => {}
                _ => return false,
            },
            word if word.starts_with('-') || is_copied_file(change, word) => return false,
            _ => {}
        }
    }
    makes
}

/// A mode by which others do not write.
fn is_closed(mode: &str) -> bool {
    mode.bytes().all(|byte| byte.is_ascii_digit()) && !mode.ends_with(['2', '3', '6', '7'])
}

fn is_known_owner(change: &Change<'_>, arguments: &[String]) -> bool {
    let mut plain = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let are_flags = arguments.iter().all(|argument| !argument.starts_with('-') || argument == "-R");
    let owner = plain.next();
    // A program that its own user may write can be replaced by whoever breaks in.
    let is_system = |path: &String| {
        let is_old = change
            .before
            .all_called()
            .any(|call| call.name == "chown" && call.words.contains(path));
        !is_old && SYSTEM.iter().any(|directory| is_within(path.trim_end_matches('/'), directory))
    };
    are_flags
        && owner.is_some_and(|owner| owner.split(':').all(|part| is_owner(change, part)))
        && !plain.any(is_system)
}

/// Whether the original names a user or group as one that owns files or runs the container.
fn is_owner(change: &Change<'_>, name: &str) -> bool {
    let is_name = |word: &String| word.split(':').any(|part| part == name);
    let runtime = change.before.facts.final_runtime();
    let mut users = runtime.get(Setting::User).iter().map(|setting| setting.entry.to_string());
    !name.is_empty()
        && (users.any(|user| user.split([' ', ':']).any(|part| part == name))
            || change.before.all_called().any(|call| {
                (call.is_any(ACCOUNTS) || call.is_any(&["chown"])) && call.words.iter().any(is_name)
            }))
}

/// Extensions of PHP that the original installs.
fn are_extensions_known(before: &View<'_>, names: &[String]) -> bool {
    let installers = ["docker-php-ext-install", "docker-php-ext-enable", "pecl"];
    let olds =
        || before.all_called().filter(|call| call.is_any(&installers)).flat_map(|call| &call.words);
    names.iter().all(|name| {
        olds().any(|old| {
            old == name || old.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-'))
        })
    })
}

/// What a build stage may do beside the steps of the original: move files, fetch what the build reads,
/// leave out what only the build needs, and make environments of Python.
pub(crate) fn is_build_work(change: &Change<'_>, part: &Segment) -> bool {
    const FILES: &[&str] =
        &["cp", "mv", "mkdir", "rm", "ln", "chmod", "chown", "touch", "install", "strip", "true"];
    let [command] = part.commands.as_slice() else { return false };
    if !command.redirections().is_empty() {
        return false;
    }
    let is_plain = command.assignments().is_empty() && command.effective().wrappers.is_empty();
    if let Some(call) = part.calls.first() {
        return is_plain && is_build_install(change, call);
    }
    // What a build stage removes it does not hand on, whatever the names are.
    if is_plain && command.name().is_some_and(|name| name == "rm") {
        return true;
    }
    let Some(words) = words(command) else { return false };
    let Some((name, arguments)) = words.split_first() else { return false };
    let is_foreign =
        arguments.iter().any(|argument| argument.contains("://") || argument.contains(".."));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_used = |names: &[&str]| change.before.all_called().any(|call| call.is_any(names));
    let is_preparing = match (commands::last_part(name), arguments.as_slice()) {
        (name, _) if FILES.contains(&name) => true,
        ("find", words) => match words.iter().position(|word| *word == "-exec") {
            Some(place) => matches!(words.get(place + 1), Some(&("strip" | "rm" | "chmod"))),
            None => words.contains(&"-delete") && deletes_left_overs(words),
        },
        ("ldd" | "file" | "ls" | "test" | "readelf" | "objcopy", _) => true,
        ("poetry", ["export", ..]) => is_used(&["poetry"]),
        ("uv", ["venv" | "export", ..]) => is_used(&["uv"]),
        ("bundle", ["exec", "bootsnap", "precompile", ..]) => is_used(&["bundle"]),
        ("corepack", ["enable" | "prepare", ..]) => is_used(&["yarn", "pnpm", "corepack"]),
        ("." | "source", [path]) => path.ends_with("/bin/activate"),
        ("python" | "python3", ["-m", "venv", ..]) | ("virtualenv", _) => true,
        ("pip" | "pip3", ["wheel", rest @ ..]) => is_wheel_of_original(change.before, rest),
        ("go", ["mod", "download" | "verify"]) => is_used(&["go"]),
        ("cargo", ["fetch", ..]) => is_used(&["cargo"]),
        ("dotnet", ["restore", ..]) => is_used(&["dotnet"]),
        ("mvn" | "mvnw", rest) => {
            let is_goal = |word: &&str| !word.starts_with('-');
            let mut goals = rest.iter().filter(|word| is_goal(word));
            goals.all(|goal| {
                goal.starts_with("dependency:resolve") || *goal == "dependency:go-offline"
            }) && rest.iter().any(is_goal)
                && is_used(&["mvn", "mvnw"])
        }
        ("gradle" | "gradlew", rest) => {
            let mut tasks = rest.iter().filter(|word| !word.starts_with('-')).peekable();
            tasks.peek().is_some()
                && tasks.all(|task| *task == "dependencies")
                && is_used(&["gradle", "gradlew"])
        }
        ("npm", ["prune" | "cache", ..]) => is_used(&["npm"]),
        ("yarn", ["cache", ..]) => is_used(&["yarn"]),
        ("pnpm", ["prune" | "deploy", ..]) => is_used(&["pnpm"]),
        ("bundle", ["clean", ..]) => is_used(&["bundle"]),
        ("composer", ["dump-autoload" | "dumpautoload", ..]) => is_used(&["composer"]),
        _ => false,
    };
    is_plain && is_preparing && !is_foreign
}

/// Whether `find` looks for nothing but what builds leave behind.
fn deletes_left_overs(words: &[&str]) -> bool {
    const NAMES: &[&str] = &[
        "*.a", "*.c", "*.cc", "*.cpp", "*.h", "*.hpp", "*.la", "*.log", "*.map", "*.md", "*.o",
        "*.pdb", "*.py[co]", "*.pyc", "*.pyo", "cache",
    ];
    let names = words.windows(2).filter_map(|pair| match pair {
        ["-name" | "-iname", name] => Some(name.trim_matches(['\'', '"'])),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    !names.is_empty() && names.iter().all(|name| NAMES.contains(name))
}

/// `pip wheel` of files and packages that the original installs.
fn is_wheel_of_original(before: &View<'_>, arguments: &[&str]) -> bool {
    let tools = ["pip", "pip3", "python", "python3"];
    let olds =
        || before.all_called().filter(|call| call.is_any(&tools)).flat_map(|call| &call.words);
    let is_place = |argument: &str| argument.starts_with('/');
    arguments.iter().all(|argument| {
        argument.starts_with('-') || is_place(argument) || olds().any(|old| old == argument)
    })
}

/// An install of tools, headers and packages of the original into a stage that is not shipped.
fn is_build_install(change: &Change<'_>, call: &PackageCall) -> bool {
    let before = change.before;
    const PLACES: &[&str] = &["--prefix", "--target", "--user", "-t", "--root"];
    let olds: Vec<String> = commands::calls(before)
        .filter(|(_, old)| old.manager == call.manager && old.action == Action::Install)
        .flat_map(|(_, old)| old.packages.iter().chain(&old.files).map(|it| it.text.to_string()))
        .collect();
    let is_system = !commands::is_language_manager(call.manager);
    let installed = commands::installed(before);
    let is_old = |name: &str| {
        commands::calls(before).any(|(_, old)| old.manager == call.manager && old.has_flag(&[name]))
    };
    let are_flags_harmless = call.flags.iter().all(|flag| {
        let name = flag.name.as_str();
        HARMLESS.contains(&name) || PLACES.contains(&name) || is_old(name)
    });
    let mut texts = call.packages.iter().chain(&call.files).map(|it| it.text.as_str());
    let names = commands::names(call);
    let are_python_tools = call.manager == Manager::Pip
        && !names.is_empty()
        && names.len() == call.packages.len()
        && names.iter().all(|name| commands::PYTHON_TOOLS.contains(&name.as_str()));
    if call.action == Action::Install && are_python_tools && call.files.is_empty() {
        let is_upgrade = |name: &str| matches!(name, "--upgrade" | "-U");
        let mut flags = call.flags.iter().map(|flag| flag.name.as_str());
        return flags.all(|flag| HARMLESS.contains(&flag) || is_upgrade(flag));
    }
    call.action == Action::Install
        && are_flags_harmless
        && texts.all(|text| {
            let is_tool = is_system
                && (commands::is_build_package(text)
                    || USUAL.contains(&text)
                    || installed.iter().any(|name| is_twin(name, text)));
            is_tool || olds.iter().any(|old| old == text) || is_exported(change.after, text)
        })
}

/// Whether `poetry export` or `uv export` writes a file.
fn is_exported(after: &View<'_>, file: &str) -> bool {
    after.all_called().any(|call| {
        let is_export = call.words.first().is_some_and(|word| word == "export");
        let mut names = call.words.iter().map(|word| commands::last_part(word));
        call.is_any(&["poetry", "uv"])
            && is_export
            && names.any(|name| name == commands::last_part(file))
    })
}

fn is_plain_account(name: &str, arguments: &[String]) -> bool {
    // `addgroup USER GROUP` gives an account that is there the rights of a group.
    let names = arguments.iter().filter(|argument| !argument.starts_with('-')).count();
    let joins = matches!(name, "addgroup" | "adduser") && names > 1;
    let has_values = arguments.iter().any(|argument| argument.starts_with('-'));
    arguments.iter().all(|argument| {
        let (flag, value) = argument.split_once('=').unwrap_or((argument, ""));
        let is_known = !flag.starts_with('-') || ACCOUNT_FLAGS.contains(&flag);
        is_known
            && !argument.split([',', ':', '=']).any(|part| POWERS.contains(&part))
            && !POWERS.contains(&value)
    }) && (!joins || has_values)
}

/// `npm prune --omit=dev`: leaves out what only the build needed.
fn is_pruning(before: &View<'_>, command: &Command) -> bool {
    let Some(words) = words(command) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_prune = matches!(
        words.as_slice(),
        ["npm", "prune", "--omit=dev" | "--production"] | ["npm", "prune", "--omit", "dev"]
    );
    is_prune && commands::calls(before).any(|(_, call)| call.manager == Manager::Npm)
}

/// Whether a COPY of a stage puts a file there.
fn is_copied_file(change: &Change<'_>, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    change.after.file.instructions.iter().any(|instruction| match &instruction.arguments {
        Arguments::Transfer { destination: Some(destination), .. } => {
            destination.text.trim_end_matches('/') == path
        }
        _ => false,
    })
}

fn is_list(path: &str) -> bool {
    let inside = |list: &str| {
        path.strip_prefix(list).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_needed = matches!(path.trim_end_matches('/'), "/tmp" | "/var/tmp");
    LISTS.iter().any(|list| inside(list)) && !path.contains("..") && !is_needed
}

/// Whether the health check of the original calls a program, which its image has.
pub(super) fn is_probe(before: &View<'_>, program: &str) -> bool {
    before.file.instructions.iter().any(|instruction| {
        let text = instruction.body_text();
        let mut words =
            text.split(|character: char| character.is_whitespace() || "\"',[]".contains(character));
        instruction.keyword == Keyword::Healthcheck && words.any(|word| word == program)
    })
}

fn is_known_call(before: &View<'_>, call: &PackageCall) -> bool {
    let is_old_flag = |name: &str| {
        commands::calls(before).any(|(_, old)| old.manager == call.manager && old.has_flag(&[name]))
    };
    let are_flags_harmless = call.flags.iter().all(|flag| {
        let name = flag.name.as_str();
        HARMLESS.contains(&name) || is_old_flag(name)
    });
    match call.action {
        Action::Update | Action::Clean => are_flags_harmless,
        Action::Install => {
            let olds = (0..before.file.instructions.len())
                .flat_map(|index| before.facts.package_calls(&before.file, index))
                .filter(|old| old.manager == call.manager && old.action == Action::Install);
            let olds: Vec<&PackageCall> = olds.collect();
            let is_whole = call.packages.is_empty() && call.files.is_empty();
            let installed = commands::installed(before);
            let is_system = !commands::is_language_manager(call.manager);
            let known = |text: &str| {
                let is_old = olds.iter().any(|old| {
                    old.packages.iter().chain(&old.files).any(|package| package.text == text)
                });
                let is_twin = installed.iter().any(|name| is_twin(name, text));
                let is_library = (text.starts_with("lib") || text.ends_with("-libs"))
                    && !commands::is_build_package(text);
                let is_called = commands::starts(before, text) || is_probe(before, text);
                let is_wheel = call.manager == Manager::Pip
                    && text.starts_with('/')
                    && (text.ends_with(".whl") || text.ends_with("/*"));
                is_old
                    || is_wheel
                    || (is_system && (USUAL.contains(&text) || is_twin || is_library || is_called))
            };
            let is_known = if is_whole {
                olds.iter().any(|old| old.packages.is_empty() && old.files.is_empty())
            } else {
                call.packages.iter().chain(&call.files).all(|package| known(&package.text))
            };
            are_flags_harmless && call.target.is_none() && is_known
        }
        // What was installed for a build in the same stage.
        Action::Remove => call.packages.iter().all(|package| {
            commands::is_build_package(&package.text) || package.text.starts_with('.')
        }),
        Action::Upgrade => false,
    }
}
