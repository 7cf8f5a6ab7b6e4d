//! How commands are put together.

use probity_shell::Dialect;

use crate::outline::outline;

#[test]
fn outlines() {
    for (text, expected) in CASES {
        assert_eq!(&outline(text, Dialect::Bash), expected, "{text:?}");
    }
}

const CASES: &[(&str, &str)] = &[
    ("", ""),
    ("  \n ", ""),
    ("# only a comment", ""),
    ("a", "[a]"),
    ("a b # c", "[a b]"),
    ("a && b || c; d & e\nf", "[a] && [b] || [c] ; [d]& & [e] NL [f]"),
    ("a |& b | c", "[a] |& [b] | [c]"),
    ("! a | b && c", "! [a] | [b] && [c]"),
    ("time -p a | b", "time [a] | [b]"),
    ("A=b C= d", "[A=b C=EMPTY d]"),
    ("A=1", "[A=1]"),
    (">f", "[{Output >f f}]"),
    (
        "A=$(x) b `y \\`z\\`` \"$(w \"$(v)\")\"",
        "[A=$(x)<[x]> b `y \\`z\\``<[y \\`z\\`]> \"$(w \"$(v)\")\"<[w \"$(v)\"<[v]>]>]",
    ),
    (
        "echo ${x:-$(y)} ${z%$(w)} ${a/$(b)/$(c)} $((1+$(d)))",
        "[echo ${x:-$(y)}<[y]> ${z%$(w)}<[w]> ${a/$(b)/$(c)}<[b]><[c]> $((1+$(d)))<[d]>]",
    ),
    (
        "(a; b) > f && { c; } && d",
        "Subshell( Subshell:[a] ; [b]){Output > f f} && Group( Group:[c]) && [d]",
    ),
    ("( a\n b\n)", "Subshell( Subshell:[a] NL [b])"),
    ("{ a; b & } 2>&1", "Group( Group:[a] ; [b]&){DuplicateOutput 2>&1 1}"),
    (
        "if a; then b; elif c && d; then e; else f; fi | g",
        "If( Condition:[a] Branch:[b] Condition:[c] && [d] Branch:[e] Branch:[f]) | [g]",
    ),
    (
        "for i in 1 \"$x\" *.c; do e $i; done > f; g",
        "For(i,1,\"$x\",*.c LoopBody:[e $i]){Output > f f} ; [g]",
    ),
    (
        "while read x; do y; z; done < <(w)",
        "While( Condition:[read x] LoopBody:[y] ; [z]){Input < <(w) <(w)<[w]>}",
    ),
    ("until a\ndo\nb\ndone\nc", "Until( Condition:[a] LoopBody:[b]) NL [c]"),
    (
        "case $x in a|b*) c;; (d) e; f;; *) ;; esac; g",
        "Case($x,a,b*,d,* CaseArm:[c] CaseArm:[e] ; [f] CaseArm:) ; [g]",
    ),
    (
        "f() { a; b; }; g() ( c ); function h { d; }; f",
        "Function(f Function:[a] ; [b]) ; Function(g Function:Subshell( Subshell:[c])) ; Function(h Function:[d]) ; [f]",
    ),
    (
        "a >f 2>&1 <in >>log 2>/dev/null &>both",
        "[a {Output >f f} {DuplicateOutput 2>&1 1} {Input <in in} {Append >>log log} {Output 2>/dev/null /dev/null} {OutputAndError &>both both}]",
    ),
    (
        "cat <<EOF > /x && b\nhi $X $(cmd a)\nEOF\nc",
        "[cat {EOF:<<EOF:hi $X $(cmd a)NL<[cmd a]>} {Output > /x /x}] && [b] NL [c]",
    ),
    ("cat <<-'E'\n\thi $(x)\n\tE\nb", "[cat {E:<<-'E':TABhi $(x)NL}] NL [b]"),
    ("a <<< \"$(b)\"", "[a {HereString <<< \"$(b)\" \"$(b)\"<[b]>}]"),
    (
        "x=(1 \"2 3\" $(c)); y+=z; echo ${x[@]} ${x[$(d)]}",
        "[x=(1 \"2 3\" $(c)<[c]>)] ; [y+=z] ; [echo ${x[@]} ${x[$(d)]}<[d]>]",
    ),
    ("export A=b C=\"$(d)\" E; local -r f=1", "[export A=b C=\"$(d)\"<[d]> E] ; [local -r f=1]"),
    ("A=b exit 3; return; break 2", "[A=b exit 3] ; [return] ; [break 2]"),
    ("[[ -f $a && $(b) =~ c* ]] && (( i++ )) && d", "Test($a,$(b)<[b]>,c*) && Arithmetic() && [d]"),
    ("for (( i=0; i<3; i++ )); do a; done", "For( LoopBody:[a])"),
    ("select x in a b; do c; done", "Select(a,b LoopBody:[c])"),
    ("coproc a; b", "Other( Subshell:[a]) ; [b]"),
    ("a \\\n  && b \\\n  c", "[a] && [b c]"),
    ("grüße \"für $dich\" | 日本", "[grüße \"für $dich\"] | [日本]"),
    ("((a; b) | (c && d)) & wait", "Arithmetic()& & [wait]"),
    ("if ! a; then (b) fi", "If( Condition:! [a] Branch:Subshell( Subshell:[b]))"),
];

#[test]
fn heredocs_expand_unless_their_name_is_quoted() {
    let (script, _) = crate::outline::script("a <<A <<'B' <<C\nA\nB\nC\n", Dialect::Bash);
    let documents =
        script.commands[0].redirections().iter().flat_map(|redirection| &redirection.here_document);
    let expand: Vec<_> =
        documents.map(|document| (document.delimiter.as_str(), document.expand)).collect();
    assert_eq!(expand, [("A", true), ("B", false), ("C", true)]);
}
