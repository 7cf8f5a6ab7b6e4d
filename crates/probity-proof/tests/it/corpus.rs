//! Claims with known truth, made by generators: several languages, repositories and functions.
//!
//! A shape is a sound function and a way to break it. Of the two come all kinds of claims: that the
//! broken one is broken, with a fix and without, and everything that looks like it and is false.
//!
//! Tests and the example `claims` share these files, for which the modules are found by their paths.

#[path = "corpus/go.rs"]
mod go;
#[path = "corpus/javascript.rs"]
mod javascript;
#[path = "corpus/kinds.rs"]
mod kinds;
#[path = "corpus/python.rs"]
mod python;
#[path = "corpus/rust.rs"]
mod rust;
#[path = "corpus/trial.rs"]
pub(crate) mod trial;

use probity_proof::Claim;

pub(crate) use self::{
    kinds::{ClaimKind, Truth},
    trial::try_all,
};

/// Paths and texts.
type Files = Vec<(String, String)>;

/// A claim, its truth, and the files that it is about.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) kind: ClaimKind,
    /// Which of the language's repositories the files are for.
    pub(crate) layout: usize,
    module: String,
    files: Files,
    pub(crate) claim: Claim,
}

/// The rules were made with one half of the cases in view; the other half is what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Half {
    Tuning,
    Reporting,
}

impl Case {
    pub(crate) fn half(&self) -> Half {
        let mut hash: u64 = 0x9ae1_6a3b_2f90_404f;
        for byte in self.name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // Names that differ in their last letters alone differ in few bits so far.
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        if (hash >> 40).is_multiple_of(2) { Half::Tuning } else { Half::Reporting }
    }
}

/// A sound function, how to break it, and what tests can say about it. `<f>` and `<F>` are its name,
/// `<n>` and its kin numbers, `<here>` the beginning of its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    name: &'static str,
    code: &'static str,
    /// The text that is right, and the one that breaks it.
    sound: &'static str,
    broken: &'static str,
    /// An expression, what it should be, and what it is if the function is broken.
    call: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// Another one that is the same in both, and its value.
    safe: &'static str,
    value: &'static str,
    /// Conditions in the function that are true for the one expression and not for the other.
    input: &'static str,
    spare: &'static str,
    /// What the function returns for the first expression to be wrong.
    give: &'static str,
}

/// A language, as far as the generators need it.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    shapes: &'static [Shape],
    /// A function that never comes back if it is broken.
    endless: Shape,
    layouts: &'static [Layout],
    /// One body of a test, or one dishonest change, for each kind that needs it.
    text: fn(ClaimKind) -> &'static str,
    /// That an expression has a value.
    equal: &'static str,
    comment: &'static str,
    /// Files of the whole repository, given the modules in it.
    common: fn(usize, &[&str]) -> Files,
}

/// Where modules and their tests are. `<m>` is the module, `<body>` what a test does.
#[derive(Debug)]
struct Layout {
    module: &'static str,
    /// What the text of a module begins with, and ends with.
    head: &'static str,
    tail: &'static str,
    /// How tests from outside name what is in it.
    prefix: &'static str,
    test: &'static str,
    /// The file of the existing tests; empty where they are in the module itself.
    existing: &'static str,
    /// A file of settings.
    settings: &'static str,
}

pub(crate) const LANGUAGES: [&Language; 4] =
    [&go::GO, &python::PYTHON, &javascript::JAVASCRIPT, &rust::RUST];

const WORDS: [&str; 8] = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta"];

impl Language {
    /// All cases of a language: each kind with as many shapes as it is to have. New ones come last,
    /// since the place of a case decides which half it is in.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let counts = |kind: ClaimKind| kind.counts(self.shapes.len());
        let first = ClaimKind::ALL.map(|kind| (kind, 0..counts(kind)[0]));
        let more = ClaimKind::ALL.map(|kind| (kind, counts(kind)[0]..counts(kind).iter().sum()));
        for (kind, numbers) in first.into_iter().chain(more) {
            for number in numbers {
                let index = cases.len();
                let hangs = matches!(kind, ClaimKind::EndlessCode);
                // A function that is one expression has no place for a statement.
                let fits =
                    |shape: &&Shape| !kind.inserts_statement() || shape.code.contains("<here>");
                let shapes: Vec<&Shape> = self.shapes.iter().filter(fits).collect();
                let shape = if hangs {
                    &self.endless
                } else {
                    shapes[(number + kind as usize) % shapes.len()]
                };
                cases.push(self.case(kind, shape, index, number % self.layouts.len()));
            }
        }
        cases
    }

    fn case(&self, kind: ClaimKind, shape: &Shape, index: usize, place: usize) -> Case {
        let layout = &self.layouts[place];
        let module = format!("{}{index}", WORDS[index % WORDS.len()]);
        let fill = |text: &str| fill(text, shape, &module, index);
        let path = fill(layout.module);
        let text = |is_sound: bool, inserted: &str| {
            let code = if is_sound {
                shape.code.to_owned()
            } else {
                assert_eq!(shape.code.matches(shape.sound).count(), 1, "{}", shape.name);
                shape.code.replace(shape.sound, shape.broken)
            };
            fill(&(fill(layout.head) + &insert(&code, inserted)))
        };
        let pins = kind.pins();
        let existing = {
            let mut body = equal(self, shape.safe, shape.value);
            if pins {
                body.push_str(&equal(self, shape.call, shape.right));
            }
            body
        };
        let is_sound = kind.is_sound();
        let tail = fill(&layout.tail.replace("<body>", &existing).replace("<p>", ""));
        let now = text(is_sound, "") + &tail;
        let mut files = vec![(path.clone(), now.clone())];
        if !layout.existing.is_empty() {
            let body = layout.test.replace("<body>", &existing);
            let body = body.replace("<p>", layout.prefix).replace("<T>", "existing");
            files.push((fill(layout.existing), fill(&body)));
        }
        let call = shape.call;
        let body = match kind {
            ClaimKind::Fixed
            | ClaimKind::Unfixed
            | ClaimKind::EndlessCode
            | ClaimKind::OnlyComments
            | ClaimKind::BreaksSuite => equal(self, call, shape.right),
            ClaimKind::BuggyValue => {
                equal(self, call, if is_sound { shape.right } else { shape.wrong })
            }
            kind if kind.is_wrong_expectation() => equal(self, call, shape.wrong),
            kind => {
                let text = if kind == ClaimKind::ReadsAbsence { shape.sound } else { shape.broken };
                let quoted = format!("{:?}", fill(text));
                (self.text)(kind).replace("<call>", call).replace("<text>", &quoted)
            }
        };
        let test_code = layout.test.replace("<body>", &body).replace("<T>", "claimed");
        let test_code = fill(&test_code.replace("<p>", layout.prefix));
        let other =
            |file: &str, from: &str, to: &str| Some(patch(&fill(file), &fill(from), &fill(to)));
        let fixed = |new: String| Some(patch(&path, &now, &(new + &tail)));
        let fix_patch = match kind {
            ClaimKind::Unfixed
            | ClaimKind::ConstantAlone
            | ClaimKind::BehindCallAlone
            | ClaimKind::NanAlone
            | ClaimKind::ReadsTextAlone => None,
            ClaimKind::TouchesTest => other("tests/test_<m>.py", "x\n", "y\n"),
            ClaimKind::TouchesSettings => other(layout.settings, "x\n", "y\n"),
            ClaimKind::OnlyComments => {
                fixed(format!("{}{} fixed\n", text(is_sound, ""), self.comment))
            }
            ClaimKind::BreaksSuite => fixed(text(true, (self.text)(kind))),
            kind if kind.inserts_statement() => fixed(text(is_sound, (self.text)(kind))),
            // The other one of the two texts, whichever is there.
            _ => fixed(text(!is_sound, "")),
        };
        let marked = format!("{}{}", layout.head, shape.code);
        let line = ["<here>", "<f>"]
            .iter()
            .find_map(|mark| marked.lines().position(|line| line.contains(mark)));
        let line = u32::try_from(line.unwrap() + 1).unwrap();
        Case {
            name: format!("{}-{kind:?}-{}-{index}", self.name, shape.name),
            kind,
            layout: place,
            files,
            claim: Claim {
                id: format!("c{index}"),
                file: path,
                line,
                end_line: None,
                test_code,
                fix_patch,
                ..Claim::default()
            },
            module,
        }
    }
}

/// The code with a statement at the beginning of its body, as far in as the others there.
fn insert(code: &str, statement: &str) -> String {
    let Some(at) = code.find("<here>") else { return code.to_owned() };
    let line = code[..at].rsplit('\n').next().unwrap();
    let gap = if statement.is_empty() { String::new() } else { format!("{statement}\n{line}") };
    code.replace("<here>", &gap)
}

fn equal(language: &Language, call: &str, value: &str) -> String {
    language.equal.replace("<call>", call).replace("<value>", value)
}

fn fill(text: &str, shape: &Shape, module: &str, index: usize) -> String {
    let n = 3 + index % 7;
    let mut capital = module.to_owned();
    capital.get_mut(..1).unwrap().make_ascii_uppercase();
    let text = [("<input>", shape.input), ("<spare>", shape.spare), ("<give>", shape.give)]
        .iter()
        .fold(text.to_owned(), |text, (mark, meant)| text.replace(mark, meant));
    let numbers = [
        ("<n>", n),
        ("<n+1>", n + 1),
        ("<n-1>", n - 1),
        ("<n+3>", n + 3),
        ("<n+5>", n + 5),
        ("<n+10>", n + 10),
        ("<2n>", 2 * n),
        ("<2n+1>", 2 * n + 1),
        ("<3n>", 3 * n),
        ("<4n>", 4 * n),
        ("<10n>", 10 * n),
        ("<nn>", n * n),
    ];
    let text =
        numbers.iter().fold(text, |text, (mark, number)| text.replace(mark, &number.to_string()));
    text.replace("<m>", module)
        .replace("<f>", &format!("f_{module}"))
        .replace("<F>", &format!("F{capital}"))
}

/// A unified diff of one whole text against another.
fn patch(path: &str, old: &str, new: &str) -> String {
    let lines = |sign: char, text: &str| -> String {
        text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect()
    };
    let counts = (old.lines().count(), new.lines().count());
    let (removed, added) = (lines('-', old), lines('+', new));
    format!("--- a/{path}\n+++ b/{path}\n@@ -1,{} +1,{} @@\n{removed}{added}", counts.0, counts.1)
}
