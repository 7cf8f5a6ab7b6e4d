//! The valid name that a misspelt one most likely meant.

use std::cmp::Reverse;

/// The candidate with the fewest typing slips from `wanted`, if it is near enough to be meant.
///
/// Case does not count, so that a name which is wrong only there is always found.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    if length > LONGEST {
        return None;
    }
    let furthest = (length / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let alike = wanted.chars().zip(lower.chars()).take_while(|(left, right)| left == right);
            // Among equals the longest common beginning wins, since people rarely err there.
            ((strsim::osa_distance(&wanted, &lower), Reverse(alike.count())), candidate)
        })
        .filter(|&((distance, _), _)| distance <= furthest)
        .min_by_key(|&(order, _)| order)
        .map(|(_, candidate)| candidate)
}

/// Longer than any valid name; the cost grows with the square.
const LONGEST: usize = 80;

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_near_names_are_offered() {
        let names = ["format", "path", "show-source", "fail-level"];
        for (wanted, expected) in [
            ("fail-lvl", Some("fail-level")),
            ("FORMAT", Some("format")),
            ("pth", Some("path")),
            ("at", None),
            ("colour", None),
            ("", None),
            (&"x".repeat(10_000), None),
        ] {
            assert_eq!(nearest(wanted, names), expected, "{wanted}");
        }
    }
}
