//! What is claimed of the code before a fix and after it, and what should become of it.

use serde_json::{Value, json};

use super::{cases::Pair, checkout::Change};

/// A kind of claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The defect, with the fix of the project.
    TrueWithFix,
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
    pub(super) const ALL: [Self; 5] =
        [Self::TrueWithFix, Self::TrueWithoutFix, Self::WrongFix, Self::NoDefect, Self::Reversed];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::TrueWithFix => "true, with its fix: proven",
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
            Self::Reversed => list == "observations" && fix == "breaks-tests",
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
        Kind::TrueWithFix | Kind::NoDefect => "correctness",
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
