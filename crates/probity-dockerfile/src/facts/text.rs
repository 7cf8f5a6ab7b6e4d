//! A word of an instruction with its variables replaced, as far as they are known.

use std::{collections::HashMap, fmt, fmt::Write as _};

use crate::{
    ExpandError, ExpandErrorKind, Expander, Operator, Reference,
    facts::variables::{Environment, Environments},
};

/// How many bytes all expansions of a file may yield. Values can grow with every instruction, so
/// that without a bound a file's cost is not linear in its length; behind the bound values count as
/// unknown.
const BUDGET: usize = 4 << 20;

/// What a word means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text {
    /// The value in a build without build arguments, where that is known.
    pub value: Option<String>,
    /// Where builds can differ: the word with what is constant replaced, and each remaining variable
    /// as `${NAME@n}`, meaning NAME as its n-th definition left it.
    pub open: Option<String>,
}

impl Text {
    #[must_use]
    pub fn constant(value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), open: None }
    }

    /// Whether the value is the same in every build.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.open.is_none()
    }

    /// The value, if it is the same in every build.
    #[must_use]
    pub fn constant_value(&self) -> Option<&str> {
        if self.is_constant() { self.value.as_deref() } else { None }
    }

    /// What identifies the text best: the word with its open variables, else the value.
    #[must_use]
    pub fn pattern(&self) -> &str {
        self.open.as_deref().or(self.value.as_deref()).unwrap_or_default()
    }

    /// Several texts as one.
    pub(super) fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self::constant("");
        let mut pattern = String::new();
        let mut open = false;
        for part in parts {
            pattern.push_str(part.pattern());
            open |= !part.is_constant();
            whole.value = whole.value.zip(part.value).map(|(left, right)| left + &right);
        }
        whole.open = open.then_some(pattern);
        whole
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.value.as_deref().unwrap_or_else(|| self.pattern()))
    }
}

/// What is left of the bound on all expansions.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(BUDGET)
    }

    fn charge(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }
}

/// The ways in which BuildKit reads a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Word,
    /// The body of a heredoc: quotes are text, and the escape is always a backslash.
    Heredoc,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'e> {
    pub(super) escape: char,
    pub(super) environments: &'e Environments,
    pub(super) environment: Environment,
    /// Whether a name that is not set is not set in any build either; the environment of a base
    /// image is unknown.
    pub(super) closed: bool,
    /// Whether the base image is known to set no name but `PATH`.
    pub(super) bare: bool,
}

/// What became of a word.
#[derive(Debug)]
pub(super) struct Expanded {
    pub(super) text: Text,
    /// In the order of the word; those of a broken word are lost.
    pub(super) references: Vec<Reference>,
    /// Why the word cannot be expanded in any build.
    pub(super) error: Option<ExpandError>,
}

impl Expanded {
    fn of(text: Text, references: Vec<Reference>) -> Self {
        Self { text, references, error: None }
    }
}

/// Expands a word.
pub(super) fn expand(
    around: Surroundings<'_>,
    word: &str,
    reading: Reading,
    budget: &mut Budget,
) -> Expanded {
    let plain = !word.contains(['$', '\'', '"', '\\', around.escape]);
    if plain {
        return Expanded::of(Text::constant(word), Vec::new());
    }
    let exhausted = budget.0 == 0;
    let values = |name: &str| {
        let variable = around.environments.get(around.environment, name)?;
        let value = if exhausted { None } else { variable.value.as_deref() };
        variable.set.then_some(value.unwrap_or_default())
    };
    let expansion = match expander(around, reading, &values).expand(word) {
        Ok(expansion) => expansion,
        Err(error) => {
            budget.charge(word.len());
            let text = Text { value: None, open: Some(word.to_owned()) };
            let error = is_of_the_file(&error)
                .then(|| certain_error(around, word, reading, exhausted))
                .flatten();
            return Expanded { text, references: Vec::new(), error };
        }
    };
    let mut references = expansion.used;
    references.extend(expansion.unmatched);
    references.sort_by_key(|reference| reference.range.start);
    budget.charge(expansion.text.len() + pattern_work(around, word, &references));

    let known = !exhausted && references.iter().all(|reference| is_known(around, reference));
    let value = known.then_some(expansion.text);
    if known && references.iter().all(|reference| is_constant(around, reference)) {
        return Expanded::of(Text { value, open: None }, references);
    }
    let open = if exhausted {
        mentions(around, word, &references)
    } else {
        open_pattern(around, word, reading, &references)
    };
    budget.charge(open.len());
    Expanded::of(Text { value, open: Some(open) }, references)
}

/// Expands a word and splits it; a word that builds can differ in stays whole.
pub(super) fn expand_list(
    around: Surroundings<'_>,
    word: &str,
    budget: &mut Budget,
) -> (Vec<Text>, Option<ExpandError>) {
    let Expanded { text, error, .. } = expand(around, word, Reading::Word, budget);
    if !text.is_constant() {
        return (vec![text], error);
    }
    let values = |name: &str| {
        let variable = around.environments.get(around.environment, name)?;
        variable.set.then_some(variable.value.as_deref().unwrap_or_default())
    };
    let words = match expander(around, Reading::Word, &values).expand_words(word) {
        Ok(words) => words.into_iter().map(|word| Text::constant(word.text)).collect(),
        Err(_) => vec![text],
    };
    (words, error)
}

/// The error that a word ends in whatever the build is given: a value that a build argument or the
/// base image can set is taken for set, once to a letter and once to a sign that patterns know.
fn certain_error(
    around: Surroundings<'_>,
    word: &str,
    reading: Reading,
    exhausted: bool,
) -> Option<ExpandError> {
    let attempt = |stand_in: &'static str| {
        let values = |name: &str| match around.environments.get(around.environment, name) {
            Some(variable) if variable.constant && !exhausted => {
                variable.set.then(|| variable.value.as_deref().unwrap_or(stand_in))
            }
            None if around.closed || around.bare => None,
            _ => Some(stand_in),
        };
        expander(around, reading, &values).expand(word).err()
    };
    let error = attempt("x")?;
    attempt("*")?;
    Some(error).filter(is_of_the_file)
}

/// The bounds on our own work are no errors of the file.
fn is_of_the_file(error: &ExpandError) -> bool {
    !matches!(error.kind, ExpandErrorKind::TooDeep | ExpandErrorKind::TooLarge)
}

fn expander<'e>(
    around: Surroundings<'_>,
    reading: Reading,
    values: &'e crate::Lookup<'e>,
) -> Expander<'e> {
    match reading {
        Reading::Word => Expander::new(around.escape, values),
        Reading::Heredoc => Expander::new('\\', values).quotes_are_text(),
    }
}

/// Whether the value in a build without arguments is known.
fn is_known(around: Surroundings<'_>, reference: &Reference) -> bool {
    match around.environments.get(around.environment, &reference.name) {
        Some(variable) if variable.set => variable.value.is_some(),
        _ => around.closed,
    }
}

fn is_constant(around: Surroundings<'_>, reference: &Reference) -> bool {
    match around.environments.get(around.environment, &reference.name) {
        Some(variable) => variable.constant,
        None => around.closed,
    }
}

/// The word with its open variables named. Where one has an operator the outcome cannot be told, and
/// the word stays as it was written.
fn open_pattern(
    around: Surroundings<'_>,
    word: &str,
    reading: Reading,
    references: &[Reference],
) -> String {
    let open: Vec<&Reference> =
        references.iter().filter(|reference| !is_constant(around, reference)).collect();
    if open.iter().any(|reference| reference.operator.is_some()) {
        return mentions(around, word, references);
    }
    let marks: HashMap<&str, String> = open
        .iter()
        .map(|reference| (reference.name.as_str(), mark(around, &reference.name)))
        .collect();
    let values = |name: &str| {
        let variable = around.environments.get(around.environment, name);
        let constant =
            variable.filter(|variable| variable.set).and_then(|variable| variable.value.as_deref());
        marks.get(name).map(String::as_str).or(constant)
    };
    match expander(around, reading, &values).expand(word) {
        Ok(expansion) => expansion.text,
        Err(_) => mentions(around, word, references),
    }
}

/// The word as written, and which definitions it refers to.
fn mentions(around: Surroundings<'_>, word: &str, references: &[Reference]) -> String {
    let mut text = word.to_owned();
    for reference in references {
        // Writing to a string cannot fail.
        write!(text, " {}", mark(around, &reference.name)).unwrap_or_default();
    }
    text
}

fn mark(around: Surroundings<'_>, name: &str) -> String {
    let variable = around.environments.get(around.environment, name);
    format!("${{{name}@{}}}", variable.map_or(0, |variable| variable.version))
}

/// Matching a pattern can cost more than the text it yields.
fn pattern_work(around: Surroundings<'_>, word: &str, references: &[Reference]) -> usize {
    let matching = references.iter().filter(|reference| {
        matches!(
            reference.operator,
            Some(Operator::TrimPrefix | Operator::TrimSuffix | Operator::Replace)
        )
    });
    let lengths = matching.filter_map(|reference| {
        let variable = around.environments.get(around.environment, &reference.name)?;
        variable.value.as_ref().map(String::len)
    });
    lengths.sum::<usize>().saturating_mul(word.len())
}
