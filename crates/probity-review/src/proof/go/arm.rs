//! Arms a copy: switches and marks are put into its code, and beside it what they call.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{
        alter,
        constant::without_text,
        placement::slashes,
        runner::{Armed, Placed},
        site::Site,
    },
    functions::Function,
    marks,
    source::clause,
    switch,
};

/// The file that switches and marks need in each package.
pub(super) const FILE: &str = "zz_probity_switch.go";

/// Stands before the words of a panic, in place of results.
pub(super) const PANIC: &str = "!panic";

/// Functions that are given a switch for one claim.
const MOST_FUNCTIONS: usize = 12;

/// How often a mark is told: more than that is the same to everybody.
const MOST_TOLD: u32 = 16;

/// Marks go into the flagged file; switches into the functions around the flagged lines first, then
/// into those that the test names, in the package of the flagged file and in the test's own. What
/// cannot be armed is left as it is.
pub(super) fn arm(site: &Site, placed: &Placed, variable: &str) -> Armed {
    let flagged = Path::new(&placed.flagged.file);
    let (Some(home), Some(test)) = (flagged.parent(), Path::new(&placed.path).parent()) else {
        return Armed::default();
    };
    let named = alter::words(&placed.source);
    let (mut ranked, mut armed, mut written) = (Vec::new(), Armed::default(), Vec::new());
    for directory in [home, test].iter().take(if home == test { 1 } else { 2 }) {
        let mut package = None;
        for file in files(site, directory, flagged) {
            let Ok(source) = fs::read_to_string(site.repo.join(&file)) else { continue };
            let is_flagged = file == flagged;
            let wanted = |function: &Function<'_>| {
                let around = is_flagged && placed.flagged.holds(function.first, function.last);
                if around { Some(0) } else { named.contains(function.name).then_some(1) }
            };
            let mut added = Vec::new();
            if is_flagged {
                for stretch in marks::stretches(&without_text(&source)) {
                    added.push((stretch.at, format!("; probityMark({}); ", armed.marks.len())));
                    armed.marks.push((stretch.first, stretch.last));
                }
            }
            let switches = switch::switches(&source, &wanted, &placed.source, ranked.len());
            if switches.len() <= MOST_FUNCTIONS.saturating_sub(ranked.len()) {
                for it in switches {
                    added.push((it.at, it.text));
                    ranked.push((it.rank, it.switch));
                }
            }
            if !added.is_empty() {
                package = package.or_else(|| clause(&source).map(str::to_owned));
                let path = slashes(&file);
                written.push((path.clone(), with(&source, added)));
                armed.originals.push((path, Some(source)));
            }
        }
        if let Some(package) = package {
            let path = slashes(&directory.join(FILE));
            // A directory that has a file of this name already is left alone.
            if site.repo.join(&path).exists() {
                return Armed::default();
            }
            let mut failures = switch::sentinels(&placed.source);
            failures.retain(|name| declares(site, directory, name));
            written.push((path.clone(), helper(&package, variable, &failures, armed.marks.len())));
            armed.originals.push((path, None));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    armed.functions = ranked.into_iter().map(|(_, function)| function).collect();
    match written.iter().try_for_each(|(path, text)| site.write(path, text)) {
        Ok(()) => armed,
        Err(_) => {
            armed.disarm(site).ok();
            Armed::default()
        }
    }
}

/// The source with texts added at their offsets: of two at the same, the first comes first.
fn with(source: &str, mut added: Vec<(usize, String)>) -> String {
    added.sort_by_key(|(at, _)| *at);
    let mut text = String::with_capacity(source.len() * 2);
    let mut done = 0;
    for (at, addition) in added {
        text.push_str(source.get(done..at).unwrap_or_default());
        text.push_str(&addition);
        done = at;
    }
    text.push_str(source.get(done..).unwrap_or_default());
    text
}

/// The program files of a directory, the flagged one first.
fn files(site: &Site, directory: &Path, flagged: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(site.repo.join(directory)).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| directory.join(entry.file_name()))
        .filter(|file| {
            let name = file.to_string_lossy();
            name.ends_with(".go") && !name.ends_with("_test.go")
        })
        .collect();
    files.sort_by_key(|file| (file != flagged, file.clone()));
    files
}

fn declares(site: &Site, directory: &Path, name: &str) -> bool {
    files(site, directory, Path::new("")).iter().any(|file| {
        let source = fs::read_to_string(site.repo.join(file)).unwrap_or_default();
        source.match_indices(name).any(|(at, _)| {
            let behind = source.get(at + name.len()..).unwrap_or_default().trim_start();
            behind.starts_with('=') && !behind.starts_with("==")
        })
    })
}

/// What the switches and marks of a package call. The variable has the file for marks, the function,
/// which of its calls (0 for all, 1 for none of them but their list, else the sum of its arguments: a
/// function that is altered at one place is still a function), and a value for each result. A
/// function without a plan costs one comparison. A mark is told at once, since a program may die.
fn helper(package: &str, variable: &str, failures: &[String], marks: usize) -> String {
    let cases: String =
        failures.iter().map(|name| format!("\tcase \"={name}\":\n\t\treturn {name}\n")).collect();
    format!(
        r#"package {package}

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

type probityError string

func (text probityError) Error() string {{ return string(text) }}

var (
	probityPlan     = strings.Split(os.Getenv("{variable}"), "\x1f")
	probityFunction = probityAt(1)
	probityWanted   = probityAt(2)
	probityMarks    [{marks}]uint32
)

func probityMark(number int) {{
	if atomic.AddUint32(&probityMarks[number], 1) <= {MOST_TOLD} && probityPlan[0] != "" {{
		probityTell(probityPlan[0], number, 1<<20)
	}}
}}

func probityTell(path string, what interface{{}}, most int64) {{
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {{
		return
	}}
	if size, err := file.Seek(0, 2); err == nil && size < most {{
		fmt.Fprintln(file, what)
	}}
	file.Close()
}}

func probityAt(number int) uint64 {{
	if number >= len(probityPlan) {{
		return 0
	}}
	value, _ := strconv.ParseUint(probityPlan[number], 10, 64)
	return value
}}

func probityPrint(values ...interface{{}}) string {{ return fmt.Sprint(values...) }}

func probitySwitch(function uint64, print func() string) bool {{
	if function != probityFunction {{
		return false
	}}
	if len(probityPlan) > 4 && probityPlan[3] == "{PANIC}" {{
		panic(probityPlan[4])
	}}
	if probityWanted == 0 {{
		return true
	}}
	key := uint64(14695981039346656037)
	for _, character := range []byte(print()) {{
		key = (key ^ uint64(character)) * 1099511628211
	}}
	if probityWanted == 1 {{
		probityTell(probityPlan[3], key, 4096)
		return false
	}}
	return probityWanted == key
}}

func probityText(result int) string {{
	if result+3 < len(probityPlan) {{
		return probityPlan[result+3]
	}}
	return ""
}}

func probityTruth(result int) bool {{ return probityText(result) == "true" }}

func probityNumber(result int) int64 {{
	value, err := strconv.ParseInt(probityText(result), 0, 64)
	if err != nil {{
		whole, _ := strconv.ParseUint(probityText(result), 0, 64)
		return int64(whole)
	}}
	return value
}}

func probityFloat(result int) float64 {{
	value, _ := strconv.ParseFloat(probityText(result), 64)
	return value
}}

func probityFailure(result int) error {{
	switch text := probityText(result); text {{
	case "":
		return nil
{cases}	default:
		return probityError(text)
	}}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn what_is_added_moves_no_line() {
        let source = "a {\n\tb\n}\n";
        let added = vec![(3, " mark;".to_owned()), (7, " end".to_owned()), (3, " if".to_owned())];
        assert_eq!(with(source, added), "a { mark; if\n\tb\n end}\n");
    }
}
