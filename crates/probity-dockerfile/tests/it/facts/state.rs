//! Shell, user and working directory.

use probity_dockerfile::{Keyword, ShellSource};

use super::{check, nth};

#[test]
fn the_working_directory_is_followed_while_it_is_known() {
    let cases = [
        ("FROM a\nRUN x", None),
        ("FROM scratch\nRUN x", Some("/")),
        ("FROM a\nWORKDIR b\nRUN x", None),
        ("FROM a\nWORKDIR /a//b/\nWORKDIR ../c\nRUN x", Some("/a/c")),
        ("FROM scratch\nWORKDIR a\nRUN x", Some("/a")),
        ("FROM a\nENV D=/d\nWORKDIR $D/e\nRUN x", Some("/d/e")),
        ("FROM a\nWORKDIR /a/$HOME\nRUN x", None),
        ("FROM a AS b\nWORKDIR /b\nFROM b\nWORKDIR c\nRUN x", Some("/b/c")),
        ("FROM nanoserver\nWORKDIR C:/x\nRUN x", Some("C:/x")),
    ];
    for (text, path) in cases {
        check(text, |file, facts| {
            let state = facts.state(nth(file, Keyword::Run, 0)).unwrap();
            assert_eq!(state.workdir.path.as_deref(), path, "{text}");
            assert_eq!(state.workdir.instruction.is_some(), text.contains("WORKDIR"), "{text}");
        });
    }
}

#[test]
fn the_shell_is_that_of_the_system_the_instruction_or_the_pragma() {
    let text = "# hadolint shell=dash\n\
        FROM alpine AS one\n\
        RUN 0\n\
        SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\n\
        RUN 1\n\
        # tally shell = zsh ; reason=x\n\
        RUN 2 \\\n\
        # hadolint shell=ksh\n\
          && x\n\
        FROM one\n\
        RUN 3\n\
        FROM nanoserver\n\
        RUN 4\n\
        # hadolint shell=powershell\n\
        FROM nanoserver\n\
        RUN 5\n";
    check(text, |file, facts| {
        let shell = |run| &facts.state(nth(file, Keyword::Run, run)).unwrap().shell;
        let names: Vec<String> = (0..6).map(|run| shell(run).name()).collect();
        assert_eq!(names, ["dash", "bash", "zsh", "zsh", "dash", "powershell"]);
        assert_eq!(shell(1).argv, ["/bin/bash", "-o", "pipefail", "-c"]);
        assert_eq!(shell(1).source, ShellSource::Instruction(2));
        let ShellSource::Pragma(span) = shell(2).source else { panic!("{:?}", shell(2)) };
        assert_eq!(span.slice(text), Some("# tally shell = zsh ; reason=x"));
    });
    check("FROM nanoserver\nRUN x\nFROM a\nRUN x", |_, facts| {
        assert_eq!(facts.state(1).unwrap().shell.argv, ["cmd", "/S", "/C"]);
        assert_eq!(facts.state(3).unwrap().shell.argv, ["/bin/sh", "-c"]);
    });
}

#[test]
fn the_user_comes_from_the_base_too() {
    check("FROM a AS b\nRUN 0\nUSER me\nFROM b\nRUN 1\nUSER $you\nRUN 2\n", |file, facts| {
        let user = |run| {
            let state = facts.state(nth(file, Keyword::Run, run)).unwrap();
            state.user.as_ref().map(|user| user.pattern().to_owned())
        };
        assert_eq!(user(0), None);
        assert_eq!(user(1).as_deref(), Some("me"));
        assert_eq!(user(2).as_deref(), Some("${you@0}"));
    });
}
