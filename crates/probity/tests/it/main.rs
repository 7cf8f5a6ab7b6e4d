//! End-to-end tests: the built binary, run as a user would run it.
