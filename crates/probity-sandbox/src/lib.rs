//! Where a process runs: uncontained, in bubblewrap, or in a docker or podman container.
//!
//! Owns process groups, limits, mounts and workspace roots. Neutral to any async runtime: it
//! returns pipes and a handle.
//!
//! **Invariant:** a process started here never outlives the handle, and neither do its children;
//! nothing runs uncontained unless the caller asked for exactly that.
