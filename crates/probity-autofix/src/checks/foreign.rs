//! What belongs to another distribution or release, or is taken already: package names, options of account tools and
//! numbers of users.

use probity_dockerfile::{Action, Manager, PackageCall};

use super::{
    View,
    commands::{self, names},
    image_kind::{Distribution, ImageKind},
    steps::chain_of,
};

/// Names that Alpine has and Debian lacks.
const OF_ALPINE: &[&str] = &[
    "build-base",
    "font-noto",
    "freetype",
    "gcompat",
    "glib",
    "icu-data-full",
    "icu-libs",
    "krb5-libs",
    "lcms2",
    "libevent",
    "libffi",
    "libgcc",
    "libgomp",
    "libintl",
    "libjpeg-turbo",
    "libmagic",
    "libpng",
    "libpq",
    "libsodium",
    "libstdc++",
    "libwebp",
    "libxslt",
    "libzip",
    "linux-headers",
    "mariadb-connector-c",
    "musl-dev",
    "ncurses-libs",
    "openssl-dev",
    "postgresql-dev",
    "postgresql-libs",
    "py3-pip",
    "shadow",
    "sqlite-dev",
    "sqlite-libs",
    "su-exec",
    "ttf-dejavu",
    "vips",
    "zlib-dev",
];

/// Names that Debian has and Alpine lacks, beside those of libraries with a version.
const OF_DEBIAN: &[&str] = &[
    "apt-transport-https",
    "build-essential",
    "default-jre",
    "default-jre-headless",
    "default-libmysqlclient-dev",
    "default-mysql-client",
    "dirmngr",
    "dnsutils",
    "iputils-ping",
    "libc6-dev",
    "libgomp1",
    "libicu-dev",
    "libmagic1",
    "libmariadb3",
    "libpq5",
    "libsqlite3-0",
    "libsqlite3-dev",
    "libssl-dev",
    "libvips42",
    "libxslt1.1",
    "locales",
    "locales-all",
    "netbase",
    "passwd",
    "python3-pip",
    "xz-utils",
    "zlib1g",
    "zlib1g-dev",
];

/// Libraries of Debian and Ubuntu whose names change with the release, and the releases that have each.
const OF_RELEASES: &[(&str, &[&str])] = &[
    ("libavcodec58", &["10", "11", "20.04", "22.04"]),
    ("libavcodec59", &["12"]),
    ("libavcodec60", &["24.04"]),
    ("libavcodec61", &["13"]),
    ("libavformat58", &["10", "11", "20.04", "22.04"]),
    ("libavformat59", &["12"]),
    ("libavutil56", &["10", "11", "20.04", "22.04"]),
    ("libavutil57", &["12"]),
    ("libcurl4t64", &["13", "24.04"]),
    ("libffi6", &["10"]),
    ("libffi7", &["11", "20.04"]),
    ("libffi8", &["12", "13", "22.04", "24.04"]),
    ("libfmt7", &["11"]),
    ("libfmt8", &["22.04"]),
    ("libfmt9", &["12", "24.04"]),
    ("libgdal28", &["11"]),
    ("libgdal30", &["22.04"]),
    ("libgdal32", &["12"]),
    ("libgdal36", &["13"]),
    ("libgeos-3.9.0", &["11"]),
    ("libgeos3.10.2", &["22.04"]),
    ("libgeos3.11.1", &["12"]),
    ("libhdf5-103", &["10", "11", "20.04"]),
    ("libhdf5-103-1", &["12", "22.04"]),
    ("libicu63", &["10"]),
    ("libicu66", &["20.04"]),
    ("libicu67", &["11"]),
    ("libicu70", &["22.04"]),
    ("libicu72", &["12"]),
    ("libicu74", &["24.04"]),
    ("libicu76", &["13"]),
    ("libjpeg62-turbo", &["10", "11", "12", "13"]),
    ("libjpeg-turbo8", &["20.04", "22.04", "24.04"]),
    ("libjpeg8", &["20.04", "22.04", "24.04"]),
    ("libjsoncpp24", &["11"]),
    ("libjsoncpp25", &["12", "22.04", "24.04"]),
    ("libldap-2.4-2", &["10", "11", "20.04"]),
    ("libldap-2.5-0", &["12", "22.04"]),
    ("libmysqlclient21", &["20.04", "22.04", "24.04"]),
    ("libnetcdf18", &["11"]),
    ("libnetcdf19", &["12", "22.04"]),
    ("libodbc1", &["10", "11", "20.04", "22.04"]),
    ("libodbc2", &["12", "13", "22.04", "24.04"]),
    ("libperl5.32", &["11"]),
    ("libperl5.34", &["22.04"]),
    ("libperl5.36", &["12"]),
    ("libpoppler102", &["11"]),
    ("libpoppler118", &["22.04"]),
    ("libpoppler126", &["12"]),
    ("libproj19", &["11"]),
    ("libproj22", &["22.04"]),
    ("libproj25", &["12", "13", "24.04"]),
    ("libprotobuf17", &["10", "20.04"]),
    ("libprotobuf23", &["11", "22.04"]),
    ("libprotobuf32", &["12"]),
    ("libprotobuf32t64", &["13", "24.04"]),
    ("libpython3.9", &["11"]),
    ("libpython3.10", &["22.04"]),
    ("libpython3.11", &["12"]),
    ("libpython3.12", &["24.04"]),
    ("libpython3.13", &["13"]),
    ("libssl1.1", &["10", "11", "20.04"]),
    ("libssl3", &["12", "22.04"]),
    ("libssl3t64", &["13", "24.04"]),
    ("libswscale5", &["10", "11", "20.04", "22.04"]),
    ("libswscale6", &["12"]),
    ("libtiff5", &["10", "11", "20.04", "22.04"]),
    ("libtiff6", &["12", "13", "24.04"]),
    ("libvpx6", &["11", "20.04"]),
    ("libvpx7", &["12", "22.04"]),
    ("libwebp6", &["10", "11", "20.04"]),
    ("libwebp7", &["12", "13", "22.04", "24.04"]),
    ("libx264-160", &["11"]),
    ("libx264-163", &["22.04"]),
    ("libx264-164", &["12", "13", "24.04"]),
    ("libzip4", &["10", "11", "12", "22.04"]),
    ("libzip5", &["13", "20.04"]),
];

/// An install by apt whose lists nothing has fetched, or that an earlier step has removed again: images have
/// none.
pub(super) fn without_lists(view: &View<'_>, index: usize) -> Option<String> {
    let calls = |index: usize| view.facts.package_calls(&view.file, index).iter();
    let is_apt = |call: &&PackageCall| matches!(call.manager, Manager::Apt | Manager::AptGet);
    let install = |call: &PackageCall| call.action == Action::Install && !names(call).is_empty();
    let place = calls(index).filter(is_apt).position(install)?;
    let is_fetched =
        calls(index).filter(is_apt).take(place).any(|call| call.action == Action::Update);
    let stage = view.facts.stage_of(index)?;
    let is_left =
        chain_of(view, stage.index).into_iter().filter(|earlier| *earlier < index).any(|earlier| {
            let text = view
                .file
                .instructions
                .get(earlier)
                .map(|instruction| instruction.body_text().to_string());
            calls(earlier).filter(is_apt).any(|call| call.action == Action::Update)
                && text.is_some_and(|text| !text.contains("/var/lib/apt/lists"))
        });
    let mounts = view.file.instructions.get(index).is_some_and(|instruction| {
        instruction.flags.iter().any(|flag| {
            let value = flag.value.as_ref().map(|word| word.text.as_str()).unwrap_or_default();
            value.contains("/var/lib/apt")
        })
    });
    (!is_fetched && !is_left && !mounts)
        .then(|| "`apt-get install` without `apt-get update` before it".to_owned())
}

/// A package of the other distribution, which an install of this instruction asks for.
pub(super) fn package(view: &View<'_>, index: usize, image: &str) -> Option<String> {
    let kind = ImageKind::of(image)?;
    let wrong = match kind.distribution? {
        Distribution::Alpine => OF_DEBIAN,
        Distribution::Debian | Distribution::Ubuntu => OF_ALPINE,
        Distribution::RedHat | Distribution::Bare => return None,
    };
    let calls = view.facts.package_calls(&view.file, index).iter();
    let calls = calls.filter(|call| !commands::is_language_manager(call.manager));
    let release = match kind.distribution {
        Some(Distribution::Debian) => {
            kind.release.as_deref().map(|release| release.split('.').next().unwrap_or(release))
        }
        Some(Distribution::Ubuntu) => kind.release.as_deref(),
        _ => None,
    };
    let is_of_other = |name: &str| {
        let known = OF_RELEASES.iter().find(|(own, _)| *own == name);
        known.zip(release).is_some_and(|((_, releases), own)| !releases.contains(&own))
    };
    let mut names = calls.flat_map(commands::names);
    // Fonts have another beginning in each.
    let beginning =
        if kind.distribution == Some(Distribution::Alpine) { "fonts-" } else { "font-" };
    let name = names.find(|name| {
        wrong.contains(&name.as_str()) || name.starts_with(beginning) || is_of_other(name)
    })?;
    Some(format!("the package {name}"))
}

/// `adduser` with the options of another distribution: Busybox and Debian have one each.
pub(super) fn account(view: &View<'_>, index: usize, image: &str) -> Option<String> {
    let kind = ImageKind::of(image)?;
    let wrong: &[&str] = match kind.distribution? {
        Distribution::Alpine => &["--group", "--disabled-login"],
        Distribution::Debian | Distribution::Ubuntu => &["-S", "-D", "-H", "-SD", "-DH", "-SDH"],
        Distribution::RedHat | Distribution::Bare => return None,
    };
    let called = view.called(index);
    let mut accounts = called.iter().filter(|call| call.is_any(&["adduser", "addgroup"]));
    accounts.find_map(|call| {
        let option = call.words.iter().find(|word| wrong.contains(&word.as_str()))?;
        Some(format!("{} {option}", call.name))
    })
}

/// A new account with the number of a user that the image has.
pub(super) fn taken_number(view: &View<'_>, index: usize, image: &str) -> Option<String> {
    let kind = ImageKind::of(image)?;
    // Ubuntu has had a user of its own since 23.04.
    let is_ubuntu = kind.distribution == Some(Distribution::Ubuntu)
        && kind
            .release
            .as_deref()
            .and_then(|release| release.parse::<f32>().ok())
            .is_some_and(|number| number > 23.0)
        && kind.language != Some("dotnet");
    let owner = match kind.name.as_str() {
        "node" => "node",
        "gradle" => "gradle",
        _ if is_ubuntu => "ubuntu",
        _ => return None,
    };
    let called = view.called(index);
    // A step that removes or renumbers the user makes room.
    let makes_room = |call: &commands::Called| {
        call.is_any(&["userdel", "deluser", "usermod"])
            && call.words.iter().any(|word| word == owner)
    };
    let earlier = (0..index).flat_map(|step| view.called(step));
    if called.iter().any(makes_room) || earlier.into_iter().any(makes_room) {
        return None;
    }
    let is_taken = |call: &commands::Called| {
        let pairs = call.words.windows(2);
        let mut pairs = pairs.filter_map(|pair| match pair {
            [flag, value] => Some((flag.as_str(), value.as_str())),
            _ => None,
        });
        let joined = call.words.iter().any(|word| word == "--uid=1000");
        let is_shared =
            call.words.iter().any(|word| matches!(word.as_str(), "-o" | "--non-unique"));
        let is_number = joined || pairs.any(|pair| matches!(pair, ("-u" | "--uid", "1000")));
        call.is_any(&["useradd", "adduser"]) && is_number && !is_shared
    };
    called.iter().any(is_taken).then(|| format!("user 1000 anew, though it is `{owner}`"))
}
