//! Files of the original that a new image lacks, or has as the context has them.

use super::*;

#[test]
fn paths_of_the_originals_own_instructions_stay_unless_only_building_needs_them() {
    for (path, is_needed) in [
        ("app/templates/index.html", true),
        ("app/migrations/001.sql", true),
        ("app/static/logo.png", true),
        ("app/config.yml", true),
        ("app/main.py", true),
        ("app/server.js", true),
        ("app/index.php", true),
        ("usr/local/bin/tool", true),
        ("etc/app.conf", true),
        ("app/main.c", false),
        ("app/main.go", false),
        ("app/go.sum", false),
        ("app/src/index.ts", false),
        ("app/Makefile", false),
        ("app/main.o", false),
        ("app/__pycache__/main.cpython-311.pyc", false),
        ("var/cache/apt/pkgcache.bin", false),
        ("root/.npm/_cacache/x", false),
        ("usr/include/zlib.h", false),
        ("tmp/build.log", false),
    ] {
        let own = vec![(path, Text("text"))];
        let found = lost(&Configuration::default(), &shell(), &own, &[path], &vec![]);
        let expected = format!("/{path} is not in the new image");
        assert_eq!(found, if is_needed { vec![expected] } else { vec![] }, "{path}");
        // In the base it is not the original's own.
        let found = lost(&Configuration::default(), &own, &shell(), &[path], &vec![]);
        assert_eq!(found, [""; 0], "{path}");
    }
}

#[test]
fn what_building_names_may_go_unless_a_kept_program_names_it_too() {
    let generator = "for one in strings/*.txt; do cat $one; done > locales.json\n";
    let own: Files = vec![
        ("app/run", Program("#!/bin/sh\ncat /app/locales.json /app/pages/index.html\n")),
        ("app/locales.json", Text("{}")),
        ("app/tools/gen.sh", Text(generator)),
        ("app/strings/de.txt", Text("hallo")),
        ("app/pages/index.html", Text("<p>")),
        ("app/pages/more.html", Text("<p>")),
        ("app/orphan.dat", Text("1")),
        ("app/docs/guide.txt", Text("read me")),
        ("tmp/keep", Text("")),
    ];
    let configuration = command(&["/app/run"]);
    let check = |without: &[&str], expected: &[&str]| {
        assert_eq!(lost(&configuration, &shell(), &own, without, &vec![]), expected);
    };
    // A step runs the script, the script reads the strings, and people read the guide.
    check(&["app/tools/gen.sh", "app/strings/de.txt", "app/docs/guide.txt"], &[]);
    check(&["app/pages/more.html"], &["/app/pages/more.html is not in the new image"]);
    // Nothing names it, so nobody can tell that nothing reads it.
    check(&["app/orphan.dat"], &["/app/orphan.dat is not in the new image"]);
    // The same strings are needed as soon as a program that stays reads them.
    let reader = ("app/extra", Program("#!/bin/sh\ncat strings/$1.txt\n"));
    let without = ["app/tools/gen.sh", "app/strings/de.txt"];
    let found = lost(&configuration, &shell(), &own, &without, &vec![reader]);
    assert_eq!(found, ["/app/strings/de.txt is not in the new image"]);
}

#[test]
fn a_change_that_a_step_makes_to_a_file_of_the_context_stays() {
    let context = tempfile::tempdir().unwrap();
    fs::write(context.path().join("settings.js"), "dev").unwrap();
    let files = |text: &'static str| -> Files { vec![("app/settings.js", Text(text))] };
    let found = |before: &'static str, after: &'static str| {
        let configuration = command(&["/app/run"]);
        let (original, proposal) =
            (image(&configuration, &files(before)), image(&configuration, &files(after)));
        let base = image(&Configuration::default(), &vec![]);
        let context = Some(context.path());
        let (base, allowed) = (Some(&base), [].as_slice());
        compare(&Pair { original: &original, proposal: &proposal, base, context, allowed })
            .iter()
            .filter(|difference| difference.is_harmful() && difference.check() == "image/paths")
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("1.2.3 of today", "dev"),
        ["the original changes /app/settings.js after it was copied, and the new image does not"]
    );
    // A stamp may differ from build to build, and a file may be copied unchanged.
    assert_eq!(found("built 10:00", "built 10:01!"), [""; 0]);
    assert_eq!(found("dev", "dev"), [""; 0]);
}

#[test]
fn a_program_that_names_the_directory_for_temporary_files_finds_it() {
    let configuration = command(&["/app/run"]);
    let base: Files = vec![("bin/sh", Program("x")), ("tmp", Directory { owner: 0 })];
    let missing = "/tmp is not in the new image";
    for (program, expected) in
        [("#!/bin/sh\nsort -T /tmp x\n", vec![missing]), ("#!/bin/sh\nsort x\n", vec![])]
    {
        let own: Files = vec![("app/run", Program(program))];
        let found = lost(&configuration, &base, &own, &["tmp"], &vec![]);
        assert_eq!(found, expected, "{program}");
    }
}

#[test]
fn files_of_packages_and_copies_may_go() {
    let list = "/.\n/usr/bin/make\n/lib/libmake.so\n";
    let own: Files = vec![
        ("var/lib/dpkg/info/make.list", Text(list)),
        ("usr/bin/make", Program("x")),
        ("usr/lib/libmake.so", Text("x")),
        ("src/run.sh", Text("the script")),
        ("usr/local/bin/run", Program("the script")),
    ];
    let without =
        ["var/lib/dpkg/info/make.list", "usr/bin/make", "usr/lib/libmake.so", "src/run.sh"];
    let found = lost(&Configuration::default(), &shell(), &own, &without, &vec![]);
    assert_eq!(found, [""; 0]);
    let found = lost(
        &Configuration::default(),
        &shell(),
        &own,
        &["src/run.sh", "usr/local/bin/run"],
        &vec![],
    );
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn many_lost_files_of_a_directory_are_one_difference() {
    let own: Files =
        vec![("a/1.html", Text("1")), ("a/2.html", Text("2")), ("a/3.html", Text("3"))];
    let found = lost(
        &Configuration::default(),
        &shell(),
        &own,
        &["a/1.html", "a/2.html", "a/3.html"],
        &vec![],
    );
    assert_eq!(found, ["/a/1.html and 2 more files beside it are not in the new image"]);
}
