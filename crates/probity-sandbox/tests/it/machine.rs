//! What the machine offers, and what is said when a sandbox cannot be made.

use std::{fs, os::unix::fs::PermissionsExt};

use probity_sandbox::{
    Backend, BackendKind, Exit, Mount, Preference, SpawnError, Unusable, choose, probe, run, spawn,
};

use crate::stage::{Workspace, bubblewrap};

#[test]
fn the_probe_finds_bubblewrap_working_and_it_is_chosen() {
    let machine = probe();
    let found = machine.bubblewrap.clone().unwrap();
    assert_eq!(Backend::Bubblewrap { program: found.program.clone() }, bubblewrap());
    assert!(found.version.starts_with(char::is_numeric), "{found:?}");
    let no_image = |kind: BackendKind, _: &probity_sandbox::FoundProgram| {
        if kind.is_engine() { Err(Unusable::Unasked) } else { Ok(()) }
    };
    let choice = choose(Preference::EngineFirst, &machine, &no_image);
    assert_eq!(
        choice.chosen,
        Some((BackendKind::Bubblewrap, found.program)),
        "{:?}",
        choice.reasons
    );
    assert_eq!(choice.reasons.len(), 3, "{:?}", choice.reasons);
}

#[test]
fn a_bubblewrap_that_cannot_begin_is_quoted() {
    let workspace = Workspace::new();
    let script = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n";
    workspace.write("bwrap", script);
    let program = workspace.path.join("bwrap");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let error = spawn(&Backend::Bubblewrap { program }, &workspace.spec(&["true"])).unwrap_err();
    assert!(matches!(error, SpawnError::Setup { .. }));
    assert_eq!(
        error.to_string(),
        "bubblewrap could not prepare the sandbox: No permissions to create new namespace"
    );
}

/// On a busy machine the first process has failed, and was reaped, before we look at it.
#[test]
fn a_first_process_that_has_ended_already_is_a_program_that_was_not_started() {
    let workspace = Workspace::new();
    let script = r#"#!/bin/sh
status=$(tr '\0' '\n' <"/proc/self/fd/$2" | grep -A 1 -x -e --json-status-fd | tail -n 1)
true & ended=$!
wait "$ended"
echo "{ \"child-pid\": $ended }" >"/proc/self/fd/$status"
echo "bwrap: it cannot be mounted" >&2
exit 1
"#;
    workspace.write("bwrap", script);
    let program = workspace.path.join("bwrap");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let outcome = run(&Backend::Bubblewrap { program }, &workspace.spec(&["true"]), b"").unwrap();
    assert_eq!(outcome.exit, Exit::NotStarted);
    assert_eq!(&*outcome.stderr_tail, b"bwrap: it cannot be mounted\n");
}

#[test]
fn a_sandbox_that_fails_later_is_not_taken_for_the_programs_exit() {
    let workspace = Workspace::new();
    let mut spec = workspace.spec(&["true"]);
    // A directory cannot be put over a file of the host.
    spec.mounts.push(Mount::read_only("/usr", "/etc/ld.so.cache"));
    let outcome = run(&bubblewrap(), &spec, b"").unwrap();
    let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    assert_eq!(outcome.exit, Exit::NotStarted, "{told}");
    assert!(told.contains("bwrap: "), "{told}");
}
