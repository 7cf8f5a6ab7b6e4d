//! What ShellCheck's checks found in the scripts of the last text. An editor checks a text again and
//! again while it changes: most scripts stay, and checking them costs more than all else.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use probity_finding::Span;
use probity_shell::{Script, ShellChecked, ShellFinding, Unchecked};

type Outcome = Result<ShellChecked, Unchecked>;

/// Remembers the scripts of one text, and forgets those that the next one does not have.
#[derive(Debug, Default)]
pub(crate) struct ShellMemory {
    last: Mutex<HashMap<Question, (usize, Outcome)>>,
    /// Scripts that were not remembered.
    #[cfg(test)]
    checked: std::sync::atomic::AtomicUsize,
}

/// Everything that decides what is found, but for the place of the instruction.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    /// The instruction as it is written: places in it follow from this.
    source: String,
    text: String,
    variables: Vec<String>,
    invocation: String,
}

impl ShellMemory {
    #[cfg(not(test))]
    fn count(&self) {}

    #[cfg(test)]
    fn count(&self) {
        self.checked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Question {
    pub(crate) fn new(source: &str, text: &str, variables: &[String], script: &Script) -> Self {
        Self {
            source: source.to_owned(),
            text: text.to_owned(),
            variables: variables.to_vec(),
            invocation: format!("{:?}", script.invocation),
        }
    }
}

/// The memory of one run over a text; what it does not use is forgotten when it ends.
pub(crate) struct Recall<'m> {
    memory: Option<&'m ShellMemory>,
    before: HashMap<Question, (usize, Outcome)>,
    now: HashMap<Question, (usize, Outcome)>,
}

impl<'m> Recall<'m> {
    pub(crate) fn new(memory: Option<&'m ShellMemory>) -> Self {
        let take = |memory: &ShellMemory| {
            std::mem::take(&mut *memory.last.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let before = memory.map(take).unwrap_or_default();
        Self { memory, before, now: HashMap::new() }
    }

    /// What is known about a script, moved to where its instruction begins now; otherwise what the
    /// check finds.
    pub(crate) fn checked(
        &mut self,
        question: impl FnOnce() -> Question,
        start: usize,
        check: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let Some(memory) = self.memory else { return check() };
        let question = question();
        let known = self.before.remove(&question).or_else(|| self.now.get(&question).cloned());
        let outcome = match known {
            Some((then, outcome)) => outcome.map(|found| moved(found, then, start)),
            None => {
                memory.count();
                check()
            }
        };
        self.now.insert(question, (start, outcome.clone()));
        outcome
    }
}

impl Drop for Recall<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory {
            let now = std::mem::take(&mut self.now);
            *memory.last.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
    }
}

fn moved(found: ShellChecked, then: usize, now: usize) -> ShellChecked {
    let offset = |at: usize| (at + now).saturating_sub(then);
    let place = |span: Span| Span::new(offset(span.start), offset(span.end));
    let finding = |found: ShellFinding| ShellFinding {
        span: place(found.span),
        edits: found.edits.into_iter().map(|(span, text)| (place(span), text)).collect(),
        ..found
    };
    ShellChecked { findings: found.findings.into_iter().map(finding).collect(), ..found }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use probity_finding::Finding;

    use crate::{DirectiveOptions, LintOptions, Pattern, RuleSet, lint};

    fn remembering() -> RuleSet {
        let mut rules = RuleSet::default();
        rules.select(&[Pattern::new("*")]);
        rules.remember_shell_findings();
        rules
    }

    fn check(rules: &RuleSet, text: &str) -> Vec<Finding> {
        let options = LintOptions {
            rules,
            uses: None,
            directives: DirectiveOptions::default(),
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: None,
        };
        lint(text, &options)
    }

    /// The cost of a keystroke: ShellCheck's checks look at the script that it changes, and at no
    /// script if it changes none.
    #[test]
    fn a_keystroke_checks_the_one_script_that_it_changes() {
        let rules = remembering();
        let scripts: String = (0..40).map(|at| format!("RUN echo $x {at}\n")).collect();
        let steps = |text: &str| {
            let memory = rules.shell_memory().unwrap();
            let before = memory.checked.load(Ordering::Relaxed);
            check(&rules, text);
            memory.checked.load(Ordering::Relaxed) - before
        };
        let text = format!("FROM a\n{scripts}");
        for (what, text, expected) in [
            ("opened", text.clone(), 40),
            ("unchanged", text.clone(), 0),
            ("a letter in a script", text.replace("$x 20\n", "$x 20a\n"), 1),
            ("a line above all", format!("# é\n{text}"), 1),
            ("a letter outside scripts", text.replace("FROM a", "FROM ab"), 0),
            ("a script more", format!("{text}RUN ls\n"), 1),
            ("a script twice", format!("{text}RUN ls\nRUN ls\n"), 0),
        ] {
            assert_eq!(steps(&text), expected, "{what}");
        }
    }

    /// Lines come and go above, within and below scripts; with a memory and without one everything
    /// found is the same.
    #[test]
    fn a_memory_changes_no_finding() {
        let remembering = remembering();
        let mut plain = RuleSet::default();
        plain.select(&[Pattern::new("*")]);
        let script = "RUN cd $x && \\\n  # é\n  echo `ls`\n";
        let heredoc = "RUN <<E\nrm $y\nE\n";
        for text in [
            format!("FROM a\n{script}"),
            format!("FROM a\n{script}{script}"),
            format!("# 😀 longer\nFROM a\n{script}{heredoc}{script}"),
            format!("FROM a\nARG x=1\n{script}{heredoc}"),
            format!("FROM a\nSHELL [\"/bin/bash\", \"-c\"]\n{script}"),
            format!("FROM a\n{heredoc}"),
            script.to_owned(),
        ] {
            let found = check(&remembering, &text);
            assert_eq!(found, check(&plain, &text), "{text}");
            assert_eq!(check(&remembering, &text), found, "the second time: {text}");
        }
    }
}
