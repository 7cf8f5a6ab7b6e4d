//! What is claimed of the code before a fix and after it, and what should become of it.

use serde_json::{Value, json};

use super::{cases::Pair, checkout::Change};

/// A kind of claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The defect, with the fix of the project.
    TrueWithFix,
    /// The same, where the project changed the existing test that refuses its fix in the same commit.
    AgainstOldTest,
    /// The defect alone.
    TrueWithoutFix,
    /// The defect, with a fix of another one.
    WrongFix,
    /// The defect, where it is fixed already.
    NoDefect,
    /// The fixed behavior, with a patch that brings the defect back.
    Reversed,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::TrueWithFix,
        Self::AgainstOldTest,
        Self::TrueWithoutFix,
        Self::WrongFix,
        Self::NoDefect,
        Self::Reversed,
    ];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::TrueWithFix => "true, with its fix: proven",
            Self::AgainstOldTest => "true, against a changed test: refused",
            Self::TrueWithoutFix => "true, without a fix: not discarded",
            Self::WrongFix => "another defect's fix: not proven",
            Self::NoDefect => "no defect: discarded",
            Self::Reversed => "reversed: refused",
        }
    }

    /// The least share of right verdicts, in per cent.
    pub(super) fn goal(self) -> usize {
        match self {
            Self::TrueWithFix => 98,
            _ => 100,
        }
    }

    /// Whether a verdict is right, as [`Wanted::verdict`] gives it.
    pub(super) fn is_right(self, verdict: &Value) -> bool {
        let list = verdict["list"].as_str().unwrap_or_default();
        let fix = verdict["proof"]["fix"]["result"].as_str().unwrap_or_default();
        match self {
            Self::TrueWithFix => list == "proven_issues" && fix == "flips",
            Self::TrueWithoutFix => list == "proven_issues" || list == "observations",
            Self::WrongFix => list == "observations" && fix != "flips",
            Self::NoDefect => list == "discarded",
            Self::Reversed | Self::AgainstOldTest => {
                list == "observations" && fix == "breaks-tests"
            }
        }
    }
}

/// A claim, and the side of the fix that it is about.
pub(super) struct Wanted {
    pub(super) kind: Kind,
    pub(super) side: &'static str,
    pub(super) finding: Value,
}

/// All claims about a pair.
pub(super) fn of(pair: &Pair, comment: &str, fix: &Change, other: Option<&str>) -> Vec<Wanted> {
    let wanted = |kind, fix| wanted(kind, pair, comment, fix);
    let mut claims = vec![
        wanted(Kind::TrueWithFix, Some(&fix.forward)),
        wanted(Kind::TrueWithoutFix, None),
        wanted(Kind::NoDefect, Some(&fix.backward)),
        wanted(Kind::Reversed, Some(&fix.backward)),
    ];
    claims.extend(other.map(|other| wanted(Kind::WrongFix, Some(other))));
    claims
}

fn wanted(kind: Kind, pair: &Pair, comment: &str, fix: Option<&str>) -> Wanted {
    let is_after = matches!(kind, Kind::NoDefect | Kind::Reversed);
    let (title, test) = match kind {
        Kind::Reversed => (&pair.reversed_title, &pair.reversed_test),
        _ => (&pair.title, &pair.test),
    };
    // Two claims with one test, or about one line in one category, would count as one.
    let test = format!("{test}\n{comment} {}\n", kind.words());
    let category = match kind {
        Kind::TrueWithFix | Kind::AgainstOldTest | Kind::NoDefect => "correctness",
        Kind::TrueWithoutFix | Kind::Reversed => "performance",
        Kind::WrongFix => "maintainability",
    };
    let mut finding = json!({
        "title": format!("{}: {title}", kind.words()), "description": title, "file": pair.file,
        "line": if is_after { pair.fixed_line } else { pair.line },
        "severity_hint": "medium", "category": category, "test_file": pair.test_file,
        "test_name": pair.test_name, "test_code": test,
    });
    if let Some(fix) = fix {
        finding["fix_patch"] = json!(fix);
    }
    Wanted { kind, side: if is_after { "after" } else { "before" }, finding }
}

impl Wanted {
    /// The kind of the claim, now that it is known which existing tests refuse its fix.
    pub(super) fn kind(&self, verdict: &Value, changed_tests: &str) -> Kind {
        let broken = verdict["proof"]["fix"]["tests_broken"].as_array();
        let was_changed = |test: &Value| {
            test.as_str().is_some_and(|test| is_changed(changed_tests, own_name(test)))
        };
        let all_changed =
            broken.is_some_and(|tests| !tests.is_empty() && tests.iter().all(was_changed));
        if self.kind == Kind::TrueWithFix && all_changed { Kind::AgainstOldTest } else { self.kind }
    }

    /// What a review says of this claim, with the name of the list that it is in.
    pub(super) fn verdict(&self, review: &Value) -> Value {
        for list in ["proven_issues", "observations", "discarded"] {
            let items = review[list].as_array().map_or(&[][..], Vec::as_slice);
            if let Some(item) = items.iter().find(|item| item["title"] == self.finding["title"]) {
                let mut verdict = item.clone();
                verdict["list"] = json!(list);
                return verdict;
            }
        }
        json!({ "list": "", "reason": review["error"]["message"] })
    }
}

/// A test's own name, without its file, suite, parameters and parts.
fn own_name(test: &str) -> &str {
    if let Some((_, title)) = test.rsplit_once(" > ") {
        return title;
    }
    let word = test.split_whitespace().next_back().unwrap_or(test);
    let name = word.rsplit("::").next().unwrap_or(word);
    let end = name.find(['[', '/']).unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

/// Whether a difference with whole functions takes lines away where a name is.
fn is_changed(difference: &str, name: &str) -> bool {
    difference.split("\n@@ ").skip(1).any(|part| {
        let takes_away = |line: &str| line.starts_with('-') && !line.starts_with("--- ");
        part.contains(name) && part.lines().skip(1).any(takes_away)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_the_project_changed_is_known_by_its_own_name() {
        for (test, name) in [
            ("tests/test_a.py::TestA::test_b[1-x]", "test_b"),
            ("tests/calc.js > doubles > small ones", "small ones"),
            ("example.org/calc TestDouble/small", "TestDouble"),
            ("calc unit tests::double", "double"),
        ] {
            assert_eq!(own_name(test), name);
        }
        let difference = "--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,2 @@\n def test_b():\n-    one\n+    two\n\
            @@ -9,1 +9,2 @@ def test_c():\n+    three\n";
        assert!(is_changed(difference, "test_b"));
        assert!(!is_changed(difference, "test_c") && !is_changed(difference, "test_d"));
    }
}
