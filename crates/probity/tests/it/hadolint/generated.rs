//! Cases for each of hadolint's rules, judged by both programs.

use std::{collections::BTreeMap, path::Path};

use super::{
    agreement::{corpus, judge},
    differences::{differences, guide_table},
    generator::cases,
};
use crate::whole_corpus::is_whole;

const TEMPLATES: &str = include_str!("cases.txt");

/// Each rule has at least so many cases.
const LEAST_CASES: usize = 40;

/// One of so many cases is compared, unless all are wanted.
const SAMPLE: usize = 24;

/// Cases that hadolint's own specifications are about: the rule, what follows `FROM`, and whether both
/// programs say the same about it.
const NAMED: &[(&str, &str, bool)] = &[
    ("DL3032", "RUN yum clean all && yum install -y a-1", true),
    ("DL3036", "RUN zypper clean && zypper in -y a=1", true),
    ("DL3040", "RUN dnf clean all && dnf install -y a-1", true),
    ("DL3060", "RUN yarn cache clean && yarn install", true),
    ("DL3028", "RUN gem install a:1 -- --with-b=c", true),
    ("DL3028", "RUN gem install a:1 -- b", true),
    ("DL3028", "RUN gem install --foo bar a:1", true),
    ("DL3040", "RUN dnf up -y a-1", true),
    ("DL3040", "RUN dnf rei -y a-1", true),
    ("DL3040", "RUN dnf in -y a-1", true),
    ("DL3042", "RUN PIP_NO_CACHE_DIR=0 pip install a==1", true),
    ("DL3042", "ENV PIP_NO_CACHE_DIR=0\nRUN pip install a==1", true),
    ("DL3019", "ONBUILD RUN --mount=type=cache,target=/var/cache/apk apk add a=1", true),
    ("DL3042", "ONBUILD RUN --mount=type=cache,target=/root/.cache/pip pip install a==1", true),
    ("DL3020", "ADD x.zip /b", true),
    ("DL3014", "RUN apt-get --quiet --quiet install a=1", true),
    ("DL3016", "RUN npm install x.tar", true),
    ("DL3013", "RUN pip install --no-cache-dir foo/bar", true),
    ("DL3013", "RUN pipx install --no-cache-dir a", true),
    ("DL3009", "RUN aptitude update", true),
    (
        "DL3010",
        r#"COPY "C:\\a\\b.tar.gz" "C:\\c\\"
RUN tar -xf "C:\\c\\b.tar.gz""#,
        true,
    ),
    ("DL3044", "ENV A=b B=${A}", true),
    ("DL3044", "ENV A=$A B=$A", true),
    ("DL3060", "RUN yarn workspace a install", true),
    ("DL4001", "RUN curl http://a\nONBUILD RUN wget -q http://b", true),
    ("DL3011", "EXPOSE 80000", true),
    ("DL3043", "ONBUILD FROM debian:12", true),
    ("DL3053", "LABEL rfc3339=2024-02-31T00:00:00Z", true),
    ("DL3003", "RUN (cd a && make)", false),
    ("DL3008", "RUN apt-get install -y $A", false),
    ("DL3016", "RUN npm install git+https://a/b.git", false),
];

#[test]
fn the_generator_makes_enough_cases_and_the_named_ones() {
    let cases = cases(TEMPLATES);
    let mut counts = BTreeMap::new();
    for case in &cases {
        *counts.entry(case.rule).or_insert(0_usize) += 1;
    }
    assert_eq!(counts.len(), 71, "{counts:?}");
    let few: Vec<_> = counts.iter().filter(|(_, count)| **count < LEAST_CASES).collect();
    assert!(few.is_empty(), "{few:?}");
    for (rule, body, _) in NAMED {
        let text = format!("FROM debian:12\n{body}\n");
        let is_made =
            cases.iter().any(|case| case.rule == *rule && case.text.trim() == text.trim());
        assert!(is_made, "{rule}: {text}");
    }
    assert!(cases.iter().any(|case| case.text == "LABEL a=b\nFROM debian:12\n"));
}

#[test]
fn named_cases_are_judged_as_by_hadolint() {
    let named = NAMED.iter().map(|(rule, body, _)| (*rule, format!("FROM debian:12\n{body}\n")));
    let named: Vec<(&str, String)> = named.collect();
    let judged = judge(&named);
    for (index, (rule, body, is_same)) in NAMED.iter().enumerate() {
        let differs = judged.differing.contains(&(index, (*rule).to_owned()));
        assert_eq!(differs, !is_same, "{rule}: {body}");
    }
}

#[test]
fn generated_cases_are_judged_as_by_hadolint() {
    let generated = cases(TEMPLATES).into_iter().map(|case| (case.rule, case.text)).enumerate();
    let sample = generated.filter(|(index, _)| is_whole() || index % SAMPLE == 0);
    let mut files = corpus();
    files.extend(sample.map(|(_, file)| file));
    let judged = judge(&files);
    let (compared, same) = (judged.compared, judged.same);
    println!("{same} of {compared} files are judged alike; {} reasons", differences().count());
    judged.assert_explained();
    // A sample need not have a case for every reason.
    let unused: Vec<&str> = judged.unused().map(|row| row.reason).collect();
    assert!(!is_whole() || unused.is_empty(), "reasons that explain nothing: {unused:#?}");
}

#[test]
fn the_guide_lists_every_difference() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hadolint.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("<!-- differences -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- end of differences -->").unwrap();
    assert_eq!(table.trim(), guide_table(differences(), "hadolint").trim());
}
