//! `review.yml` and the profiles, against the reader and against the schema that is shipped.

use probity_proof::Level;
use probity_review::{CONFIG_SCHEMA, Category, ReviewConfig};
use serde_json::{Value, json};

fn default() -> ReviewConfig {
    ReviewConfig::profile("default").unwrap()
}

#[test]
fn every_profile_has_its_weights_and_reviews_every_language_that_can_be_proven() {
    for (name, weights) in [
        ("default", [3.0, 1.5, 1.0, 0.5]),
        ("security", [5.0, 3.0, 1.0, 0.5]),
        ("strict", [4.0, 2.5, 1.5, 1.0]),
    ] {
        let profile = ReviewConfig::profile(name).unwrap();
        let weighs = profile.weights;
        assert_eq!([weighs.critical, weighs.high, weighs.medium, weighs.low], weights, "{name}");
        assert_eq!(profile.categories, Category::ALL, "{name}");
        for path in
            ["a.go", "pkg/a.go", "src/lib.rs", "x/y/z.py", "a.js", "a.mjs", "src/a.ts", "ui/a.tsx"]
        {
            assert!(profile.should_review(path), "{name}: {path}");
        }
        for path in [
            "a_test.go",
            "pkg/fakes/a.go",
            "pkg/fakes/sub/a.go",
            "vendor/x/a.go",
            "web/node_modules/a/a.js",
            "tests/it/main.rs",
            "crates/a/tests/b.rs",
            "test_a.py",
            "src/a.test.ts",
            "README.md",
        ] {
            assert!(!profile.should_review(path), "{name}: {path}");
        }
    }
    let error = ReviewConfig::profile("paranoid").unwrap_err().to_string();
    assert_eq!(error, "unknown profile `paranoid`, expected one of default, security, strict");
}

#[test]
fn a_file_lies_over_the_profile() {
    for empty in ["", "# nothing\n", "version: \"1\"\n", "version: 1\n"] {
        let config = default().over(empty).unwrap();
        assert_eq!(config.weights, default().weights, "{empty:?}");
        assert_eq!(config.include(), default().include());
    }
    let config = ReviewConfig::profile("strict")
        .unwrap()
        .over(
            "severity_weights: { low: 0 }\ncategories:\n  security: { enabled: true }\n  testing: { \
             enabled: false }\ninclude: ['src/**/*.rs']\nexclude: []\nproof: { level: P3, runs: 5 }\n",
        )
        .unwrap();
    assert_eq!((config.weights.critical, config.weights.low), (4.0, 0.0));
    assert_eq!(config.categories, [Category::Security]);
    assert!(config.should_review("src/a/b.rs") && !config.should_review("a.go"));
    assert_eq!((config.proof.level, config.proof.pairs), (Level::Flips, 5));
    assert_eq!(config.proof.seconds, 30);
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_schema_agrees() {
    let schema: Value = serde_json::from_str(CONFIG_SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut errors = String::new();
    for text in [
        "include: []\nseverity_wieghts: {}\n",
        "severity_weights:\n  critcal: 1\n",
        "severity_weights:\n  low: -1\n",
        "severity_weights:\n  low: .nan\n",
        "categories:\n  style: { enabled: true }\n",
        "categories: {}\n",
        "categories: { testing: { enabled: maybe } }\n",
        "include: ['a[']\n",
        "version: \"2\"\n",
        "proof: { level: P9 }\n",
        "proof: { runs: 0 }\n",
        "include: 5\n",
        "a: [",
        "include: []\ninclude: []\n",
    ] {
        let error = default().over(text).unwrap_err().to_string();
        errors += &format!("{text:?}\n    {error}\n");
        // A glob is more than a text only to us, duplicates and syntax are YAML's business.
        let beyond = text.contains("a[") || text.contains("include: []") || text.contains("a: [");
        let beyond = beyond || error.contains("no category") || text.contains(".nan");
        if !beyond {
            let value: Value = serde_saphyr::from_str(text).unwrap();
            assert!(!schema.is_valid(&value), "{text:?}");
        }
    }
    insta::assert_snapshot!(errors, @r#"
    "include: []\nseverity_wieghts: {}\n"
        2:1: unknown field `severity_wieghts`, expected one of version, severity_weights, categories, include, exclude, proof
    "severity_weights:\n  critcal: 1\n"
        2:3: unknown field `critcal`, expected one of critical, high, medium, low
    "severity_weights:\n  low: -1\n"
        2:8: a weight is a number from 0 on, not -1
    "severity_weights:\n  low: .nan\n"
        2:8: a weight is a number from 0 on, not NaN
    "categories:\n  style: { enabled: true }\n"
        2:10: unknown category `style`, expected one of security, correctness, performance, maintainability, testing
    "categories: {}\n"
        1:13: no category is enabled; enable one that is to be reviewed
    "categories: { testing: { enabled: maybe } }\n"
        1:35: invalid boolean
    "include: ['a[']\n"
        1:11: `a[` is not a glob: unclosed character class; missing ']'
    "version: \"2\"\n"
        1:10: version `2` is not known, expected "1"
    "proof: { level: P9 }\n"
        1:17: unknown level `P9`, expected P1, P2 or P3
    "proof: { runs: 0 }\n"
        1:16: runs are between 1 and 20, not 0
    "include: 5\n"
        1:10: expected sequence start
    "a: ["
        1:1: unknown field `a`, expected one of version, severity_weights, categories, include, exclude, proof
    "include: []\ninclude: []\n"
        2:1: duplicate mapping key: include
    "#);
    let only = default().over("categories: { testing: { enabled: false } }\n").unwrap();
    let others = Category::ALL.into_iter().filter(|category| *category != Category::Testing);
    assert_eq!(only.categories, others.collect::<Vec<_>>());
    assert_eq!(
        default().over("severity_weights: { critical: 20 }").unwrap().weights.critical,
        20.0
    );
    for text in ["{}", "severity_weights: { low: 0 }", "proof: { level: P3, timeout_seconds: 9 }"] {
        let value: Value = serde_saphyr::from_str(text).unwrap();
        assert!(schema.is_valid(&value), "{text:?}");
        default().over(text).unwrap();
    }
    assert!(schema.is_valid(&json!(null)));
}

#[test]
fn paths_narrow_what_is_included_and_never_widen_it() {
    let globs = ["pkg/", "./cmd/*.go"].map(str::to_owned);
    let config = default().narrowed(&globs).unwrap();
    for (path, reviewed) in [
        ("pkg/a.go", true),
        ("pkg/deep/a.go", true),
        ("cmd/main.go", true),
        ("cmd/sub/main.go", false),
        ("other/a.go", false),
        ("pkg/README.md", false),
        ("pkg/a_test.go", false),
    ] {
        assert_eq!(config.should_review(path), reviewed, "{path}");
    }
    assert_eq!(config.paths().collect::<Vec<_>>(), ["pkg", "cmd/*.go"]);
    assert!(default().narrowed(&["a[".to_owned()]).is_err());
}
