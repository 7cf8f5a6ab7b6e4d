//! What BuildKit takes and what it refuses, on lines where its rules surprise. Each verdict is that
//! of its own parser.

use probity_dockerfile::parse;

const ACCEPTED: &[&str] = &[
    "RUN",
    "CMD []",
    "CMD [\"a\",]",
    "CMD [\"a\"] x",
    "CMD [1e999]",
    "CMD [\"\\ud800\"]",
    "ENV a= b=",
    "ENV 'a b' c",
    "ENV a\\ b=c",
    "ARG --x y",
    "STOPSIGNAL --x TERM",
    "HEALTHCHECK --foo NONE",
    "HEALTHCHECK --interval=.5s --retries=+1 CMD x",
    "HEALTHCHECK --interval=0 CMD x",
    "COPY --link=TRUE -- a b",
    "COPY --\"link\" a b",
    "COPY -x a b",
    "COPY --from=àb c",
    "COPY --chown=\\\" a b",
    "ONBUILD FOO x",
    "ONBUILD RUN --foo x",
    "ADD \u{a0} --parents /data",
    "RU\\\nN x",
    "RUN <<E $(date) `date` $$ ${x//b/c}\nE",
    "RUN <<E${x}\nE${x}",
    "RUN <<F${x:-a <<E}\nE}",
    "RUN <<a\\ b\na b",
    "RUN cat<<E",
    "RUN a <<- E",
    "RUN <<${x:-ab}",
    "COPY [\"<<EOF\", \"/x\"]",
];

const REJECTED: &[&str] = &[
    "FROM\u{a0}b",
    "\\\n",
    "CMD [null]",
    "CMD [{\"a\": [1, {}]}]",
    "ENV \"a\"",
    "ENV a =b c=d\nENV a=b c",
    "HEALTHCHECK CMD\u{a0}x",
    "HEALTHCHECK --interval=1d CMD x",
    "HEALTHCHECK --retries=1e1 CMD x",
    "COPY --link= a b",
    "COPY --exclude a b",
    "ADD --from=x a b",
    "RUN --mount=type=bind,target=\\\"x y",
    "RUN --mount=from=$X y",
    "RUN --device= z",
    "RUN --network= z",
    "RUN <<E echo it's\nFOO\nE",
    "RUN <<E ${x^^}\nFOO\nE",
    "RUN <<E\n E",
    "RUN ${x:-\"a <<E}\"}\nE}\"}",
    "COPY a <<${x:-ab}",
    "ONBUILD CMD [1]",
];

#[test]
fn takes_what_buildkit_takes() {
    for line in ACCEPTED {
        let text = format!("FROM a\n{line}\n");
        assert_eq!(parse(&text).errors, Vec::new(), "{line:?}");
    }
}

#[test]
fn refuses_what_buildkit_refuses() {
    for line in REJECTED {
        let text = format!("FROM a\n{line}\n");
        assert!(!parse(&text).errors.is_empty(), "{line:?}");
    }
}

#[test]
fn flags_obey_the_escape_directive_and_heredoc_names_do_not() {
    let text = "# escape=`\nFROM a\nCOPY --chown=`\" a b\nRUN <<a\\ b\na b\n";
    assert_eq!(parse(text).errors, Vec::new());
}
