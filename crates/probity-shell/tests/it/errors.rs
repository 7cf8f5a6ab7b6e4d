//! Broken shell: where it is broken, and what is understood all the same.

use probity_shell::{Dialect, Invocation, Opaque, parse};

use crate::outline::outline;

#[test]
fn errors_have_places() {
    for (text, expected) in CASES {
        assert_eq!(&outline(text, Dialect::Bash), expected, "{text:?}");
    }
}

const CASES: &[(&str, &str)] = &[
    ("a; echo 'b", " #'b:syntax error: unterminated single quote"),
    ("a\necho \"b", "[a] #\"b:syntax error: unterminated double quote"),
    ("a\necho $(b", "[a] #$(b:syntax error: unterminated command substitution"),
    ("a\necho `b", "[a] #`b:syntax error: unterminated backtick substitution"),
    ("a\necho ${b", "[a] NL [echo ${b]"),
    ("a\n(b", "[a] #b:expected ')' to close subshell"),
    ("a\n{ b", "[a] #b:expected '}' to close brace group"),
    ("a\nif b", "[a] #b:expected 'then'"),
    ("a\nif b; then c", "[a] #c:expected 'fi'"),
    ("a\nfor x in y; do z", "[a] #z:expected 'done'"),
    ("a\nwhile b", "[a] #b:expected 'do'"),
    ("a\ncase b in", "[a] #in:expected 'esac'"),
    ("a\nf() {", "[a] #{:expected '}' to close brace group"),
    ("a\nb &&", "[a] #&&:expected command after &&"),
    ("a\nb |", "[a] #|:expected command after |"),
    ("a\n&& b", "[a] NL [b] #&&:expected command"),
    ("a; )", "[a] #):expected command"),
    ("a\nb >", "[a] #>:expected word"),
    ("cat <<EOF\na", "[cat {EOF:<<EOF:a}]"),
    ("a=(b", "[a=(EMPTY)]"),
    ("[[ a", " #a:unexpected end of input in [[ ]]"),
    ("a \\", "[a \\]"),
];

#[test]
fn bash_in_sh_is_no_error_but_in_dash() {
    let text = "[[ a == b ]] && c";
    assert_eq!(outline(text, Dialect::Sh), "Test(a,b) && [c]");
    assert_eq!(outline(text, Dialect::Ash), "Test(a,b) && [c]");
    assert!(outline(text, Dialect::Dash).contains("#[[:"));
}

#[test]
fn other_languages_are_opaque() {
    for dialect in [Dialect::PowerShell, Dialect::Cmd, Dialect::Other] {
        let script = parse("if (a) { b }", 3, Invocation::plain(dialect));
        assert_eq!(script.opaque, Some(Opaque::Dialect));
        assert_eq!((script.span.start, script.span.end), (3, 15));
    }
}
