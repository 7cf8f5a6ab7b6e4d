//! Any text is parsed, in linear steps, and spans point at what was parsed.

use std::{fs, path::Path};

use super::{Effort, parse, parse_counting};
use crate::heuristic::{
    lexer::tokens,
    tree::{Expr, ExprKind, Module},
};

const FILES: &[&str] = &[
    include_str!("../../../tests/it/heuristic/inline.ak"),
    include_str!("../../../tests/it/heuristic/helpers.ak"),
    include_str!("../../../tests/it/heuristic/old.ak"),
    "use a/b.{C, d as e} as f\nconst x: Int = 1_000\npub opaque type T<a> { A(Int, List<a>) B { c: fn(Int) -> Bool } C }\n",
    "fn f(label name: Int, other) -> (Int, Bool) { let (a, b) = other\n let x <- g(1)\n expect Some(y) <- h\n trace @\"t\": x, y\n (a + x * -y, !b) }\n",
    "validator v { fn mint(r, ctx) { todo @\"later\" } else(_) { fail } }\ntest t(x via fuzz.int()) fail once { x == 1 }\n",
    "fn w(x) { when x is { [] | [_] -> 1\n [a, ..rest] -> rest |> list.foldr(0, fn(i, n) { i + n })\n Foo { bar, .. } as whole -> whole.bar?\n -1 -> #\"ff\" } }\n",
    "fn i(x) { if x is Some(y): Option<Int> { y } else if x == None { 0 } else { or { a, b }, and { c } } }\n",
    "fn r(s) { State { ..s, a: 1, b } == module.Other(_, 2) && Pair(1, 2).1st == @\"\\\"\" }\n// end",
    "fn ü(é) { \"unfinished\n let = = } ) ] { ( [ |> .. -> <- 𝔘 \u{0} validator {{{ spend( } }",
];

fn every_expr<'a>(module: &'a Module, visit: &mut dyn FnMut(&'a Expr)) {
    let functions = module.functions.iter().map(|function| &function.body);
    let handlers = module.validators.iter().flat_map(|validator| &validator.handlers);
    let constants = module.constants.iter().map(|(_, value)| value);
    let mut open: Vec<&Expr> =
        functions.chain(handlers.map(|handler| &handler.body)).chain(constants).collect();
    while let Some(expr) = open.pop() {
        visit(expr);
        expr.each_child(&mut |child| open.push(child));
    }
}

#[test]
fn every_prefix_of_every_file_is_parsed_in_linear_steps() {
    for text in FILES {
        // In a long file only prefixes that end with a token, and one byte into the next.
        let ends: Vec<usize> = if text.len() < 1_000 {
            (0..=text.len()).collect()
        } else {
            tokens(text).iter().flat_map(|token| [token.end, token.start + 1]).collect()
        };
        for end in ends.into_iter().filter(|end| text.is_char_boundary(*end)) {
            let prefix = text.get(..end).unwrap_or_default();
            let (_, Effort { steps, .. }) = parse_counting(prefix);
            let most = 60 * tokens(prefix).len();
            assert!(steps <= most, "{steps} steps for {most} at {end} of {text}");
        }
    }
}

#[test]
fn files_with_a_token_missing_or_doubled_are_parsed() {
    for text in FILES.iter().skip(2) {
        for token in tokens(text) {
            let (before, after) = (&text[..token.start], &text[token.end..]);
            let word = &text[token.start..token.end];
            for changed in [format!("{before}{after}"), format!("{before}{word}{word}{after}")] {
                let (_, Effort { steps, .. }) = parse_counting(&changed);
                assert!(steps <= 60 * tokens(&changed).len(), "{changed}");
            }
        }
    }
}

#[test]
fn deep_and_long_texts_neither_overflow_nor_take_more_than_linear_steps() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("!", ""),
        ("-", ""),
        ("f(", ")"),
        ("fn(x) { ", "}"),
        ("when x is { _ -> ", "}"),
        ("if x { ", "}"),
        ("a.b + ", ""),
        ("a |> ", ""),
        ("and { ", "}"),
        ("expect Some(", ")"),
        ("let [x, ", "]"),
        ("Foo { a: ", "}"),
        ("x.y", ""),
        ("f()", ""),
    ] {
        let count = 20_000;
        let text = format!("fn f() {{ {}x{} }}", open.repeat(count), close.repeat(count));
        let (module, Effort { steps, .. }) = parse_counting(&text);
        assert!(steps <= 60 * tokens(&text).len(), "{open}: {steps}");
        every_expr(&module, &mut |_| {});
    }
}

#[test]
fn spans_are_the_text_of_what_was_parsed() {
    for text in FILES {
        let module = parse(text);
        let mut seen = 0;
        every_expr(&module, &mut |expr| {
            let shown = text.get(expr.span.start..expr.span.end);
            match &expr.kind {
                ExprKind::Var(name) => assert_eq!(shown, Some(name.as_str())),
                ExprKind::Literal(literal) => {
                    assert_eq!(shown.map(|shown| shown.replace('_', "")), Some(literal.clone()));
                }
                _ => assert!(shown.is_some(), "{:?}", expr.span),
            }
            seen += 1;
        });
        assert!(seen > 0 || module.imports.len() + module.types.len() > 0, "{text}");
    }
}

#[test]
fn an_item_that_is_broken_does_not_hide_the_next() {
    let module = parse(
        "fn broken( { let x = (\n\nfn sound() { 1 }\n\nvalidator v { spend(a, b, c, d) { True } }\n",
    );
    assert!(module.functions.iter().any(|function| function.name == "sound"));
    assert_eq!(module.validators.len(), 1);
    assert_eq!(module.validators[0].handlers.len(), 1);
}

/// The examples of the shipped skills, as files and in the pages.
#[test]
fn shipped_examples_are_parsed_without_an_error() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let files = |folder: &str| -> Vec<_> {
        let entries = fs::read_dir(skills.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut texts = Vec::new();
    for folder in files("examples") {
        for name in ["vulnerable.ak", "fixed.ak"] {
            if let Ok(text) = fs::read_to_string(folder.join(name)) {
                texts.push((folder.join(name), text));
            }
        }
    }
    assert_eq!(texts.len(), 50);
    for page in files("vulnerabilities") {
        let text = fs::read_to_string(&page).unwrap();
        let fenced = text.split("```aiken\n").skip(1).filter_map(|rest| rest.split("```").next());
        texts.extend(fenced.map(|code| (page.clone(), code.to_owned())));
    }
    for (path, text) in texts {
        let (module, effort) = parse_counting(&text);
        let mut errors = Vec::new();
        every_expr(&module, &mut |expr| {
            if matches!(expr.kind, ExprKind::Error) {
                errors.push(&text[expr.span.start..expr.span.end]);
            }
        });
        assert_eq!((errors, effort.skipped), (Vec::<&str>::new(), 0), "{}", path.display());
    }
}
