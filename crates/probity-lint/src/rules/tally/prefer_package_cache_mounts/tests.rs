//! Which caches are known, what empties them, and what the fix makes of it.

use crate::harness::{check, fixed, fixes};

const RULE: &str = "tally/prefer-package-cache-mounts";
const MISSING: &str = "mount a cache, so that the next build need not download again";
const APT: &str = "--mount=type=cache,target=/var/cache/apt,id=apt,sharing=locked \
                   --mount=type=cache,target=/var/lib/apt,id=aptlib,sharing=locked";
const PIP: &str = "--mount=type=cache,target=/root/.cache/pip,id=pip";

#[test]
fn the_first_command_that_downloads_is_underlined() {
    check(
        RULE,
        &format!(
            r#"
FROM a
RUN x && (apt-get update; apt-get "install" y) \
          ^^^^^^^^^^^^^^ {MISSING}
    && npm ci
RUN <<EOF
python3 -m pip install x
^^^^^^^^^^^^^^^^^^^^^^^^ {MISSING}
EOF
RUN go build ./...
    ^^^^^^^^^^^^^^ {MISSING}
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit && npm cache clean --force
                                         ^^^^^^^^^^^^^^^^^ the cache that is mounted here is not used, or is emptied
"#
        ),
    );
}

#[test]
fn mounted_caches_other_users_and_mentions_are_silent() {
    for run in [
        format!("RUN {APT} apt-get update"),
        format!("RUN {PIP} pip install x"),
        "RUN --mount=type=cache,target=/var/cache --mount=type=tmpfs,dst=/var/lib/apt apt-get update".to_owned(),
        "RUN --mount=type=cache,target=/root/.cache/uv uv pip install x".to_owned(),
        "USER app\nRUN pip install x".to_owned(),
        "RUN echo pip install x && apt-get remove y && npm run build && go version".to_owned(),
        "RUN [\"pip\", \"install\", \"x\"]".to_owned(),
        "CMD pip install x".to_owned(),
    ] {
        check(RULE, &format!("FROM debian:12\n{run}\n"));
    }
}

#[test]
fn mounts_come_and_cleaning_goes() {
    let rm = "rm -rf /var/lib/apt/lists/*";
    let cases = [
        (format!("RUN apt-get update && x && {rm}"), format!("RUN {APT} apt-get update && x")),
        (format!("RUN {rm} && apt-get update"), format!("RUN {APT} apt-get update")),
        (
            format!(
                "RUN apt-get update \\\n  # why\n  && x '$Y' \\\n  && apt-get clean \\\n  && {rm}"
            ),
            format!("RUN {APT} apt-get update \\\n  # why\n  && x '$Y'"),
        ),
        (
            "RUN --network=none pip install \\\n  --no-cache-dir \\\n  x".to_owned(),
            format!("RUN --network=none {PIP} pip install \\\n  x"),
        ),
        (
            format!("RUN <<EOF\napt-get update\n{rm}\nEOF"),
            format!("RUN {APT} <<EOF\napt-get update\nEOF"),
        ),
        ("RUN (pip install --no-cache-dir $X)".to_owned(), format!("RUN {PIP} (pip install $X)")),
    ];
    for (before, after) in &cases {
        fixes(RULE, &[(before, after)]);
    }
}

#[test]
fn what_cannot_be_taken_out_as_a_whole_stays() {
    for text in [
        "RUN apt-get update && (x; apt-get clean)",
        "RUN apt-get update && apt-get clean || x",
        "RUN apt-get update; apt-get clean",
        "RUN apt-get update \\\n  # why\n  && apt-get clean",
    ] {
        fixes(RULE, &[(text, text)]);
    }
    fixed(RULE, "# escape=`\nFROM a\nRUN npm ci\n", "# escape=`\nFROM a\nRUN npm ci\n");
}
