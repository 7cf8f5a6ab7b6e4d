//! What belongs to another distribution or release, or is taken already: package names, options of account tools and
//! numbers of users.

use super::{
    View, commands,
    image_kind::{Distribution, ImageKind},
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
    "default-jre-headless",
    "default-libmysqlclient-dev",
    "default-mysql-client",
    "dirmngr",
    "fonts-dejavu-core",
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
    "netbase",
    "passwd",
    "python3-pip",
    "xz-utils",
    "zlib1g",
    "zlib1g-dev",
];

/// Libraries of Debian whose names change with the release, and the releases that have each.
const OF_RELEASES: &[(&str, &[&str])] = &[
    ("libavcodec58", &["10", "11"]),
    ("libavcodec59", &["12"]),
    ("libcurl4t64", &["13"]),
    ("libffi6", &["10"]),
    ("libffi7", &["11"]),
    ("libffi8", &["12", "13"]),
    ("libicu63", &["10"]),
    ("libicu67", &["11"]),
    ("libicu72", &["12"]),
    ("libicu76", &["13"]),
    ("libldap-2.4-2", &["10", "11"]),
    ("libldap-2.5-0", &["12"]),
    ("libodbc1", &["10", "11"]),
    ("libodbc2", &["12", "13"]),
    ("libprotobuf17", &["10"]),
    ("libprotobuf23", &["11"]),
    ("libprotobuf32", &["12"]),
    ("libssl1.1", &["10", "11"]),
    ("libssl3", &["12"]),
    ("libssl3t64", &["13"]),
    ("libtiff5", &["10", "11"]),
    ("libtiff6", &["12", "13"]),
    ("libwebp6", &["10", "11"]),
    ("libwebp7", &["12", "13"]),
    ("libzip4", &["10", "11", "12"]),
    ("libzip5", &["13"]),
];

/// A package of the other distribution, which an install of this instruction asks for.
pub(super) fn package(view: &View<'_>, index: usize, image: &str) -> Option<String> {
    let kind = ImageKind::of(image)?;
    let wrong = match kind.distribution? {
        Distribution::Alpine => OF_DEBIAN,
        Distribution::Debian | Distribution::Ubuntu => OF_ALPINE,
        Distribution::RedHat | Distribution::Bare => return None,
    };
    let calls = view.facts.package_calls(&view.file, index).iter();
    let calls = calls.filter(|it| !commands::is_language_manager(it.manager));
    let release = kind.release.filter(|_| kind.distribution == Some(Distribution::Debian));
    let is_of_other = |name: &str| {
        let known = OF_RELEASES.iter().find(|(own, _)| *own == name);
        let release = release.as_deref().map(|it| it.split('.').next().unwrap_or(it));
        known.zip(release).is_some_and(|((_, releases), own)| !releases.contains(&own))
    };
    let mut names = calls.flat_map(commands::names);
    let name = names.find(|it| wrong.contains(&it.as_str()) || is_of_other(it))?;
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
    let called = commands::of_instruction(view, index);
    let mut accounts = called.into_iter().filter(|it| it.is_any(&["adduser", "addgroup"]));
    accounts.find_map(|it| {
        let option = it.words.iter().find(|word| wrong.contains(&word.as_str()))?;
        Some(format!("{} {option}", it.name))
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
            .and_then(|it| it.parse::<f32>().ok())
            .is_some_and(|it| it > 23.0)
        && kind.language != Some("dotnet");
    let owner = match kind.name.as_str() {
        "node" => "node",
        "gradle" => "gradle",
        _ if is_ubuntu => "ubuntu",
        _ => return None,
    };
    let called = commands::of_instruction(view, index);
    // A step that removes or renumbers the user makes room.
    let makes_room = |it: &commands::Called| {
        it.is_any(&["userdel", "deluser", "usermod"]) && it.words.iter().any(|word| word == owner)
    };
    let earlier = (0..index).flat_map(|it| commands::of_instruction(view, it));
    if called.iter().any(makes_room) || earlier.into_iter().any(|it| makes_room(&it)) {
        return None;
    }
    let is_taken = |it: &commands::Called| {
        let pairs = it.words.windows(2);
        let mut pairs = pairs.filter_map(|pair| match pair {
            [flag, value] => Some((flag.as_str(), value.as_str())),
            _ => None,
        });
        let joined = it.words.iter().any(|word| word == "--uid=1000");
        let is_shared = it.words.iter().any(|it| matches!(it.as_str(), "-o" | "--non-unique"));
        let is_number = joined || pairs.any(|it| matches!(it, ("-u" | "--uid", "1000")));
        it.is_any(&["useradd", "adduser"]) && is_number && !is_shared
    };
    called.iter().any(is_taken).then(|| format!("user 1000 anew, though it is `{owner}`"))
}
