//! The parts of words: their kind, quotes and value, and the text under their spans.

use probity_shell::{Dialect, Part, PartKind, Quote, Word};

use crate::outline::{assert_sound, script, under};

/// The parts of the arguments of a command: quote, kind, text under the span, value if it differs.
fn parts(text: &str, dialect: Dialect) -> String {
    let (script, file) = script(text, dialect);
    assert_sound(&script, &file);
    assert_eq!(script.errors(), [], "{text}");
    let words = script.commands[0].words.iter().skip(1);
    words.map(|word| word_parts(&file, word.parts())).collect::<Vec<_>>().join(" | ")
}

fn word_parts(file: &str, parts: &[Part]) -> String {
    parts.iter().map(|it| part(file, it)).collect::<Vec<_>>().join(" ")
}

fn part(file: &str, part: &Part) -> String {
    let quote = match part.quote {
        Quote::None => "",
        Quote::Single => "'",
        Quote::Double => "\"",
    };
    let written = under(file, part.span).escape_debug().to_string();
    let value = |text: &str| match text.escape_debug().to_string() {
        text if text == written => String::new(),
        text => format!("={text}"),
    };
    let kind = match &part.kind {
        PartKind::Text(text) => format!("text:{written}{}", value(text)),
        PartKind::Glob(_) => format!("glob:{written}"),
        PartKind::Brace(_) => format!("brace:{written}"),
        PartKind::Tilde(_) => format!("tilde:{written}"),
        PartKind::Substitution { backticks, .. } => format!("command({backticks}):{written}"),
        PartKind::ProcessSubstitution { .. } => format!("process:{written}"),
        PartKind::Arithmetic(parts) => format!("math:{written}<{}>", word_parts(file, parts)),
        PartKind::Variable(it) => {
            let operand = it.operand.as_ref().map(|word| word_parts(file, word.parts()));
            let operand = operand.map(|it| format!("<{it}>")).unwrap_or_default();
            format!("{}:{:?}:{written}{operand}", it.name, it.operation)
        }
    };
    format!("{quote}{kind}")
}

#[test]
fn parts_of_words() {
    for (text, expected) in CASES {
        assert_eq!(&parts(text, Dialect::Bash), expected, "{text:?}");
    }
}

const CASES: &[(&str, &str)] = &[
    ("e a", "text:a"),
    ("e 'a b' \"c d\" e\\ f", "'text:a b | \"text:c d | text:e text:\\\\ f= f"),
    ("e '' \"\"", "'text: | \"text:"),
    ("e a'b'\"c\"d", "text:a 'text:b \"text:c text:d"),
    ("e \"a\\\"b\\$c\\n\"", "\"text:a\\\\\\\"b\\\\$c\\\\n=a\\\\\\\"b$c\\\\n"),
    ("e $'a\\nb'", "'text:a\\\\nb=a\\nb"),
    (
        "e $A ${B} \"$C d\" $1 $@ $?",
        "A:Value:$A | B:Value:${B} | \"C:Value:$C \"text: d | 1:Value:$1 | @:Value:$@ | ?:Value:$?",
    ),
    (
        "e ${A:-b} ${A-} ${A:=b} ${A:+b} ${A:?b c} ${#A}",
        "A:Default { colon: true }:${A:-b}<text:b> | A:Default { colon: false }:${A-}<> | A:Assign { colon: true }:${A:=b}<text:b> | A:Alternative { colon: true }:${A:+b}<text:b> | A:Require { colon: true }:${A:?b c}<text:b c> | A:Length:${#A}",
    ),
    (
        "e ${A:-\"$B c\"} \"${A:-${B:-c}}\"",
        "A:Default { colon: true }:${A:-\\\"$B c\\\"}<\"B:Value:$B \"text: c> | \"A:Default { colon: true }:${A:-${B:-c}}<\"B:Default { colon: true }:${B:-c}<\"text:c>>",
    ),
    (
        "e ${A%.*} ${A##*/} ${A/b/c} ${A:1:2} ${!A}",
        "A:Other:${A%.*}<text:. glob:*> | A:Other:${A##*/}<glob:* text:/> | A:Other:${A/b/c}<text:b text:c> | A:Other:${A:1:2}<\"text:1> | A:Other:${!A}",
    ),
    (
        "e $(a) `b` \"$(c)\" <(d)",
        "command(false):$(a) | command(true):`b` | \"command(false):$(c) | process:<(d)",
    ),
    ("e $((1 + $A))", "math:$((1 + $A))<\"A:Value:$A>"),
    (
        "e *.c a?b [a-z]x '*' \\* \"?\"",
        "glob:* text:.c | text:a glob:? text:b | glob:[a-z] text:x | 'text:* | text:\\\\*=* | \"text:?",
    ),
    ("e {a,b}c {1..3} {a}", "brace:{a,b} text:c | brace:{1..3} | text:{a}"),
    (
        "e ~ ~/a ~root/b a~ \"~\"",
        "tilde:~ | tilde:~ text:/a | tilde:~root text:/b | text:a~ | \"text:~",
    ),
    (
        "e ${A[0]} ${A[@]} ${#A[@]}",
        "A:Other:${A[0]}<\"text:0> | A:Other:${A[@]} | A:Length:${#A[@]}",
    ),
    ("e a\\\nb --x=$Y/\"z\"*", "text:a text:b | text:--x= Y:Value:$Y text:/ \"text:z glob:*"),
];

#[test]
fn braces_stay_where_the_shell_does_not_expand_them() {
    assert_eq!(parts("e {a,b}", Dialect::Dash), "text:{a,b}");
}

#[test]
fn values_of_words() {
    let cases: &[(&str, Option<&str>, Option<&str>, &str)] = &[
        ("a", Some("a"), Some("a"), "a"),
        ("'a b'\"c\"\\ d", Some("a bc d"), Some("a bc d"), "a bc d"),
        ("''", Some(""), Some(""), ""),
        ("/lists/*", None, Some("/lists/*"), "/lists/"),
        ("a$B", None, None, "a"),
        ("$(c)d", None, None, ""),
        ("~/x", None, Some("~/x"), ""),
    ];
    for (text, literal, pattern, prefix) in cases {
        let (script, _) = script(&format!("e {text}"), Dialect::Bash);
        let word: &Word = &script.commands[0].words[1];
        assert_eq!(word.literal().as_deref(), *literal, "{text}");
        assert_eq!(word.pattern().as_deref(), *pattern, "{text}");
        assert_eq!(&word.prefix(), prefix, "{text}");
    }
}

#[test]
fn variables_of_a_word() {
    let (script, file) = script("e a${B:-$C}$((D+$E))\"$F\" $(g $H)", Dialect::Bash);
    let words = &script.commands[0].words;
    let variables = words.iter().flat_map(Word::variables);
    let found: Vec<_> =
        variables.map(|(part, variable)| (under(&file, part.span), &*variable.name)).collect();
    assert_eq!(found, [("${B:-$C}", "B"), ("$C", "C"), ("$E", "E"), ("$F", "F")]);
}

#[test]
fn quotes_of_a_word() {
    for (text, quoted) in
        [("a", false), ("\\a", false), ("a'b'", true), ("\"$a\"", true), ("''", true)]
    {
        let (script, _) = script(&format!("e {text}"), Dialect::Bash);
        assert_eq!(script.commands[0].words[1].is_quoted(), quoted, "{text}");
    }
}
