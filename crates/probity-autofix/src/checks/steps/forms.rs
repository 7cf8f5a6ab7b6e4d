//! The texts by which a part of a RUN is known again in another file.
//!
//! How much a tool prints, how many jobs it runs, where a scratch file lies and how much is linked in
//! make no other step of it.

use super::super::{
    View,
    commands::{Segment, last_part},
    moved::without_output,
};

/// Words of tools that change neither what they make nor what they read.
const QUIET: &[(&[&str], &[&str])] = &[
    (&["go"], &["-trimpath", "-v", "-a", "-buildvcs=false", "-installsuffix", "cgo", "-s", "-w"]),
    (&["cargo"], &["--quiet", "-q", "--verbose", "-v"]),
    (
        &["mvn", "mvnw", "gradle", "gradlew"],
        &["-B", "--batch-mode", "-q", "--quiet", "-ntp", "--no-transfer-progress", "--no-daemon"],
    ),
    (
        &["npm", "yarn", "pnpm"],
        &["--no-audit", "--no-fund", "--no-progress", "--prefer-offline", "--silent"],
    ),
    (&["pip", "pip3"], &["--no-cache-dir", "--disable-pip-version-check", "--no-compile", "-q"]),
    (
        &["composer"],
        &["--no-progress", "--no-interaction", "-n", "--no-ansi", "--ignore-platform-reqs"],
    ),
    (&["dotnet"], &["--nologo", "--no-restore", "/p:UseAppHost=false", "-p:UseAppHost=false"]),
    (&["poetry"], &["--no-interaction", "-n", "--no-ansi", "--no-cache", "-q", "--quiet"]),
    (&["make", "ninja", "cmake"], &["--silent", "-s", "--parallel", "--verbose", "--strip"]),
];

/// Tools whose words mean the same in any order.
const UNORDERED: &[&str] = &["cargo", "mvn", "mvnw", "npm", "yarn", "pnpm", "composer", "dotnet"];

/// A part as it is written, without the place of its output, and plain.
pub(crate) fn forms(part: &Segment) -> Vec<String> {
    let mut texts = vec![part.text.clone()];
    texts.extend(without_output(part).map(|(text, _)| text));
    let plain: Vec<String> = texts.iter().map(|text| plain(text)).collect();
    texts.extend(plain);
    texts
}

/// What a part of the proposal may be of the original: a static link does for one that was not, and
/// locked versions do for any.
pub(crate) fn stand_ins(before: &View<'_>, part: &Segment) -> Vec<String> {
    let mut texts = forms(part);
    if !before.uses_c() {
        let dynamic = texts.iter().filter_map(|text| text.strip_prefix("static: "));
        let dynamic: Vec<String> = dynamic.map(str::to_owned).collect();
        texts.extend(dynamic);
    }
    let loose: Vec<String> = texts
        .iter()
        .map(|text| {
            let text = text.replace(['"', '\''], "");
            let words = text.split_whitespace().filter(|word| !is_stricter(word));
            plain(&words.collect::<Vec<_>>().join(" "))
        })
        .collect();
    texts.extend(loose);
    texts
}

/// A part without what makes no other step of it.
pub(crate) fn plain(text: &str) -> String {
    let text = text.replace(['"', '\''], "").replace("-ldflags=", "-ldflags ");
    let all: Vec<&str> = text.split_whitespace().collect();
    let is_assignment = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let start = all.iter().take_while(is_assignment).count();
    let (settings, words) = all.split_at_checked(start).unwrap_or_default();
    let name = words.first().map(|word| last_part(word)).unwrap_or_default();
    let quiet = QUIET.iter().find(|(names, _)| names.contains(&name)).map(|(_, words)| *words);
    let quiet = quiet.unwrap_or_default();
    let mut rest: Vec<String> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let is_jobs = matches!(*word, "-j" | "--jobs" | "--retry") || is_job_count(word);
        if is_jobs {
            words.next_if(|next| {
                next.starts_with(|character: char| character.is_ascii_digit() || character == '$')
            });
        } else if !quiet.contains(word) {
            // A wrapper fetches the tool that an image may bring.
            let word = match scratch(word) {
                "mvnw" => "mvn",
                "gradlew" => "gradle",
                word => word,
            };
            rest.push(word.to_owned());
        }
    }
    let mut prefix = settings.join(" ");
    match name {
        "go" => {
            // The platform that the image is for.
            let is_set = |setting: &str| {
                let setting = setting.replace(['{', '}'], "");
                let is_platform = matches!(setting.as_str(), "GOOS=linux" | "GOOS=$TARGETOS")
                    || setting == "GOARCH=$TARGETARCH"
                    || setting == "GOOS=$TARGETOS:-linux";
                setting == "CGO_ENABLED=0" || is_platform
            };
            let is_static = settings.contains(&"CGO_ENABLED=0");
            if settings.iter().all(|setting| is_set(setting)) {
                prefix = if is_static { "static:".to_owned() } else { String::new() };
            }
            let place = rest.iter().position(|word| word == "-ldflags");
            let has_values = place
                .and_then(|place| rest.get(place + 1))
                .is_some_and(|next| next.starts_with("-X") || next.starts_with("-extldflags"));
            if !has_values && let Some(place) = place {
                rest.remove(place);
            }
        }
        // `cargo install --path .` is a release build whose result is put elsewhere.
        "cargo" if rest.get(1).is_some_and(|word| word == "install") => {
            let is_here = rest.windows(2).any(|pair| pair == ["--path", "."]);
            if is_here || rest.iter().any(|word| word == "--path=.") {
                rest.retain(|word| {
                    !matches!(word.as_str(), "install" | "--path" | "." | "--path=.")
                });
                rest.extend(["build".to_owned(), "--release".to_owned()]);
            }
        }
        _ => {}
    }
    if UNORDERED.contains(&name) {
        rest.sort_unstable();
    }
    format!("{prefix} {}", rest.join(" ")).trim().to_owned()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A word that makes a result depend on less: `--locked`, `-static-libstdc++`.
fn is_stricter(word: &str) -> bool {
    let flags = ["-DCMAKE_EXE_LINKER_FLAGS=", "LDFLAGS="];
    let value = flags.iter().find_map(|flag| word.strip_prefix(flag)).unwrap_or(word);
    matches!(value, "--locked" | "-static-libstdc++" | "-static-libgcc")
}

/// `-j4`, `-j$(nproc)`, `--jobs=4`
fn is_job_count(word: &str) -> bool {
    let count = word.strip_prefix("-j").or_else(|| word.strip_prefix("--jobs="));
    count.is_some_and(|count| {
        count.starts_with(|character: char| character.is_ascii_digit() || character == '$')
    })
}

/// A name without the directory of scratch files that it lies in.
fn scratch(word: &str) -> &str {
    let places = ["/tmp/", "/var/tmp/", "./"];
    let stripped = places.iter().find_map(|place| word.strip_prefix(place));
    stripped.filter(|rest| !rest.is_empty()).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_tool_prints_is_no_part_of_its_step() {
        let rows = [
            ("go build -o x .", "GOOS=linux go build -trimpath -ldflags=\"-s -w\" -o x ."),
            ("go build -ldflags '-X a.b=c' .", "go build -ldflags \"-s -w -X a.b=c\" ."),
            ("make", "make -j$(nproc)"),
            ("cargo install --locked --path .", "cargo build --release --locked"),
            ("mvn package -DskipTests", "mvn -B -q package -DskipTests"),
            ("tar -xzf x.tgz", "tar -xzf /tmp/x.tgz"),
        ];
        for (one, other) in rows {
            assert_eq!(plain(one), plain(other));
        }
        let rows = [
            ("go build .", "go build -tags debug ."),
            ("go build .", "CGO_ENABLED=1 go build ."),
            ("cargo install --path .", "cargo build"),
            ("cargo build --locked", "cargo build"),
            ("cargo install ripgrep", "cargo build --release"),
            ("mvn package", "mvn package -DskipTests"),
            ("npm ci", "npm ci --ignore-scripts"),
            ("cp a b", "cp b a"),
            ("tar -xzf x.tgz", "tar -xzf /opt/x.tgz"),
        ];
        for (one, other) in rows {
            assert_ne!(plain(one), plain(other));
        }
    }
}
