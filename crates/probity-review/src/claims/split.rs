//! Which shard proves which claim: the longest first, each to the shard that has least to do.

use std::{fmt, path::Path, str::FromStr};

use probity_proof::Claim;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// One of several shards, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    pub index: u32,
    pub of: u32,
}

/// More shards than any review has claims.
const MOST: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard; expected I/N with I from 1 to N and N at most {MOST}, such as 2/3")]
pub struct BadShard(String);

impl Shard {
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    #[must_use]
    pub fn is_valid(self) -> bool {
        (1..=MOST).contains(&self.of) && (1..=self.of).contains(&self.index)
    }

    /// The claims of this shard, in the order of their ids. The same claims always give the same
    /// shards.
    #[must_use]
    pub fn of_claims(self, claims: Vec<Claim>) -> Vec<Claim> {
        let mut costs: Vec<(u64, String, Claim)> =
            claims.into_iter().map(|claim| (cost(&claim), fingerprint(&claim), claim)).collect();
        costs.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let mut loads = vec![0_u64; self.of as usize];
        let mut chosen = Vec::new();
        for (cost, _, claim) in costs {
            let least = loads.iter_mut().zip(1..).min_by_key(|(load, index)| (**load, *index));
            let Some((load, index)) = least else { break };
            *load += cost;
            if index == self.index {
                chosen.push(claim);
            }
        }
        chosen.sort_by(|one, other| one.id.cmp(&other.id));
        chosen
    }
}

/// About how long a proof takes, in no unit: what a runner takes to build and start, once for each
/// version of the code.
fn cost(claim: &Claim) -> u64 {
    let ending = Path::new(&claim.file).extension().and_then(|ending| ending.to_str());
    let of_runner = match ending.unwrap_or_default() {
        "rs" | "c" | "cc" | "cpp" | "java" | "kt" => 8,
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" => 4,
        "go" => 3,
        _ => 2,
    };
    // Without a fix several other return values are tried.
    let versions = if claim.fix_patch.is_some() { 2 } else { 4 };
    of_runner * versions
}

fn fingerprint(claim: &Claim) -> String {
    let mut digest = Sha256::new();
    for part in [&claim.file, &claim.line.to_string(), &claim.test_code, &claim.id] {
        digest.update(part);
        digest.update([0]);
    }
    super::hex(&digest.finalize())
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Self, BadShard> {
        let bad = || BadShard(text.chars().take(40).collect());
        let (index, of) = text.split_once('/').ok_or_else(bad)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let shard = Self { index: number(index)?, of: number(of)? };
        if shard.is_valid() { Ok(shard) } else { Err(bad()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Vec<Claim> {
        let claim = |(number, file): (usize, &&str)| Claim {
            id: super::super::id(number),
            file: (*file).to_owned(),
            fix_patch: (number % 3 > 0).then(String::new),
            ..Claim::default()
        };
        let files = ["a.rs", "b.py", "c.go", "d.py", "e.js", "f.rs", "g.py", "h.go", "i", "j.py"];
        files.iter().enumerate().map(claim).collect()
    }

    #[test]
    fn every_claim_is_in_one_shard_and_no_shard_has_much_more_than_another() {
        let all: Vec<String> = claims().into_iter().map(|claim| claim.id).collect();
        for of in 1..=12 {
            let shards: Vec<Vec<Claim>> =
                (1..=of).map(|index| Shard { index, of }.of_claims(claims())).collect();
            let mut ids: Vec<&str> =
                shards.iter().flatten().map(|claim| claim.id.as_str()).collect();
            ids.sort_unstable();
            assert_eq!(ids, all, "{of}");
            let loads = || shards.iter().map(|shard| shard.iter().map(cost).sum::<u64>());
            let longest = claims().iter().map(cost).max().unwrap();
            assert!(loads().max().unwrap() - loads().min().unwrap() <= longest, "{of}");
            // The order in which claims are listed does not matter.
            let mut turned = claims();
            turned.reverse();
            assert_eq!(Shard { index: 1, of }.of_claims(turned), shards[0]);
        }
    }

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, of: 3 }));
        for bad in ["", "1", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2", "1/1001", "1 / 2"] {
            assert_eq!(bad.parse::<Shard>(), Err(BadShard(bad.to_owned())), "{bad}");
        }
    }
}
