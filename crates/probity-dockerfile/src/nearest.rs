//! Which of the known names someone probably meant.

/// The help for a misspelt name, if one of the known names is near.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> Option<String> {
    nearest(name, known).map(|found| format!("did you mean {found}?"))
}

/// The known name with the smallest edit distance, if that is as small as BuildKit wants it and not
/// everything was edited.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).map(|c| c.to_ascii_lowercase()).collect();
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    let distances = known.iter().map(|&candidate| (distance(&name, candidate), candidate));
    let (edits, found) = distances.min_by_key(|&(edits, _)| edits)?;
    (edits <= 2 && edits < name.len()).then_some(found)
}

/// Longer names are not misspelt ones.
const LONGEST: usize = 24;

/// The number of insertions, deletions, replacements and swaps of neighbours between two names.
fn distance(name: &[char], candidate: &str) -> usize {
    let other: Vec<char> = candidate.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=other.len()).collect();
    for (row, &left) in name.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &right) in other.iter().enumerate() {
            let at = |values: &[usize], index: usize| {
                values.get(index).copied().unwrap_or(usize::MAX / 2)
            };
            let mut best = at(&previous, column) + usize::from(left != right);
            best = best.min(at(&previous, column + 1) + 1).min(at(&current, column) + 1);
            let swapped = row > 0
                && column > 0
                && name.get(row - 1) == Some(&right)
                && other.get(column - 1) == Some(&left);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous.last().copied().unwrap_or(usize::MAX)
}
