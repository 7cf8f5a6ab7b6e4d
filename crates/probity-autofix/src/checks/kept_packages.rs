//! Packages of the original that run time needs are in the final stage too.

mod run_times;

use std::collections::BTreeSet;

use probity_dockerfile::{Action, Keyword, Manager, TokenKind};

use self::run_times::run_times_of_compilers;
use super::{
    Change, Check, Issue, View,
    additions::is_probe,
    arrival::speaks_tls,
    base_image::base,
    belongings::{final_chain, is_within},
    commands::{self, Linkage},
    image_kind::{Distribution, ImageKind},
    moved::copied,
};

pub(crate) const PACKAGES_KEPT: Check = Check::new("packages-kept", packages_kept).heuristic();

/// Packages of headers whose libraries are in any image.
const ALWAYS: &[&str] = &[
    "glibc-devel",
    "libffi-devel",
    "libstdc++-devel",
    "libacl1-dev",
    "libattr1-dev",
    "libblkid-dev",
    "libgcrypt20-dev",
    "libgmp-dev",
    "liblz4-dev",
    "libmount-dev",
    "libpam0g-dev",
    "libsystemd-dev",
    "libtinfo-dev",
    "libudev-dev",
    "libzstd-dev",
    "uuid-dev",
    "libc-dev",
    "libc6-dev",
    "libffi-dev",
    "libstdc++-dev",
    "linux-libc-dev",
    "libbz2-dev",
    "liblzma-dev",
    "libltdl-dev",
    "zlib1g-dev",
];

/// Packages of headers, and names of their libraries that do not follow from them.
const TWINS: &[(&str, &[&str])] = &[
    ("default-libmysqlclient-dev", &["libmariadb3", "default-mysql-client"]),
    ("libjpeg-dev", &["libjpeg62-turbo", "libjpeg-turbo8"]),
    ("libjpeg62-turbo-dev", &["libjpeg62-turbo"]),
    ("jpeg-dev", &["libjpeg-turbo"]),
    ("libcurl4-openssl-dev", &["libcurl4", "libcurl4t64"]),
    ("libmagickwand-dev", &["libmagickwand-6.q16-6"]),
    ("mariadb-dev", &["mariadb-connector-c", "mariadb-client"]),
    ("bzip2-dev", &["libbz2"]),
    ("cyrus-sasl-dev", &["libsasl"]),
    ("gettext-dev", &["gettext-libs", "libintl", "musl-libintl"]),
    ("imap-dev", &["c-client"]),
    ("libfontconfig-dev", &["fontconfig"]),
    ("libfontconfig1-dev", &["fontconfig"]),
    ("mysql-dev", &["mariadb-connector-c"]),
    ("util-linux-dev", &["libblkid", "libmount", "libuuid"]),
    ("zeromq-dev", &["libzmq"]),
    ("libavcodec-dev", &["ffmpeg"]),
    ("libavformat-dev", &["ffmpeg"]),
    ("libatlas-base-dev", &["libatlas3-base"]),
    ("libgl1-mesa-dev", &["libgl1"]),
    ("libleptonica-dev", &["liblept5", "tesseract-ocr"]),
    ("libtesseract-dev", &["tesseract-ocr"]),
    ("openssl-dev", &["libcrypto3", "libssl3", "openssl"]),
    ("postgresql-dev", &["libpq", "postgresql-client", "postgresql-libs"]),
    ("libssl-dev", &["openssl"]),
    ("curl-dev", &["libcurl", "curl"]),
    ("freetds-dev", &["libsybdb5", "freetds"]),
    ("krb5-dev", &["krb5-libs"]),
    ("libkrb5-dev", &["libgssapi-krb5-2"]),
    ("libncurses-dev", &["libncursesw6", "libtinfo6"]),
    ("libncurses5-dev", &["libncursesw6", "libtinfo6"]),
    ("libpq-dev", &["postgresql-client"]),
    ("libgdal-dev", &["gdal-bin"]),
    ("openldap-dev", &["libldap"]),
    ("openssl-devel", &["openssl-libs"]),
    ("unixodbc-dev", &["libodbc1", "libodbc2"]),
    ("libsqlite3-dev", &["libsqlite3-0", "sqlite3"]),
];

/// Packages of headers without a library that an image may lack.
const HEADERS_ALONE: &[&str] = &[
    "clang-dev",
    "libasio-dev",
    "libboost-dev",
    "libclang-dev",
    "libeigen3-dev",
    "libgmock-dev",
    "libgtest-dev",
    "llvm-dev",
    "nlohmann-json3-dev",
    "rapidjson-dev",
    "uthash-dev",
    "bsd-compat-headers",
    "linux-libc-dev",
    "musl-dev",
    "openssl-dev",
    "python-dev",
    "python3-dev",
    "ruby-dev",
    "zlib-dev",
];

/// Where the files of packages are, for stages that copy them instead.
const FILES: &[(&str, &[&str])] = &[
    ("ca-certificates", &["/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs"]),
    ("dumb-init", &["/usr/bin/dumb-init"]),
    ("locales", &["/usr/lib/locale"]),
    ("tini", &["/sbin/tini", "/usr/bin/tini"]),
    ("tzdata", &["/usr/share/zoneinfo"]),
];

/// Words of comments that tell of a library which full images have, and the package of its headers.
const TOLD: &[(&[&str], &str)] = &[
    (&["openssl", "native-tls", "libssl"], "libssl-dev"),
    (&["libpq", "psycopg2"], "libpq-dev"),
    (&["mysqlclient", "mysql2"], "default-libmysqlclient-dev"),
    (&["libgomp", "openmp"], "libgomp-dev"),
    (&["libmagic"], "libmagic-dev"),
];

/// Whether a package is the library that a package of headers is for: `libpq-dev` and `libpq5`.
pub(crate) fn is_twin(headers: &str, package: &str) -> bool {
    let listed = TWINS.iter().find(|(name, _)| *name == headers);
    if listed.is_some_and(|(_, packages)| packages.contains(&package)) {
        return true;
    }
    let Some(stem) = headers.strip_suffix("-dev").or_else(|| headers.strip_suffix("-devel")) else {
        return false;
    };
    let stem = stem.trim_end_matches(|character: char| {
        character.is_ascii_digit() || character == '.' || character == '-'
    });
    let stem = stem.strip_suffix("-all").unwrap_or(stem);
    // `libsnappy1v5`, `libgeos-c1v5`, `icu-libs`: another word would be another library.
    let plain = |name: &str| name.strip_prefix("lib").unwrap_or(name).to_owned();
    let (stem, name) = (plain(stem), plain(package));
    let is_same = name.strip_prefix(&stem).is_some_and(|rest| {
        !rest.starts_with(|character: char| character.is_ascii_alphabetic()) && !stem.is_empty()
    });
    is_same && !commands::is_build_package(package) && !package.ends_with("-doc")
}

fn packages_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(kind) = base(change.after).and_then(|image| ImageKind::of(&image)) else {
        return Vec::new();
    };
    let now = in_final_stage(change.after);
    let mut missing: BTreeSet<String> = BTreeSet::new();
    // The original itself runs without what it removes.
    let removals = commands::calls(change.before).filter(|(_, call)| call.action == Action::Remove);
    let removed: Vec<String> = removals
        .flat_map(|(_, call)| call.packages.iter().map(|package| package.text.to_string()))
        .collect();
    for (_, call) in commands::calls(change.before) {
        if commands::is_language_manager(call.manager) {
            continue;
        }
        let is_removed = |name: &str| removed.iter().any(|package| package == name);
        if call.virtual_name.as_deref().is_some_and(is_removed) {
            continue;
        }
        for name in commands::names(call).into_iter().filter(|name| !is_removed(name)) {
            if matches!(call.manager, Manager::Cargo | Manager::Go) {
                missing.extend((!has_program(change, &name)).then_some(name));
                continue;
            }
            let is_there = if needs_library(change, &kind, &name) {
                now.iter().any(|package| *package == name || is_twin(&name, package))
                    || is_library_copied(change, &name)
                    || is_in_image(&kind, &name)
            } else {
                let is_called =
                    commands::starts(change.before, &name) || is_probe(change.before, &name);
                ((commands::is_build_package(&name) || is_build_tool(change, &name))
                    && !is_called
                    && !is_told_of_script(change.before, &name))
                    || now.contains(&name)
                    || is_copied(change, &name)
                    || is_in_image(&kind, &name)
                    || (name == "ca-certificates" && are_for_downloads(change))
            };
            if !is_there {
                missing.insert(name);
            }
        }
    }
    missing.extend(told(change, &kind, &now).into_iter().map(str::to_owned));
    missing.extend(run_times_of_compilers(change, &kind, &now).into_iter().map(str::to_owned));
    // Compilers bring the library that these wheels load.
    let olds = commands::installed(change.before);
    let has_openmp = olds.iter().any(|old| commands::is_compiler(old));
    if has_openmp && !kind.is_full() && olds.iter().any(|old| old == "lightgbm") {
        let is_there =
            now.iter().any(|name| name.starts_with("libgomp") || commands::is_compiler(name));
        missing.extend((!is_there).then(|| "libgomp1".to_owned()));
    }
    if compiles_packages(change.after) {
        let olds = commands::installed(change.before).into_iter();
        missing.extend(olds.filter(|old| commands::is_compiler(old) && !now.contains(old)));
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = missing.into_iter().collect();
    let message = format!(
        "run time may need {}, which the final stage neither installs nor copies; install it, or the \
         library of a package of headers",
        names.join(", ")
    );
    vec![change.issue(check, &message)]
}

/// Whether the final stage itself installs packages of a language, and may have to compile them.
fn compiles_packages(view: &View<'_>) -> bool {
    const READY: &[&str] =
        &["--ignore-scripts", "--no-index", "--find-links", "--only-binary", "-f"];
    let chain = final_chain(view);
    commands::calls(view).filter(|(index, _)| chain.contains(index)).any(|(_, call)| {
        let is_wheel = |text: &str| text.starts_with('/') || text.ends_with(".whl");
        call.action == Action::Install
            && commands::is_language_manager(call.manager)
            && !call.has_flag(READY)
            && !call.has_flag(&["-g", "--global"])
            && !call.packages.iter().any(|package| is_wheel(&package.text))
    })
}

/// Libraries of the original's full image that its comments tell of and the final stage lacks.
fn told(change: &Change<'_>, kind: &ImageKind, now: &[String]) -> Vec<&'static str> {
    let before = change.before;
    let old = base(before).and_then(|image| ImageKind::of(&image));
    let is_smaller = old.is_some_and(|old| old.is_full()) && !kind.is_full();
    if !is_smaller || commands::linkage_of(change) == Linkage::Static {
        return Vec::new();
    }
    let mut text = comments_of(before).to_lowercase();
    if before.text.contains("-fopenmp") {
        text.push_str(" openmp");
    }
    let mut found = Vec::new();
    for (words, headers) in TOLD {
        let is_there = now.iter().any(|package| package == headers || is_twin(headers, package))
            || is_library_copied(change, headers)
            || is_in_image(kind, headers)
            || (*headers == "libssl-dev" && kind.is_interpreted());
        if words.iter().any(|word| text.contains(word)) && !is_there {
            found.push(*headers);
        }
    }
    found
}

/// Whether the program of a package that `cargo install` or `go install` compiles comes along, or only
/// steps of the original call it.
fn has_program(change: &Change<'_>, package: &str) -> bool {
    let path = package.rsplit_once("/v").filter(|(_, version)| version.parse::<u32>().is_ok());
    let name = commands::last_part(path.map_or(package, |(path, _)| path));
    let plain = ["-cli", "_cli"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let is_it = |word: &str| word == name || word == plain;
    let is_started = [name, plain]
        .iter()
        .any(|word| commands::starts(change.before, word) || is_probe(change.before, word));
    // Others call these while they build.
    let is_plugin = name.starts_with("protoc-gen-") || name.starts_with("cargo-");
    let is_called = is_plugin
        || change.before.all_called().any(|call| {
            let first = call.words.first().map(String::as_str).unwrap_or_default();
            is_it(&call.name) || (call.name == "cargo" && is_it(&format!("cargo-{first}")))
        });
    let is_brought = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let places = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        places
            .iter()
            .map(|place| commands::last_part(place.trim_end_matches('/')))
            .any(|part| is_it(part) || part == "bin")
    });
    is_brought || (is_called && !is_started)
}

/// Packages, and the programs by which steps call them.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("imagemagick", &["convert", "magick", "mogrify"]),
    ("libarchive-tools", &["bsdtar"]),
    ("libcap", &["setcap"]),
    ("libcap2-bin", &["setcap"]),
    ("libxml2-utils", &["xmllint"]),
    ("libxslt", &["xsltproc"]),
    ("sqlite", &["sqlite3"]),
    ("shadow", &["useradd", "groupadd", "usermod"]),
];

/// Whether steps of the original call a package's program, and nothing else in it names one.
fn is_build_tool(change: &Change<'_>, name: &str) -> bool {
    let before = change.before;
    let listed = PROGRAMS.iter().find(|(package, _)| *package == name).map(|(_, list)| *list);
    let programs: Vec<&str> = listed.unwrap_or_default().iter().copied().chain([name]).collect();
    let chain = final_chain(change.after);
    let is_used = before.all_called().any(|call| call.is_any(&programs));
    let is_used_now = change
        .after
        .all_called()
        .any(|call| call.is_any(&programs) && chain.contains(&call.instruction));
    let names = |text: &str| programs.iter().any(|program| text.contains(program));
    let is_named = before.file.instructions.iter().any(|instruction| {
        let mut heredocs =
            instruction.heredocs().iter().map(|heredoc| heredoc.content(before.text));
        instruction.keyword != Keyword::Run
            && (names(instruction.body_text()) || heredocs.any(|text| names(&text)))
    });
    is_used && !is_used_now && !is_named && !names(&comments_of(before))
}

/// Whether a comment says that a script which the container has calls a package's program.
fn is_told_of_script(view: &View<'_>, name: &str) -> bool {
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let mut comments = comments.filter_map(|comment| comment.span.slice(view.text));
    let words = |text: &str| -> Vec<String> {
        let words = text
            .split(|character: char| character.is_whitespace() || "\"'`,;()".contains(character));
        words.map(str::to_owned).collect()
    };
    comments.any(|comment| {
        let words = words(comment);
        words.iter().any(|word| word == name) && words.iter().any(|word| word.ends_with(".sh"))
    })
}

/// Whether certificates are there for downloads of the build, and nothing tells that the program speaks
/// TLS itself.
fn are_for_downloads(change: &Change<'_>) -> bool {
    const TLS: &[&str] = &["ssl", "tls", "curl4", "libcurl", "curl-dev"];
    let before = change.before;
    let old = base(before).and_then(|image| ImageKind::of(&image));
    let is_system = old.is_some_and(|old| old.is_system());
    let downloads = before.all_called().any(|call| {
        call.is_any(&["curl", "wget", "git"])
            && call.words.iter().any(|word| word.contains("https:"))
    });
    let mut packages = commands::installed(before).into_iter();
    let links = packages.any(|package| TLS.iter().any(|part| package.contains(part)));
    is_system && downloads && !links && !speaks_tls(before)
}

pub(super) fn comments_of(view: &View<'_>) -> String {
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    comments.filter_map(|comment| comment.span.slice(view.text)).collect()
}

/// Whether a COPY brings the files of a library by its name: `libpq.so.5`.
fn is_library_copied(change: &Change<'_>, headers: &str) -> bool {
    let stem = headers.trim_end_matches("el").trim_end_matches("-dev");
    let stem = stem.trim_end_matches(|character: char| {
        character.is_ascii_digit() || character == '.' || character == '-'
    });
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let sources = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        sources.iter().any(|source| {
            let name = commands::last_part(source);
            let rest = name.strip_prefix("lib").and_then(|name| name.strip_prefix(stem));
            !stem.is_empty()
                && name.contains(".so")
                && rest.is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_alphabetic()))
        })
    })
}

/// Whether what was built needs the library of these headers in the final stage.
fn needs_library(change: &Change<'_>, kind: &ImageKind, name: &str) -> bool {
    let is_headers = name.ends_with("-dev") || name.ends_with("-devel");
    let is_library = !HEADERS_ALONE.contains(&name);
    // What the run times of languages are linked with themselves.
    let is_of_image = match kind.language {
        Some("python") => matches!(
            name,
            "libssl-dev" | "libyaml-dev" | "libsqlite3-dev" | "libreadline-dev" | "libncurses-dev"
        ),
        Some("php") => matches!(
            name,
            "libssl-dev"
                | "libyaml-dev"
                | "libcurl4-openssl-dev"
                | "curl-dev"
                | "libonig-dev"
                | "oniguruma-dev"
                | "libreadline-dev"
                | "libsodium-dev"
                | "libsqlite3-dev"
                | "libxml2-dev"
        ),
        Some("ruby") => {
            matches!(name, "libssl-dev" | "libyaml-dev" | "yaml-dev" | "gmp-dev" | "readline-dev")
        }
        Some("node") => matches!(name, "libssl-dev" | "libyaml-dev"),
        _ => false,
    };
    let is_read_alone = matches!(name, "libprotobuf-dev" | "protobuf-dev")
        && base(change.before)
            .and_then(|image| ImageKind::of(&image))
            .is_some_and(|old| matches!(old.language, Some("go" | "rust" | "java" | "node")));
    is_headers
        && is_library
        && !ALWAYS.contains(&name)
        && !is_of_image
        && !is_read_alone
        && !name.starts_with("libstdc++")
        && !kind.is_full()
        && commands::linkage_of(change) != Linkage::Static
}

fn in_final_stage(view: &View<'_>) -> Vec<String> {
    let chain = final_chain(view);
    let calls = commands::calls(view).filter(|(index, _)| chain.contains(index));
    calls.flat_map(|(_, call)| commands::names(call)).collect()
}

fn is_copied(change: &Change<'_>, name: &str) -> bool {
    let files = FILES.iter().find(|(package, _)| *package == name).map(|(_, files)| *files);
    let files = files.unwrap_or_default();
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let sources = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        sources
            .iter()
            .any(|source| files.iter().any(|file| is_within(file, source.trim_end_matches('/'))))
    })
}

/// Whether an image is known to have a package without being asked.
fn is_in_image(kind: &ImageKind, name: &str) -> bool {
    let is_distroless = kind.name.contains("-debian");
    let is_ubuntu_java = kind.name == "eclipse-temurin" && !kind.is_musl();
    match name {
        "ca-certificates" => {
            is_distroless
                || kind.is_musl()
                || matches!(
                    kind.language,
                    Some("python" | "ruby" | "php" | "java" | "dotnet" | "node")
                )
        }
        "tzdata" => {
            is_distroless
                || kind.distribution == Some(Distribution::Debian)
                || matches!(kind.language, Some("python" | "java" | "dotnet"))
        }
        "curl" => kind.language == Some("php") || is_ubuntu_java,
        "wget" => kind.is_musl() || is_ubuntu_java,
        "fontconfig" => is_ubuntu_java,
        "libstdc++" | "libgcc" => kind.language == Some("node"),
        "openssl-devel" | "zlib-devel" | "libcurl-devel" | "sqlite-devel" | "pcre2-devel" => {
            kind.distribution == Some(Distribution::RedHat)
        }
        "bash" => !kind.is_musl() && kind.distribution != Some(Distribution::Bare),
        "openssl" => matches!(kind.language, Some("python" | "ruby" | "php")),
        // The smallest of them has no libraries at all.
        "libssl-dev" => is_distroless && kind.distribution != Some(Distribution::Bare),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_twin;

    #[test]
    fn libraries_are_told_from_their_headers() {
        for (headers, package) in [
            ("libpq-dev", "libpq5"),
            ("libssl-dev", "libssl3"),
            ("libssl-dev", "libssl3t64"),
            ("libxslt1-dev", "libxslt1.1"),
            ("libpng-dev", "libpng16-16"),
            ("sqlite-dev", "sqlite-libs"),
            ("postgresql-dev", "libpq"),
        ] {
            assert!(is_twin(headers, package), "{headers} {package}");
        }
        for (headers, package) in
            [("libpq-dev", "libpqxx-7.10"), ("libssl-dev", "netcat"), ("gcc", "gcc12")]
        {
            assert!(!is_twin(headers, package), "{headers} {package}");
        }
    }
}
