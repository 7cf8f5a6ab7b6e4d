//! The score over everything that is a secret and everything that is none.

use probity_secrets::Confidence;

use crate::{
    detector,
    forge::{self, Dice},
    genuine, harmless,
    ranges::in_their_places,
};

/// Where a token of a vendor stands; `{}` is the token.
const PLACES: &[&str] = &[
    "{}",
    "ENV SERVICE_VALUE={}\n",
    "ARG VALUE=\"{}\"\n",
    "RUN tool login --value '{}' && tool push\n",
    "  value: {}\n",
    "{\"value\": \"{}\", \"other\": 1}",
    "RUN echo {} > /root/.config\n",
    "before\\n{}\\nafter",
];

/// Where a value stands that needs a name; `{name}` is the name.
const NAMED_PLACES: &[&str] = &[
    "ENV {name}={}\n",
    "ARG {name}=\"{}\"\n",
    "export {name}='{}'\n",
    "  {name}: {}\n",
    "{\"{name}\": \"{}\"}",
];

struct Case {
    text: String,
    secret: String,
    kind: &'static str,
}

fn cases() -> Vec<Case> {
    let mut dice = Dice::new(7);
    let mut cases = Vec::new();
    for (kind, name, recipe) in genuine::TOKENS {
        let places = if name.is_empty() { PLACES } else { NAMED_PLACES };
        for place in places {
            let secret = forge::token(recipe, &mut dice);
            let text = place.replace("{name}", name).replacen("{}", &secret, 1);
            cases.push(Case { text, secret, kind });
        }
    }
    for (kind, text, secret) in in_their_places(&mut dice) {
        cases.push(Case { text, secret, kind });
    }
    cases
}

#[test]
fn secrets_are_found_with_their_kind_and_exact_range() {
    let detector = detector();
    let cases = cases();
    let mut missed = Vec::new();
    let mut noise = Vec::new();
    let mut by_other_name = Vec::new();
    for Case { text, secret, kind } in &cases {
        let found = detector.find(text);
        let hit = found.iter().find(|found| &text[found.range.clone()] == secret);
        match hit {
            None => missed.push((kind, text, found.clone())),
            Some(hit) if hit.kind != *kind => by_other_name.push((kind, hit.kind, text)),
            Some(_) if found.len() > 1 => noise.push((kind, text, found.clone())),
            Some(_) => {}
        }
    }
    let recall = (cases.len() - missed.len()) as f64 / cases.len() as f64;
    let precision = (cases.len() - missed.len()) as f64
        / (cases.len() - missed.len() + noise.len() + false_alarms().len()) as f64;
    println!("{} true secrets: recall {recall:.4}, precision {precision:.4}", cases.len());
    for miss in missed.iter().take(20) {
        println!("missed {miss:?}");
    }
    assert!(recall >= 0.98, "recall {recall}");
    assert!(precision >= 0.98, "precision {precision}: {noise:?}");
    let named = 1.0 - by_other_name.len() as f64 / cases.len() as f64;
    assert!(
        named >= 0.98,
        "named rightly {named}: {:#?}",
        &by_other_name[..20.min(by_other_name.len())]
    );
}

#[test]
fn every_kind_of_the_table_is_in_the_corpus() {
    let cases = cases();
    let untested: Vec<_> = probity_secrets::kinds()
        .filter(|kind| !cases.iter().any(|case| case.kind == kind.id))
        .map(|kind| kind.id)
        .collect();
    assert_eq!(untested, Vec::<&str>::new());
}

#[test]
fn text_without_secrets_raises_no_alarm() {
    assert!(harmless::lines().count() >= 150);
    let alarms = false_alarms();
    assert!(alarms.is_empty(), "{alarms:#?}");
}

/// Found where nothing is, line by line and in the whole text.
fn false_alarms() -> Vec<(&'static str, String)> {
    let detector = detector();
    let whole: String = harmless::lines().map(|line| line + "\n").collect();
    let texts = harmless::lines().chain([whole]);
    texts
        .flat_map(|text| {
            let found = detector.find(&text);
            found.into_iter().map(move |secret| (secret.kind, text[secret.range].to_owned()))
        })
        .collect()
}

/// A token that somebody typed by hand is still hidden and kept on the machine.
#[test]
fn a_sequence_of_characters_in_a_vendors_format_is_a_secret_by_its_format_alone() {
    let hexadecimal = "0123456789abcdef".repeat(3);
    for (kind, prefix, length) in [
        ("github-personal-token", "ghp_", 36),
        ("databricks-token", "dapi", 32),
        ("npm-token", "npm_", 36),
        ("sonarqube-token", "squ_", 40),
    ] {
        let token = format!("{prefix}{}", &hexadecimal[..length]);
        let text = format!("ARG VALUE={token}\n");
        let found: Vec<_> = detector()
            .find(&text)
            .into_iter()
            .map(|secret| (secret.kind, text[secret.range].to_owned(), secret.confidence))
            .collect();
        assert_eq!(found, [(kind, token, Confidence::FormatOnly)]);
    }
}
