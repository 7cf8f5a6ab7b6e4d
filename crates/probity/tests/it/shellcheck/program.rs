//! `--shellcheck binary`: findings of an installed program, at our places.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use tempfile::TempDir;

use crate::binary::{Output, Run, directory, probity, stable, tools};

const DOCKERFILE: &str = "FROM a\nARG KNOWN\nSHELL [\"/bin/bash\", \"-c\"]\n\
    RUN echo ä \\\n  # a comment\n  $x \"$KNOWN\" && \\\n  rm $x\nRUN <<EOF\nread -r y\nrm $y\nEOF\n\
    ONBUILD RUN cp $z b\n";

/// A program of this name and with this text, first in the search path.
fn path_with(program: &str) -> (TempDir, String) {
    let dir = directory(&[("shellcheck", program)]);
    let file = dir.path().join("shellcheck");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    (dir, path)
}

/// The real one, which leaves a line in `log` for every time that it is started.
fn counted(log: &Path) -> (TempDir, String) {
    let real = tools().join("python/bin/shellcheck");
    path_with(&format!(
        "#!/bin/sh\necho run >> {}\nexec {} \"$@\"\n",
        log.display(),
        real.display()
    ))
}

fn check(dir: &Path, path: &str, args: &[&str]) -> Run {
    let args = [&["check", "--format", "gnu", "--select", "shellcheck/*"], args].concat();
    probity().dir(dir).env("PATH", path).args(args)
}

/// Places and codes.
fn places(output: &Output) -> Vec<String> {
    let lines = output.stdout.lines().map(|line| {
        let (place, rest) = line.split_once(": ").unwrap();
        let level = rest.split(':').next().unwrap();
        let code = line.rsplit('[').next().unwrap();
        format!("{place} {level} {code}")
    });
    lines.collect()
}

#[test]
fn both_ways_find_the_same_at_the_same_places_and_one_process_does_for_all() {
    let dir = directory(&[
        ("a/Dockerfile", DOCKERFILE),
        ("b/Dockerfile", DOCKERFILE),
        ("c/Dockerfile", "FROM a\nRUN ls | grep $x\n"),
    ]);
    let log = dir.path().join("log");
    let (_program, path) = counted(&log);
    let native = check(dir.path(), &path, &["."]).run().code(1);
    assert!(!log.exists());
    let binary = check(dir.path(), &path, &["--shellcheck", "binary", "."]).run().code(1);
    assert_eq!(places(&binary), places(&native), "{}", binary.stderr);
    assert!(places(&binary).iter().any(|place| place.starts_with("probity:a/Dockerfile:6:3 ")));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 1);
}

/// What is said of each file by whoever parses or searches one.
fn opened(output: &Output) -> Vec<&str> {
    let lines = output.stderr.lines().filter_map(|line| line.strip_prefix("trace: "));
    let mut opened: Vec<&str> = lines
        .filter(|line| line.starts_with("parsing ") || line.starts_with("searching "))
        .collect();
    opened.sort_unstable();
    opened
}

#[test]
fn a_file_is_parsed_once_and_searched_for_secrets_once_in_either_way() {
    let dir = directory(&[("a", DOCKERFILE), ("b", "FROM a\nRUN ls | grep $x\n")]);
    let (_program, path) = counted(&dir.path().join("log"));
    let first = format!("searching {} bytes for secrets", DOCKERFILE.len());
    let expected = ["parsing a", "parsing b", &first, "searching 24 bytes for secrets"];
    for way in ["native", "binary"] {
        let run = check(dir.path(), &path, &["--shellcheck", way, "a", "b"]);
        let run = run.env("PROBITY_LOG", "probity=trace").run().code(1);
        assert_eq!(opened(&run), expected, "{way}: {}", run.stderr);
    }
    let run = check(dir.path(), &path, &["--shellcheck", "binary", "-"]).input(DOCKERFILE);
    let run = run.env("PROBITY_LOG", "probity=trace").run().code(1);
    assert_eq!(opened(&run), ["parsing <stdin>", &first]);
}

#[test]
fn the_mode_is_a_key_and_a_variable_too() {
    let dir = directory(&[("Dockerfile", DOCKERFILE)]);
    let log = dir.path().join("log");
    let (_program, path) = counted(&log);
    let starts = || fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    check(dir.path(), &path, &["."]).env("TALLY_SHELLCHECK", "binary").run().code(1);
    assert_eq!(starts(), 1);
    fs::write(dir.path().join("tally.toml"), "[shellcheck]\nmode = 'binary'\n").unwrap();
    check(dir.path(), &path, &["."]).run().code(1);
    assert_eq!(starts(), 2);
    let off = check(dir.path(), &path, &["--shellcheck", "off", "."]).run().code(0);
    assert_eq!((off.stdout.as_str(), starts()), ("", 2));
    // Nobody is asked about what nobody wants to know.
    check(dir.path(), &path, &["--ignore", "shellcheck/*", "."]).run();
    let input = check(dir.path(), &path, &["-"]).input(DOCKERFILE).run().code(1);
    insta::assert_snapshot!(input.stdout, @"
    probity:<stdin>:6:3: info: Double quote to prevent globbing and word splitting. [shellcheck/SC2086]
    probity:<stdin>:6:3: warning: x is referenced but not assigned. [shellcheck/SC2154]
    probity:<stdin>:7:6: info: Double quote to prevent globbing and word splitting. [shellcheck/SC2086]
    probity:<stdin>:10:4: info: Double quote to prevent globbing and word splitting. [shellcheck/SC2086]
    probity:<stdin>:12:16: info: Double quote to prevent globbing and word splitting. [shellcheck/SC2086]
    probity:<stdin>:12:16: warning: z is referenced but not assigned. [shellcheck/SC2154]
    ");
}

#[test]
fn what_the_program_cannot_do_is_said_and_nothing_passes_for_clean() {
    let dir = directory(&[("Dockerfile", DOCKERFILE)]);
    let mut refusals = Vec::new();
    let mut fails = |path: &str| {
        let output = check(dir.path(), path, &["--shellcheck", "binary", "."]).run().code(2);
        refusals.push(output.stderr);
    };
    fails("/nowhere:.");
    let (_broken, path) = path_with("#!/bin/sh\necho 'no such option' >&2\nexit 3\n");
    fails(&path);
    let (_silent, path) = path_with("#!/bin/sh\n");
    fails(&path);
    fs::write(dir.path().join("tally.toml"), "[shellcheck]\ntimeout = '300ms'\n").unwrap();
    let (_slow, path) = path_with("#!/bin/sh\nsleep 60\n");
    fails(&path);
    insta::assert_snapshot!(stable(&refusals.concat()), @"
    error: `--shellcheck binary` needs `shellcheck`, which is not in PATH
      help: install it, or use `--shellcheck native`, which needs none
    error: [dir]/shellcheck failed with 3: no such option
      help: `--shellcheck native` needs no other program
    error: [dir]/shellcheck wrote no report: EOF while parsing a value at line 1 column 0
      help: `--shellcheck native` needs no other program
    error: [dir]/shellcheck took more than 0.3 s (`shellcheck.timeout`)
      help: `--shellcheck native` needs no other program
    ");
}

#[test]
fn its_fixes_are_suggestions_in_the_file() {
    let dir = directory(&[(
        "Dockerfile",
        "FROM a\nRUN read -r x; \\\n  rm $x &&\\\n  y=`date`; echo \"$y\"\n",
    )]);
    let log = dir.path().join("log");
    let (_program, path) = counted(&log);
    for mode in ["native", "binary"] {
        let args = ["--shellcheck", mode, "--fix-unsafe", "--diff", "."];
        let diff = check(dir.path(), &path, &args).run();
        insta::allow_duplicates! { insta::assert_snapshot!(diff.stdout, @r#"
        --- a/Dockerfile
        +++ b/Dockerfile
        @@ -1,4 +1,4 @@
         FROM a
         RUN read -r x; \
        -  rm $x &&\
        -  y=`date`; echo "$y"
        +  rm "$x" &&\
        +  y=$(date); echo "$y"
        "#) }
        let safe = check(dir.path(), &path, &["--shellcheck", mode, "--fix", "--diff", "."]).run();
        assert_eq!(safe.stdout.lines().filter(|line| line.starts_with('+')).count(), 0);
    }
}
