//! Word expansion, case by case.

mod properties;

use std::collections::BTreeMap;

use super::{ExpandError, ExpandErrorKind, Expander, Expansion, Operator};

/// The variables that the tables below refer to.
const VARIABLES: &[(&str, &str)] = &[
    ("HOME", "/home/me"),
    ("NULL", ""),
    ("FILE", "src/lib/mod.test.rs"),
    ("TWO", "one two"),
    ("한국어", "말"),
    ("STARS", "a*b**c"),
    ("LINES", "ab\ncd"),
    ("ANY", "*"),
    ("1", "first"),
    ("@", "all"),
    ("PATH", "/bin:/usr/bin:/usr/local/bin"),
];

fn with<T>(escape: char, run: impl FnOnce(Expander<'_>) -> T) -> T {
    let map: BTreeMap<&str, &str> = VARIABLES.iter().copied().collect();
    let lookup = |name: &str| map.get(name).copied();
    run(Expander::new(escape, &lookup))
}

fn expand(word: &str) -> Result<Expansion, ExpandError> {
    with('\\', |expander| expander.expand(word))
}

fn check_texts(cases: &[(&str, &str)]) {
    for (word, expected) in cases {
        match expand(word) {
            Ok(expansion) => assert_eq!(&expansion.text, expected, "{word}"),
            Err(error) => panic!("{word}: {error}"),
        }
    }
}

#[test]
fn plain_references_are_replaced() {
    check_texts(&[
        ("", ""),
        ("plain", "plain"),
        ("  two  spaces ", "  two  spaces "),
        ("$HOME", "/home/me"),
        ("${HOME}", "/home/me"),
        ("a$HOME.b", "a/home/me.b"),
        ("$HOMEb", ""),
        ("${HOME}b", "/home/meb"),
        ("$한국어", "말"),
        ("${한국어}!", "말!"),
        ("$UNSET|${UNSET}|$NULL", "||"),
        ("$", "$"),
        ("a$ b", "a$ b"),
        ("$.", "$."),
        ("100$%", "100$%"),
        ("$(date)", "$(date)"),
        ("$1", "first"),
        ("$1st", "firstst"),
        ("$10", ""),
        ("${1}", "first"),
        ("$@x", "allx"),
        ("${@}", "all"),
        ("$$", ""),
        ("$$HOME", "HOME"),
        ("$?$!$#$*$-$0", ""),
    ]);
}

#[test]
fn quotes_and_escapes_protect() {
    check_texts(&[
        ("'$HOME'", "$HOME"),
        (r"'a\'", r"a\"),
        (r#"'"'"#, "\""),
        ("a'b'c", "abc"),
        ("\"$HOME\"", "/home/me"),
        ("\"it's ${NULL:-'quoted'}\"", "it's quoted"),
        (r#""a\"b""#, "a\"b"),
        (r#""\$HOME""#, "$HOME"),
        (r#""a\\b""#, r"a\b"),
        (r#""a\nb""#, r"a\nb"),
        (r#""\'""#, r"\'"),
        (r"\$HOME", "$HOME"),
        (r"\\$HOME", r"\/home/me"),
        (r"a\b", "ab"),
        (r"a\ b", "a b"),
        (r"\'\x\'", "'x'"),
        (r"end\", "end"),
        (r"\", ""),
        ("\"\"", ""),
        ("''", ""),
        ("`$HOME`", "`/home/me`"),
    ]);
}

#[test]
fn the_escape_character_can_be_a_backtick() {
    let cases = [
        ("`$HOME", "$HOME"),
        (r"C:\$HOME", r"C:\/home/me"),
        (r#""`"\""#, r#""\"#),
        ("``", "`"),
        ("\"a`b\"", "a`b"),
        // A pattern escapes with a backslash whatever the file's escape character is.
        (r"${STARS#a\*}", "b**c"),
    ];
    for (word, expected) in cases {
        let text = with('`', |expander| expander.expand(word)).unwrap().text;
        assert_eq!(text, expected, "{word}");
    }
}

#[test]
fn defaults_alternatives_and_requirements() {
    check_texts(&[
        ("${UNSET:-d}", "d"),
        ("${UNSET-d}", "d"),
        ("${NULL:-d}", "d"),
        ("${NULL-d}", ""),
        ("${HOME:-d}", "/home/me"),
        ("${HOME-d}", "/home/me"),
        ("${UNSET:-}", ""),
        ("${UNSET:--}", "-"),
        ("${UNSET:-$HOME}", "/home/me"),
        ("${UNSET:-${NULL:-${HOME}/x}}/y", "/home/me/x/y"),
        ("${UNSET:-a b}", "a b"),
        ("${UNSET:-'}'}", "}"),
        (r"${UNSET:-\}}", "}"),
        ("${UNSET:-\"$HOME\"}", "/home/me"),
        ("${UNSET:-a{b}c}", "a{bc}"),
        ("${UNSET:+a}", ""),
        ("${UNSET+a}", ""),
        ("${NULL:+a}", ""),
        ("${NULL+a}", "a"),
        ("${HOME:+a}", "a"),
        ("${HOME+a}", "a"),
        ("${HOME:+:$HOME}", ":/home/me"),
        ("${HOME:?e}", "/home/me"),
        ("${HOME?e}", "/home/me"),
        ("${NULL?e}", ""),
        ("${+a}", ""),
        ("${UNSET:-:}", ":"),
    ]);
}

#[test]
fn prefixes_and_suffixes_are_trimmed() {
    check_texts(&[
        ("${FILE#src/}", "lib/mod.test.rs"),
        ("${FILE#*/}", "lib/mod.test.rs"),
        ("${FILE##*/}", "mod.test.rs"),
        ("${FILE#lib}", "src/lib/mod.test.rs"),
        ("${FILE#???}", "/lib/mod.test.rs"),
        ("${FILE#*}", "src/lib/mod.test.rs"),
        ("${FILE##*}", ""),
        ("${FILE#}", "src/lib/mod.test.rs"),
        ("${FILE##}", "src/lib/mod.test.rs"),
        ("${FILE%.rs}", "src/lib/mod.test"),
        ("${FILE%.*}", "src/lib/mod.test"),
        ("${FILE%%.*}", "src/lib/mod"),
        ("${FILE%/*}", "src/lib"),
        ("${FILE%%/*}", "src"),
        ("${FILE%mod}", "src/lib/mod.test.rs"),
        ("${FILE%%s*s}", ""),
        ("${FILE%s*s}", "src/lib/mod.te"),
        (r"${STARS#a\*}", "b**c"),
        (r"${STARS%\*?}", "a*b*"),
        (r"${STARS%%\**}", "a"),
        (r"${STARS%%\*\**}", "a*b"),
        ("${STARS#a$ANY}", "*b**c"),
        ("${STARS##a$ANY}", ""),
        ("${FILE#*s*l}", "ib/mod.test.rs"),
        ("${LINES##*}", "\ncd"),
        ("${UNSET#x}", ""),
        ("${한국어%말}", ""),
        ("${FILE%[a-z]}", "src/lib/mod.test.rs"),
    ]);
}

#[test]
fn matches_are_replaced() {
    check_texts(&[
        ("${PATH/bin/sbin}", "/sbin:/usr/bin:/usr/local/bin"),
        ("${PATH//bin/sbin}", "/sbin:/usr/sbin:/usr/local/sbin"),
        (r"${PATH//\//_}", "_bin:_usr_bin:_usr_local_bin"),
        ("${PATH//:/ }", "/bin /usr/bin /usr/local/bin"),
        ("${PATH/:*:/:}", "/bin:/usr/local/bin"),
        ("${PATH//???/x}", "xxxxxxxxxn"),
        ("${PATH/none/x}", "/bin:/usr/bin:/usr/local/bin"),
        ("${TWO// /}", "onetwo"),
        ("${TWO/*/x}", "x"),
        ("${TWO//o/}", "ne tw"),
        (r"${STARS//\*/+}", "a+b++c"),
        ("${STARS/$ANY/x}", "x"),
        ("${NULL/x/y}", ""),
        ("${UNSET//x/y}", ""),
        ("${TWO///}", "one two"),
        ("${TWO/$NULL/x}", "xone two"),
        ("${한국어//말/글}", "글"),
        // An empty pattern matches between all characters.
        ("${한국어//$NULL/-}", "-말-"),
        // The replacement of all matches is a template, that of one match is not.
        ("${TWO//o/'<$0>'}", "<o>ne tw<o>"),
        ("${TWO//o/'$$'}", "$ne tw$"),
        ("${TWO//o/'$name'}", "ne tw"),
        ("${TWO//o/'$'}", "$ne tw$"),
        ("${TWO/o/'$0'}", "$0ne two"),
        (r"${TWO//o/a\}b}", r"a\}bne twa\}b"),
    ]);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    use ExpandErrorKind as Kind;
    let unsupported = |modifier: &str| Kind::UnsupportedModifier { modifier: modifier.to_owned() };
    let invalid = |pattern: &str| Kind::InvalidPattern { pattern: pattern.to_owned() };
    let required = |name: &str, message: &str| Kind::Required {
        name: name.to_owned(),
        message: message.to_owned(),
    };
    let cases = [
        ("a${", Kind::MissingBrace, "${"),
        ("a${HOME", Kind::MissingBrace, "${HOME"),
        ("${HOME:", Kind::MissingBrace, "${HOME:"),
        ("${HOME:}", Kind::MissingBrace, "${HOME:}"),
        ("${HOME:-x", Kind::MissingBrace, "${HOME:-x"),
        ("${HOME/a/b", Kind::MissingBrace, "${HOME/a/b"),
        (r"${HOME:-x\}", Kind::MissingBrace, r"${HOME:-x\}"),
        ("${HOME/a}", Kind::MissingSlash, "${HOME/a}"),
        ("${HOME//}", Kind::MissingSlash, "${HOME//}"),
        ("x${}", Kind::BadSubstitution, "${"),
        ("${{HOME}}", Kind::BadSubstitution, "${"),
        ("${:-x}", Kind::BadSubstitution, "${"),
        ("'abc", Kind::UnclosedSingleQuote, "'abc"),
        ("x\"abc", Kind::UnclosedDoubleQuote, "\"abc"),
        (r#""abc\"#, Kind::UnclosedDoubleQuote, r#""abc\"#),
        ("${HOME=x}", unsupported("="), "${HOME="),
        ("${HOME:=x}", unsupported(":="), "${HOME:=x}"),
        ("${UNSET:=x}y", unsupported(":="), "${UNSET:=x}"),
        ("${HOME:0:1}", unsupported(":0"), "${HOME:0:1}"),
        ("${HOME:#x}", unsupported(":#"), "${HOME:#"),
        ("${HOME:%x}", unsupported(":%"), "${HOME:%"),
        ("${#HOME}", unsupported("H"), "${#H"),
        ("${ HOME}", unsupported(" "), "${ "),
        ("${HOME^^}", unsupported("^"), "${HOME^"),
        ("${!HOME}", unsupported("H"), "${!H"),
        (r"${HOME#\x}", invalid(r"\x"), r"${HOME#\x}"),
        (r"${UNSET%%\x}", invalid(r"\x"), r"${UNSET%%\x}"),
        (r"${HOME/\a/b}", invalid(r"\a"), r"${HOME/\a/b}"),
        ("${UNSET:?}", required("UNSET", "is not allowed to be unset"), "${UNSET:?}"),
        ("${UNSET?}", required("UNSET", "is not allowed to be unset"), "${UNSET?}"),
        ("${NULL:?}", required("NULL", "is not allowed to be empty"), "${NULL:?}"),
        ("${NULL:?set $HOME}", required("NULL", "set /home/me"), "${NULL:?set $HOME}"),
        ("${UNSET:-${UNSET?in}}", required("UNSET", "in"), "${UNSET?in}"),
    ];
    for (word, kind, part) in cases {
        let error = expand(word).expect_err(word);
        assert_eq!(error.kind, kind, "{word}");
        assert_eq!(&word[error.range], part, "{word}");
    }
}

#[test]
fn references_point_into_the_word() {
    let word = "a$HOME ${UNSET:-${NOT:+$NULL}} '$no' \\$no \"${FILE%/*}\"";
    let expansion = expand(word).unwrap();
    let show = |references: &[super::Reference]| -> Vec<(String, String, Option<Operator>)> {
        references
            .iter()
            .map(|reference| {
                assert_eq!(word[reference.name_range.clone()], reference.name);
                let part = word[reference.range.clone()].to_owned();
                (reference.name.clone(), part, reference.operator)
            })
            .collect()
    };
    let entry = |name: &str, part: &str, operator| (name.to_owned(), part.to_owned(), operator);
    assert_eq!(
        show(&expansion.used),
        [
            entry("HOME", "$HOME", None),
            entry("NULL", "$NULL", None),
            entry("FILE", "${FILE%/*}", Some(Operator::TrimSuffix)),
        ]
    );
    assert_eq!(
        show(&expansion.unmatched),
        [
            entry("UNSET", "${UNSET:-${NOT:+$NULL}}", Some(Operator::Default)),
            entry("NOT", "${NOT:+$NULL}", Some(Operator::Alternative)),
        ]
    );
}

#[test]
fn an_operand_counts_even_where_it_is_not_used() {
    let expansion = expand("${HOME:-$OTHER}").unwrap();
    assert_eq!(expansion.text, "/home/me");
    assert_eq!(expansion.unmatched[0].name, "OTHER");
}

#[test]
fn unset_variables_can_be_kept_as_written() {
    let cases = [
        ("$UNSET.x", "$UNSET.x"),
        ("${UNSET}", "${UNSET}"),
        ("${UNSET:-$HOME}", "${UNSET:-/home/me}"),
        ("${UNSET-a}", "${UNSET-a}"),
        ("${UNSET:=a}", "${UNSET:=a}"),
        ("${UNSET?e}", "${UNSET?e}"),
        ("${UNSET#a*}", "${UNSET#a*}"),
        ("${UNSET//a/b}", "${UNSET/a/b}"),
        ("$HOME", "/home/me"),
        ("$", "$"),
    ];
    for (word, expected) in cases {
        let text = with('\\', |expander| expander.keep_unset().expand(word)).unwrap().text;
        assert_eq!(text, expected, "{word}");
    }
}

#[test]
fn quotes_and_escapes_can_be_kept() {
    let kept = |word: &str| {
        with('\\', |expander| expander.keep_quotes().keep_escapes().expand(word)).unwrap().text
    };
    assert_eq!(kept(r#"'a b'"$HOME"\$x"#), r#"'a b'"/home/me"\$x"#);
    assert_eq!(kept(r#""\"""#), r#""\"""#);
    let as_text =
        |word: &str| with('\\', |expander| expander.quotes_are_text().expand(word)).unwrap().text;
    assert_eq!(as_text("it's \"$HOME\""), "it's \"/home/me\"");
    assert_eq!(as_text(r"\$HOME"), "$HOME");
}

#[test]
fn words_are_split_after_expansion() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("", &[]),
        ("  ", &[]),
        ("a b\tc", &[("a", "a"), ("b", "b"), ("c", "c")]),
        ("  a  ", &[("a", "a")]),
        ("$TWO", &[("one", "$TWO"), ("two", "$TWO")]),
        ("x$TWO.y", &[("xone", "x$TWO"), ("two.y", "$TWO.y")]),
        ("\"$TWO\"", &[("one two", "\"$TWO\"")]),
        ("'a b'c d", &[("a bc", "'a b'c"), ("d", "d")]),
        (r"a\ b c", &[("a b", r"a\ b"), ("c", "c")]),
        ("\"\" a", &[("a", "a")]),
        ("$NULL $UNSET", &[]),
        ("a $NULL b", &[("a", "a"), ("b", "b")]),
        ("${UNSET:-x y}", &[("x", "${UNSET:-x y}"), ("y", "${UNSET:-x y}")]),
        // What stands before an operand in the same word is lost, as in BuildKit.
        ("80${UNSET:-90}/tcp", &[("90/tcp", "${UNSET:-90}/tcp")]),
        ("80${HOME}/tcp", &[("80/home/me/tcp", "80${HOME}/tcp")]),
    ];
    for (text, expected) in cases {
        let words = with('\\', |expander| expander.expand_words(text)).unwrap();
        let words: Vec<(&str, &str)> =
            words.iter().map(|word| (word.text.as_str(), &text[word.range.clone()])).collect();
        assert_eq!(&words, expected, "{text}");
    }
}

#[test]
fn nesting_and_growth_are_bounded() {
    let nested = |depth: usize| format!("{}x{}", "${U:-".repeat(depth), "}".repeat(depth));
    assert_eq!(expand(&nested(200)).unwrap().text, "x");
    assert_eq!(expand(&nested(201)).unwrap_err().kind, ExpandErrorKind::TooDeep);

    let large = "a".repeat(1 << 20);
    let lookup = |_: &str| Some(large.as_str());
    let expander = Expander::new('\\', &lookup);
    assert_eq!(expander.expand(&"$A".repeat(15)).unwrap().text.len(), 15 << 20);
    assert_eq!(expander.expand(&"$A".repeat(17)).unwrap_err().kind, ExpandErrorKind::TooLarge);
    let stars = format!("${{A#{}b}}", "*a".repeat(1000));
    assert_eq!(expander.expand(&stars).unwrap_err().kind, ExpandErrorKind::TooLarge);
}
