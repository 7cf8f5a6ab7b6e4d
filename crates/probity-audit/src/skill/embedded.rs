//! The skills that are part of the program, for projects that have none of their own.

use crate::{Skill, SkillError};

const FILES: [(&str, &str); 3] = [
    (
        "001-strict-value-equality.md",
        include_str!("../../../../skills/vulnerabilities/001-strict-value-equality.md"),
    ),
    (
        "002-missing-address-validation.md",
        include_str!("../../../../skills/vulnerabilities/002-missing-address-validation.md"),
    ),
    (
        "003-unvalidated-datum.md",
        include_str!("../../../../skills/vulnerabilities/003-unvalidated-datum.md"),
    ),
];

/// The three skills, in the order of their files. They are parsed as any other.
pub fn embedded() -> Result<Vec<Skill>, SkillError> {
    FILES.iter().map(|(file, text)| Skill::parse(file, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_skills_are_embedded_and_each_is_complete() {
        let skills = embedded().unwrap();
        let ids: Vec<&str> = skills.iter().map(|skill| skill.id.as_str()).collect();
        let expected = [
            "strict-value-equality-001",
            "missing-address-validation-002",
            "unvalidated-datum-003",
        ];
        assert_eq!(ids, expected);
        for skill in &skills {
            assert_eq!(skill.severity, crate::Risk::High);
            assert!(!skill.examples.is_empty() && !skill.false_positives.is_empty());
            assert!(skill.guidance_markdown.contains("# How to look"), "{}", skill.id);
        }
    }
}
