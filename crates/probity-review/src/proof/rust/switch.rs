//! Switches in Rust functions: a program that is told so by its environment returns other values.
//!
//! They are compiled together with the marks that show what was run. A function whose result cannot
//! be made up stays as it is, and says so by not leaving a trace.

use super::{
    super::{
        alter,
        runner::{Flagged, Switch, Values},
    },
    marks::{Body, bare, bodies},
    plan::Channel,
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
    channel: &Channel,
) -> Vec<(usize, String, Switch)> {
    let bare = bare(source);
    let named = alter::words(test);
    let mut ranked = Vec::new();
    for body in bodies(&bare) {
        let Some((name, result)) = declared(source, &bare, &body) else { continue };
        let around = flagged.holds(body.lines.0, body.lines.1);
        if (around || named.contains(name)) && name != "main" {
            ranked.push((!around, body.open + 1, name, result));
        }
    }
    ranked.sort_by_key(|(elsewhere, ..)| *elsewhere);
    let numbered = ranked.into_iter().take(MOST_FUNCTIONS).enumerate();
    let switch = |(number, (_, at, name, result)): (usize, (bool, usize, &str, &str))| {
        let id = number + 1;
        let (name_of, trace) = (&channel.name, &channel.trace);
        let (values, give) = Give(name_of).of(result)?;
        let decode = channel.decode(id);
        let shared = name_of.to_uppercase();
        let text = format!(
            "{{ {decode} \
             if let {name_of}::option::Option::Some({name_of}_plan) = {name_of}_plan {{ \
             let {name_of}_trace = || {{ static {shared}_DONE: {name_of}::sync::atomic::AtomicUsize = \
             {name_of}::sync::atomic::AtomicUsize::new(0); \
             if {shared}_DONE.fetch_add(1, {name_of}::sync::atomic::Ordering::Relaxed) < 2 {{ \
             {name_of}::mem::drop({name_of}::io::Write::write_all(&mut {name_of}::io::stderr(), \
             b\"{trace}\\n\")); }} }}; \
             if let {name_of}::option::Option::Some(words) = {name_of}_plan.strip_prefix({PANIC:?}) \
             {{ {name_of}_trace(); {name_of}::panic!(\"{{}}\", words); }} \
             let {name_of}_plan = {name_of}::string::String::from({name_of}_plan.as_str()); {give} }} }} "
        );
        let results = values.into_iter().collect();
        Some((at, text, Switch { id, name: name.to_owned(), results }))
    };
    numbered.filter_map(switch).collect()
}

/// Whether every function that the test names has a switch.
pub(super) fn are_all(switches: &[(usize, String, Switch)], source: &str, test: &str) -> bool {
    let bare = bare(source);
    let named = alter::words(test);
    bodies(&bare)
        .iter()
        .filter_map(|body| declared(source, &bare, body))
        .all(|(name, _)| !named.contains(name) || switches.iter().any(|(_, _, it)| it.name == name))
}

/// The name of a function, and the type of what it returns.
pub(super) fn declared<'a>(source: &'a str, bare: &str, body: &Body) -> Option<(&'a str, &'a str)> {
    let inside = body.start + "fn ".len()..body.open;
    let written = source.get(inside.clone())?;
    let header = bare.get(inside)?;
    let end = header.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    let name = written.get(..end)?;
    // The arrow behind the parameters, not one of a closure among them or of a kind of closure.
    let mut depth = 0_i32;
    let mut previous = ' ';
    let mut arrow = None;
    for (at, character) in header.char_indices() {
        match character {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if previous == '-' && depth == 0 => {
                arrow = Some(at + 1);
                break;
            }
            '>' if previous != '-' => depth -= 1,
            _ => {}
        }
        previous = character;
    }
    let result = arrow.and_then(|at| written.get(at..)).unwrap_or_default();
    let result = result.split(" where").next().unwrap_or(result).split("\nwhere").next()?;
    Some((name, result.trim()))
}

/// Makes the statement that returns a value, with the name that our names begin with.
struct Give<'a>(&'a str);

impl Give<'_> {
    /// The values a result of this type can have, and the statement that returns one.
    fn of(&self, kind: &str) -> Option<(Option<Values>, String)> {
        if kind.is_empty() || kind == "()" {
            return Some((None, self.give("()")));
        }
        if kind.contains("impl ") || kind == "!" {
            return None;
        }
        if let Some((values, expression)) = self.plain(kind) {
            return Some((Some(values), self.give(&expression)));
        }
        let name = self.0;
        let inside = |name: &str| {
            let rest =
                kind.strip_prefix("::std::").or_else(|| kind.strip_prefix("std::")).unwrap_or(kind);
            let rest = rest
                .rsplit_once("::")
                .filter(|(path, _)| !path.contains('<'))
                .map_or(rest, |it| it.1);
            rest.strip_prefix(name)?.strip_prefix('<')?.strip_suffix('>').map(str::to_owned)
        };
        if let Some(inner) = inside("Option") {
            let path = format!("{name}::option::Option::");
            let (values, some) = self.wrapped(&inner, &format!("{path}Some"));
            let none = self.give(&format!("{path}None"));
            let statement = format!("if {name}_plan == \"none\" {{ {none} }} {some}");
            return Some((Some(Values::Optional(Box::new(values))), statement));
        }
        if let Some(inner) = inside("Result") {
            let path = format!("{name}::result::Result::");
            let first = before_comma(&inner);
            let second =
                inner.get(first.len()..).unwrap_or_default().trim_start_matches(',').trim();
            let wrong = match second {
                "" => String::new(),
                second => self.wrapped(second, &format!("{path}Err")).1,
            };
            let (values, right) = self.wrapped(first.trim(), &format!("{path}Ok"));
            let statement = format!("if {name}_plan == \"none\" {{ {wrong} }} else {{ {right} }}");
            return Some((Some(Values::Optional(Box::new(values))), statement));
        }
        Some((Some(Values::Numbered(1)), self.usual(kind, "")))
    }

    fn give(&self, expression: &str) -> String {
        format!("{}_trace(); return {expression};", self.0)
    }

    fn wrapped(&self, kind: &str, wrapped: &str) -> (Values, String) {
        match self.plain(kind) {
            Some((values, expression)) => (values, self.give(&format!("{wrapped}({expression})"))),
            None if kind == "()" => (Values::Numbered(1), self.give(&format!("{wrapped}(())"))),
            None => (Values::Numbered(1), self.usual(kind, wrapped)),
        }
    }

    /// Returns the default of a type if it has one, and else goes on. Which of two traits has the
    /// method is found out by how many references have to be added.
    fn usual(&self, kind: &str, wrapped: &str) -> String {
        let name = self.0;
        let kinds = name.to_uppercase();
        let option = format!("{name}::option::Option");
        let give = self.give(&format!("{wrapped}({name}_made)"));
        format!(
            "struct {kinds}Of<T>({name}::marker::PhantomData<T>); \
             trait {kinds}No<T> {{ fn {name}_make(&self) -> {option}<T> {{ {option}::None }} }} \
             trait {kinds}Yes<T> {{ fn {name}_make(&self) -> {option}<T>; }} \
             impl<T> {kinds}No<T> for &{kinds}Of<T> {{}} \
             impl<T: {name}::default::Default> {kinds}Yes<T> for {kinds}Of<T> \
             {{ fn {name}_make(&self) -> {option}<T> {{ {option}::Some(T::default()) }} }} \
             if let {option}::Some({name}_made) = \
             (&{kinds}Of::<{kind}>({name}::marker::PhantomData)).{name}_make() {{ {give} }}"
        )
    }

    fn plain(&self, kind: &str) -> Option<(Values, String)> {
        let plan = format!("{}_plan", self.0);
        let numbers = [
            "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
        ];
        Some(match kind {
            "String" | "std::string::String" => (Values::Text, plan),
            kind if is_text(kind) => {
                (Values::Text, format!("{}::boxed::Box::leak({plan}.into_boxed_str())", self.0))
            }
            "bool" => (Values::Truth, format!("{plan} == \"true\"")),
            "f32" | "f64" => {
                (Values::Number, format!("{plan}.parse::<f64>().unwrap_or(0.0) as {kind}"))
            }
            "char" => (Values::Text, format!("{plan}.chars().next().unwrap_or('z')")),
            kind if numbers.contains(&kind) => {
                (Values::Number, format!("{plan}.parse::<i128>().unwrap_or(0) as {kind}"))
            }
            _ => return None,
        })
    }
}

/// A reference to a string, of whichever lifetime.
fn is_text(kind: &str) -> bool {
    let kind = kind.strip_prefix('&').unwrap_or_default().trim_start();
    let lifetime = kind.strip_prefix('\'').and_then(|it| it.split_once(' '));
    kind == "str" || lifetime.is_some_and(|(_, kind)| kind.trim_start() == "str")
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
    use super::{Channel, Flagged, switches};

    #[test]
    fn functions_get_a_switch_for_what_they_return() {
        let source = "pub fn a(f: fn(u8) -> u8) -> i32 { 1 }\nfn b<T>() -> Option<T> where T: Clone { None }\n\
            fn c() -> Result<Vec<(u8, u8)>, String> { Ok(vec![]) }\nfn d() {}\nfn e() -> impl Fn() { || () }\n\
            fn f() -> std::io::Result<u8> { Ok(1) }\n\
            fn g<'a>(a: &'a str, b: &'a str) -> &'a str { a }\n\
            fn h<F: Fn(u8) -> u8>(f: F) -> u8 { f(1) }\n";
        let flagged = Flagged { file: String::new(), first: 1, last: 1 };
        let channel = Channel::new();
        let found = switches(source, "b(); c(); d(); e(); f(); g(); h()", &flagged, &channel);
        let told: Vec<String> =
            found.iter().map(|(_, _, it)| format!("{} {:?}", it.name, it.results)).collect();
        assert_eq!(
            told,
            [
                "a [Number]",
                "b [Optional(Numbered(1))]",
                "c [Optional(Numbered(1))]",
                "d []",
                "f [Optional(Number)]",
                "g [Text]",
                "h [Number]"
            ]
        );
        let text = |number: usize| found[number].1.as_str();
        assert!(text(0).contains("_plan.parse::<i128>().unwrap_or(0) as i32"), "{}", text(0));
        assert!(
            text(2).contains("Of::<Vec<(u8, u8)>>") && text(2).contains("Result::Err(z"),
            "{}",
            text(2)
        );
    }
}
