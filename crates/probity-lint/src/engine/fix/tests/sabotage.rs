//! Fixes that call themselves safe and are not: each is taken back, alone, and the reason is told.

use probity_finding::Applicability;

use super::{applied, fix_with, risky, safe, skipped};

const FILE: &str = r#"# syntax=docker/dockerfile:1
from debian:12 AS build
ENV A=1
# why B needs A
ENV B=$A-2
RUN apt-get install \
    # the compiler
    gcc \
    make && echo done
LABEL maintainer="me"
COPY <<EOF /etc/motd
one
two
EOF
RUN <<SCRIPT
set -e
make
SCRIPT
EXPOSE 80/tcp
WORKDIR /srv
HEALTHCHECK NONE
ENTRYPOINT ["/bin/a", "b"]
CMD ["c"]
"#;

/// What a broken rule would do, and a word of the reason that must be given.
const SABOTAGE: &[(&str, &str, &str, &str)] = &[
    ("a dropped continuation", "gcc \\\n", "gcc\n", "syntax error"),
    ("a dropped continuation that parses", "make && echo done\nLABEL", "make\nLABEL", "RUN"),
    (
        "a moved ENV",
        "ENV A=1\n# why B needs A\nENV B=$A-2\n",
        "# why B needs A\nENV B=$A-2\nENV A=1\n",
        "ENV B",
    ),
    ("a doubly quoted label", "maintainer=\"me\"", "maintainer=\"\\\"me\\\"\"", "LABEL maintainer"),
    ("a lost line of a copied heredoc", "one\ntwo\n", "one\n", "COPY"),
    ("a lost line of a run heredoc", "set -e\n", "", "RUN"),
    ("a lost terminator", "two\nEOF\n", "two\n", "syntax error"),
    ("blanks inside a heredoc", "\ntwo\n", "\n two\n", "COPY"),
    ("a lost comment", "# why B needs A\n", "", "comment `# why B needs A`"),
    (
        "a lost comment inside an instruction",
        "    # the compiler\n",
        "",
        "comment `# the compiler`",
    ),
    ("a comment out of an instruction", "EXPOSE 80/tcp", "#EXPOSE 80/tcp", "EXPOSE 80/tcp"),
    ("another syntax", "dockerfile:1\n", "dockerfile:1.2\n", "syntax directive"),
    ("a directive pushed down", "# syntax", "\n# syntax", "syntax directive"),
    ("another package", "gcc", "g++", "RUN"),
    ("two packages in another order", "gcc \\\n    make", "make \\\n    gcc", "RUN"),
    ("a packed command", "make && echo done", "make &&echo done", "RUN"),
    ("another port", "80/tcp", "80/udp", "EXPOSE"),
    ("another protocol is no port", "80/tcp", "80/icmp", "syntax error"),
    ("another directory", "WORKDIR /srv", "WORKDIR srv", "WORKDIR"),
    ("a lost healthcheck", "HEALTHCHECK NONE\n", "", "HEALTHCHECK"),
    ("exec form to shell form", "CMD [\"c\"]", "CMD c", "CMD"),
    ("arguments glued", "\"/bin/a\", \"b\"", "\"/bin/a b\"", "ENTRYPOINT"),
    ("another stage name", "AS build", "AS built", "name"),
    ("another base", "debian:12", "debian:13", "base"),
    ("a misspelt keyword", "WORKDIR", "WORKDIRR", "syntax error"),
    ("a variable that is quoted away", "B=$A-2", "B='$A-2'", "ENV B"),
    ("a quote that stays open", "echo done", "echo \"done", "shell script"),
    ("a command that is cut in two", "make && echo done", "make && && echo done", "shell script"),
    ("a heredoc with half a loop", "set -e\nmake", "while a\nmake", "shell script"),
];

#[test]
fn every_broken_promise_is_taken_back_and_told() {
    for (what, from, to, reason) in SABOTAGE {
        assert!(FILE.contains(from), "{what}");
        let rules = [safe("x/bad", from, to), safe("x/good", "from debian", "FROM debian")];
        let fixed = fix_with(FILE, &rules, |_| {});
        assert_eq!(fixed.text, FILE.replace("from debian", "FROM debian"), "{what}");
        assert_eq!(applied(&fixed), ["1:2 x/good"], "{what}");
        let told = skipped(&fixed);
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        assert!(
            told[0].contains(" x/bad validation-failed: ") && told[0].contains(reason),
            "{what}: {told:?}"
        );
        assert_eq!(fixed.remaining.len(), 1, "{what}: what was not fixed is still reported");
    }
}

#[test]
fn whoever_may_change_the_image_may_still_not_break_the_file() {
    let unsafe_too = |options: &mut super::FixOptions<'_>| options.ceiling = Applicability::Unsafe;
    let (mut taken_back, mut kept_comments) = (0, 0);
    for (what, from, to, reason) in SABOTAGE {
        let fixed = fix_with(FILE, &[risky("x/bad", from, to)], unsafe_too);
        if ["syntax error", "shell script"].contains(reason) {
            assert_eq!(fixed.text, FILE, "{what}");
            assert!(skipped(&fixed)[0].contains(reason), "{what}");
            taken_back += 1;
        } else {
            // Two of them never end, which is another matter; comments stay whatever is allowed.
            let told = skipped(&fixed);
            let is_other = |words: &str| told.first().is_some_and(|line| line.contains(words));
            let loses_comment = is_other("loses or changes the comment");
            kept_comments += usize::from(loses_comment);
            let endless = is_other(" unsettled: ");
            assert!(fixed.text != FILE || endless || loses_comment, "{what}: {told:?}");
        }
    }
    assert_eq!(taken_back, 7);
    assert!(kept_comments > 1, "{kept_comments}");
}

#[test]
fn a_file_that_does_not_parse_is_not_edited() {
    let unsafe_too = |options: &mut super::FixOptions<'_>| options.ceiling = Applicability::Unsafe;
    for broken in ["FORM a\nFROM b\nENV\n", "FROM b\nLABEL a={{ b }}\n", "FROM b:?\n"] {
        for rule in [safe("x/good", "FROM b", "FROM  b"), risky("x/good", "FROM b", "FROM c")] {
            let fixed = fix_with(broken, &[rule], unsafe_too);
            assert_eq!((fixed.text.as_str(), fixed.skipped.len()), (broken, 0));
            assert!(
                fixed.rejection.is_some_and(|rejection| !rejection.reason.is_empty()),
                "{broken}"
            );
            assert!(fixed.remaining.iter().all(|finding| finding.fixes.is_empty()), "{broken}");
        }
    }
}

#[test]
fn a_broken_shell_text_may_stay_so_but_not_get_worse() {
    let unsafe_too = |options: &mut super::FixOptions<'_>| options.ceiling = Applicability::Unsafe;
    let broken = "FROM a\nRUN b \"\nRUN c\n";
    let fixed = fix_with(broken, &[risky("x/good", "RUN c", "RUN d")], unsafe_too);
    assert_eq!(fixed.text, "FROM a\nRUN b \"\nRUN d\n");
    assert_eq!(fix_with(broken, &[risky("x/bad", "c", "d \"")], unsafe_too).text, broken);
}

#[test]
fn many_bad_fixes_cost_a_bounded_number_of_trials() {
    let lines: String = (0..400).map(|n| format!("ENV V{n}=a\n")).collect();
    let text = format!("FROM a\n{lines}");
    let started = std::time::Instant::now();
    let rules: Vec<_> = (0..400)
        .map(|n| {
            let from: &'static str = format!("V{n}=a").leak();
            let to: &'static str = format!("V{n}=b").leak();
            safe("x/bad", from, to)
        })
        .collect();
    let fixed = fix_with(&text, &rules, |_| {});
    assert_eq!(fixed.text, text);
    assert_eq!(fixed.skipped.len(), 400);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
