//! Which caches are known, what empties them, and what the fix makes of it.

use crate::engine::harness::{check, fixed, fixes};

const RULE: &str = "tally/prefer-package-cache-mounts";
const MISSING: &str = "mount a cache, so the next build does not download again";
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
        "ENV PIP_NO_CACHE_DIR=1\nRUN pip install x".to_owned(),
        "RUN --mount=type=cache,id=pnpm,target=/pnpm/store pnpm install".to_owned(),
        "RUN --mount=type=cache,target=/tmp/composer COMPOSER_CACHE_DIR=/tmp/composer composer install".to_owned(),
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
    let apt = APT.replace(' ', " \\\n    ");
    let keep = "rm -f /etc/apt/apt.conf.d/docker-clean";
    let cases = [
        (
            format!("RUN apt-get update && x && {rm}"),
            format!("RUN {apt} \\\n    {keep} && apt-get update && x"),
        ),
        (
            format!("RUN {rm} && apt-get update"),
            format!("RUN {apt} \\\n    {keep} && apt-get update"),
        ),
        (
            format!(
                "RUN apt-get update \\\n  && x '$Y' \\\n  # why\n  && z \\\n  && apt-get clean \\\n  && {rm}"
            ),
            format!(
                "RUN {} \\\n  {keep} \\\n  && apt-get update \\\n  && x '$Y' \\\n  # why\n  && z",
                APT.replace(' ', " \\\n  ")
            ),
        ),
        (
            format!("RUN set -eux; \\\n\tapt-get update; \\\n\tx; \\\n\t{rm}"),
            format!(
                "RUN {} \\\n\tset -eux; \\\n\t{keep}; \\\n\tapt-get update; \\\n\tx",
                APT.replace(' ', " \\\n\t")
            ),
        ),
        (
            "RUN apt-get update && rm -rf /tmp/* /var/lib/apt/lists/* /x".to_owned(),
            format!("RUN {apt} \\\n    {keep} && apt-get update && rm -rf /tmp/* /x"),
        ),
        (
            "RUN apt-get update && x && rm -rf /var/lib/apt/lists /var/cache/apt/archives"
                .to_owned(),
            format!("RUN {apt} \\\n    {keep} && apt-get update && x"),
        ),
        (
            "RUN apt-get update".to_owned(),
            format!("RUN {apt} \\\n    {keep} \\\n    && apt-get update"),
        ),
        (
            "RUN --network=none pip install \\\n  --no-cache-dir \\\n  x".to_owned(),
            format!("RUN --network=none {PIP} \\\n  pip install \\\n  x"),
        ),
        (
            format!("RUN <<EOF\nset -e\napt-get update\n{rm}\nEOF"),
            format!("RUN {apt} <<EOF\nset -e\n{keep}\napt-get update\nEOF"),
        ),
        (
            "RUN (pip install --no-cache-dir $X)".to_owned(),
            format!("RUN {PIP} \\\n    (pip install $X)"),
        ),
        (
            format!("RUN {keep}\nRUN apt-get update && x"),
            format!("RUN {keep}\nRUN {apt} \\\n    apt-get update && x"),
        ),
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
        "RUN apt-get update \\\n  # why\n  && x",
        "RUN apt-get update || x",
    ] {
        fixes(RULE, &[(text, text)]);
    }
    fixed(RULE, "# escape=`\nFROM a\nRUN npm ci\n", "# escape=`\nFROM a\nRUN npm ci\n");
}

/// Where the file has paragraphs, instructions that go over several lines are paragraphs.
#[test]
fn instructions_that_become_long_are_kept_apart() {
    let pip = |package: &str| format!("RUN {PIP} \\\n    pip install {package}\n");
    let long = "RUN a \\\n    && b\n";
    for (before, after) in [
        ("RUN pip install x\nRUN pip install y\n", format!("{}\n{}", pip("x"), pip("y"))),
        (
            &format!("{long}# why\nRUN pip install x\n{long}"),
            format!("{long}\n# why\n{}\n{long}", pip("x")),
        ),
        ("RUN a\nRUN pip install x\nRUN b\n", format!("RUN a\n{}RUN b\n", pip("x"))),
        ("COPY x /\nRUN pip install x\nUSER u\n", format!("COPY x /\n{}USER u\n", pip("x"))),
        ("RUN pip install x\n\nRUN pip install y\n", format!("{}\n{}", pip("x"), pip("y"))),
    ] {
        fixed(RULE, &format!("FROM a\n\n{before}"), &format!("FROM a\n\n{after}"));
    }
    // A file without blank lines gets none.
    fixed(
        RULE,
        "FROM a\nRUN pip install x\nRUN pip install y\n",
        &format!("FROM a\n{}{}", pip("x"), pip("y")),
    );
}
