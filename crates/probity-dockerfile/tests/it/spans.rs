//! The text under every span, so that a finding can point at any word.

use probity_dockerfile::{Arguments, Command, Instruction, Word, parse};

/// What the parts of the first instruction behind FROM are, each with the text under its span.
fn parts(text: &str) -> String {
    let text = format!("FROM a\n{text}");
    let file = parse(&text);
    assert_eq!(file.errors, Vec::new());
    let mut lines = Vec::new();
    describe(&text, &file.instructions[1], &mut lines);
    lines.join("\n")
}

fn describe(text: &str, instruction: &Instruction, lines: &mut Vec<String>) {
    let under = |word: &Word| word.span.slice(text).unwrap().to_owned();
    let mut say = |what: &str, under: &str| lines.push(format!("{what}: {}", under.escape_debug()));
    say("keyword", instruction.keyword_span().slice(text).unwrap());
    for flag in &instruction.flags {
        say("flag", flag.span.slice(text).unwrap());
        say("flag name", &under(&flag.name));
        flag.value.iter().for_each(|value| say("flag value", &under(value)));
        for option in &flag.options {
            say("option key", &under(&option.key));
            option.value.iter().for_each(|value| say("option value", &under(value)));
        }
    }
    match &instruction.arguments {
        Arguments::From { image, alias, .. } => {
            image.iter().for_each(|image| say("image", &under(image)));
            alias.iter().for_each(|alias| say("alias", &under(&alias.name)));
        }
        Arguments::Pairs { pairs, .. } => {
            for pair in pairs {
                say("key", &under(&pair.key));
                pair.value.iter().for_each(|value| say("value", &under(value)));
            }
        }
        Arguments::Transfer { sources, destination, .. } => {
            sources.iter().for_each(|source| say("source", &under(source)));
            destination.iter().for_each(|word| say("destination", &under(word)));
        }
        Arguments::Command(command) | Arguments::Healthcheck { command, .. } => match command {
            Command::Missing => {}
            Command::Shell(word) => say("shell", &under(word)),
            Command::Json { words, .. } => words.iter().for_each(|word| say("json", &under(word))),
        },
        Arguments::Words { words, .. } => words.iter().for_each(|word| say("word", &under(word))),
        Arguments::Text(word) => word.iter().for_each(|word| say("text", &under(word))),
        Arguments::Onbuild(Some(nested)) => describe(text, nested, lines),
        Arguments::Onbuild(None) => {}
    }
    let mut say = |what: &str, under: &str| lines.push(format!("{what}: {}", under.escape_debug()));
    for heredoc in instruction.heredocs() {
        say("marker", heredoc.marker.slice(text).unwrap());
        say("body", heredoc.body.slice(text).unwrap());
        say("content", &heredoc.content(text));
        heredoc.terminator.iter().for_each(|end| say("terminator", end.slice(text).unwrap()));
    }
    say("all", instruction.span.slice(text).unwrap());
}

#[test]
fn stage_name_and_platform() {
    insta::assert_snapshot!(parts("from --platform=$P \\\n  b:1 as Final \n"), @r#"
    keyword: from
    flag: --platform=$P
    flag name: platform
    flag value: $P
    image: b:1
    alias: Final
    all: from --platform=$P \\\n  b:1 as Final
    "#);
}

#[test]
fn pairs_over_continuations_and_comments() {
    insta::assert_snapshot!(parts("ENV a=1 \\\n  # why\n  b=\"2 3\" \\\n\n  c=x\\ y\r\n"), @r#"
    keyword: ENV
    key: a
    value: 1
    key: b
    value: \"2 3\"
    key: c
    value: x\\ y
    all: ENV a=1 \\\n  # why\n  b=\"2 3\" \\\n\n  c=x\\ y
    "#);
}

#[test]
fn legacy_pair() {
    insta::assert_snapshot!(parts("LABEL key  some value \n"), @r#"
    keyword: LABEL
    key: key
    value: some value
    all: LABEL key  some value
    "#);
}

#[test]
fn word_cut_by_a_continuation() {
    insta::assert_snapshot!(parts("COPY so\\\nurce dest\n"), @r#"
    keyword: COPY
    source: so\\\nurce
    destination: dest
    all: COPY so\\\nurce dest
    "#);
}

#[test]
fn mount_options_in_quotes() {
    insta::assert_snapshot!(
        parts("RUN --mount=type=secret,id=\"my id\",required --network=none make \\\n  all\n"), @r#"
    keyword: RUN
    flag: --mount=type=secret,id=\"my id\",required
    flag name: mount
    flag value: type=secret,id=\"my id\",required
    option key: type
    option value: secret
    option key: id
    option value: my id
    option key: required
    flag: --network=none
    flag name: network
    flag value: none
    shell: make \\\n  all
    all: RUN --mount=type=secret,id=\"my id\",required --network=none make \\\n  all
    "#);
}

#[test]
fn heredocs_with_tabs_and_quotes() {
    insta::assert_snapshot!(parts("COPY <<-'A' <<B /x\n\tone\n\tA\nB\nRUN x\n"), @r#"
    keyword: COPY
    source: <<-\'A\'
    source: <<B
    destination: /x
    marker: <<-\'A\'
    body: \tone\n
    content: one\n
    terminator: A
    marker: <<B
    body: 
    content: 
    terminator: B
    all: COPY <<-\'A\' <<B /x\n\tone\n\tA\nB
    "#);
}

#[test]
fn json_words_include_their_quotes() {
    insta::assert_snapshot!(parts("ENTRYPOINT [ \"a\\n\", \\\n \"b c\" ]\n"), @r#"
    keyword: ENTRYPOINT
    json: \"a\\n\"
    json: \"b c\"
    all: ENTRYPOINT [ \"a\\n\", \\\n \"b c\" ]
    "#);
}

#[test]
fn nested_instruction_of_onbuild() {
    insta::assert_snapshot!(parts("ONBUILD \\\n RUN --mount=type=cache,target=/c <<E\nx\nE\n"), @r#"
    keyword: ONBUILD
    keyword: RUN
    flag: --mount=type=cache,target=/c
    flag name: mount
    flag value: type=cache,target=/c
    option key: type
    option value: cache
    option key: target
    option value: /c
    shell: <<E
    marker: <<E
    body: x\n
    content: x\n
    terminator: E
    all: RUN --mount=type=cache,target=/c <<E\nx\nE
    marker: <<E
    body: x\n
    content: x\n
    terminator: E
    all: ONBUILD \\\n RUN --mount=type=cache,target=/c <<E\nx\nE
    "#);
}

#[test]
fn healthcheck_command() {
    insta::assert_snapshot!(parts("HEALTHCHECK --interval=5s CMD curl -f x\n"), @r#"
    keyword: HEALTHCHECK
    flag: --interval=5s
    flag name: interval
    flag value: 5s
    shell: curl -f x
    all: HEALTHCHECK --interval=5s CMD curl -f x
    "#);
}

#[test]
fn offsets_behind_a_byte_order_mark_are_those_of_the_file() {
    let text = "\u{feff}# escape=`\nFROM a\n";
    let file = parse(text);
    assert_eq!(file.directives[0].value_span.slice(text), Some("`"));
    assert_eq!(file.directives[0].name_span.slice(text), Some("escape"));
    assert_eq!(file.instructions[0].span.slice(text), Some("FROM a"));
    assert_eq!(file.instructions[0].lines(), (2, 2));
}
