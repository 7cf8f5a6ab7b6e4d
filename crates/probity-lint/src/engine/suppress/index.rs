//! Directives by where they hold and what they name, so that a finding need not ask each of them.

use std::collections::{BTreeSet, HashMap};

use crate::engine::directive::{Ignore, Scope};

/// What a directive names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name<'a> {
    All,
    /// With or without its namespace, in lower case.
    Rule(String),
    AllChecks,
    /// As BuildKit calls it.
    Check(&'a str),
}

/// The first directive of each name, by its position, in each place.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    file: HashMap<Name<'a>, usize>,
    instructions: HashMap<(usize, Name<'a>), usize>,
    /// By the end of the stage. Directives stand in the order of the file, so that the first of a
    /// name also begins first.
    stages: HashMap<(usize, Name<'a>), (usize, usize)>,
    stage_ends: BTreeSet<usize>,
}

impl<'a> Index<'a> {
    pub(super) fn of(ignores: &'a [Ignore]) -> Self {
        let mut index = Self::default();
        for (position, ignore) in ignores.iter().enumerate() {
            for name in names(ignore) {
                index.add(ignore.scope, name, position);
            }
        }
        index
    }

    fn add(&mut self, scope: Scope, name: Name<'a>, position: usize) {
        match scope {
            Scope::File => {
                self.file.entry(name).or_insert(position);
            }
            Scope::Instruction(at) => {
                self.instructions.entry((at, name)).or_insert(position);
            }
            Scope::Stage(start, end) => {
                self.stage_ends.insert(end);
                self.stages.entry((end, name)).or_insert((start, position));
            }
            Scope::Nowhere => {}
        }
    }

    /// The position of the first directive that suppresses a rule in an instruction.
    pub(super) fn first_that_suppresses(&self, rule: &'a str, at: Option<usize>) -> Option<usize> {
        self.first_of(meanings(rule), at)
    }

    /// The same for a directive that does not just mean all rules.
    pub(super) fn first_that_names(&self, rule: &'a str, at: Option<usize>) -> Option<usize> {
        let names = meanings(rule).into_iter().filter(|name| matches!(name, Name::Rule(_)));
        self.first_of(names, at)
    }

    fn first_of(
        &self,
        names: impl IntoIterator<Item = Name<'a>>,
        at: Option<usize>,
    ) -> Option<usize> {
        let end = at.and_then(|at| self.stage_ends.range(at + 1..).next()).copied();
        let mut first = None;
        for name in names {
            let of_file = self.file.get(&name).copied();
            let of_stage = at.zip(end).and_then(|(at, end)| {
                let (start, position) = self.stages.get(&(end, name.clone()))?;
                (*start <= at).then_some(*position)
            });
            let of_one = at.and_then(|at| self.instructions.get(&(at, name)).copied());
            first = [first, of_file, of_stage, of_one].into_iter().flatten().min();
        }
        first
    }
}

fn names(ignore: &Ignore) -> impl Iterator<Item = Name<'_>> {
    let all = if ignore.buildkit_only { Name::AllChecks } else { Name::All };
    let named = ignore.rules.iter().map(|named| {
        if ignore.buildkit_only {
            Name::Check(&named.name)
        } else {
            Name::Rule(named.name.to_ascii_lowercase())
        }
    });
    ignore.all.then_some(all).into_iter().chain(named)
}

/// All names that mean a rule.
fn meanings(rule: &str) -> Vec<Name<'_>> {
    let mut names = vec![Name::All, Name::Rule(rule.to_ascii_lowercase())];
    if let Some((namespace, bare)) = rule.split_once('/') {
        names.push(Name::Rule(bare.to_ascii_lowercase()));
        if namespace == "buildkit" {
            names.extend([Name::AllChecks, Name::Check(bare)]);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::parse;
    use probity_finding::{Finding, Severity, Span};

    use crate::{
        DirectiveOptions, LintOptions, RuleSet,
        engine::{directive::Directives, harness::run, suppress},
    };

    const MANY: usize = 100_000;

    /// Each finding asking each directive would be ten thousand million questions.
    #[test]
    fn many_directives_and_many_findings_are_matched() {
        let mut text = String::from("FROM a\n");
        for number in 0..MANY {
            let reach = ["global ", "stage ", ""][number % 3];
            text.push_str(&format!("# hadolint {reach}ignore=X{number}\n"));
        }
        text.push_str("ENV a=b\n");
        let file = parse(&text);
        let directives = Directives::of(&file, DirectiveOptions::default());
        assert_eq!(directives.ignores.len(), MANY);
        let span = Span::new(text.len() - 2, text.len() - 1);
        let rules = (0..MANY).map(|number| format!("hadolint/x{}", number * 2));
        let mut findings: Vec<Finding> =
            rules.map(|rule| Finding::new(rule, Severity::Warning, span, "")).collect();
        let options = LintOptions {
            rules: &RuleSet::default(),
            uses: None,
            directives: DirectiveOptions::default(),
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: None,
        };
        suppress::apply(&mut findings, &file, &directives, &options);
        assert_eq!(findings.len(), MANY / 2);
    }

    #[test]
    fn a_directive_may_use_the_name_of_another_tool() {
        let rule = "buildkit/MaintainerDeprecated";
        assert_eq!(run(rule, "FROM a\n# hadolint ignore=DL4000\nMAINTAINER b\n"), []);
        assert_eq!(run(rule, "FROM a\n# hadolint ignore=DL4001\nMAINTAINER b\n").len(), 1);
        assert_eq!(run(rule, "FROM a\n# check=skip=DL4000\nMAINTAINER b\n").len(), 1);
    }

    #[test]
    fn what_the_build_refuses_goes_by_hadolint_s_name_alone() {
        let rule = "hadolint/DL3011";
        for (name, count) in [("DL3011", 0), (rule, 0), ("all", 1), ("tally/syntax-error", 1)] {
            let text = format!("FROM a\n# tally ignore={name}\nEXPOSE 80000\n");
            assert_eq!(run(rule, &text).len(), count, "{name}");
            let text = format!("# hadolint global ignore={name}\nFROM a\nEXPOSE 80000\n");
            assert_eq!(run(rule, &text).len(), count, "{name}");
        }
        let pair =
            "# hadolint ignore=DL3061\nRUN a\nFROM b\n# hadolint ignore=DL3043\nONBUILD FROM c\n";
        for rule in ["hadolint/DL3061", "hadolint/DL3043"] {
            assert_eq!(run(rule, pair), []);
            assert_eq!(run(rule, &pair.replace("hadolint ignore", "left alone")).len(), 1);
        }
    }

    #[test]
    fn a_stage_ends_where_the_next_begins() {
        let rule = "buildkit/MaintainerDeprecated";
        let stage = "FROM a\nMAINTAINER b\n";
        let ignore = "# hadolint stage ignore=maintainerdeprecated\n";
        assert_eq!(run(rule, &format!("{stage}{ignore}{stage}{stage}")).len(), 2);
        assert_eq!(run(rule, &format!("{stage}{stage}{ignore}{stage}")).len(), 2);
        let late = format!("FROM a\nMAINTAINER b\n{ignore}MAINTAINER c\nMAINTAINER d\n");
        assert_eq!(run(rule, &late).len(), 1);
    }
}
