//! Switches in Go functions: a program that is told so by its environment returns other values.
//!
//! They are compiled into the same program that the test is run with, where they do nothing until
//! they are asked to: a second compilation would cost as much as the proof itself. Each is added to
//! the line of the brace that opens the function, so that no line moves.

use std::{fs, path::Path};

use super::{
    super::{
        alter,
        constant::{closing, without_text},
        placement::slashes,
        runner::{Armed, Placed, Switch, Values},
        site::Site,
    },
    functions::{Function, functions},
    source::clause,
};

/// The file that the switches need in each package.
pub(super) const FILE: &str = "zz_probity_switch.go";

/// Stands before the words of a panic, in place of results.
pub(super) const PANIC: &str = "!panic";

/// Functions that are given a switch for one claim.
const MOST_FUNCTIONS: usize = 12;

/// The functions around the flagged lines first, then those that the test names, in the package of
/// the flagged file and in the test's own.
pub(super) fn arm(site: &Site, placed: &Placed, variable: &str) -> Option<Armed> {
    let named = alter::words(&placed.source);
    let flagged = Path::new(&placed.flagged.file);
    let home = flagged.parent()?;
    let test = Path::new(&placed.path).parent()?;
    let (mut ranked, mut originals, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for directory in [home, test].iter().take(if home == test { 1 } else { 2 }) {
        let mut package = None;
        for file in files(site, directory, flagged) {
            let Ok(source) = fs::read_to_string(site.repo.join(&file)) else { continue };
            let is_flagged = file == flagged;
            let wanted = |function: &Function<'_>| {
                let around = is_flagged && placed.flagged.holds(function.first, function.last);
                if around { Some(0) } else { named.contains(function.name).then_some(1) }
            };
            let room = MOST_FUNCTIONS.saturating_sub(ranked.len());
            let (switched, functions) = switched(&source, &wanted, &placed.source, ranked.len());
            if functions.is_empty() || functions.len() > room {
                continue;
            }
            package = package.or_else(|| clause(&source).map(str::to_owned));
            ranked.extend(functions);
            let path = slashes(&file);
            originals.push((path.clone(), Some(source)));
            written.push((path, switched));
        }
        if let Some(package) = package {
            let path = slashes(&directory.join(FILE));
            // A directory that has a file of this name already is left alone.
            if site.repo.join(&path).exists() {
                return None;
            }
            let mut failures = sentinels(&placed.source);
            failures.retain(|name| declares(site, directory, name));
            originals.push((path.clone(), None));
            written.push((path, helper(&package, variable, &failures)));
        }
    }
    if ranked.is_empty() {
        return None;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let functions = ranked.into_iter().map(|(_, function)| function).collect();
    let done = written.iter().try_for_each(|(path, text)| site.write(path, text));
    done.is_ok().then_some(Armed { originals, functions })
}

/// The program files of a directory, the flagged one first.
fn files(site: &Site, directory: &Path, flagged: &Path) -> Vec<std::path::PathBuf> {
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

/// Names of failures that a test may wait for.
fn sentinels(test: &str) -> Vec<String> {
    let is_failure = |word: &String| {
        word.strip_prefix("Err").is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    alter::words(test).into_iter().filter(is_failure).collect()
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

/// The source with switches, and what they can do, with the rank that `wanted` gives them.
fn switched(
    source: &str,
    wanted: &dyn Fn(&Function<'_>) -> Option<u8>,
    test: &str,
    before: usize,
) -> (String, Vec<(u8, Switch)>) {
    let bare = without_text(source);
    let mut text = String::with_capacity(source.len());
    let (mut done, mut switches) = (0, Vec::new());
    for function in functions(&bare) {
        let Some(rank) = wanted(&function) else { continue };
        if ["init", "main", "_"].contains(&function.name) {
            continue;
        }
        let id = before + switches.len() + 1;
        let mut results = Vec::new();
        let mut expressions = Vec::new();
        for (number, kind) in function.results.iter().enumerate() {
            let (values, expression) = result(kind, number, test, source);
            results.push(values);
            expressions.push(expression);
        }
        text.push_str(source.get(done..function.body).unwrap_or_default());
        text.push_str(&format!(
            " if probitySwitch({id}, func() string {{ return probityPrint({}) }}) {{ return {} }}; ",
            function.parameters.join(", "),
            expressions.join(", ")
        ));
        done = function.body;
        switches.push((rank, Switch { id, name: function.name.to_owned(), results }));
    }
    text.push_str(source.get(done..).unwrap_or_default());
    (text, switches)
}

/// What a result of this type can be, and the expression for it.
fn result(kind: &str, number: usize, test: &str, source: &str) -> (Values, String) {
    let numbers = [
        "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
        "uintptr", "byte", "rune",
    ];
    match kind {
        "string" => (Values::Text, format!("probityText({number})")),
        "any" | "interface{}" => (Values::Text, format!("probityText({number})")),
        "[]byte" => (Values::Text, format!("[]byte(probityText({number}))")),
        "bool" => (Values::Truth, format!("probityTruth({number})")),
        "error" => (Values::Failure(sentinels(test)), format!("probityFailure({number})")),
        "float32" | "float64" => (Values::Number, format!("{kind}(probityFloat({number}))")),
        kind if numbers.contains(&kind) => {
            (Values::Number, format!("{kind}(probityNumber({number}))"))
        }
        kind => {
            let mut others = Vec::new();
            if let Some(inner) = kind.strip_prefix('*') {
                others.push(format!("new({inner})"));
            } else if let Some(inner) = kind.strip_prefix("[]") {
                others.push(format!("{kind}{{*new({inner})}}"));
            } else if kind.starts_with("map[") {
                others.push(format!("{kind}{{}}"));
            }
            others.extend(composites(kind, test, clause(source).unwrap_or_default()));
            let cases: String = others
                .iter()
                .enumerate()
                .map(|(case, other)| format!("case {}: return {other}; ", case + 1))
                .collect();
            let expression = format!(
                "func() {kind} {{ switch probityNumber({number}) {{ {cases}}}; return *new({kind}) }}()"
            );
            (Values::Numbered(others.len() + 1), expression)
        }
    }
}

/// Values of a type that the test writes down, as the package itself would: what a test compares
/// with is often one of them. Only those that name nothing of the test's own.
fn composites(kind: &str, test: &str, package: &str) -> Vec<String> {
    let (reference, plain) = match kind.strip_prefix('*') {
        Some(inner) => ("&", inner),
        None => ("", kind),
    };
    let inside = test.replace(&format!("{package}."), "");
    let bare = without_text(&inside);
    let mut found = Vec::new();
    for (at, _) in bare.match_indices(&format!("{plain}{{")) {
        let is_word = |character: char| character.is_alphanumeric() || "_.]*".contains(character);
        if bare.get(..at).is_some_and(|before| before.ends_with(is_word)) {
            continue;
        }
        let open = at + plain.len();
        let Some(close) = closing(bare.as_bytes(), open) else { continue };
        let (Some(body), Some(text)) = (bare.get(open..=close), inside.get(at..=close)) else {
            continue;
        };
        let mut rest = body;
        let mut known = true;
        while let Some(start) = rest.find(|first: char| first.is_alphabetic() || first == '_') {
            let word = rest.get(start..).unwrap_or_default();
            let end = word.find(|end: char| !end.is_alphanumeric() && end != '_');
            let (word, behind) = word.split_at(end.unwrap_or(word.len()));
            let is_key = behind.trim_start().starts_with(':');
            known &= is_key
                || ["true", "false", "nil", "string", "int", "byte", "bool", plain].contains(&word);
            rest = behind;
        }
        if known && found.len() < 6 {
            found.push(format!("{reference}{text}"));
        }
    }
    found
}

/// What the switches of a package call. The variable has the function, which of its calls (0 for
/// all, 1 for none of them but their list, else the sum of its arguments: a function that is altered
/// at one place is still a function), and a value for each result. A function without a plan costs
/// one comparison.
fn helper(package: &str, variable: &str, failures: &[String]) -> String {
    let cases: String =
        failures.iter().map(|name| format!("\tcase \"={name}\":\n\t\treturn {name}\n")).collect();
    format!(
        r#"package {package}

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

type probityError string

func (text probityError) Error() string {{ return string(text) }}

var (
	probityPlan     = strings.Split(os.Getenv("{variable}"), "\x1f")
	probityFunction = probityAt(0)
	probityWanted   = probityAt(1)
)

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
	if len(probityPlan) > 3 && probityPlan[2] == "{PANIC}" {{
		panic(probityPlan[3])
	}}
	if probityWanted == 0 {{
		return true
	}}
	key := uint64(14695981039346656037)
	for _, character := range []byte(print()) {{
		key = (key ^ uint64(character)) * 1099511628211
	}}
	if probityWanted == 1 {{
		if file, err := os.OpenFile(probityPlan[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {{
			if size, err := file.Seek(0, 2); err == nil && size < 4096 {{
				fmt.Fprintln(file, key)
			}}
			file.Close()
		}}
		return false
	}}
	return probityWanted == key
}}

func probityText(result int) string {{
	if result+2 < len(probityPlan) {{
		return probityPlan[result+2]
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
    use super::{composites, switched};

    #[test]
    fn a_switch_is_added_and_no_line_moves() {
        let source =
            "package a\n\nfunc A(x int) (int, error) {\n\treturn x, nil\n}\n\nfunc B() {}\n";
        let (text, found) = switched(source, &|it| (it.name == "A").then_some(0), "ErrX", 3);
        assert_eq!(text.lines().count(), source.lines().count());
        let print = "func() string { return probityPrint(x) }";
        assert!(text.contains(&format!("{{ if probitySwitch(4, {print}) {{ return int(probityNumber(0)), probityFailure(1) }}; ")), "{text}");
        assert_eq!(found.len(), 1);
        assert!(text.ends_with("func B() {}\n"));
    }

    #[test]
    fn values_that_the_test_writes_down_are_taken_if_they_stand_alone() {
        let test =
            "want := []int{1, 2}\nx := []int{y}\np := calc.P{X: 1, Y: \"z\"}\nq := &calc.P{X: 2}";
        assert_eq!(composites("[]int", test, "calc"), ["[]int{1, 2}"]);
        assert_eq!(composites("P", test, "calc"), ["P{X: 1, Y: \"z\"}", "P{X: 2}"]);
        assert_eq!(composites("*P", test, "calc"), ["&P{X: 1, Y: \"z\"}", "&P{X: 2}"]);
    }
}
