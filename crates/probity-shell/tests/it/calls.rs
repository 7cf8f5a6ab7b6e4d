//! Names, flags and arguments, and what wrappers run.

use probity_shell::{Call, Command, Dialect};

use crate::outline::{script, under};

fn with<T>(text: &str, ask: impl FnOnce(&Command, &str) -> T) -> T {
    let (script, file) = script(text, Dialect::Bash);
    assert_eq!(script.errors(), [], "{text}");
    ask(&script.commands[0], &file)
}

fn effective(text: &str) -> String {
    with(text, |command, file| {
        let call = command.effective();
        call.span().map(|span| under(file, span).to_owned()).unwrap_or_default()
    })
}

#[test]
fn wrappers_are_taken_off() {
    let cases: &[(&str, &str)] = &[
        ("a b", "a b"),
        ("A=b /usr/bin/c d", "/usr/bin/c d"),
        ("sudo a b", "a b"),
        ("sudo -u root -E A=b -- a -b", "a -b"),
        ("sudo -l", "sudo -l"),
        ("env A=b C=\"$d\" a b", "a b"),
        ("env -i -u X a", "a"),
        ("env", "env"),
        ("exec a b", "a b"),
        ("exec -a name a", "a"),
        ("command a", "a"),
        ("command -v a", "command -v a"),
        ("nice -n 10 a b", "a b"),
        ("timeout -s KILL 5 a b", "a b"),
        ("timeout 5", "timeout 5"),
        ("xargs -0 -n 1 rm -f", "rm -f"),
        ("sudo env A=b nice a", "a"),
        ("gosu user a b", "a b"),
        ("busybox wget x", "wget x"),
        ("find . -name x -exec chmod 755 {} +", "chmod 755 {} +"),
        ("find . -exec", "find . -exec"),
        ("find . -delete", "find . -delete"),
        ("$X a", "$X a"),
        ("A=b", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(&effective(text), expected, "{text}");
    }
}

#[test]
fn names_are_without_directories() {
    let cases =
        [("/usr/bin/apt-get x", Some("apt-get")), ("'apt'-get", Some("apt-get")), ("$A", None)];
    for (text, name) in cases {
        assert_eq!(
            with(text, |command, _| command.name().map(std::borrow::Cow::into_owned)).as_deref(),
            name,
            "{text}"
        );
    }
}

#[test]
fn flags() {
    let cases: &[(&str, &[&str], bool)] = &[
        ("a -y", &["-y", "--yes"], true),
        ("a -qy", &["-y", "--yes"], true),
        ("a --yes", &["-y", "--yes"], true),
        ("a --yes=true", &["-y", "--yes"], true),
        ("a '-y'", &["-y"], true),
        ("a --yesterday", &["-y", "--yes"], false),
        ("a -- -y", &["-y", "--yes"], false),
        ("a y", &["-y"], false),
        ("a --y", &["-y"], false),
        ("a -q=y", &["-y"], false),
        ("a -y$B", &["-y"], true),
        ("a $B -y", &["-y"], true),
        ("a", &["-y"], false),
    ];
    for (text, flags, expected) in cases {
        assert_eq!(with(text, |command, _| command.has_flag(flags)), *expected, "{text}");
    }
}

#[test]
fn values_of_flags() {
    let cases: &[(&str, Option<(&str, &str)>)] = &[
        ("a -o x y", Some(("x", "x"))),
        ("a -ox y", Some(("-ox", "x"))),
        ("a --out x", Some(("x", "x"))),
        ("a --out=x", Some(("--out=x", "x"))),
        ("a --out='x y'", Some(("--out='x y'", "x y"))),
        ("a -o", None),
        ("a -o $x", None),
        ("a --out=$x", None),
        ("a --output=x", None),
        ("a -- -o x", None),
    ];
    for (text, expected) in cases {
        let found = with(text, |command, file| {
            let found = command.call().flag_value(&["-o", "--out"]);
            found.map(|(word, value)| (under(file, word.span()).to_owned(), value))
        });
        let found = found.as_ref().map(|(word, value)| (word.as_str(), value.as_str()));
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn positional_arguments() {
    let cases: &[(&str, &str)] = &[
        ("apt-get -y install curl", "install curl"),
        ("apt-get -o A=b -qo C=d install --no-x curl=1 \"$p\"", "install curl=1 \"$p\""),
        ("apt-get --option x install -- -y", "install -y"),
        ("a - b", "- b"),
        ("a", ""),
    ];
    for (text, expected) in cases {
        let found = with(text, |command, file| {
            let words = command.positional(&["-o", "--option"]);
            words
                .iter()
                .map(|word| under(file, word.span()).to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(&found, expected, "{text}");
    }
    let subcommand = |command: &Command, _: &str| {
        Call::subcommand(&command.effective(), &["-o"]).map(std::borrow::Cow::into_owned)
    };
    assert_eq!(with("sudo apt-get -o x update", subcommand).as_deref(), Some("update"));
}

#[test]
fn questions_about_the_place() {
    let (script, file) = script("a && b | c; $(d)", Dialect::Bash);
    let piped: Vec<_> = script.commands.iter().filter(|command| script.is_piped(command)).collect();
    let piped: Vec<_> = piped.iter().map(|command| under(&file, command.span)).collect();
    assert_eq!(piped, ["b", "c"]);
    assert!(script.only_command().is_none());
    let last = script.commands.last().expect("a command");
    assert_eq!(under(&file, last.span), "d");
    assert_eq!(script.enclosing(last).count(), 2);
    let next =
        script.next_pipeline(script.commands[0].place).map(|pipeline| under(&file, pipeline.span));
    assert_eq!(next, Some("b | c"));
    assert!(script.previous_pipeline(script.commands[0].place).is_none());
}
