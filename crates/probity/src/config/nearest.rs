//! The valid name that a misspelt one most likely meant.

use std::cmp::Reverse;

/// The candidate with the fewest typing slips from `wanted`, if it is near enough to be meant.
///
/// Case does not count, so that a name which is wrong only there is always found.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    if wanted.len() > LONGEST {
        return None;
    }
    let furthest = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            let alike = wanted.iter().zip(&letters).take_while(|(left, right)| left == right);
            // Among equals the longest common beginning wins, since people rarely err there.
            ((distance(&wanted, &letters), Reverse(alike.count())), candidate)
        })
        .filter(|&((distance, _), _)| distance <= furthest)
        .min_by_key(|&(order, _)| order)
        .map(|(_, candidate)| candidate)
}

/// No valid name is longer, and the cost grows with the square.
const LONGEST: usize = 80;

/// Damerau-Levenshtein in its optimal string alignment form: insertions, deletions, substitutions
/// and swaps of neighbours, each costing one. Three rows are enough, since a swap looks two back.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut left_previous = None;
    for (row, &left_char) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut best_so_far = row + 1;
        let mut right_previous = None;
        for (column, &right_char) in right.iter().enumerate() {
            let substituted = at(&last, column) + usize::from(left_char != right_char);
            let mut best = substituted.min(at(&last, column + 1) + 1).min(best_so_far + 1);
            if left_previous == Some(right_char) && right_previous == Some(left_char) {
                best = best.min(at(&before_last, column.saturating_sub(1)) + 1);
            }
            current.push(best);
            best_so_far = best;
            right_previous = Some(right_char);
        }
        before_last = std::mem::replace(&mut last, current);
        left_previous = Some(left_char);
    }
    last.last().copied().unwrap_or(left.len())
}

fn at(row: &[usize], column: usize) -> usize {
    row.get(column).copied().unwrap_or(usize::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_count_slips() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("format", "format", 0),
            ("fromat", "format", 1),
            ("formt", "format", 1),
            ("formaat", "format", 1),
            ("firmat", "format", 1),
            ("kitten", "sitting", 3),
            ("ba", "abc", 2),
        ] {
            let left_letters: Vec<char> = left.chars().collect();
            let right_letters: Vec<char> = right.chars().collect();
            assert_eq!(distance(&left_letters, &right_letters), expected, "{left} {right}");
        }
    }

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
