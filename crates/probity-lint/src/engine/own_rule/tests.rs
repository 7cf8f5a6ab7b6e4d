//! What rules of a configuration report, and which are refused.

use super::*;
use crate::{DirectiveOptions, LintOptions, Pattern, Preset, RuleSet, lint};

fn rule(when: &str) -> Result<OwnRule, OwnRuleError> {
    OwnRule::new(WrittenRule {
        name: "r".to_owned(),
        message: "wrong".to_owned(),
        when: when.to_owned(),
        ..WrittenRule::default()
    })
}

const FILE: &str = "\
ARG TAG=12
FROM debian:${TAG} AS build
LABEL a=1 \"b\"=\"two words\"
ENV HOME=/srv X=y
USER app
RUN --mount=type=cache,target=/c --network=none sudo apt-get install -y 'curl'=1.2 git && cd /srv
COPY --from=other a b /c/
FROM scratch
SHELL [\"/bin/bash\", \"-c\"]
RUN pip install flask==1.0
CMD [\"run\", \"it\"]
EXPOSE 80 443
";

#[test]
fn an_expression_sees_what_is_known() {
    for (when, lines) in [
        ("instruction == 'USER'", &[5][..]),
        ("true", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("commands.exists(c, c.name == 'sudo')", &[6]),
        ("commands.exists(c, c.name == 'cd' && '/srv' in c.arguments)", &[6]),
        ("commands.filter(c, c.name == 'cd').size() == 1", &[6]),
        ("'curl=1.2' in words", &[6]),
        ("words.all(w, w.size() == 2 || w == '443') && size(words) > 0", &[11 + 1]),
        ("words == ['run', 'it']", &[11]),
        ("flags['network'] == 'none'", &[6]),
        ("!('network' in flags) && instruction == 'RUN'", &[10]),
        ("has(flags.from) && flags.from == 'other'", &[7]),
        ("packages.exists(p, p.manager == 'apt-get' && p.version == '')", &[6]),
        ("packages.exists_one(p, p.name == 'flask')", &[10]),
        ("labels.b == 'two words'", &[3]),
        ("'X' in variables && variables.X.startsWith('y')", &[4]),
        ("environment['HOME'] == '/srv' && instruction == 'USER'", &[5]),
        ("'HOME' in environment && instruction == 'COPY'", &[7]),
        ("environment.TAG == '12' && instruction == 'FROM'", &[2, 8]),
        ("stage.name == 'build' && instruction == 'FROM'", &[2]),
        ("stage.is_final && stage.index == 1 && instruction == 'RUN'", &[10]),
        ("base == 'debian:12' && instruction == 'COPY'", &[7]),
        ("user == 'app' && instruction == 'RUN'", &[6]),
        ("shell == '/bin/bash' && instruction == 'RUN'", &[10]),
        ("text.contains('443')", &[12]),
        ("instruction == 'EXPOSE' ? words[1] == '443' : false", &[12]),
        // An expression that asks for a missing member is false.
        ("words[7] == 'x'", &[]),
    ] {
        let rule = rule(when).unwrap();
        let found = rule.findings(FILE);
        let line = |finding: &Finding| {
            FILE.get(..finding.span.unwrap().start).unwrap().matches('\n').count() + 1
        };
        let at: Vec<usize> = found.iter().map(line).collect();
        assert_eq!(at, lines, "{when}");
    }
}

#[test]
fn names_types_and_sizes_are_checked_before_anything_runs() {
    let long = format!("{}true", "true && ".repeat(400));
    let longer = format!("text == '{}'", "x".repeat(5_000));
    for (when, says) in [
        ("instruction = 'RUN'", "not a valid expression"),
        ("", "not a valid expression"),
        ("words.exists(w, w == 'x'", "missing ')' at '<EOF>' (line 1, column 25)"),
        ("instrution == 'RUN'", "`instrution` is not known; known are instruction, text"),
        ("stage.nam == 'x'", "a stage has no `nam`; it has name, index, is_final"),
        ("words.name == 'x'", "a list of texts has no `name`; it has no fields"),
        ("instruction", "it is a text; it must be true or false"),
        ("instruction == 1", "`==` cannot be used on a text and a number"),
        ("words.exists(w, w == 1)", "`==` cannot be used on a text and a number"),
        ("words && true", "`&&` cannot be used on a list of texts and true or false"),
        ("text.matches('x')", "`matches` is not a function"),
        ("environment.size() == 0", "`environment` needs the name of a variable"),
        ("environment[text] == ''", "`environment` needs the name of a variable"),
        ("words.exists(w, words.exists(v, v == w))", "a loop cannot stand in another loop"),
        ("{'a': 1}.a == 1", "a map cannot be used here"),
        ("1.5 > 1.0", "a value of this type cannot be used here"),
        (&long, "more than 300 words"),
        (&longer, "longer than 4000 bytes"),
        (&format!("{}true{}", "(".repeat(50), ")".repeat(50)), "nested more than 32 deep"),
    ] {
        let error = rule(when).unwrap_err().to_string();
        assert!(error.contains(says), "{when}: {error}");
    }
    let unnamed = WrittenRule { name: "No Sudo".to_owned(), ..WrittenRule::default() };
    assert_eq!(OwnRule::new(unnamed).unwrap_err(), OwnRuleError::Name("No Sudo".to_owned()));
}

#[test]
fn such_a_rule_is_chosen_silenced_and_weighed_like_any_other() {
    let text = "FROM debian:12\nRUN sudo true\n# tally ignore=own/r\nRUN sudo false\nUSER 1000\n";
    let found = |change: &dyn Fn(&mut RuleSet)| {
        let mut rules = RuleSet::of(Preset::Recommended);
        rules.without_shell_findings();
        rules.add_own([Arc::new(rule("'sudo' in words").unwrap())]);
        change(&mut rules);
        let options = LintOptions {
            rules: &rules,
            uses: None,
            directives: DirectiveOptions { enabled: true, ..DirectiveOptions::default() },
            dockerignore: None,
            context_files: None,
            base_images: None,
            secrets: None,
            detections: &[],
        };
        let all = lint(text, &options).into_iter().filter(|finding| finding.rule == "own/r");
        all.map(|finding| finding.severity).collect::<Vec<_>>()
    };
    assert_eq!(found(&|_| {}), [Severity::Warning]);
    assert_eq!(
        found(&|rules| rules.set_severity("own/r", Some(Severity::Error))),
        [Severity::Error]
    );
    assert_eq!(found(&|rules| rules.set_severity("r", None)), []);
    assert_eq!(found(&|rules| rules.ignore(&[Pattern::new("own/*")])), []);
    assert_eq!(found(&|rules| rules.select(&[Pattern::new("buildkit/*")])), []);
    assert_eq!(found(&|rules| rules.select(&[Pattern::new("own/r")])), [Severity::Warning]);
}

#[test]
fn examples_and_replacements_are_tried() {
    let written = WrittenRule {
        name: "no-sudo".to_owned(),
        message: "do without sudo".to_owned(),
        when: "commands.exists(c, c.name == 'sudo')".to_owned(),
        replacement: Some(("sudo ".to_owned(), String::new())),
        bad: vec!["RUN sudo a && sudo b".to_owned(), "RUN a".to_owned(), "RUN sudo".to_owned()],
        good: vec!["RUN a sudo".to_owned(), "FROM x\nRUN sudo a".to_owned()],
        ..WrittenRule::default()
    };
    let rule = OwnRule::new(written).unwrap();
    assert_eq!(
        rule.wrong_examples(),
        [
            WrongExample::Silent("RUN a".to_owned()),
            WrongExample::NotFixed("RUN sudo".to_owned(), "FROM scratch\nRUN sudo\n".to_owned()),
            WrongExample::Reported("FROM x\nRUN sudo a".to_owned()),
        ]
    );
    let found = rule.findings("FROM x\nRUN sudo a && sudo b\n");
    assert_eq!(found[0].span, Some(Span::new(11, 16)));
    assert_eq!(found[0].fixes[0].edits.len(), 2);
    assert!(rule.page().contains("A suggestion: remove `sudo`."), "{}", rule.page());
}
