//! "Did you mean": the variable that was probably meant, chosen as BuildKit chooses it.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::facts::{
    variables::{Environments, Variable},
    walk::Current,
};

/// BuildKit suggests a name that is at most this many insertions, deletions or replacements away.
const MOST_EDITS: usize = 2;

/// Longer names are neither suggested nor given a suggestion: their remains are too many.
const LONGEST_NAME: usize = 48;

/// Odd and large, so different letters at different places rarely give the same sum.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finds names by what remains of them when up to [`MOST_EDITS`] letters are gone. Two names that are
/// that near have a remainder in common, so a name is compared with those alone and not with every
/// name of the file. Nothing is indexed before the first question.
#[derive(Debug, Default)]
pub(super) struct Suggestions {
    names: Vec<String>,
    known: HashSet<String>,
    /// How many definitions are indexed.
    definitions: usize,
    /// The last link of each remainder, by its hash.
    heads: HashMap<u64, usize>,
    links: Vec<Link>,
}

/// A name with a remainder, and the link before it that has the same one.
#[derive(Debug)]
struct Link {
    name: usize,
    before: Option<usize>,
}

impl Suggestions {
    /// The nearest name. In a stage only variables with a value are candidates; in FROM whatever is
    /// declared is one. Among equally near names the one that was defined first wins.
    pub(super) fn nearest(
        &mut self,
        environments: &Environments,
        current: &Current,
        name: &str,
    ) -> Option<String> {
        self.index(environments.defined_after(self.definitions));
        let name: Vec<char> = name.chars().collect();
        let mut near = BTreeSet::new();
        for remainder in remainders(&name) {
            let mut next = self.heads.get(&remainder).copied();
            while let Some(link) = next.and_then(|at| self.links.get(at)) {
                near.insert(link.name);
                next = link.before;
            }
        }
        let names = near.into_iter().filter_map(|at| self.names.get(at));
        let variables = names.filter_map(|name| environments.get(current.environment, name));
        let mut variables: Vec<&Variable> =
            variables.filter(|variable| variable.set || !current.in_stage).collect();
        variables.sort_by_key(|variable| variable.instruction);
        let candidates = variables.into_iter().filter_map(|variable| {
            let other: Vec<char> = variable.name.chars().collect();
            Some((edits(&name, &other)?, variable.name.clone()))
        });
        candidates.min_by_key(|&(edits, _)| edits).map(|(_, name)| name)
    }

    fn index(&mut self, definitions: &[Variable]) {
        self.definitions += definitions.len();
        for Variable { name, .. } in definitions {
            if !self.known.insert(name.clone()) {
                continue;
            }
            let letters: Vec<char> = name.chars().collect();
            for remainder in remainders(&letters) {
                let before = self.heads.insert(remainder, self.links.len());
                self.links.push(Link { name: self.names.len(), before });
            }
            self.names.push(name.clone());
        }
    }
}

/// The hashes of a name without none, one and two of its letters, each once.
///
/// A hash is a polynomial in the letters, so each one follows from the sums before its gaps and costs
/// the same however long the name is. Names with equal hashes are compared letter by letter.
fn remainders(name: &[char]) -> Vec<u64> {
    if name.len() > LONGEST_NAME {
        return Vec::new();
    }
    let end = name.len();
    let sums = [0, 1, 2].map(|gaps| sums(name, gaps));
    let between = |gaps: usize, from: usize, to: usize| -> u64 {
        let at = |place: usize| sums.get(gaps).and_then(|sums| sums.get(place)).copied();
        at(to).unwrap_or_default().wrapping_sub(at(from).unwrap_or_default())
    };
    let mut found = vec![between(0, 0, end)];
    for first in 0..end {
        let before = between(0, 0, first);
        found.push(before.wrapping_add(between(1, first + 1, end)));
        for second in first + 1..end {
            let middle = between(1, first + 1, second);
            found.push(before.wrapping_add(middle).wrapping_add(between(2, second + 1, end)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The sums of the hash up to each letter, each letter `gaps` places before its own.
fn sums(name: &[char], gaps: usize) -> Vec<u64> {
    let mut sums = vec![0];
    let (mut sum, mut power) = (0_u64, 1_u64);
    for (at, letter) in name.iter().enumerate() {
        if at >= gaps {
            sum = sum.wrapping_add(power.wrapping_mul(u64::from(u32::from(*letter)) + 1));
            power = power.wrapping_mul(FACTOR);
        }
        sums.push(sum);
    }
    sums
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
    use std::collections::HashSet;

    use super::{edits, remainders};

    /// Equal texts have equal hashes wherever the letters are missing, and other texts have others.
    #[test]
    fn each_remainder_of_a_name_has_one_hash() {
        for name in ["", "a", "aa", "ab", "PATH", "aaaaaa", "größe", "TARGETPLATFORM"] {
            let letters: Vec<char> = name.chars().collect();
            let without = |gone: [usize; 2]| -> Vec<char> {
                let kept = letters.iter().enumerate().filter(|(at, _)| !gone.contains(at));
                kept.map(|(_, letter)| *letter).collect()
            };
            let places = || 0..=letters.len();
            let texts: HashSet<Vec<char>> =
                places().flat_map(|one| places().map(move |two| [one, two])).map(without).collect();
            let mut hashes = remainders(&letters);
            assert_eq!(hashes.len(), texts.len(), "{name}");
            let whole = |text: &Vec<char>| super::sums(text, 0).pop().unwrap_or_default();
            let mut expected: Vec<u64> = texts.iter().map(whole).collect();
            hashes.sort_unstable();
            expected.sort_unstable();
            assert_eq!(hashes, expected, "{name}");
        }
    }

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
