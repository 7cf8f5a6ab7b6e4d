//! The skills that are part of the program.

use crate::{Skill, SkillError};

/// The name of a shipped skill, and its text.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../skills/", $path)))
    };
}

const CONTRACTS: &[(&str, &str)] = &[
    file!("vulnerabilities/001-strict-value-equality.md"),
    file!("vulnerabilities/002-missing-address-validation.md"),
    file!("vulnerabilities/003-unvalidated-datum.md"),
    file!("vulnerabilities/004-double-satisfaction.md"),
    file!("vulnerabilities/005-other-token-name.md"),
    file!("vulnerabilities/006-unbounded-value.md"),
    file!("vulnerabilities/007-unbounded-datum.md"),
    file!("vulnerabilities/008-unbounded-inputs.md"),
    file!("vulnerabilities/009-missing-utxo-authentication.md"),
    file!("vulnerabilities/010-time-handling.md"),
    file!("vulnerabilities/011-missing-signatory.md"),
    file!("vulnerabilities/012-withdraw-zero.md"),
    file!("vulnerabilities/013-insufficient-staking-control.md"),
    file!("vulnerabilities/014-arbitrary-datum.md"),
    file!("vulnerabilities/015-rounding.md"),
    file!("vulnerabilities/016-locked-value.md"),
    file!("vulnerabilities/017-unvalidated-reference-script.md"),
    file!("vulnerabilities/018-minting-policy.md"),
    file!("vulnerabilities/019-redeemer-mix-up.md"),
    file!("vulnerabilities/020-own-input-confusion.md"),
    file!("vulnerabilities/021-oracle-freshness.md"),
    file!("vulnerabilities/022-unvalidated-index.md"),
    file!("vulnerabilities/023-negative-amount.md"),
    file!("vulnerabilities/024-duplicate-signatories.md"),
    file!("vulnerabilities/025-permissive-fallback.md"),
];

const WEB: &[(&str, &str)] = &[
    file!("web/001-injection.md"),
    file!("web/002-path-traversal.md"),
    file!("web/003-ssrf.md"),
    file!("web/004-missing-authorization.md"),
    file!("web/005-unsafe-deserialization.md"),
    file!("web/006-secrets-in-code.md"),
];

/// How many of the contracts' skills an audit uses that names none, as the specification has it.
const USUAL: usize = 3;

/// A set of skills that is chosen by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pack {
    /// Every class of vulnerability in contracts.
    Full,
    /// Programs that serve the web.
    Web,
}

impl Pack {
    pub const ALL: [Self; 2] = [Self::Full, Self::Web];

    /// As it is written behind `builtin:`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Web => "web",
        }
    }

    pub fn skills(self) -> Result<Vec<Skill>, SkillError> {
        parsed(match self {
            Self::Full => CONTRACTS,
            Self::Web => WEB,
        })
    }
}

/// The three skills for projects that have none of their own, in the order of their files.
pub fn embedded() -> Result<Vec<Skill>, SkillError> {
    parsed(CONTRACTS.get(..USUAL).unwrap_or(CONTRACTS))
}

/// They are parsed as any other.
fn parsed(files: &[(&str, &str)]) -> Result<Vec<Skill>, SkillError> {
    files.iter().map(|(file, text)| Skill::parse(file, text)).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn three_skills_are_usual() {
        let ids: Vec<String> = embedded().unwrap().into_iter().map(|skill| skill.id).collect();
        let expected = [
            "strict-value-equality-001",
            "missing-address-validation-002",
            "unvalidated-datum-003",
        ];
        assert_eq!(ids, expected);
        assert!(embedded().unwrap().iter().all(|skill| skill.severity == crate::Risk::High));
    }

    #[test]
    fn every_file_of_a_pack_is_shipped_and_each_skill_is_complete() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
        for (pack, directory, files) in
            [(Pack::Full, "vulnerabilities", CONTRACTS), (Pack::Web, "web", WEB)]
        {
            let shipped: BTreeSet<String> =
                files.iter().map(|(name, _)| (*name).to_owned()).collect();
            let names = fs::read_dir(root.join(directory)).unwrap().map(|entry| {
                format!("{directory}/{}", entry.unwrap().file_name().to_str().unwrap())
            });
            assert_eq!(shipped, names.collect(), "{pack:?}");
            let skills = pack.skills().unwrap();
            let ids: BTreeSet<&str> = skills.iter().map(|skill| skill.id.as_str()).collect();
            assert_eq!(ids.len(), skills.len(), "an id twice");
            for skill in &skills {
                assert!(!skill.examples.is_empty() && !skill.false_positives.is_empty());
                for heading in [
                    "# How to recognize it",
                    "# How it is mitigated",
                    "# What an exploit must show",
                    "# What to report",
                ] {
                    assert!(skill.guidance_markdown.contains(heading), "{}: {heading}", skill.id);
                }
            }
        }
    }
}
