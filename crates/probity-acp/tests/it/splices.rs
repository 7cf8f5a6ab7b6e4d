//! Rewriting values in place: everything outside the rewritten spans stays as it was.

use probity_acp::{Envelope, Splice, find};
use proptest::collection::vec;
use proptest::prelude::*;

/// JSON as it is spelled, so that the expected spans are known without reading the text again.
#[derive(Clone, Debug)]
enum Spelled {
    Plain(String),
    List(Vec<Spelled>),
    /// Each key as it is, and as it is spelled.
    Object(Vec<((&'static str, &'static str), Spelled)>),
}

impl Spelled {
    fn render(&self, space: &str) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.render(space)).collect();
                format!("[{space}{}{space}]", items.join(&format!("{space},")))
            }
            Self::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|((_, key), value)| format!("{key}{space}:{space}{}", value.render(space)))
                    .collect();
                format!("{{{space}{}{space}}}", members.join(&format!(",{space}")))
            }
        }
    }

    fn at(&self, path: &[&str], space: &str) -> Vec<String> {
        let Some((step, rest)) = path.split_first() else { return vec![self.render(space)] };
        match self {
            Self::Plain(_) => Vec::new(),
            Self::List(items) if *step == "*" => {
                items.iter().flat_map(|item| item.at(rest, space)).collect()
            }
            Self::List(_) => Vec::new(),
            Self::Object(members) => members
                .iter()
                .filter(|((key, _), _)| *step == "*" || key == step)
                .flat_map(|(_, value)| value.at(rest, space))
                .collect(),
        }
    }
}

fn spelled() -> impl Strategy<Value = Spelled> {
    let plain = prop_oneof![
        prop::sample::select(vec![
            "1e2",
            "-0",
            "12345678901234567890123",
            "1E+400",
            "0.10",
            "true",
            "null",
            r#""""#,
            r#""\u00e9\/\"]}""#,
            r#""\\""#,
            r#""[{,:""#,
            r#""\ud800""#,
            "\"\u{1f600}\u{2028}\"",
        ])
        .prop_map(str::to_owned),
        "[a-z{}\\[\\],: ]{0,12}".prop_map(|text| format!("\"{text}\"")),
    ];
    let key = prop::sample::select(vec![
        ("sessionId", r#""sessionId""#),
        ("sessionId", r#""session\u0049d""#),
        ("items", r#""items""#),
        ("id", r#""id""#),
        ("se\"}ss", r#""se\"}ss""#),
        ("sessionid", r#""sessionid""#),
    ]);
    plain.prop_map(Spelled::Plain).prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Spelled::List),
            vec((key.clone(), inner), 0..6).prop_map(Spelled::Object),
        ]
    })
}

/// What is left of a text without the given ranges.
fn without(text: &str, ranges: impl Iterator<Item = std::ops::Range<usize>>) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for range in ranges {
        rest.push_str(&text[from..range.start]);
        from = range.end;
    }
    rest + &text[from..]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn output_minus_the_spans_equals_input_minus_the_spans(
        params in spelled(),
        space in "[ \t]{0,2}",
        path in prop::sample::select(vec![
            "id", "params.sessionId", "params.*", "params.items.*.sessionId", "params.*.*.id", "method", "x.y",
        ]),
    ) {
        let message = Spelled::Object(vec![
            (("id", r#""id""#), Spelled::Plain("7".to_owned())),
            (("params", r#""params""#), params),
            (("method", r#""method""#), Spelled::Plain(r#""m""#.to_owned())),
        ]);
        let text = message.render(&space);
        let steps: Vec<&str> = path.split('.').collect();
        let envelope = Envelope::parse(&text).expect("the message is JSON");
        prop_assert_eq!(find(&envelope, path), message.at(&steps, &space));

        let mut splice = Splice::new(&envelope);
        let mut count = 0;
        let replaced = splice.replace(path, |raw| {
            count += 1;
            Some(format!("\"<{count}:{}>\"", raw.len()))
        });
        prop_assert_eq!(replaced, count);
        let before: Vec<_> = splice.edits().map(|(range, _)| range).collect();
        let mut after = Vec::new();
        let mut shift = 0_isize;
        for (range, new) in splice.edits() {
            let start = range.start.checked_add_signed(shift).unwrap();
            after.push(start..start + new.len());
            shift += isize::try_from(new.len()).unwrap() - isize::try_from(range.len()).unwrap();
        }
        let output = splice.finish();
        prop_assert_eq!(
            without(&output, after.into_iter()),
            without(&text, before.into_iter())
        );
        prop_assert!(Envelope::parse(&output).is_some() || path == "method");
    }

    /// Strings alone are rewritten, as the proxy does, so that the order of the paths does not matter.
    #[test]
    fn several_paths_in_one_pass_are_the_same_as_one_after_the_other(
        params in spelled(),
        paths in vec(prop::sample::select(vec![
            "id", "params", "params.sessionId", "params.*", "params.items.*.sessionId", "params.*.*.id",
            "params.*.*", "params.items", "x.y", "method",
        ]), 1..6),
    ) {
        let message = Spelled::Object(vec![
            (("id", r#""id""#), Spelled::Plain("7".to_owned())),
            (("params", r#""params""#), params),
            (("method", r#""method""#), Spelled::Plain(r#""m""#.to_owned())),
        ]);
        let text = message.render(" ");
        let envelope = Envelope::parse(&text).expect("the message is JSON");
        let rewrite = |raw: &str| raw.starts_with('"').then(|| format!("\"<{}>\"", raw.len()));
        let (mut once, mut in_turn) = (Splice::new(&envelope), Splice::new(&envelope));
        let replaced = once.replace_any(&paths, rewrite);
        let expected: usize = paths.iter().map(|path| in_turn.replace(path, rewrite)).sum();
        prop_assert_eq!(replaced, expected);
        prop_assert_eq!(once.finish(), in_turn.finish());
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,40}|[{}\\[\\]\",:0-9a-z\\\\]{0,40}") {
        if let Some(envelope) = Envelope::parse(&text) {
            find(&envelope, "params.*");
            find(&envelope, "*.*");
        }
    }
}

#[test]
fn ids_and_session_ids_are_rewritten_in_one_go_and_a_place_only_once() {
    let text = r#"{"jsonrpc":"2.0", "id":0,"params":{"a":1e2,"sessionId":"s","sessionId":"s"},"method":"m","x":[]}"#;
    let envelope = Envelope::parse(text).unwrap();
    let mut splice = Splice::new(&envelope);
    assert_eq!(splice.replace("params.sessionId", |_| Some("\"other\"".to_owned())), 2);
    assert_eq!(splice.replace("id", |_| Some("12".to_owned())), 1);
    assert_eq!(splice.replace("id", |_| Some("13".to_owned())), 0);
    assert_eq!(splice.replace("params", |_| Some("null".to_owned())), 0);
    assert_eq!(splice.replace("x", |_| None), 0);
    assert_eq!(
        splice.finish(),
        r#"{"jsonrpc":"2.0", "id":12,"params":{"a":1e2,"sessionId":"other","sessionId":"other"},"method":"m","x":[]}"#
    );
}

#[test]
fn a_message_that_needs_nothing_is_not_copied() {
    let envelope = Envelope::parse(r#"{"method":"m"}"#).unwrap();
    let mut splice = Splice::new(&envelope);
    splice.replace("params.sessionId", |_| Some(String::new()));
    assert!(splice.is_empty());
    assert!(matches!(splice.finish(), std::borrow::Cow::Borrowed(_)));
}
