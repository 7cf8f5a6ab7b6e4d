//! Switches in Rust functions: a program that is told so by its environment returns other values.
//!
//! They are compiled together with the marks that show what was run. A function whose result cannot
//! be made up stays as it is, and says so by not leaving a trace.

use super::{
    super::{
        alter,
        constant::without_text,
        runner::{Flagged, Switch, Values},
    },
    marks::{Body, bodies},
};

/// Stands before the words of a panic, in place of a value.
pub(super) const PANIC: &str = "!panic ";

/// Functions that are given a switch for one claim.
const MOST_FUNCTIONS: usize = 8;

/// A switch for each function around the flagged lines, and for those that the test names: where it
/// goes, what it is, and what it can do.
pub(super) fn switches(
    source: &str,
    test: &str,
    flagged: &Flagged,
    variable: &str,
    trace: &str,
) -> Vec<(usize, String, Switch)> {
    let bare = without_text(source);
    let named = alter::words(test);
    let mut ranked = Vec::new();
    for body in bodies(&bare) {
        let Some((name, result)) = declared(&bare, &body) else { continue };
        let around = flagged.holds(body.lines.0, body.lines.1);
        if (around || named.contains(name)) && name != "main" {
            ranked.push((!around, body.open + 1, name, result));
        }
    }
    ranked.sort_by_key(|(elsewhere, ..)| *elsewhere);
    let numbered = ranked.into_iter().take(MOST_FUNCTIONS).enumerate();
    let switch = |(number, (_, at, name, result)): (usize, (bool, usize, &str, &str))| {
        let id = number + 1;
        let (values, give) = give(result)?;
        let text = format!(
            " if let Ok(zz) = ::std::env::var({variable:?}) {{ let mut zz = zz.split('\\u{{1f}}'); \
             if zz.next() == Some(\"{id}\") {{ let zz = zz.next().unwrap_or_default().to_owned(); \
             let zz_trace = || {{ drop(::std::fs::write({trace:?}, \"x\")); }}; \
             if let Some(zz) = zz.strip_prefix({PANIC:?}) {{ zz_trace(); panic!(\"{{zz}}\"); }} {give} }} }} "
        );
        let results = values.into_iter().collect();
        Some((at, text, Switch { id, name: name.to_owned(), results }))
    };
    numbered.filter_map(switch).collect()
}

/// The name of a function, and the type of what it returns.
fn declared<'a>(bare: &'a str, body: &Body) -> Option<(&'a str, &'a str)> {
    let header = bare.get(body.start + "fn ".len()..body.open)?;
    let end = header.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    let name = header.get(..end)?;
    // The arrow behind the parameters, not one of a closure among them.
    let mut depth = 0_i32;
    let mut previous = ' ';
    let mut arrow = None;
    for (at, character) in header.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if previous == '-' && depth == 0 => {
                arrow = Some(at + 1);
                break;
            }
            _ => {}
        }
        previous = character;
    }
    let result = arrow.and_then(|at| header.get(at..)).unwrap_or_default();
    let result = result.split(" where").next().unwrap_or(result).split("\nwhere").next()?;
    Some((name, result.trim()))
}

/// The values a result of this type can have, and the statement that returns one.
fn give(kind: &str) -> Option<(Option<Values>, String)> {
    let value = |expression: String| format!("zz_trace(); return {expression};");
    if kind.is_empty() || kind == "()" {
        return Some((None, value(String::new())));
    }
    if kind.contains("impl ") || kind == "!" || kind.contains("'_") {
        return None;
    }
    if let Some((values, expression)) = plain(kind) {
        return Some((Some(values), value(expression)));
    }
    let inside = |name: &str| {
        let rest =
            kind.strip_prefix("::std::").or_else(|| kind.strip_prefix("std::")).unwrap_or(kind);
        let rest =
            rest.rsplit_once("::").filter(|(path, _)| !path.contains('<')).map_or(rest, |it| it.1);
        rest.strip_prefix(name)?.strip_prefix('<')?.strip_suffix('>').map(str::to_owned)
    };
    if let Some(inner) = inside("Option") {
        let (values, some) = match plain(&inner) {
            Some((values, expression)) => (values, value(format!("Some({expression})"))),
            None => (Values::Numbered(1), usual(&inner, "Some")),
        };
        let statement = format!("if zz == \"none\" {{ zz_trace(); return None; }} {some}");
        return Some((Some(Values::Optional(Box::new(values))), statement));
    }
    if let Some(inner) = inside("Result") {
        let first = before_comma(&inner);
        let second = inner.get(first.len()..).unwrap_or_default().trim_start_matches(',').trim();
        let wrong = match plain(second) {
            Some((_, expression)) => value(format!("Err({expression})")),
            None if second.is_empty() => String::new(),
            None => usual(second, "Err"),
        };
        let (values, right) = match plain(first.trim()) {
            Some((values, expression)) => (values, format!("zz_trace(); return Ok({expression});")),
            None if first.trim() == "()" => {
                (Values::Numbered(1), "zz_trace(); return Ok(());".to_owned())
            }
            None => (Values::Numbered(1), usual(first.trim(), "Ok")),
        };
        let statement = format!("if zz == \"none\" {{ {wrong} }} else {{ {right} }}");
        return Some((Some(Values::Optional(Box::new(values))), statement));
    }
    Some((Some(Values::Numbered(1)), usual(kind, "")))
}

/// Returns the default of a type if it has one, and else goes on. Which of two traits has the method
/// is found out by how many references have to be added.
fn usual(kind: &str, wrapped: &str) -> String {
    format!(
        "struct ZzOf<T>(::std::marker::PhantomData<T>); \
         trait ZzNo<T> {{ fn zz(&self) -> Option<T> {{ None }} }} \
         trait ZzYes<T> {{ fn zz(&self) -> Option<T>; }} \
         impl<T> ZzNo<T> for &ZzOf<T> {{}} \
         impl<T: Default> ZzYes<T> for ZzOf<T> {{ fn zz(&self) -> Option<T> {{ Some(T::default()) }} }} \
         if let Some(zz) = (&ZzOf::<{kind}>(::std::marker::PhantomData)).zz() \
         {{ zz_trace(); return {wrapped}(zz); }}"
    )
}

fn plain(kind: &str) -> Option<(Values, String)> {
    let numbers =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
    Some(match kind {
        "String" | "std::string::String" => (Values::Text, "zz".to_owned()),
        "&str" | "&'static str" => {
            (Values::Text, "::std::boxed::Box::leak(zz.into_boxed_str())".to_owned())
        }
        "bool" => (Values::Truth, "zz == \"true\"".to_owned()),
        "f32" | "f64" => (Values::Number, format!("zz.parse::<f64>().unwrap_or(0.0) as {kind}")),
        "char" => (Values::Text, "zz.chars().next().unwrap_or('z')".to_owned()),
        kind if numbers.contains(&kind) => {
            (Values::Number, format!("zz.parse::<i128>().unwrap_or(0) as {kind}"))
        }
        _ => return None,
    })
}

fn before_comma(list: &str) -> &str {
    let mut depth = 0_i32;
    for (at, character) in list.char_indices() {
        match character {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => return list.get(..at).unwrap_or(list),
            _ => {}
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::{Flagged, switches};

    #[test]
    fn functions_get_a_switch_for_what_they_return() {
        let source = "pub fn a(f: fn(u8) -> u8) -> i32 { 1 }\nfn b<T>() -> Option<T> where T: Clone { None }\n\
            fn c() -> Result<Vec<(u8, u8)>, String> { Ok(vec![]) }\nfn d() {}\nfn e() -> impl Fn() { || () }\n\
            fn f() -> std::io::Result<u8> { Ok(1) }\n";
        let flagged = Flagged { file: String::new(), first: 1, last: 1 };
        let found = switches(source, "b(); c(); d(); e(); f()", &flagged, "VAR", "/trace");
        let told: Vec<String> =
            found.iter().map(|(_, _, it)| format!("{} {:?}", it.name, it.results)).collect();
        assert_eq!(
            told,
            [
                "a [Number]",
                "b [Optional(Numbered(1))]",
                "c [Optional(Numbered(1))]",
                "d []",
                "f [Optional(Number)]"
            ]
        );
        let text = |number: usize| found[number].1.as_str();
        assert!(text(0).contains("zz.parse::<i128>().unwrap_or(0) as i32"), "{}", text(0));
        assert!(
            text(2).contains("ZzOf::<Vec<(u8, u8)>>") && text(2).contains("Err(zz)"),
            "{}",
            text(2)
        );
    }
}
