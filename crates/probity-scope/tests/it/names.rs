//! Names of sensitive files, and of harmless ones that look like them: lists from before the grammar.

use std::path::Path;

use probity_scope::is_sensitive;

/// The grammar was made with the lists called `tuned`; the lists called `unseen` were first tried
/// when it was done.
const LISTS: [(&str, &str, bool); 4] = [
    ("sensitive-tuned", include_str!("../names/sensitive-tuned.txt"), true),
    ("sensitive-unseen", include_str!("../names/sensitive-unseen.txt"), true),
    ("harmless-tuned", include_str!("../names/harmless-tuned.txt"), false),
    ("harmless-unseen", include_str!("../names/harmless-unseen.txt"), false),
];

#[test]
fn listed_names_are_judged_as_they_are_listed() {
    for (list, names, expected) in LISTS {
        let wrong: Vec<&str> =
            names.lines().filter(|name| is_sensitive(Path::new(name)) != expected).collect();
        let total = names.lines().count();
        assert!(total >= 75, "{list} has {total} names");
        assert!(
            wrong.is_empty(),
            "{list}: {} of {total} are judged wrongly: {wrong:#?}",
            wrong.len()
        );
    }
}

#[test]
fn marks_of_copies_make_no_name_harmless() {
    for name in [".env", "secrets.yaml", "id_rsa", "terraform.tfstate", ".claude.json", "x.pem"] {
        for copy in [
            format!("{name}~"),
            format!("{name}.bak"),
            format!("{name}.1"),
            format!("{name}-old"),
            format!("{name}.orig.2"),
            format!("{name}.2024-01-05"),
            format!("{name} (copy)"),
            format!("#{name}#"),
            format!(".#{name}"),
            format!(".{}.swp", name.trim_start_matches('.')),
            name.to_uppercase(),
        ] {
            assert!(is_sensitive(Path::new(&copy)), "{copy}");
        }
    }
}
