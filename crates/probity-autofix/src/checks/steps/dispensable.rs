//! Steps of the original that another way of doing the same makes superfluous.

use probity_dockerfile::{Action, Arguments, Base, Keyword, Manager, PackageCall, Setting};

use super::{
    super::{
        Change, View,
        additions::ACCOUNTS,
        belongings::{covers, final_chain, is_within, text_of},
        commands::{self, Segment, last_part, words},
        image_kind::ImageKind,
        moved::{copied, moves},
    },
    absolute,
};

/// Parts of names of files that are removed because nobody may see them.
const SECRET: &[&str] = &["npmrc", "netrc", "secret", "token", "key", "credential", ".ssh", ".git"];

/// Whether the proposal need not have a part of a RUN as it was written.
pub(super) fn is_dispensable(change: &Change<'_>, part: &Segment) -> bool {
    if !part.calls.is_empty() {
        return part.calls.iter().all(|call| is_installed(change, call));
    }
    if is_installer_of_image(change.after, &part.text) {
        return true;
    }
    let [command] = part.commands.as_slice() else { return false };
    let Some(all) = words(command) else { return false };
    let Some((name, arguments)) = all.split_first() else { return false };
    let workdir = part.directory.as_deref();
    let plain: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let places =
        |skipped: usize| plain.iter().skip(skipped).filter_map(|path| absolute(path, workdir));
    match name.as_str() {
        "rm" => !plain.iter().any(|path| SECRET.iter().any(|part| path.contains(part))),
        "cp" | "mv" | "install" if !arguments.iter().any(|argument| argument == "-d") => {
            let moved = moves(arguments, workdir);
            !moved.is_empty()
                && moved.iter().all(|(_, to)| holds(change, to) || is_placed(change.after, to))
        }
        "mkdir" => places(0).all(|place| {
            holds(change, &place) || is_made(change.after, &place) || is_filled(change, &place)
        }),
        // They only make smaller what they were given.
        "npm" | "yarn" | "pnpm" if arguments.iter().any(|argument| argument == "prune") => true,
        "strip" => true,
        "find" => arguments.iter().any(|argument| argument == "-delete"),
        "chown" => plain
            .split_first()
            .is_some_and(|(owner, _)| places(1).all(|place| is_given(change.after, owner, &place))),
        "chmod" => places(1).all(|place| has_mode(change, &place)),
        "docker-php-ext-enable" => {
            let is_enabled = |call: &commands::Called| {
                call.name == "docker-php-ext-enable"
                    && plain.iter().all(|word| call.words.contains(word))
            };
            holds(change, "/usr/local/etc/php/conf.d") || change.after.all_called().any(is_enabled)
        }
        "poetry" => match arguments.first().map(String::as_str) {
            Some("config") => true,
            Some("install") => is_exported(change.after, arguments),
            _ => false,
        },
        name if ACCOUNTS.contains(&name) => {
            holds(change, "/etc/passwd")
                || is_number_of_user(change.before, arguments)
                || is_account_made(change.after, name, arguments)
        }
        _ => false,
    }
}

/// Whether an account is that of the container's user, who is named by the number alone.
fn is_number_of_user(before: &View<'_>, arguments: &[String]) -> bool {
    let runtime = before.facts.final_runtime();
    let users =
        runtime.get(Setting::User).iter().filter_map(|setting| text_of(&setting.entry.value));
    let numbers: Vec<String> =
        users.flat_map(|user| user.split(':').map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_number = |part: &String| part.parse::<u32>().is_ok();
    numbers.iter().all(is_number)
        && arguments.iter().any(|argument| {
            numbers.iter().any(|number| argument.rsplit('=').next() == Some(number))
        })
}

/// The home that an account is given by name, if it is made with the account.
fn home_of(arguments: &[String]) -> Option<&str> {
    const FLAGS: &[&str] = &["-d", "-h", "--home", "--home-dir"];
    let is_made = arguments.iter().any(|argument| {
        let letters = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        argument == "--create-home" || letters.is_some_and(|letters| letters.contains('m'))
    });
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        if FLAGS.contains(&flag) {
            let value = if value.is_empty() { words.next()?.as_str() } else { value };
            return is_made.then_some(value.trim_end_matches('/'));
        }
    }
    None
}

/// Whether the final image makes an account of the same name and number in another way, and its home.
fn is_account_made(after: &View<'_>, program: &str, arguments: &[String]) -> bool {
    let is_group = |program: &str| program.contains("group");
    let Some(name) = arguments.iter().rev().find(|argument| !argument.starts_with('-')) else {
        return false;
    };
    let numbers = arguments.iter().flat_map(|argument| argument.split('=').next_back());
    let numbers: Vec<&str> = numbers.filter(|number| number.parse::<u32>().is_ok()).collect();
    let chain = final_chain(after);
    after.all_called().filter(|call| chain.contains(&call.instruction)).any(|call| {
        let has =
            |wanted: &str| call.words.iter().any(|word| word.rsplit('=').next() == Some(wanted));
        let home = home_of(arguments);
        let has_home = home.is_none_or(|home| {
            let mut owners = numbers.iter().copied().chain([name.as_str()]);
            home_of(&call.words) == Some(home) || owners.any(|owner| is_given(after, owner, home))
        });
        call.is_any(ACCOUNTS)
            && is_group(&call.name) == is_group(program)
            && has(name)
            && numbers.iter().all(|number| has(number))
            && has_home
    })
}

/// Whether a COPY of the final image makes a file executable, or brings it from a stage that does.
fn has_mode(change: &Change<'_>, path: &str) -> bool {
    let after = change.after;
    final_chain(after).into_iter().any(|index| {
        let Some(instruction) = after.file.instructions.get(index) else { return false };
        let mode = instruction
            .flag_value("chmod")
            .map(|mode| mode.text.trim_start_matches('0').to_owned());
        matches!(mode.as_deref(), Some("755" | "555")) && covers(after, index, instruction, path)
    })
}

/// What keeps lists small, and installs whose packages all come by another call.
fn is_installed(change: &Change<'_>, call: &PackageCall) -> bool {
    let texts = || call.packages.iter().chain(&call.files).map(|it| it.text.as_str());
    match call.action {
        Action::Update | Action::Clean | Action::Remove => true,
        Action::Install if call.manager == Manager::Pip => {
            let tools = ["pip", "pip3", "python", "python3", "uv"];
            let called = || change.after.all_called().filter(|other| other.is_any(&tools));
            let is_named = |text: &str| {
                let is_wheel = text.ends_with(".whl");
                let mut news = called().flat_map(|other| &other.words);
                news.any(|word| word == text || (is_wheel && last_part(word) == last_part(text)))
            };
            texts().next().is_some() && texts().all(is_named)
        }
        Action::Install => {
            let news: Vec<String> = commands::calls(change.after)
                .filter(|(_, new)| new.manager == call.manager && new.action == Action::Install)
                .flat_map(|(_, new)| new.packages.iter().map(|package| package.text.to_string()))
                .collect();
            !call.packages.is_empty()
                && call.files.is_empty()
                && texts().all(|text| {
                    news.iter().any(|package| package == text)
                        || is_in_image_of_stage(change.after, text)
                })
        }
        Action::Upgrade => false,
    }
}

/// A download that installs what the image of a stage brings.
fn is_installer_of_image(after: &View<'_>, text: &str) -> bool {
    let installers = [
        ("nodesource.com/setup_", "node"),
        ("getcomposer.org/installer", "composer"),
        ("sh.rustup.rs", "rust"),
    ];
    let image =
        installers.iter().find(|(address, _)| text.contains(address)).map(|(_, image)| *image);
    let Some(image) = image else { return false };
    let version = text.split("/setup_").nth(1).and_then(|part| part.split('.').next());
    after.facts.stages().iter().any(|stage| match &stage.base {
        Base::Image(name) => ImageKind::of(name).is_some_and(|kind| {
            let major = kind.version.as_deref().and_then(|it| it.split('.').next());
            kind.name == image && (version.is_none() || version == major)
        }),
        _ => false,
    })
}

/// Whether a stage is based on the image of a tool that the original installs.
fn is_in_image_of_stage(after: &View<'_>, package: &str) -> bool {
    const IMAGES: &[(&str, &[&str])] = &[
        ("node", &["nodejs", "npm", "yarn", "yarnpkg"]),
        ("composer", &["composer", "git", "unzip", "zip", "p7zip"]),
    ];
    let names = after.facts.stages().iter().filter_map(|stage| match &stage.base {
        Base::Image(image) => ImageKind::of(image).map(|kind| kind.name),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    let is_stage = |image: &str| names.iter().any(|name| name == image);
    IMAGES.iter().any(|(image, packages)| is_stage(image) && packages.contains(&package))
}

/// Whether the final image gets what is at a place from a stage.
fn holds(change: &Change<'_>, path: &str) -> bool {
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places.iter().any(|place| is_within(path.trim_end_matches('/'), place))
    })
}

/// Whether a COPY of the build context puts something at a place of the final image.
fn is_placed(view: &View<'_>, path: &str) -> bool {
    let chain = final_chain(view);
    chain.into_iter().filter_map(|index| view.pairs(index)).flatten().any(|(_, to)| to == path)
}

/// Whether something that the final image gets is below a directory, which is made for it.
fn is_filled(change: &Change<'_>, path: &str) -> bool {
    let after = change.after;
    let path = path.trim_end_matches('/');
    final_chain(after).into_iter().any(|index| {
        let instruction = after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        let copies = after.pairs(index).unwrap_or_default();
        let mut all = places.iter().chain(copies.iter().map(|(_, to)| to));
        all.any(|place| is_within(place, path))
    })
}

/// `poetry export` of the same groups, which pip then installs.
fn is_exported(after: &View<'_>, arguments: &[String]) -> bool {
    let groups = |words: &[String]| -> Vec<String> {
        let is_group =
            |flag: &&str| matches!(*flag, "--only" | "--without" | "--with" | "--extras");
        let pairs = words.windows(2).filter_map(|pair| match pair {
            [flag, value] => is_group(&flag.as_str()).then(|| format!("{flag} {value}")),
            _ => None,
        });
        let mut all: Vec<String> = pairs.collect();
        all.sort_unstable();
        all
    };
    let wanted = groups(arguments);
    after.all_called().any(|call| {
        let is_export =
            call.name == "poetry" && call.words.first().is_some_and(|word| word == "export");
        is_export && groups(&call.words) == wanted
    })
}

/// Whether a stage makes a directory.
fn is_made(view: &View<'_>, path: &str) -> bool {
    let is_workdir = view.facts.stages().iter().any(|stage| {
        stage.instructions.clone().any(|index| {
            let state = view.facts.state(index);
            state.and_then(|state| state.workdir.path.as_deref()) == Some(path)
        })
    });
    is_workdir || names(view, &["mkdir", "install"], path, None)
}

/// Whether a place belongs to a user by another command, or by the COPY that brings it.
pub(super) fn is_given(view: &View<'_>, owner: &str, path: &str) -> bool {
    let user = owner.split(':').next().unwrap_or_default();
    let by_copy = view.file.instructions.iter().enumerate().any(|(index, instruction)| {
        let Arguments::Transfer { sources, destination: Some(destination), .. } =
            &instruction.arguments
        else {
            return false;
        };
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let target = absolute(&destination.text, workdir).unwrap_or_default();
        let target = target.trim_end_matches('/');
        // With a directory comes all that is in it, but for what is made there afterwards.
        let is_tree = matches!(&**sources, [source] if !last_part(&source.text).contains('.') || source.text == ".");
        let is_there = target == path
            || (is_tree && is_within(path, target) && !names(view, &["mkdir"], path, None));
        let given = instruction.flag_value("chown").map(|it| it.text.as_str()).unwrap_or_default();
        let given = given.split(':').next().unwrap_or_default();
        let is_user = given == user || given.parse::<u32>().is_ok_and(|number| number > 0);
        instruction.keyword == Keyword::Copy && is_user && is_there
    });
    by_copy || names(view, &["chown", "install"], path, Some(user))
}

/// Whether one of these commands names a place, and a user where one is asked for.
fn names(view: &View<'_>, programs: &[&str], path: &str, user: Option<&str>) -> bool {
    view.all_called().any(|call| {
        let state = view.facts.state(call.instruction);
        let workdir = state.and_then(|state| state.workdir.path.as_deref());
        let is_user = |user: &str| {
            call.words.iter().any(|word| {
                word.split([':', '=']).next_back() == Some(user)
                    || word.split(':').next() == Some(user)
            })
        };
        call.is_any(programs)
            && user.is_none_or(is_user)
            && call.words.iter().any(|word| {
                absolute(word, workdir).is_some_and(|place| place.trim_end_matches('/') == path)
            })
    })
}
