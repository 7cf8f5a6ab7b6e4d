//! Failures in place of a value: of the classes and with the words that a test waits for.

use super::super::{
    alter::Literals,
    constant::{closing, without_text},
};

/// Behind these comes what is to be thrown: the last argument, or what is behind the word.
const CALLS: [&str; 5] = ["throws(", "rejects(", "toThrow(", "toThrowError(", "toBeInstanceOf("];

/// Those that are tried for one function.
const MOST_CLASSES: usize = 2;
const MOST_WORDS: usize = 3;

/// Expressions that throw, the plainest first. They are evaluated in the test's own file, so that
/// they can name what it imports.
pub(super) fn expressions(test: &str, literals: &Literals) -> Vec<String> {
    let wanted = wanted(test);
    let is_class =
        |it: &&String| it.rsplit('.').next().is_some_and(|it| it.starts_with(char::is_uppercase));
    let mut classes: Vec<&str> =
        wanted.iter().filter(is_class).map(String::as_str).take(MOST_CLASSES).collect();
    classes.push("Error");
    classes.dedup();
    let patterns = wanted.iter().filter_map(|it| it.strip_prefix('/')?.rsplit_once('/'));
    let patterns: Vec<String> = patterns.map(|(pattern, _)| plain(pattern)).collect();
    let strings = literals.strings.iter().filter(|it| !it.is_empty());
    let named: Vec<&String> = patterns.iter().chain(strings).collect();
    // A part of the words is enough for most tests.
    let all: Vec<&str> = named.iter().map(|it| it.as_str()).collect();
    let words =
        std::iter::once(all.join(" ")).chain(named.iter().take(MOST_WORDS).map(|it| (*it).clone()));
    let words: Vec<String> = words.map(|it| serde_json::Value::from(it).to_string()).collect();
    let mut errors = vec!["new Error(\"probity\")".to_owned()];
    for object in wanted.iter().filter(|it| it.starts_with('{')) {
        errors.push(format!("Object.assign(new Error(), {object})"));
    }
    for text in &words {
        let error =
            |class: &&str| format!("Object.assign(new {class}({text}), {{ message: {text} }})");
        errors.extend(classes.iter().map(error));
    }
    let rejects = test.contains("rejects");
    let expression = |error: &String| match rejects {
        true => format!("Promise.reject({error})"),
        false => format!("(() => {{ throw {error} }})()"),
    };
    errors.iter().map(expression).collect()
}

/// What a test names as what is to be thrown: a class, a pattern, an object.
fn wanted(test: &str) -> Vec<String> {
    let bare = without_text(test);
    let mut found: Vec<String> = Vec::new();
    for call in CALLS {
        for (at, _) in bare.match_indices(call) {
            let open = at + call.len() - 1;
            let Some(close) = closing(bare.as_bytes(), open) else { continue };
            let start = last_argument(&bare, open + 1, close);
            found.extend(test.get(start..close).map(|it| it.trim().to_owned()));
        }
    }
    for (at, word) in bare.match_indices("instanceof ") {
        let behind = bare.get(at + word.len()..).unwrap_or_default();
        let class = behind.split(|it: char| !it.is_alphanumeric() && !"_.$".contains(it)).next();
        found.extend(class.map(str::to_owned));
    }
    let is_path = |it: &str| it.chars().all(|it| it.is_alphanumeric() || "_.$".contains(it));
    found.retain(|it| !it.is_empty() && (is_path(it) || it.starts_with(['/', '{'])));
    found
}

/// Where the last argument between two parentheses begins.
fn last_argument(bare: &str, first: usize, close: usize) -> usize {
    let (mut depth, mut start) = (0_i32, first);
    for (at, byte) in bare.bytes().enumerate().take(close).skip(first) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

/// A text that a pattern matches, if it is a plain one.
fn plain(pattern: &str) -> String {
    pattern.chars().filter(|it| !"^$\\()?".contains(*it)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Literals, expressions, wanted};

    #[test]
    fn what_is_to_be_thrown_is_found_in_the_test() {
        let test = "assert.throws(() => f({ a: 1 }), SyntaxError);\nassert.throws(() => g(1), /no JSON/);\n\
            expect(() => h()).toThrow(lib.NotFound);\nexpect(h).toThrow('text');\n\
            assert.ok(e instanceof RangeError);\nassert.throws(f, { code: 'X' });\nassert.throws(() => f(a => a));";
        assert_eq!(
            wanted(test),
            ["SyntaxError", "/no JSON/", "{ code: 'X' }", "lib.NotFound", "RangeError"]
        );
        let found = expressions(test, &Literals::of(test, ""));
        assert_eq!(found[0], "(() => { throw new Error(\"probity\") })()");
        let thrown = "Object.assign(new SyntaxError(\"no JSON text X probity\"), { message: \"no JSON text X probity\" })";
        assert!(found.contains(&format!("(() => {{ throw {thrown} }})()")), "{found:#?}");
        assert!(found.iter().any(|it| it.contains("new lib.NotFound(\"text\")")), "{found:#?}");
        assert!(found.iter().any(|it| it.contains("{ code: 'X' }")), "{found:#?}");
        assert_eq!(wanted("throws(("), [""; 0]);
    }
}
