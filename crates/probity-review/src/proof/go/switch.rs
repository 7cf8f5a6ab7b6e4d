//! Switches in Go functions: a program that is told so by its environment returns other values.
//!
//! They are compiled into the same program that the test is run with, where they do nothing until
//! they are asked to: a second compilation would cost as much as the proof itself. Each is added to
//! the line of the brace that opens the function, so that no line moves.
use super::{
    super::{
        alter,
        constant::{closing, without_text},
        runner::{Switch, Values},
    },
    functions::{Function, functions},
    source::clause,
};

/// A switch, its text, and the offset where that goes.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) rank: u8,
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) switch: Switch,
}

/// The switches of a source, with the rank that `wanted` gives their functions.
pub(super) fn switches(
    source: &str,
    wanted: &dyn Fn(&Function<'_>) -> Option<u8>,
    test: &str,
    before: usize,
) -> Vec<Added> {
    let bare = without_text(source);
    let mut added = Vec::new();
    for function in functions(&bare) {
        let Some(rank) = wanted(&function) else { continue };
        if ["init", "main", "_"].contains(&function.name) {
            continue;
        }
        let id = before + added.len() + 1;
        let mut results = Vec::new();
        let mut expressions = Vec::new();
        for (number, kind) in function.results.iter().enumerate() {
            let (values, expression) = result(kind, number, test, source);
            results.push(values);
            expressions.push(expression);
        }
        let text = format!(
            " if probitySwitch({id}, func() string {{ return probityPrint({}) }}) {{ return {} }}; ",
            function.parameters.join(", "),
            expressions.join(", ")
        );
        let switch = Switch { id, name: function.name.to_owned(), results };
        added.push(Added { rank, at: function.body, text, switch });
    }
    added
}

/// Names of failures that a test may wait for.
pub(super) fn sentinels(test: &str) -> Vec<String> {
    let is_failure = |word: &String| {
        word.strip_prefix("Err").is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    alter::words(test).into_iter().filter(is_failure).collect()
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

#[cfg(test)]
mod tests {
    use super::{Added, composites, switches};

    #[test]
    fn a_switch_returns_what_the_function_would() {
        let source =
            "package a\n\nfunc A(x int) (int, error) {\n\treturn x, nil\n}\n\nfunc B() {}\n";
        let added = switches(source, &|it| (it.name == "A").then_some(0), "ErrX", 3);
        let [Added { at, text, .. }] = added.as_slice() else { panic!("{added:?}") };
        assert!(source[..*at].ends_with("(int, error) {"));
        let print = "func() string { return probityPrint(x) }";
        let returned = "return int(probityNumber(0)), probityFailure(1)";
        assert_eq!(*text, format!(" if probitySwitch(4, {print}) {{ {returned} }}; "));
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
