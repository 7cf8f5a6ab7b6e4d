//! Facts of texts that nobody would write.

use probity_dockerfile::{Dockerfile, Facts, parse};
use proptest::prelude::*;

/// Pieces that make instructions, alone and joined.
const PIECES: [&str; 40] = [
    "FROM ",
    "scratch",
    " AS a",
    "\n",
    "\n",
    "ARG ",
    "x",
    "=",
    "1",
    "ENV ",
    "$x",
    "${x",
    ":-",
    "}",
    "COPY ",
    "--from=",
    "0",
    "RUN ",
    "--mount=type=bind,",
    "from=a",
    "<<-EOF",
    "\tEOF\n",
    "\"",
    "'",
    "\\",
    "\\\n",
    "# hadolint shell=zsh\n",
    "SHELL ",
    "[\"",
    "\"]",
    "EXPOSE ",
    "80",
    "-",
    "/",
    "WORKDIR ",
    "ONBUILD ",
    "HEALTHCHECK NONE",
    "LABEL ",
    "é",
    " ",
];

fn spans_fit(file: &Dockerfile<'_>, facts: &Facts) {
    for index in 0..=file.instructions.len() {
        for reference in facts.references(index) {
            assert!(reference.span.slice(file.text).is_some(), "{reference:?}");
        }
        facts.scope(index).variables().iter().for_each(|variable| {
            assert_eq!(facts.scope(index).get(&variable.name), Some(*variable));
        });
    }
    for reference in facts.graph().references() {
        assert!(reference.span.slice(file.text).is_some(), "{reference:?}");
    }
    for entry in facts.final_runtime().entries() {
        assert!(entry.span.slice(file.text).is_some(), "{entry:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_has_facts(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        let text = format!("FROM b AS a\n{}", pieces.concat());
        let file = parse(&text);
        let facts = Facts::of(&file);
        spans_fit(&file, &facts);
        prop_assert_eq!(facts.contract().differences(facts.contract()), Vec::<String>::new());
        let commented = format!("{text}\n# end\n");
        if file.errors.is_empty() {
            let after = Facts::of(&parse(&commented));
            prop_assert_eq!(facts.contract(), after.contract());
        }
    }
}
