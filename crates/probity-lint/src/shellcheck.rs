//! ShellCheck's findings in the RUN instructions of a file, as findings among others.

pub(crate) mod memory;
pub(crate) mod relevance;

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashSet},
    fmt,
    ops::Range,
};

use probity_dockerfile::{Arguments, Dockerfile, Facts, Keyword, ShellText};
use probity_finding::{Edit, Finding, Fix, Severity, Span};
use probity_shell::{
    MAX_COMMANDS, MAX_DEPTH, MAX_EXPANSIONS, MAX_LENGTH, MAX_OPERATORS, MAX_REREADS, Opaque,
    Script, ShellFinding, ShellLevel, Unchecked, check,
};

use self::memory::{Question, Recall};
use crate::{Parsed, engine::ruleset::RuleSet};

/// The namespace of the findings: `shellcheck/SC2086`.
pub(crate) const NAMESPACE: &str = "shellcheck";

/// Says that a text was too long to be looked at.
pub(crate) const TOO_LONG: &str = "shellcheck/too-long";

/// Variables that a shell of a build has without being told.
const ALWAYS: &[&str] = &[
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// Findings whose mending is offered: what it writes means the same, or what everybody means by it.
/// Others are found and left alone, since what they would write may do something else: quotes around
/// text that a later shell is to expand, another name for a variable that a program reads, another
/// pattern.
const MENDED: &[u32] = &[2004, 2006, 2007, 2086, 2112, 2113, 2162, 2164, 2196, 2197, 3014];

/// Commands whose arguments are names of files one by one, so that quotes around a variable are right.
/// Elsewhere a variable without quotes is as often a list: of packages, of options.
const TAKE_FILES: &[&str] = &[
    "[", "basename", "cat", "cd", "chmod", "chown", "cp", "dirname", "ln", "mkdir", "mv", "rm",
    "rmdir", "test", "touch",
];

/// A text for ShellCheck.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShellScript {
    /// `sh`, `bash`, `dash` or `ksh`.
    pub shell: &'static str,
    /// What is set before the text runs.
    pub variables: Vec<String>,
    pub text: String,
}

/// A finding in a text, in offsets of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFinding {
    pub code: u32,
    pub severity: Severity,
    pub range: Range<usize>,
    pub message: String,
    /// What would mend it; empty where nothing is offered.
    pub edits: Vec<(Range<usize>, String)>,
}

/// Somebody else who makes ShellCheck's findings. How it does so, and what it says of itself when it
/// fails, is not known here.
pub trait ShellChecker: fmt::Debug + Send + Sync {
    /// The findings in each of the texts.
    fn check(&self, scripts: &[ShellScript]) -> Vec<Vec<ScriptFinding>>;
}

/// The texts of a Dockerfile that a [`ShellChecker`] would be asked about.
#[must_use]
pub fn shell_scripts(parsed: &Parsed<'_>, rules: &RuleSet) -> Vec<ShellScript> {
    if !rules.checks_shell() {
        return Vec::new();
    }
    texts(&parsed.file, &parsed.facts)
        .filter_map(|(_, text, known)| script(&text, &known))
        .collect()
}

pub(crate) fn findings(file: &Dockerfile<'_>, facts: &Facts, rules: &RuleSet) -> Vec<Finding> {
    let mut found: Vec<Finding> = without_structure(file, facts, rules).into_iter().collect();
    if let Some(checker) = rules.shell_checker() {
        found.extend(foreign(file, facts, rules, checker));
        return found;
    }
    let (mut unchecked, mut without_quotes) = (Vec::new(), Vec::new());
    let mut recall = Recall::new(rules.shell_memory());
    for (index, text, variables) in texts(file, facts) {
        let Some(script) = facts.scripts(file, index).first() else { continue };
        let known: Vec<&str> = variables.iter().map(String::as_str).collect();
        let keyword = file.instructions.get(index).map(|instruction| instruction.keyword_span());
        let whole =
            file.instructions.get(index).map_or(Span::at(0), |instruction| instruction.span);
        let source = whole.slice(file.text).unwrap_or_default();
        let question = || Question::new(source, text.text(), &variables, script);
        let check = || check(text.text(), script, &known, &|range| text.place(range));
        match recall.checked(question, whole.start, check) {
            Ok(checked) => {
                if checked.is_without_quotes {
                    without_quotes.extend(keyword);
                }
                let sound = Soundness::of(script);
                let all = checked.findings.into_iter();
                let all = all.map(|it| with_sound_edits(it, file.text, &sound));
                let all = all.filter_map(|it| wanted(it, rules, file.text, script));
                found.extend(all.filter_map(|it| finding(file.text, it, rules)));
            }
            Err(Unchecked::Dialect) => {}
            Err(Unchecked::TooLong) => unchecked.extend(keyword),
        }
    }
    found.extend(skipped(&unchecked, &without_quotes, rules));
    found
}

/// What was not looked at, once for the file, with a place for each instruction.
fn skipped(unchecked: &[Span], without_quotes: &[Span], rules: &RuleSet) -> Vec<Finding> {
    let report = |places: &[Span], what: String| too_long(places, what, rules);
    let all = format!(
        "ShellCheck's checks were skipped here: the script has more than {MAX_COMMANDS} commands, \
         {} KiB, {MAX_REREADS} substitutions in a line or {MAX_DEPTH} levels of nesting; move it to a \
         file and run `shellcheck` on that file",
        MAX_LENGTH / 1024,
    );
    let quotes = format!(
        "ShellCheck's SC2086 was skipped here: the script has more than {MAX_EXPANSIONS} expansions; \
         move it to a file and run `shellcheck` on that file"
    );
    report(unchecked, all).into_iter().chain(report(without_quotes, quotes)).collect()
}

/// The scripts whose commands every rule saw one by one, since there is too much around them.
fn without_structure(file: &Dockerfile<'_>, facts: &Facts, rules: &RuleSet) -> Option<Finding> {
    let is_flat = |script: &Script| script.opaque.is_some_and(|why| why != Opaque::Dialect);
    let places = file.instructions.iter().enumerate().filter_map(|(index, instruction)| {
        let is_one = facts.scripts(file, index).iter().any(is_flat);
        is_one.then_some(instruction.keyword_span())
    });
    let what = format!(
        "rules looked at each command of this script alone: it has more than {MAX_DEPTH} levels of \
         nesting, or a line with more than {MAX_OPERATORS} pipes or {MAX_REREADS} substitutions; \
         rules about pipes, `cd` and `set` can miss something; move the script to a file"
    );
    too_long(&places.collect::<Vec<_>>(), what, rules)
}

fn too_long(places: &[Span], what: String, rules: &RuleSet) -> Option<Finding> {
    let severity = rules.shell_severity(TOO_LONG, Severity::Info)?;
    let (&first, rest) = places.split_first()?;
    let finding = Finding::new(TOO_LONG, severity, first, what);
    Some(finding.with_more_places(rest.iter().copied()))
}

/// What somebody else finds, all texts of the file at once.
fn foreign(
    file: &Dockerfile<'_>,
    facts: &Facts,
    rules: &RuleSet,
    checker: &dyn ShellChecker,
) -> Vec<Finding> {
    let (texts, scripts): (Vec<(usize, ShellText)>, Vec<ShellScript>) = texts(file, facts)
        .filter_map(|(index, text, known)| {
            let script = script(&text, &known)?;
            Some(((index, text), script))
        })
        .unzip();
    let all = checker.check(&scripts);
    let each = texts.iter().zip(all);
    each.flat_map(|(text, found)| found.into_iter().map(move |it| (text, it)))
        .filter_map(|((index, text), script_finding)| {
            let place = |range: Range<usize>| {
                let whole = text.text();
                (whole.is_char_boundary(range.start) && whole.is_char_boundary(range.end))
                    .then(|| text.place(range))
            };
            let edits =
                script_finding.edits.into_iter().map(|(range, text)| Some((place(range)?, text)));
            let found = ShellFinding {
                code: script_finding.code,
                level: match script_finding.severity {
                    Severity::Error => ShellLevel::Error,
                    Severity::Warning => ShellLevel::Warning,
                    Severity::Info => ShellLevel::Info,
                    Severity::Style => ShellLevel::Style,
                },
                span: place(script_finding.range)?,
                message: script_finding.message,
                edits: edits.collect::<Option<_>>().unwrap_or_default(),
            };
            let found = match facts.scripts(file, *index).first() {
                Some(script) => {
                    let found = with_sound_edits(found, file.text, &Soundness::of(script));
                    wanted(found, rules, file.text, script)?
                }
                None => ShellFinding { edits: Vec::new(), ..found },
            };
            finding(file.text, found, rules)
        })
        .collect()
}

/// Without what does not matter in a Dockerfile, unless all of ShellCheck's findings are asked for.
fn wanted(
    found: ShellFinding,
    rules: &RuleSet,
    text: &str,
    script: &Script,
) -> Option<ShellFinding> {
    if rules.weighs_shell_findings() {
        return relevance::relevant(found, text, script);
    }
    Some(found)
}

/// Without its edits where they may change what is done.
fn with_sound_edits(mut found: ShellFinding, text: &str, sound: &Soundness<'_>) -> ShellFinding {
    let written = found.span.slice(text).unwrap_or_default();
    let is_sound = match found.code {
        // Backticks within backticks are escaped in ways of their own.
        2006 => !written.contains("\\`"),
        2086 => sound.stands_for_one_file(found.span, written),
        code => MENDED.contains(&code),
    };
    if !is_sound {
        found.edits.clear();
    }
    found
}

/// What the edits in one script are judged by.
struct Soundness<'s> {
    script: &'s Script,
    /// The variables that the script gives something else than one word.
    several_words: OnceCell<HashSet<&'s str>>,
}

impl<'s> Soundness<'s> {
    fn of(script: &'s Script) -> Self {
        Self { script, several_words: OnceCell::new() }
    }

    /// Whether a variable without quotes is one name of a file: by the command that it is given to,
    /// and because the text gives it no other value than one word.
    fn stands_for_one_file(&self, span: Span, written: &str) -> bool {
        let contains = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        let commands = self.script.commands.iter().filter(|command| contains(command.span));
        let Some(command) = commands.min_by_key(|command| command.span.end - command.span.start)
        else {
            return false;
        };
        let name = written.trim_matches(['$', '{', '}']);
        command.effective().is_any(TAKE_FILES) && !self.several_words().contains(name)
    }

    fn several_words(&self) -> &HashSet<&'s str> {
        self.several_words.get_or_init(|| {
            let commands = self.script.commands.iter();
            let values = commands
                .flat_map(|command| command.assignments().iter().chain(command.declarations()));
            let several = values.filter(|assignment| {
                let literal = assignment.value.as_ref().and_then(|value| value.literal());
                literal.is_none_or(|value| value.contains(char::is_whitespace))
            });
            several.map(|assignment| assignment.name.as_str()).collect()
        })
    }
}

/// The shell texts of RUN instructions, with the index of the instruction and the variables that are
/// known there.
fn texts<'f>(
    file: &'f Dockerfile<'_>,
    facts: &'f Facts,
) -> impl Iterator<Item = (usize, ShellText, Vec<String>)> {
    file.instructions.iter().enumerate().filter_map(move |(index, instruction)| {
        let is_run = instruction.keyword == Keyword::Run
            || matches!(&instruction.arguments, Arguments::Onbuild(Some(it)) if it.keyword == Keyword::Run);
        let text = is_run.then(|| facts.shell_text(file, index)).flatten()?;
        let scope = facts.scope(index);
        // Only what the text mentions is told: a file of many variables and many commands would
        // cost their product.
        let is_known = |name: &&str| ALWAYS.contains(name) || scope.get(name).is_some();
        let known = mentioned(text.text()).into_iter().filter(is_known);
        let known = known.map(str::to_owned).collect();
        Some((index, text, known))
    })
}

fn script(text: &ShellText, known: &[String]) -> Option<ShellScript> {
    let shell = text.invocation.dialect.in_shellcheck()?;
    Some(ShellScript { shell, variables: known.to_vec(), text: text.text().to_owned() })
}

/// The names behind `$` and `${`, and those before `=`: a variable of the file that the text sets
/// anew is seen by the programs that it starts.
fn mentioned(text: &str) -> BTreeSet<&str> {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let set = text.match_indices('=').filter_map(|(at, _)| {
        let before = text.get(..at)?;
        before.get(before.trim_end_matches(is_of_name).len()..)
    });
    let behind = text.split('$').skip(1);
    let names = behind.map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end =
            rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    });
    names.chain(set).filter(|name| !name.is_empty()).collect()
}

fn finding(text: &str, found: ShellFinding, rules: &RuleSet) -> Option<Finding> {
    let name = format!("{NAMESPACE}/SC{:04}", found.code);
    let default = match found.level {
        ShellLevel::Error => Severity::Error,
        ShellLevel::Warning => Severity::Warning,
        ShellLevel::Info => Severity::Info,
        ShellLevel::Style => Severity::Style,
    };
    let severity = rules.shell_severity(&name, default)?;
    let docs = format!("https://www.shellcheck.net/wiki/SC{:04}", found.code);
    let mut finding = Finding::new(name, severity, found.span, found.message).with_docs(docs);
    // A continuation within what is replaced would be lost.
    let is_plain = found
        .edits
        .iter()
        .all(|(span, _)| span.slice(text).is_some_and(|written| !written.contains('\n')));
    if !found.edits.is_empty() && is_plain {
        let edits = found.edits.into_iter().map(|(span, text)| Edit::replace(span, text)).collect();
        finding = finding.with_fix(Fix::suggestion("as ShellCheck suggests", edits));
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::{Pattern, RuleSet, engine::harness::lint_with};

    /// `code:text under the span` for every finding of ShellCheck's.
    fn found(text: &str, choose: impl Fn(&mut RuleSet)) -> Vec<String> {
        let mut rules = RuleSet::default();
        choose(&mut rules);
        let findings = lint_with(text, &rules).into_iter();
        let shell = findings.filter(|finding| finding.rule.starts_with("shellcheck/"));
        shell
            .map(|finding| {
                let code = finding.rule.trim_start_matches("shellcheck/").to_owned();
                format!("{code}:{}", finding.span.unwrap().slice(text).unwrap())
            })
            .collect()
    }

    #[test]
    fn the_words_are_underlined_through_continuations_comments_and_heredocs() {
        let text = "FROM a\nARG KNOWN\nENV SET=1\nRUN x=$(ls); \\\n  # why\n  echo $x \"$x\" $KNOWN $SET\n\
                    RUN <<EOF\nread -r y\nrm $y\nEOF\nONBUILD RUN cp $z b\n";
        let expected = ["SC2086:$x", "SC2086:$y", "SC2086:$z", "SC2154:$z"];
        assert_eq!(found(text, |_| {}), expected);
    }

    #[test]
    fn other_shells_and_programs_are_left_alone() {
        assert_eq!(found("FROM a\nSHELL [\"pwsh\", \"-c\"]\nRUN echo $x\n", |_| {}), [""; 0]);
        assert_eq!(found("FROM a\nRUN [\"echo\", \"$x\"]\n", |_| {}), [""; 0]);
        assert_eq!(found("FROM a\nCMD echo $(ls)\n", |_| {}), [""; 0]);
    }

    #[test]
    fn only_what_means_the_same_is_offered() {
        let rows: &[(&str, &[&str])] = &[
            ("read -r x; rm $x", &["SC2086"]),
            ("y=`date`; echo \"$y\"", &["SC2006"]),
            ("read x; echo \"$x\"", &["SC2162"]),
            ("x='a b'; rm $x", &[]),
            ("x=$(ls); rm $x", &[]),
            ("deps='gcc make' && apt-get install -y $deps", &[]),
            ("apt-get install -y $(cat list)", &[]),
            ("CFLAGS= make", &[]),
            ("echo 'PATH=$PATH' >> /etc/profile", &[]),
            ("echo \"$(sed s/a/b/ /etc/x)\" > /etc/x", &[]),
            ("find /x -name *.pyc -delete", &[]),
            ("find . -name a -o -name b | xargs rm -f", &[]),
            ("x=1; make", &[]),
            ("echo `echo \\`date\\``", &[]),
        ];
        for (run, expected) in rows {
            let text = format!("FROM a\nRUN {run}\n");
            let all = lint_with(&text, &RuleSet::default()).into_iter();
            let with = all.filter(|finding| {
                finding.rule.starts_with("shellcheck/") && !finding.fixes.is_empty()
            });
            let codes: Vec<String> = with
                .map(|finding| finding.rule.trim_start_matches("shellcheck/").to_owned())
                .collect();
            assert_eq!(codes, *expected, "{run}");
        }
    }

    #[test]
    fn a_variable_of_the_file_is_used_by_whom_it_is_given_to() {
        assert_eq!(found("FROM a\nENV A=1\nARG B=2\nRUN A=2; B=3; make\n", |_| {}), [""; 0]);
        assert_eq!(found("FROM a\nRUN C=2; make\n", |_| {}), ["SC2034:C"]);
    }

    #[test]
    fn codes_are_chosen_like_rules() {
        let text = "FROM a\nRUN cp $z b\n";
        let patterns = |names: &[&str]| names.iter().copied().map(Pattern::new).collect::<Vec<_>>();
        assert_eq!(found(text, |rules| rules.ignore(&patterns(&["SC2154"]))), ["SC2086:$z"]);
        assert_eq!(found(text, |rules| rules.ignore(&patterns(&["shellcheck/*"]))), [""; 0]);
        assert_eq!(found(text, |rules| rules.select(&patterns(&["SC2154"]))), ["SC2154:$z"]);
        assert_eq!(found(text, |rules| rules.select(&patterns(&["buildkit/*"]))), [""; 0]);
        assert_eq!(
            found(text, |rules| rules.set_severity("shellcheck/SC2086", None)),
            ["SC2154:$z"]
        );
        let quiet = "FROM a\n# hadolint ignore=SC2086,SC2154\nRUN cp $z b\n";
        assert_eq!(found(quiet, |_| {}), [""; 0]);
    }

    #[test]
    fn a_text_of_many_commands_is_said_to_be_too_long() {
        let text = format!("FROM a\nRUN {}\n", "a;".repeat(1000));
        assert_eq!(found(&text, |_| {}), ["too-long:RUN"]);
    }

    #[test]
    fn what_is_skipped_is_named_once_for_the_file() {
        let (long, expanding) = ("a;".repeat(1000), "a \"$b\";".repeat(200));
        let text = format!("FROM a\nRUN {long}\nRUN {expanding}\nRUN {long}\n");
        let all = lint_with(&text, &RuleSet::default()).into_iter();
        let skipped = all.filter(|finding| finding.rule == super::TOO_LONG);
        let said: Vec<(String, usize)> = skipped
            .map(|finding| (finding.message.chars().take(17).collect(), finding.also_at.len()))
            .collect();
        assert_eq!(
            said,
            [("ShellCheck's chec".to_owned(), 1), ("ShellCheck's SC20".to_owned(), 0)]
        );
    }

    #[test]
    fn rules_look_into_a_script_that_is_too_much_and_the_report_says_how() {
        let many = vec!["true"; 1_500].join(" | ");
        for script in [
            format!("{}apt-get install x; {}", "if a; then ".repeat(100), "fi; ".repeat(100)),
            format!("{}apt-get install x{}", "( ".repeat(100), " )".repeat(100)),
            format!("echo {} && apt-get install x", "$(a)".repeat(600)),
            format!("apt-get install x | {many}"),
        ] {
            let found = lint_with(&format!("FROM a\nRUN {script}\n"), &RuleSet::default());
            let of_rule = |rule: &str| found.iter().filter(|finding| finding.rule == rule).count();
            assert_eq!(of_rule("hadolint/DL3014"), 1, "{script}");
            let said = found.iter().filter(|finding| finding.rule == super::TOO_LONG);
            let said: Vec<String> =
                said.map(|finding| finding.message.chars().take(12).collect()).collect();
            assert_eq!(said, ["ShellCheck's", "rules looked"], "{script}");
        }
    }
}
