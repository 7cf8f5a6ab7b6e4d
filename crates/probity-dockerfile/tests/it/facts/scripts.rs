//! The shell texts of instructions, by the text under the spans of their words.

use probity_dockerfile::{Dockerfile, Facts, parse};
use probity_shell::Script;

/// The scripts of the last instruction: dialect, options, and the words of each command.
fn outlines(text: &str) -> Vec<String> {
    let dockerfile = parse(text);
    let facts = Facts::of(&dockerfile);
    let last = dockerfile.instructions.len() - 1;
    let scripts = facts.scripts(&dockerfile, last);
    scripts.iter().map(|script| outline(&dockerfile, script)).collect()
}

fn outline(dockerfile: &Dockerfile<'_>, script: &Script) -> String {
    let under = |span: probity_finding::Span| span.slice(dockerfile.text).unwrap();
    let mut line = format!("{:?}", script.invocation.dialect);
    line.push_str(if script.invocation.pipefail { " pipefail" } else { "" });
    if let Some(opaque) = script.opaque {
        return format!("{line} {opaque:?}");
    }
    for command in &script.commands {
        assert!(script.span.encloses(command.span));
        let words: Vec<_> = command.words.iter().map(|word| under(word.span)).collect();
        for word in &command.words {
            assert!(command.span.encloses(word.span));
        }
        line.push_str(&format!(" [{}]", words.join(" ")));
    }
    for error in &script.errors {
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
    ("SHELL [\"powershell\", \"-Command\"]\nRUN Get-Item *", &["PowerShell Dialect"]),
    ("SHELL [\"cmd\", \"/S\", \"/C\"]\nRUN dir", &["Cmd Dialect"]),
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
    ("RUN [\"sh\", \"-c\", \"a \\\"b\\\"\"]", &[]),
    ("RUN [\"apt-get\", \"update\"]", &[]),
    ("RUN [\"sh\", \"script\"]", &[]),
    ("RUN [\"powershell\", \"-Command\", \"dir\"]", &["PowerShell Dialect"]),
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
