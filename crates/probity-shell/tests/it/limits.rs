//! What is too much is left alone, and what is not costs in proportion to its length.

use probity_shell::{Dialect, Opaque};

use crate::outline::{assert_sound, script, under};

const DIALECTS: &[Dialect] =
    &[Dialect::Sh, Dialect::Dash, Dialect::Ash, Dialect::Bash, Dialect::Mksh, Dialect::Zsh];

#[test]
fn too_much_is_read_without_its_structure() {
    let cases: &[(&str, String, Opaque)] = &[
        ("many pipes", vec!["a"; 5_000].join("|"), Opaque::TooManyCommands),
        ("fewer parentheses", "(".repeat(60_000), Opaque::TooDeep),
        ("substitutions", "a $(".repeat(10_000), Opaque::TooDeep),
        ("defaults", "${a:-".repeat(10_000), Opaque::TooDeep),
        ("groups", "{ ".repeat(20_000), Opaque::TooDeep),
        ("conditions", "if a; then ".repeat(2_000), Opaque::TooDeep),
        ("loops", "while a; do ".repeat(2_000), Opaque::TooDeep),
        ("loops in loops", "for a in b; do ".repeat(2_000), Opaque::TooDeep),
        ("many substitutions", "$(a)".repeat(4_000), Opaque::TooManyCommands),
        ("many heredocs", "<<E ".repeat(4_000), Opaque::TooManyCommands),
        ("cases", "case a in b) ".repeat(2_000), Opaque::TooDeep),
    ];
    for (name, text, expected) in cases {
        for dialect in DIALECTS {
            let (script, file) = script(text, *dialect);
            assert_eq!(script.opaque, Some(*expected), "{name} in {dialect:?}");
            assert!(script.blocks.len() <= 1, "{name} in {dialect:?}");
            assert_sound(&script, &file);
        }
    }
}

/// The commands are there with their words, whatever is around them.
#[test]
fn commands_are_seen_in_whatever_is_too_much() {
    let deep = |open: &str, close: &str| {
        format!("{}; p i 'x y' \"$z\"{}", open.repeat(100), close.repeat(100))
    };
    let cases: &[(&str, String)] = &[
        ("subshells", deep("( a; ", " )").replace("a; ;", "a;")),
        ("groups", deep("{ a; ", "; }").replace("a; ;", "a;")),
        ("conditions", deep("if a; then b; ", "; fi").replace("b; ;", "b;")),
        ("else", deep("if a; then b; else c; ", "; fi").replace("c; ;", "c;")),
        ("loops", deep("for a in b; do c; ", "; done").replace("c; ;", "c;")),
        ("cases", deep("case a in b) c; ", ";; esac").replace("c; ;", "c;")),
        ("pipes", format!("p i 'x y' \"$z\" | {}", vec!["a"; 2_000].join(" | "))),
        ("substitutions", format!("a {}; p i 'x y' \"$z\"", "$(b)".repeat(2_000))),
        ("quoted", format!("a \"{}\" && p i 'x y' \"$z\"", "$(b 'c')".repeat(2_000))),
        ("in a substitution", format!("a {} $(p i 'x y' \"$z\")", "$(b)".repeat(2_000))),
        ("arithmetic", format!("a {}; p i 'x y' \"$z\"", "$((1 + (2)))".repeat(2_000))),
        ("here-documents", {
            let many = "a <<E && ".repeat(600);
            format!("{many} p i 'x y' \"$z\"\n{}", "p not\nE\n".repeat(600))
        }),
    ];
    for (name, text) in cases {
        let (script, file) = script(text, Dialect::Bash);
        assert!(script.opaque.is_some(), "{name}");
        assert!(script.errors().is_empty(), "{name}: {:?}", script.errors());
        let found = script.commands.iter().filter(|command| command.name().as_deref() == Some("p"));
        let found: Vec<Vec<&str>> = found
            .map(|command| command.words.iter().map(|word| under(&file, word.span())).collect())
            .collect();
        assert_eq!(found, [["p", "i", "'x y'", "\"$z\""]], "{name}");
        assert_sound(&script, &file);
    }
}

/// A here-document among many commands does not hide them, and its body is none of them.
#[test]
fn many_commands_around_a_here_document_are_parsed() {
    let many = vec!["a b"; 1_500].join(" && ");
    let text = format!("{many} && cat <<'E' > f\nno && c\nE\n{many}; x <<<y; {many}\n");
    let (script, file) = script(&text, Dialect::Bash);
    assert_eq!((script.opaque, script.errors().len()), (None, 0));
    assert_eq!(script.commands.len(), 4_502);
    assert_sound(&script, &file);
}

#[test]
fn closed_nesting_is_limited_too() {
    let text = format!("{}b{}", "if a; then ".repeat(4_000), "; fi".repeat(4_000));
    assert_eq!(script(&text, Dialect::Bash).0.opaque, Some(Opaque::TooDeep));
    let text = format!("{}b{}", "if a\nthen ".repeat(1_000), "\nfi".repeat(1_000));
    assert_eq!(script(&text, Dialect::Bash).0.opaque, Some(Opaque::TooDeep));
}

#[test]
fn a_lot_is_parsed() {
    let cases: &[(&str, String, usize)] = &[
        ("commands", vec!["a b"; 6_000].join(" && "), 6_000),
        ("alternatives", vec!["a b"; 2_000].join(" || "), 2_000),
        ("statements", vec!["a b"; 6_000].join("; "), 6_000),
        ("lines", "a b\n".repeat(6_000), 6_000),
        ("a group", format!("{{ {}; }}", vec!["a $(b)"; 1_500].join(" && ")), 3_000),
        ("a condition", format!("if {}; then b; fi", vec!["a"; 1_500].join(" && ")), 1_501),
        ("a very long word", "a".repeat(1 << 20), 1),
        ("words", format!("a{}", " b".repeat(30_000)), 1),
        ("a long word", "a".repeat(60_000), 1),
        ("quotes", "a 'b' \"c\" ".repeat(6_000), 1),
        ("variables", "a $b ${c} ".repeat(6_000), 1),
        ("escapes", "\\a".repeat(30_000), 1),
        ("globs", "a*[b".repeat(15_000), 1),
        ("braces", "{a,b}".repeat(12_000), 1),
        ("substitutions", "$(a)".repeat(500), 501),
        ("backticks", "`a`".repeat(4_000), 4_001),
        ("heredocs", "a <<E\nb\nE\n".repeat(500), 500),
        ("subshells", "(a);".repeat(4_000), 4_000),
        ("nested groups", format!("{}a{}", "{ ".repeat(20), "; }".repeat(20)), 1),
        ("nested subshells", format!("{}a{}", "( ".repeat(20), ")".repeat(20)), 1),
        ("nested substitutions", format!("{}a{}", "$(".repeat(8), ")".repeat(8)), 9),
        ("nested conditions", format!("{}b{}", "if a\nthen ".repeat(20), "\nfi".repeat(20)), 21),
    ];
    for (name, text, commands) in cases {
        let (script, file) = script(text, Dialect::Bash);
        assert_eq!(script.opaque, None, "{name}");
        assert_eq!(script.commands.len(), *commands, "{name}");
        assert_sound(&script, &file);
    }
}

/// A text of many commands is parsed like its beginning, which is short enough to be parsed as it is
/// written.
#[test]
fn how_many_commands_there_are_changes_nothing() {
    let unit = "a && b || c; if d && [[ e && f ]]; then g; h && i; fi; (j; k) && { l || m; } > n; \
                case o in p) q && r;; s|t) u;; esac; ! v && w \"x; $(y && z \"1;2\")\" '&& 3' \\; ; \
                4 | 5 |& 6 & ((7 && 8)); \"9\"#; ${a:-b;c} `d; e` && for f in g; do h; done; ";
    let shape = |count: usize| -> Vec<String> {
        let (script, file) = script(&format!("{}end", unit.repeat(count)), Dialect::Bash);
        assert_eq!((script.opaque, script.errors().len()), (None, 0));
        assert_sound(&script, &file);
        let shape = script.blocks.iter().flat_map(|block| {
            block.pipelines.iter().map(|pipeline| {
                let joined = pipeline.joiner_span().map(|span| under(&file, span));
                let (joiner, background) = (pipeline.joiner, pipeline.background);
                format!(
                    "{:?} {joiner:?} {joined:?} {background} {}",
                    block.kind,
                    under(&file, pipeline.span)
                )
            })
        });
        shape.collect()
    };
    let (short, twice, long) = (shape(1), shape(2), shape(60));
    assert_eq!(twice.len() - short.len(), (long.len() - short.len()) / 59);
    let count =
        |shape: &[String], line: &String| shape.iter().filter(|other| *other == line).count();
    for line in &twice {
        let more = count(&twice, line) - count(&short, line);
        assert_eq!(count(&long, line), count(&short, line) + 59 * more, "{line}");
    }
}

#[test]
fn what_stays_open_ends() {
    for piece in ["'", "\"", "`", "$((", "a |", "a &&", "case ", "<<E ", "[[ ", "a=(", "$'", "\\"] {
        for count in [1, 2, 50, 5_000] {
            for dialect in DIALECTS {
                let (script, file) = script(&piece.repeat(count), *dialect);
                assert_sound(&script, &file);
            }
        }
    }
}
