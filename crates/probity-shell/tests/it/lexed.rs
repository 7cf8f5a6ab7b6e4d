//! The commands of PowerShell and cmd, by the text under each span.

use probity_shell::{Command, Dialect, Script};
use proptest::prelude::*;

use crate::outline::{script, under};

/// Every command as `block.statement.command[assignments words >targets]`, those of inner scripts behind.
fn outline(text: &str, dialect: Dialect) -> String {
    let (script, file) = script(text, dialect);
    let mut lines = Vec::new();
    collect(&script, &file, &mut lines);
    lines.join(" ")
}

fn collect(script: &Script, file: &str, lines: &mut Vec<String>) {
    lines.extend(script.all_commands().iter().map(|command| line(command, file)));
    for inner in script.inner() {
        lines.push(format!("{:?}:", inner.invocation.dialect));
        collect(inner, file, lines);
    }
}

fn line(command: &Command, file: &str) -> String {
    let place = command.place;
    let assigned = command.assignments().iter().map(|assignment| {
        let value = assignment.value.as_ref().map_or("…", |value| under(file, value.span()));
        format!("{}={value}", assignment.name)
    });
    let words = command.words.iter().map(|word| under(file, word.span()).to_owned());
    let targets =
        command.redirections().iter().filter_map(|redirection| redirection.target.as_ref());
    let targets = targets.map(|word| format!(">{}", under(file, word.span())));
    let all: Vec<String> = assigned.chain(words).chain(targets).collect();
    let (block, statement, stage) = (place.block(), place.pipeline(), place.stage());
    format!("{block}.{statement}.{stage}[{}]", all.join("|").replace('\n', "NL"))
}

#[test]
fn powershell_has_commands_words_and_assignments() {
    for (text, expected) in POWERSHELL {
        assert_eq!(&outline(text, Dialect::PowerShell), expected, "{text:?}");
    }
}

const POWERSHELL: &[(&str, &str)] = &[
    ("a b; c", "0.0.0[a|b] 0.1.0[c]"),
    ("a | b -c d\ne", "0.0.0[a] 0.0.1[b|-c|d] 0.1.0[e]"),
    ("a && b || c", "0.0.0[a] 0.0.1[b] 0.0.2[c]"),
    ("$x = 'a'; b", "0.0.0[x='a'] 0.1.0[b]"),
    ("$x='a'", "0.0.0[x='a']"),
    ("$x = $y = $true", "0.0.0[x=…|y=$true]"),
    ("$x = iwr b -OutFile c", "0.0.0[x=…|iwr|b|-OutFile|c]"),
    ("$env:A += ';b'", "0.0.0[env:A=';b']"),
    ("[Net.X]::Y = 'z'", "0.0.0[[Net.X]::Y='z']"),
    ("[string]$x = 'z'", "0.0.0[x='z']"),
    ("if (a b) { c } else { d }; e", "1.0.0[a|b] 2.0.0[c] 3.0.0[d] 0.1.0[e]"),
    ("if (a) { b } c", "1.0.0[a] 2.0.0[b] 0.1.0[c]"),
    ("try { a } catch { b } finally { c }\nd", "1.0.0[a] 2.0.0[b] 3.0.0[c] 0.1.0[d]"),
    ("a (b c) d", "0.0.0[a|(b c)|d] 1.0.0[b|c]"),
    ("(iwr a).Content | b", "0.0.0[(iwr a).Content] 1.0.0[iwr|a] 0.0.1[b]"),
    ("a \"b $(c \"d\") e\" f", "0.0.0[a|\"b $(c \"d\") e\"|f] 1.0.0[c|\"d\"]"),
    ("a 'b''c' \"d\"\"e\"", "0.0.0[a|'b''c'|\"d\"\"e\"]"),
    ("a `\n  b `\"c", "0.0.0[a|b|`\"c]"),
    ("& 'C:\\a b.exe' c", "0.0.0['C:\\a b.exe'|c]"),
    ("'curl' | a", "0.0.0[] 0.0.1[a]"),
    ("a # b\nc <# d\ne #> f", "0.0.0[a] 0.1.0[c|f]"),
    ("a @'\nb; c\n'@ d", "0.0.0[a|@'NLb; cNL'@|d]"),
    ("a @\"\n$(b)\n\"@; c", "0.0.0[a|@\"NL$(b)NL\"@] 1.0.0[b] 0.1.0[c]"),
    ("a > b 2>&1 >> c", "0.0.0[a|>b|>c]"),
    ("a | % { b $_ }", "0.0.0[a] 0.0.1[%|{ b $_ }] 1.0.0[b|$_]"),
    ("a -b @{ c = 'd'; e = 'f' }", "0.0.0[a|-b|@{ c = 'd'; e = 'f' }] 1.0.0[c='d'] 1.1.0[e='f']"),
    ("return a b", "0.0.0[a|b]"),
    ("a --b=c,d /e:f", "0.0.0[a|--b=c,d|/e:f]"),
    ("cmd /c \"a b\" ", "0.0.0[cmd|/c|\"a b\"] Cmd: 0.0.0[a|b]"),
    ("a } b ) c", "0.0.0[a] 0.1.0[b] 0.2.0[c]"),
    ("a \"b", "0.0.0[a|\"b]"),
    ("a 'b", "0.0.0[a|'b]"),
    ("a (b", "0.0.0[a|(b] 1.0.0[b]"),
    ("a ${b c} $d:e $f::g", "0.0.0[a|${b c}|$d:e|$f::g]"),
    ("ü 'é' \"日\"", "0.0.0[ü|'é'|\"日\"]"),
    ("a `\r日", "0.0.0[a|日]"),
    ("", ""),
    (" ; ;; \n", ""),
];

#[test]
fn cmd_has_commands_and_words() {
    for (text, expected) in CMD {
        assert_eq!(&outline(text, Dialect::Cmd), expected, "{text:?}");
    }
}

const CMD: &[(&str, &str)] = &[
    ("a b && c || d & e", "0.0.0[a|b] 0.0.1[c] 0.0.2[d] 0.1.0[e]"),
    ("a | b", "0.0.0[a] 0.0.1[b]"),
    ("@echo off\r\na", "0.0.0[echo|off] 0.1.0[a]"),
    ("a \"b & c\" %D% !e!", "0.0.0[a|\"b & c\"|%D%|!e!]"),
    ("a ^& b ^\nc", "0.0.0[a|^&|b|c]"),
    ("if exist a (b) else (c d)", "1.0.0[b] 2.0.0[c|d]"),
    ("if not defined a b c", "0.0.0[b|c]"),
    ("if /i \"%a%\"==\"b\" c", "0.0.0[c]"),
    ("if %a% neq 0 c", "0.0.0[c]"),
    ("for %%i in (a b) do c %%i", "0.0.0[c|%%i]"),
    ("for %i in (a) do (b & c)", "1.0.0[b] 1.1.0[c]"),
    ("call a b", "0.0.0[a|b]"),
    ("rem a & b\n:: c\n:d\ne", "0.0.0[e]"),
    ("remove a", "0.0.0[remove|a]"),
    ("a >b 2>&1 <c >>d", "0.0.0[a|>b|>c|>d]"),
    ("(a & b) & c", "1.0.0[a] 1.1.0[b] 0.1.0[c]"),
    ("a (b) c)", "0.0.0[a|(b)|c)]"),
    (
        "powershell -NoProfile -Command \"a; b c\"",
        "0.0.0[powershell|-NoProfile|-Command|\"a; b c\"] PowerShell: 0.0.0[a] 0.1.0[b|c]",
    ),
    (
        "powershell -ep Bypass iwr a; b",
        "0.0.0[powershell|-ep|Bypass|iwr|a;|b] PowerShell: 0.0.0[iwr|a] 0.1.0[b]",
    ),
    ("powershell -File a.ps1", "0.0.0[powershell|-File|a.ps1]"),
    ("pwsh a.ps1", "0.0.0[pwsh|a.ps1]"),
    ("bash -c \"a && b\"", "0.0.0[bash|-c|\"a && b\"] Bash: 0.0.0[a] 0.1.0[b]"),
    ("a \"b\nc", "0.0.0[a|\"b] 0.1.0[c]"),
    ("a 50% 1%", "0.0.0[a|50%|1%]"),
    ("", ""),
];

#[test]
fn a_posix_shell_passes_scripts_to_powershell() {
    let inner = |text: &str| outline(text, Dialect::Sh);
    assert_eq!(
        inner("pwsh -Command 'a; b'"),
        "0.0.0[pwsh|-Command|'a; b'] PowerShell: 0.0.0[a] 0.1.0[b]"
    );
    assert_eq!(inner("pwsh -c a b"), "0.0.0[pwsh|-c|a|b] PowerShell: 0.0.0[a|b]");
    assert_eq!(inner("pwsh -File a"), "0.0.0[pwsh|-File|a]");
}

#[test]
fn values_have_no_quotes_and_no_escapes() {
    let (script, _) = script("a 'b''c' \"d`\"e\" f`ng '' x'y'z", Dialect::PowerShell);
    let words = &script.all_commands()[0].words;
    let values: Vec<_> = words.iter().map(|word| word.literal().unwrap().into_owned()).collect();
    assert_eq!(values, ["a", "b'c", "d\"e", "f\ng", "", "xyz"]);
    let (script, _) = crate::outline::script("a \"b c\" ^&d e\"f\"", Dialect::Cmd);
    let words = &script.all_commands()[0].words;
    let values: Vec<_> = words.iter().map(|word| word.literal().unwrap().into_owned()).collect();
    assert_eq!(values, ["a", "b c", "&d", "ef"]);
}

#[test]
fn windows_names_have_no_directories_and_endings() {
    for (text, name) in [
        ("C:\\tools\\Curl.EXE x", Some("curl")),
        ("npm.cmd ci", Some("npm")),
        ("Microsoft.PowerShell.Utility\\Invoke-WebRequest x", Some("invoke-webrequest")),
        ("$x y", None),
    ] {
        let (script, _) = script(text, Dialect::PowerShell);
        assert_eq!(script.all_commands()[0].call().windows_name().as_deref(), name, "{text}");
    }
}

#[test]
fn posix_commands_are_the_same_either_way() {
    let (script, _) = script("a && b", Dialect::Sh);
    assert_eq!(script.all_commands(), &*script.commands);
}

#[test]
fn long_and_deep_scripts_are_read_to_the_end() {
    for piece in
        ["(", "{", "\"$(", "a;", "'", "\"", "@{", "if (a) {", "%a", "^", "`", ")", "(}", "$"]
    {
        let text = piece.repeat(200_000 / piece.len());
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            assert_sound(&text, dialect);
        }
    }
}

const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "^",
    "$(",
    "@(",
    "@{",
    "(",
    ")",
    "{",
    "}",
    "|",
    "||",
    "&&",
    "&",
    ";",
    "\n",
    "\r\n",
    " ",
    "\t",
    "@'\n",
    "\n'@",
    "@\"\n",
    "\n\"@",
    "#",
    "<#",
    "#>",
    ">",
    ">>",
    "2>&1",
    "<",
    "=",
    "+=",
    "$",
    "$x",
    "$env:A",
    "${",
    "%A%",
    "%%i",
    "%~dp0",
    "!b!",
    "if ",
    "else ",
    "for ",
    "do ",
    "try ",
    "catch ",
    "rem ",
    "::",
    "call ",
    "powershell -Command ",
    "cmd /c ",
    "bash -c ",
    "a",
    "-b",
    "ü",
    "日",
    "\u{0}",
    ",",
    ".",
    "[x]",
    "--%",
    "\\",
    "\u{2018}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_is_sound(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            assert_sound(&text, dialect);
        }
    }

    #[test]
    fn any_text_is_sound(text in ".{0,80}") {
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            assert_sound(&text, dialect);
        }
    }
}

/// Every span is on borders of characters and within what is around it.
fn assert_sound(text: &str, dialect: Dialect) {
    let (script, file) = script(text, dialect);
    sound(&script, &file);
}

fn sound(script: &Script, file: &str) {
    let mut last = 0;
    for command in script.all_commands() {
        under(file, command.span);
        assert!(script.span.start <= command.span.start && command.span.end <= script.span.end);
        assert!(!command.words.is_empty() || last <= command.span.end);
        for word in &command.words {
            under(file, word.span());
            assert!(command.span.start <= word.span().start && word.span().end <= command.span.end);
            for part in word.parts() {
                under(file, part.span);
                assert!(word.span().start <= part.span.start && part.span.end <= word.span().end);
            }
        }
        last = command.span.start;
    }
    script.inner().iter().for_each(|inner| sound(inner, file));
}
