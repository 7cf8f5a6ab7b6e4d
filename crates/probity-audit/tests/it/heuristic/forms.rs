//! The same contract in another form: other names, or its handlers in another module.

use std::collections::BTreeSet;

/// Every name that the text declares itself becomes another one.
///
/// Fields of the standard library that are destructured without a new name keep theirs: they are
/// not the text's own. Modules and what is imported keep theirs too.
pub(crate) fn renamed(text: &str) -> String {
    let words = words(text);
    let own = own_names(&words);
    let mut found = String::new();
    for (at, word) in words.iter().enumerate() {
        let is_field_of_library = LIBRARY_FIELDS.contains(word);
        if own.contains(word) && !is_field_of_library && !is_kept(&words, at) {
            let prefix = if word.starts_with(char::is_uppercase) { "Q" } else { "q_" };
            found.push_str(&format!(
                "{prefix}{}",
                word.chars().rev().collect::<String>().to_lowercase()
            ));
        } else {
            found.push_str(word);
        }
    }
    found
}

/// The body of every handler as a function of another module.
pub(crate) fn outlined(text: &str) -> Vec<(String, String)> {
    let mut words: Vec<String> = words(text).into_iter().map(str::to_owned).collect();
    let mut helpers = String::new();
    let mut number = 0;
    let mut at = 0;
    let mut parameters = String::new();
    while at < words.len() {
        if words[at] == "validator"
            && at.checked_sub(1).is_none_or(|before| words[before].ends_with('\n'))
        {
            let open =
                (at..words.len()).find(|next| words[*next] == "(" || words[*next] == "{").unwrap();
            parameters = if words[open] == "(" {
                words[open + 1..closing(&words, open)].concat()
            } else {
                String::new()
            };
        }
        let is_handler = matches!(words[at].as_str(), "spend" | "mint" | "withdraw")
            && words.get(at + 1).is_some_and(|next| next == "(");
        if is_handler {
            let close = closing(&words, at + 1);
            let arguments = words[at + 2..close].concat();
            let open = (close..words.len()).find(|next| words[*next] == "{").unwrap();
            let end = closing(&words, open);
            let body = words[open..=end].concat();
            number += 1;
            let all = format!("{},{}", parameters.trim().trim_end_matches(','), arguments);
            let all = all.trim_start_matches(',').to_owned();
            helpers.push_str(&format!("\npub fn outlined_{number}({all}) {body}\n"));
            let given = names(&all).join(", ");
            let call = format!("{{ moved.outlined_{number}({given}) }}");
            words.splice(open..=end, [call]);
        }
        at += 1;
    }
    let without = words.concat();
    let begin = text.find("\nvalidator").unwrap_or(text.len());
    let shared = &text[..begin];
    let validators = format!(
        "use aiken/collection/list\nuse parts/moved\n{shared}{}",
        &without[without.find("\nvalidator").unwrap_or(without.len())..]
    );
    vec![
        ("lib/parts/moved.ak".to_owned(), format!("{shared}{helpers}")),
        ("validators/pot.ak".to_owned(), validators),
    ]
}

/// The names of parameters; one that is discarded is passed as a literal.
fn names(parameters: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let mut start = true;
    for word in words(parameters) {
        match word {
            "(" | "<" => depth += 1,
            ")" | ">" => depth -= 1,
            "," if depth == 0 => start = true,
            _ if start && !word.trim().is_empty() => {
                found.push(if word.starts_with('_') { "0".to_owned() } else { word.to_owned() });
                start = false;
            }
            _ => {}
        }
    }
    found
}

fn closing<W: AsRef<str>>(words: &[W], open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.as_ref() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    words.len() - 1
}

/// Names, quoted texts, comments, and everything else character by character.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            rest.find(|end: char| !end.is_ascii_alphanumeric() && end != '_').unwrap_or(rest.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        found.push(word);
        rest = after;
    }
    found
}

/// Names behind `let`, `fn`, `const`, `type`, in types, and in front of a colon.
fn own_names<'a>(words: &[&'a str]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let solid: Vec<&str> = words.iter().copied().filter(|word| !word.trim().is_empty()).collect();
    for pair in solid.windows(2) {
        let declares = matches!(pair[0], "let" | "fn" | "const" | "type");
        if (declares || pair[1] == ":")
            && pair[usize::from(declares)].starts_with(|first: char| first.is_ascii_alphabetic())
        {
            found.insert(pair[usize::from(declares)]);
        }
    }
    let keywords = ["fn", "let", "when", "if", "expect"];
    found.retain(|name| !keywords.contains(name));
    found
}

/// `use` lines keep their names, and so do modules.
fn is_kept(words: &[&str], at: usize) -> bool {
    let line = words[..at].iter().rposition(|word| word.contains('\n')).map_or(0, |line| line + 1);
    let import = words[line] == "use";
    let module = words.get(at + 1).is_some_and(|next| *next == ".")
        && ["list", "dict", "pairs", "assets", "value", "tx", "address"].contains(&words[at]);
    import || module
}

const LIBRARY_FIELDS: &[&str] = &[
    "address",
    "value",
    "datum",
    "reference_script",
    "output_reference",
    "output",
    "inputs",
    "outputs",
    "bound_type",
    "transaction",
    "purpose",
    "mint",
    "payment_credential",
    "stake_credential",
    "withdrawals",
    "extra_signatories",
    "validity_range",
    "reference_inputs",
    "redeemers",
    "lower_bound",
    "upper_bound",
    "Output",
    "Input",
    "Transaction",
];
