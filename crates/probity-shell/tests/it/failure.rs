//! What becomes of a failing command.

use probity_shell::{Dialect, Invocation, parse};

/// The commands of a text whose failure is ignored, by name.
fn ignored(text: &str, argv: &[&str]) -> String {
    let script = parse(text, 0, Invocation::of_argv(argv));
    assert_eq!(script.errors(), [], "{text}");
    let names = script.commands.iter().filter(|command| script.ignores_failure(command));
    names.filter_map(|command| command.name()).collect::<Vec<_>>().join(" ")
}

#[test]
fn failures_that_are_ignored() {
    let plain: &[(&str, &str)] = &[
        ("a", ""),
        ("a && b && c", ""),
        ("a; b", "a"),
        ("a\nb", "a"),
        ("a && b; c", "a b"),
        ("a || true", "a"),
        ("a && b || c", "a b"),
        ("a || b && c", "a"),
        ("a | b", "a"),
        ("a | b | c && d", "a b"),
        ("! a", "a"),
        ("a & b", "a"),
        ("(a && b) && c", ""),
        ("(a; b) && c", "a"),
        ("{ a && b; } || c", "a b"),
        ("if a; then b; else c; fi", "a"),
        ("while a; do b; done", "a b"),
        ("echo $(a)", "a"),
        ("f() { a; }; f", ""),
        ("set -e; a; b", "set"),
        ("set -e; a && b; c", "set a"),
        ("set -eo pipefail; a | b; c", "set"),
        ("set -o pipefail && a | b", ""),
        ("set -e; set +e; a; b", "set a"),
        ("(set -e; a); b", "set a"),
        ("set -eux; for i in 1; do a; b; done", "set"),
    ];
    for (text, expected) in plain {
        assert_eq!(&ignored(text, &["bash"]), expected, "{text}");
    }
    assert_eq!(ignored("a | b; c", &["bash", "-eo", "pipefail", "-c"]), "");
    assert_eq!(ignored("a | b; c", &["bash", "-e", "-c"]), "a");
}

#[test]
fn options_follow_set() {
    let text = "a; set -euo pipefail; b; (set +u; c); d";
    let script = parse(text, 0, Invocation::plain(Dialect::Bash));
    let shown =
        script.commands.iter().filter(|command| !command.call().is_any(&["set"])).map(|command| {
            let options = script.options_at(command);
            let name = command.name().unwrap_or_default();
            format!("{name}:{}{}{}", options.errexit, options.nounset, options.pipefail)
        });
    let shown: Vec<_> = shown.collect();
    let expected = ["a:falsefalsefalse", "b:truetruetrue", "c:truefalsetrue", "d:truetruetrue"];
    assert_eq!(shown, expected);
}
