//! Texts that one shell gives to another: found, and each word under its own span.

use probity_shell::{Dialect, Script};

use crate::outline::{assert_sound, script, under};

/// The commands of every text within this one, each as the text under its span, and how its shell
/// is started.
fn inner(text: &str) -> Vec<String> {
    let (script, file) = script(text, Dialect::Sh);
    assert_sound(&script, &file);
    let mut found = Vec::new();
    collect(&script, &file, &mut found);
    found
}

fn collect(script: &Script, file: &str, found: &mut Vec<String>) {
    for inner in script.inner() {
        for command in &inner.commands {
            let words: Vec<_> = command.words.iter().map(|word| under(file, word.span())).collect();
            let pipefail = if inner.invocation.pipefail { "+" } else { "" };
            found.push(format!("{:?}{pipefail}: {}", inner.invocation.dialect, words.join("|")));
        }
        collect(inner, file, found);
    }
}

#[test]
fn the_word_behind_dash_c_is_shell_again() {
    let cases: &[(&str, &[&str])] = &[
        ("bash -c 'a b && c'", &["Bash: a|b", "Bash: c"]),
        ("sh -c \"a b\"", &["Sh: a|b"]),
        ("bash -lc a", &["Bash: a"]),
        ("bash -eo pipefail -c 'a | b'", &["Bash+: a", "Bash+: b"]),
        ("bash -o pipefail --norc -c 'a'", &["Bash+: a"]),
        ("sudo -u me /bin/sh -c 'a'", &["Sh: a"]),
        ("x && env A=b zsh -c 'a' y z", &["Zsh: a"]),
        ("su -c 'a b' me", &["Sh: a|b"]),
        ("su - me -c 'a b'", &["Sh: a|b"]),
        ("busybox sh -c 'a'", &["Sh: a"]),
        // Variables are words as ever; what is written is under the span.
        ("bash -c \"a $B c\"", &["Bash: a|$B|c"]),
        ("bash -c \"a \\\"b c\\\" \\$d\"", &["Bash: a|\"b c\\\"|$d"]),
        ("bash -c 'a; sh -c \"b c\"'", &["Bash: a", "Bash: sh|-c|\"b c\"", "Sh: b|c"]),
        ("(cd x && bash -c 'a')", &["Bash: a"]),
    ];
    for (text, expected) in cases {
        assert_eq!(inner(text), *expected, "{text}");
    }
}

#[test]
fn what_is_no_text_for_a_shell_is_left_alone() {
    let cases = [
        "bash script.sh -c x",
        "bash -x script",
        "bash -c",
        "bash",
        "echo bash -c 'a'",
        "python -c 'a b'",
        // The shell around it runs what stands in `$(…)`, and knows it already.
        "bash -c \"a $(b)\"",
        "bash -c $X",
        // Made of pieces, or no shell once it is unquoted.
        "bash -c 'a '\"b\"",
        "bash -c 'a ('",
        "bash -c $'a'",
        "powershell -c 'a'",
    ];
    for text in cases {
        assert_eq!(inner(text), [""; 0], "{text}");
    }
}

#[test]
fn texts_within_texts_end_somewhere() {
    let mut text = "a".to_owned();
    for _ in 0..12 {
        text = format!("sh -c \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    }
    assert_eq!(inner(&text).len(), 3);
}
