//! Secrets go out as tokens and come back byte for byte, or the edit is refused.

use probity_secrets::{RestoreError, Tokenized, tokenize};
use proptest::prelude::*;

use crate::{
    detector, find,
    forge::{Dice, token},
    ranges::in_their_places,
};

/// Two secrets, the first of them twice.
fn dockerfile() -> (String, Tokenized) {
    let mut dice = Dice::new(21);
    let (npm, github) = (token("npm_ @a30 @crc", &mut dice), token("ghp_ @a30 @crc", &mut dice));
    let text = format!("FROM a\nARG A={npm}\nRUN x {npm}\nRUN y https://ci:{github}@h/\n");
    let tokenized = tokenize(&text, &find(&text));
    (text, tokenized)
}

#[test]
fn a_value_gets_one_token_wherever_it_stands() {
    let (text, tokenized) = dockerfile();
    let counts: Vec<_> =
        tokenized.tokens().iter().map(|token| (token.kind, token.occurrences())).collect();
    assert_eq!(counts, [("npm-token", 2), ("github-personal-token", 1)]);
    assert_eq!(tokenized.restore(&tokenized.text).unwrap(), text);
    assert_eq!(find(&tokenized.text), []);
}

#[test]
fn nothing_is_left_to_find_in_tokenized_text() {
    let detector = detector();
    for (kind, text, secret) in in_their_places(&mut Dice::new(6)) {
        let tokenized = tokenize(&text, &detector.find(&text));
        assert!(!tokenized.text.contains(&secret), "{kind}");
        assert_eq!(detector.find(&tokenized.text), [], "{kind}: {}", tokenized.text);
        assert_eq!(tokenized.restore(&tokenized.text).unwrap(), text, "{kind}");
    }
}

#[test]
fn tokens_are_plain_words_and_the_same_in_every_run() {
    let (_, first) = dockerfile();
    let (_, second) = dockerfile();
    assert_eq!(first.text, second.text);
    for token in first.tokens() {
        assert!(token.word().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        assert!(token.word().starts_with(|first: char| first.is_ascii_alphabetic()));
    }
}

#[test]
fn edits_that_harm_a_token_are_refused_and_named() {
    let (_, tokenized) = dockerfile();
    let npm = tokenized.tokens()[0].word().to_owned();
    let github = tokenized.tokens()[1].word().to_owned();
    let text = &tokenized.text;
    let npm_kind = "npm-token";
    let github_kind = "github-personal-token";
    let at = |text: &str, piece: &str| text.rfind(piece).unwrap();
    let shouted = text.replace(&github, &github.to_lowercase());
    let torn = text.replace(&github, &format!("{} {}", &github[..20], &github[20..]));
    let piece = format!("{text}# {}", &github[..16]);
    let end = format!("{text}# {}", &github[16..]);
    for (edited, expected) in [
        (text.replacen(&npm, "x", 1), RestoreError::Lost { kind: npm_kind, expected: 2, found: 1 }),
        (
            text.replace(&github, ""),
            RestoreError::Lost { kind: github_kind, expected: 1, found: 0 },
        ),
        (
            format!("{text}{github}"),
            RestoreError::Doubled { kind: github_kind, expected: 1, found: 2 },
        ),
        (
            shouted.clone(),
            RestoreError::CaseAltered {
                kind: github_kind,
                at: at(&shouted, &github.to_lowercase()),
            },
        ),
        (torn.clone(), RestoreError::Torn { kind: github_kind, at: at(&torn, &github[..20]) }),
        (piece.clone(), RestoreError::Torn { kind: npm_kind, at: piece.len() - 16 }),
        (end.clone(), RestoreError::Torn { kind: github_kind, at: end.len() - 8 }),
    ] {
        assert_eq!(tokenized.restore(&edited).unwrap_err(), expected, "{edited}");
    }
}

#[test]
fn a_token_that_left_its_instruction_is_seen() {
    let (_, tokenized) = dockerfile();
    let text = &tokenized.text;
    let line = |number: usize| {
        let start: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
        start..start + text[start..].find('\n').unwrap()
    };
    let placed = |number| -> Vec<_> {
        tokenized.tokens_in(text, line(number)).iter().map(|placed| placed.token).collect()
    };
    assert_eq!([placed(0), placed(1), placed(2), placed(3)], [vec![], vec![0], vec![0], vec![1]]);
    let half = line(1).start..line(1).end - 1;
    assert_eq!(tokenized.tokens_in(text, half), []);
    assert_eq!(tokenized.tokens_in(text, 0..usize::MAX).len(), 3);
}

#[test]
fn neither_debug_nor_error_shows_a_value() {
    let (text, tokenized) = dockerfile();
    let error = tokenized.restore("").unwrap_err();
    let shown = format!("{tokenized:?} {:?} {error:?} {error}", tokenized.tokens());
    for secret in find(&text) {
        assert!(!shown.contains(&text[secret.range]));
    }
    insta::assert_snapshot!(
        error,
        @"the token of a npm-token occurs 0 times instead of 2: it was lost"
    );
}

#[test]
fn without_secrets_every_edit_is_welcome() {
    let tokenized = tokenize("FROM a\n", &[]);
    assert_eq!(tokenized.restore("FROM b PROBITY_ _END\n").unwrap(), "FROM b PROBITY_ _END\n");
}

/// A text with secrets, and in it one word that is not part of a token.
fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-zA-Z0-9_ =/-]{0,30}".prop_map(|text| text),
        Just("PROBITY_ probity_222_ _END".to_owned()),
        (1_u64..50)
            .prop_map(|seed| "ENV T=".to_owned() + &token("ghp_ @a30 @crc", &mut Dice::new(seed))),
        (1_u64..50).prop_map(|seed| token("npm_ @a30 @crc", &mut Dice::new(seed))),
    ];
    proptest::collection::vec(line, 1..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn edits_around_tokens_come_back_whole(
        text in texts(),
        filler in "[a-z \n]{0,12}",
        step in 1_usize..7,
    ) {
        let secrets = find(&text);
        let tokenized = tokenize(&text, &secrets);
        prop_assert_eq!(tokenized.restore(&tokenized.text).unwrap(), text.as_str());
        let placed = tokenized.tokens_in(&tokenized.text, 0..usize::MAX);
        prop_assert_eq!(placed.len(), secrets.len());
        // The same edit on both sides: text is put in at line ends, which no token crosses.
        let edit = |text: &str| -> String {
            let lines = text.split('\n').enumerate();
            let edited = lines.map(|(at, line)| match at % step {
                0 => format!("{line} {filler}\n"),
                _ => format!("{line}\n"),
            });
            edited.collect()
        };
        prop_assert_eq!(tokenized.restore(&edit(&tokenized.text)).unwrap(), edit(&text));
    }

    #[test]
    fn a_cut_in_a_token_is_refused(
        text in texts(),
        cut in 1_usize..28,
        which in any::<prop::sample::Index>(),
    ) {
        let tokenized = tokenize(&text, &find(&text));
        let placed = tokenized.tokens_in(&tokenized.text, 0..usize::MAX);
        prop_assume!(!placed.is_empty());
        let place = which.get(&placed);
        let at = place.range.start + cut;
        let mut split = tokenized.text.clone();
        split.insert(at, '-');
        prop_assert!(tokenized.restore(&split).is_err());
        let mut shorter = tokenized.text.clone();
        shorter.remove(at);
        prop_assert!(tokenized.restore(&shorter).is_err());
        let mut lost = tokenized.text.clone();
        lost.replace_range(place.range.clone(), "");
        let is_lost = matches!(tokenized.restore(&lost), Err(RestoreError::Lost { .. }));
        prop_assert!(is_lost);
        let doubled = format!("{}{}", tokenized.text, &tokenized.text[place.range.clone()]);
        let is_doubled = matches!(tokenized.restore(&doubled), Err(RestoreError::Doubled { .. }));
        prop_assert!(is_doubled);
    }
}
