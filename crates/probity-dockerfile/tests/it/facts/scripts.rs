//! The shell texts of instructions, by the text under the spans of their words.

use probity_dockerfile::{Dockerfile, Facts, parse};
use probity_finding::Span;
use probity_shell::{Opaque, PartKind, Script, Word};
use proptest::prelude::*;

/// The scripts of the last instruction: dialect, options, and the words of each command.
fn outlines(text: &str) -> Vec<String> {
    let dockerfile = parse(text);
    let facts = Facts::of(&dockerfile);
    let last = dockerfile.instructions.len() - 1;
    let scripts = facts.scripts(&dockerfile, last);
    scripts.iter().map(|script| outline(&dockerfile, script)).collect()
}

fn outline(dockerfile: &Dockerfile<'_>, script: &Script) -> String {
    let under = |span: Span| span.slice(dockerfile.text).unwrap();
    let mut line = format!("{:?}", script.invocation.dialect);
    line.push_str(if script.invocation.pipefail { " pipefail" } else { "" });
    if let Some(opaque) = script.opaque {
        line.push_str(&format!(" {opaque:?}"));
    }
    if script.opaque.is_some_and(|opaque| opaque != Opaque::Dialect) {
        return line;
    }
    for command in script.all_commands() {
        assert!(script.span.encloses(command.span));
        let words: Vec<_> = command.words.iter().map(|word| under(word.span())).collect();
        for word in &command.words {
            assert!(command.span.encloses(word.span()));
        }
        line.push_str(&format!(" [{}]", words.join(" ")));
    }
    for error in script.errors() {
        line.push_str(&format!(" #{:?}", under(error.span)));
    }
    line
}

#[test]
fn scripts_of_instructions() {
    for (text, expected) in CASES {
        assert_eq!(outlines(&format!("FROM a\n{text}\n")), *expected, "{text}");
    }
}

const CASES: &[(&str, &[&str])] = &[
    ("RUN a && b c", &["Sh [a] [b c]"]),
    ("RUN --mount=type=cache,target=/x a b", &["Sh [a b]"]),
    ("CMD a b", &["Sh [a b]"]),
    ("ENTRYPOINT a b", &["Sh [a b]"]),
    ("HEALTHCHECK --interval=5s CMD a b || exit 1", &["Sh [a b] [exit 1]"]),
    ("HEALTHCHECK NONE", &[]),
    ("ONBUILD RUN a b", &["Sh [a b]"]),
    ("COPY a b", &[]),
    ("RUN", &[]),
    ("SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\nRUN a | b", &["Bash pipefail [a] [b]"]),
    ("SHELL [\"/bin/bash\", \"-c\"]", &[]),
    ("SHELL [\"powershell\", \"-Command\"]\nRUN Get-Item *", &["PowerShell Dialect [Get-Item *]"]),
    ("SHELL [\"cmd\", \"/S\", \"/C\"]\nRUN dir \\\n && a", &["Cmd Dialect [dir] [a]"]),
    (
        "SHELL [\"cmd\", \"/S\", \"/C\"]\nRUN powershell -Command \"a; \\\n # why\n b\"",
        &["Cmd Dialect [powershell -Command \"a; \\\n # why\n b\"]", "PowerShell Dialect [a] [b]"],
    ),
    ("SHELL [\"pwsh\", \"-c\"]\nRUN <<EOF\na\nb\nEOF", &["PowerShell Dialect [a] [b]"]),
    ("RUN pwsh -c 'a; b'", &["Sh [pwsh -c 'a; b']", "PowerShell Dialect [a] [b]"]),
    ("# hadolint shell=bash\nRUN a", &["Bash [a]"]),
    // Continuations, comments and blank lines within them.
    (
        "RUN a \\\n  # why \\\n\n  b c \\\n # two\n && d \"e \\\n f\"",
        &["Sh [a b c] [d \"e \\\n f\"]"],
    ),
    ("RUN foo\\\n# split\nbar baz", &["Sh [foo\\\n# split\nbar baz]"]),
    ("RUN a # the rest is a comment \\\n && b", &["Sh [a]"]),
    ("RUN a 'b \\\n c' d", &["Sh [a 'b \\\n c' d]"]),
    ("RUN a \\\r\n  && b \\\r\n  # x\r\n  c\r", &["Sh [a] [b c]"]),
    ("RUN grüße \\\n  \"für $x\" && 日本 語", &["Sh [grüße \"für $x\"] [日本 語]"]),
    // Heredocs.
    ("RUN <<EOF\na b\nc $(d)\nEOF", &["Sh [a b] [c $(d)] [d]"]),
    ("RUN <<-EOF\n\ta b\n\t\tc\n\tEOF", &["Sh [a b] [c]"]),
    ("RUN <<EOF\r\na b\r\nc\r\nEOF\r", &["Sh [a b] [c]"]),
    ("RUN <<EOF\n#!/usr/bin/env bash\nset -e\na\nEOF", &["Bash [set -e] [a]"]),
    ("RUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF", &["Other Dialect"]),
    ("RUN bash <<EOF\na b\nEOF", &["Sh [bash]", "Bash [a b]"]),
    (
        "RUN bash -eo pipefail <<-'EOF' && c\n\ta b\n\tEOF",
        &["Sh [bash -eo pipefail] [c]", "Bash pipefail [a b]"],
    ),
    ("RUN sudo sh -s x <<EOF\na\nEOF", &["Sh [sudo sh -s x]", "Sh [a]"]),
    ("RUN bash script <<EOF\na b\nEOF", &["Sh [bash script]"]),
    ("RUN python3 <<EOF\nprint(1)\nEOF", &["Sh [python3]"]),
    ("RUN cat <<EOF > /x && a\ndata $(b)\nEOF", &["Sh [cat] [b] [a]"]),
    ("RUN a <<A b <<B\none\nA\ntwo $c\nB", &["Sh [a b]"]),
    // Exec form.
    ("RUN [\"sh\", \"-c\", \"a && b\"]", &["Sh [a] [b]"]),
    ("CMD [\"/bin/bash\", \"-eo\", \"pipefail\", \"-c\", \"a | b\"]", &["Bash pipefail [a] [b]"]),
    ("ENTRYPOINT [\"tini\", \"--\", \"sh\", \"-ec\", \"exec a\"]", &["Sh [exec a]"]),
    ("RUN [\"sh\", \"-c\", \\\n \"a \\\n b\"]", &["Sh [a b]"]),
    // Escapes would need a way back that JSON does not have: the program is seen, its text is not.
    ("RUN [\"sh\", \"-c\", \"a \\\"b\\\"\"]", &["Other [sh -c \"a \\\"b\\\"\"]"]),
    ("RUN [\"apt-get\", \"update\"]", &["Other [apt-get update]"]),
    ("RUN [\"sh\", \"script\"]", &["Other [sh script]"]),
    ("RUN [\"powershell\", \"-Command\", \"dir\"]", &["PowerShell Dialect [dir]"]),
    // What is broken.
    ("RUN a && 'b", &["Sh #\"'b\""]),
    ("RUN if a; then b \\\n c", &["Sh #\"c\""]),
];

#[test]
fn the_backtick_as_escape() {
    let text = "# escape=`\nFROM a\nRUN a `\n  # why `\n  && b C:\\x `\n  c\n";
    assert_eq!(outlines(text), ["Sh [a] [b C:\\x c]"]);
}

#[test]
fn a_word_over_a_comment_is_one_word() {
    let dockerfile = parse("FROM a\nRUN foo\\\n# split\nbar\n");
    let facts = Facts::of(&dockerfile);
    let [script] = facts.scripts(&dockerfile, 1) else { panic!("one script") };
    assert_eq!(script.commands[0].name().as_deref(), Some("foobar"));
}

#[test]
fn an_index_out_of_the_file_has_no_scripts() {
    let dockerfile = parse("FROM a\n");
    assert_eq!(Facts::of(&dockerfile).scripts(&dockerfile, 9), []);
}

#[test]
fn scripts_are_parsed_once() {
    let dockerfile = parse("FROM a\nRUN b\n");
    let facts = Facts::of(&dockerfile);
    let (first, second) = (facts.scripts(&dockerfile, 1), facts.scripts(&dockerfile, 1));
    assert!(std::ptr::eq(first, second));
}

#[test]
fn too_much_is_opaque_and_many_scripts_are_parsed() {
    let many = format!("FROM a\nRUN {}\n", vec!["a"; 5_000].join(" \\\n | "));
    assert_eq!(outlines(&many), ["Sh TooManyCommands"]);
    let joined = format!("FROM a\nRUN {}\n", vec!["a"; 10_000].join(" \\\n && "));
    let dockerfile = parse(&joined);
    let facts = Facts::of(&dockerfile);
    assert_eq!(facts.scripts(&dockerfile, 1)[0].commands.len(), 10_000);
    let text = format!("FROM a\n{}", "RUN a \\\n && b \\\n # c\n && d\n".repeat(3_000));
    let dockerfile = parse(&text);
    let facts = Facts::of(&dockerfile);
    let scripts =
        (1..dockerfile.instructions.len()).flat_map(|index| facts.scripts(&dockerfile, index));
    let commands: usize = scripts.map(|script| script.commands.len()).sum();
    assert_eq!(commands, 9_000);
}

const TEXTS: &[&str] = &[
    "FROM a\nRUN a \\\n  # why\n\n  \"b $(c \\\n d)\" && e ${f:-g} | h # i\nCMD j\n",
    "# escape=`\nFROM a\nRUN a `\r\n  && b 'c' `\r\n  # x\r\n  d\r\n",
    "FROM a\nRUN <<-EOF bash -e && x\n\tset -u\n\tfor i in 1; do a \"$i\"; done\n\tEOF\n",
    "FROM a\nSHELL [\"/bin/bash\", \"-c\"]\nRUN <<EOF\na <(b) {c,d}\nx=(1 2)\nEOF\nRUN e\n",
    "FROM a\nENTRYPOINT [\"sh\", \"-c\", \"a \\\n && b\"]\nHEALTHCHECK CMD ü || 日\n",
];

const PIECES: &[&str] = &[
    "\\\n", "`\n", "\n", "\r\n", "# c\n", "'", "\"", "$(", ")", "${", "}", "<<E", "<<-E", "&&",
    "|", ";", "ü", "A=", "\t", " ", "\\", "[\"", "\"]", "bash ", "E\n", ">", "if ", "(", "{ ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_stay_within_the_instruction(
        base in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len()), 1..5),
    ) {
        let mut text = TEXTS[base].to_owned();
        for (at, edit) in edits {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            text.insert_str(at, PIECES[edit]);
        }
        let dockerfile = parse(&text);
        let facts = Facts::of(&dockerfile);
        for (index, instruction) in dockerfile.instructions.iter().enumerate() {
            for script in facts.scripts(&dockerfile, index) {
                assert_inside(&text, instruction.span, script.span);
                assert_script(&text, script);
            }
        }
    }
}

fn assert_script(text: &str, script: &Script) {
    script.blocks.iter().for_each(|block| assert_inside(text, script.span, block.span));
    script.errors().iter().for_each(|error| assert_inside(text, script.span, error.span));
    for command in &script.commands {
        assert_inside(text, script.span, command.span);
        command.words.iter().for_each(|word| assert_word(text, command.span, word));
        command
            .assignments()
            .iter()
            .for_each(|assignment| assert_inside(text, command.span, assignment.span));
        command
            .redirections()
            .iter()
            .for_each(|redirection| assert_inside(text, command.span, redirection.span));
    }
    assert_eq!(script.opaque.is_some(), script.blocks.is_empty());
}

fn assert_word(text: &str, around: Span, word: &Word) {
    assert_inside(text, around, word.span());
    for part in word.parts() {
        assert_inside(text, word.span(), part.span);
        if let PartKind::Variable(variable) = &part.kind {
            variable.operand.iter().for_each(|operand| assert_word(text, part.span, operand));
        }
    }
}

fn assert_inside(text: &str, outer: Span, inner: Span) {
    assert!(inner.slice(text).is_some(), "{inner:?} in {text:?}");
    assert!(outer.encloses(inner), "{inner:?} out of {outer:?} in {text:?}");
}
