//! Which of the known names someone probably meant.

/// The help for a misspelt name, if one of the known names is near.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> Option<String> {
    nearest(name, known).map(|found| format!("did you mean {found}?"))
}

/// The known name with the smallest edit distance, if that is as small as BuildKit wants it and not
/// everything was edited.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let length = name.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let edits = |known: &str| strsim::osa_distance(&name, &known.to_ascii_lowercase());
    let (edits, found) =
        known.iter().map(|&known| (edits(known), known)).min_by_key(|(edits, _)| *edits)?;
    (edits <= 2 && edits < length).then_some(found)
}

/// Longer names are not misspelt ones.
const LONGEST: usize = 24;
