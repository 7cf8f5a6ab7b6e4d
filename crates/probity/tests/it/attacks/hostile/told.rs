//! What probity said, and what is looked for in it.

use std::{fs, path::Path};

/// Stands in every secret, and in nothing that a repository has.
const SECRET: &str = "kumquat";

/// All that the commands said.
#[derive(Default)]
pub(super) struct Told {
    pub(super) console: String,
    pub(super) reports: String,
}

impl Told {
    pub(super) fn all(&self) -> String {
        format!("{}\n{}", self.console, self.reports)
    }

    /// What helps to see why an attack did not succeed.
    pub(super) fn short(&self) -> String {
        let is_telling = |line: &&str| line.contains("output\": ") || line.contains("\"reason\": ");
        let told: Vec<&str> = self.reports.lines().filter(is_telling).collect();
        format!("{}{}\n", self.console, told.join("\n"))
    }
}

pub(super) fn secret(word: &str) -> String {
    format!("{SECRET}-{word}.")
}

/// The first line with a text in it.
pub(super) fn line_with(told: &str, text: &str) -> Option<String> {
    let line = told.lines().find(|line| line.contains(text))?;
    let start = line.find(text)?.saturating_sub(80);
    let near: String = line.chars().skip(start).take(160 + text.len()).collect();
    Some(format!("it says {near:?}"))
}

/// The reports below a directory, of which those for machines say the most.
pub(super) fn reports(directory: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.push_str(&reports(&entry.path()));
        } else if entry.path().extension().is_some_and(|ending| ending == "json") {
            all.push_str(&fs::read_to_string(entry.path()).unwrap_or_default());
            all.push('\n');
        }
    }
    all
}
