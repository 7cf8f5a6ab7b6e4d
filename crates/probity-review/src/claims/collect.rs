//! All parts of one claims file, and nothing else.

use super::{Claims, ClaimsError, Part, Settled, Shard};

/// A part, and the name of its file.
#[derive(Debug)]
pub struct NamedPart {
    pub name: String,
    pub part: Part,
}

/// The claims file that the parts belong to, and all results.
///
/// # Errors
///
/// When a part is missing, given twice, of another claims file, or does not have its own results.
pub(crate) fn collected(parts: Vec<NamedPart>) -> Result<(Claims, Settled), ClaimsError> {
    let first = parts.first().ok_or(ClaimsError::NoPart)?;
    let (digest, of) = (first.part.claims.digest(), first.part.shard.of);
    let mut found: Vec<Option<&str>> = vec![None; of as usize];
    for NamedPart { name, part } in &parts {
        if part.claims.digest() != digest {
            return Err(ClaimsError::Foreign { one: first.name.clone(), other: name.clone() });
        }
        let Shard { index, of: other_of } = part.shard;
        if other_of != of {
            let (one, other) = (first.name.clone(), name.clone());
            return Err(ClaimsError::Split { one, of, other, other_of });
        }
        // Whoever read the part has checked that its shard exists.
        let Some(place) = found.get_mut(index as usize - 1) else { continue };
        if let Some(one) = place.replace(name) {
            let (one, other) = (one.to_owned(), name.clone());
            return Err(ClaimsError::Doubled { one, other, shard: part.shard.to_string() });
        }
        let expected = part.shard.of_claims(part.claims.open());
        let expected = expected.iter().map(|claim| claim.id.as_str());
        if !expected.eq(part.results.proved.iter().map(|proved| proved.id.as_str())) {
            return Err(ClaimsError::Results { part: name.clone() });
        }
    }
    let missing: Vec<String> = found
        .iter()
        .zip(1..)
        .filter(|(name, _)| name.is_none())
        .map(|(_, index)| Shard { index, of }.to_string())
        .collect();
    if !missing.is_empty() {
        return Err(ClaimsError::Missing { of, missing: missing.join(", ") });
    }
    let mut parts = parts;
    parts.sort_by_key(|named| named.part.shard.index);
    let mut parts: Vec<Part> = parts.into_iter().map(|named| named.part).collect();
    let results: Settled = parts.iter_mut().map(|part| std::mem::take(&mut part.results)).collect();
    let claims = parts.swap_remove(0).claims;
    Ok((claims, results))
}
