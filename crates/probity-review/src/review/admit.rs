//! Which findings are about the code under review at all.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use probity_proof::Change;
use probity_scope::Scope;

use super::AskOptions;
use crate::findings::{AgentFinding, Findings};

const FILE_BYTES: u64 = 8 << 20;

pub(super) struct Admitted {
    pub(super) kept: Vec<AgentFinding>,
    pub(super) dropped: Vec<(AgentFinding, String)>,
    pub(super) notes: Vec<String>,
}

pub(super) fn admitted(
    findings: Findings,
    options: &AskOptions<'_>,
    names: &[String],
    scope: &Scope,
    change: Option<&Change>,
) -> Admitted {
    let names: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut admitted = Admitted { kept: Vec::new(), dropped: Vec::new(), notes: Vec::new() };
    let mut seen = HashSet::new();
    // Each test, and the finding that it is run for.
    let mut tests: HashMap<(String, Option<String>), usize> = HashMap::new();
    for mut finding in findings.accepted {
        finding.file = finding.file.trim_start_matches("./").to_owned();
        let test = finding.test_code.as_deref().map(|code| code.trim().to_owned());
        // One file of tests may hold one for each of several defects.
        let test = test.map(|code| (code, finding.test_name.clone()));
        let key = (finding.file.clone(), finding.line, finding.title.clone(), test.clone());
        let refusal = if !names.contains(finding.file.as_str()) {
            Some("there is no such file in the repository".to_owned())
        } else if !options.config.is_enabled(finding.category) {
            Some(format!("the category {} is not enabled", finding.category))
        } else if !options.config.should_review(&finding.file) {
            Some("its file is not under review".to_owned())
        } else if !change.is_none_or(|change| change.touches(&finding.file)) {
            Some("its file is not part of the change".to_owned())
        } else if !seen.insert(key) {
            Some("it was said before".to_owned())
        } else if test.as_ref().is_some_and(|test| tests.contains_key(test)) {
            // One test shows one defect, however often it is told.
            Some("it is a duplicate: another finding has the same test".to_owned())
        } else if admitted.kept.len() >= options.max_findings {
            Some(format!("there are more than {} findings", options.max_findings))
        } else {
            None
        };
        match refusal {
            Some(reason) => {
                // Its fix may still be the one that proves the finding.
                let same = test.and_then(|test| admitted.kept.get_mut(*tests.get(&test)?));
                if let Some(kept) = same.filter(|kept| kept.file == finding.file)
                    && kept.fix_patch != finding.fix_patch
                {
                    kept.other_fixes.extend(finding.fix_patch.clone());
                }
                admitted.dropped.push((finding, reason));
            }
            None => {
                tests.extend(test.map(|test| (test, admitted.kept.len())));
                admitted.notes.extend(placed(&mut finding, scope));
                admitted.kept.push(finding);
            }
        }
    }
    let rejected = findings.rejected.into_iter();
    admitted.dropped.extend(rejected.map(|rejected| {
        let reason = format!("it is not a finding: {}", rejected.reason);
        (stand_in(rejected.title, rejected.file, rejected.line), reason)
    }));
    admitted
}

/// Moves a finding that points behind the end of its file to its last line, and says so.
fn placed(finding: &mut AgentFinding, scope: &Scope) -> Option<String> {
    let bytes = scope.read(Path::new(&finding.file), FILE_BYTES).ok()?;
    let lines = String::from_utf8_lossy(&bytes).lines().count().max(1) as u64;
    if finding.line <= lines {
        finding.end_line = finding.end_line.map(|end| end.min(lines));
        return None;
    }
    let note = format!(
        "`{}` was said to be on line {} of {}, which has {lines}",
        finding.title, finding.line, finding.file
    );
    finding.line = lines;
    finding.end_line = None;
    Some(note)
}

/// What is left of an item that is no finding, for the list of what was dropped.
fn stand_in(title: String, file: String, line: Option<u64>) -> AgentFinding {
    AgentFinding {
        title,
        description: String::new(),
        file,
        line: line.unwrap_or(0),
        end_line: None,
        severity: crate::Risk::Low,
        category: crate::Category::Correctness,
        test_code: None,
        test_file: None,
        test_name: None,
        fix_patch: None,
        other_fixes: Vec::new(),
    }
}
