//! Scopes, and the variables that BuildKit would complain of.

use probity_dockerfile::{Keyword, VariableKind};

use super::{check, nth};

#[test]
fn a_scope_holds_what_came_before() {
    let text = "ARG G=global\n\
        ARG BARE\n\
        FROM alpine AS base\n\
        ARG G\n\
        ARG BARE\n\
        ENV E=$G-e A=1 B=$A\n\
        USER one\n\
        FROM base\n\
        ARG E=arg\n\
        USER two\n\
        FROM scratch\n\
        USER three\n";
    check(text, |file, facts| {
        let value = |user: usize, name: &str| {
            let variable = facts.scope(nth(file, Keyword::User, user)).get(name)?;
            Some((variable.kind, variable.value.as_deref(), variable.instruction.unwrap()))
        };
        let (arg, env) = (VariableKind::Arg, VariableKind::Env);
        assert_eq!(value(0, "G"), Some((arg, Some("global"), 3)));
        assert_eq!(value(0, "BARE"), Some((arg, None, 4)));
        assert_eq!(value(0, "E"), Some((env, Some("global-e"), 5)));
        // A is not set before the instruction, and the image may set it.
        assert_eq!(value(0, "B"), Some((env, None, 5)));
        assert_eq!(value(1, "E"), Some((arg, Some("arg"), 8)));
        assert_eq!(value(1, "A"), Some((env, Some("1"), 5)));
        assert_eq!(value(2, "G"), None);
        let names: Vec<&str> = facts.scope(nth(file, Keyword::User, 1)).names().collect();
        assert_eq!(names, ["G", "PATH", "E", "A", "B"]);
        let from = facts.scope(nth(file, Keyword::From, 1));
        assert_eq!(from.get("G").unwrap().value.as_deref(), Some("global"));
        assert_eq!(from.get("TARGETARCH").unwrap().kind, VariableKind::Predefined);
        assert!(from.get("E").is_none() && from.get("PATH").is_none());
    });
}

/// The references of the whole file that are neither set nor declared, with their line.
fn unmatched(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    check(text, |file, facts| {
        for (index, instruction) in file.instructions.iter().enumerate() {
            for reference in facts.references(index) {
                let source = reference.span.slice(text).unwrap();
                assert!(source.starts_with('$') && source.contains(&reference.name), "{source}");
                if !reference.matched && reference.first {
                    found.push((instruction.lines().0, source.to_owned()));
                }
            }
        }
    });
    found
}

#[test]
fn unmatched_variables_are_those_of_buildkit() {
    let cases: [(&str, &[(usize, &str)]); 16] = [
        ("FROM a\nCOPY $x ${y} /\n", &[(2, "$x"), (2, "${y}")]),
        ("FROM a\nARG x\nCOPY $x $x$z$z /\n", &[(3, "$z")]),
        ("FROM a\nENV A=1 B=$A\n", &[(2, "$A")]),
        ("FROM a\nARG A=1 B=$A\n", &[]),
        ("FROM a\nENV P=$PATH:$HOME\n", &[(2, "$HOME")]),
        ("ARG x=1\nFROM $x$y AS b\nUSER $x\n", &[(2, "$y"), (3, "$x")]),
        ("ARG x\nFROM --platform=$TARGETPLATFORM ${x:-$q}\n", &[(2, "$q")]),
        ("FROM a\nRUN echo $x\nCMD $x\nENTRYPOINT [\"$x\"]\nHEALTHCHECK CMD $x\nEXPOSE $x\n", &[]),
        ("FROM a\nONBUILD COPY $x /\n", &[]),
        (
            "FROM a AS b\nONBUILD ARG x=$y\nONBUILD ENV q=$x$r\nENV y=1\nFROM b\nFROM b\n",
            &[(3, "$r")],
        ),
        ("FROM a\nRUN --mount=type=bind,source=$s,target=/ok x\n", &[(2, "$s")]),
        ("FROM a\nCOPY --chown=$u --chmod=$m --exclude=$e a b\n", &[(2, "$u"), (2, "$m")]),
        ("FROM a\nADD --checksum=$c https://a/b c\n", &[(2, "$c")]),
        ("FROM a\nLABEL \"$k\"='$no' l=\"a \\$no $v\"\n", &[(2, "$k"), (2, "$v")]),
        ("FROM a\nUSER $BUILDKIT_SBOM_SCAN_STAGE\nUSER $HTTP_PROXY\n", &[(3, "$HTTP_PROXY")]),
        (
            "FROM a AS b\nARG x\nENV y=1\nFROM b\nVOLUME $x $y $z\nSTOPSIGNAL $s\n",
            &[(5, "$z"), (6, "$s")],
        ),
    ];
    for (text, expected) in cases {
        let expected: Vec<(usize, String)> =
            expected.iter().map(|&(line, name)| (line, name.to_owned())).collect();
        assert_eq!(unmatched(text), expected, "{text}");
    }
}

#[test]
fn a_reference_is_found_behind_escapes_and_continuations() {
    let text = "FROM a\nCOPY --chown=\"$u\" [\"\\u0024y$x\", \"/\"]\nWORKDIR /a/\\\n  $w\n";
    check(text, |_, facts| {
        let found = |index: usize| -> Vec<(&str, &str)> {
            let references = facts.references(index).iter();
            references
                .map(|reference| (reference.name.as_str(), reference.span.slice(text).unwrap()))
                .collect()
        };
        assert_eq!(found(1), [("u", "$u"), ("y", "\"\\u0024y$x\""), ("x", "$x")]);
        assert_eq!(found(2), [("w", "$w")]);
    });
}

#[test]
fn the_variables_of_a_heredoc_are_found_behind_its_tabs() {
    let text = "FROM a\nCOPY <<-EOF <<\"RAW\" /x\n\tone \\$x\n\t\ttwo $x ${y}\nEOF\n$z\nRAW\n";
    check(text, |_, facts| {
        let found: Vec<&str> = facts
            .references(1)
            .iter()
            .map(|reference| reference.span.slice(text).unwrap())
            .collect();
        assert_eq!(found, ["$x", "${y}"]);
        assert_eq!(facts.references(1)[0].span.start, text.find("two $x").unwrap() + 4);
    });
}

#[test]
fn a_suggestion_is_the_nearest_name_that_buildkit_knows() {
    let cases = [
        ("FROM a\nUSER $PAHT\n", Some("PATH")),
        ("FROM a\nUSER $path\n", None),
        // In a stage a name without a value is no candidate; in FROM it is one.
        ("FROM a\nARG NAME\nUSER $NAMES\n", None),
        ("ARG NAME\nFROM a$NAMES\n", Some("NAME")),
        ("ARG NAME=1\nFROM a\nUSER $NAMES\n", None),
        ("FROM --platform=$TARGETPLATFROM a\n", Some("TARGETPLATFORM")),
        // Of equally near names the one that was defined first, and redefining one puts it last.
        ("FROM a\nENV AB=1 AC=1\nUSER $AD\n", Some("AB")),
        ("FROM a\nENV AB=1 AC=1\nENV AB=2\nUSER $AD\n", Some("AC")),
        ("FROM a AS b\nENV NAME=1\nFROM b\nUSER $NAMES\n", Some("NAME")),
    ];
    for (text, expected) in cases {
        check(text, |file, facts| {
            let references = (0..file.instructions.len()).flat_map(|at| facts.references(at));
            let suggestions: Vec<Option<&str>> =
                references.map(|reference| reference.suggestion.as_deref()).collect();
            assert_eq!(suggestions, [expected], "{text}");
        });
    }
}
