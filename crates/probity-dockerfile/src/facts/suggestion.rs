//! "Did you mean": the variable that was probably meant, chosen as BuildKit chooses it.

use crate::facts::{
    variables::{Environments, Variable},
    walk::Current,
};

/// BuildKit suggests a name that is at most this many insertions, deletions or replacements away.
const MOST_EDITS: usize = 2;

/// How many names all suggestions of a file may look at. Without a bound a file of nothing but
/// undefined variables would cost the square of its length; behind it there are no suggestions.
const MOST_COMPARISONS: usize = 1 << 20;

/// Makes suggestions until the bound is reached.
#[derive(Debug)]
pub(super) struct Suggestions {
    left: usize,
}

impl Suggestions {
    pub(super) fn new() -> Self {
        Self { left: MOST_COMPARISONS }
    }

    /// The nearest name. In a stage only variables with a value are candidates; in FROM whatever is
    /// declared is one. Among equally near names the one that was defined first wins.
    pub(super) fn nearest(
        &mut self,
        environments: &Environments,
        current: &Current,
        name: &str,
    ) -> Option<String> {
        if self.left == 0 {
            return None;
        }
        let mut variables = environments.all(current.environment);
        self.left = self.left.saturating_sub(variables.len());
        variables.retain(|variable| variable.set || !current.in_stage);
        variables.sort_by_key(|variable| variable.instruction);
        let name: Vec<char> = name.chars().collect();
        let near = |variable: &Variable| {
            let other: Vec<char> = variable.name.chars().collect();
            Some((edits(&name, &other)?, variable.name.clone()))
        };
        let candidates = variables.into_iter().filter_map(near);
        candidates.min_by_key(|&(edits, _)| edits).map(|(_, name)| name)
    }
}

/// The number of edits between two names, if it is small enough; only the cells of the table that can
/// be small enough are filled.
fn edits(left: &[char], right: &[char]) -> Option<usize> {
    if left.len().abs_diff(right.len()) > MOST_EDITS {
        return None;
    }
    let beyond = MOST_EDITS + 1;
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.iter().enumerate() {
        let first = index.saturating_sub(MOST_EDITS);
        let last = (index + 1 + MOST_EDITS).min(right.len());
        let mut diagonal = row.get(first).copied().unwrap_or(beyond);
        let mut before = if first == 0 { index + 1 } else { beyond };
        if let Some(cell) = row.get_mut(first) {
            *cell = before;
        }
        let cells = row.get_mut(first + 1..=last).unwrap_or_default();
        for (cell, to) in cells.iter_mut().zip(right.iter().skip(first)) {
            let replaced = diagonal + usize::from(from != to);
            diagonal = *cell;
            before = replaced.min(before + 1).min(diagonal + 1);
            *cell = before;
        }
    }
    row.last().copied().filter(|&edits| edits <= MOST_EDITS)
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_counted_up_to_two() {
        let cases = [
            ("", "", Some(0)),
            ("a", "", Some(1)),
            ("", "ab", Some(2)),
            ("", "abc", None),
            ("Q", "X", Some(1)),
            ("PAHT", "PATH", Some(2)),
            ("FOO", "FOOBA", Some(2)),
            ("FOOBA", "FOO", Some(2)),
            ("ABFOO", "FOO", Some(2)),
            ("FOO", "ABFOO", Some(2)),
            ("TARGETPLATFROM", "TARGETPLATFORM", Some(2)),
            ("XARGETPLATFORX", "TARGETPLATFORM", Some(2)),
            ("XARGETPLXTFORX", "TARGETPLATFORM", None),
            ("foo", "FOO", None),
            ("größe", "groesse", None),
            ("größe", "grösse", Some(2)),
        ];
        for (left, right, expected) in cases {
            let left: Vec<char> = left.chars().collect();
            let right: Vec<char> = right.chars().collect();
            assert_eq!(edits(&left, &right), expected, "{left:?} {right:?}");
            assert_eq!(edits(&right, &left), expected, "{right:?} {left:?}");
        }
    }
}
