//! The backend that contains with Landlock and seccomp: no namespaces, no privileges.
#![cfg_attr(not(test), expect(dead_code, reason = "the backend that installs the filter comes next"))]

mod calls;
mod filter;
mod program;
